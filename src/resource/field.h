// The table of the fields of a resource, such as the settings of a queue. Each row states a field once: its number in
// the log, its name in JSON, its kind with its range, and a sentence about it. From the rows come
//
//     the bytes in the log                              resource/field_codec.h
//     what a request may hold, also as a merge patch    http_api/fields/field_reader.h
//     what a response and a line of an export hold      http_api/fields/field_writer.h
//     the schema in the OpenAPI document                http_api/fields/field_schema.h
//     the tables of members in docs                     tests/support/field_page.h
//     the options of the command line and their help    apps/duewheel/field_options.h
//
// By hand stay only checks across fields, and what a field does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/error_codes.h"
#include "base/status.h"

namespace duewheel {

enum class FieldKind : std::uint8_t {
    flag,      // true or false
    count,     // a whole number
    duration,  // of milliseconds; in JSON a text with units, or a number in the member whose name ends in `_ms`
    instant,   // in milliseconds since 1970; in JSON RFC 3339, or a number in the member whose name ends in `_ms`
    decimal,   // with up to three decimals, as thousandths
    text,
    json,     // any JSON, as written
    names,    // a list of texts without spaces
    word,     // one of a few
    object,   // a resource inside this one
    by_hand,  // its own code reads it, and its row describes it in the schema
    kept,     // in the log only
};

// How the value of a field is written into the log (message/records/fields.h).
enum class FieldCoding : std::uint8_t { none, number, boolean, zigzag, plus_one, text, names, pairs, object, spliced };

// Nothing is an absent field. A decimal is in thousandths, a duration in milliseconds, a word its index.
using FieldPairs = std::vector<std::pair<std::string, std::string>>;
using FieldValue = std::variant<std::monostate, bool, std::int64_t, std::string, std::vector<std::string>, FieldPairs>;

class FieldTable;

inline constexpr std::int64_t kNoFieldMax = std::numeric_limits<std::int64_t>::max();
// What a row has that does not say its minimum, before it is that of its kind: 1 for a count, 0 for all others.
inline constexpr std::int64_t kMinOfKind = std::numeric_limits<std::int64_t>::min();

struct Field {
    std::uint32_t number = 0;  // in the log: never changed or given to another field; 0: not there
    std::string_view path{};   // in JSON: "limits.pending" is `pending` in the object `limits`; empty: not there
    FieldKind kind = FieldKind::kept;
    FieldCoding coding = FieldCoding::none;
    std::string_view sentence{};  // what it does, for every page, without a full stop
    std::string_view page{};      // what the table of members in docs says of it, in Markdown

    // The range of a count, a duration (ms) or a decimal (thousandths), both ends included; the bytes of a text or of
    // JSON.
    std::int64_t min = kMinOfKind;
    std::int64_t max = kNoFieldMax;
    std::string_view limit{};              // the setting of the server whose value is the maximum
    std::string_view when_absent{};        // "no limit": what its absence means; of one that is required, what to give
    ErrorCode code = "out_of_range"_code;  // of the error for a value outside of the range
    std::span<const std::string_view> words{};
    bool is_required = false;
    bool is_answer = false;      // of a resource that is only shown, and written by its own code
    bool omits_default = false;  // responses omit a word that is the first one
    std::string_view schema{};   // what the schema has beside what follows from the kind, as JSON
    std::string_view option{};   // of the command line, if the rule of option_of() gives a clumsy one; "-": none

    FieldValue (*get)(const void* resource) = nullptr;
    // False if the value does not fit; nothing: its default. Null: the member is read by its own code.
    bool (*set)(void* resource, FieldValue&& value) = nullptr;
    // For objects.
    const FieldTable& (*table)() = nullptr;
    const void* (*look)(const void* resource) = nullptr;  // null if it is absent
    void* (*open)(void* resource) = nullptr;              // made if it is absent

    std::string_view group() const {  // "limits"; empty for a field outside of all
        const std::size_t dot = path.rfind('.');
        return dot == path.npos ? std::string_view() : path.substr(0, dot);
    }
    std::string_view name() const { return path.substr(group().empty() ? 0 : group().size() + 1); }
    // Whether it has two members in requests: `due` and `due_ms`.
    bool is_time() const { return kind == FieldKind::duration || kind == FieldKind::instant; }
};

// The rows in the order of responses and pages; the rows of one group follow each other.
class FieldTable {
  public:
    // `holder` begins the error for a field of a newer version: "a queue's settings hold". Rows must outlive it.
    // `check`: whether a log can hold this resource, if fields depend on each other.
    FieldTable(std::string_view holder, std::span<const Field> rows, bool (*check)(const void* resource) = nullptr);

