// The tables of the members of requests that take, extend and end leases (engine/commands/command.h).
#pragma once

#include "engine/commands/command.h"
#include "resource/field.h"

namespace duewheel {

template <>
const FieldTable& fields_of<LeaseCommand>();
template <>
const FieldTable& fields_of<AckCommand>();
template <>
const FieldTable& fields_of<FailCommand>();
template <>
const FieldTable& fields_of<ExtendCommand>();
template <>
const FieldTable& fields_of<ReleaseCommand>();
template <>
const FieldTable& fields_of<HoldLeaseCommand>();

}  // namespace duewheel
