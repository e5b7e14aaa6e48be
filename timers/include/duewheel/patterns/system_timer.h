// A timer that its owner's thread drives step by step: any thread adds tasks, and one thread calls advance_clock(),
// which waits until a task is due, or until its timeout.
//
// It is what Kafka's SystemTimer is for its purgatories: a loop that does other work between two waits (Kafka purges
// completed operations). Tasks run on an executor if one is given, otherwise inside advance_clock(). Why choose it over
// TimerThread: the loop is yours. Drawback: nothing happens unless advance_clock() is called.
//
// Example:
//     #include <duewheel/manual_clock.h>
//     ManualClock clock;
//     SystemTimer timer({}, clock);
//     int expired = 0;
//     const Result<Timeout> fetch = timer.add(500ms, [&] { ++expired; });
//     if (!fetch) return fetch.error();
//     clock.advance(500ms);
//     assert(timer.advance_clock(200ms) && expired == 1 && timer.size() == 0);
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

#include <duewheel/timer_service.h>

namespace duewheel {

// add(), size() and shutdown() by any thread; advance_clock() by one at a time.
class SystemTimer {
  public:
    // The options' tick is Kafka's, and 1 ms as there; it has no wheel size to choose. The clock outlives the timer.
    explicit SystemTimer(TimerOptions options = {}, const TimerClock& clock = monotonic_clock());
    SystemTimer(const SystemTimer&) = delete;
    SystemTimer& operator=(const SystemTimer&) = delete;
    ~SystemTimer() { service_.stop(); }

    // Codes: timers_full (max_pending), timers_stopped.
    template <std::invocable Task>
    Result<Timeout> add(std::chrono::nanoseconds delay, Task&& task) {
        return service_.schedule_after(delay, std::forward<Task>(task));
    }

    // Runs what is due. If nothing is, waits until something is, at most for `patience`. Whether anything ran. Throws
    // std::system_error where the system has no more alarms to sleep on.
    bool advance_clock(std::chrono::nanoseconds patience);

    // Pending tasks.
    [[nodiscard]] std::size_t size() { return service_.pending(); }

    // Returns what was pending; a thread in advance_clock() comes back. The second call returns nothing.
    std::vector<Timeout> shutdown();

    [[nodiscard]] TimerService& service() { return service_; }

  private:
    class PatientAlarm;
    class Listening;

    TimerService service_;
};

}  // namespace duewheel
