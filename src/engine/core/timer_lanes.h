// The engine's timers on several wheels, so that a queue with few messages does not wait behind one with many.
//
// A wheel fires in the order of ticks. A million messages of one queue that are due at one instant take longer than a
// tick to process, and on one wheel everything due after that instant would wait until the last of them is done. So a
// timer is on one of four wheels, its lane, chosen by the number of messages in its queue when the timer is armed:
// fewer than `crowd` on the first, and each further lane takes queues up to 16 times as large. Every iteration works on
// each lane, the first one first, and each has its own budget. The number of messages that a message can wait for in
// its lane is then at most 16 times the size of its own queue, for each queue of that lane; no lane waits for another.
//
// A timer that is armed again stays in its lane while it is pending. The order between queues, and between timers of
// one queue in different lanes, is undefined; within a lane it is that of the wheel.
//
// A timer handle is that of the wheel, with the lane in the two highest bits of its index. Costs are those of
// TimingWheel, for each lane. Single-threaded.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <duewheel/timing_wheel.h>

namespace duewheel {

// A cookie of the wheel is the number of an entry, or of a waiting consumer, a schedule, a watchdog, a request that
// waits for a message, or a queue with a limit that time lifts, with its bit.
inline constexpr std::uint64_t kWaiterCookie = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kScheduleCookie = std::uint64_t{1} << 62;
inline constexpr std::uint64_t kWatchdogCookie = std::uint64_t{1} << 61;
inline constexpr std::uint64_t kMessageWaitCookie = std::uint64_t{1} << 60;
inline constexpr std::uint64_t kTurnCookie = std::uint64_t{1} << 59;

class TimerLanes {
  public:
    static constexpr std::size_t kLanes = 4;
    static constexpr std::uint64_t kGrowth = 16;

    // `crowd` >= 1: a queue with this many messages is not in the first lane.
    TimerLanes(Tick now, std::uint64_t crowd)
        : crowd_(crowd), wheels_{TimingWheel(now), TimingWheel(now), TimingWheel(now), TimingWheel(now)} {}

    // `company`: the number of messages in the queue of the timer's message.
    TimerHandle schedule(Tick deadline, std::uint64_t cookie, std::uint64_t company) {
        const std::size_t lane = lane_of(company);
        const TimerHandle handle = wheels_[lane].schedule(deadline, cookie);
        assert((handle.bits & kLaneBits) == 0);
        return TimerHandle{handle.bits | lane << kLaneShift};
    }
    [[nodiscard]] bool cancel(TimerHandle handle) { return wheel_of(handle).cancel(in_wheel(handle)); }
    [[nodiscard]] bool reschedule(TimerHandle handle, Tick deadline) {
        return wheel_of(handle).reschedule(in_wheel(handle), deadline);
    }
    [[nodiscard]] std::optional<Tick> deadline_of(TimerHandle handle) const {
        return wheels_[lane_in(handle)].deadline_of(in_wheel(handle));
    }

    // Like TimingWheel::advance_to(), lane by lane; at most `budget` timers of each are handled.
    template <class Sink>
    void advance_to(Tick now, Sink&& sink, std::size_t budget) {
        for (TimingWheel& wheel : wheels_) wheel.advance_to(now, sink, budget);
    }
    [[nodiscard]] bool caught_up() const {
        return std::all_of(wheels_.begin(), wheels_.end(), [](const TimingWheel& wheel) { return wheel.caught_up(); });
    }
    // The earliest TimingWheel::next_work() of the wheels.
    [[nodiscard]] Tick next_work() const {
        Tick next = kNever;
        for (const TimingWheel& wheel : wheels_) next = std::min(next, wheel.next_work());
        return next;
    }
    // Pending timers.
    [[nodiscard]] std::size_t size() const {
        std::size_t timers = 0;
        for (const TimingWheel& wheel : wheels_) timers += wheel.size();
        return timers;
    }
    // Like TimingWheel::visit_slots(), lane by lane: slots with the same level and start are of different lanes.
    template <class Visit>
    std::size_t visit_slots(Visit&& visit) const {
        std::size_t others = 0;
        for (const TimingWheel& wheel : wheels_) others += wheel.visit_slots(visit);
        return others;
    }
    [[nodiscard]] std::size_t memory_bytes() const {
        std::size_t bytes = 0;
        for (const TimingWheel& wheel : wheels_) bytes += wheel.memory_bytes();
        return bytes;
    }
    void check() const {
        for (const TimingWheel& wheel : wheels_) wheel.check();
    }

    [[nodiscard]] std::size_t lane_of(std::uint64_t company) const {
        std::size_t lane = 0;
        for (std::uint64_t limit = crowd_; company >= limit && lane + 1 < kLanes; limit *= kGrowth) ++lane;
        return lane;
    }

  private:
    static constexpr unsigned kLaneShift = 30;
    static constexpr std::uint64_t kLaneBits = std::uint64_t{kLanes - 1} << kLaneShift;

    static std::size_t lane_in(TimerHandle handle) { return (handle.bits & kLaneBits) >> kLaneShift; }
    static TimerHandle in_wheel(TimerHandle handle) { return TimerHandle{handle.bits & ~kLaneBits}; }
    TimingWheel& wheel_of(TimerHandle handle) { return wheels_[lane_in(handle)]; }

    std::uint64_t crowd_;
    std::array<TimingWheel, kLanes> wheels_;
};

}  // namespace duewheel
