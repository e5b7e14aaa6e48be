// Strict Base64 (RFC 4648): one value has exactly one text. Other characters, line breaks, impossible lengths and bits
// beyond the last byte are refused, because two texts for one value would be two names for one thing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace duewheel {

// The standard alphabet with padding. O(size).
std::string base64(std::string_view bytes);
std::optional<std::string> parse_base64(std::string_view text);

// The alphabet for addresses and file names, without padding. O(size).
std::string base64url(std::string_view bytes);
std::optional<std::string> parse_base64url(std::string_view text);

}  // namespace duewheel
