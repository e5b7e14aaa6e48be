// Parses a JSON request body strictly: one object, only members that the call knows, each of the right type, none
// twice. Errors name the member, what was found, and what is expected.
//
// No tree is built. One pass over the text lists the members of the object and of nested objects and arrays, up to the
// fourth level; a string without escapes is not copied. Numbers are kept as written and interpreted exactly: a binary
// fraction would silently round 9007199254740993.0. The value of a member that holds any JSON, such as `json`, is
// validated as JSON, counts as one member, and is kept as written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace duewheel {

inline constexpr std::size_t kJsonDepthMax = 32;
inline constexpr std::size_t kJsonMembersMax = 1100;  // a batch has up to 1,000 parts

// Its views are valid as long as it and the body that it was read from.
class JsonRequest {
  public:
    // Codes: bad_utf8, bad_json (with line and column, in bytes), too_deep, too_many_members, out_of_range (a number
    // with an invalid exponent), wrong_type (not an object). An empty body is an empty object. `first_line`: the line
    // of the text in the request. O(body).
    static Result<JsonRequest> parse(std::string_view body, std::size_t first_line = 1);

    // Call it first. `unknown_member`, with the nearest known name; `duplicate_member`.
    Status only(std::span<const std::string_view> known) const;
    Status only(std::initializer_list<std::string_view> known) const { return only({known.begin(), known.size()}); }

    // Reads it, and the objects in it, as a merge patch (RFC 7396): a member that is null is to be removed. All reading
    // functions treat it as absent.
    void read_as_patch() { is_patch_ = true; }
    bool removes(std::string_view member) const { return is_removed(find_any(member)); }
    // A duration or an instant has two names.
    bool removes_time(std::string_view member) const { return removes(member) || is_removed(find_any_ms(member)); }
    // The names of members to be removed from the object `member`.
    std::vector<std::string_view> removed_in(std::string_view member) const;

    bool has(std::string_view member) const { return find(member) != nullptr; }
    // Whether there is a member of this name, or of one that begins with it. Faster than the functions below, which
    // have nothing to read if there is none.
    bool mentions(std::string_view member) const;
    // Each: none if the member is absent; `wrong_type` if it has another type.
    Result<std::optional<std::string_view>> text(std::string_view member) const;
    // Beyond 64 bits: the nearest possible number. A fraction is another type; 1.0 and 1e3 are integers.
    Result<std::optional<std::int64_t>> integer(std::string_view member) const;
    // A number with up to three decimals, in thousandths.
    Result<std::optional<std::int64_t>> thousandths(std::string_view member) const;
    // A duration has two members: `member` takes a string with units ("10m", ISO 8601), and the one whose name ends in
    // `_ms` a number. A number without a unit is refused: it would be seconds for one client and milliseconds for
    // another. Codes: bad_duration, negative_duration; conflicting_members if both are given.
    Result<std::optional<std::int64_t>> duration_ms(std::string_view member) const;
    Result<std::optional<bool>> boolean(std::string_view member) const;
    // An object directly in this one, whose members are read in the same way; errors name them `member.name`. Valid no
    // longer than this.
    Result<std::optional<JsonRequest>> object(std::string_view member) const;
    // An instant likewise: RFC 3339 in `member`, or milliseconds since 1970 in the one that ends in `_ms`, from the
    // year 2000 on, because an earlier number is probably one of seconds. Codes: bad_instant, conflicting_members.
    Result<std::optional<std::int64_t>> instant_ms(std::string_view member) const;
    // Whether a duration or an instant is given, in either member.
    bool has_time(std::string_view member) const { return has(member) || find_ms(member) != nullptr; }
    // A number of milliseconds since 1970, as written by a server: from 1970 to 9999. Code: bad_instant.
    Result<std::optional<std::int64_t>> epoch_ms(std::string_view member) const;
    // Any value, as written. Of this object, not of nested ones.
    std::optional<std::string_view> json_text(std::string_view member) const;
    // An object whose values are all strings, in order, including repeated names.
    using Texts = std::vector<std::pair<std::string_view, std::string_view>>;
    Result<Texts> texts(std::string_view member) const;
    // An array of objects, whose members are read in the same way, but not as those of a patch. Valid no longer than
    // this.
    Result<std::vector<JsonRequest>> objects(std::string_view member) const;
    // An array of strings, in order; `missing_member` if there is none.
    Result<std::vector<std::string_view>> text_list(std::string_view member) const;

  private:
    enum class Kind : std::uint8_t { null, boolean, number, text, array, object };
    struct Member {
        std::string_view name;
        Kind kind;
        std::uint8_t depth;     // 0: of the object itself; otherwise of an earlier member; in an array without a name
        std::string_view text;  // of a string its characters, of a number its text
    };
    class Collector;

    static std::string_view kind_name(Kind kind);
    Error wrong_type(std::string_view member, std::string_view wanted, Kind found) const;
    // The name of a member in errors.
    std::string full_name(std::string_view member) const { return within_ + std::string(member); }
    const Member* find_any(std::string_view member) const;
    // The member named `member` and `_ms`.
    const Member* find_any_ms(std::string_view member) const;
    bool is_removed(const Member* found) const { return is_patch_ && found != nullptr && found->kind == Kind::null; }
    const Member* unless_removed(const Member* found) const;
    const Member* find(std::string_view member) const { return unless_removed(find_any(member)); }
    const Member* find_ms(std::string_view member) const { return unless_removed(find_any_ms(member)); }
    // The value of the first of the two members of a time, the number of the second; neither if none is given.
    struct Time {
        std::optional<std::int64_t> ms;
        const Member* number = nullptr;
    };
    Result<Time> find_time(std::string_view member, std::string_view such_as) const;

    std::string_view body_;
    std::vector<Member> members_;
    std::vector<char> decoded_;  // strings that had escapes; never moves
    std::string within_;         // "limits." if this is the object of that name
    bool is_patch_ = false;
};

// Like the members of JsonRequest, for a text in a header field or a parameter. `name` is the name of the value in
// errors.
Result<std::int64_t> read_duration(std::string_view text, std::string_view name);
Result<std::int64_t> read_instant(std::string_view text, std::string_view name);

}  // namespace duewheel
