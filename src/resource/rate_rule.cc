#include "resource/rate_rule.h"

namespace duewheel {
namespace {

constexpr Field kRows[] = {
    count<&RateRule::count>(1, "count", "Maximum number of deliveries in that time",
                            {.page = "how many deliveries may start in each `per`, 1 to 100,000",
                             .max = kRateCountMax,
                             .when_absent = "give how many deliveries may start in each `per`",
                             .is_required = true}),
    duration<&RateRule::per_ms>(
        2, "per", "That time, a second by default",
        {.page = "1 ms to a day, `\"1s\"` by default", .min = 1, .max = kRatePerMaxMs, .when_absent = "a second"}),
    count<&RateRule::burst>(3, "burst", "Deliveries that may start at once after a pause",
                            {.page = "how many may start at once after a pause, 1 to 100,000; by default what comes in "
                                     "a tenth of a second, at least one",
                             .max = kRateCountMax,
                             .when_absent = "what comes in a tenth of a second"}),
};

bool is_sound(const void* resource) {
    return static_cast<const RateRule*>(resource)->count > 0;
}

}  // namespace

template <>
const FieldTable& fields_of<RateRule>() {
    static const FieldTable table("a rate holds", kRows, is_sound);
    return table;
}

}  // namespace duewheel
