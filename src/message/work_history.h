// What a message has been through on another server, as an export has it and an import restores it: its attempts, and
// what its workers have said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "message/message.h"

namespace duewheel {

struct WorkHistory {
    std::uint32_t attempts = 0;          // deliveries started
    std::uint32_t attempts_counted = 0;  // those that count against its retry rule
    bool maybe_delivered = false;
    DueMs nominal_due_ms = 0;   // the requested due time, if a retry or a commit has changed it; 0: it is the due time
    bool is_retrying = false;   // its last attempt has failed, and it is in backoff until it is due
    std::string reason;         // why that attempt failed, or why it is a dead letter
    std::string progress;       // JSON
    std::string checkpoint;     // JSON
    std::string past_attempts;  // encoded (records/past_attempts.h)

    std::size_t text_bytes() const {
        return reason.size() + progress.size() + checkpoint.size() + past_attempts.size();
    }
    bool operator==(const WorkHistory&) const = default;
};

// So that attempts can go on to be counted.
inline constexpr std::uint32_t kAttemptsKeptMax = 1'000'000'000;

}  // namespace duewheel
