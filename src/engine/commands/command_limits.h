// Whether the names that a command carries are within the limits of the token that it came with. What a command names
// by an id is compared where the engine looks that up.
#pragma once

#include "base/status.h"
#include "engine/commands/command.h"
#include "message/access_token.h"

namespace duewheel {

Status check_limits(const PutCommand& put, const AccessLimits& limits);
// Code: `forbidden`.
Status check_limits(const Command& command, const AccessLimits& limits);

}  // namespace duewheel
