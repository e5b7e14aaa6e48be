#include "http_api/fields/field_schema.h"

#include <algorithm>
#include <string>
#include <utility>

#include <boost/json.hpp>

#include "base/thousandths.h"
#include "http_api/fields/lease_rows.h"
#include "http_api/fields/message_rows.h"
#include "http_api/fields/put_rows.h"
#include "resource/group_settings.h"
#include "resource/namespace_settings.h"
#include "resource/queue_settings.h"
#include "resource/repeat_fields.h"
#include "resource/retry_fields.h"
#include "resource/schedule_fields.h"
#include "resource/transaction_fields.h"
#include "resource/watchdog_fields.h"

namespace duewheel {
namespace {

namespace json = boost::json;

struct Component {
    std::string_view name;
    const FieldTable& (*table)();
};
json::object reference(std::string_view component) {
    return {{"$ref", "#/components/schemas/" + std::string(component)}};
}

constexpr Component kComponents[] = {
    {"QueueSettings", fields_of<QueueSettings>},
    {"NamespaceSettings", fields_of<NamespaceSettings>},
    {"GroupSettings", fields_of<GroupSettings>},
    {"Retry", fields_of<RetryChoice>},
    {"Rate", fields_of<RateRule>},
    {"Webhook", fields_of<WebhookTarget>},
    {"KafkaTopic", fields_of<KafkaTarget>},
    {"Put", fields_of<PutCommand>},
    {"Imported", fields_of<WorkHistory>},
    {"Message", fields_of<MessageAnswer>},
    {"Delivery", fields_of<Delivered>},
    {"Lease", fields_of<LeaseCommand>},
    {"Ack", fields_of<AckCommand>},
    {"Fail", fields_of<FailCommand>},
    {"Extend", fields_of<ExtendCommand>},
    {"Release", fields_of<ReleaseCommand>},
    {"ScheduleSettings", fields_of<ScheduleRule>},
    {"WatchdogPut", fields_of<WatchdogRule>},
    {"Repeat", fields_of<RepeatChoice>},
    {"Transaction", fields_of<TransactionRule>},
};

std::string_view component_of(const FieldTable& table) {
    const auto* const found = std::find_if(std::begin(kComponents), std::end(kComponents),
                                           [&](const Component& each) { return &each.table() == &table; });
    return found->name;
}

json::value bound(std::int64_t value, FieldKind kind) {
    return kind == FieldKind::decimal ? json::parse(format_thousandths(value)) : json::value(value);
}

// The bounds of a number, or those of the length of a text.
void add_range(const Field& row, json::object& schema, const char* least, const char* most) {
    if (row.min > 0 || row.kind != FieldKind::text) schema[least] = bound(row.min, row.kind);
    if (!row.limit.empty())
        schema[most] = json::object{{"x-limit", row.limit}};
    else if (row.max != kNoFieldMax)
        schema[most] = bound(row.max, row.kind);
}

// What a row says beside its kind replaces what follows from the kind; a null removes it.
json::object with_more(const Field& row, json::object schema) {
    if (row.schema.empty()) return schema;
    const json::value more = json::parse(row.schema);
    if (more.as_object().contains("$ref")) {
        for (const char* of_kind : {"$ref", "type", "minimum", "maximum", "minLength", "maxLength"})
            schema.erase(of_kind);
    }
    for (const auto& [name, value] : more.as_object()) {
        if (value.is_null())
            schema.erase(name);
        else
            schema[name] = value;
    }
    return schema;
}

json::object schema_of(const Field& row) {
    json::object schema;
    switch (row.kind) {
        case FieldKind::flag:
            schema["type"] = "boolean";
            if (!row.is_answer) schema["default"] = false;
            break;
        case FieldKind::count:
        case FieldKind::decimal:
            schema["type"] = row.kind == FieldKind::count ? "integer" : "number";
            add_range(row, schema, "minimum", "maximum");
            break;
        case FieldKind::text:
            schema["type"] = "string";
            add_range(row, schema, "minLength", "maxLength");
            break;
        case FieldKind::names:
            schema["type"] = "array";
            break;
        case FieldKind::word: {
            json::array words;
            for (const std::string_view word : row.words) words.emplace_back(word);
            if (!row.is_answer) schema["default"] = words.front();
            schema["enum"] = std::move(words);
            break;
        }
        case FieldKind::object:
            return reference(component_of(row.table()));
        default:
            break;
    }
    if (!row.sentence.empty()) schema["description"] = std::string(row.sentence) + ".";
    return with_more(row, std::move(schema));
}

// The two members of a duration or an instant, of which responses show what is for people and what is for programs.
// Only a number can have a range.
std::pair<json::object, json::object> schemas_of_time(const Field& row) {
    const bool is_duration = row.kind == FieldKind::duration;
    if (row.is_answer && !is_duration) return {with_more(row, reference("InstantText")), reference("InstantMs")};
    json::object text = reference(is_duration ? "Duration" : "Instant");
    json::object number = reference(is_duration ? "DurationMs" : "InstantNumber");
    if (is_duration) add_range(row, number, "minimum", "maximum");
    if (!row.sentence.empty()) {
        text["description"] = std::string(row.sentence) + ".";
        number["description"] = "Milliseconds. " + std::string(row.sentence) + ".";
    }
    return {with_more(row, std::move(text)), std::move(number)};
}

// A schema of an object; the rows of `rows` are its members.
json::object object_of(std::span<const Field* const> rows) {
    json::object properties;
    json::array required;
    json::array twins;
    json::object schema = {{"type", "object"}};
    const bool is_request = rows.empty() || !rows.front()->is_answer;
    if (is_request) schema["additionalProperties"] = false;
    for (const Field* row : rows) {
        const std::string name(row->name());
        const std::string name_ms = name + "_ms";
        if (!row->is_time()) {
            properties[name] = schema_of(*row);
            if (row->is_required) required.emplace_back(name);
            continue;
        }
        auto [schema_of_text, schema_of_number] = schemas_of_time(*row);
        properties[name] = std::move(schema_of_text);
        properties[name_ms] = std::move(schema_of_number);
        if (!is_request) {
            if (row->is_required) required.insert(required.end(), {name, name_ms});
        } else if (row->is_required) {
            schema["oneOf"] = json::array{json::object{{"required", json::array{name}}},
                                          json::object{{"required", json::array{name_ms}}}};
        } else {
            twins.push_back(json::object{{"required", json::array{name, name_ms}}});
        }
    }
    if (!required.empty()) schema["required"] = std::move(required);
    if (twins.size() == 1) schema["not"] = twins.front();
    if (twins.size() > 1) schema["not"] = json::object{{"anyOf", std::move(twins)}};
    schema["properties"] = std::move(properties);
    return schema;
}

}  // namespace

const FieldTable* find_described_table(std::string_view component) {
    for (const Component& each : kComponents) {
        if (each.name == component) return &each.table();
    }
    return nullptr;
}

json::object field_schema(const FieldTable& table) {
    std::vector<const Field*> own;
    std::vector<std::pair<std::string_view, std::vector<const Field*>>> groups;
    for (const Field& row : table.rows()) {
        if (row.path.empty()) continue;
        const std::string_view group = row.group();
        if (group.empty())
            own.push_back(&row);
        else if (!groups.empty() && groups.back().first == group)
            groups.back().second.push_back(&row);
        else
            groups.push_back({group, {&row}});
    }
    json::object schema = object_of(own);
    json::object& properties = schema.at("properties").as_object();
    for (const auto& [name, rows] : groups) {
        if (!properties.contains(name)) properties[name] = object_of(rows);
    }
    return schema;
}

}  // namespace duewheel
