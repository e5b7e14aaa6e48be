// What a schedule and a watchdog prescribe for the messages that they create, beside their content and due times.
#pragma once

#include <cstdint>
#include <string>

#include "message/retry_rule.h"

namespace duewheel {

struct MessageTemplate {
    std::string queue;
    std::string order_key;
    std::string group;
    std::int32_t priority = 0;
    std::int64_t expires_after_ms = 0;  // after the due time; 0: never
    RetryChoice retry;
    std::uint64_t content_hash = 0;  // of body, headers and content type

    bool operator==(const MessageTemplate&) const = default;
};

}  // namespace duewheel
