// The tables of the members of messages in responses: as shown, of which a listing shows some, and as delivered. They
// are written by answers/message_text.h.
#pragma once

#include "engine/commands/command.h"
#include "resource/field.h"

namespace duewheel {

template <>
const FieldTable& fields_of<MessageAnswer>();
template <>
const FieldTable& fields_of<Delivered>();

}  // namespace duewheel
