#include "peers/told_clock.h"

#include <cerrno>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>

namespace duewheel::bench {
namespace {

std::uint64_t told_nanoseconds = kToldStart;

}  // namespace

void tell_time(std::uint64_t nanoseconds) {
    told_nanoseconds = kToldStart + nanoseconds;
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

int epoll_wait(int, epoll_event*, int, int) {
    return 0;
}

int epoll_pwait(int, epoll_event*, int, int, const sigset_t*) {
    return 0;
}

int poll(pollfd*, nfds_t, int) {
    return 0;
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
