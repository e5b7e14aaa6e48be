#include "server/json_log_line.h"

#include <type_traits>

#include "ingress/json_writer.h"
#include "ingress/utf8.h"

namespace duewheel {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// Bytes may come from a client, and one wrong one would make the whole line unreadable.
std::string as_utf8(std::string_view text) {
    if (is_utf8(text)) return std::string(text);
    std::string replaced;
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x80) {
            replaced += c;
        } else {
            replaced += kReplacement;
        }
    }
    return replaced;
}

}  // namespace

std::string json_log_line(LogLevel level, std::string_view event, std::string_view message,
                          std::span<const LogField> fields) {
    std::string line;
    JsonWriter json(line);
    json.open().text("level", name_of(level)).text("event", as_utf8(event)).text("message", as_utf8(message));
    for (const LogField& field : fields) {
        const std::string key = as_utf8(field.key());
        std::visit(
            [&](const auto& value) {
                using Value = std::decay_t<decltype(value)>;
                if constexpr (std::is_same_v<Value, std::string_view>) {
                    json.text(key, as_utf8(value));
                } else if constexpr (std::is_same_v<Value, bool>) {
                    json.boolean(key, value);
                } else {
                    json.number(key, value);
                }
            },
            field.value());
    }
    json.close();
    return line;
}

}  // namespace duewheel
