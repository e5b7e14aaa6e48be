// The members of a message's content and delivery in a JSON request: of a put, a schedule, a watchdog or a line of an
// export.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/status.h"
#include "engine/commands/command.h"
#include "http_api/fields/json_request.h"
#include "http_api/http_api.h"
#include "resource/group_settings.h"

namespace duewheel {

inline constexpr std::size_t kOrderKeyBytesMax = 256;

// Whether it can be an order key or the name of a group: UTF-8 without control characters, not empty.
bool is_label(std::string_view text, std::size_t bytes_max);

// The members body, body_base64, json, content_type, headers, order_key, group, priority, retry; into `put`, which
// contains what a patch keeps. Body and content type belong together: a patch with a body replaces or removes the type
// too. Codes: those of JsonRequest, bad_base64, bad_content_type, bad_group, bad_message_header, bad_order_key,
// body_too_large, conflicting_members, headers_too_large, out_of_range.
Status read_content_members(const JsonRequest& json, const HttpApiOptions& options, PutCommand& put);

// Whether the request gives a body, in any of its forms.
bool has_body(const JsonRequest& json);

// Code body_too_large.
Status check_body_size(std::string_view body, const HttpApiOptions& options);

}  // namespace duewheel
