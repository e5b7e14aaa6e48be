// The header fields of a put.
//
// A misunderstood request could put a message at a wrong time, or twice. So fields whose names begin with Duewheel-, or
// with the common prefix X-, are checked as strictly as members.
#pragma once

#include <optional>
#include <string_view>

#include "base/status.h"
#include "net/http/http_message.h"

namespace duewheel {

struct PutFields {
    std::optional<std::string_view> content_type, delay, due, key;

    // The values point into the request. Codes: duplicate_member, unknown_member.
    static Result<PutFields> read(const HttpRequest& request);
};

}  // namespace duewheel
