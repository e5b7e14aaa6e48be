#include "http_api/fields/json_request.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <functional>
#include <limits>

#include <boost/json/basic_parser_impl.hpp>

#include "base/enum_name.h"
#include "base/error_codes.h"
#include "calendar/duration.h"
#include "calendar/instant_text.h"
#include "calendar/text_scanner.h"
#include "http_api/fields/json_number.h"
#include "http_api/fields/json_text.h"
#include "message/foreign_names.h"
#include "shared/nearest_name.h"
#include "shared/utf8.h"

namespace duewheel {
namespace {

namespace json = boost::json;

constexpr std::size_t kNameBytesShown = 64;
constexpr std::size_t kListedDepth = 4;
// Members that hold any JSON.
constexpr std::string_view kOfAnyJson[] = {"json", "result", "progress", "checkpoint", "imported"};
// An array whose objects are each read alone, as a body of its own.
constexpr std::string_view kOfBodies = "leases";
constexpr std::string_view kDurationExample = "\"10m\"";
constexpr std::string_view kInstantExample = "\"2027-01-01T06:00:00Z\"";
constexpr InstantMs kFirstInstantByNumber = 946'684'800'000;  // 2000-01-01T00:00:00Z

}  // namespace

// Receives the events of the parser in order.
class JsonRequest::Collector {
  public:
    static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

    Collector(std::string_view body, JsonRequest& into) : body_(body), into_(into) {}

    Kind root() const { return root_; }
    std::string_view name() const { return name_; }  // of the newest member
    bool too_many() const { return into_.members_.size() > kJsonMembersMax; }

    using Code = json::error_code;
    bool on_document_begin(Code&) { return true; }
    bool on_document_end(Code&) { return true; }
    bool on_object_begin(Code& code) { return enter(Kind::object, code); }
    bool on_object_end(std::size_t, Code&) { return leave(), true; }
    bool on_array_begin(Code& code) { return enter(Kind::array, code); }
    bool on_array_end(std::size_t, Code&) { return leave(), true; }
    bool on_key_part(json::string_view part, std::size_t, Code&) { return gather(part), true; }
    bool on_key(json::string_view part, std::size_t, Code&) { return name_ = gathered(part), true; }
    bool on_string_part(json::string_view part, std::size_t, Code&) { return gather(part), true; }
    bool on_string(json::string_view part, std::size_t, Code& code) { return add(Kind::text, gathered(part), code); }
    bool on_number_part(json::string_view part, Code&) { return gather(part), true; }
    bool on_int64(std::int64_t, json::string_view part, Code& code) { return add(Kind::number, gathered(part), code); }
    bool on_uint64(std::uint64_t, json::string_view part, Code& code) {
        return add(Kind::number, gathered(part), code);
    }
    bool on_double(double, json::string_view part, Code& code) { return add(Kind::number, gathered(part), code); }
    bool on_bool(bool value, Code& code) { return add(Kind::boolean, value ? "true" : "false", code); }
    bool on_null(Code& code) { return add(Kind::null, {}, code); }
    bool on_comment_part(json::string_view, Code&) { return true; }
    bool on_comment(json::string_view, Code&) { return true; }

  private:
    // Members of the object, of objects and arrays in it, and of those in these.
    bool is_listed() const {
        return root_ == Kind::object && depth_ >= 1 && depth_ <= kListedDepth && any_json_depth_ == 0;
    }
    bool enter(Kind kind, Code& code) {
        if (!add(kind, {}, code)) return false;
        if (is_listed() && holds_any_json(kind)) any_json_depth_ = depth_;
        if (++depth_ <= kListedDepth) within_[depth_] = kind;
        return true;
    }
    void leave() {
        if (--depth_ == any_json_depth_) any_json_depth_ = 0;
    }
    // Whether what is in the value that begins is not listed.
    bool holds_any_json(Kind kind) {
        if (depth_ != 1) return depth_ == 2 && in_bodies_ && kind == Kind::object;
        in_bodies_ = kind == Kind::array && name_ == kOfBodies;
        return std::find(std::begin(kOfAnyJson), std::end(kOfAnyJson), name_) != std::end(kOfAnyJson);
    }
    bool add(Kind kind, std::string_view text, Code& code) {
        if (depth_ == 0) root_ = kind;
        if (!is_listed()) return true;
        const std::string_view name = within_[depth_] == Kind::array ? std::string_view() : name_;
        into_.members_.push_back({name, kind, static_cast<std::uint8_t>(depth_ - 1), text});
        if (!too_many()) return true;
        code = json::error::syntax;
        return false;
    }

