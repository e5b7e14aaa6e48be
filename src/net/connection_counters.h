// What a server of this module counts about its connections.
#pragma once

#include <cstdint>

namespace duewheel {

// Since the start of the server, except `connections_open`.
struct ConnectionCounters {
    std::uint64_t connections_open = 0;
    std::uint64_t connections_accepted = 0;
    std::uint64_t accept_pauses = 0;        // at connections_max, or out of file descriptors
    std::uint64_t descriptors_lacked = 0;   // of accept_pauses: those for lack of file descriptors
    std::uint64_t accept_failures = 0;      // the kernel could not accept a connection
    std::uint64_t connections_evicted = 0;  // closed to make room for others
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;

    bool operator==(const ConnectionCounters&) const = default;
};

}  // namespace duewheel
