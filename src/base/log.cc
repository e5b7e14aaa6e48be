#include "base/log.h"

#include <algorithm>

#include "base/enum_name.h"

namespace duewheel {
namespace {

bool is_plain(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("-_.:/+@%").find(c) != std::string_view::npos;
}

void append_escaped_byte(std::string& line, unsigned char byte) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    line += "\\x";
    line += kDigits[byte >> 4];
    line += kDigits[byte & 15];
}

// The control characters of the upper half (U+0080 to U+009F) drive terminals too; in UTF-8 they are 0xc2 and a byte
// from 0x80 to 0x9f.
bool starts_upper_control(std::string_view text, std::size_t at) {
    if (text[at] != '\xc2' || at + 1 == text.size()) return false;
    const auto second = static_cast<unsigned char>(text[at + 1]);
    return second >= 0x80 && second <= 0x9f;
}

void append_escaped(std::string& line, std::string_view text, bool quoted) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto byte = static_cast<unsigned char>(text[at]);
        if (byte == '\n') {
            line += "\\n";
        } else if (byte < 0x20 || byte == 0x7f) {
            append_escaped_byte(line, byte);
        } else if (starts_upper_control(text, at)) {
            append_escaped_byte(line, byte);
            append_escaped_byte(line, static_cast<unsigned char>(text[++at]));
        } else {
            if (byte == '\\' || (quoted && byte == '"')) line += '\\';
            line += text[at];
        }
    }
}

struct AppendValue {
    std::string& line;

    void operator()(std::string_view text) const {
        const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), is_plain);
        if (!plain) line += '"';
        append_escaped(line, text, true);
        if (!plain) line += '"';
    }
    void operator()(bool value) const { line += value ? "true" : "false"; }
    void operator()(std::int64_t value) const { line += std::to_string(value); }
    void operator()(std::uint64_t value) const { line += std::to_string(value); }
};

}  // namespace

std::string_view name_of(LogLevel level) {
    return enum_name<LogLevel::error>(level, {"debug", "info", "warning", "error"});
}

std::string log_line(LogLevel level, std::string_view event, std::string_view message,
                     std::span<const LogField> fields) {
    std::string line(name_of(level));
    line += ' ';
    append_escaped(line, event, false);
    line += ": ";
    append_escaped(line, message, false);
    for (const LogField& field : fields) {
        line += ' ';
        append_escaped(line, field.key(), false);
        line += '=';
        std::visit(AppendValue{line}, field.value());
    }
    return line;
}

}  // namespace duewheel
