// Instants as users write and read them at a terminal: "2027-01-01T06:00 in Oslo", "in 9m 58s".
//
// A text without an offset is a local time in a time zone. A time that a clock change skips or repeats is ambiguous: it
// is refused with the two instants that it may mean, because a guess could be an hour off. Zones come from the system's
// zone data through the C library, which reads the variable TZ; so these functions change the environment during a
// call, and are only for programs with one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "shared/instant.h"

namespace duewheel {

// "2027-01-01T06:00", with optional seconds and fraction, and with "Z", "+01:00" or no offset. Without an offset it is
// a time in `zone` ("Europe/Oslo"), or, if `zone` is empty, in the time zone of this machine. Codes: bad_instant,
// bad_zone, conflicting_members (an offset and a zone).
Result<InstantMs> parse_local_instant(std::string_view text, const std::optional<std::string>& zone);

// The same for a rule that has a zone: the zone is used only if the text has no offset, and errors do not advise to
// omit it. Codes: bad_instant, bad_zone.
Result<InstantMs> parse_instant_of_rule(std::string_view text, const std::string& zone);

// Adds the seconds ":00" to a time without them. Other texts are unchanged.
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
