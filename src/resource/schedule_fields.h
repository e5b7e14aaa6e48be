// The table of the settings of a schedule (message/schedule_state.h).
#pragma once

#include "message/schedule_state.h"
#include "resource/field.h"

namespace duewheel {

template <>
const FieldTable& fields_of<ScheduleRule>();

}  // namespace duewheel
