// Reads a JSON request body strictly: one object, only the members that the call knows, each of the right type, none
// twice. Whatever is wrong is named: the member, what was found, what would be right.
//
// No tree is built. One pass over the text lists the members of the object, and those of objects and arrays in it, down
// to the fourth level; a text without escapes stays where it is. Numbers are kept as they are written and understood
// exactly: a binary fraction would round 9007199254740993.0 before anybody could object. The value of a member `json`
// is the content of a message: it is checked to be JSON, counts as one member, and is kept as it is written.
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

// Its views live as long as it and the body that it was read from.
class JsonRequest {
  public:
    // Codes: bad_utf8, bad_json (with line and column, in bytes), too_deep, too_many_members, out_of_range (a number
    // whose exponent cannot be read), wrong_type (not an object). An empty body is an empty object. `first_line`: where
    // the text stands in what the client sent. O(body).
    static Result<JsonRequest> parse(std::string_view body, std::size_t first_line = 1);

    // To be called first. `unknown_member`, naming the nearest one that is known; `duplicate_member`.
    Status only(std::span<const std::string_view> known) const;
    Status only(std::initializer_list<std::string_view> known) const { return only({known.begin(), known.size()}); }

    // Reads it, and the objects in it, as a merge patch (RFC 7396): a member that is null is to be removed. To whoever
    // reads it, it is absent.
    void read_as_patch() { is_patch_ = true; }
    bool removes(std::string_view member) const { return is_removed(find_any(member)); }
    // A duration or an instant goes by either of its names.
    bool removes_time(std::string_view member) const { return removes(member) || is_removed(find_any_ms(member)); }
    // The names in the object `member` that are to be removed.
    std::vector<std::string_view> removed_in(std::string_view member) const;

    bool has(std::string_view member) const { return find(member) != nullptr; }
    // Each: nothing where the member is absent; `wrong_type` where it is of another type.
    Result<std::optional<std::string_view>> text(std::string_view member) const;
    // Beyond 64 bits: the nearest that there is. A fraction is another type; 1.0 and 1e3 are none.
    Result<std::optional<std::int64_t>> integer(std::string_view member) const;
    // A number of at most three decimals, in thousandths.
    Result<std::optional<std::int64_t>> thousandths(std::string_view member) const;
    // A duration has two members: `member` takes a text with its units ("10m", ISO 8601), and the one whose name ends
    // in `_ms` a number. A number without a unit is refused: it would be seconds to one client and milliseconds to
    // another. Codes: bad_duration, negative_duration; conflicting_members where both are given.
    Result<std::optional<std::int64_t>> duration_ms(std::string_view member) const;
    Result<std::optional<bool>> boolean(std::string_view member) const;
    // An object directly in this one, whose members are read as this one's are; errors name them `member.name`. Lives
    // no longer than this.
    Result<std::optional<JsonRequest>> object(std::string_view member) const;
    // An instant likewise: RFC 3339 in `member`, or milliseconds since 1970 in the one that ends in `_ms`, from the
    // year 2000 on, because an earlier number is most likely one of seconds. Codes: bad_instant, conflicting_members.
    Result<std::optional<std::int64_t>> instant_ms(std::string_view member) const;
    // Whether a duration or an instant is given, in either of its members.
    bool has_time(std::string_view member) const { return has(member) || find_ms(member) != nullptr; }
    // A number of milliseconds since 1970, as a server writes it: any from 1970 to 9999. Code: bad_instant.
    Result<std::optional<std::int64_t>> epoch_ms(std::string_view member) const;
    // Any value, as it is written. Of this object itself, not of those in it.
    std::optional<std::string_view> json_text(std::string_view member) const;
    // An object whose values are all texts, in its order, names that stand twice included.
    using Texts = std::vector<std::pair<std::string_view, std::string_view>>;
    Result<Texts> texts(std::string_view member) const;
    // An array of texts, in its order; `missing_member` where there is none.
    Result<std::vector<std::string_view>> text_list(std::string_view member) const;

  private:
    enum class Kind : std::uint8_t { null, boolean, number, text, array, object };
    struct Member {
        std::string_view name;
        Kind kind;
        std::uint8_t depth;     // 0: of the object itself; else in what comes before it; in an array without a name
        std::string_view text;  // of a text its letters, of a number how it is written
    };
    class Collector;

    static std::string_view kind_name(Kind kind);
    Error wrong_type(std::string_view member, std::string_view wanted, Kind found) const;
    // What errors call a member.
    std::string full_name(std::string_view member) const { return within_ + std::string(member); }
    const Member* find_any(std::string_view member) const;
    // The one whose name is `member` and `_ms`.
    const Member* find_any_ms(std::string_view member) const;
    bool is_removed(const Member* found) const { return is_patch_ && found != nullptr && found->kind == Kind::null; }
    const Member* unless_removed(const Member* found) const;
    const Member* find(std::string_view member) const { return unless_removed(find_any(member)); }
    const Member* find_ms(std::string_view member) const { return unless_removed(find_any_ms(member)); }
    // The text of the first of the two members of a time, the number of the second; neither where none is given.
    struct Time {
        const Member* text = nullptr;
        const Member* number = nullptr;
    };
    Result<Time> find_time(std::string_view member, std::string_view such_as) const;

    std::string_view body_;
    std::vector<Member> members_;
    std::vector<char> decoded_;  // texts that had escapes; never moves
    std::string within_;         // "limits." where this is the object of that name
    bool is_patch_ = false;
};

// As JsonRequest's members, for a text that comes in a header field or a parameter. `name` is what errors call the
// value.
Result<std::int64_t> read_duration(std::string_view text, std::string_view name);
Result<std::int64_t> read_instant(std::string_view text, std::string_view name);

}  // namespace duewheel
