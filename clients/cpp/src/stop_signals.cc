#include "stop_signals.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

namespace duewheel::client {
namespace {

constexpr std::array kSignals = {SIGTERM, SIGINT};

// A signal handler has no argument, so what it writes to is the variable of the process that the one StopSignals sets.
std::atomic<int> write_end{-1};
std::array<struct sigaction, kSignals.size()> before{};

void write_stop(int) {
    const int saved = errno;
    const char event = static_cast<char>(StopSignals::Event::stop);
    [[maybe_unused]] const ssize_t written = ::write(write_end.load(), &event, 1);
    errno = saved;
}

}  // namespace

StopSignals::StopSignals() {
    if (pipe2(ends_, O_CLOEXEC) != 0) return;
    int none = -1;
    if (!write_end.compare_exchange_strong(none, ends_[1])) return;
    has_signals_ = true;
    struct sigaction action {};
    action.sa_handler = &write_stop;
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before[i]);
}

StopSignals::~StopSignals() {
    if (has_signals_) {
        for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before[i], nullptr);
        write_end = -1;
    }
    for (const int end : ends_) {
        if (end >= 0) ::close(end);
    }
}

StopSignals::Event StopSignals::next() {
    char event = 0;
    while (::read(ends_[0], &event, 1) < 0 && errno == EINTR) {
    }
    return Event{event};
}

void StopSignals::put(Event event) {
    const char byte = static_cast<char>(event);
    [[maybe_unused]] const ssize_t written = ::write(ends_[1], &byte, 1);
}

}  // namespace duewheel::client
