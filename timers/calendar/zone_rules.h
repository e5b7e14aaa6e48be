// A zone as the calendar uses it: spans of time, each with one offset from UTC.
//
//     Europe/Oslo 2026      begin (UTC)              offset
//     span 93               2025-10-26T01:00:00Z     3600
//     span 94               2026-03-29T01:00:00Z     7200     local clocks go 02:00 -> 03:00: a gap
//     span 95               2026-10-25T01:00:00Z     3600     local clocks go 03:00 -> 02:00: an hour twice
//
// Inside a span, local time and UTC differ by a constant, so the calculations for a schedule become comparisons of
// integers. Changes of a name or a flag alone do not start a span. Seconds since 1970, of UTC or of local time.
#pragma once

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <duewheel/instant.h>

namespace duewheel {

// The calendar, from its first second up to its end.
inline constexpr std::int64_t kBeginSecond = kCalendarBegin.time_since_epoch() / std::chrono::seconds(1);
inline constexpr std::int64_t kEndSecond = kCalendarEnd.time_since_epoch() / std::chrono::seconds(1);

inline constexpr std::int64_t kDaySeconds = 86'400;
// The maximum difference between an instant and its local time, with reserve.
inline constexpr std::int64_t kOffsetSecondsMost = 2 * kDaySeconds;

struct ZoneRules {
    struct Span {
        std::int64_t begin;  // of the first one: the smallest number
        std::int64_t offset;
    };

    std::string name;
    std::vector<Span> spans;  // in order; at least one

    std::size_t span_at(std::int64_t second) const {
        const auto after = std::upper_bound(spans.begin(), spans.end(), second,
                                            [](std::int64_t wanted, const Span& span) { return wanted < span.begin; });
        assert(after != spans.begin());
        return static_cast<std::size_t>(after - spans.begin()) - 1;
    }

    std::int64_t offset_at(std::int64_t second) const { return spans[span_at(second)].offset; }

    bool is_last(std::size_t span) const { return span + 1 == spans.size(); }

    // The local time at which a span begins, and the one before which it ends; both far away if it has no end.
    std::int64_t local_begin(std::size_t span) const {
        return span == 0 ? std::numeric_limits<std::int64_t>::min() : spans[span].begin + spans[span].offset;
    }
    std::int64_t local_end(std::size_t span) const {
        return is_last(span) ? std::numeric_limits<std::int64_t>::max() : spans[span + 1].begin + spans[span].offset;
    }

    // How far local clocks jump when a span, not the first, begins: forward is positive.
    std::int64_t jump(std::size_t span) const { return spans[span].offset - spans[span - 1].offset; }

    // The first second whose local time is not before `local`: the time itself, or the end of the gap that contains it.
    std::int64_t second_of(std::int64_t local) const {
        std::size_t span = span_at(local - kOffsetSecondsMost);
        while (local >= local_end(span)) ++span;
        return local < local_begin(span) ? spans[span].begin : local - spans[span].offset;
    }
};

}  // namespace duewheel
