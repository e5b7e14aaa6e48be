// The engine's timers on several wheels, so that a queue with few messages does not wait behind one with many.
//
// A wheel fires in the order of ticks. A million messages of one queue that are due at one instant take longer than a
// tick to be seen to, and on one wheel everything due after that instant would wait until the last of them has been. So
// a timer lies on one of four wheels, its lane, chosen by how many messages its queue holds when the timer is armed:
// under `crowd` on the first, and each further lane takes queues up to 16 times as large. Every turn works on each
// lane, the first one first, and each has a budget of its own. What a message can come to wait behind in its lane is
// then at most 16 times what its own queue holds, for each queue of that lane; no lane waits for another.
//
// A timer that is armed again stays in its lane while it is pending. Between queues, and between timers of one queue
// that lie in different lanes, nothing is promised about the order; within a lane it is that of the wheel.
//
// A timer's handle is the wheel's with the lane in the two highest bits of its index. Costs are those of TimingWheel.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <duewheel/timing_wheel.h>

namespace duewheel {

class TimerLanes {
  public:
    static constexpr std::size_t kLanes = 4;
    static constexpr std::uint64_t kGrowth = 16;

    // `crowd` >= 1: from so many messages on a queue is not in the first lane.
    TimerLanes(Tick now, std::uint64_t crowd)
        : crowd_(crowd), wheels_{TimingWheel(now), TimingWheel(now), TimingWheel(now), TimingWheel(now)} {}

    // `company`: how many messages there are in the queue of the one that the timer is for.
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

    // As TimingWheel::advance_to(), lane by lane; at most `budget` timers of each are touched.
    template <class Sink>
    void advance_to(Tick now, Sink&& sink, std::size_t budget) {
        for (TimingWheel& wheel : wheels_) wheel.advance_to(now, sink, budget);
    }
    [[nodiscard]] bool caught_up() const {
        return std::all_of(wheels_.begin(), wheels_.end(), [](const TimingWheel& wheel) { return wheel.caught_up(); });
    }
    // The earliest of the wheels' TimingWheel::next_work().
    [[nodiscard]] Tick next_work() const {
        Tick next = kNever;
        for (const TimingWheel& wheel : wheels_) next = std::min(next, wheel.next_work());
        return next;
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
