// A clock that is told the time, in front of the C library's, for peers that can only ask the system: their programs
// define clock_gettime() and the calls that wait for sockets themselves, and the shared libraries they are linked with
// call these. Nothing but timers is watched, so a wait ends at once with nothing; that leaves of a loop's turn what it
// does for its timers.
#pragma once

#include <cstdint>

namespace duewheel::bench {

// What every clock shows from now on. It begins at a thousand seconds, as some libraries take 0 for "not known".
void tell_time(std::uint64_t nanoseconds);

inline constexpr std::uint64_t kTickNanoseconds = 1'000'000;
inline constexpr std::uint64_t kToldStart = 1'000'000'000'000;

}  // namespace duewheel::bench
