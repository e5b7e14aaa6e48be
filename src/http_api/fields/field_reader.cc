#include "http_api/fields/field_reader.h"

#include <string>
#include <utility>

#include "base/byte_size.h"
#include "base/error_codes.h"
#include "http_api/fields/request_members.h"

namespace duewheel {
namespace {

Error too_small(const Field& row, const std::string& name) {
    std::string least = row.kind == FieldKind::duration ? std::to_string(row.min) + "ms" : std::to_string(row.min);
    std::string text = "`" + name + "` must be at least " + std::move(least);
    if (!row.when_absent.empty()) text.append(row.is_required ? ": " : "; omit it for ").append(row.when_absent);
    return {row.code, std::move(text), name};
}

Error too_large(const Field& row, const std::string& name) {
    if (row.kind == FieldKind::json) {
        return {row.code,
                "`" + name + "` has up to " + format_byte_size(row.max) +
                    ": keep what is larger elsewhere, and give its address",
                name};
    }
    const std::string most =
        row.max == kNoFieldMax ? "what the limit " + std::string(row.limit) + " allows" : std::to_string(row.max);
    return {row.code, "`" + name + "` must be at most " + most, name};
}

Error not_a_word(const Field& row, const std::string& name) {
    const bool are_two = row.words.size() == 2;
    std::string choices;
    for (const std::string_view word : row.words) {
        choices.append(choices.empty() ? "\"" : are_two ? " or \"" : ", \"").append(word) += '"';
    }
    return {row.code, "`" + name + "` must be " + (are_two ? "" : "one of ") + choices, name};
}

// The value of a member, nothing if it is absent. A number beyond 64 bits is the nearest possible one, which
// the check of its maximum refuses.
Result<FieldValue> read_value(const JsonRequest& json, const Field& row, const std::string& full) {
    const std::string_view name = row.name();
    const auto number = [&](const Result<std::optional<std::int64_t>>& read) -> Result<FieldValue> {
        if (!read) return read.error();
        if (!*read) return FieldValue();
        if (**read < row.min && row.kind != FieldKind::decimal) return too_small(row, full);
        return FieldValue(**read);
    };
    switch (row.kind) {
        case FieldKind::flag: {
            const Result<std::optional<bool>> read = json.boolean(name);
            if (!read) return read.error();
            return *read ? FieldValue(**read) : FieldValue();
        }
        case FieldKind::count:
            return number(json.integer(name));
        case FieldKind::duration:
            return number(json.duration_ms(name));
        case FieldKind::instant:
            return number(json.instant_ms(name));
        case FieldKind::decimal:
            return number(json.thousandths(name));
        case FieldKind::names: {
            if (!json.has(name)) return FieldValue();
            const Result<std::vector<std::string_view>> read = json.text_list(name);
            if (!read) return read.error();
            return FieldValue(std::vector<std::string>(read->begin(), read->end()));
        }
        case FieldKind::json: {
            const std::optional<std::string_view> read = json.json_text(name);
            if (!read) return FieldValue();
            if (static_cast<std::int64_t>(read->size()) > row.max) return too_large(row, full);
            return FieldValue(std::string(*read));
        }
        case FieldKind::text:
        case FieldKind::word: {
            const Result<std::optional<std::string_view>> read = json.text(name);
            if (!read) return read.error();
            if (!*read) return FieldValue();
            if (row.kind == FieldKind::text) return FieldValue(std::string(**read));
            for (std::size_t i = 0; i < row.words.size(); ++i) {
                if (row.words[i] == **read) return FieldValue(static_cast<std::int64_t>(i));
            }
            return not_a_word(row, full);
        }
        default:
            return FieldValue();
    }
}

Error missing(const Field& row, const std::string& name) {
    return {"missing_member"_code, "`" + name + "` is missing: " + std::string(row.when_absent), name};
}

Status read_field(const JsonRequest& json, const Field& row, void* resource, std::string_view within) {
    if (row.set == nullptr) return {};
    const std::string_view name = row.name();
    const bool is_removed = row.is_time() ? json.removes_time(name) : json.removes(name);
    const bool is_given = row.is_time() ? json.has_time(name) : json.has(name);
    if (is_removed) row.set(resource, {});
    if (!is_given && !row.is_required) return {};
    std::string full = std::string(within) + std::string(name);
    if (row.kind == FieldKind::object) {
        const Result<std::optional<JsonRequest>> inner = json.object(name);
        if (!inner) return inner.error();
        return *inner ? read_fields(**inner, row.table(), row.open(resource), full + ".") : Status();
    }
    Result<FieldValue> value = read_value(json, row, full);
    if (!value) return std::move(value).error();
    if (!std::holds_alternative<std::monostate>(*value)) {
        return row.set(resource, *std::move(value)) ? Status() : Status(too_large(row, full));
    }
    if (!row.is_required || !std::holds_alternative<std::monostate>(row.get(resource))) return {};
    return missing(row, full);
}

}  // namespace

Status read_fields(const JsonRequest& json, const FieldTable& table, void* resource, std::string_view within,
                   std::string_view except) {
    if (Status known = json.only(table.members_of({})); !known) return known;
    return read_known_fields(json, table, resource, within, except);
}

Status read_known_fields(const JsonRequest& json, const FieldTable& table, void* resource, std::string_view within,
                         std::string_view except) {
    for (const auto& [name, group, rows, is_needed] : table.sections()) {
        if ((!except.empty() && group == except) || (!is_needed && !json.mentions(name))) continue;
        if (group.empty()) {
            if (Status read = read_field(json, rows.front(), resource, within); !read) return read;
            continue;
        }
        if (json.removes(group)) {
            for (const Field& row : rows) row.set(resource, {});
        }
        const Result<std::optional<JsonRequest>> inner = json.object(group);
        if (!inner) return inner.error();
        const std::string path = std::string(within) + std::string(group) + ".";
        if (!*inner) {
            for (const Field& row : rows) {
                if (row.is_required && row.get(resource).index() == 0)
                    return missing(row, path + std::string(row.name()));
            }
            continue;
        }
        if (Status known = (*inner)->only(table.members_of(group)); !known) return known;
        for (const Field& row : rows) {
            if (Status read = read_field(**inner, row, resource, path); !read) return read;
        }
    }
    return {};
}

}  // namespace duewheel
