#include "ingress/namespace_text.h"

namespace duewheel {

void write_settings(JsonWriter& json, const NamespaceSettings& settings) {
    json.open("settings");
    NamespaceSettings without_limits;
    without_limits.revision = settings.revision;
    without_limits.weight = settings.weight;
    if (settings.weight != 0) json.number("weight", settings.weight);
    if (settings != without_limits) {
        json.open("limits");
        if (settings.pending_max != 0) json.number("pending", settings.pending_max);
        if (settings.queues_max != 0) json.number("queues", settings.queues_max);
        if (settings.schedules_max != 0) json.number("schedules", settings.schedules_max);
        if (settings.watchdogs_max != 0) json.number("watchdogs", settings.watchdogs_max);
        if (settings.put_rate != 0) json.number("put_rate", settings.put_rate);
        json.close();
    }
    json.close();
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
