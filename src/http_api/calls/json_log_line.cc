#include "http_api/calls/json_log_line.h"

#include <type_traits>

#include "base/json_writer.h"
#include "shared/utf8.h"

namespace duewheel {

std::string json_log_line(LogLevel level, std::string_view event, std::string_view message,
                          std::span<const LogField> fields) {
    // Bytes may come from a client, and one invalid byte would make the whole line unreadable.
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
