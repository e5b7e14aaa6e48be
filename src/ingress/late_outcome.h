// Which outcomes are refusals: a command on a message or a lease that came too late has changed nothing, and its
// response is a problem document with a code for each outcome.
#pragma once

#include <optional>

#include "base/status.h"
#include "engine/command.h"

namespace duewheel {

// The outcome of a command on a message when it is done; none for all other commands.
std::optional<ChangeOutcome> wanted_outcome(const Command& command);

// The refusal; none where the outcome is `wanted`.
std::optional<Error> refusal_of(const ChangeAnswer& answer, ChangeOutcome wanted);
// None where the lease has ended, or was extended, by this command.
std::optional<Error> refusal_of(const LeaseEndAnswer& answer);
// Of any reply; `wanted` as of its command.
std::optional<Error> late_refusal(const Reply& reply, std::optional<ChangeOutcome> wanted);

}  // namespace duewheel
