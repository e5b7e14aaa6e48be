// The outcomes that are errors: a command on a message or a lease that came too late has changed nothing, and its
// response is a problem document with a code for each outcome.
#pragma once

#include <optional>

#include "base/status.h"
#include "engine/commands/command.h"

namespace duewheel {

// The outcome of a successful command on a message; none for all other commands.
std::optional<ChangeOutcome> wanted_outcome(const Command& command);

// The error; none if the outcome is `wanted`.
std::optional<Error> refusal_of(const ChangeAnswer& answer, ChangeOutcome wanted);
// None if this command has ended or extended the lease.
std::optional<Error> refusal_of(const LeaseEndAnswer& answer);
// The same for any reply; `wanted` is the outcome that its command wants.
std::optional<Error> late_refusal(const Reply& reply, std::optional<ChangeOutcome> wanted);

}  // namespace duewheel
