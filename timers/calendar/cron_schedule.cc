// Walks a rule's local times over the spans of a zone (calendar/zone_rules.h).
//
// Inside a span, local time is time plus a constant: the next match of the rule is the next firing. What is left are
// the edges. Where local clocks jump forward from a span to the next, the local times between belong to no span (a
// gap); where they jump back, the first stretch of the new span has been seen in the old one (a second pass).
//
//     span A                              span B
//     ... 01:58 01:59 | 03:00 03:01 ...   forward: a match in 02:00-02:59 fires at B's begin, or not at all
//     ... 02:58 02:59 | 02:00 02:01 ...   back: a match in B's 02:00-02:59 fires with RepeatedTime::both alone
//
// Both walks keep the nearest match from span to span, and search the rule again only when the walk has passed it.
#include <algorithm>
#include <optional>

#include "calendar/zone_rules.h"
#include <duewheel/cron_schedule.h>

namespace duewheel {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Match = std::optional<std::int64_t>;

// One rule in one zone, in whole seconds.
class Walk {
  public:
    explicit Walk(const CronSchedule& schedule) : schedule_(schedule), zone_(schedule.zone().rules()) {}

    // The first firing at or after a second of the calendar.
    Match forward(std::int64_t second) const {
        std::size_t span = zone_.span_at(second);
        // A firing at the very begin of a span may come from the gap before it.
        if (span > 0 && zone_.spans[span].begin == second) --span;
        std::int64_t from = second + zone_.spans[span].offset;
        for (Match match = at_or_after(from);; ++span) {
            if (match && is_second_pass(span, *match)) {
                from = zone_.local_end(span - 1);
                match = at_or_after(from);
            }
            if (match && *match < zone_.local_end(span)) return *match - zone_.spans[span].offset;
            if (zone_.is_last(span)) return std::nullopt;
            const std::int64_t begin = zone_.local_begin(span + 1);
            if (match && *match < begin && fires_late(span + 1)) return zone_.spans[span + 1].begin;
            if (begin < from || (match && *match < begin)) match = at_or_after(begin);
            from = begin;
        }
    }

    // The last firing at or before a second of the calendar.
    Match backward(std::int64_t second) const {
        std::size_t span = zone_.span_at(second);
        std::int64_t upto = second + zone_.spans[span].offset;
        for (Match match = at_or_before(upto);; --span) {
            if (match && is_second_pass(span, *match)) {
                upto = std::max(zone_.local_begin(span), zone_.local_begin(span - 1)) - 1;
                match = at_or_before(upto);
            }
            if (match && *match >= zone_.local_begin(span)) return *match - zone_.spans[span].offset;
            if (span == 0) return std::nullopt;
            const std::int64_t last = zone_.local_end(span - 1) - 1;
            if (match && *match > last && fires_late(span)) return zone_.spans[span].begin;
            if (last > upto || (match && *match > last)) match = at_or_before(last);
            upto = last;
        }
    }

  private:
    Match at_or_after(std::int64_t local) const {
        const auto found = schedule_.rule().at_or_after(LocalSecond(seconds(local)), schedule_.closed());
        return found ? Match(found->time_since_epoch().count()) : std::nullopt;
    }

    Match at_or_before(std::int64_t local) const {
        const auto found = schedule_.rule().at_or_before(LocalSecond(seconds(local)), schedule_.closed());
        return found ? Match(found->time_since_epoch().count()) : std::nullopt;
    }

    bool notices(std::int64_t jump) const { return schedule_.notices(seconds(jump)); }

    // Whether what lies in the gap before a span fires when the span begins.
    bool fires_late(std::size_t span) const {
        return schedule_.policy().skipped == SkippedTime::shift && notices(zone_.jump(span));
    }

    // Whether a local time, which may lie in this span, has fired in the one before.
    bool is_second_pass(std::size_t span, std::int64_t local) const {
        return span > 0 && local >= zone_.local_begin(span) && local < zone_.local_end(span - 1) &&
               local >= zone_.local_begin(span - 1) && schedule_.policy().repeated == RepeatedTime::first &&
               notices(zone_.jump(span));
    }

    const CronSchedule& schedule_;
    const ZoneRules& zone_;
};

std::optional<Instant> instant_of(Match second) {
    if (!second || *second < kBeginSecond || *second >= kEndSecond) return std::nullopt;
    return Instant(seconds(*second));
}

}  // namespace

bool CronSchedule::notices(seconds jump) const {
    const bool by_the_hour =
        jump % std::chrono::hours(1) == seconds(0) && std::chrono::abs(jump) < std::chrono::days(1);
    return !(by_the_hour && rule_.every_hour());
}

std::optional<Instant> CronSchedule::next(Instant after) const {
    if (window_.start && after < *window_.start) after = *window_.start - milliseconds(1);
    const std::int64_t second = std::chrono::floor<seconds>(after.time_since_epoch()).count() + 1;
    if (second >= kEndSecond) return std::nullopt;
    const std::optional<Instant> found = instant_of(Walk(*this).forward(std::max(second, kBeginSecond)));
    return found && window_.end && *found > *window_.end ? std::nullopt : found;
}

std::optional<Instant> CronSchedule::previous(Instant before) const {
    if (window_.end && before > *window_.end) before = *window_.end + milliseconds(1);
    const std::int64_t second = std::chrono::ceil<seconds>(before.time_since_epoch()).count() - 1;
    if (second < kBeginSecond) return std::nullopt;
    const std::optional<Instant> found = instant_of(Walk(*this).backward(std::min(second, kEndSecond - 1)));
    return found && window_.start && *found < *window_.start ? std::nullopt : found;
}

std::vector<Instant> CronSchedule::upcoming(Instant after, std::size_t count) const {
    std::vector<Instant> instants;
    while (instants.size() < count) {
        const std::optional<Instant> instant = next(after);
        if (!instant) break;
        instants.push_back(*instant);
        after = *instant;
    }
    return instants;
}

}  // namespace duewheel
