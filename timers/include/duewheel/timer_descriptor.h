// A TimerService in a loop that waits for file descriptors: poll, epoll, select, an event library.
//
// Example:
//     TimerService service;
//     TimerDescriptor timers(service);                     // add timers.descriptor() to your epoll, for EPOLLIN
//     bool fired = false;
//     static_cast<void>(service.schedule_after(0ms, [&] { fired = true; }));
//     assert(timers.advance() == 1 && fired);              // when it is readable
//
// The descriptor is set to the next expiry, and becomes readable when something is due. It can also be readable with
// nothing to run: the timer it was set for was cancelled or moved, or the wall clock was set while timers depend on it.
// advance() then returns 0 and sets it again. Any thread may schedule: a thread that schedules something earlier sets
// the descriptor to that, so the loop's thread is not woken before its time.
//
// Choose it over a TimerThread if the program has such a loop: tasks run there and need no lock against it. Drawbacks:
// a task blocks the loop as long as it runs, and it is for Linux only.
#pragma once

#include <cstddef>
#include <memory>

#include <duewheel/timer_service.h>

namespace duewheel {

class TimerDescriptor {
  public:
    // The service must outlive it, must have no other driver, and must have a clock with descriptors, like the system's
    // clocks. Throws std::system_error if the system has no more descriptors, std::invalid_argument for another clock.
    explicit TimerDescriptor(TimerService& service);
    TimerDescriptor(const TimerDescriptor&) = delete;
    TimerDescriptor& operator=(const TimerDescriptor&) = delete;
    ~TimerDescriptor();

    [[nodiscard]] int descriptor() const { return alarm_->descriptor(); }

    // Runs what is due and sets the descriptor to the next expiry. Returns the number run. For the loop's thread.
    std::size_t advance();

  private:
    TimerService& service_;
    std::unique_ptr<TimerAlarm> alarm_;
};

}  // namespace duewheel
