// What the webhook pusher counts: counts since the start, and levels now.
#pragma once

#include <cstdint>

namespace duewheel {

struct WebhookCounters {
    std::uint64_t posted = 0;
    std::uint64_t delivered = 0;  // answered 2xx
    std::uint64_t refused = 0;    // answered with another status
    std::uint64_t no_answer = 0;
    std::uint64_t not_sent = 0;
    std::uint64_t forbidden = 0;   // of these: by the rules for addresses
    std::uint64_t released = 0;    // leased and not posted
    std::uint64_t ended_late = 0;  // the lease had ended before the response could be recorded
    std::uint64_t breakers_opened = 0;
    std::uint64_t targets_gone = 0;

    std::uint64_t in_flight = 0;
    std::uint64_t bytes_in_flight = 0;
    std::uint64_t targets = 0;
    std::uint64_t targets_open = 0;
};

}  // namespace duewheel
