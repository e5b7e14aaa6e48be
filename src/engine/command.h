// The commands of the engine and its replies, as plain values. Every interface (HTTP, command line, later others)
// converts its text to these and back; the engine contains no text formats. The list is long because it is complete.
//
// Instants are server time in milliseconds since 1970 UTC, durations milliseconds. Limits of sizes and names are
// checked by the interface that parses the text; limits that depend on state are checked by the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "message/access_token.h"
#include "message/content.h"
#include "message/input_position.h"
#include "message/message.h"
#include "message/namespace_settings.h"
#include "message/queue_counts.h"
#include "message/queue_settings.h"
#include "message/record.h"
#include "message/schedule_state.h"
#include "message/schedule_times.h"
#include "message/state_set.h"
#include "message/watchdog_state.h"
#include "store/store.h"

namespace duewheel {

// Proof of a lease, with which its holder ends or extends it. `code` authenticates the rest, so that a token cannot be
// forged; `incarnation` identifies the run of the server, so that a token of an earlier run never ends a newer lease.
struct LeaseToken {
    MessageId id = 0;
    std::uint32_t attempt = 0;
    std::uint64_t incarnation = 0;
    std::uint64_t code = 0;

    bool operator==(const LeaseToken&) const = default;
};

// The due time of a message: an instant, or a duration after the server accepts it.
struct When {
    std::optional<DueMs> at_ms;
    std::int64_t delay_ms = 0;  // if at_ms is empty
};

struct PutCommand : Content {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    When when;
    std::int64_t flex_ms = 0;     // how much later it may be due if its queue has reached its limit for the second
    std::optional<When> expires;  // a message not leased by then expires; its delay counts from the put
    std::int32_t priority = 0;
    std::string order_key;                       // empty: none
    RetryChoice retry;                           // empty: the rule of its queue at the time of the failure
    std::optional<RepeatChoice> repeat;          // makes it recurring; `when` is the first occurrence
    std::optional<TransactionRule> transaction;  // it is prepared until it is committed
    bool is_held = false;                        // held at once, until it is kicked; not with `transaction`
    std::string key;                 // idempotency key within namespace and queue; empty: none
    std::uint64_t request_hash = 0;  // with a key: of the request as it was sent
};
// Puts that become durable together or not at all, each with its own reply.
struct PutBatchCommand {
    std::vector<PutCommand> puts;
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
};
struct CancelCommand {
    std::string name_space{kDefaultNamespace};
    MessageId id = 0;
    MessageKey by_key{};
};
struct RescheduleCommand {
    std::string name_space{kDefaultNamespace};
    MessageId id = 0;
    When when;
    std::int64_t flex_ms = 0;  // like that of a put
    MessageKey by_key{};
};
// Commits a prepared message or rolls it back (transactions.h).
struct SettleCommand {
    std::string name_space{kDefaultNamespace};
    MessageId id = 0;
    bool commits = true;
};
// Makes a waiting message due now.
struct FireCommand {
    std::string name_space{kDefaultNamespace};
    MessageId id = 0;
};
// Holds a waiting message: it is not delivered until it is kicked.
struct HoldCommand {
    std::string name_space{kDefaultNamespace};
    MessageId id = 0;
};
// Returns a held message or a dead letter to its queue, with all its attempts again.
struct KickCommand {
    std::string name_space{kDefaultNamespace};
    MessageId id = 0;
};
// Ends a dead letter for good.
struct DiscardCommand {
    std::string name_space{kDefaultNamespace};
    MessageId id = 0;
};
// Redrives the dead letters of a queue, the oldest first, but none that becomes one after the call.
struct RedriveCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    std::optional<std::uint64_t> max;  // none: as many as the engine allows
};
// Sets or changes the settings of a queue; replies with the queue after the change.
struct ConfigureQueueCommand {
    enum class What : std::uint8_t {
        set,      // replaces all settings by `settings`
        pause,    // nothing is delivered after the reply
        resume,   // deliveries continue
        purge,    // ends all messages that are in the queue now
        discard,  // ends all messages that are dead letters now
        remove,   // removes the settings; only from a queue without messages
    };
    std::string name_space{kDefaultNamespace};
    std::string queue;
    What what = What::set;
    QueueSettings settings;          // set
    bool keeps_pause = false;        // set: keeps the pause of the queue, whatever `settings` has
    std::optional<DueMs> before_ms;  // discard: only those from before this instant; none: all
    // pause: because the target at this URL answered 410. Ignored if the queue has another target now.
    std::string gone_url{};
};
struct DescribeQueueCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
};
// Queues by name, in byte order, from the first after `after`; only those whose names begin with `prefix`.
struct ListQueuesCommand {
    std::string name_space{kDefaultNamespace};
    std::string after;
    std::uint32_t limit = 100;
    std::string prefix{};
};
// Replaces the limits of a namespace, or removes its settings; its content stays unchanged.
struct ConfigureNamespaceCommand {
    std::string name_space{kDefaultNamespace};
    bool removes = false;
    NamespaceSettings settings;  // unless it removes
};
struct DescribeNamespaceCommand {
    std::string name_space{kDefaultNamespace};
};
// Namespaces by name, in byte order, from the first after `after`.
struct ListNamespacesCommand {
    std::string after;
    std::uint32_t limit = 100;
};
// Sets, changes or removes an access token (tokens.h). `change` is called when the command is executed, with
// the current token, null if there is none, and the time; it is a pure function. It returns the new token (the engine
// sets its id and revision), or none to remove it; an error refuses the command.
struct ChangeTokenCommand {
    using Change = std::function<Result<std::optional<AccessToken>>(const AccessToken* current, DueMs now_ms)>;
    std::string id;
    Change change;
    bool keeps_admin = false;  // refused if no token would be left that can change all tokens
};
struct DescribeTokenCommand {
    std::string id;
};
// Tokens by id, in byte order, from the first after `after`.
struct ListTokensCommand {
    std::string after;
    std::uint32_t limit = 100;
};
// Compaction: writes the settings of a queue or a namespace, a token, or the position of an input, again, if their
// newest record is still at `log_position`.
struct RelocateSettingsCommand {
    std::string name_space;
    std::string queue;
    Sequence log_position = 0;
    std::uint32_t subject = kSubjectQueue;  // of the record
};
// Leases up to `max` due messages; if none is due, waits for the first one for up to `wait_ms`.
struct LeaseCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    std::uint32_t max = 1;
    std::optional<std::int64_t> lease_ms;  // empty: that of the queue
    std::int64_t wait_ms = 0;
    bool stays =
        false;  // of the server's own consumers: waits until it is withdrawn, without the limits of other consumers
};
// A page of the unfinished messages of a queue, in (due, id) order (listings.h).
struct ListCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    StateSet states = kUnfinishedStates;  // live states; or dead alone, ordered by (time of death, id)
    DuePosition from;                     // the first possible position of the page
    DueMs until_ms = std::numeric_limits<DueMs>::max();
    std::uint32_t limit = 100;
    std::uint64_t query = 0;  // opaque data of the interface, copied into the reply
};
// A page of the ended messages of a queue, oldest first (history_pages.h).
struct HistoryCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    StateSet outcomes = kEndedStates;
    MessageId id = 0;  // 0: all
    DuePosition from;  // its end and its id: the first possible position of the page
    DueMs until_ms = std::numeric_limits<DueMs>::max();
    std::uint32_t limit = 100;
    std::uint64_t query = 0;  // like that of ListCommand
};
// The number of messages due in each of the next minutes (forecasts.h).
struct ForecastCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;  // empty: all of the namespace
    std::uint32_t minutes = 60;
    DueMs step_ms = 60'000;  // of a row; a divisor of a day, and whole minutes
};
struct AckCommand {
    LeaseToken lease;
};
struct FailCommand {
    LeaseToken lease;
    std::string reason;
    std::optional<std::int64_t> retry_in_ms;
    std::int64_t backoff_min_ms = 0;  // if the rule has less
};
struct ExtendCommand {
    LeaseToken lease;
    std::optional<std::int64_t> lease_ms;  // from now; empty: that of the queue, and never less than the remaining time
};
struct ReleaseCommand {
    LeaseToken lease;
    std::int64_t delay_ms = 0;
};
// Ends a lease by holding its message.
struct HoldLeaseCommand {
    LeaseToken lease;
};
// Compaction: writes a message again, whole, if its newest whole record is still at `row.log_position`.
struct RelocateCommand {
    MessageRow row;                // as in the index
    std::uint64_t generation = 0;  // noted before the lookup (store/store.h)
    RecordKind record_kind = RecordKind::put;
    std::string record_body;  // of the record at that position
};
// Compaction: writes the ends of these messages again (message/outcome_rows.h). They never change.
struct RelocateOutcomesCommand {
    std::string rows;
    std::uint64_t count = 0;
    std::uint64_t segment = 0;  // of their old segment
    Sequence up_to = 0;         // all outcomes kept before this position have been relocated, including these
};
// Compaction: states that nothing below `up_to` is needed any more.
struct RelocationDoneCommand {
    Sequence up_to = 0;
};

