// The days of a month that a cron rule matches.
#pragma once

#include <chrono>
#include <cstdint>

#include <duewheel/cron_rule.h>

namespace duewheel {

// Bit d stands for day d; 0 if the rule's months or years exclude this one. Constant time.
std::uint32_t matching_days(const CronFields& fields, std::chrono::year_month month);

}  // namespace duewheel
