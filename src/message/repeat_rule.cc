#include "message/repeat_rule.h"

#include <algorithm>
#include <string>

#include "base/error_codes.h"
#include "message/growing_interval.h"

namespace duewheel {
namespace {

Error out_of_range(const char* member, std::string rule) {
    return {"out_of_range"_code, std::move(rule), std::string("repeat.") + member};
}

}  // namespace

Result<RepeatRule> chosen_repeat(const RepeatChoice& choice, std::int64_t start_ms, std::uint64_t times_max) {
    if (choice.every_ms < 1 || choice.every_ms > kRepeatEveryMaxMs) {
        return out_of_range("every", "`every` is the interval between two occurrences, from 1 ms to 3660 days");
    }
    if (choice.times && (*choice.times < 1 || static_cast<std::uint64_t>(*choice.times) > times_max)) {
        return out_of_range("times", "`times` is the total number of occurrences, from 1 to " +
                                         std::to_string(times_max) + "; omit it for no end");
    }
    const std::int64_t factor = choice.factor_permille.value_or(kRepeatFactorMin);
    if (factor < kRepeatFactorMin || factor > kRepeatFactorMax) {
        return out_of_range("factor", "`factor` must be from 1 (a fixed interval) to 100");
    }
    if (choice.max_ms && factor == kRepeatFactorMin) {
        return out_of_range("max", "`max` limits an interval that grows: give a `factor` above 1 too");
    }
    if (choice.max_ms && (*choice.max_ms < choice.every_ms || *choice.max_ms > kRepeatEveryMaxMs)) {
        return out_of_range("max", "`max` is the longest interval, from `every` to 3660 days");
    }
    if (choice.until_ms && *choice.until_ms < start_ms) {
        return out_of_range("until", "`until` is before the first occurrence, so there would be none");
    }
    RepeatRule rule;
    rule.every_ms = choice.every_ms;
    rule.times = static_cast<std::uint64_t>(choice.times.value_or(0));
    rule.factor_permille = static_cast<std::uint32_t>(factor);
    rule.max_ms = factor == kRepeatFactorMin ? choice.every_ms : choice.max_ms.value_or(kRepeatEveryMaxMs);
    rule.start_ms = start_ms;
    rule.end_ms = choice.until_ms.value_or(0);
    return rule;
}

std::int64_t interval_after_occurrence_ms(const RepeatRule& rule, std::uint64_t number) {
    const std::int64_t rest_us =
        grown_interval_us(rule.every_ms * 1000, rule.factor_permille, rule.max_ms * 1000, number);
    return std::max<std::int64_t>(rest_us / 1000, 1);
}

std::optional<std::int64_t> next_occurrence_ms(const RepeatRule& rule, std::uint64_t number, std::int64_t due_ms) {
    if (rule.times != 0 && number >= rule.times) return std::nullopt;
    const std::int64_t next = due_ms + interval_after_occurrence_ms(rule, number);
    if (rule.end_ms != 0 && next > rule.end_ms) return std::nullopt;
    return next;
}

}  // namespace duewheel