// Creates a schedule, or changes it in place (schedules.h); replies with the schedule after the change.
struct PutScheduleCommand : Content {  // of its messages
    std::string name_space{kDefaultNamespace};
    std::string name;
    ScheduleRule rule;
    ScheduleTimes times;         // of that rule
    std::optional<bool> paused;  // none: unchanged
};
struct ControlScheduleCommand {
    enum class What : std::uint8_t {
        pause,   // no run is created after the reply
        resume,  // runs continue with the next time; those of the pause are skipped
        fire,    // one run now; replies like a put
        remove,
    };
    std::string name_space{kDefaultNamespace};
    std::string name;
    What what = What::pause;
    // fire, internal: the schedule's whole record, once it was read.
    Sequence log_position = 0;
    std::string record_body{};
};
struct DescribeScheduleCommand {
    std::string name_space{kDefaultNamespace};
    std::string name;
};
// Like those of queues.
struct ListSchedulesCommand {
    std::string name_space{kDefaultNamespace};
    std::string after;
    std::uint32_t limit = 100;
};
// The next times of a schedule; changes nothing.
struct PreviewScheduleCommand {
    std::string name_space{kDefaultNamespace};
    std::string name;
    std::uint32_t count = 10;
    std::optional<DueMs> from_ms;                           // none: the next times
    std::shared_ptr<const PutScheduleCommand> after_put{};  // not null: as they would be after this put
};
// Creates a watchdog, or changes it in place (watchdogs.h); replies with the watchdog after the change.
struct PutWatchdogCommand : Content {  // of its messages
    std::string name_space{kDefaultNamespace};
    std::string name;
    WatchdogRule rule;
    bool feeds = false;  // an existing one; a new one is always fed
};
struct FeedWatchdogCommand {
    std::string name_space{kDefaultNamespace};
    std::string name;
};
// Replies like a put.
struct RemoveWatchdogCommand {
    std::string name_space{kDefaultNamespace};
    std::string name;
};
struct DescribeWatchdogCommand {
    std::string name_space{kDefaultNamespace};
    std::string name;
};
// Like those of queues.
struct ListWatchdogsCommand {
    std::string name_space{kDefaultNamespace};
    std::string after;
    std::uint32_t limit = 100;
};
// Compaction: writes a schedule or a watchdog again, whole, if its newest whole record is still at `log_position`.
struct RelocateRuleCommand {
    std::uint32_t subject = 0;  // of its records
    std::string name_space;
    std::string name;
    Sequence log_position = 0;
    std::string record_body;
};

