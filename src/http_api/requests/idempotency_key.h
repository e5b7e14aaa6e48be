// The idempotency key of a message, as a member, a header field or a query parameter.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "http_api/fields/json_request.h"
#include "http_api/http_api.h"

namespace duewheel {

// `name` is its name in errors. Code bad_key.
Status read_key(std::string_view text, std::string_view name, const HttpApiOptions& options, std::string& into);

// The member `key`, into a target that may have the key of a header field already. Code bad_key, conflicting_members.
Status read_key_member(const JsonRequest& json, const HttpApiOptions& options, std::string& into);

}  // namespace duewheel
