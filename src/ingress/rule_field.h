// A rule in one header field, beside a raw body: pairs of a name and a value with commas between.
//
//     Duewheel-Retry: attempts=5, first=1s, factor=2
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/status.h"

namespace duewheel {

struct RuleMember {
    enum class Kind : std::uint8_t { whole, thousandths, duration, instant, word };
    std::string_view name;
    Kind kind = Kind::whole;
    std::optional<std::int64_t>* into = nullptr;      // of all but a word
    std::optional<std::string_view>* word = nullptr;  // a text without commas, perhaps empty
};

// Codes: unknown_member, duplicate_member, wrong_type, those of durations and instants; all of them name the field.
Status read_rule_field(std::string_view text, std::string_view field_name, std::span<const RuleMember> members);

}  // namespace duewheel
