// Leases of messages, and the replies that grant them.
#pragma once

#include <cstdint>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/commands/command.h"
#include "store/store.h"

namespace duewheel {

struct Lease {
    std::uint32_t attempt = 0;
    std::uint32_t lateness_ms = 0;  // of the delivery, like `wait_ms` (engine/commands/lateness.h)
    DueMs until_ms = 0;
    std::int64_t wait_ms = 0;
};
using Leases = boost::unordered_flat_map<MessageId, Lease>;

// A lease reply whose bodies are being read.
struct Delivery {
    ReplyToken token = 0;
    QueueNumber queue = 0;
    LeaseAnswer answer;
    std::vector<Sequence> log_positions;  // of answer.messages, 0: already there
    DueMs latest_due_ms = 0;              // of its messages
};

}  // namespace duewheel
