// Errors shared by several kinds of commands.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/error_codes.h"
#include "calendar/duration.h"
#include <duewheel/status.h>

namespace duewheel {

// `what` continues the sentence "`field` is ": its meaning and its range.
inline Error out_of_range(std::string field, std::string what) {
    return {"out_of_range"_code, "`" + field + "` is " + std::move(what), field};
}

// "from 1ms to 12h"
inline std::string duration_range(std::int64_t min_ms, std::int64_t max_ms) {
    return "from " + format_duration(min_ms) + " to " + format_duration(max_ms);
}

// "1 queue", "2 queues".
inline std::string counted(std::uint64_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// The size of a page.
inline Status check_page(std::uint32_t limit, std::uint32_t limit_max) {
    if (limit >= 1 && limit <= limit_max) return {};
    return out_of_range("limit", "from 1 to " + std::to_string(limit_max));
}

inline Error unknown_id(std::uint64_t id) {
    return {"unknown_id"_code, "no message with id " + std::to_string(id) + " was ever accepted: check the id", "id"};
}
inline Error unknown_key() {
    return {"unknown_key"_code,
            "no message of this queue has this key, or it ended longer ago than keys are kept: check the key, the "
            "queue and the namespace",
            "key"};
}
inline Error gone() {
    return {"gone"_code,
            "this message ended longer ago than outcomes are kept; the history of its queue may still show how"};
}
inline Error expires_too_soon(std::string field) {
    return {"expires_too_soon"_code,
            "the message would expire before it is due and could never be delivered: choose an earlier due time, or a "
            "later expiry",
            std::move(field)};
}
inline Error unknown_queue() {
    return {"unknown_queue"_code,
            "the queue has no messages and no settings: check the name, or create it with a put, settings or a pause",
            "queue"};
}

// `why` continues the sentence "the message ".
inline Error not_leasable(std::string why) {
    return {"not_leasable"_code, "the message " + std::move(why)};
}

inline Error too_busy() {
    return {"too_busy"_code, "too many requests are waiting for the disk: try again in a moment"};
}

}  // namespace duewheel
