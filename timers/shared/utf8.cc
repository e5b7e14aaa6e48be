#include "shared/utf8.h"

#include <cstdint>
#include <cstring>

namespace duewheel {
namespace {

// The number of bytes of the letter at `at`, or 0 if it is not a letter. Table 3-7 of the Unicode standard.
std::ptrdiff_t letter_bytes(const unsigned char* at, const unsigned char* end) {
    const unsigned lead = *at;
    if (lead < 0x80) return 1;
    const std::ptrdiff_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || end - at < length) return 0;
    const unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (at[1] < low || at[1] > high) return 0;
    for (std::ptrdiff_t i = 2; i < length; ++i) {
        if (at[i] < 0x80 || at[i] > 0xbf) return 0;
    }
    return length;
}

}  // namespace

std::size_t letter_bytes(std::string_view text) {
    const auto* at = reinterpret_cast<const unsigned char*>(text.data());
    return static_cast<std::size_t>(letter_bytes(at, at + text.size()));
}

bool is_utf8(std::string_view text) {
    const auto* at = reinterpret_cast<const unsigned char*>(text.data());
    const auto* const end = at + text.size();
    while (at != end) {
        std::uint64_t eight = 0x80;
        if (end - at >= 8) std::memcpy(&eight, at, 8);
        if ((eight & 0x8080808080808080) == 0) {
            at += 8;
            continue;
        }
        const std::ptrdiff_t length = letter_bytes(at, end);
        if (length == 0) return false;
        at += length;
    }
    return true;
}

std::string as_utf8(std::string_view bytes) {
    if (is_utf8(bytes)) return std::string(bytes);
    std::string text;
    for (const char c : bytes) {
        if (static_cast<unsigned char>(c) < 0x80) {
            text += c;
        } else {
            text += "\xef\xbf\xbd";
        }
    }
    return text;
}

std::string_view cut_utf8(std::string_view text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) return text;
    while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xc0) == 0x80) --bytes_max;
    return text.substr(0, bytes_max);
}

}  // namespace duewheel