    FieldTable(const FieldTable&) = delete;

    std::span<const Field> rows() const { return rows_; }
    std::string_view holder() const { return holder_; }
    bool is_sound(const void* resource) const { return is_sound_ == nullptr || is_sound_(resource); }
    // Rows with a number, ascending.
    std::span<const Field* const> by_number() const { return by_number_; }
    // What a reader of JSON looks for: a field outside of all groups, or all fields of a group. Without those that
    // their own code reads.
    struct Section {
        std::string_view name;   // of the field or the group; a time has a second member, whose name is longer
        std::string_view group;  // empty: it is one field
        std::span<const Field> rows;
        bool is_needed = false;  // one of them is required
    };
    std::span<const Section> sections() const { return sections_; }
    // The members of a group in JSON, both names of a duration or an instant; of "" those of the object itself.
    std::span<const std::string_view> members_of(std::string_view group) const;

  private:
    struct Group {
        std::string_view name;
        std::vector<std::string_view> members;
    };
    std::string_view holder_;
    std::span<const Field> rows_;
    bool (*is_sound_)(const void* resource);
    std::vector<const Field*> by_number_;
    std::vector<Section> sections_;
    std::vector<Group> groups_;
    std::vector<std::string> made_;  // names that end in `_ms`; never grows after the constructor
};

// The table of a resource: one specialization for each.
template <class Resource>
const FieldTable& fields_of();

// Whether each count and duration of the resource, and of the optional objects in it, is in its range. `limit` is the
// value of a setting of the server. `within`: the path of the resource, with a dot at the end.
// Error: its row's code, "`limits.pending` must be from 1 to 10".
Status check_ranges(const FieldTable& table, const void* resource,
                    const std::function<std::uint64_t(std::string_view name)>& limit, std::string_view within = {});

// ---- rows

namespace field_detail {

template <class T>
struct MemberOf;
template <class Resource, class Value>
struct MemberOf<Value Resource::*> {
    using resource = Resource;
    using value = Value;
};
template <auto Outer, auto Inner>
struct Inside {};
template <auto Outer, auto Inner>
struct MemberOf<Inside<Outer, Inner>> {
    using resource = typename MemberOf<decltype(Outer)>::resource;
    using value = typename MemberOf<decltype(Inner)>::value;
};
template <class Resource, auto Member>
struct Inherited {};
template <class Resource, auto Member>
struct MemberOf<Inherited<Resource, Member>> {
    using resource = Resource;
    using value = typename MemberOf<decltype(Member)>::value;
};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <auto Member>
using ResourceOf = typename MemberOf<std::remove_const_t<decltype(Member)>>::resource;
template <auto Member>
using ValueOf = typename MemberOf<std::remove_const_t<decltype(Member)>>::value;

template <auto Outer, auto Inner, class Resource>
auto& member_at(Inside<Outer, Inner>, Resource& resource) {
    return resource.*Outer.*Inner;
}
template <class Owner, auto Member, class Resource>
auto& member_at(Inherited<Owner, Member>, Resource& resource) {
    return resource.*Member;
}
template <class Member, class Resource>
auto& member_at(Member member, Resource& resource) {
    return resource.*member;
}

template <class Value>
FieldValue read(const Value& from) {
    if constexpr (IsOptional<Value>::value) {
        return from ? read(*from) : FieldValue();
    } else if constexpr (std::is_same_v<Value, bool>) {
        return from;
    } else if constexpr (std::is_integral_v<Value>) {
        return static_cast<std::int64_t>(from);
    } else {
        return from;
    }
}

template <class Value>
bool write(Value& into, FieldValue&& value) {
    if (std::holds_alternative<std::monostate>(value)) return into = Value(), true;
    if constexpr (IsOptional<Value>::value) {
        return write(into.emplace(), std::move(value));
    } else if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
        const std::int64_t number = std::get<std::int64_t>(value);
        if (!std::in_range<Value>(number)) return false;
        return into = static_cast<Value>(number), true;
    } else {
        return into = std::get<Value>(std::move(value)), true;
    }
}

template <auto Member>
bool default_of() {
    const ResourceOf<Member> resource{};
    return member_at(Member, resource);
}

template <class Value>
constexpr FieldCoding coding_of() {
    if constexpr (std::is_same_v<Value, bool>)
        return FieldCoding::boolean;
    else if constexpr (std::is_same_v<Value, std::vector<std::string>>)
        return FieldCoding::names;
    else if constexpr (std::is_same_v<Value, FieldPairs>)
        return FieldCoding::pairs;
    else if constexpr (IsOptional<Value>::value) {
        return std::is_same_v<Value, std::optional<std::string>> ? FieldCoding::text : FieldCoding::plus_one;
    } else if constexpr (std::is_same_v<Value, std::string>)
        return FieldCoding::text;
    else
        return std::is_signed_v<Value> ? FieldCoding::zigzag : FieldCoding::number;
}

// A value that means that the field is absent: 0, or an empty text.
template <class Value>
bool is_absent(const FieldValue& value) {
    if constexpr (IsOptional<Value>::value || std::is_same_v<Value, bool>)
        return false;
    else if (const auto* number = std::get_if<std::int64_t>(&value))
        return *number == 0;
    else if (const auto* text = std::get_if<std::string>(&value))
        return text->empty();
    else if (const auto* names = std::get_if<std::vector<std::string>>(&value))
        return names->empty();
    else if (const auto* pairs = std::get_if<FieldPairs>(&value))
        return pairs->empty();
    else
        return false;
}

constexpr Field named(Field field, FieldKind kind, std::uint32_t number, std::string_view path,
                      std::string_view sentence) {
    field.kind = kind;
    field.number = number;
    field.path = path;
    field.sentence = sentence;
    if (field.min == kMinOfKind) field.min = kind == FieldKind::count ? 1 : 0;
    return field;
}

template <auto Member>
constexpr Field row(Field field) {
    using Resource = ResourceOf<Member>;
    using Value = ValueOf<Member>;
    field.coding = coding_of<Value>();
    field.get = [](const void* resource) {
        FieldValue value = read(member_at(Member, *static_cast<const Resource*>(resource)));
        if (is_absent<Value>(value)) value = std::monostate();
        return value;
    };
    field.set = [](void* resource, FieldValue&& value) {
        return write(member_at(Member, *static_cast<Resource*>(resource)), std::move(value));
    };
    return field;
}

}  // namespace field_detail

