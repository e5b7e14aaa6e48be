// A put whose body is that of the message as it is: its due time, its key and its content type are header fields.
#pragma once

#include <string_view>

#include "base/status.h"
#include "engine/commands/command.h"
#include "http_api/fields/put_fields.h"
#include "http_api/http_api.h"
#include "net/http/http_message.h"

namespace duewheel {

// `put` has the path's names. Codes: those of durations and instants, bad_key, body_too_large, conflicting_members,
// unsupported_media_type.
Result<Command> read_raw_put(const HttpRequest& request, const PutFields& fields, const HttpApiOptions& options,
                             PutCommand put);

// The header field that says in a put of a raw body what this member says in JSON; the member where none does.
std::string_view raw_field_of(std::string_view member);

}  // namespace duewheel
