// A manual clock in front of the C library's, for peers that can only ask the system: their programs define
// clock_gettime() and the calls that wait for sockets themselves, and the shared libraries they are linked with call
// these. Only timers are watched, so a wait ends at once with nothing; what is left of a loop's iteration is its work
// for timers.
#pragma once

#include <cstdint>
#include <functional>

namespace duewheel::bench {

// What every clock shows from now on. It begins at a thousand seconds, as some libraries take 0 for "not known".
void tell_time(std::uint64_t nanoseconds);

// Runs a loop as it would run in a program, until it ends by itself: where it waits for sockets, told time passes as
// long as it meant to wait. Returns how often it waited, which is how often it woke up; `now` is in ticks what it has
// been told.
std::uint64_t wake_ups_of(std::uint64_t& now, const std::function<void()>& run);

inline constexpr std::uint64_t kTickNanoseconds = 1'000'000;
inline constexpr std::uint64_t kToldStart = 1'000'000'000'000;

}  // namespace duewheel::bench
