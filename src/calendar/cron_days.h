// Which days of a month a cron rule means.
#pragma once

#include <chrono>
#include <cstdint>

#include <duewheel/cron_rule.h>

namespace duewheel {

// Bit d stands for day d; 0 where the rule's months or years leave this one out. Constant time.
std::uint32_t matching_days(const CronFields& fields, std::chrono::year_month month);

}  // namespace duewheel
