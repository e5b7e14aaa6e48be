// A point on the wall clock, as a number.
//
// An instant is the count of milliseconds since 1970-01-01T00:00:00Z, without leap seconds, as clocks count it. It is a
// plain integer because it is stored, sent, compared and added to everywhere; the suffix of its name carries the unit.
// A span of time is a std::int64_t whose name ends in `_ms`. Wheel time (ticks) is another thing and has its own type.
#pragma once

#include <cstdint>
#include <limits>

namespace duewheel {

using InstantMs = std::int64_t;

// "Never" where an instant may be absent; less than any other.
inline constexpr InstantMs kNoInstant = std::numeric_limits<InstantMs>::min();

}  // namespace duewheel
