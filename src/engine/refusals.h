// Errors shared by several kinds of commands.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <duewheel/status.h>

namespace duewheel {

// `what` continues the sentence "`field` is ": its meaning and its range.
inline Error out_of_range(std::string field, std::string what) {
    return {"out_of_range", "`" + field + "` is " + std::move(what), field};
}

// "1 queue", "2 queues".
inline std::string counted(std::uint64_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

inline Error unknown_queue() {
    return {"unknown_queue",
            "the queue has no messages and no settings: check the name, or create it with a put, settings or a pause",
            "queue"};
}

inline Error too_busy() {
    return {"too_busy", "too many requests are waiting for the disk: try again in a moment"};
}

}  // namespace duewheel
