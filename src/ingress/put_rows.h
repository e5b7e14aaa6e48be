// The table of the members of a put (engine/command.h).
#pragma once

#include "engine/command.h"
#include "resource/field.h"

namespace duewheel {

template <>
const FieldTable& fields_of<PutCommand>();

}  // namespace duewheel
