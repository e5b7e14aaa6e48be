#include "local_time.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "base/error_codes.h"
#include "calendar/instant_text.h"
#include "shared/system_clock.h"
#include <duewheel/zone.h>

namespace duewheel {
namespace {

constexpr std::int64_t kDaySeconds = 86'400;

// Sets the time zone of the C library within a scope; an empty name does not change it.
class ZoneInUse {
  public:
    explicit ZoneInUse(const std::string& zone) : active_(!zone.empty()) {
        if (!active_) return;
        if (const char* before = std::getenv("TZ")) before_ = before;
        ::setenv("TZ", (":" + zone).c_str(), 1);
        ::tzset();
    }
    ~ZoneInUse() {
        if (!active_) return;
        if (before_) {
            ::setenv("TZ", before_->c_str(), 1);
        } else {
            ::unsetenv("TZ");
        }
        ::tzset();
    }
    ZoneInUse(const ZoneInUse&) = delete;
    ZoneInUse& operator=(const ZoneInUse&) = delete;

  private:
    bool active_;
    std::optional<std::string> before_;
};

// The C library silently treats an unknown name, and a file that does not describe a zone, as UTC.
bool is_zone(const std::string& name) {
    if (name.empty() || name.front() == '/' || name.find("..") != std::string::npos) return false;
    const char* chosen = std::getenv("TZDIR");
    const std::filesystem::path file = std::filesystem::path(chosen ? chosen : "/usr/share/zoneinfo") / name;
    char opening[4] = {};
    return std::ifstream(file, std::ios::binary).read(opening, sizeof opening) &&
           std::string_view(opening, sizeof opening) == "TZif";
}

std::int64_t offset_at(std::int64_t utc_seconds) {
    const std::time_t time = utc_seconds;
    std::tm fields{};
    ::localtime_r(&time, &fields);
    return fields.tm_gmtoff;
}

std::string offset_text(std::int64_t seconds) {
    const std::int64_t minutes = std::abs(seconds) / 60;
    std::string text(1, seconds < 0 ? '-' : '+');
    for (const std::int64_t part : {minutes / 60, minutes % 60}) {
        if (part < 10) text += '0';
        text += std::to_string(part);
        if (text.size() == 3) text += ':';
    }
    return text;
}

// "2027-03-28T01:30:00+01:00", in the zone in use.
std::string rfc3339(std::int64_t utc_seconds) {
    constexpr std::size_t kToSeconds = 19;
    const std::int64_t offset = offset_at(utc_seconds);
    return format_instant((utc_seconds + offset) * 1000).substr(0, kToSeconds) + offset_text(offset);
}

// `as_if_utc` is the local time, read as if it were UTC. Only the offsets of a day before and a day after are possible,
// because zones do not change twice in two days. If they differ, both are valid if the clocks go back over the time,
// and neither if they go forward; in both cases each gives an instant that may be meant. `advice`: how to specify one
// of the two.
Result<InstantMs> to_instant(InstantMs as_if_utc, std::string_view text, const std::string& zone,
                             const std::string& advice) {
    const ZoneInUse in_use(zone);
    const std::int64_t seconds = as_if_utc / 1000;
    const std::int64_t before = offset_at(seconds - kDaySeconds);
    const std::int64_t after = offset_at(seconds + kDaySeconds);
    const bool before_holds = offset_at(seconds - before) == before;
    const bool after_holds = offset_at(seconds - after) == after;
    if (before_holds != after_holds) return instant_from_ms(as_if_utc - (before_holds ? before : after) * 1000);
    if (before == after) return instant_from_ms(as_if_utc - before * 1000);
    const std::string wrong = before_holds ? " occurs twice " : " does not exist ";
    const std::string why = before_holds ? ", when the clocks go back" : ", when the clocks go forward";
    return Error{"bad_instant"_code,
                 std::string(text) + wrong + (zone.empty() ? "in this machine's time zone" : "in " + zone) + why +
                     ". Write " + rfc3339(seconds - std::max(before, after)) + " or " +
                     rfc3339(seconds - std::min(before, after)) + advice,
                 "--due"};
}

// The position of "Z" or "+01:00"; npos: there is none.
std::size_t offset_of(std::string_view text) {
    constexpr std::size_t kDate = 10;  // "2027-01-01"
    return text.find_first_of("Zz+-", std::min(kDate + 1, text.size()));
}

bool has_offset(std::string_view text) {
    return offset_of(text) != std::string_view::npos;
}

Status check_zone(const std::string& zone) {
    if (is_zone(zone)) return {};
    const Result<Zone> loaded = Zone::load(zone);
    const std::string why =
        loaded ? "The time zone data of this machine does not contain " + zone + "." : loaded.error().message;
    return Error{"bad_zone"_code, why, "--zone"};
}

Result<InstantMs> parsed(const std::string& text) {
    Result<InstantMs> instant = parse_instant(text);
    if (instant) return instant;
    return Error{instant.error().code, instant.error().message + " Seconds and offset are optional here.", "--due"};
}

// `text` has no offset. `zone` and `advice`: as for to_instant().
Result<InstantMs> of_local_time(std::string_view text, const std::string& zone, const std::string& advice) {
    // A bare number is refused because it has no unit, not because the text is incomplete.
    if (text.find_first_not_of("0123456789") == std::string_view::npos) return parsed(std::string(text));
    const Result<InstantMs> as_if_utc = parsed(with_seconds(text) + "Z");
    if (!as_if_utc) return as_if_utc;
    return to_instant(*as_if_utc, text, zone, advice);
}

}  // namespace

std::string with_seconds(std::string_view text) {
    constexpr std::size_t kMinutes = 16;  // "2027-01-01T06:00"
    const std::size_t end = offset_of(text);
    if (std::min(end, text.size()) != kMinutes) return std::string(text);
    return std::string(text.substr(0, kMinutes)) + ":00" + std::string(text.substr(kMinutes));
}

Result<InstantMs> parse_local_instant(std::string_view text, const std::optional<std::string>& zone) {
    if (zone) {
        if (Status known = check_zone(*zone); !known) return std::move(known).error();
    }
    if (has_offset(text)) {
        if (zone) {
            return Error{"conflicting_members"_code, "The time has an offset already: remove --zone.", "--zone"};
        }
        return parsed(with_seconds(text));
    }
    return of_local_time(text, zone.value_or(""), zone ? ", without --zone." : ".");
}

Result<InstantMs> parse_instant_of_rule(std::string_view text, const std::string& zone) {
    if (has_offset(text)) return parsed(with_seconds(text));
    if (zone == "UTC") return parsed(with_seconds(text) + "Z");  // also on a machine without zone data
    if (Status known = check_zone(zone); !known) return std::move(known).error();
    return of_local_time(text, zone, ".");
}

std::string format_local(InstantMs instant) {
    const std::time_t time = instant / 1000;
    std::tm fields{};
    ::localtime_r(&time, &fields);
    char text[64];
    const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S ", &fields);
    return std::string(text, size) + offset_text(fields.tm_gmtoff);
}

std::string format_span(std::int64_t milliseconds) {
    static constexpr std::pair<std::int64_t, std::string_view> kUnits[] = {
        {86'400'000, "d"}, {3'600'000, "h"}, {60'000, "m"}, {1'000, "s"}, {1, "ms"}};
    std::string text;
    std::int64_t left = milliseconds;
    int shown = 0;
    for (const auto& [length, unit] : kUnits) {
        // Milliseconds are shown only if there is no larger unit.
        if (length == 1 && shown > 0) break;
        if (left / length > 0) {
            if (shown > 0) text += ' ';
            text += std::to_string(left / length) + std::string(unit);
        }
        if (shown > 0 || left / length > 0) ++shown;
        left %= length;
        if (shown == 2) break;
    }
    return text.empty() ? "0ms" : text;
}

std::string format_relative(InstantMs instant, InstantMs now) {
    constexpr std::int64_t kRoundedFrom = 1'000;
    std::int64_t apart = std::abs(instant - now);
    if (apart == 0) return "now";
    // A message that was put "in 10m" a moment ago is due in 10m, and not in 9m 59s; one "in 5s" in 5s, and not in 4s.
    if (apart >= kRoundedFrom) apart = (apart + 500) / 1000 * 1000;
    return instant > now ? "in " + format_span(apart) : format_span(apart) + " ago";
}

std::string format_when(InstantMs instant) {
    return format_local(instant) + ", " + format_relative(instant, wall_now_ms());
}

}  // namespace duewheel