// Patches change some settings and keep the others (settings.h, named_rules.h). `change` is called when the command is
// executed, with the settings at that time, so that changes of earlier commands are not lost. It is a pure function; an
// error refuses the command. `bytes`: its memory use.
struct PatchQueueCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    std::function<Status(QueueSettings&)> change;
    std::size_t bytes = 0;
};
struct PatchNamespaceCommand {
    std::string name_space{kDefaultNamespace};
    std::function<Status(NamespaceSettings&)> change;
    std::size_t bytes = 0;
};
// Creates the schedule if it does not exist, from an empty rule; if a required member is missing then (code
// missing_member), it is an unknown schedule.
struct PatchScheduleCommand {
    std::string name_space{kDefaultNamespace};
    std::string name;
    std::function<Result<PutScheduleCommand>(const ScheduleRule&, const MessageContent&)> change;
    std::size_t bytes = 0;
    // Internal: the schedule's whole record, once it was read.
    Sequence log_position = 0;
    std::string record_body{};
};
// Like those of schedules.
struct PatchWatchdogCommand {
    std::string name_space{kDefaultNamespace};
    std::string name;
    std::function<Result<PutWatchdogCommand>(const WatchdogRule&, const MessageContent&)> change;
    std::size_t bytes = 0;
    Sequence log_position = 0;
    std::string record_body{};
};

