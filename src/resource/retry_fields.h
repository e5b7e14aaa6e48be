// The table of a retry rule as it is chosen (message/retry_rule.h).
#pragma once

#include "message/retry_rule.h"
#include "resource/field.h"

namespace duewheel {

template <>
const FieldTable& fields_of<RetryChoice>();

}  // namespace duewheel
