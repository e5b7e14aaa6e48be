// The tables of the members of a put (engine/commands/command.h), and of the history that an import restores with it.
#pragma once

#include "engine/commands/command.h"
#include "message/work_history.h"
#include "resource/field.h"

namespace duewheel {

template <>
const FieldTable& fields_of<PutCommand>();

template <>
const FieldTable& fields_of<WorkHistory>();

}  // namespace duewheel
