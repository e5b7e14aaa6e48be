#include "ingress/lease_text.h"

#include <array>
#include <cstring>

namespace duewheel {
namespace {

constexpr std::string_view kStandard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kTokenBytes = 28;

std::string encode(std::string_view bytes, std::string_view alphabet) {
    std::string text;
    text.reserve((bytes.size() * 4 + 2) / 3);
    std::uint32_t bits = 0;
    int held = 0;
    for (const char byte : bytes) {
        bits = bits << 8 | static_cast<unsigned char>(byte);
        for (held += 8; held >= 6; held -= 6) text += alphabet[bits >> (held - 6) & 63];
    }
    if (held > 0) text += alphabet[bits << (6 - held) & 63];
    return text;
}

// Refuses other letters, impossible lengths, and bits beyond the last byte: one value has one text.
std::optional<std::string> decode(std::string_view text, std::string_view alphabet) {
    static constexpr auto kNone = std::string_view::npos;
    if (text.size() % 4 == 1) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() * 3 / 4);
    std::uint32_t bits = 0;
    int held = 0;
    for (const char letter : text) {
        const std::size_t value = alphabet.find(letter);
        if (value == kNone || letter == '\0') return std::nullopt;
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        held += 6;
        if (held < 8) continue;
        held -= 8;
        bytes += static_cast<char>(bits >> held & 0xff);
    }
    if ((bits & ((1u << held) - 1)) != 0) return std::nullopt;
    return bytes;
}

}  // namespace

std::string lease_text(const LeaseToken& token) {
    std::array<char, kTokenBytes> bytes{};
    std::memcpy(bytes.data(), &token.id, 8);
    std::memcpy(bytes.data() + 8, &token.attempt, 4);
    std::memcpy(bytes.data() + 12, &token.incarnation, 8);
    std::memcpy(bytes.data() + 20, &token.code, 8);
    return encode({bytes.data(), bytes.size()}, kUrl);
}

std::optional<LeaseToken> parse_lease_text(std::string_view text) {
    const std::optional<std::string> bytes = decode(text, kUrl);
    if (!bytes || bytes->size() != kTokenBytes) return std::nullopt;
    LeaseToken token;
    std::memcpy(&token.id, bytes->data(), 8);
    std::memcpy(&token.attempt, bytes->data() + 8, 4);
    std::memcpy(&token.incarnation, bytes->data() + 12, 8);
    std::memcpy(&token.code, bytes->data() + 20, 8);
    return token;
}

std::string base64(std::string_view bytes) {
    std::string text = encode(bytes, kStandard);
    text.append((4 - text.size() % 4) % 4, '=');
    return text;
}

std::optional<std::string> parse_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
    return decode(text, kStandard);
}

}  // namespace duewheel
