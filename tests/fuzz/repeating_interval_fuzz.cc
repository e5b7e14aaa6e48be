// Repeating intervals as text, and their times: the first line is the interval, the bytes after it are the zone and the
// instant. A refusal is one sentence with a column inside the text. Each occurrence of an accepted interval is computed
// again, date by date, and next, previous and upcoming must match the list.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "fuzz/input_script.h"
#include <duewheel/repeating_interval.h>

namespace duewheel::repeating_interval_fuzz {
namespace {

using std::chrono::days;
using std::chrono::local_days;
using std::chrono::milliseconds;

void judge_refusal(std::string_view text, const Error& error, ErrorCode code) {
    require(error.code == code, "it is refused with another code", library_name_of(error.code));
    const std::string_view message = error.message;
    require(message.starts_with("column ") && message.ends_with("."), "a refusal has another form", message);
    const std::size_t column = std::stoul(std::string(message.substr(7)));
    require(column >= 1 && column <= text.size() + 1, "a refusal points outside of the text", message);
}

const Zone& zone_of(unsigned choice) {
    static const Zone kZones[] = {Zone::utc(), *Zone::load("Europe/Oslo"), *Zone::load("Australia/Lord_Howe"),
                                  *Zone::load("Pacific/Apia")};
    return kZones[choice % 4];
}

// The occurrence number n, calculated with numbers of months and days alone; nothing after the calendar's end.
std::optional<Instant> reckon(const RepeatingInterval& interval, const Zone& zone, std::int64_t n) {
    __extension__ using Wide = __int128;
    const Period& period = interval.period();
    if (n == 0) return interval.start();
    if (Wide{period.months.count()} * n > 12 * 431 || Wide{period.days.count()} * n > 366 * 431 ||
        Wide{period.time.count()} * n > Wide{366 * 431} * 86'400'000) {
        return std::nullopt;
    }
    const auto local = zone.local(interval.start());
    const local_days midnight = std::chrono::floor<days>(local);
    const std::chrono::year_month_day date(midnight);
    // Months since the year 0, and the day brought down until the month has it.
    const std::int64_t months =
        int{date.year()} * 12 + static_cast<int>(unsigned{date.month()}) - 1 + period.months.count() * n;
    const std::chrono::year_month month =
        std::chrono::year(static_cast<int>(months / 12)) / std::chrono::month(static_cast<unsigned>(months % 12) + 1);
    unsigned day = unsigned{date.day()};
    while (!(month / std::chrono::day(day)).ok()) --day;
    const local_days walked = local_days(month / std::chrono::day(day)) + days(period.days.count() * n);
    // Without a part of the calendar nothing is walked, and a start in a repeated hour stays where it is.
    const bool is_walked = period.months.count() != 0 || period.days.count() != 0;
    const Instant instant =
        (is_walked ? zone.instant_of(walked + (local - midnight)) : interval.start()) + period.time * n;
    return instant < kCalendarEnd ? std::optional(instant) : std::nullopt;
}

void judge_occurrences(const RepeatingInterval& interval, const Zone& zone, InputScript& script) {
    for (int look = 0; look < 12; ++look) {
        std::uint64_t n = look < 4 ? static_cast<std::uint64_t>(look) : script.number() >> (20 + look * 3);
        if (interval.count()) n = look % 2 == 0 ? n % *interval.count() : n;
        std::optional<Instant> due;
        if (!interval.count() || n < *interval.count()) due = reckon(interval, zone, static_cast<std::int64_t>(n));
        require(interval.occurrence(n) == due, "an occurrence is another when it is reckoned date by date",
                std::to_string(n));
    }
}

void judge_searches(const RepeatingInterval& interval, Instant from) {
    const std::optional<Instant> next = interval.next(from);
    const std::optional<Instant> previous = interval.previous(from);
    if (next) {
        require(*next > from, "the next occurrence is not later");
        require(interval.next(*next - milliseconds(1)) == next, "the next occurrence is another from nearby");
        const std::optional<Instant> back = interval.previous(*next);
        require(!back || *back <= from, "an occurrence was passed over on the way forward");
    }
    if (previous) {
        require(*previous < from, "the previous occurrence is not earlier");
        require(interval.previous(*previous + milliseconds(1)) == previous,
                "the previous occurrence is another from nearby");
        const std::optional<Instant> over = interval.next(*previous);
        require(over == next || over == from, "next and previous see other occurrences");
    }
    require(previous.has_value() == (from > interval.start()), "there is one before, exactly if it has begun");
    const std::vector<Instant> upcoming = interval.upcoming(from, 5);
    require(next.has_value() == !upcoming.empty() && (!next || upcoming.front() == *next),
            "what comes up does not begin with the next");
    require(std::is_sorted(upcoming.begin(), upcoming.end()), "what comes up is not in order");
}

}  // namespace

void fuzz(std::string_view input) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const std::string_view text = input.substr(0, end);
    InputScript script(input.substr(std::min(end + 1, input.size())));
    const Zone& zone = zone_of(script.byte());
    const Result<RepeatingInterval> interval = RepeatingInterval::parse(text, zone);
    const std::string_view period_text = text.substr(text.rfind('/') + 1);
    const Result<Period> period = parse_period(period_text);
    if (!period) judge_refusal(period_text, period.error(), ErrorCode::bad_duration);
    if (!interval) return judge_refusal(text, interval.error(), ErrorCode::bad_interval);

    require(text.starts_with('R') && interval->start() >= kCalendarBegin && interval->start() < kCalendarEnd,
            "an interval begins outside of the calendar");
    if (period) require(interval->period() == *period, "the period is another than it is alone");
    judge_occurrences(*interval, zone, script);
    const auto span = static_cast<std::uint64_t>((kCalendarEnd - kCalendarBegin).count());
    for (int look = 0; look < 3; ++look) {
        judge_searches(*interval,
                       kCalendarBegin + milliseconds(static_cast<std::int64_t>((script.number() >> look * 12) % span)));
    }
    // At an occurrence and beside it, where an error by one would be.
    if (const std::optional<Instant> due = interval->occurrence(script.byte())) {
        for (const int beside : {-1, 0, 1}) judge_searches(*interval, *due + milliseconds(beside));
    }
}

}  // namespace duewheel::repeating_interval_fuzz
