#include "engine/core/uses.h"

#include "base/error_codes.h"
#include "calendar/duration.h"

namespace duewheel {

Result<DueMs> TimeRules::resolve(const When& when, const char* delay_field, const char* at_field) const {
    const DueMs latest = uses_.now_ + uses_.options_.delay_max_ms;
    const bool too_long = when.at_ms ? *when.at_ms > latest : when.delay_ms > uses_.options_.delay_max_ms;
    if (too_long) {
        return Error{"delay_too_long"_code,
                     "this time is more than " + format_duration(uses_.options_.delay_max_ms) +
                         " in the future: choose an earlier one",
                     when.at_ms ? at_field : delay_field};
    }
    return when.at_ms ? std::max<DueMs>(*when.at_ms, 1) : due_after(when.delay_ms);
}

Status TimeRules::check_lease_time(std::int64_t lease_ms) const {
    if (lease_ms < uses_.options_.lease_min_ms) {
        return Error{
            "lease_too_short"_code,
            "a lease must last at least " + format_duration(uses_.options_.lease_min_ms) + ": choose a longer one",
            "lease"};
    }
    if (lease_ms > uses_.options_.lease_max_ms) {
        return Error{
            "lease_too_long"_code,
            "a lease can last up to " + format_duration(uses_.options_.lease_max_ms) + ": extend it when needed",
            "lease"};
    }
    return {};
}

Status TimeRules::check_wait_time(std::int64_t wait_ms) const {
    if (wait_ms >= 0 && wait_ms <= uses_.options_.wait_max_ms) return {};
    return Error{
        "wait_too_long"_code,
        "`wait` must be from 0s to " + format_duration(uses_.options_.wait_max_ms) + ": repeat the call after that",
        "wait"};
}

}  // namespace duewheel
