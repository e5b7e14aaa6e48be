#include "message/schedule_times.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <utility>

#include "base/enum_name.h"
#include "base/error_codes.h"
#include "message/repeat_rule.h"

namespace duewheel {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::milliseconds;
using std::chrono::seconds;
using LocalMs = std::chrono::local_time<milliseconds>;

// The number of excluded days after which a rule counts as one that never fires: a hundred years.
constexpr int kClosedDaysMost = 36'600;

Instant instant(DueMs at_ms) {
    return Instant(milliseconds(at_ms));
}

DueMs ms_of(Instant at) {
    return at.time_since_epoch().count();
}

Error about(Error error, std::string field) {
    error.field = std::move(field);
    return error;
}

Error no_rest() {
    return {"out_of_range"_code,
            "`every` is the interval between two runs: from 1 ms to " +
                std::to_string(kRepeatEveryMaxMs / (24LL * 3600 * 1000)) + " days",
            "every"};
}

Error bad_at() {
    return {"bad_instant"_code,
            "`at` must be an instant such as 2027-01-01T06:00:00Z, or a local time in the zone such as "
            "2027-01-01T06:00:00, from the year 1970 to 2399",
            "at"};
}

}  // namespace

std::string_view clock_note_name(ClockNote note) {
    return enum_name<ClockNote::second_pass>(note, {"none", "shifted", "first_pass", "second_pass"});
}

Result<ScheduleTimes> ScheduleTimes::make(const TimesRule& rule, const FindZone& find_zone) {
    const Result<Zone> zone = rule.zone.empty() ? Zone::utc() : find_zone(rule.zone);
    if (!zone) return about(zone.error(), "zone");
    const Result<ExclusionCalendar> closed = ExclusionCalendar::parse(rule.closed);
    if (!closed) return about(closed.error(), "closed");
    switch (rule.kind) {
        case TimesKind::cron: {
            const Result<CronRule> cron = CronRule::parse(rule.text);
            if (!cron) return about(cron.error(), "cron");
            const DaylightPolicy policy{rule.skips_gaps ? SkippedTime::skip : SkippedTime::shift,
                                        rule.repeats_folds ? RepeatedTime::both : RepeatedTime::first};
            return ScheduleTimes(rule, *zone, {}, CronSchedule(*cron, *zone, policy, *closed));
        }
        case TimesKind::every:
            if (rule.every_ms < 1 || rule.every_ms > kRepeatEveryMaxMs) return no_rest();
            return ScheduleTimes(rule, *zone, *closed, Every{rule.every_ms});
        case TimesKind::iso: {
            const Result<RepeatingInterval> interval = RepeatingInterval::parse(rule.text, *zone);
            if (!interval) return about(interval.error(), "iso");
            return ScheduleTimes(rule, *zone, *closed, *interval);
        }
        case TimesKind::at: {
            const Result<RepeatingInterval> once = RepeatingInterval::parse("R1/" + rule.text + "/P1D", *zone);
            if (!once || rule.text.find('/') != std::string::npos) return bad_at();
            return ScheduleTimes(rule, *zone, *closed, *once);
        }
    }
    return Error{"damaged_record"_code, "a schedule's times are of no kind"};
}

std::optional<DueMs> ScheduleTimes::next_of_rule(DueMs after_ms, DueMs from_ms) const {
    if (const auto* every = std::get_if<Every>(&what_)) {
        const DueMs first = start_ms_ != 0 ? start_ms_ : from_ms + every->every_ms;
        if (after_ms < first) return first;
        return first + ((after_ms - first) / every->every_ms + 1) * every->every_ms;
    }
    const auto* cron = std::get_if<CronSchedule>(&what_);
    const std::optional<Instant> found =
        cron != nullptr ? cron->next(instant(after_ms)) : std::get<RepeatingInterval>(what_).next(instant(after_ms));
    if (!found) return std::nullopt;
    return ms_of(*found);
}

// The local day of a time by its rule: if clocks skip it, that may be the day before the instant's.
std::chrono::local_days ScheduleTimes::nominal_day(DueMs at_ms) const {
    const auto* interval = std::get_if<RepeatingInterval>(&what_);
    return floor<days>(interval != nullptr ? interval->local_time(instant(at_ms)) : zone_.local(instant(at_ms)));
}

// The last millisecond of its nominal day, which clock changes may have made longer or shorter; the time itself if that
// day has ended.
DueMs ScheduleTimes::end_of_day(DueMs at_ms) const {
    return std::max(ms_of(zone_.instant_of(nominal_day(at_ms) + days(1))) - 1, at_ms);
}

std::optional<DueMs> ScheduleTimes::next(DueMs after_ms, DueMs from_ms) const {
    DueMs after = start_ms_ != 0 ? std::max(after_ms, start_ms_ - 1) : after_ms;
    for (int closed_days = 0; closed_days < kClosedDaysMost; ++closed_days) {
        const std::optional<DueMs> found = next_of_rule(after, from_ms);
        if (!found || (end_ms_ != 0 && *found > end_ms_) || *found >= ms_of(kCalendarEnd)) return std::nullopt;
        if (closed_.empty() || !closed_.excludes(std::chrono::year_month_day(nominal_day(*found)))) return found;
        after = end_of_day(*found);
    }
    return std::nullopt;
}

