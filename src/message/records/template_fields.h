// The fields that several structs have, stated once: the chosen members of a retry rule, and a message template.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "message/message_template.h"
#include "message/records/fields.h"
#include "message/retry_rule.h"

namespace duewheel {

inline constexpr std::array kRetryMembers{&RetryChoice::attempts, &RetryChoice::first_ms, &RetryChoice::factor_permille,
                                          &RetryChoice::max_ms, &RetryChoice::jitter_permille};

// Five consecutive tags, in the order of RetryChoice. A member that is set is stored as its value plus one, because a
// field of 0 is omitted.
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

// Ten consecutive tags, of which the retry rule has five. The group has a tag elsewhere: it was added later.
template <class Visitor, class Template>
void message_template_fields(Visitor& visit, std::uint32_t first_tag, Template& of) {
    visit.text(first_tag, of.queue);
    visit.text(first_tag + 1, of.order_key);
    visit.signed_number(first_tag + 2, of.priority);
    visit.signed_number(first_tag + 3, of.expires_after_ms);
    retry_choice_fields(visit, first_tag + 4, of.retry);
    visit.number(first_tag + 9, of.content_hash);
}

}  // namespace duewheel
