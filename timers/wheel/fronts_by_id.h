// For tests of the wheel: its three fronts with one set of calls, a timer for each id, as suites that run on all of
// them want it. What is tested is `wheel`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <duewheel/id_timing_wheel.h>
#include <duewheel/intrusive_timing_wheel.h>
#include <duewheel/timing_wheel.h>

namespace duewheel {

using Id = std::uint32_t;

class Handles {
  public:
    explicit Handles(std::size_t ids) : handles_(ids) {}
    void arm(Id id, Tick deadline) {
        if (!wheel.reschedule(handles_[id], deadline)) handles_[id] = wheel.schedule(deadline, id);
    }
    void disarm(Id id) { static_cast<void>(wheel.cancel(handles_[id])); }

    TimingWheel wheel;

  private:
    std::vector<TimerHandle> handles_;
};

class OwnIds {
  public:
    explicit OwnIds(std::size_t ids) : wheel(ids) {}
    void arm(Id id, Tick deadline) { wheel.schedule(id, deadline); }
    void disarm(Id id) { wheel.cancel(id); }

    IdTimingWheel wheel;
};

class Members {
  public:
    explicit Members(std::size_t ids) : timers_(ids) {}
    Members(const Members&) = delete;
    Members& operator=(const Members&) = delete;
    ~Members() { wheel.clear(); }
    void arm(Id id, Tick deadline) { wheel.schedule(timers_[id], deadline); }
    void disarm(Id id) { static_cast<void>(wheel.cancel(timers_[id])); }

  private:
    struct Timer : IntrusiveTimer {};
    std::vector<Timer> timers_;

  public:
    IntrusiveTimingWheel<Timer> wheel;
};

}  // namespace duewheel
