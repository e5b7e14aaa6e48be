#include "local_time.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/system_clock.h"
#include "calendar/instant_text.h"

namespace duewheel {
namespace {

constexpr std::int64_t kDaySeconds = 86'400;

// The C library's zone for the length of a block; an empty name leaves it as it is.
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

// The C library takes a name that it does not know for UTC without a word.
bool is_zone(const std::string& name) {
    if (name.empty() || name.front() == '/' || name.find("..") != std::string::npos) return false;
    const char* chosen = std::getenv("TZDIR");
    const std::filesystem::path file = std::filesystem::path(chosen ? chosen : "/usr/share/zoneinfo") / name;
    std::error_code not_there;
    return std::filesystem::is_regular_file(file, not_there);
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

// `as_if_utc` is what the clock on the wall shows, read as if it were UTC. The offsets of a day before and a day after
// are the only ones that can hold: zones do not change twice in two days.
Result<InstantMs> to_instant(InstantMs as_if_utc, std::string_view text, const std::string& zone) {
    const ZoneInUse in_use(zone);
    const std::string place = zone.empty() ? "in this machine's time zone" : "in " + zone;
    const std::int64_t seconds = as_if_utc / 1000;
    std::vector<std::int64_t> holding;
    for (const std::int64_t near : {seconds - kDaySeconds, seconds + kDaySeconds}) {
        const std::int64_t offset = offset_at(near);
        if (offset_at(seconds - offset) == offset) holding.push_back(offset);
    }
    holding.erase(std::unique(holding.begin(), holding.end()), holding.end());
    const std::string shown(text);
    if (holding.empty()) {
        return Error{"bad_instant", shown + " does not exist " + place +
                                        ": the clocks go forward over it. Name a time before or after."};
    }
    if (holding.size() > 1) {
        return Error{"bad_instant", shown + " comes twice " + place + ", when the clocks go back: write " + shown +
                                        offset_text(holding[0]) + " or " + shown + offset_text(holding[1]) + "."};
    }
    return instant_from_ms(as_if_utc - holding[0] * 1000);
}

}  // namespace

Result<InstantMs> parse_local_instant(std::string_view text, const std::string& zone) {
    constexpr std::size_t kDate = 10;     // "2027-01-01"
    constexpr std::size_t kMinutes = 16;  // "2027-01-01T06:00"
    if (!zone.empty() && !is_zone(zone)) {
        return Error{"unknown_zone", "There is no time zone " + zone + ": write one such as Europe/Oslo or UTC.",
                     "--tz"};
    }
    const std::size_t end = text.find_first_of("Zz+-", std::min(kDate + 1, text.size()));
    const std::string_view wall = text.substr(0, end);
    const std::string seconds = wall.size() == kMinutes ? ":00" : "";
    if (end != std::string_view::npos) {
        if (!zone.empty()) {
            return Error{"conflicting_members", "The time has an offset already: leave --tz out.", "--tz"};
        }
        return parse_instant(std::string(wall) + seconds + std::string(text.substr(end)));
    }
    const Result<InstantMs> as_if_utc = parse_instant(std::string(wall) + seconds + "Z");
    if (!as_if_utc) return as_if_utc;
    return to_instant(*as_if_utc, text, zone);
}

std::string format_local(InstantMs instant) {
    const std::time_t time = instant / 1000;
    std::tm fields{};
    ::localtime_r(&time, &fields);
    char text[64];
    const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %Z", &fields);
    return {text, size};
}

std::string format_relative(InstantMs instant, InstantMs now) {
    constexpr std::int64_t kRoundedFrom = 10'000;
    std::int64_t apart = std::abs(instant - now);
    if (apart == 0) return "now";
    // A message that was put "in 10m" a moment ago is due in 10m, and not in 9m 59s.
    if (apart >= kRoundedFrom) apart = (apart + 500) / 1000 * 1000;
    static constexpr std::pair<std::int64_t, std::string_view> kUnits[] = {
        {86'400'000, "d"}, {3'600'000, "h"}, {60'000, "m"}, {1'000, "s"}, {1, "ms"}};
    std::string text;
    std::int64_t left = apart;
    int shown = 0;
    for (const auto& [length, unit] : kUnits) {
        // Milliseconds matter only where there is nothing larger.
        if (length == 1 && shown > 0) break;
        if (left / length > 0) {
            if (shown > 0) text += ' ';
            text += std::to_string(left / length) + std::string(unit);
        }
        if (shown > 0 || left / length > 0) ++shown;
        left %= length;
        if (shown == 2) break;
    }
    return instant > now ? "in " + text : text + " ago";
}

std::string format_when(InstantMs instant) {
    return format_local(instant) + " (" + format_relative(instant, wall_now_ms()) + ")";
}

}  // namespace duewheel
