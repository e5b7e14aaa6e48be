#include "ingress/json_request.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "calendar/duration.h"
#include "calendar/instant_text.h"

namespace duewheel {
namespace {

namespace json = boost::json;

constexpr std::size_t kDepthMax = 32;

// Sees every key of a document and remembers those of each open object: the tree that is built later would let the last
// of two equal members win.
class DuplicateFinder {
  public:
    static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

    using Code = json::error_code;
    bool on_document_begin(Code&) { return true; }
    bool on_document_end(Code&) { return true; }
    bool on_object_begin(Code&) { return seen_.emplace_back(), true; }
    bool on_object_end(std::size_t, Code&) { return seen_.pop_back(), true; }
    bool on_array_begin(Code&) { return true; }
    bool on_array_end(std::size_t, Code&) { return true; }
    bool on_key_part(json::string_view part, std::size_t, Code&) { return key_.append(part.data(), part.size()), true; }
    bool on_key(json::string_view part, std::size_t, Code& code) {
        key_.append(part.data(), part.size());
        if (!seen_.back().insert(key_).second) {
            duplicate = key_;
            code = json::error::syntax;
            return false;
        }
        key_.clear();
        return true;
    }
    bool on_string_part(json::string_view, std::size_t, Code&) { return true; }
    bool on_string(json::string_view, std::size_t, Code&) { return true; }
    bool on_number_part(json::string_view, Code&) { return true; }
    bool on_int64(std::int64_t, json::string_view, Code&) { return true; }
    bool on_uint64(std::uint64_t, json::string_view, Code&) { return true; }
    bool on_double(double, json::string_view, Code&) { return true; }
    bool on_bool(bool, Code&) { return true; }
    bool on_null(Code&) { return true; }
    bool on_comment_part(json::string_view, Code&) { return true; }
    bool on_comment(json::string_view, Code&) { return true; }

    std::optional<std::string> duplicate;

