#include "resource/rate_rule.h"

#include <string>

#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr std::int64_t kDayMs = 24LL * 3600 * 1000;

constexpr Field kRateRows[] = {
    count<&RateRule::count>(1, "count", "Maximum number of deliveries in that time",
                            {.page = "how many deliveries may start in each `per`, 1 to 100,000",
                             .max = kRateCountMax,
                             .when_absent = "give how many deliveries may start in each `per`",
                             .is_required = true}),
    duration<&RateRule::per_ms>(
        2, "per", "That time, a second by default",
        {.page = "1 ms to a day, `\"1s\"` by default", .min = 1, .max = kRatePerMaxMs, .when_absent = "a second"}),
    count<&RateRule::burst>(3, "burst", "Deliveries that may start at once after a pause",
                            {.page = "how many may start at once after a pause, 1 to 100,000 and no more than what "
                                     "comes in a day; by default what comes in a tenth of a second, at least one",
                             .max = kRateCountMax,
                             .when_absent = "what comes in a tenth of a second"}),
};

bool is_sound_rate(const void* resource) {
    return static_cast<const RateRule*>(resource)->count > 0;
}

}  // namespace

template <>
const FieldTable& fields_of<RateRule>() {
    static const FieldTable table("a rate holds", kRateRows, is_sound_rate);
    return table;
}

Status check_burst(const std::optional<RateRule>& rate, std::string_view path) {
    if (!rate || rate->burst <= 1) return {};
    const std::int64_t per_ms = rate->per_ms == 0 ? 1'000 : rate->per_ms;
    const std::uint64_t in_a_day = rate->count * kDayMs / static_cast<std::uint64_t>(per_ms);
    if (rate->burst <= in_a_day) return {};
    const std::string field = std::string(path) + ".burst";
    return Error{"out_of_range"_code,
                 "`" + field + "` must be at most " + std::to_string(std::max<std::uint64_t>(in_a_day, 1)) +
                     ", which is what comes in a day at this rate: give a smaller one, or a higher rate",
                 field};
}

}  // namespace duewheel
