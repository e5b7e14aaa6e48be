// What the calls of access tokens say. A new secret is made here, shown once in the response, and forgotten; the engine
// receives its hash.
#pragma once

#include <optional>

#include "base/secret.h"
#include "base/status.h"
#include "engine/commands/command.h"
#include "http_api/calls/call_path.h"
#include "http_api/http_api.h"
#include "net/http/http_message.h"

namespace duewheel {

// `secret`: of a call that may make or replace one.
struct TokenCall {
    Command command;
    std::optional<Secret> secret;
};

bool is_token_call(CallPath::What what);

// Codes: those of read_members(), bad_token_id, bad_scope, bad_namespace, bad_queue_name, bad_certificate_name,
// missing_member, out_of_range, bad_cursor; of the engine's answer also unknown_token, last_admin, token_limit,
// certificate_name_taken.
Result<TokenCall> read_token_call(const HttpRequest& request, const CallPath& path, const HttpApiOptions& options);

}  // namespace duewheel
