#include "base/base64.h"

#include <array>
#include <cstdint>

namespace duewheel {
namespace {

constexpr std::uint8_t kNoLetter = 64;

struct Alphabet {
    std::string_view letters;
    std::array<std::uint8_t, 256> values;
};

constexpr Alphabet make_alphabet(std::string_view letters) {
    Alphabet alphabet{letters, {}};
    alphabet.values.fill(kNoLetter);
    for (std::size_t i = 0; i < letters.size(); ++i) {
        alphabet.values[static_cast<unsigned char>(letters[i])] = static_cast<std::uint8_t>(i);
    }
    return alphabet;
}

constexpr Alphabet kStandard = make_alphabet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
constexpr Alphabet kUrl = make_alphabet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");

std::string encode(std::string_view bytes, const Alphabet& alphabet) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (const char byte : bytes) {
        bits = bits << 8 | static_cast<unsigned char>(byte);
        for (held += 8; held >= 6; held -= 6) text += alphabet.letters[bits >> (held - 6) & 63];
    }
    if (held > 0) text += alphabet.letters[bits << (6 - held) & 63];
    return text;
}

std::optional<std::string> decode(std::string_view text, const Alphabet& alphabet) {
    if (text.size() % 4 == 1) return std::nullopt;
    std::string bytes(text.size() / 4 * 3 + (text.size() % 4 * 3) / 4, '\0');
    char* to = bytes.data();
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (const char letter : text) {
        const std::uint8_t value = alphabet.values[static_cast<unsigned char>(letter)];
        if (value == kNoLetter) return std::nullopt;
        bits = bits << 6 | value;
        held += 6;
        if (held < 8) continue;
        held -= 8;
        *to++ = static_cast<char>(bits >> held & 0xff);
    }
    if ((bits & ((1u << held) - 1)) != 0) return std::nullopt;
    return bytes;
}

}  // namespace

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

std::string base64url(std::string_view bytes) {
    return encode(bytes, kUrl);
}

std::optional<std::string> parse_base64url(std::string_view text) {
    return decode(text, kUrl);
}

}  // namespace duewheel
