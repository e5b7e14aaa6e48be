#include "http_api/fields/field_writer.h"

#include <string>

#include "base/thousandths.h"
#include "calendar/instant_text.h"
#include "http_api/fields/json_text.h"

namespace duewheel {
namespace {

bool is_shown(const Field& row, const void* resource);

bool has_shown(const FieldTable& table, const void* resource) {
    for (const Field& row : table.rows()) {
        if (is_shown(row, resource)) return true;
    }
    return false;
}

bool is_shown(const Field& row, const void* resource) {
    if (row.path.empty()) return false;
    if (row.kind != FieldKind::object) {
        const FieldValue value = row.get == nullptr ? FieldValue() : row.get(resource);
        return value.index() != 0 && !(row.omits_default && value == FieldValue(std::int64_t{0}));
    }
    const void* const inner = row.look(resource);
    return inner != nullptr && has_shown(row.table(), inner);
}

void write_value(JsonWriter& json, const Field& row, const void* resource) {
    const std::string_view name = row.name();
    if (row.kind == FieldKind::object) {
        json.open(name);
        write_fields(json, row.table(), row.look(resource));
        json.close();
        return;
    }
    const FieldValue value = row.get(resource);
    switch (row.kind) {
        case FieldKind::flag:
            json.boolean(name, std::get<bool>(value));
            return;
        case FieldKind::count:
            json.number(name, std::get<std::int64_t>(value));
            return;
        case FieldKind::duration:
            json.number(std::string(name) + "_ms", std::get<std::int64_t>(value));
            return;
        case FieldKind::instant:
            json.text(name, format_instant(std::get<std::int64_t>(value)));
            return;
        case FieldKind::decimal:
            json.json(name, format_thousandths(std::get<std::int64_t>(value)));
            return;
        case FieldKind::word:
            json.text(name, row.words[static_cast<std::size_t>(std::get<std::int64_t>(value))]);
            return;
        case FieldKind::text:
            json.text(name, std::get<std::string>(value));
            return;
        case FieldKind::json:
            json.json(name, on_one_line(std::get<std::string>(value)));
            return;
        default:
            json.open_array(name);
            for (const std::string& each : std::get<std::vector<std::string>>(value)) json.element(each);
            json.close_array();
            return;
    }
}

}  // namespace

void write_fields(JsonWriter& json, const FieldTable& table, const void* resource) {
    std::string_view group;
    const auto enter = [&](std::string_view next) {
        if (next == group) return;
        if (!group.empty()) json.close();
        if (!next.empty()) json.open(next);
        group = next;
    };
    for (const Field& row : table.rows()) {
        if (!is_shown(row, resource)) continue;
        enter(row.group());
        if (row.kind == FieldKind::by_hand) {
            const auto pairs = std::get<FieldPairs>(row.get(resource));
            json.open(row.name());
            for (const auto& [name, value] : pairs) json.text(name, value);
            json.close();
        } else {
            write_value(json, row, resource);
        }
    }
    enter({});
}

}  // namespace duewheel
