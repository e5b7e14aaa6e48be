// Instants as text (RFC 3339), to milliseconds since 1970 UTC and back.
//
//     2027-01-01T06:00:00Z    2027-01-01T07:00:00.250+01:00    2027-01-01 06:00:00z
//
// A fraction is rounded up to the next millisecond: most instants are deadlines, and a deadline is never early. The
// clock does not count leap seconds, so 23:59:60 UTC is the second after it. The years 1970 to 9999 of UTC are
// accepted. Everything that RFC 3339 excludes is refused (24:00, a missing offset, missing seconds), because a guessed
// zone or day would fire a message at a wrong time. Every error has the code bad_instant, the column and the accepted
// form. Pure functions, independent of the locale and of zone databases.
#pragma once

#include <string>
#include <string_view>

#include "shared/instant.h"
#include <duewheel/status.h>

namespace duewheel {

// 9999-12-31T23:59:59.999Z: the last instant with a year of four digits.
inline constexpr InstantMs kLastInstant = 253'402'300'799'999;

// An RFC 3339 text. O(length of the text).
Result<InstantMs> parse_instant(std::string_view text);

// For numbers that are known to be milliseconds since 1970, such as the result of a calculation. Refuses values outside
// 0 .. kLastInstant.
Result<InstantMs> instant_from_ms(std::int64_t milliseconds);

// "2027-01-01T06:00:00.000Z": always UTC and three decimals, so that texts sort like instants. Outside 0 ..
// kLastInstant, where RFC 3339 ends, the plain number of milliseconds.
std::string format_instant(InstantMs instant);

}  // namespace duewheel
