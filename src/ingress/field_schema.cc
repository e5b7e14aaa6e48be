#include "ingress/field_schema.h"

#include <algorithm>
#include <string>
#include <utility>

#include <boost/json.hpp>

#include "base/thousandths.h"
#include "resource/namespace_settings.h"
#include "resource/queue_settings.h"
#include "resource/retry_fields.h"

namespace duewheel {
namespace {

namespace json = boost::json;

struct Component {
    std::string_view name;
    const FieldTable& (*table)();
};
constexpr Component kComponents[] = {
    {"QueueSettings", fields_of<QueueSettings>}, {"NamespaceSettings", fields_of<NamespaceSettings>},
    {"Retry", fields_of<RetryChoice>},           {"Webhook", fields_of<WebhookTarget>},
    {"KafkaTopic", fields_of<KafkaTarget>},
};

json::object reference(std::string_view component) {
    return {{"$ref", "#/components/schemas/" + std::string(component)}};
}

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

json::object schema_of(const Field& row) {
    json::object schema;
    switch (row.kind) {
        case FieldKind::flag:
            schema = {{"type", "boolean"}, {"default", false}};
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
            schema["default"] = words.front();
            schema["enum"] = std::move(words);
            break;
        }
        case FieldKind::object:
            return reference(component_of(row.table()));
        default:
            break;
    }
    schema["description"] = std::string(row.sentence) + ".";
    if (!row.schema.empty()) {
        const json::value more = json::parse(row.schema);
        for (const auto& [name, value] : more.as_object()) schema[name] = value;
    }
    return schema;
}

// A schema of an object; the rows of `rows` are its members.
json::object object_of(std::span<const Field* const> rows) {
    json::object properties;
    json::array required;
    json::array twins;
    for (const Field* row : rows) {
        const std::string name(row->name());
        if (row->is_required) required.emplace_back(name);
        if (row->kind != FieldKind::duration) {
            properties[name] = schema_of(*row);
            continue;
        }
        properties[name] = reference("Duration");
        properties[name + "_ms"] = reference("DurationMs");
        twins.push_back(json::object{{"required", json::array{name, name + "_ms"}}});
    }
    json::object schema = {{"type", "object"}, {"additionalProperties", false}};
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
