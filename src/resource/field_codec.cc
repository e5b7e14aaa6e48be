#include "resource/field_codec.h"

#include <cstdint>
#include <utility>

#include "base/error_codes.h"
#include "message/records/fields.h"

namespace duewheel {
namespace {

constexpr std::uint64_t kPlusOneMax = std::uint64_t{1} << 53;

// Lines "name:value", each ended by a line feed.
std::string lines_of(const FieldPairs& pairs) {
    std::string text;
    for (const auto& [name, value] : pairs) text.append(name).append(":").append(value).append("\n");
    return text;
}

// Nothing if it is not such a text.
FieldValue pairs_of(std::string_view text) {
    FieldPairs pairs;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::size_t colon = text.substr(0, end).find(':');
        if (end == text.npos || colon == text.npos || colon == 0) return {};
        pairs.emplace_back(text.substr(0, colon), text.substr(colon + 1, end - colon - 1));
        text.remove_prefix(end + 1);
    }
    return pairs;
}

void write_fields(FieldWriter& to, const FieldTable& table, const void* resource, std::uint32_t above);

void write_field(FieldWriter& to, const Field& row, const void* resource, std::uint32_t number) {
    if (row.coding == FieldCoding::spliced) return write_fields(to, row.table(), row.look(resource), number - 1);
    if (row.coding == FieldCoding::object) {
        const void* const inner = row.look(resource);
        if (inner == nullptr) return;
        std::string bytes;
        append_fields(row.table(), inner, bytes);
        return to.text(number, bytes);
    }
    const FieldValue value = row.get(resource);
    if (std::holds_alternative<std::monostate>(value)) return;
    switch (row.coding) {
        case FieldCoding::number:
            return to.number(number, static_cast<std::uint64_t>(std::get<std::int64_t>(value)));
        case FieldCoding::boolean:
            return to.boolean(number, std::get<bool>(value));
        case FieldCoding::zigzag:
            return to.signed_number(number, std::get<std::int64_t>(value));
        case FieldCoding::plus_one:
            return to.number(number, static_cast<std::uint64_t>(std::get<std::int64_t>(value)) + 1);
        case FieldCoding::text:
            return to.text(number, std::get<std::string>(value));
        case FieldCoding::names:
            return to.texts(number, std::get<std::vector<std::string>>(value), ' ');
        case FieldCoding::pairs:
            return to.text(number, lines_of(std::get<FieldPairs>(value)));
        default:
            return;
    }
}

void write_fields(FieldWriter& to, const FieldTable& table, const void* resource, std::uint32_t above) {
    for (const Field* row : table.by_number()) write_field(to, *row, resource, above + row->number);
}

// `inner`: the error of an object in the resource.
void read_all(FieldsReader& from, const FieldTable& table, void* resource, std::uint32_t above, Status& inner);

void read_one(FieldsReader& from, const Field& row, void* resource, std::uint32_t number, Status& inner) {
    const auto set = [&](FieldValue value) {
        if (!row.set(resource, std::move(value))) from.refuse();
    };
    std::uint64_t whole = 0;
    std::int64_t with_sign = 0;
    std::string_view text;
    switch (row.coding) {
        case FieldCoding::spliced:
            return read_all(from, row.table(), row.open(resource), number - 1, inner);
        case FieldCoding::object:
            if (from.text(number, text) && inner) inner = read_field_bytes(row.table(), text, row.open(resource));
            return;
        case FieldCoding::number: {
            if (!from.number(number, whole)) return;
            const bool fits = whole <= static_cast<std::uint64_t>(row.kind == FieldKind::word ? row.max : kNoFieldMax);
            return fits ? set(static_cast<std::int64_t>(whole)) : from.refuse();
        }
        case FieldCoding::plus_one:
            if (!from.number(number, whole)) return;
            return whole >= 1 && whole <= kPlusOneMax ? set(static_cast<std::int64_t>(whole - 1)) : from.refuse();
        case FieldCoding::boolean: {
            bool yes = false;
            if (from.boolean(number, yes)) set(yes);
            return;
        }
        case FieldCoding::zigzag:
            if (from.signed_number(number, with_sign)) set(with_sign);
            return;
        case FieldCoding::text:
            if (from.text(number, text)) set(std::string(text));
            return;
        case FieldCoding::names: {
            std::vector<std::string> names;
            if (from.texts(number, names, ' ')) set(std::move(names));
            return;
        }
        case FieldCoding::pairs: {
            if (!from.text(number, text)) return;
            FieldValue pairs = pairs_of(text);
            return std::holds_alternative<std::monostate>(pairs) ? from.refuse() : set(std::move(pairs));
        }
        case FieldCoding::none:
            return;
    }
}

void read_all(FieldsReader& from, const FieldTable& table, void* resource, std::uint32_t above, Status& inner) {
    for (const Field* row : table.by_number()) read_one(from, *row, resource, above + row->number, inner);
}

}  // namespace

void append_fields(const FieldTable& table, const void* resource, std::string& out) {
    FieldWriter to(out);
    write_fields(to, table, resource, 0);
}

Status read_field_bytes(const FieldTable& table, std::string_view bytes, void* resource) {
    Status inner;
    FieldsReader from(bytes);
    read_all(from, table, resource, 0, inner);
    if (!inner) return inner;
    if (Status known = from.end(table.holder()); !known) return known;
    if (!from.damaged() && table.is_sound(resource)) return {};
    return Error{"damaged_record"_code, std::string(table.holder()) + " fields that cannot be read"};
}

}  // namespace duewheel
