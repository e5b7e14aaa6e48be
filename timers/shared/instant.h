// A point in time on the wall clock, as a number.
//
// An instant is the number of milliseconds since 1970-01-01T00:00:00Z, without leap seconds, as clocks count it. It is
// a plain integer because it is stored, sent, compared and added everywhere; the suffix of its name has the unit.
// A duration is a std::int64_t whose name ends in `_ms`. The time of a wheel (ticks) is different and has its own type.
#pragma once

#include <cstdint>
#include <limits>

namespace duewheel {

using InstantMs = std::int64_t;

// An absent instant; less than any other.
inline constexpr InstantMs kNoInstant = std::numeric_limits<InstantMs>::min();

}  // namespace duewheel
