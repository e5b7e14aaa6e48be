// The chosen members of a retry rule as fields: five consecutive tags, in the order of RetryChoice. A member that is
// set is stored as its value plus one, because a field of 0 is omitted.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "message/fields.h"
#include "message/retry_rule.h"

namespace duewheel {

inline constexpr std::array kRetryMembers{&RetryChoice::attempts, &RetryChoice::first_ms, &RetryChoice::factor_permille,
                                          &RetryChoice::max_ms, &RetryChoice::jitter_permille};

inline void write_retry_choice(FieldWriter& to, std::uint32_t first_tag, const RetryChoice& choice) {
    for (std::uint32_t i = 0; i < kRetryMembers.size(); ++i) {
        const std::optional<std::int64_t>& chosen = choice.*kRetryMembers[i];
        if (chosen) to.number(first_tag + i, static_cast<std::uint64_t>(*chosen) + 1);
    }
}

// Whether the field is one of them; it is then read, or refused.
inline bool read_retry_choice(FieldReader& from, std::uint32_t first_tag, RetryChoice& choice) {
    constexpr std::uint64_t kMax = std::uint64_t{1} << 53;
    if (from.tag() < first_tag || from.tag() >= first_tag + kRetryMembers.size()) return false;
    std::uint64_t above = 0;
    from.number(above);
    if (above == 0 || above > kMax) return from.refuse(), true;
    choice.*kRetryMembers[from.tag() - first_tag] = static_cast<std::int64_t>(above - 1);
    return true;
}

}  // namespace duewheel
