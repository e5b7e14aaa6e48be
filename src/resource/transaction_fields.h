// The table of the rule of a prepared message (message/record.h).
#pragma once

#include "message/record.h"
#include "resource/field.h"

namespace duewheel {

template <>
const FieldTable& fields_of<TransactionRule>();

}  // namespace duewheel
