// Durations as people write them, to milliseconds and back.
//
//     250ms  10m  3d12h       integers with the units w d h m s ms, each once, larger units first
//     P2W  P3DT12H  PT1.5S    ISO 8601: weeks alone, or days, hours, minutes, seconds; only seconds may have a fraction
//
// A day is 24 hours and a week 7 days: a duration is elapsed time, not calendar time. Therefore years and months are
// refused, because their length depends on the start; and so are signs, spaces, other fractions and capital units,
// because each is ambiguous. Every error has the code bad_duration, the column and the accepted forms. Pure functions,
// independent of the locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace duewheel {

// The duration in milliseconds, 0 or more. O(length of the text).
Result<std::int64_t> parse_duration(std::string_view text);

// The exact duration, largest units first: "3d12h", "1m500ms", "0ms". Whole weeks are weeks ("2w"), all others days
// ("15d"). parse_duration() returns the same number again; a negative one has a minus in front, for display
// only.
std::string format_duration(std::int64_t milliseconds);

}  // namespace duewheel
