// The syntax of header field values that are stored and passed on, and which others write into JSON or headers
// later.
#pragma once

#include <cstddef>
#include <string_view>

#include "net/http/http_message.h"

namespace duewheel {

inline constexpr std::size_t kMediaTypeBytesMax = 256;

// RFC 9110, 5.6.2: the characters of field names.
bool is_token(std::string_view text);

// RFC 9110, 5.5: no control characters but tabs.
bool is_header_value(std::string_view text);

// "text/plain; charset=utf-8": a type, a slash, a subtype, and any parameters, in visible ASCII.
bool is_media_type(std::string_view text);

// A media type without its parameters: "text/plain".
std::string_view essence(std::string_view media_type);

// Whether the body of a request is JSON; true if there is no Content-Type.
bool is_json(const HttpRequest& request);

// W3C Trace Context, 3.2: "00-" trace id, "-" parent id, "-" flags, in lower-case hexadecimal digits, neither id all
// zeros. A later version may have more after that.
bool is_traceparent(std::string_view text);

// The request's trace; empty if it has none, more than one, or a malformed one.
std::string_view traceparent_of(const HttpRequest& request);

}  // namespace duewheel