using Command =
    std::variant<PutCommand, PutBatchCommand, GetCommand, CancelCommand, RescheduleCommand, FireCommand, LeaseCommand,
                 AckCommand, FailCommand, ExtendCommand, ReleaseCommand, RelocateCommand, RelocateOutcomesCommand,
                 RelocationDoneCommand, ListCommand, HistoryCommand, ConfigureQueueCommand, DescribeQueueCommand,
                 ListQueuesCommand, RelocateSettingsCommand, HoldCommand, KickCommand, RedriveCommand, HoldLeaseCommand,
                 DiscardCommand, PutScheduleCommand, ControlScheduleCommand, DescribeScheduleCommand,
                 ListSchedulesCommand, PreviewScheduleCommand, RelocateRuleCommand, SettleCommand, PutWatchdogCommand,
                 FeedWatchdogCommand, RemoveWatchdogCommand, DescribeWatchdogCommand, ListWatchdogsCommand,
                 ConfigureNamespaceCommand, DescribeNamespaceCommand, ListNamespacesCommand, ForecastCommand,
                 PatchQueueCommand, PatchNamespaceCommand, PatchScheduleCommand, PatchWatchdogCommand,
                 ChangeTokenCommand, DescribeTokenCommand, ListTokensCommand, TakeRecordsCommand>;

struct PutAnswer {
    MessageId id = 0;
    State state = State::scheduled;  // of a repeated put: the current state
    DueMs due_ms = 0;                // of a repeated put: as in the first reply
    bool repeated = false;           // the message of the key existed; nothing was put
};
using PutResult = std::variant<Error, PutAnswer>;
struct PutBatchAnswer {
    std::vector<PutResult> results;  // in the order of the puts
};
struct TakeRecordsAnswer {
    std::int64_t position = kNoInputPosition;  // of the input from now on; unchanged if the first put was refused
    std::size_t taken = 0;                     // puts that were executed, including those of a known key
    std::optional<Error> refused;              // why the next one was not; it and those after it were not taken
};
// A message with its live state.
struct MessageAnswer : Content {
    MessageRow row;  // row.state.state is the live state, row.state.attempts the number of deliveries started
    DueMs put_ms = 0;
    DueMs lease_until_ms = 0;  // while leased
    // Of a due recurring message: why its occurrence cannot be created, as a code. Of a prepared message: why its next
    // check cannot be created.
    std::string_view blocked_by;
    bool has_content = false;  // false once it has ended
    std::optional<RepeatRule> repeat;            // of a recurring message
    std::int64_t expires_in_ms = 0;              // of a recurring message: of each occurrence; 0: never
    std::optional<TransactionRule> transaction;  // of a prepared message; and of a check, that of its prepared message
    MessageId parent = 0;  // of an occurrence: its recurring message; of a check: the prepared message
    std::uint64_t occurrence = 0;
    std::string schedule;  // of a run: its schedule
    std::string watchdog;  // of a message of a watchdog: its name, and its last feed before
    DueMs fed_ms = 0;
};

// The result of a command on a message: done (the first five); or not, because it already waits and cannot be returned
// to its queue; or it came too late.
enum class ChangeOutcome : std::uint8_t {
    cancelled,
    rescheduled,
    fired,
    held,
    kicked,
    waiting,
    in_flight,
    delivered,
    dead,
    expired,
    gone,
};
std::string_view change_outcome_name(ChangeOutcome outcome);

// The same for every repetition of the call.
struct SettleAnswer {
    MessageId id = 0;
    bool committed = true;  // otherwise rolled back
};

