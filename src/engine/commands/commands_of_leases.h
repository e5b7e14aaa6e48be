// Leases of messages: taken, extended, ended; and the messages that they deliver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "message/message.h"
#include "message/records/content.h"
#include "message/records/record.h"

namespace duewheel {

// Proof of a lease, with which its holder ends or extends it. `code` authenticates the rest, so that a token cannot be
// forged; `incarnation` identifies the run of the server that granted it, so that a token of an earlier run never ends
// a newer lease.
struct LeaseToken {
    MessageId id = 0;
    std::uint32_t attempt = 0;
    std::uint64_t incarnation = 0;
    std::uint64_t code = 0;

    bool operator==(const LeaseToken&) const = default;
};

// Leases up to `max` due messages; if fewer than `min` are due, waits for them for up to `wait_ms`, and then leases
// what there is.
struct LeaseCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    std::uint32_t max = 1;
    std::optional<std::int64_t> lease_ms;  // empty: that of the queue
    std::int64_t wait_ms = 0;
    bool stays =
        false;  // of the server's own consumers: waits until it is withdrawn, without the limits of other consumers
    DueMs ready_ms = 0;  // since when the consumer is ready, if not since the call: the server kept it from calling
    bool ends_with_server = false;  // the leases do not outlive the process, because their holder does not
    std::uint32_t min = 1;          // up to `max`; more than 1 only with a wait
    std::string worker{};           // the name of the consumer; empty: it gives none
};

// Leases one message, whatever it waits for (message_leases.h). Replies with the message, or with an error that says
// why it cannot be leased.
struct LeaseMessageCommand {
    std::string name_space{kDefaultNamespace};
    MessageId id = 0;
    std::optional<std::int64_t> lease_ms{};  // empty: that of the queue
    bool ends_with_server = false;           // as in LeaseCommand
};

struct Delivered : Content {
    MessageId id = 0;
    LeaseToken lease;
    DueMs lease_until_ms = 0;
    DueMs due_ms = 0;  // nominal
    DueMs delivered_ms = 0;
    std::uint32_t attempt = 0;
    std::string checkpoint;                // JSON, of an earlier attempt
    std::uint64_t occurrence = 0;          // of a recurring message; 0: of none
    MessageId parent = 0;                  // that recurring message; or of a check, the prepared message
    std::optional<TransactionRule> check;  // has this rule, and `occurrence` is the number of the check
    std::string schedule;                  // of a run: its schedule
    bool maybe_delivered = false;
    std::string key;
    std::string order_key;
    std::string group;
    std::string watchdog;  // its watchdog, and the last feed before
    DueMs fed_ms = 0;
    DueMs late_from_ms = 0;        // the start of its lateness (engine/commands/lateness.h)
    std::int64_t lateness_ms = 0;  // until the reply: the content may have been read after `delivered_ms`
    std::int64_t wait_ms = 0;      // before it
};

struct LeaseAnswer {
    std::string queue;
    std::vector<Delivered> messages;
    std::string name_space;  // of the queue; empty if there are no messages
};

struct AckCommand {
    LeaseToken lease;
    std::string result{};  // JSON, kept with the outcome; empty: none
};

struct FailCommand {
    LeaseToken lease;
    std::string reason;
    std::optional<std::int64_t> retry_in_ms;
    std::int64_t backoff_min_ms = 0;  // if the rule has less
    bool dead = false;                // it becomes a dead letter, whatever its rule says
};

// The lease never ends earlier than before. What the worker says is durable when it is answered.
struct ExtendCommand {
    LeaseToken lease;
    std::optional<std::int64_t> lease_ms;     // from now; empty: that of the queue
    std::optional<std::string> progress{};    // JSON; empty: as before; a null: none
    std::optional<std::string> checkpoint{};  // likewise
};

struct ReleaseCommand {
    LeaseToken lease;
    std::int64_t delay_ms = 0;
    std::optional<std::int32_t> priority{};  // of the message from now on; empty: unchanged
};

// Ends a lease by holding its message.
struct HoldLeaseCommand {
    LeaseToken lease;
    std::optional<std::int32_t> priority{};  // likewise
};

// The result of a command on a lease. `expired`: it had already ended, and nothing was changed.
// `purged`, `cancelled`: its queue was purged, or its cancel was requested, while it was leased, so it has ended.
enum class LeaseOutcome : std::uint8_t { done, retrying, dead, extended, released, held, expired, purged, cancelled };

std::string_view lease_outcome_name(LeaseOutcome outcome);

struct LeaseEndAnswer {
    LeaseOutcome outcome = LeaseOutcome::expired;
    DueMs due_ms = 0;               // retrying, released: when it is due again
    DueMs lease_until_ms = 0;       // extended: when the lease ends now
    bool cancel_requested = false;  // extended: a client asks the consumer to stop
    bool repeated = false;          // the command had ended the lease before, and nothing was changed
    bool by_restart = false;        // expired: the lease did not outlive the run of the server that granted it
};

}  // namespace duewheel
