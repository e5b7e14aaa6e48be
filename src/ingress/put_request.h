// A put, from either of its forms: a JSON object, or the message's body as it is, with its due time and key in header
// fields.
//
// A misunderstood request could put a message at a wrong time, or twice. So fields whose names begin with Duewheel-, or
// with the common prefix X-, are checked as strictly as members.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/status.h"
#include "engine/command.h"
#include "ingress/http_api.h"
#include "ingress/json_request.h"
#include "net/http_message.h"

namespace duewheel {

inline constexpr std::size_t kOrderKeyBytesMax = 256;

// Codes: those of JsonRequest, bad_base64, bad_content_type, bad_key, bad_message_header, body_too_large,
// conflicting_members, duplicate_member, headers_too_large, missing_member, out_of_range, unknown_member,
// unsupported_media_type.
Result<Command> read_put(const HttpRequest& request, bool is_raw, std::string name_space, std::string queue,
                         const HttpApiOptions& options);

// The members of a put in JSON, added to the content of `put`: the body is required, even if it is empty.
// Codes as above.
Result<PutCommand> read_json_put(std::string_view text, const HttpApiOptions& options, PutCommand put,
                                 std::size_t line = 1);

// The members of a message's content and delivery: body, body_base64, json, content_type, headers, order_key,
// priority, retry; into `put`, which contains what a patch keeps. Body and content type belong together: a patch with
// a body replaces or removes the type too. Codes as above.
Status read_content_members(const JsonRequest& json, const HttpApiOptions& options, PutCommand& put);

// An idempotency key; `name` is its name in errors. Code bad_key.
Status read_key(std::string_view text, std::string_view name, const HttpApiOptions& options, std::string& into);

// The member `key`, into a target that may have the key of a header field already. Code bad_key, conflicting_members.
Status read_key_member(const JsonRequest& json, const HttpApiOptions& options, std::string& into);

// The header field that says in a put of a raw body what this member says in JSON; the member where none does.
std::string_view raw_field_of(std::string_view member);

}  // namespace duewheel
