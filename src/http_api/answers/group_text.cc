#include "http_api/answers/group_text.h"

#include "http_api/answers/rule_text.h"
#include "http_api/fields/field_writer.h"
#include "http_api/fields/instant_member.h"

namespace duewheel {

void write_group(JsonWriter& json, const GroupAnswer& answer) {
    open_named(json, "queue", answer.name_space, answer.queue).text("group", answer.group);
    json.number("ready", answer.ready);
    if (answer.is_ready_min) json.boolean("ready_is_minimum", true);
    json.number("leased", answer.leased);
    if (answer.oldest_due_ms != 0) write_instant(json, "oldest_due", "oldest_due_ms", answer.oldest_due_ms);
    if (answer.limited_by != LimitedBy::nothing) {
        json.text("limited_by", limited_by_name(answer.limited_by));
        write_instant(json, "limited_since", "limited_since_ms", answer.limited_since_ms);
    }
    const DueMs backoff_until_ms = answer.settings.backoff_until_ms;
    if (backoff_until_ms != 0) write_instant(json, "backoff_until", "backoff_until_ms", backoff_until_ms);
    write_fields(json, "settings", answer.settings);
    json.close();
}

}  // namespace duewheel
