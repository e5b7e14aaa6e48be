// Durations as people write them, to milliseconds and back.
//
//     250ms  10m  3d12h       whole numbers with the units w d h m s ms, each once, the larger first
//     P2W  P3DT12H  PT1.5S    ISO 8601: weeks alone, or days, hours, minutes, seconds; only seconds may have a fraction
//
// A day is 24 hours and a week 7 days: a duration is a stretch of time, not a walk on the calendar. Therefore years and
// months are refused, whose length depends on where one starts; and so are signs, spaces, other fractions and capital
// units, because each has been read in two ways before. Every error has the code bad_duration, the column and what is
// accepted. Pure functions without a locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace duewheel {

// The duration in milliseconds, 0 or more. O(length of the text).
Result<std::int64_t> parse_duration(std::string_view text);

// The exact duration, each unit from the largest as often as it fits: "3d12h", "1m500ms", "0ms". Whole weeks are weeks
// ("2w"), others days ("15d"). parse_duration() gives the same number back; a negative one has a minus in front, which
// is for reading only.
std::string format_duration(std::int64_t milliseconds);

}  // namespace duewheel
