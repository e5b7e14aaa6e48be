// The table of the rule of a recurring message as it is chosen (message/repeat_rule.h).
#pragma once

#include "message/repeat_rule.h"
#include "resource/field.h"

namespace duewheel {

template <>
const FieldTable& fields_of<RepeatChoice>();

}  // namespace duewheel
