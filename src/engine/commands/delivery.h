// Leases of messages, and the replies that grant them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/commands/command.h"
#include "store/store.h"

namespace duewheel {

// What a consumer that takes messages says of their leases.
struct LeaseTerms {
    std::int64_t lease_ms = 0;
    bool ends_with_server = false;  // its holder does not outlive the process
    std::string worker{};           // the name of its holder; empty: it gave none
};

struct Lease {
    std::uint32_t attempt = 0;
    std::uint32_t lateness_ms = 0;  // of the delivery, like `wait_ms` (engine/commands/lateness.h)
    DueMs until_ms = 0;
    std::int64_t wait_ms = 0;
    DueMs began_ms = 0;
    std::uint64_t incarnation = 0;  // of its token
    bool ends_with_server = false;
    bool is_promised = false;  // no consumer has it yet: the delivery is being read, or waits for a commit
    bool is_extended = false;  // and the record of its attempt does not say so yet
    bool is_in_grace = false;  // of an earlier run: it has ended, and lasts only so that its worker can return
    Boxed<std::string> worker;
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