struct ChangeAnswer {
    ChangeOutcome outcome = ChangeOutcome::gone;
    std::uint32_t attempts = 0;
    bool maybe_delivered = false;
    DueMs due_ms = 0;  // rescheduled, fired, kicked
};
struct Delivered : Content {
    MessageId id = 0;
    LeaseToken lease;
    DueMs lease_until_ms = 0;
    DueMs due_ms = 0;  // nominal
    DueMs delivered_ms = 0;
    std::uint32_t attempt = 0;
    std::uint64_t occurrence = 0;          // of a recurring message; 0: of none
    MessageId parent = 0;                  // that recurring message; or of a check, the prepared message
    std::optional<TransactionRule> check;  // has this rule, and `occurrence` is the number of the check
    std::string schedule;                  // of a run: its schedule
    bool maybe_delivered = false;
    std::string key;
    std::string order_key;
    std::string watchdog;  // its watchdog, and the last feed before
    DueMs fed_ms = 0;
    DueMs late_from_ms = 0;  // the start of its lateness (engine/lateness.h)
};
struct LeaseAnswer {
    std::string queue;
    std::vector<Delivered> messages;
    std::string name_space;  // of the queue; empty if there are no messages
};
// Why a message ended, as named in every interface: "acknowledged", "attempts_used_up", ...
std::string_view cause_name(Cause cause);

// The result of a command on a lease. `expired`: it had already ended, and nothing was changed.
// `purged`: its queue was purged while it was leased, so it is not delivered again.
enum class LeaseOutcome : std::uint8_t { done, retrying, dead, extended, released, held, expired, purged };
std::string_view lease_outcome_name(LeaseOutcome outcome);

struct LeaseEndAnswer {
    LeaseOutcome outcome = LeaseOutcome::expired;
    DueMs due_ms = 0;          // retrying, released: when it is due again
    DueMs lease_until_ms = 0;  // extended
};
struct ListedMessage {
    MessageRow row;            // like in MessageAnswer
    DueMs lease_until_ms = 0;  // while leased
};
struct ListAnswer {
    std::vector<ListedMessage> listed;
    std::optional<DuePosition> next;  // the start of the next page; none: this was the last one
    std::uint64_t query = 0;          // of the command
};
struct RedriveAnswer {
    std::uint64_t redriven = 0;
    bool more = false;  // the limit of the call was reached, and there may be more
};
struct HistoryAnswer {
    std::string queue;
    std::vector<EndedRow> ended;
    std::optional<DuePosition> next;
    std::uint64_t query = 0;
};
struct ForecastMinute {
    DueMs start_ms = 0;
    // Messages that become due then, for the first time or for a retry; recurring messages, by their next occurrence
    // only; and the runs that schedules will create.
    std::uint64_t scheduled = 0;
    std::uint64_t retrying = 0;
    std::uint64_t recurring = 0;
    std::uint64_t runs = 0;
    bool at_least = false;  // there may be more

    std::uint64_t due() const { return scheduled + retrying + recurring + runs; }
    void add(const ForecastMinute& other) {
        scheduled += other.scheduled;
        retrying += other.retrying;
        recurring += other.recurring;
        runs += other.runs;
        at_least |= other.at_least;
    }
    bool operator==(const ForecastMinute&) const = default;
};
// Whole minutes of UTC, except for the past part of the first one.
struct ForecastAnswer {
    std::string queue;  // empty: the whole namespace
    DueMs now_ms = 0;
    DueMs step_ms = 60'000;
    std::vector<ForecastMinute> minutes;  // or of longer steps
};
struct RelocateAnswer {
    bool relocated = false;  // something that the index counts as needed is elsewhere now; outcomes do not count
    Sequence sequence = 0;   // of the record; 0: none, because something newer has replaced it
};

// The state of a queue's target. The engine does not know it: the pusher fills it in. A target that answered 410 has
// paused its queue (PausedBy::target) and gets no more requests: its previous state is kept
// unchanged.
struct TargetStatus {
    enum class State : std::uint8_t {
        works,        // or nothing else is known
        trying,       // it failed, and one post tests whether it works again
        failed,       // paused after failures
        retry_after,  // it asked for a pause (Retry-After)
        unfit,        // the server's configuration does not allow posts to it
        off,          // the server posts nothing
    };
    State state = State::works;
    DueMs backoff_until_ms = 0;  // failed, asked
    std::uint32_t in_flight = 0;
};
// `counts` and `leased` are exact; `ready` is the number of due messages in memory: all except a backlog on disk.
struct QueueAnswer {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    QueueSettings settings;
    QueueCounts counts;
    std::uint64_t ready = 0;
    std::uint64_t leased = 0;
    std::uint64_t waiters = 0;
    bool backlog_on_disk = false;
    std::uint64_t purged = 0;     // by the current purge, since the process started
    std::uint64_t discarded = 0;  // by the current discard, likewise
    std::optional<bool> removed;  // reply to a remove: whether there were settings
    std::optional<TargetStatus> target;
};
struct QueueListAnswer {
    std::vector<QueueAnswer> queues;
    bool complete = true;  // false: more follow after the last one
};

