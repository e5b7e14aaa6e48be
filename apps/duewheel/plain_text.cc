#include "plain_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utf8proc.h>

#include "shared/utf8.h"

namespace duewheel {
namespace {

constexpr std::string_view kEllipsis = "...";

// The size of the control character U+007F to U+009F at the front of `text`; 0 if there is none. Those from U+0080 on
// also control some terminals.
std::size_t high_control_size(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    if (byte(0) == 0x7f) return 1;
    return text.size() > 1 && byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0 ? 2 : 0;
}

// The number of bytes of the UTF-8 character at the front of `text`, 0 if there is none or it is a control character.
std::size_t letter_size(std::string_view text) {
    const bool steers = static_cast<unsigned char>(text[0]) < 0x20 || high_control_size(text) > 0;
    return steers ? 0 : letter_bytes(text);
}

std::string formatted(const char* format, unsigned value) {
    std::array<char, 16> text;
    std::snprintf(text.data(), text.size(), format, value);
    return text.data();
}

// Whether a character is drawn as nothing, or steers the direction of text. U+FE0E and U+FE0F choose between the text
// and the picture of an emoji.
bool is_invisible(utf8proc_int32_t letter) {
    if (letter == 0xfe0e || letter == 0xfe0f) return false;
    const utf8proc_property_t* const properties = utf8proc_get_property(letter);
    return properties->ignorable != 0 || properties->category == UTF8PROC_CATEGORY_CF ||
           properties->category == UTF8PROC_CATEGORY_ZL || properties->category == UTF8PROC_CATEGORY_ZP;
}

// A character of this many bytes, which is not a control character, as it is shown.
std::string shown_letter(std::string_view letter) {
    if (letter.size() == 1) return std::string(letter);
    utf8proc_int32_t value = 0;
    utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(letter.data()),
                     static_cast<utf8proc_ssize_t>(letter.size()), &value);
    return is_invisible(value) ? formatted("[U+%04X]", static_cast<unsigned>(value)) : std::string(letter);
}

std::string escaped(char c) {
    switch (c) {
        case '\n':
            return "\\n";
        case '\r':
            return "\\r";
        case '\t':
            return "\\t";
        default: {
            static constexpr char kHex[] = "0123456789abcdef";
            const auto byte = static_cast<unsigned char>(c);
            return {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
        }
    }
}

// The number of bytes of the character at the front of a printable text, and its columns: 2 for a wide character, 0 for
// a mark that combines with the character before it.
struct Letter {
    std::size_t bytes;
    std::size_t columns;
};
Letter first_letter(std::string_view text) {
    utf8proc_int32_t letter = 0;
    const utf8proc_ssize_t bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                    static_cast<utf8proc_ssize_t>(text.size()), &letter);
    if (bytes <= 0) return {1, 1};
    return {static_cast<std::size_t>(bytes), static_cast<std::size_t>(utf8proc_charwidth(letter))};
}

std::size_t width(std::string_view text) {
    std::size_t columns = 0;
    while (!text.empty()) {
        const Letter letter = first_letter(text);
        columns += letter.columns;
        text.remove_prefix(letter.bytes);
    }
    return columns;
}

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::vector<std::size_t> widths_of(const Rows& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
    }
    return widths;
}

// The shortest decimals that are the number; up to 309 digits before the point, and 767 behind it.
std::string plain_number(double number) {
    std::array<char, 1100> text;
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    return error == std::errc() ? std::string(text.data(), end) : "null";
}

// Columns are left-aligned except those named in `right`. No line ends in spaces.
std::string aligned(const Rows& rows, const std::vector<bool>& right) {
    const std::vector<std::size_t> widths = widths_of(rows);
    std::string text;
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::size_t padding = widths[i] - width(row[i]);
            const bool last = i + 1 == row.size();
            if (i < right.size() && right[i]) {
                text.append(padding, ' ').append(row[i]);
            } else {
                text.append(row[i]).append(last ? 0 : padding, ' ');
            }
            if (!last) text += "  ";
        }
        text += '\n';
    }
    return text;
}

}  // namespace

std::string setting_name(std::string_view member) {
    if (member.ends_with("_ms")) member.remove_suffix(3);
    return printable(member);
}

std::string_view cut_to_width(std::string_view text, std::size_t columns_max) {
    std::size_t at = 0;
    for (std::size_t columns = 0; at < text.size();) {
        const Letter letter = first_letter(text.substr(at));
        columns += letter.columns;
        if (columns > columns_max) break;
        at += letter.bytes;
    }
    return text.substr(0, at);
}

std::string printable(std::string_view text, std::size_t letters_max) {
    std::string shown;
    for (std::size_t letters = 0; !text.empty(); ++letters) {
        if (letters == letters_max) return shown += kEllipsis;
        const std::size_t size = letter_size(text);
        if (size == 0) {
            shown += escaped(text.front());
        } else {
            shown += shown_letter(text.substr(0, size));
        }
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return shown;
}

std::string printable_lines(std::string_view text) {
    std::string shown;
    while (true) {
        const std::size_t end = text.find('\n');
        shown += printable(text.substr(0, end));
        if (end == std::string_view::npos) return shown;
        shown += '\n';
        text.remove_prefix(end + 1);
    }
}

std::string printable_json(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        const std::size_t size = high_control_size(text);
        if (size == 0) {
            shown += text.front();
        } else {
            shown += formatted("\\u%04x", static_cast<unsigned char>(text[size - 1]));
        }
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return shown;
}

std::string plain_json(const boost::json::value& value) {
    if (value.is_double()) return plain_number(value.get_double());
    std::string text;
    if (value.is_array()) {
        for (const boost::json::value& each : value.get_array()) {
            text.append(text.empty() ? "" : ",").append(plain_json(each));
        }
        return "[" + text + "]";
    }
    if (value.is_object()) {
        for (const auto& [name, member] : value.get_object()) {
            text.append(text.empty() ? "" : ",").append(boost::json::serialize(name));
            text.append(":").append(plain_json(member));
        }
        return "{" + text + "}";
    }
    return boost::json::serialize(value);
}

std::string fields(const Rows& rows) {
    return aligned(rows, {});
}

std::string table(const Rows& rows) {
    std::vector<bool> right(rows.empty() ? 0 : rows[0].size());
    for (std::size_t i = 0; i < right.size(); ++i) {
        right[i] = std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) { return is_number(row[i]); });
    }
    return aligned(rows, right);
}

std::string table(Rows rows, std::size_t column, std::size_t width_max) {
    constexpr std::size_t kLeast = 12;
    constexpr std::size_t kGap = 2;
    const std::vector<std::size_t> widths = widths_of(rows);
    std::size_t others = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) others += i == column ? 0 : widths[i] + kGap;
    const std::size_t most = std::max(width_max - std::min(width_max, others), kLeast);
    for (auto& row : rows) {
        if (width(row[column]) <= most) continue;
        row[column] = std::string(cut_to_width(row[column], most - kEllipsis.size())).append(kEllipsis);
    }
    return table(rows);
}

}  // namespace duewheel