    // A string without escapes is passed as one view into the body; one with escapes in pieces that are outside of it.
    // Decoded text is never longer than its source, so `decoded_` does not grow after it is reserved.
    void gather(json::string_view part) {
        if (!is_listed()) return;
        std::vector<char>& decoded = into_.decoded_;
        if (decoded.capacity() == 0) decoded.reserve(body_.size());
        assert(decoded.size() + part.size() <= decoded.capacity());
        decoded.insert(decoded.end(), part.begin(), part.end());
        pending_ += part.size();
    }
    std::string_view gathered(json::string_view part) {
        if (!is_listed()) return {};
        const std::less_equal<> before;
        const bool in_body = before(body_.data(), part.data()) && before(part.data(), body_.data() + body_.size());
        if (pending_ == 0 && in_body) return {part.data(), part.size()};
        gather(part);
        const std::size_t size = std::exchange(pending_, 0);
        return {into_.decoded_.data() + into_.decoded_.size() - size, size};
    }

    std::string_view body_;
    JsonRequest& into_;
    Kind root_ = Kind::null;
    std::array<Kind, kListedDepth + 1> within_{};  // of the containers open, from 1
    std::size_t depth_ = 0;                        // containers open
    bool in_bodies_ = false;                       // the newest container of the object is that array
    std::size_t any_json_depth_ = 0;               // where a value that holds any JSON began; 0: in none
    std::size_t pending_ = 0;                      // bytes of a text that has not ended
    std::string_view name_;
};

namespace {

std::string position(std::string_view text, std::size_t offset, std::size_t first_line) {
    const std::string_view before = text.substr(0, offset);
    const auto line = first_line + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t start = before.rfind('\n');
    const std::size_t column = start == std::string_view::npos ? offset + 1 : offset - start;
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

std::string in_quotes(std::string_view name) {
    std::string text = "`";
    text.append(cut_utf8(name, kNameBytesShown)).append("`");
    return text;
}

std::string field_name(std::string_view name) {
    return std::string(cut_utf8(name, kNameBytesShown));
}

Error unknown_member(std::string_view name, const std::string& within, std::span<const std::string_view> known) {
    std::string detail = in_quotes(within + std::string(name)) + " is unknown";
    if (known.empty()) {
        detail += ": this call takes no members";
    } else {
        if (const auto meant = name_meant_by(cut_utf8(name, kNameBytesShown), known)) {
            detail += "; " + did_you_mean(within + std::string(meant->name), meant->note);
        } else {
            detail += "; known members:";
            for (const std::string_view each : known) {
                detail.append(each == known.front() ? " `" : ", `").append(each).append("`");
            }
        }
    }
    return {"unknown_member"_code, std::move(detail), within + field_name(name)};
}

}  // namespace

Result<JsonRequest> JsonRequest::parse(std::string_view body, std::size_t first_line) {
    JsonRequest request;
    request.body_ = body;
    if (body.empty()) return request;
    request.members_.reserve(8);
    json::parse_options options;
    options.max_depth = kJsonDepthMax;
    json::error_code code;
    json::basic_parser<Collector> parser(options, body, request);
    const std::size_t read = std::min(parser.write_some(false, body.data(), body.size(), code), body.size());
    if (parser.handler().too_many()) {
        return Error{"too_many_members"_code, "the body has more than " + std::to_string(kJsonMembersMax) +
                                                  " members: send fewer, or split a batch into several requests"};
    }
    if (code == json::error::too_deep) {
        return Error{"too_deep"_code, "the body is nested more than " + std::to_string(kJsonDepthMax) +
                                          " levels deep: nest less, or send deep JSON as a string in `body`"};
    }
    if (code == json::error::exponent_overflow) {
        return Error{
            "out_of_range"_code,
            "the number at " + position(body, read, first_line) + " has too large an exponent: write it without one",
            field_name(parser.handler().name())};
    }
    const bool more = body.find_first_not_of(" \t\r\n", read) != std::string_view::npos;
    if (code || more) {
        if (!is_utf8(body))
            return Error{"bad_utf8"_code, "the request is not UTF-8: send other bytes as `body_base64`"};
        return Error{"bad_json"_code,
                     "the body is not JSON: " + (code ? code.message() : "there is more text after its end") + " at " +
                         position(body, read, first_line)};
    }
    const Kind root = parser.handler().root();
    if (root != Kind::object) {
        return Error{"wrong_type"_code, "the body is " + std::string(kind_name(root)) + "; it must be an object"};
    }
    return request;
}

Status JsonRequest::only(std::span<const std::string_view> known) const {
    // Ends soon for any request: after as many members as are known, the next one is unknown or a duplicate.
    for (auto member = members_.begin(); member != members_.end(); ++member) {
        if (member->depth != 0) continue;
        if (std::find(known.begin(), known.end(), member->name) == known.end()) {
            return unknown_member(member->name, within_, known);
        }
        if (find_any(member->name) != &*member) {
            return Error{"duplicate_member"_code,
                         in_quotes(full_name(member->name)) + " is given twice: give each member once",
                         within_ + field_name(member->name)};
        }
    }
    return {};
}

bool JsonRequest::mentions(std::string_view member) const {
    for (const Member& each : members_) {
        if (each.depth == 0 && each.name.starts_with(member)) return true;
    }
    return false;
}

const JsonRequest::Member* JsonRequest::find_any(std::string_view member) const {
    for (const Member& each : members_) {
        if (each.depth == 0 && each.name == member) return &each;
    }
    return nullptr;
}

const JsonRequest::Member* JsonRequest::find_any_ms(std::string_view member) const {
    constexpr std::string_view kUnit = "_ms";
    for (const Member& each : members_) {
        const bool fits = each.depth == 0 && each.name.size() == member.size() + kUnit.size() &&
                          each.name.starts_with(member) && each.name.ends_with(kUnit);
        if (fits) return &each;
    }
    return nullptr;
}

const JsonRequest::Member* JsonRequest::unless_removed(const Member* found) const {
    return is_removed(found) ? nullptr : found;
}

std::vector<std::string_view> JsonRequest::removed_in(std::string_view member) const {
    std::vector<std::string_view> names;
    const Member* found = find(member);
    if (found == nullptr || !is_patch_ || found->kind != Kind::object) return names;
    const Member* const end = members_.data() + members_.size();
    for (const Member* each = found + 1; each != end && each->depth != 0; ++each) {
        if (each->depth == 1 && each->kind == Kind::null) names.push_back(each->name);
    }
    return names;
}

std::string_view JsonRequest::kind_name(Kind kind) {
    return enum_name<Kind::object>(kind, {"null", "a boolean", "a number", "a string", "an array", "an object"});
}

Error JsonRequest::wrong_type(std::string_view member, std::string_view wanted, Kind found) const {
    std::string detail = "`" + full_name(member);
    detail.append("` is ").append(kind_name(found)).append("; it must be ").append(wanted);
    return {"wrong_type"_code, std::move(detail), full_name(member)};
}

namespace {

// The columns in parser errors are relative to the text of the member, so the error names that member.
Error about(Error error, std::string_view name) {
    error.message = "`" + std::string(name) + "`, " + error.message;
    error.field = name;
    return error;
}

Error negative_duration(std::string_view name) {
    return {"negative_duration"_code, "`" + std::string(name) + "` is negative: a duration must be 0 or more",
            std::string(name)};
}

}  // namespace

Result<std::int64_t> read_duration(std::string_view text, std::string_view name) {
    if (text.starts_with('-')) return negative_duration(name);
    Result<std::int64_t> parsed = parse_duration(text);
    if (!parsed) return about(std::move(parsed).error(), name);
    return parsed;
}

Result<std::int64_t> read_instant(std::string_view text, std::string_view name) {
    Result<InstantMs> parsed = parse_instant(text);
    if (!parsed) return about(std::move(parsed).error(), name);
    return parsed;
}

Result<std::optional<std::string_view>> JsonRequest::text(std::string_view member) const {
    const Member* found = find(member);
    if (found == nullptr) return std::optional<std::string_view>();
    if (found->kind != Kind::text) return wrong_type(member, "a string", found->kind);
    return std::optional(found->text);
}

Result<std::optional<std::int64_t>> JsonRequest::integer(std::string_view member) const {
    const Member* found = find(member);
    if (found == nullptr) return std::optional<std::int64_t>();
    if (found->kind != Kind::number) return wrong_type(member, "an integer", found->kind);
    const JsonNumber number = read_json_number(found->text);
    if (number.whole) return std::optional(number.value);
    return Error{"wrong_type"_code, "`" + full_name(member) + "` has decimals; it must be an integer",
                 full_name(member)};
}

Result<std::optional<bool>> JsonRequest::boolean(std::string_view member) const {
    const Member* found = find(member);
    if (found == nullptr) return std::optional<bool>();
    if (found->kind != Kind::boolean) return wrong_type(member, "true or false", found->kind);
    return std::optional(found->text == "true");
}

Result<std::optional<JsonRequest>> JsonRequest::object(std::string_view member) const {
    const Member* found = find(member);
    if (found == nullptr) return std::optional<JsonRequest>();
    if (found->kind != Kind::object) return wrong_type(member, "an object", found->kind);
    JsonRequest inner;
    inner.within_ = full_name(member) + ".";
    inner.is_patch_ = is_patch_;
    const Member* const end = members_.data() + members_.size();
    for (const Member* each = found + 1; each != end && each->depth != 0; ++each) {
        inner.members_.push_back(*each);
        --inner.members_.back().depth;
    }
    return std::optional(std::move(inner));
}

Result<std::optional<std::int64_t>> JsonRequest::thousandths(std::string_view member) const {
    const Member* found = find(member);
    if (found == nullptr) return std::optional<std::int64_t>();
    if (found->kind != Kind::number) return wrong_type(member, "a number", found->kind);
    const JsonNumber number = read_json_thousandths(found->text);
    if (number.whole) return std::optional(number.value);
    return Error{"wrong_type"_code, "`" + full_name(member) + "` has more than 3 decimals; round it to 3",
                 full_name(member)};
}

Result<JsonRequest::Time> JsonRequest::find_time(std::string_view member, std::string_view such_as) const {
    const Member* const text = find(member);
    Time time{std::nullopt, find_ms(member)};
    if (text == nullptr && time.number == nullptr) return time;
    const std::string name = full_name(member);
    const std::string name_ms = name + "_ms";
    if (text != nullptr && time.number != nullptr) {
        return Error{"conflicting_members"_code, "give `" + name + "` or `" + name_ms + "`, not both", name_ms};
    }
    if (time.number != nullptr && time.number->kind != Kind::number) {
        return wrong_type(
            std::string(member) + "_ms",
            "a number of milliseconds; a string such as " + std::string(such_as) + " belongs in `" + name + "`",
            time.number->kind);
    }
    if (text == nullptr) return time;
    if (text->kind != Kind::number && text->kind != Kind::text) {
        return wrong_type(member, "a string such as " + std::string(such_as), text->kind);
    }
    const bool is_duration = such_as == kDurationExample;
    if (text->kind == Kind::text && !is_number(text->text)) {
        const Result<std::int64_t> read =
            is_duration ? read_duration(text->text, name) : read_instant(text->text, name);
        if (!read) return read.error();
        time.ms = *read;
        return time;
    }
    return Error{is_duration ? "bad_duration"_code : "bad_instant"_code,
                 "`" + name + "` is a number without a unit: write it as a string, such as " + std::string(such_as) +
                     ", or give milliseconds" + (is_duration ? "" : " since 1970") + " as `" + name_ms + "`",
                 name};
}

Result<std::optional<std::int64_t>> JsonRequest::duration_ms(std::string_view member) const {
    const Result<Time> time = find_time(member, kDurationExample);
    if (!time) return time.error();
    if (time->number == nullptr) return time->ms;
    const std::string name = full_name(member) + "_ms";
    const JsonNumber number = read_json_number(time->number->text);
    if (time->number->text.starts_with('-') && !(number.whole && number.value == 0)) return negative_duration(name);
    if (number.whole && !number.beyond) return std::optional(number.value);
    return Error{"bad_duration"_code, "`" + name + (number.whole ? "` is too large" : "` must be an integer"), name};
}

Result<std::optional<std::int64_t>> JsonRequest::instant_ms(std::string_view member) const {
    const Result<Time> time = find_time(member, kInstantExample);
    if (!time) return time.error();
    if (time->number == nullptr) return time->ms;
    const Result<std::optional<std::int64_t>> read = epoch_ms(time->number->name);
    if (!read || **read >= kFirstInstantByNumber) return read;
    const std::string name = full_name(member);
    return Error{"bad_instant"_code,
                 "`" + name + "_ms` is " + format_instant(**read) +
                     ": give milliseconds since 1970, not seconds; an instant before 2000 must be a string in `" +
                     name + "`",
                 name + "_ms"};
}

Result<std::optional<std::int64_t>> JsonRequest::epoch_ms(std::string_view member) const {
    const Member* found = find(member);
    if (found == nullptr) return std::optional<std::int64_t>();
    if (found->kind != Kind::number) return wrong_type(member, "a number of milliseconds since 1970", found->kind);
    const JsonNumber number = read_json_number(found->text);
    if (number.whole && number.value >= 0 && number.value <= kLastInstant) return std::optional(number.value);
    return Error{"bad_instant"_code,
                 "`" + full_name(member) + "` must be whole milliseconds from 1970 to the year 9999",
                 full_name(member)};
}

std::optional<std::string_view> JsonRequest::json_text(std::string_view member) const {
    const Member* const found = find(member);
    if (found == nullptr) return std::nullopt;
    // Names may have escapes: the member is found by its position.
    const auto number = std::count_if(members_.data(), found, [](const Member& each) { return each.depth == 0; });
    return member_texts(body_)[static_cast<std::size_t>(number)].second;
}

Result<JsonRequest::Texts> JsonRequest::texts(std::string_view member) const {
    Texts all;
    const Member* found = find(member);
    if (found == nullptr) return all;
    if (found->kind != Kind::object) return wrong_type(member, "an object of strings", found->kind);
    const Member* const end = members_.data() + members_.size();
    for (const Member* each = found + 1; each != end && each->depth != 0; ++each) {
        if (is_patch_ && each->kind == Kind::null) continue;
        if (each->kind != Kind::text) {
            return wrong_type(std::string(member) + "." + field_name(each->name), "a string", each->kind);
        }
        all.emplace_back(each->name, each->text);
    }
    return all;
}

Result<std::vector<JsonRequest>> JsonRequest::objects(std::string_view member) const {
    std::vector<JsonRequest> all;
    const Member* found = find(member);
    if (found == nullptr) return all;
    if (found->kind != Kind::array) return wrong_type(member, "an array of objects", found->kind);
    const Member* const end = members_.data() + members_.size();
    for (const Member* each = found + 1; each != end && each->depth != 0; ++each) {
        if (each->depth > 1) {
            all.back().members_.push_back(*each);
            all.back().members_.back().depth = static_cast<std::uint8_t>(each->depth - 2);
            continue;
        }
        const std::string name = std::string(member) + "[" + std::to_string(all.size()) + "]";
        if (each->kind != Kind::object) return wrong_type(name, "an object", each->kind);
        all.emplace_back().within_ = full_name(name) + ".";
    }
    return all;
}

Result<std::vector<std::string_view>> JsonRequest::text_list(std::string_view member) const {
    const Member* found = find(member);
    if (found == nullptr) {
        return Error{"missing_member"_code, "`" + std::string(member) + "` is missing: give an array of strings",
                     std::string(member)};
    }
    if (found->kind != Kind::array) return wrong_type(member, "an array of strings", found->kind);
    std::vector<std::string_view> all;
    const Member* const end = members_.data() + members_.size();
    for (const Member* each = found + 1; each != end && each->depth != 0; ++each) {
        if (each->kind != Kind::text) {
            return wrong_type(std::string(member) + "[" + std::to_string(all.size()) + "]", "a string", each->kind);
        }
        all.push_back(each->text);
    }
    return all;
}

}  // namespace duewheel