// A member of a member, as the member of a row: inside<&ScheduleRule::times, &TimesRule::zone>.
template <auto Outer, auto Inner>
inline constexpr field_detail::Inside<Outer, Inner> inside{};
// A member of a base: inherited<ScheduleRule, &MessageTemplate::priority>.
template <class Resource, auto Member>
inline constexpr field_detail::Inherited<Resource, Member> inherited{};

// Each takes what differs from a plain field as `more`: {.max = 100, .when_absent = "no limit"}.
template <auto Member>
constexpr Field flag(std::uint32_t number, std::string_view path, std::string_view sentence, Field more = {}) {
    return field_detail::row<Member>(field_detail::named(more, FieldKind::flag, number, path, sentence));
}
// At least 1, unless `more` has another minimum.
template <auto Member>
constexpr Field count(std::uint32_t number, std::string_view path, std::string_view sentence, Field more = {}) {
    return field_detail::row<Member>(field_detail::named(more, FieldKind::count, number, path, sentence));
}
template <auto Member>
constexpr Field duration(std::uint32_t number, std::string_view path, std::string_view sentence, Field more = {}) {
    return field_detail::row<Member>(field_detail::named(more, FieldKind::duration, number, path, sentence));
}
template <auto Member>
constexpr Field instant(std::uint32_t number, std::string_view path, std::string_view sentence, Field more = {}) {
    return field_detail::row<Member>(field_detail::named(more, FieldKind::instant, number, path, sentence));
}
template <auto Member>
constexpr Field decimal(std::uint32_t number, std::string_view path, std::string_view sentence, Field more = {}) {
    return field_detail::row<Member>(field_detail::named(more, FieldKind::decimal, number, path, sentence));
}
template <auto Member>
constexpr Field text(std::uint32_t number, std::string_view path, std::string_view sentence, Field more = {}) {
    return field_detail::row<Member>(field_detail::named(more, FieldKind::text, number, path, sentence));
}
template <auto Member>
constexpr Field json_text(std::uint32_t number, std::string_view path, std::string_view sentence, Field more = {}) {
    return field_detail::row<Member>(field_detail::named(more, FieldKind::json, number, path, sentence));
}
template <auto Member>
constexpr Field names(std::uint32_t number, std::string_view path, std::string_view sentence, Field more = {}) {
    return field_detail::row<Member>(field_detail::named(more, FieldKind::names, number, path, sentence));
}

