#include "http_api/answers/lease_text.h"

#include <array>
#include <cstring>

#include "base/base64.h"

namespace duewheel {
namespace {

constexpr std::size_t kTokenBytes = 28;
constexpr std::size_t kTextLetters = 38;

}  // namespace

std::string lease_text(const LeaseToken& token) {
    std::array<char, kTokenBytes> bytes{};
    std::memcpy(bytes.data(), &token.id, 8);
    std::memcpy(bytes.data() + 8, &token.attempt, 4);
    std::memcpy(bytes.data() + 12, &token.incarnation, 8);
    std::memcpy(bytes.data() + 20, &token.code, 8);
    return base64url({bytes.data(), bytes.size()});
}

std::optional<LeaseToken> parse_lease_text(std::string_view text) {
    if (text.size() != kTextLetters) return std::nullopt;
    const std::optional<std::string> bytes = parse_base64url(text);
    if (!bytes) return std::nullopt;
    LeaseToken token;
    std::memcpy(&token.id, bytes->data(), 8);
    std::memcpy(&token.attempt, bytes->data() + 8, 4);
    std::memcpy(&token.incarnation, bytes->data() + 12, 8);
    std::memcpy(&token.code, bytes->data() + 20, 8);
    return token;
}

}  // namespace duewheel
