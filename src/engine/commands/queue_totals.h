// What has happened to the messages of a queue since the start.
#pragma once

#include <cstdint>

namespace duewheel {

// What has happened in a queue since the process started, or since the queue was last forgotten.
struct QueueTotals {
    std::uint64_t received = 0;  // put by clients, or made by recurring messages, schedules and watchdogs
    std::uint64_t delivered = 0;
    std::uint64_t lateness_ms = 0;  // sums of these deliveries (engine/commands/lateness.h)
    std::uint64_t wait_ms = 0;
    std::uint64_t acknowledged = 0;
    std::uint64_t failed = 0;  // deliveries
    std::uint64_t leases_expired = 0;
    std::uint64_t dead_lettered = 0;
    std::uint64_t expired = 0;
    std::uint64_t cancelled = 0;

    bool operator==(const QueueTotals&) const = default;
};

}  // namespace duewheel
