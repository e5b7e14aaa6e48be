#include "ingress/rule_field.h"

#include <algorithm>
#include <string>

#include "base/utf8.h"
#include "ingress/json_number.h"
#include "ingress/json_request.h"

namespace duewheel {
namespace {

using Kind = RuleMember::Kind;

constexpr std::size_t kWordBytesShown = 64;

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Digits, perhaps with a point between them: all that a rule needs of a number.
bool is_decimal(std::string_view text) {
    const std::size_t point = text.find('.');
    const auto is_digits = [](std::string_view part) {
        return !part.empty() && part.size() <= 18 && part.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (point == std::string_view::npos) return is_digits(text);
    return is_digits(text.substr(0, point)) && is_digits(text.substr(point + 1));
}

// "attempts=, first= and jitter="
std::string names_of(std::span<const RuleMember> members) {
    std::string names;
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (i > 0) names += i + 1 == members.size() ? " and " : ", ";
        names += std::string(members[i].name) + "=";
    }
    return names;
}

Status read_number(std::string_view value, const RuleMember& member, std::string_view field_name) {
    const bool thousandths = member.kind == Kind::thousandths;
    if (is_decimal(value)) {
        const JsonNumber number = thousandths ? read_json_thousandths(value) : read_json_number(value);
        if (number.whole) return *member.into = number.value, Status();
    }
    return Error{"wrong_type",
                 std::string(field_name) + ": `" + std::string(member.name) + "` is a " +
                     (thousandths ? "number of at most three decimals, such as 1.5" : "whole number, such as 5"),
                 std::string(field_name)};
}

Status read_pair(std::string_view name, std::string_view value, std::string_view field_name,
                 std::span<const RuleMember> members) {
    const auto member =
        std::find_if(members.begin(), members.end(), [&](const RuleMember& each) { return each.name == name; });
    if (member == members.end()) {
        const std::string shown = is_utf8(name) ? std::string(cut_utf8(name, kWordBytesShown)) : "what it holds";
        return Error{"unknown_member",
                     std::string(field_name) + ": " + shown + " is not known here; " + names_of(members) +
                         " are, with commas between",
                     std::string(field_name)};
    }
    if (member->kind == Kind::word ? member->word->has_value() : member->into->has_value()) {
        return Error{"duplicate_member", std::string(field_name) + ": `" + std::string(name) + "` is given twice",
                     std::string(field_name)};
    }
    if (member->kind == Kind::word) return *member->word = value, Status();
    if (member->kind != Kind::duration && member->kind != Kind::instant) return read_number(value, *member, field_name);
    const Result<std::int64_t> time =
        member->kind == Kind::duration ? read_duration(value, field_name) : read_instant(value, field_name);
    if (!time) return time.error();
    *member->into = *time;
    return {};
}

}  // namespace

Status read_rule_field(std::string_view text, std::string_view field_name, std::span<const RuleMember> members) {
    for (bool more = true; more;) {
        const std::size_t comma = text.find(',');
        more = comma != std::string_view::npos;
        const std::string_view pair = trimmed(text.substr(0, comma));
        if (more) text.remove_prefix(comma + 1);
        const std::size_t equals = std::min(pair.find('='), pair.size());
        const std::string_view value = equals < pair.size() ? trimmed(pair.substr(equals + 1)) : std::string_view();
        if (Status read = read_pair(trimmed(pair.substr(0, equals)), value, field_name, members); !read) return read;
    }
    return {};
}

}  // namespace duewheel
