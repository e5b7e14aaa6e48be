// A timing wheel for timers that are already numbered 0, 1, 2, ...: connections by slot, sessions by row. There is one
// timer for each id, and the id is returned when it fires.
//
// Why choose it. It is the fastest wheel with many timers: there is no table between id and timer, so a cancel or a
// move is at most one cache miss, which no code waits for. Drawbacks compared with TimingWheel (read its header first;
// the terms and everything not mentioned here are the same): ids are not checked for being stale, so before an id is
// given to something new, its timer must be cancelled; and each id takes memory whether it is scheduled or not, 16
// bytes, and 4 for each of at most 3.5 entries.
//
// Example:
//     IdTimingWheel idle(1000);         // a timer for each of 1,000 connections
//     idle.schedule(17, 30'000);        // connection 17 is idle for too long at 30,000
//     idle.schedule(17, 31'000);        // it has sent something
//     idle.cancel(18);                  // was not scheduled, so nothing happens
//     idle.advance_to(31'000, [](IdTimingWheel::Id connection, Tick) { assert(connection == 17); });
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include <duewheel/parking_levels.h>
#include <duewheel/tick.h>

namespace duewheel {

// Single-owner; neither copyable nor movable. Commands are executed up to 16 calls later, and before any query: so all
// calls except clear() and those that touch no timer can throw std::bad_alloc. Earlier commands are not lost then, and
// are executed when there is memory.
//
// Each scheduled timer sometimes causes up to 248 unused entries to be cleared by the call that executes it: so
// schedule() and cancel() clear at most 248, and any other call up to 16 times that before it starts. advance_to() does
// so in addition to its budget.
class IdTimingWheel {
  public:
    using Id = std::uint32_t;
    static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t kIdsMax = kTimerIndexMax;

    // For ids below `ids`. Throws std::bad_alloc, or std::length_error beyond kIdsMax.
    explicit IdTimingWheel(std::size_t ids, Tick now = 0) : levels_(now) { grow(ids); }
    IdTimingWheel(const IdTimingWheel&) = delete;
    IdTimingWheel& operator=(const IdTimingWheel&) = delete;

    // Makes ids below `ids` valid; existing ones are unchanged. Throws like the constructor.
    void grow(std::size_t ids);
    [[nodiscard]] std::size_t ids() const { return levels_.node_count() - 1; }

    // Schedules the timer of `id`, or moves it if it is pending; kNever cancels it. O(1). Throws std::bad_alloc; then
    // this call did nothing.
    void schedule(Id id, Tick deadline) { order(timer_of(id), deadline); }

    // Cancels the timer if it is pending; is_pending() tells beforehand whether it is. O(1).
    void cancel(Id id) { order(timer_of(id), kNever); }

    [[nodiscard]] bool is_pending(Id id) { return deadline_of(id).has_value(); }
    // None if the timer is not pending.
    [[nodiscard]] std::optional<Tick> deadline_of(Id id);

    // Calls sink(id, deadline) for each timer due by `now`; otherwise like TimingWheel::advance_to(). The sink may
    // schedule and cancel any id, including its own.
    template <std::invocable<Id, Tick> Sink>
    std::size_t advance_to(Tick now, Sink&& sink, std::size_t budget = kUnlimited);

    // A pending or fired timer as a value.
    struct Timer {
        Id id;
        Tick deadline;

        friend bool operator==(const Timer&, const Timer&) = default;
    };

    // The same into a list, until it is full. Returns the number written.
    std::size_t advance_to(Tick now, std::span<Timer> fired);

    [[nodiscard]] bool caught_up() const { return levels_.caught_up(); }
    [[nodiscard]] Tick next_expiry();
    [[nodiscard]] Tick next_work();
    [[nodiscard]] Tick now() const { return levels_.now(); }
    [[nodiscard]] std::size_t size();
    [[nodiscard]] bool empty() { return size() == 0; }

    // All pending timers in order of deadlines. O(n log n).
    [[nodiscard]] std::vector<Timer> pending();

    // Cancels all. Time and memory stay.
    void clear();

    [[nodiscard]] std::size_t memory_bytes() const { return sizeof(*this) - sizeof(levels_) + levels_.memory_bytes(); }
    [[nodiscard]] std::uint64_t touched() const { return levels_.touched(); }

    // Verifies every invariant in O(n); prints the first violated one and aborts, in all builds.
    void check() const;

  private:
    friend struct IdTimingWheelProbe;  // lets the tests corrupt a wheel

    struct Node {
        static constexpr std::size_t kEntriesPerNode = 14;  // in quarters

        Tick deadline;  // kNever if not scheduled
        std::uint32_t place;
        std::uint32_t unused;
    };
    static_assert(sizeof(Node) == 16);

    static TimerIndex timer_of(Id id) { return id + 1; }  // timer 0 is unused
    static Id id_of(TimerIndex timer) { return timer - 1; }

