// The members of a command that ends or extends leases: of one lease, whose token is in the path, or of several.
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"
#include "engine/commands/command.h"
#include "http_api/calls/call_path.h"
#include "http_api/fields/json_request.h"

namespace duewheel {

// The members that such a call accepts besides the token.
std::span<const std::string_view> lease_end_members(CallPath::What what);

// The command of the call, without the token. `common`: the command whose members apply where `json` has none.
// Codes: those of JsonRequest.
Result<Command> read_lease_end(const JsonRequest& json, CallPath::What what, const Command* common = nullptr);
void set_lease(Command& command, const LeaseToken& lease);

}  // namespace duewheel
