// A TimerService in a loop that waits for file descriptors: poll, epoll, select, an event library.
//
// Example:
//     TimerService service;
//     TimerDescriptor timers(service);                     // add timers.descriptor() to your epoll, for EPOLLIN
//     bool fired = false;
//     static_cast<void>(service.schedule_after(0ms, [&] { fired = true; }));
//     assert(timers.advance() == 1 && fired);              // when it is readable
//
// The descriptor is set to the next expiry, and becomes readable when something is due. It may also be readable with
// nothing to run: what it was set for was cancelled or moved, or somebody has set the wall while timers go by it.
// advance() then returns 0 and sets it anew. Any thread may schedule: who schedules something earlier sets the
// descriptor to that, so the loop's thread is not even woken before its time.
//
// Choose it over a TimerThread where the program has such a loop: tasks run there and need no lock against it. What it
// gives up: a task holds the loop up as long as it runs; and it is for Linux only.
#pragma once

#include <cstddef>
#include <memory>

#include <duewheel/timer_service.h>

namespace duewheel {

class TimerDescriptor {
  public:
    // The service outlives it, has no other driver, and has a clock with descriptors, as the system's clocks have.
    // Throws std::system_error where the system has no more descriptors, std::invalid_argument for another clock.
    explicit TimerDescriptor(TimerService& service);
    TimerDescriptor(const TimerDescriptor&) = delete;
    TimerDescriptor& operator=(const TimerDescriptor&) = delete;
    ~TimerDescriptor();

    [[nodiscard]] int descriptor() const { return alarm_->descriptor(); }

    // Runs what is due and sets the descriptor to what is next. Returns how many ran. The loop's thread.
    std::size_t advance();

  private:
    TimerService& service_;
    std::unique_ptr<TimerAlarm> alarm_;
};

}  // namespace duewheel
