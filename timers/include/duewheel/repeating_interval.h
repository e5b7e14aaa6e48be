// An ISO 8601 repeating interval: a start and a period, a number of times or without end.
//
//     R5/2026-01-01T00:00:00Z/PT1H      five times, an hour apart: 00:00, 01:00, 02:00, 03:00, 04:00
//     R/2026-01-31T09:00:00/P1M         09:00 local time at the end of January, February, March ... without end
//     R/2026-01-01T00:00:00Z/2026-01-01T00:00:20Z
//                                       every 20 seconds; with the end of the first period instead of a period
//
// The number counts all occurrences, including the start. A start without an offset is local time in the zone.
//
// Years, months, weeks and days follow the local calendar, always from the start and never from one occurrence to the
// next: a month after the 31st of January is the last of February, two months after it is the 31st of March. Hours,
// minutes and seconds are elapsed time: PT24H moves relative to local clocks when they change, P1D does not. In a
// period with both, the calendar part comes first. A local time that a clock change skips becomes the first instant
// after the gap; of a repeated one it is the first. A start that is skipped in this way keeps its time of day later.
//
// Choose it for periods that no calendar field divides, and for a number of occurrences. Drawback: it has no excluded
// days; those are part of a rule (cron_rule.h).
//
// Example:
//     const Result<RepeatingInterval> closing = RepeatingInterval::parse("R/2026-01-31T09:00:00/P1M", Zone::utc());
//     if (!closing) return closing.error();
//     const Instant february = sys_days{2026y / February / 1};
//     assert(closing->next(february) == february + days(27) + 9h);
//
// Refused: a form that ends at a given instant (R5/PT1H/...), signs, fractions other than of seconds, and empty
// periods.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <duewheel/instant.h>
#include <duewheel/status.h>
#include <duewheel/zone.h>

namespace duewheel {

// A calendar duration, followed by an elapsed duration. No part is negative.
struct Period {
    std::chrono::months months{0};
    std::chrono::days days{0};
    std::chrono::milliseconds time{0};

    friend bool operator==(const Period&, const Period&) = default;
};

// "P1Y2M10DT2H30M", "P2W", "PT1.5S". Code bad_duration, with the column. O(length of the text).
Result<Period> parse_period(std::string_view text);

// An immutable value; all functions are pure, O(log of the occurrences) and thread safe.
class RepeatingInterval {
  public:
    // Code bad_interval, with the column. The zone is that of local times, and of the calendar.
    static Result<RepeatingInterval> parse(std::string_view text, Zone zone);

    // Total number of occurrences; none: unlimited. Throws std::invalid_argument for a count of 0, for a period that is
    // empty or has a part that is negative or longer than 430 years, and for a start that is not in the
    // calendar.
    RepeatingInterval(Instant start, Period period, std::optional<std::uint64_t> count, Zone zone);

    // The first occurrence later than `after`; the last one earlier than `before`. None if it has ended, not started,
    // or reached the end of the calendar.
    std::optional<Instant> next(Instant after) const;
    std::optional<Instant> previous(Instant before) const;
    std::vector<Instant> upcoming(Instant after, std::size_t count) const;

    // Occurrence number n, where the start is number 0; none if there are fewer.
    std::optional<Instant> occurrence(std::uint64_t n) const;

    // Whether a clock change skips the local time of this occurrence, so that it is at the end of the gap. O(log of the
    // occurrences).
    bool is_shifted(Instant occurrence) const;
    // The local time that this occurrence should have, even if a clock change skips it. O(log of the occurrences).
    std::chrono::local_time<std::chrono::milliseconds> local_time(Instant occurrence) const;
    // Whether another zone would move its occurrences: it uses the calendar, or starts at a local time. Elapsed
    // intervals that start at an instant do not move.
    bool goes_by_clocks() const { return starts_by_clocks_ || walks_calendar(); }

    Instant start() const { return start_; }
    const Period& period() const { return period_; }
    std::optional<std::uint64_t> count() const { return count_; }

  private:
    using LocalTime = std::chrono::local_time<std::chrono::milliseconds>;

    RepeatingInterval(Instant start, LocalTime local_start, bool starts_by_clocks, Period period,
                      std::optional<std::uint64_t> count, Zone zone);
    bool walks_calendar() const { return period_.months.count() != 0 || period_.days.count() != 0; }
    LocalTime walked(std::uint64_t n) const;
    std::optional<LocalTime> skipped_time(Instant occurrence) const;
    Instant at(std::uint64_t n) const;
    std::uint64_t first_after(Instant instant) const;

    Instant start_;
    LocalTime local_start_;  // the local time then, or the one that is skipped
    bool starts_by_clocks_;  // it was given as a local time
    Period period_;
    std::optional<std::uint64_t> count_;
    Zone zone_;
    std::uint64_t end_;  // the number after the last occurrence inside the calendar
};

}  // namespace duewheel
