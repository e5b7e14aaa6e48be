// What the workers of a message have told the server about their work: which of them has it, until when, how far it is,
// what the next attempt starts with, and its result. Most messages have none of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace duewheel {

inline constexpr std::size_t kWorkerNameBytesMax = 64;
inline constexpr std::size_t kResultBytesMax = 64u << 10;
inline constexpr std::size_t kCheckpointBytesMax = 16u << 10;
inline constexpr std::size_t kProgressBytesMax = 1u << 10;

// The lease of an attempt whose record holds it, so that it outlives the process. `until_ms` 0: it does not, because
// its holder ends with the process. `incarnation` 0: the attempt has ended, or no record says how it was leased.
struct RecordedLease {
    std::int64_t until_ms = 0;
    std::int64_t began_ms = 0;
    std::uint64_t incarnation = 0;  // of its token (engine/commands/commands_of_leases.h); its attempt is the message's
    std::string worker;             // empty: it gave no name

    bool operator==(const RecordedLease&) const = default;
};
// The most that one adds to a record.
inline constexpr std::size_t kRecordedLeaseBytesMax = 64 + kWorkerNameBytesMax;

struct WorkState {
    RecordedLease lease;
    bool cancel_requested = false;  // while it was leased: it ends with this lease
    std::string progress;           // JSON
    std::string checkpoint;         // JSON, for the next attempt
    std::string past_attempts;      // the last ones, encoded (records/past_attempts.h)
    std::string result;             // JSON, of an acknowledged message

    // Its maximum size in a record.
    std::size_t bytes_max() const {
        constexpr std::size_t kNumbers = 64;
        return kNumbers + lease.worker.size() + progress.size() + checkpoint.size() + past_attempts.size() +
               result.size();
    }
    bool operator==(const WorkState&) const = default;
};

// The most that a message which has not ended has of it in a record.
inline constexpr std::size_t kWorkBytesMax = 24u << 10;

}  // namespace duewheel
