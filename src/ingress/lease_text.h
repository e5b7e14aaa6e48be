// Lease tokens as text: 28 bytes in base64url without padding. One token has one text; any other is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/command.h"

namespace duewheel {

std::string lease_text(const LeaseToken& token);
std::optional<LeaseToken> parse_lease_text(std::string_view text);

// Standard base64 with padding, for bodies that are no text.
std::string base64(std::string_view bytes);
std::optional<std::string> parse_base64(std::string_view text);

}  // namespace duewheel