struct ScheduleAnswer : Content {
    std::string name_space{kDefaultNamespace};
    std::string name;
    ScheduleState state;
    bool created = false;         // by this command
    bool invalid_zone = false;    // its zone is not in the zone data
    std::string_view blocked_by;  // why its next run cannot be created, as a code; empty: it can
    std::string zone_data;        // version of the time zone data of the next times
    std::optional<bool> removed;  // reply to a remove: whether it existed
    bool has_content = false;
};
struct ScheduleListAnswer {
    std::vector<ScheduleAnswer> schedules;  // without contents
    bool complete = true;                   // false: more follow after the last one
};
struct PreviewAnswer {
    struct Time {
        std::uint64_t number =
            0;  // 0: it will not be one, or its number is unknown because the preview starts elsewhere
        DueMs nominal_ms = 0;
        DueMs due_ms = 0;  // including the jitter
        std::string local;
        ClockNote note = ClockNote::none;
    };
    struct Excluded {
        DueMs nominal_ms = 0;
        std::string local;
        std::string_view why;
    };
    std::string name_space{kDefaultNamespace};
    std::string name;
    bool paused = false;
    std::string zone;
    std::string zone_data;
    std::vector<Time> times;
    std::vector<Excluded> excluded;  // in the same range, up to the requested number
    bool more_excluded = false;      // there are more
};

struct WatchdogAnswer : Content {
    std::string name_space{kDefaultNamespace};
    std::string name;
    WatchdogState state;
    std::string_view blocked_by;  // why its message cannot be created, as a code; empty: it can
    bool created = false;         // by this command
    std::optional<bool> late;     // of a put that fed it: as of a feed
    std::optional<bool> removed;  // reply to a remove: whether it existed
    bool has_content = false;
};
struct FedAnswer {
    std::string name_space{kDefaultNamespace};
    std::string name;
    DueMs due_ms = 0;         // when it fires without another feed
    bool late = false;        // it was due or had fired since the previous feed
    std::uint64_t fired = 0;  // messages created so far
};
struct WatchdogListAnswer {
    std::vector<WatchdogAnswer> watchdogs;  // without contents
    bool complete = true;                   // false: more follow after the last one
};

// The limits of a namespace, and their use.
struct NamespaceAnswer {
    std::string name_space{kDefaultNamespace};
    NamespaceSettings settings;
    std::uint64_t pending = 0;
    std::uint64_t queues = 0;
    std::uint64_t schedules = 0;
    std::uint64_t watchdogs = 0;
    std::optional<bool> removed;  // reply to a remove: whether there were settings
};
struct NamespaceListAnswer {
    std::vector<NamespaceAnswer> namespaces;
    bool complete = true;  // false: more follow after the last one
};

struct TokenAnswer {
    AccessToken token;
    DueMs last_used_ms = 0;       // since the server started; filled in by the interface, not by the engine
    bool created = false;         // by this command
    std::optional<bool> removed;  // reply to a remove: whether it existed
};
struct TokenListAnswer {
    std::vector<TokenAnswer> tokens;
    bool complete = true;  // false: more follow after the last one
};

using Reply =
    std::variant<Error, PutAnswer, PutBatchAnswer, MessageAnswer, ChangeAnswer, LeaseAnswer, LeaseEndAnswer,
                 RelocateAnswer, ListAnswer, HistoryAnswer, QueueAnswer, QueueListAnswer, RedriveAnswer, ScheduleAnswer,
                 ScheduleListAnswer, PreviewAnswer, SettleAnswer, WatchdogAnswer, FedAnswer, WatchdogListAnswer,
                 NamespaceAnswer, NamespaceListAnswer, ForecastAnswer, TokenAnswer, TokenListAnswer, TakeRecordsAnswer>;

// Identifies the receiver of a reply; chosen by the caller, 0 is none.
using ReplyToken = std::uint64_t;

}  // namespace duewheel
