// The table of the members of a put (engine/commands/command.h).
#pragma once

#include "engine/commands/command.h"
#include "resource/field.h"

namespace duewheel {

template <>
const FieldTable& fields_of<PutCommand>();

}  // namespace duewheel
