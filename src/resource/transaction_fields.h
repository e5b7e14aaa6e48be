// The table of the rule of a prepared message (message/records/record.h).
#pragma once

#include "message/records/record.h"
#include "resource/field.h"

namespace duewheel {

template <>
const FieldTable& fields_of<TransactionRule>();

}  // namespace duewheel