// One of `words`. A member that is a bool has its default for the first of two.
template <auto Member>
constexpr Field word(std::uint32_t number, std::string_view path, std::string_view sentence,
                     std::span<const std::string_view> words, Field more = {}) {
    using Resource = field_detail::ResourceOf<Member>;
    using Value = field_detail::ValueOf<Member>;
    more = field_detail::named(more, FieldKind::word, number, path, sentence);
    more.words = words, more.max = static_cast<std::int64_t>(words.size()) - 1, more.coding = FieldCoding::number;
    more.get = [](const void* resource) -> FieldValue {
        const Value value = field_detail::member_at(Member, *static_cast<const Resource*>(resource));
        if constexpr (std::is_same_v<Value, bool>)
            return std::int64_t{value == field_detail::default_of<Member>() ? 0 : 1};
        else
            return static_cast<std::int64_t>(value);
    };
    more.set = [](void* resource, FieldValue&& value) {
        const std::int64_t* index = std::get_if<std::int64_t>(&value);
        Value& into = field_detail::member_at(Member, *static_cast<Resource*>(resource));
        if constexpr (std::is_same_v<Value, bool>)
            into = field_detail::default_of<Member>() == (index == nullptr || *index == 0);
        else
            into = static_cast<Value>(index == nullptr ? 0 : *index);
        return true;
    };
    return more;
}

// A resource in this one: its fields have the numbers from `number` on if it is always there (`number` is that of its
// field 1), and are the text of the field `number` if it is optional.
template <auto Member>
constexpr Field object(std::uint32_t number, std::string_view path, std::string_view sentence, Field more = {}) {
    using Resource = field_detail::ResourceOf<Member>;
    using Value = field_detail::ValueOf<Member>;
    more = field_detail::named(more, FieldKind::object, number, path, sentence);
    if constexpr (field_detail::IsOptional<Value>::value) {
        more.coding = FieldCoding::object;
        more.table = fields_of<typename Value::value_type>;
        more.look = [](const void* resource) -> const void* {
            const Value& at = field_detail::member_at(Member, *static_cast<const Resource*>(resource));
            return at ? &*at : nullptr;
        };
        more.open = [](void* resource) -> void* {
            Value& at = field_detail::member_at(Member, *static_cast<Resource*>(resource));
            return at ? &*at : &at.emplace();
        };
    } else {
        more.coding = FieldCoding::spliced;
        more.table = fields_of<Value>;
        more.look = [](const void* resource) -> const void* {
            return &field_detail::member_at(Member, *static_cast<const Resource*>(resource));
        };
        more.open = [](void* resource) -> void* {
            return &field_detail::member_at(Member, *static_cast<Resource*>(resource));
        };
    }
    more.set = [](void* resource, FieldValue&&) {
        return field_detail::member_at(Member, *static_cast<Resource*>(resource)) = Value(), true;
    };
    return more;
}

// A member that a request names and its own code reads, such as one that excludes others.
constexpr Field by_hand(FieldKind kind, std::string_view path, std::string_view sentence, Field more = {}) {
    return field_detail::named(more, kind, 0, path, sentence);
}
constexpr Field by_hand(std::string_view path, std::string_view sentence, Field more = {}) {
    return by_hand(FieldKind::by_hand, path, sentence, more);
}
// The row of a member by hand whose value responses show.
template <auto Member>
constexpr Field with_value(Field row) {
    row.get = field_detail::row<Member>(row).get;
    return row;
}
// A member that responses show as its row says, and that its own code reads.
constexpr Field read_by_hand(Field row) {
    row.set = nullptr;
    return row;
}
// A member of a resource that is only shown, which its own code writes.
constexpr Field shown(FieldKind kind, std::string_view path, std::string_view schema, std::string_view page = {}) {
    Field row = by_hand(kind, path, {}, {.page = page, .schema = schema});
    row.is_answer = true;
    return row;
}

// In the log only.
template <auto Member>
constexpr Field kept(std::uint32_t number, Field more = {}) {
    more = field_detail::named(more, FieldKind::kept, number, {}, {});
    using Value = field_detail::ValueOf<Member>;
    if constexpr (std::is_enum_v<Value>)
        return word<Member>(number, {}, {}, more.words, more);
    else
        return field_detail::row<Member>(more);
}

}  // namespace duewheel
