// For the tests of this module: the command that a call becomes, or its refusal.
#pragma once

#include <optional>
#include <string>

#include "base/error_codes.h"
#include "http_api/calls/call_fixture.h"
#include "http_api/calls/call_path.h"
#include "http_api/http_api.h"
#include "http_api/request_command.h"

namespace duewheel {

inline const HttpApiOptions kDefaultApiOptions;  // patches refer to their options until they are executed

inline Result<Command> command_of(const Call& call, const HttpApiOptions& options = kDefaultApiOptions) {
    const CallRequest request(call);
    const std::optional<CallPath> path = find_call(request.request());
    if (!path) return Error{"unknown_path"_code, "no such call"};
    if (!allows(allowed_methods(*path), call.method)) return Error{"method_not_allowed"_code, "not with this method"};
    return read_command(request.request(), *path, options);
}

// The code and the field of an error.
inline std::string code_and_field(const Error& error) {
    return std::string(name_of(error.code)) + " " + error.field;
}

inline std::string refusal(const Call& call) {
    const Result<Command> command = command_of(call);
    return command ? "taken" : code_and_field(command.error());
}

}  // namespace duewheel
