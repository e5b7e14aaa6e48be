// Commands on single messages: put, show, move, end; and their replies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/boxed.h"
#include "base/status.h"
#include "message/message.h"
#include "message/records/content.h"
#include "message/records/input_position.h"
#include "message/records/past_attempts.h"
#include "message/records/record.h"
#include "message/repeat_rule.h"
#include "message/retry_rule.h"
#include "message/work_history.h"

namespace duewheel {

// The due time of a message: an instant, or a duration after the server accepts it.
struct When {
    std::optional<DueMs> at_ms;
    std::int64_t delay_ms = 0;  // if at_ms is empty
};

// What a put does if an unfinished message of its queue has its key. If one has that has ended, `once` reports its
// outcome, and the others put a new message.
enum class OnKey : std::uint8_t {
    once,     // nothing: it is the same request again, or a conflict
    keep,     // nothing
    replace,  // the message becomes that of the put
};
inline constexpr std::string_view kOnKeyWords[] = {"once", "keep", "replace"};
inline constexpr std::int64_t kWithinMaxMs = 365LL * 24 * 3600 * 1000;

struct PutCommand : Content {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    When when;
    std::optional<When> expires;  // a message not leased by then expires; its delay counts from the put
    std::int32_t priority = 0;
    std::string order_key;                       // empty: none
    std::string group;                           // likewise
    RetryChoice retry;                           // empty: the rule of its queue at the time of the failure
    std::optional<RepeatChoice> repeat;          // makes it recurring; `when` is the first occurrence
    std::optional<TransactionRule> transaction;  // it is prepared until it is committed
    bool is_held = false;                        // held at once, until it is kicked; not with `transaction`
    std::string key;                             // idempotency key within namespace and queue; empty: none
    std::uint64_t request_hash = 0;              // with a key: of what it says, in any spelling
    std::uint64_t text_hash = 0;                 // the same as earlier versions computed it; 0: they did not
    OnKey on_key = OnKey::once;
    // With `replace`: how long after the first of the puts that it joins it is due at the latest. 0: no limit.
    std::int64_t within_ms = 0;
    // What an import restores; not with `repeat`, `transaction` or `replace`.
    Boxed<WorkHistory> imported{};
};

struct PutAnswer {
    MessageId id = 0;
    State state = State::scheduled;  // of a repeated put: the current state
    DueMs due_ms = 0;                // of a repeated put: as in the first reply
    bool repeated = false;           // the message of the key existed; nothing was put
    bool kept = false;               // the same, because the put asked for that; state and due time are those of now
    bool replaced = false;           // the message of the key existed, and became that of the put
};

// Puts that become durable together or not at all, each with its own reply.
struct PutBatchCommand {
    std::vector<PutCommand> puts;
};

using PutResult = std::variant<Error, PutAnswer>;

struct PutBatchAnswer {
    std::vector<PutResult> results;  // in the order of the puts
};

// Puts of the records of an input, a sequence of records outside of the server such as a partition of a Kafka topic.
// The puts and the position after them become durable together, so each record is taken exactly once
// (inputs.h).
struct TakeRecordsCommand {
    std::string input;                         // its name, such as "topic/partition"
    std::int64_t position = kNoInputPosition;  // of the input, as the caller knows it
    std::vector<PutCommand> puts;              // in the order of their records
    std::vector<std::int64_t> offsets;         // of their records
    std::int64_t next = 0;                     // the position after all of them
};

struct TakeRecordsAnswer {
    std::int64_t position = kNoInputPosition;  // of the input from now on; unchanged if the first put was refused
    std::size_t taken = 0;                     // puts that were executed, including those of a known key
    std::optional<Error> refused;              // why the next one was not; it and those after it were not taken
};

// Identifies a message by the idempotency key of its put, as long as the key is kept. The key is looked up when the
// command is executed.
struct MessageKey {
    std::string queue;
    std::string key;  // empty: the command identifies its message by id

