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

template <class Visitor, class Choice>
void retry_choice_fields(Visitor& visit, std::uint32_t first_tag, Choice& choice) {
    constexpr std::uint64_t kMax = std::uint64_t{1} << 53;
    for (std::uint32_t i = 0; i < kRetryMembers.size(); ++i) {
        auto& chosen = choice.*kRetryMembers[i];
        std::uint64_t above = chosen ? static_cast<std::uint64_t>(*chosen) + 1 : 0;
        if constexpr (Visitor::kReads) {
            if (!visit.number(first_tag + i, above)) continue;
            if (above == 0 || above > kMax) return visit.refuse();
            chosen = static_cast<std::int64_t>(above - 1);
        } else {
            visit.number(first_tag + i, above);
        }
    }
}

}  // namespace duewheel
