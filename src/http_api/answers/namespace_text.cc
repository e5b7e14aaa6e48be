#include "http_api/answers/namespace_text.h"

#include "http_api/fields/field_writer.h"

namespace duewheel {

void write_settings(JsonWriter& json, const NamespaceSettings& settings) {
    write_fields(json, "settings", settings);
}

void write_namespace(JsonWriter& json, const NamespaceAnswer& answer) {
    json.open().text("namespace", answer.name_space);
    if (answer.removed) {
        json.boolean("removed", *answer.removed).close();
        return;
    }
    json.number("pending", answer.pending).number("queues", answer.queues);
    json.number("schedules", answer.schedules).number("watchdogs", answer.watchdogs);
    write_settings(json, answer.settings);
    json.close();
}

}  // namespace duewheel