  private:
    std::vector<std::set<std::string>> seen_;
    std::string key_;
};

std::string position(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t start = before.rfind('\n');
    const std::size_t column = start == std::string_view::npos ? offset + 1 : offset - start;
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

std::string_view kind_name(const json::value& value) {
    switch (value.kind()) {
        case json::kind::null:
            return "null";
        case json::kind::bool_:
            return "a boolean";
        case json::kind::int64:
        case json::kind::uint64:
        case json::kind::double_:
            return "a number";
        case json::kind::string:
            return "a text";
        case json::kind::array:
            return "an array";
        case json::kind::object:
            return "an object";
    }
    return "something else";
}

Error wrong_type(std::string_view member, std::string_view wanted, const json::value& found) {
    return {
        "wrong_type",
        "`" + std::string(member) + "` is " + std::string(kind_name(found)) + "; it has to be " + std::string(wanted),
        std::string(member)};
}

// Insertions, deletions and replacements between two short words.
std::size_t distance(std::string_view left, std::string_view right) {
    std::vector<std::size_t> row(right.size() + 1);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = i;
    for (std::size_t i = 0; i < left.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t k = 0; k < right.size(); ++k) {
            const std::size_t replaced = diagonal + (left[i] == right[k] ? 0 : 1);
            diagonal = row[k + 1];
            row[k + 1] = std::min({replaced, row[k] + 1, diagonal + 1});
        }
    }
    return row.back();
}

}  // namespace

bool is_utf8(std::string_view text) {
    const auto* at = reinterpret_cast<const unsigned char*>(text.data());
    const auto* end = at + text.size();
    while (at != end) {
        if (*at < 0x80) {
            ++at;
            continue;
        }
        // Table 3-7 of the Unicode standard: the well-formed byte sequences.
        const unsigned lead = *at;
        const std::ptrdiff_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
        if (lead < 0xc2 || lead > 0xf4 || end - at < length) return false;
        const unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
        const unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
        if (at[1] < low || at[1] > high) return false;
        for (std::ptrdiff_t i = 2; i < length; ++i) {
            if (at[i] < 0x80 || at[i] > 0xbf) return false;
        }
        at += length;
    }
    return true;
}

struct JsonRequest::Parts {
    json::monotonic_resource memory;
    json::value root = json::value(json::storage_ptr(&memory));
    const json::object* object = nullptr;
};

JsonRequest::JsonRequest(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
JsonRequest::JsonRequest(JsonRequest&&) noexcept = default;
JsonRequest& JsonRequest::operator=(JsonRequest&&) noexcept = default;
JsonRequest::~JsonRequest() = default;

Result<JsonRequest> JsonRequest::parse(std::string_view body) {
    auto parts = std::make_unique<Parts>();
    if (body.empty()) {
        parts->root = json::object(&parts->memory);
        parts->object = &parts->root.get_object();
        return JsonRequest(std::move(parts));
    }
    if (!is_utf8(body)) return Error{"bad_utf8", "the body is not UTF-8: send other bytes as `body_base64`"};
    json::parse_options options;
    options.max_depth = kDepthMax;
    json::error_code code;
    json::basic_parser<DuplicateFinder> finder(options);
    const std::size_t read = finder.write_some(false, body.data(), body.size(), code);
    if (finder.handler().duplicate) {
        return Error{"duplicate_member", "`" + *finder.handler().duplicate + "` is given twice: give each member once",
                     *finder.handler().duplicate};
    }
    if (code == json::error::too_deep) {
        return Error{"too_deep", "the body is nested more than " + std::to_string(kDepthMax) + " levels deep"};
    }
    const bool more = read < body.size() && body.find_first_not_of(" \t\r\n", read) != std::string_view::npos;
    if (code || more) {
        return Error{"bad_json", "the body is not JSON: " + (code ? code.message() : "more follows its end") + " at " +
                                     position(body, std::min(read, body.size()))};
    }
    parts->root = json::parse(json::string_view(body.data(), body.size()), code, &parts->memory, options);
    if (code) return Error{"bad_json", "the body is not JSON: " + code.message()};
    if (!parts->root.is_object()) {
        return Error{"wrong_type", "the body is " + std::string(kind_name(parts->root)) + "; it has to be an object"};
    }
    parts->object = &parts->root.get_object();
    return JsonRequest(std::move(parts));
}

Status JsonRequest::only(std::initializer_list<std::string_view> known) const {
    for (const json::key_value_pair& member : *parts_->object) {
        const std::string_view name(member.key().data(), member.key().size());
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        std::string detail = "`" + std::string(name.substr(0, 64)) + "` is not known here";
        if (known.size() == 0) {
            detail += ": this call takes no members";
        } else {
            const auto* nearest = std::min_element(known.begin(), known.end(), [&](auto left, auto right) {
                return distance(left, name.substr(0, 64)) < distance(right, name.substr(0, 64));
            });
            detail += "; the nearest that is known is `" + std::string(*nearest) + "`";
        }
        return Error{"unknown_member", std::move(detail), std::string(name.substr(0, 64))};
    }
    return {};
}

bool JsonRequest::has(std::string_view member) const {
    return parts_->object->contains(json::string_view(member.data(), member.size()));
}

namespace {

const json::value* find(const json::object& object, std::string_view member) {
    return object.if_contains(json::string_view(member.data(), member.size()));
}

std::string_view view(const json::string& text) {
    return {text.data(), text.size()};
}

Error with_field(Error error, std::string_view member) {
    error.field = member;
    return error;
}

// A JSON number that is a whole one; 1e3 and 1.0 are.
std::optional<std::int64_t> whole(const json::value& value) {
    if (value.is_int64()) return value.get_int64();
    if (value.is_uint64()) return std::nullopt;  // beyond int64
    const double number = value.get_double();
    if (!(std::abs(number) <= 9007199254740992.0) || std::floor(number) != number) return std::nullopt;
    return static_cast<std::int64_t>(number);
}

}  // namespace

Result<std::optional<std::string_view>> JsonRequest::text(std::string_view member) const {
    const json::value* value = find(*parts_->object, member);
    if (value == nullptr) return std::optional<std::string_view>();
    if (!value->is_string()) return wrong_type(member, "a text", *value);
    return std::optional(view(value->get_string()));
}

Result<std::optional<std::int64_t>> JsonRequest::integer(std::string_view member, std::int64_t least,
                                                         std::int64_t most) const {
    const json::value* value = find(*parts_->object, member);
    if (value == nullptr) return std::optional<std::int64_t>();
    if (!value->is_number()) return wrong_type(member, "a whole number", *value);
    const std::optional<std::int64_t> number = whole(*value);
    if (!number || *number < least || *number > most) {
        return Error{"out_of_range",
                     "`" + std::string(member) + "` is a whole number from " + std::to_string(least) + " to " +
                         std::to_string(most),
                     std::string(member)};
    }
    return std::optional(*number);
}

Result<std::optional<std::int64_t>> JsonRequest::duration_ms(std::string_view member) const {
    const json::value* value = find(*parts_->object, member);
    if (value == nullptr) return std::optional<std::int64_t>();
    if (value->is_string()) {
        Result<std::int64_t> parsed = parse_duration(view(value->get_string()));
        if (!parsed) return with_field(std::move(parsed).error(), member);
        return std::optional(*parsed);
    }
    if (!value->is_number()) return wrong_type(member, "a duration such as \"10m\", or milliseconds", *value);
    const std::optional<std::int64_t> number = whole(*value);
    if (!number) {
        return Error{"bad_duration", "`" + std::string(member) + "` as a number is whole milliseconds",
                     std::string(member)};
    }
    if (*number < 0) {
        return Error{"negative_duration", "`" + std::string(member) + "` is negative: time goes forward",
                     std::string(member)};
    }
    return std::optional(*number);
}

Result<std::optional<std::int64_t>> JsonRequest::instant_ms(std::string_view member) const {
    const json::value* value = find(*parts_->object, member);
    if (value == nullptr) return std::optional<std::int64_t>();
    if (value->is_string()) {
        Result<InstantMs> parsed = parse_instant(view(value->get_string()));
        if (!parsed) return with_field(std::move(parsed).error(), member);
        return std::optional<std::int64_t>(*parsed);
    }
    if (!value->is_number()) return wrong_type(member, "an instant such as \"2027-01-01T06:00:00Z\"", *value);
    const std::optional<std::int64_t> number = whole(*value);
    if (!number || *number < 0 || *number > kLastInstant) {
        return Error{"bad_instant",
                     "`" + std::string(member) + "` as a number is milliseconds since 1970, up to the year 9999",
                     std::string(member)};
    }
    return std::optional(*number);
}

Result<std::vector<std::pair<std::string_view, std::string_view>>> JsonRequest::texts(std::string_view member) const {
    std::vector<std::pair<std::string_view, std::string_view>> all;
    const json::value* value = find(*parts_->object, member);
    if (value == nullptr) return all;
    if (!value->is_object()) return wrong_type(member, "an object of texts", *value);
    for (const json::key_value_pair& pair : value->get_object()) {
        const std::string_view name(pair.key().data(), pair.key().size());
        if (!pair.value().is_string()) {
            return wrong_type(std::string(member) + "." + std::string(name.substr(0, 64)), "a text", pair.value());
        }
        all.emplace_back(name, view(pair.value().get_string()));
    }
    return all;
}

}  // namespace duewheel
