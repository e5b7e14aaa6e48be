// A put, from either of its forms: a JSON object, or the message's body as it is (http_api/requests/raw_put.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "engine/commands/command.h"
#include "http_api/fields/json_request.h"
#include "http_api/http_api.h"
#include "net/http/http_message.h"

namespace duewheel {

// Codes: those of JsonRequest, bad_base64, bad_content_type, bad_key, bad_message_header, body_too_large,
// conflicting_members, duplicate_member, headers_too_large, missing_member, out_of_range, unknown_member,
// unsupported_media_type.
Result<Command> read_put(const HttpRequest& request, bool is_raw, std::string name_space, std::string queue,
                         const HttpApiOptions& options);

// The members `expires_in` and `expires`. Codes: those of JsonRequest, conflicting_members.
Status read_expiry(const JsonRequest& request, std::optional<When>& into);

// The members of a put in JSON, added to the content of `put`: the body is required, even if it is empty.
// Codes as above.
Result<PutCommand> read_json_put(std::string_view text, const HttpApiOptions& options, PutCommand put,
                                 std::size_t line = 1);

}  // namespace duewheel
