// The last attempts of a message, as its records hold them: one text in WorkState::past_attempts. A record that ends an
// attempt, or that follows one whose lease was lost, adds one. Equal attempts have equal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "message/message.h"

namespace duewheel {

inline constexpr std::size_t kPastAttemptsMax = 10;
inline constexpr std::size_t kAttemptReasonBytesMax = 256;
// The size of one that is encoded, without its worker.
inline constexpr std::size_t kPastAttemptBytesMax = kAttemptReasonBytesMax + 48;

// How an attempt ended. The numbers are part of the log format.
enum class AttemptOutcome : std::uint8_t {
    done = 1,
    failed = 2,
    released = 3,
    held = 4,
    lease_lost = 5,
    expired = 6,
    cancelled = 7,
};

std::string_view attempt_outcome_name(AttemptOutcome outcome);
// None if there is none of this name.
std::optional<AttemptOutcome> parse_attempt_outcome(std::string_view name);

struct PastAttempt {
    std::uint32_t attempt = 0;  // its number, as deliveries have it
    DueMs started_ms = 0;       // 0: not recorded, because it was short
    DueMs ended_ms = 0;         // 0: it has not, and has no outcome
    AttemptOutcome outcome = AttemptOutcome::done;
    std::string reason;  // of a failure; a longer one is shortened to kAttemptReasonBytesMax
    std::string worker;  // empty: it gave no name
    // The run of its token, so that the response to its end can be repeated. Only the last attempt has it, and only if
    // a command ended it.
    std::uint64_t incarnation = 0;

    bool operator==(const PastAttempt&) const = default;
};

// The attempts, oldest first; none if these are not the bytes of some.
std::optional<std::vector<PastAttempt>> decode_past_attempts(std::string_view bytes);
// The last kPastAttemptsMax.
std::string encode_past_attempts(const std::vector<PastAttempt>& attempts);
// Adds one, and drops the oldest one if they are more than kPastAttemptsMax. `bytes` must be valid.
void append_past_attempt(std::string& bytes, PastAttempt attempt);

// The attempts of a message with this durable state that have ended, oldest first: those that records hold, and the
// recorded one if its lease was lost since. `leased`: the attempt that has a lease now; 0: none.
std::vector<PastAttempt> timeline_of(const MessageRow& row, std::uint32_t leased);

}  // namespace duewheel
