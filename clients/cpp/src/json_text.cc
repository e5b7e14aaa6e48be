#include "json_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace duewheel::client {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr int kDepthMax = 64;

void skip_blanks(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
}

bool skip(std::string_view& text, std::string_view expected) {
    if (!text.starts_with(expected)) return false;
    text.remove_prefix(expected.size());
    return true;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool skip_digits(std::string_view& text) {
    const std::size_t count =
        static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
    text.remove_prefix(count);
    return count > 0;
}

bool skip_number(std::string_view& text) {
    skip(text, "-");
    if (!skip(text, "0") && !skip_digits(text)) return false;
    if (skip(text, ".") && !skip_digits(text)) return false;
    if (!skip(text, "e") && !skip(text, "E")) return true;
    if (!skip(text, "+")) skip(text, "-");
    return skip_digits(text);
}

bool skip_string(std::string_view& text) {
    if (!skip(text, "\"")) return false;
    while (!text.empty()) {
        const char c = text.front();
        text.remove_prefix(1);
        if (c == '"') return true;
        if (static_cast<unsigned char>(c) < 0x20) return false;
        if (c != '\\') continue;
        if (skip(text, "u")) {
            if (text.size() < 4 || !std::all_of(text.begin(), text.begin() + 4, is_hex)) return false;
            text.remove_prefix(4);
        } else {
            if (text.empty() || std::string_view("\"\\/bfnrt").find(text.front()) == std::string_view::npos)
                return false;
            text.remove_prefix(1);
        }
    }
    return false;
}

bool skip_value(std::string_view& text, int depth) {
    skip_blanks(text);
    if (text.empty() || depth > kDepthMax) return false;
    const char first = text.front();
    if (first == '"') return skip_string(text);
    if (first != '{' && first != '[')
        return skip(text, "true") || skip(text, "false") || skip(text, "null") || skip_number(text);
    const std::string_view close = first == '{' ? "}" : "]";
    text.remove_prefix(1);
    skip_blanks(text);
    if (skip(text, close)) return true;
    do {
        skip_blanks(text);
        if (first == '{') {
            if (!skip_string(text)) return false;
            skip_blanks(text);
            if (!skip(text, ":")) return false;
        }
        if (!skip_value(text, depth + 1)) return false;
        skip_blanks(text);
    } while (skip(text, ","));
    return skip(text, close);
}

// Calls `each` before each value of an object or array, until it returns false or the end.
template <class Each>
void for_each_value(std::string_view text, char open, Each&& each) {
    skip_blanks(text);
    if (!text.starts_with(open)) return;
    do {
        text.remove_prefix(1);  // the bracket, or a comma
        skip_blanks(text);
        if (text.empty() || text.front() == '}' || text.front() == ']') return;
        if (!each(text)) return;
        skip_blanks(text);
    } while (text.starts_with(','));
}

std::string_view take_value(std::string_view& text) {
    skip_blanks(text);
    const std::string_view all = text;
    if (!skip_value(text, 0)) text = {};
    return all.substr(0, all.size() - text.size());
}

std::uint32_t hex_at(std::string_view text) {
    std::uint32_t value = 0;
    for (const char c : text.substr(0, 4)) {
        value = value * 16 + static_cast<std::uint32_t>(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

void append_utf8(std::string& text, std::uint32_t code) {
    const auto tail = [&text, code](int shift) { text += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
    if (code < 0x80) {
        text += static_cast<char>(code);
    } else if (code < 0x800) {
        text += static_cast<char>(0xc0 | code >> 6);
        tail(0);
    } else if (code < 0x10000) {
        text += static_cast<char>(0xe0 | code >> 12);
        tail(6), tail(0);
    } else {
        text += static_cast<char>(0xf0 | code >> 18);
        tail(12), tail(6), tail(0);
    }
}

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// The value of each character, or 64.
constexpr auto kFromBase64 = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(64);
    for (std::size_t i = 0; i < kBase64.size(); ++i)
        values[static_cast<unsigned char>(kBase64[i])] = static_cast<std::uint8_t>(i);
    return values;
}();

}  // namespace

bool is_json(std::string_view text) {
    if (!is_utf8(text) || !skip_value(text, 0)) return false;
    skip_blanks(text);
    return text.empty();
}

bool is_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto byte = [&](std::size_t i) -> unsigned {
            return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
        };
        const unsigned lead = byte(0);
        const std::size_t size = lead < 0x80   ? 1
                                 : lead < 0xc2 ? 0
                                 : lead < 0xe0 ? 2
                                 : lead < 0xf0 ? 3
                                 : lead < 0xf5 ? 4
                                               : 0;
        if (size == 0) return false;
        for (std::size_t i = 1; i < size; ++i) {
            if ((byte(i) & 0xc0) != 0x80) return false;
        }
        // Overlong forms, surrogates, and what is beyond the last character.
        if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f)) return false;
        if ((lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f)) return false;
        at += size;
    }
    return true;
}

