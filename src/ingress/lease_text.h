// Lease tokens as text: 28 bytes in base64url. One token has one text of 38 letters, which needs no escape in a path;
// any other text is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/command.h"

namespace duewheel {

std::string lease_text(const LeaseToken& token);
// Says nothing about whether the token is genuine; the engine does.
std::optional<LeaseToken> parse_lease_text(std::string_view text);

}  // namespace duewheel