std::int32_t ScheduleTimes::offset_s(DueMs at_ms) const {
    return static_cast<std::int32_t>(zone_.offset_at(instant(at_ms)).count());
}

std::optional<DueMs> ScheduleTimes::next_after_change(DueMs decided_ms, std::int32_t offset_s, DueMs from_ms) const {
    std::optional<DueMs> found = next(std::max(decided_ms, from_ms), from_ms);
    const std::int32_t moved_s = this->offset_s(decided_ms) - offset_s;
    const auto* cron = std::get_if<CronSchedule>(&what_);
    const auto* interval = std::get_if<RepeatingInterval>(&what_);
    const bool says_times_of_day =
        (cron != nullptr && cron->notices(seconds(moved_s))) || (interval != nullptr && interval->goes_by_clocks());
    if (moved_s == 0 || !says_times_of_day) return found;
    const LocalMs decided(milliseconds(decided_ms + std::int64_t{offset_s} * 1000));
    while (found && *found - decided_ms < 2 * 24 * 3600 * 1000 && zone_.local(instant(*found)) <= decided) {
        found = next(*found, from_ms);
    }
    return found;
}

bool ScheduleTimes::depends_on_zone() const {
    const auto* interval = std::get_if<RepeatingInterval>(&what_);
    return std::holds_alternative<CronSchedule>(what_) || !closed_.empty() ||
           (interval != nullptr && interval->goes_by_clocks());
}

ClockNote ScheduleTimes::note(DueMs at_ms) const {
    const Instant at = instant(at_ms);
    const LocalMs local = zone_.local(at);
    const auto* cron = std::get_if<CronSchedule>(&what_);
    if (cron != nullptr && !cron->rule().matches(floor<seconds>(local))) return ClockNote::shifted;
    const auto* interval = std::get_if<RepeatingInterval>(&what_);
    if (interval != nullptr && interval->is_shifted(at)) return ClockNote::shifted;
    if (zone_.instant_of(local) != at) return ClockNote::second_pass;
    // The same local time again, a jump later: no jump back is longer than a day.
    for (const Instant later : {at + std::chrono::hours(1), at + std::chrono::hours(3), at + std::chrono::hours(25)}) {
        const auto back = zone_.offset_at(at) - zone_.offset_at(later);
        if (back > seconds(0) && zone_.local(at + back) == local) return ClockNote::first_pass;
    }
    return ClockNote::none;
}

std::string ScheduleTimes::local_text(DueMs at_ms) const {
    const LocalMs local = zone_.local(instant(at_ms));
    const auto day = floor<days>(local);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(local - day);
    const std::int32_t offset = offset_s(at_ms);
    const std::int32_t minutes = (offset < 0 ? -offset : offset) / 60;
    std::array<char, 64> text{};
    const int size = std::snprintf(
        text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03d%c%02d:%02d", static_cast<int>(date.year()),
        static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
        static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()),
        static_cast<int>(time.subseconds().count()), offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
    return {text.data(), static_cast<std::size_t>(size)};
}

ScheduleTimes ScheduleTimes::without_start() const {
    ScheduleTimes all = *this;
    all.start_ms_ = 0;
    return all;
}

ScheduleTimes ScheduleTimes::without_end() const {
    ScheduleTimes all = *this;
    all.end_ms_ = 0;
    return all;
}

ScheduleTimes ScheduleTimes::without_closed_days() const {
    ScheduleTimes all = *this;
    all.closed_ = {};
    if (const auto* cron = std::get_if<CronSchedule>(&what_)) {
        all.what_ = CronSchedule(cron->rule(), zone_, cron->policy());
    }
    return all;
}

std::optional<ScheduleTimes> ScheduleTimes::without_policies() const {
    ScheduleTimes all = without_closed_days();
    if (const auto* cron = std::get_if<CronSchedule>(&what_)) {
        const DaylightPolicy most{SkippedTime::shift, RepeatedTime::both};
        const bool is_most = cron->policy().skipped == most.skipped && cron->policy().repeated == most.repeated &&
                             cron->closed().empty();
        if (is_most) return std::nullopt;
        all.what_ = CronSchedule(cron->rule(), zone_, most);
        return all;
    }
    if (closed_.empty()) return std::nullopt;
    return all;
}

std::string_view ScheduleTimes::why_excluded(DueMs at_ms) const {
    const auto* cron = std::get_if<CronSchedule>(&what_);
    if (cron == nullptr) return "closed_day";
    const ExclusionCalendar& closed = cron->closed();
    const LocalMs local = zone_.local(instant(at_ms));
    if (closed.excludes(std::chrono::year_month_day(floor<days>(local)))) return "closed_day";
    if (cron->rule().matches(floor<seconds>(local))) return "repeated_time";
    // Its own local time is skipped. The day of the gap counts, which may end on the next one.
    const LocalMs gap = zone_.local(instant(at_ms - 1)) + milliseconds(1);
    const bool is_skipped = cron->policy().skipped == SkippedTime::skip;
    const bool is_closed_day = closed.excludes(std::chrono::year_month_day(floor<days>(gap)));
    return is_closed_day && !is_skipped ? "closed_day" : "skipped_time";
}

}  // namespace duewheel
