#include "peers/told_clock.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>

namespace duewheel::bench {
namespace {

std::uint64_t told_nanoseconds = kToldStart;
std::uint64_t* told_ticks = nullptr;  // of a loop that sleeps
std::uint64_t waits = 0;

// What a wait for sockets does, which comes back with none.
int wait_for(int milliseconds) {
    if (told_ticks == nullptr || milliseconds == 0) return 0;
    if (milliseconds < 0) {
        std::fprintf(stderr, "the loop would sleep for ever\n");
        std::exit(3);
    }
    ++waits;
    told_nanoseconds += static_cast<std::uint64_t>(milliseconds) * 1'000'000;
    *told_ticks = (told_nanoseconds - kToldStart) / kTickNanoseconds;
    return 0;
}

}  // namespace

void tell_time(std::uint64_t nanoseconds) {
    told_nanoseconds = kToldStart + nanoseconds;
}

std::uint64_t wake_ups_of(std::uint64_t& now, const std::function<void()>& run) {
    told_ticks = &now;
    waits = 0;
    run();
    told_ticks = nullptr;
    return waits;
}

}  // namespace duewheel::bench

// The C library's names, with its own conventions.
extern "C" {

int clock_gettime(clockid_t, timespec* time) noexcept {
    time->tv_sec = static_cast<time_t>(duewheel::bench::told_nanoseconds / 1'000'000'000);
    time->tv_nsec = static_cast<long>(duewheel::bench::told_nanoseconds % 1'000'000'000);
    return 0;
}

int gettimeofday(timeval* time, void*) noexcept {
    time->tv_sec = static_cast<time_t>(duewheel::bench::told_nanoseconds / 1'000'000'000);
    time->tv_usec = static_cast<suseconds_t>(duewheel::bench::told_nanoseconds % 1'000'000'000 / 1000);
    return 0;
}

int epoll_wait(int, epoll_event*, int, int milliseconds) {
    return duewheel::bench::wait_for(milliseconds);
}

int epoll_pwait(int, epoll_event*, int, int milliseconds, const sigset_t*) {
    return duewheel::bench::wait_for(milliseconds);
}

int poll(pollfd*, nfds_t, int milliseconds) {
    return duewheel::bench::wait_for(milliseconds);
}

int select(int, fd_set*, fd_set*, fd_set*, timeval*) {
    return 0;
}

// Without a timer of the system's, a loop looks at its own timers in every turn.
int timerfd_create(int, int) noexcept {
    errno = ENOSYS;
    return -1;
}

}  // extern "C"
