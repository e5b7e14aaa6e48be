// Instants as people at a terminal say them: "2027-01-01T06:00 in Oslo", "in 9m 58s".
//
// A text without an offset is a time of day in a time zone. Twice a year that is not enough: a time that a clock
// change skips, or shows twice, is refused with the two instants it may stand for, because guessing would fire a
// message an hour off. Zones come from the system's zone data through the C library, which reads the variable TZ; so
// these functions change the environment for the length of a call, and belong to a program with one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/instant.h"
#include "base/status.h"

namespace duewheel {

// "2027-01-01T06:00", seconds and a fraction as you like, with "Z", "+01:00" or nothing; nothing means in `zone`
// ("Europe/Oslo"), or, where there is no `zone`, in the time zone of this machine. Codes: bad_instant, unknown_zone,
// conflicting_members (an offset and a zone).
Result<InstantMs> parse_local_instant(std::string_view text, const std::optional<std::string>& zone);

// Likewise of a rule that has a zone: it is used only where the text has no offset, and no advice is to leave it out.
// Codes: bad_instant, unknown_zone.
Result<InstantMs> parse_instant_of_rule(std::string_view text, const std::string& zone);

// The same text with the seconds that it leaves out: ":00". Any other text is as it was.
std::string with_seconds(std::string_view text);

// "2027-01-01 06:00:00 +01:00", in the time zone of this machine.
std::string format_local(InstantMs instant);

// "9m 58s", "3d 2h", "12ms": the two largest units; not negative.
std::string format_span(std::int64_t milliseconds);

// "in 9m 58s", "3h 2m ago", "now".
std::string format_relative(InstantMs instant, InstantMs now);

// "2027-01-01 06:00:00 +01:00, in 9m 58s".
std::string format_when(InstantMs instant);

}  // namespace duewheel
