// Lease tokens as text: 28 bytes in base64url. Each token has exactly one text of 38 characters, which needs no escapes
// in a path; any other text is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/commands/command.h"

namespace duewheel {

std::string lease_text(const LeaseToken& token);
// Does not check whether the token is genuine; the engine does.
std::optional<LeaseToken> parse_lease_text(std::string_view text);

}  // namespace duewheel