    bool is_given() const { return !key.empty(); }
};

struct GetCommand {
    std::string name_space{kDefaultNamespace};
    MessageId id = 0;
    MessageKey by_key{};
    std::int64_t wait_ms = 0;  // for its end: until then, the reply to an unfinished message is withheld
};

// A message with its live state.
struct MessageAnswer : Content {
    MessageRow row;  // row.state.state is the live state, row.state.attempts the number of deliveries started
    DueMs put_ms = 0;
    DueMs lease_until_ms = 0;  // while leased
    DueMs delivered_ms = 0;    // while leased: since when
    std::string worker;        // while leased: the name of its holder, if it gave one
    std::vector<PastAttempt> timeline;
    // A code: why the occurrence of a due recurring message, or the next check of a prepared message, cannot be
    // created. Empty: it can.
    ErrorCode blocked_by = ErrorCode::none;
    bool has_content = false;                    // false once it has ended
    std::optional<RepeatRule> repeat;            // of a recurring message
    std::int64_t expires_in_ms = 0;              // of a recurring message: of each occurrence; 0: never
    std::optional<TransactionRule> transaction;  // of a prepared message; and of a check, that of its prepared message
    MessageId parent = 0;  // of an occurrence: its recurring message; of a check: the prepared message
    std::uint64_t occurrence = 0;
    std::string schedule;  // of a run: its schedule
    std::string watchdog;  // of a message of a watchdog: its name, and its last feed before
    DueMs fed_ms = 0;
};

struct CancelCommand {
    std::string name_space{kDefaultNamespace};
    MessageId id = 0;
    MessageKey by_key{};
    // Cancels a leased message too: its consumer is asked to stop, and the message ends with its lease.
    bool running = false;
};

struct RescheduleCommand {
    std::string name_space{kDefaultNamespace};
    MessageId id = 0;
    When when;
    MessageKey by_key{};
};

// Changes an unfinished message in part; what is not given stays.
struct PatchMessageCommand {
    std::string name_space{kDefaultNamespace};
    MessageId id = 0;
    MessageKey by_key{};
    std::optional<When> when{};
    std::optional<std::int32_t> priority{};
    std::optional<std::optional<When>> expires{};  // nothing in it: it never expires
    std::optional<RetryChoice> retry{};            // an empty one: the rule of its queue
    // The content after the change of this one; null: it stays.
    std::function<Result<Content>(const MessageContent&)> content{};
    std::size_t bytes = 0;  // of the request
    // The whole record of the message at this position, once it is read.
    Sequence log_position = 0;
    std::string record_body{};
};

// A command that only names a message.
template <class What>
struct OnMessage {
    std::string name_space{kDefaultNamespace};
    MessageId id = 0;
};

// Makes a waiting message due now.
using FireCommand = OnMessage<struct Fire>;
// Holds a waiting message: it is not delivered until it is kicked.
using HoldCommand = OnMessage<struct Hold>;
// Returns a held message or a dead letter to its queue, with all its attempts again.
using KickCommand = OnMessage<struct Kick>;
// Ends a dead letter for good.
using DiscardCommand = OnMessage<struct Discard>;

// The result of a command on a message: done (the first six; of `cancelling`, the request); or not, because it already
// waits and cannot be returned to its queue; or it came too late.
enum class ChangeOutcome : std::uint8_t {
    cancelled,
    cancelling,
    rescheduled,
    fired,
    held,
    kicked,
    waiting,
    in_flight,
    delivered,
    dead,
    expired,
    changed,
    gone,
};

std::string_view change_outcome_name(ChangeOutcome outcome);

struct ChangeAnswer {
    ChangeOutcome outcome = ChangeOutcome::gone;
    std::uint32_t attempts = 0;
    bool maybe_delivered = false;
    DueMs due_ms = 0;  // rescheduled, fired, kicked
};

// Commits a prepared message or rolls it back (transactions.h).
struct SettleCommand {
    std::string name_space{kDefaultNamespace};
    MessageId id = 0;
    bool commits = true;
};

// The same for every repetition of the call.
struct SettleAnswer {
    MessageId id = 0;
    bool committed = true;  // otherwise rolled back
};

}  // namespace duewheel
