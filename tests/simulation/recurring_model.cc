// When the occurrences of a recurring message are due, computed only from the documented rule.
#include <algorithm>

#include "simulation/message_model.h"

namespace duewheel {
namespace {

// More than any run makes: a recurring message that nobody was answered may be one of years and milliseconds.
constexpr std::uint64_t kCountMost = 1'000'000;

}  // namespace

// The first rest is `every`; each later one is the one before times `factor`, in whole microseconds, and none is longer
// than `max`. It counts in whole milliseconds, and is one at least.
std::int64_t RecurringModel::offset_ms(std::uint64_t number) const {
    const std::int64_t most_us = choice_.max_ms.value_or(kRepeatEveryMaxMs) * 1000;
    while (offsets_.size() < number) {
        if (rest_us_ == 0) {
            rest_us_ = choice_.every_ms * 1000;
        } else if (choice_.factor_permille) {
            const std::int64_t whole_ms = rest_us_ / 1000;
            rest_us_ =
                whole_ms * *choice_.factor_permille + (rest_us_ - whole_ms * 1000) * *choice_.factor_permille / 1000;
        }
        if (choice_.factor_permille) rest_us_ = std::min(rest_us_, most_us);
        offsets_.push_back(offsets_.back() + std::max<std::int64_t>(rest_us_ / 1000, 1));
    }
    return offsets_[number - 1];
}

std::optional<std::uint64_t> RecurringModel::last(DueMs start_ms) const {
    if (!choice_.until_ms && !choice_.times) return std::nullopt;
    const std::uint64_t times = choice_.times ? static_cast<std::uint64_t>(*choice_.times) : UINT64_MAX;
    if (!choice_.until_ms) return times;
    std::uint64_t number = 1;
    while (number < std::min(times, kCountMost) && offset_ms(number + 1) <= *choice_.until_ms - start_ms) ++number;
    return number;
}

std::uint64_t RecurringModel::due_by(DueMs start_ms, DueMs now) const {
    const std::uint64_t most = last(start_ms).value_or(UINT64_MAX);
    std::uint64_t number = 0;
    while (number < std::min(most, kCountMost) && offset_ms(number + 1) <= now - start_ms) ++number;
    return number;
}

}  // namespace duewheel
