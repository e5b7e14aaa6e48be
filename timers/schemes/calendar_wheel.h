// A calendar wheel: rings of seconds, minutes, hours, days, weeks, months and years, turning as a calendar does. A tick
// is a second since 1970-01-01T00:00:00Z (schemes/calendar_units.h).
//
// Source: the clock by which timing wheels are explained, hands for seconds, minutes and hours, carried on to the
// calendar; it is a hierarchical wheel whose higher rings have slots of unequal length.
//
// A timer lies on the first ring that reaches so far, in the slot of its own second, minute, hour and so on; at the
// latest a whole turn ahead, that is in the slot where the hand stands now. When a hand comes to a slot, what lies
// there is taken down to the first ring that now reaches so far; a ring of seconds fires it.
//
//     ring      slots   reaches
//     seconds   60      60 seconds
//     minutes   60      60 minutes
//     hours     24      24 hours
//     days      7       7 days
//     weeks     6       to the end of this month: weeks and months do not nest, so no week is waited for across it
//     months    12      12 months
//     years     100     any time; what is later than a turn stays for as many turns as it takes
//
// Two examples. On 10 January "the 1st at 06:00" lies on the ring of months, in the slot of February. When the hand
// comes there, on 1 February at midnight, six hours remain, so it is taken down to the ring of hours, slot 6; the other
// rings never see it. "Daily at 18:00", armed again by its owner when it fires, is always 24 hours ahead: it stays on
// the ring of hours, on slot 18.
//
// What the wheel does not know: rules. It takes instants; who wants the 1st of each month works out the next one and
// arms it, and who means a place on Earth first says what 06:00 is there.
//
// Costs: schedule and cancel O(1), with a calculated date; a tick O(1) on the average; next_expiry O(slots), and a
// walk over the earliest ones. Right where deadlines are civil times, many at the same hour of the day, and people want
// to see where their task is. Drawback: resolution below a second, and equal shares: midnight on the first of
// January takes down a whole year's slot at once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "schemes/calendar_units.h"
#include "schemes/scheme.h"

namespace duewheel {

class CalendarWheel : public Scheme<CalendarWheel> {
  public:
    explicit CalendarWheel(Tick now = 0) : Scheme(now), hands_(calendar_counts(this->now())) {
        for (std::size_t ring = 0; ring < kCalendarUnitCount; ++ring)
            rings_[ring] = std::vector<TimerList>(kSlots[ring]);
    }

    // One a CalendarUnit, in that order.
    std::vector<Row> rows() const {
        static constexpr std::array kNames = {"seconds", "minutes", "hours", "days", "weeks", "months", "years"};
        std::vector<Row> rows;
        for (std::size_t ring = 0; ring < kCalendarUnitCount; ++ring) {
            rows.push_back(Row{kNames[ring], kSlots[ring], hands_[ring] % kSlots[ring]});
        }
        return rows;
    }

  private:
    friend Scheme<CalendarWheel>;
    friend struct SchemeProbe;

    static constexpr std::array<std::size_t, kCalendarUnitCount> kSlots = {60, 60, 24, 7, 6, 12, 100};
    static constexpr auto kWeek = static_cast<std::size_t>(CalendarUnit::week);
    static constexpr auto kMonth = static_cast<std::size_t>(CalendarUnit::month);
    static constexpr auto kYear = static_cast<std::size_t>(CalendarUnit::year);

    Tick hand() const { return hands_[0]; }

    TimerList& slot_at(std::size_t ring, Tick count) { return rings_[ring][count % kSlots[ring]]; }
    const TimerList& slot_at(std::size_t ring, Tick count) const { return rings_[ring][count % kSlots[ring]]; }

    bool reaches(std::size_t ring, const CalendarCounts& deadline) const {
        if (ring == kWeek) return deadline[kMonth] == hands_[kMonth];
        return ring == kYear || deadline[ring] - hands_[ring] <= kSlots[ring];
    }

    void file(Timer& timer) {
        const CalendarCounts deadline = calendar_counts(timer.deadline);
        std::size_t ring = 0;
        while (!reaches(ring, deadline)) ++ring;
        timer.note = ring;
        slot_at(ring, deadline[ring]).push_back(timer);
    }

    bool collect(Tick limit) {
        while (hand() < limit) {
            const Tick turn_end = hand() + std::min<Tick>(kSlots[0], limit - hand());
            while (hand() < turn_end) {
                turn_to(hand() + 1);
                TimerList& second = slot_at(0, hand());
                while (!second.empty()) make_due(second.front());
                if (has_due()) return true;
            }
            // A whole minute had nothing due: on to just before what is next.
            if (hand() < limit) turn_to(std::min(limit, earliest() - 1));
        }
        return false;
    }

    // Moves all hands to where they stand at `tick`, before which nothing is due, and takes down what they find: from
    // the ring of years on, so that a timer may fall through several. Slots that a long move skips are empty, for
    // what lies in them would have been due.
    void turn_to(Tick tick) {
        if (tick / 60 == hand() / 60) {
            hands_[0] = tick;  // no other hand moves within a minute
            return;
        }
        const CalendarCounts before = std::exchange(hands_, calendar_counts(tick));
        for (std::size_t ring = kYear; ring > 0; --ring) {
            if (hands_[ring] != before[ring]) take_down(slot_at(ring, hands_[ring]), hand());
        }
    }

    Tick earliest() const {
        Tick earliest = kNever;
        for (std::size_t ring = 0; ring < kCalendarUnitCount; ++ring) earliest = std::min(earliest, earliest_on(ring));
        return earliest;
    }

    // Ahead of the hand the first slot with a timer holds the ring's earliest one, but for the ring of years, where the
    // timers of later turns are among them.
    Tick earliest_on(std::size_t ring) const {
        Tick earliest = kNever;
        for (std::size_t ahead = 1; ahead <= kSlots[ring]; ++ahead) {
            earliest = std::min(earliest, earliest_in(slot_at(ring, hands_[ring] + ahead)));
            if (earliest < kNever && ring != kYear) break;
        }
        return earliest;
    }

    std::size_t check_filed() const {
        std::size_t filed = 0;
        for (std::size_t ring = 0; ring < kCalendarUnitCount; ++ring) {
            for (const TimerList& slot : rings_[ring]) {
                filed += check_list(slot, [&](const Timer& timer) {
                    const CalendarCounts deadline = calendar_counts(timer.deadline);
                    require(timer.note == ring, "a timer knows its ring");
                    require(&slot_at(ring, deadline[ring]) == &slot, "a timer lies in the slot of its own unit");
                    require(timer.deadline < kNever && deadline[ring] > hands_[ring],
                            "the hand has not passed a timer's slot");
                    require(ring == kYear || deadline[ring] - hands_[ring] <= kSlots[ring],
                            "only on the ring of years a timer waits for longer than a turn");
                });
            }
        }
        return filed;
    }

    Place locate(const Timer& timer) const {
        const auto ring = static_cast<std::size_t>(timer.note);
        const Tick count = calendar_counts(timer.deadline)[ring];
        return Place{ring, count % kSlots[ring], (count - hands_[ring] - 1) / kSlots[ring]};
    }

    CalendarCounts hands_;  // the first is the tick worked up to
    std::array<std::vector<TimerList>, kCalendarUnitCount> rings_;
};

}  // namespace duewheel