    struct Order {
        TimerIndex timer = kNoTimer;
        Tick deadline = kNever;
    };
    static constexpr unsigned kOrdersMax = 16;  // a power of two

    void order(TimerIndex timer, Tick deadline);
    void carry_out(Order& order);
    void carry_out_all();
    template <class Sink>
    std::size_t advance(Tick now, Sink& sink, std::size_t budget, std::size_t fired_max);

    ParkingLevels<Node> levels_;
    std::size_t size_ = 0;
    unsigned newest_ = 0;
    bool some_ordered_ = false;
    std::array<Order, kOrdersMax> orders_{};  // a ring
};

inline void IdTimingWheel::grow(std::size_t ids) {
    if (ids > kIdsMax) throw std::length_error("IdTimingWheel: more ids than an index can name");
    levels_.reserve(ids);
    while (levels_.node_count() <= ids) levels_.add_node();
}

inline void IdTimingWheel::order(TimerIndex timer, Tick deadline) {
    assert(timer < levels_.node_count());
    if (levels_.is_advancing()) [[unlikely]] {  // it may be due in this call
        Order now{timer, deadline};
        return carry_out(now);
    }
    if (orders_[newest_].timer == timer) {  // a cancel and a new deadline often come together
        orders_[newest_].deadline = deadline;
        return;
    }
    levels_.prefetch(timer);
    const unsigned oldest = (newest_ + 1) % kOrdersMax;
    carry_out(orders_[oldest]);
    orders_[oldest] = Order{timer, deadline};
    newest_ = oldest;
    some_ordered_ = true;
}

// An order without a timer, or an executed one, is for timer 0, which is unused and never scheduled.
inline void IdTimingWheel::carry_out(Order& order) {
    if (order.timer == kNoTimer) [[unlikely]]
        return;
    Node& node = levels_[order.timer];
    const bool was_pending = node.deadline != kNever;
    if (order.deadline == kNever) {
        levels_.disarm(node);
        size_ -= was_pending;
    } else {
        levels_.arm(order.timer, node, order.deadline);
        size_ += !was_pending;
    }
    order.timer = kNoTimer;
}

inline void IdTimingWheel::carry_out_all() {
    if (!some_ordered_) return;
    for (unsigned i = 1; i <= kOrdersMax; ++i) carry_out(orders_[(newest_ + i) % kOrdersMax]);
    some_ordered_ = false;
}

inline std::optional<Tick> IdTimingWheel::deadline_of(Id id) {
    assert(id < ids());
    carry_out_all();
    const Tick deadline = levels_[timer_of(id)].deadline;
    return deadline == kNever ? std::nullopt : std::optional(deadline);
}

inline Tick IdTimingWheel::next_expiry() {
    carry_out_all();
    return levels_.next_expiry();
}

inline Tick IdTimingWheel::next_work() {
    carry_out_all();
    return levels_.next_work();
}

inline std::size_t IdTimingWheel::size() {
    carry_out_all();
    return size_;
}

template <class Sink>
std::size_t IdTimingWheel::advance(Tick now, Sink& sink, std::size_t budget, std::size_t fired_max) {
    carry_out_all();
    const auto fire = [&](TimerIndex timer, Tick deadline) {
        --size_;
        sink(id_of(timer), deadline);
    };
    return levels_.advance_to(now, fire, budget, fired_max);
}

template <std::invocable<IdTimingWheel::Id, Tick> Sink>
std::size_t IdTimingWheel::advance_to(Tick now, Sink&& sink, std::size_t budget) {
    return advance(now, sink, budget, kUnlimited);
}

inline std::size_t IdTimingWheel::advance_to(Tick now, std::span<Timer> fired) {
    Timer* next = fired.data();
    const auto sink = [&next](Id id, Tick deadline) { *next++ = Timer{id, deadline}; };
    return advance(now, sink, kUnlimited, fired.size());
}

inline std::vector<IdTimingWheel::Timer> IdTimingWheel::pending() {
    carry_out_all();
    std::vector<Timer> all;
    all.reserve(size_);
    for (std::size_t id = 0; id < ids(); ++id) {
        const Tick deadline = levels_[timer_of(static_cast<Id>(id))].deadline;
        if (deadline != kNever) all.push_back(Timer{static_cast<Id>(id), deadline});
    }
    std::stable_sort(all.begin(), all.end(), [](const Timer& a, const Timer& b) { return a.deadline < b.deadline; });
    return all;
}

inline void IdTimingWheel::clear() {
    orders_.fill(Order{});
    for (std::size_t id = 0; id < ids(); ++id) levels_.disarm(levels_[timer_of(static_cast<Id>(id))]);
    size_ = 0;
    levels_.reset();
}

inline void IdTimingWheel::check() const {
    levels_.check();
    std::size_t pending_ids = 0;
    for (std::size_t id = 0; id < ids(); ++id) pending_ids += levels_[timer_of(static_cast<Id>(id))].deadline != kNever;
    require_of_wheel(pending_ids == size_, "the size is the number of pending timers");
}

}  // namespace duewheel