std::string to_utf8(std::string_view text) {
    std::string made(text);
    if (!is_utf8(text)) {
        std::replace_if(
            made.begin(), made.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
    }
    return made;
}

std::vector<std::pair<std::string_view, std::string_view>> members_of(std::string_view object) {
    std::vector<std::pair<std::string_view, std::string_view>> members;
    for_each_value(object, '{', [&members](std::string_view& text) {
        const std::string_view name = take_value(text);
        skip_blanks(text);
        if (name.size() < 2 || !skip(text, ":")) return false;
        members.emplace_back(name.substr(1, name.size() - 2), take_value(text));
        return true;
    });
    return members;
}

std::string_view member_of(std::string_view object, std::string_view name) {
    for (const auto& [each, value] : members_of(object)) {
        if (each == name) return value;
    }
    return {};
}

std::vector<std::string_view> elements_of(std::string_view array) {
    std::vector<std::string_view> elements;
    for_each_value(array, '[', [&elements](std::string_view& text) {
        elements.push_back(take_value(text));
        return true;
    });
    return elements;
}

std::optional<std::string> unquoted(std::string_view json) {
    std::string_view rest = json;
    if (!skip_string(rest) || !rest.empty()) return {};
    std::string text;
    for (rest = json.substr(1, json.size() - 2); !rest.empty();) {
        const std::size_t plain = std::min(rest.find('\\'), rest.size());
        text += rest.substr(0, plain);
        rest.remove_prefix(plain);
        if (rest.empty()) break;
        const char escape = rest[1];
        rest.remove_prefix(2);
        if (escape != 'u') {
            constexpr std::string_view kEscapes = "bfnrt", kMeant = "\b\f\n\r\t";
            const std::size_t at = kEscapes.find(escape);
            text += at == std::string_view::npos ? escape : kMeant[at];
            continue;
        }
        std::uint32_t code = hex_at(rest);
        rest.remove_prefix(4);
        if (code >> 10 == 0x36 && rest.starts_with("\\u") && hex_at(rest.substr(2)) >> 10 == 0x37) {
            code = 0x10000 + ((code & 0x3ff) << 10) + (hex_at(rest.substr(2)) & 0x3ff);
            rest.remove_prefix(6);
        }
        append_utf8(text, code >> 11 == 0x1b ? 0xfffd : code);  // a surrogate alone is no character
    }
    return text;
}

void append_quoted(std::string& json, std::string_view text) {
    json += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            (json += '\\') += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            constexpr std::string_view kHex = "0123456789abcdef";
            (json += c < 0x10 ? "\\u000" : "\\u001") += kHex[static_cast<std::size_t>(c & 0xf)];
        } else {
            json += c;
        }
    }
    json += '"';
}

std::string to_base64(std::string_view bytes) {
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const auto byte = [&](std::size_t i) -> std::uint32_t {
            return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0;
        };
        const std::uint32_t bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (std::size_t i = 0; i < 4; ++i) text += at + i > bytes.size() ? '=' : kBase64[bits >> (18 - 6 * i) & 0x3f];
    }
    return text;
}

std::string from_base64(std::string_view text) {
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        const std::uint32_t value = kFromBase64[static_cast<unsigned char>(c)];
        if (value == 64) continue;
        bits = bits << 6 | value;
        if ((count += 6) < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> count & 0xff);
    }
    return bytes;
}

}  // namespace duewheel::client
