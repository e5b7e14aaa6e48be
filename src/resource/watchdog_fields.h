// The table of the settings of a watchdog (message/watchdog_state.h).
#pragma once

#include "message/watchdog_state.h"
#include "resource/field.h"

namespace duewheel {

template <>
const FieldTable& fields_of<WatchdogRule>();

}  // namespace duewheel
