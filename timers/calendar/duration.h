// Durations as people write them, to milliseconds and back.
//
//     250ms  10m  3d12h       numbers with the units w d h m s ms, each once, larger units first
//     1.5s  2m0.5s  1800.0s   the last number may have decimals, as programs in Go and Python write them
//     P2W  P3DT12H  PT1.5S    ISO 8601: weeks alone, or days, hours, minutes, seconds; only seconds may have a fraction
//
// A day is 24 hours and a week 7 days: a duration is elapsed time, not calendar time. Therefore years and months are
// refused, because their length depends on the start; and so are signs, spaces, capital units, and a fraction that is
// not a whole number of milliseconds. Every error has the code bad_duration, the column and the accepted forms; for
// "30min" or "2 hours" it names the unit to write. Pure functions, independent of the locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <duewheel/status.h>

namespace duewheel {

// The duration in milliseconds, 0 or more. O(length of the text).
Result<std::int64_t> parse_duration(std::string_view text);

// The exact duration, largest units first: "3d12h", "1m500ms", "0ms". Whole weeks are weeks ("2w"), all others days
// ("15d"). parse_duration() returns the same number again; a negative one has a minus in front, for display
// only.
std::string format_duration(std::int64_t milliseconds);

}  // namespace duewheel
