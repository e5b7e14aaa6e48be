// What can be asked of the engine and what it answers, as plain values. Every interface (HTTP, command line, later
// others) turns its text into these and back; the engine knows of no text. The list is long, as there is one of them.
//
// Instants are server time in milliseconds since 1970 UTC, durations milliseconds. Limits on sizes and names are
// checked by who takes the text in; limits that depend on state are checked by the engine.
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

// Proof of a lease: what its holder shows to end or extend it. `code` authenticates the rest, so that a token cannot
// be made up; `incarnation` names the run of the server, so that a token of an earlier run never ends a newer lease.
struct LeaseToken {
    MessageId id = 0;
    std::uint32_t attempt = 0;
    std::uint64_t incarnation = 0;
    std::uint64_t code = 0;

    bool operator==(const LeaseToken&) const = default;
};

// When a message is due: at an instant, or that long after the server accepts it.
struct When {
    std::optional<DueMs> at_ms;
    std::int64_t delay_ms = 0;  // where at_ms is empty
};

struct PutCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    When when;
    std::int64_t flex_ms = 0;     // it may be due that much later, where its queue limits a second and has it full
    std::optional<When> expires;  // a message that nobody has taken by then ends; its delay counts from the put
    std::int32_t priority = 0;
    std::string order_key;                       // empty: none
    RetryChoice retry;                           // empty: its queue's rule, whatever that is when it fails
    std::optional<RepeatChoice> repeat;          // the message is a loop; `when` is its first occurrence
    std::optional<TransactionRule> transaction;  // it is a half until it is committed
    bool is_held = false;                        // set aside at once, until it is kicked; not with `transaction`
    std::string body;
    std::string content_type;
    std::string headers;
    std::string traceparent;
    std::string key;                 // idempotency key, of the namespace and queue; empty: none
    std::uint64_t request_hash = 0;  // with a key: of the request as it was sent
};
// Puts that are on disk together or not at all, each with an answer of its own.
struct PutBatchCommand {
    std::vector<PutCommand> puts;
};
// Names a message by the idempotency key of its put, for as long as the key is held. The key is looked up at the moment
// at which the command is carried out.
struct MessageKey {
    std::string queue;
    std::string key;  // empty: the command names its message by its id

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
    std::int64_t flex_ms = 0;  // as of a put
    MessageKey by_key{};
};
// Commits a message that was put in a transaction, or rolls it back (engine_transactions.cc).
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
// Sets a waiting message aside: it waits for nobody until it is kicked.
struct HoldCommand {
    std::string name_space{kDefaultNamespace};
    MessageId id = 0;
};
// Brings a message back that was set aside or is dead, with all its attempts before it again.
struct KickCommand {
    std::string name_space{kDefaultNamespace};
    MessageId id = 0;
};
// Ends a dead message for good: nobody brings it back.
struct DiscardCommand {
    std::string name_space{kDefaultNamespace};
    MessageId id = 0;
};
// Brings the dead of a queue back, those that died first before the others, and none that dies after the call.
struct RedriveCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    std::optional<std::uint64_t> max;  // none: as many as the engine allows
};
// Sets or changes what a queue is told to do; answered with the queue as it is then.
struct ConfigureQueueCommand {
    enum class What : std::uint8_t {
        set,      // all that a user may set becomes `settings`
        pause,    // nothing is handed out after the answer
        resume,   // handing out goes on
        purge,    // every message that is in the queue now ends
        discard,  // those of its messages end that are dead now, and none that dies later
        remove,   // the settings go; only from a queue that holds nothing
    };
    std::string name_space{kDefaultNamespace};
    std::string queue;
    What what = What::set;
    QueueSettings settings;          // set
    bool keeps_pause = false;        // set: whether the queue is paused stays as it is, whatever `settings` says
    std::optional<DueMs> before_ms;  // discard: those alone that died before; none: all
    // pause: because what is at this URL said that it is gone. Nothing is done if the queue has another target by now.
    std::string gone_url{};
};
struct DescribeQueueCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
};
// Queues by name, in the order of their bytes, from the first after `after` on.
struct ListQueuesCommand {
    std::string name_space{kDefaultNamespace};
    std::string after;
    std::uint32_t limit = 100;
};
// Sets all that a namespace may take, or takes its settings away; what is in it stays as it is.
struct ConfigureNamespaceCommand {
    std::string name_space{kDefaultNamespace};
    bool removes = false;
    NamespaceSettings settings;  // unless it removes
};
struct DescribeNamespaceCommand {
    std::string name_space{kDefaultNamespace};
};
// Namespaces by name, in the order of their bytes, from the first after `after` on.
struct ListNamespacesCommand {
    std::string after;
    std::uint32_t limit = 100;
};
// Sets, changes or removes an access token (engine_tokens.cc). `change` is called when the command is carried out, with
// the token as it is then, null where there is none, and the time; it is a pure function. It returns the token as it is
// to be (the engine sets its id and revision), or none to remove it; its error refuses the command.
struct ChangeTokenCommand {
    using Change = std::function<Result<std::optional<AccessToken>>(const AccessToken* current, DueMs now_ms)>;
    std::string id;
    Change change;
    bool keeps_admin = false;  // refused where no token would be left that may change all tokens
};
struct DescribeTokenCommand {
    std::string id;
};
// Tokens by id, in the order of their bytes, from the first after `after` on.
struct ListTokensCommand {
    std::string after;
    std::uint32_t limit = 100;
};
// Of the cleaner: writes the settings of a queue or a namespace, or a token, again, if their record still stands at
// `place`.
struct CarrySettingsCommand {
    std::string name_space;
    std::string queue;
    Sequence log_position = 0;
    std::uint32_t subject = kSubjectQueue;  // of the record
};
// Takes up to `max` due messages; where none is due, waits for the first one up to `wait_ms`.
struct LeaseCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    std::uint32_t max = 1;
    std::optional<std::int64_t> lease_ms;  // empty: as the queue says
    std::int64_t wait_ms = 0;
    bool stays = false;  // of the server's own consumers: waits until it is withdrawn, and no limit of the others holds
};
// A page of a queue's unfinished messages, in (due, id) order (engine_listing.cc).
struct ListCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    StateSet states = kUnfinishedStates;  // live ones; or dead alone, which come by (time of death, id)
    DuePosition from;                     // the first that may be in the page
    DueMs until_ms = std::numeric_limits<DueMs>::max();
    std::uint32_t limit = 100;
    std::uint64_t query = 0;  // whatever the interface wants to find in the answer again
};
// A page of how messages of a queue ended, oldest first (engine_history.cc).
struct HistoryCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    StateSet outcomes = kEndedStates;
    MessageId id = 0;  // 0: of all
    DuePosition from;  // when it ended, and its id: the first that may be in the page
    DueMs until_ms = std::numeric_limits<DueMs>::max();
    std::uint32_t limit = 100;
    std::uint64_t query = 0;  // as of ListCommand
};
// How much falls due in each of the next minutes (engine_forecast.cc).
struct ForecastCommand {
    std::string name_space{kDefaultNamespace};
    std::string queue;  // empty: all of the namespace
    std::uint32_t minutes = 60;
};
struct AckCommand {
    LeaseToken lease;
};
struct FailCommand {
    LeaseToken lease;
    std::string reason;
    std::optional<std::int64_t> retry_in_ms;
    std::int64_t backoff_min_ms = 0;  // where the rule says less
};
struct ExtendCommand {
    LeaseToken lease;
    std::optional<std::int64_t> lease_ms;  // from now; empty: as the queue says, and never less than is left
};
struct ReleaseCommand {
    LeaseToken lease;
    std::int64_t delay_ms = 0;
};
// Ends a lease by setting its message aside.
struct HoldLeaseCommand {
    LeaseToken lease;
};
// Of the cleaner: writes a message again, whole, if its newest whole record still stands at `row.place`.
struct RelocateCommand {
    MessageRow row;                // as the index had it
    std::uint64_t generation = 0;  // noted before it was looked up (store/store.h)
    RecordKind record_kind = RecordKind::put;
    std::string record_body;  // of the record at that place
};
// Of the cleaner: writes again how these messages ended (message/outcome_rows.h). That never changes.
struct RelocateOutcomesCommand {
    std::string rows;
    std::uint64_t count = 0;
    std::uint64_t segment = 0;  // they stood in
    Sequence up_to = 0;         // before this place, all that are kept have been relocated with these
};
// Of the cleaner: states that nothing below `up_to` is needed any more.
struct RelocationDoneCommand {
    Sequence up_to = 0;
};

// Sets a schedule, or changes it in place (engine_schedules.cc); answered with the schedule as it is then.
struct PutScheduleCommand {
    std::string name_space{kDefaultNamespace};
    std::string name;
    ScheduleRule rule;
    ScheduleTimes times;         // of that rule
    std::optional<bool> paused;  // none: as it is
    std::string body;            // of the messages it makes, as is what follows
    std::string content_type;
    std::string headers;
    std::string traceparent;
};
struct TellScheduleCommand {
    enum class What : std::uint8_t {
        pause,   // no run is made after the answer
        resume,  // runs go on with the next time; those of the pause are skipped
        fire,    // one run now; answered as a put is
        remove,
    };
    std::string name_space{kDefaultNamespace};
    std::string name;
    What what = What::pause;
    // fire, the engine's own: the schedule's whole record, once it was read.
    Sequence log_position = 0;
    std::string record_body{};
};
struct DescribeScheduleCommand {
    std::string name_space{kDefaultNamespace};
    std::string name;
};
// As of queues.
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
    std::optional<DueMs> from_ms;  // none: what comes next
};
// Sets a watchdog, or changes it in place (engine_watchdogs.cc); answered with the watchdog as it is then.
struct PutWatchdogCommand {
    std::string name_space{kDefaultNamespace};
    std::string name;
    WatchdogRule rule;
    bool feeds = false;  // one that is there already; a new one is fed in any case
    std::string body;    // of the messages it makes, as is what follows
    std::string content_type;
    std::string headers;
    std::string traceparent;
};
struct FeedWatchdogCommand {
    std::string name_space{kDefaultNamespace};
    std::string name;
};
// Answered as a put is.
struct RemoveWatchdogCommand {
    std::string name_space{kDefaultNamespace};
    std::string name;
};
struct DescribeWatchdogCommand {
    std::string name_space{kDefaultNamespace};
    std::string name;
};
// As of queues.
struct ListWatchdogsCommand {
    std::string name_space{kDefaultNamespace};
    std::string after;
    std::uint32_t limit = 100;
};
// Of the cleaner: writes a schedule or a watchdog again, whole, if its newest whole record still stands at `place`.
struct RelocateRuleCommand {
    std::uint32_t subject = 0;  // of its records
    std::string name_space;
    std::string name;
    Sequence log_position = 0;
    std::string record_body;
};

// Patches change some settings and keep the rest (engine_patches.cc). `change` is called at the moment at which the
// command is carried out, with the settings as they are then, so that nothing is lost that another command has changed
// before. It is a pure function; its error refuses the command. `bytes`: what it holds on to.
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
// Makes the schedule where there is none, of an empty rule; where a member is missing then (code missing_member), it is
// an unknown schedule.
struct PatchScheduleCommand {
    std::string name_space{kDefaultNamespace};
    std::string name;
    std::function<Result<PutScheduleCommand>(const ScheduleRule&, const MessageContent&)> change;
    std::size_t bytes = 0;
    // The engine's own: the schedule's whole record, once it was read.
    Sequence log_position = 0;
    std::string record_body{};
};
// As of schedules.
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
                 DiscardCommand, PutScheduleCommand, TellScheduleCommand, DescribeScheduleCommand, ListSchedulesCommand,
                 PreviewScheduleCommand, RelocateRuleCommand, SettleCommand, PutWatchdogCommand, FeedWatchdogCommand,
                 RemoveWatchdogCommand, DescribeWatchdogCommand, ListWatchdogsCommand, ConfigureNamespaceCommand,
                 DescribeNamespaceCommand, ListNamespacesCommand, ForecastCommand, PatchQueueCommand,
                 PatchNamespaceCommand, PatchScheduleCommand, PatchWatchdogCommand, ChangeTokenCommand,
                 DescribeTokenCommand, ListTokensCommand>;

struct PutAnswer {
    MessageId id = 0;
    State state = State::scheduled;  // of a repeated put: as it is now
    DueMs due_ms = 0;                // of a repeated put: as it was answered first
    bool repeated = false;           // the key's message was there already; nothing was put
};
using PutResult = std::variant<Error, PutAnswer>;
struct PutBatchAnswer {
    std::vector<PutResult> results;  // in the order of the puts
};
// What is known of a message, live.
struct MessageAnswer {
    MessageRow row;  // row.state.state is the live state, row.state.attempts counts deliveries begun
    DueMs put_ms = 0;
    DueMs lease_until_ms = 0;  // while leased
    // Of a loop that is due, the code of what keeps its occurrence from being made; of a half, its next check.
    std::string_view blocked_by;
    bool has_content = false;  // false once it has ended
    std::string body;
    std::string content_type;
    std::string headers;
    std::string traceparent;
    std::optional<RepeatRule> repeat;            // of a loop
    std::int64_t expires_in_ms = 0;              // of a loop: of each occurrence; 0: never
    std::optional<TransactionRule> transaction;  // of a message put in one; and of a check that of its half
    MessageId parent = 0;                        // of an occurrence: its loop; of a check: the half
    std::uint64_t occurrence = 0;
    std::string schedule;  // of a run: its schedule
    std::string watchdog;  // of a message that a watchdog made: which, and when that was last fed before
    DueMs fed_ms = 0;
};

// How a command on a message ended: done as asked (the first five), or not: it waits already, so that there is nothing
// to bring back; or too late.
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
    bool committed = true;  // else rolled back
};

struct ChangeAnswer {
    ChangeOutcome outcome = ChangeOutcome::gone;
    std::uint32_t attempts = 0;
    bool maybe_delivered = false;
    DueMs due_ms = 0;  // rescheduled, fired, kicked
};
struct Delivered {
    MessageId id = 0;
    LeaseToken lease;
    DueMs lease_until_ms = 0;
    DueMs due_ms = 0;  // nominal
    DueMs delivered_ms = 0;
    std::uint32_t attempt = 0;
    std::uint64_t occurrence = 0;          // of a loop; 0: of none
    MessageId parent = 0;                  // that loop; or of a check the half, which
    std::optional<TransactionRule> check;  // has this rule, and `occurrence` is the number of the check
    std::string schedule;                  // of a run: its schedule
    bool maybe_delivered = false;
    std::string body;
    std::string content_type;
    std::string headers;
    std::string traceparent;
    std::string key;
    std::string watchdog;  // that made it, and when that was last fed before
    DueMs fed_ms = 0;
    DueMs late_from_ms = 0;  // what its lateness counts from (engine/lateness.h)
};
struct LeaseAnswer {
    std::string queue;
    std::vector<Delivered> messages;
};
// Why a message ended, in the words of every interface: "acknowledged", "attempts_used_up", ...
std::string_view cause_name(Cause cause);

// What became of a lease. `expired`: it had ended before, and nothing was changed.
// `purged`: its queue was purged while it was leased, so it does not come again.
enum class LeaseOutcome : std::uint8_t { done, retrying, dead, extended, released, held, expired, purged };
std::string_view lease_outcome_name(LeaseOutcome outcome);

struct LeaseEndAnswer {
    LeaseOutcome outcome = LeaseOutcome::expired;
    DueMs due_ms = 0;          // retrying, released: when it is due again
    DueMs lease_until_ms = 0;  // extended
};
struct ListedMessage {
    MessageRow row;            // as in MessageAnswer
    DueMs lease_until_ms = 0;  // while leased
};
struct ListAnswer {
    std::vector<ListedMessage> listed;
    std::optional<DuePosition> next;  // where the next page begins; nothing: this was the last one
    std::uint64_t query = 0;          // of the command
};
struct RedriveAnswer {
    std::uint64_t redriven = 0;
    bool more = false;  // the call's limit was reached, and there may be more
};
struct HistoryAnswer {
    std::string queue;
    std::vector<EndedRow> ended;
    std::optional<DuePosition> next;
    std::uint64_t query = 0;
};
struct ForecastMinute {
    DueMs start_ms = 0;
    // Messages that fall due then: for the first time, or again after a failure; loops, which make one occurrence then
    // whatever comes behind it; and the runs that schedules will make.
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
// Whole minutes of UTC, but for what is over of the first.
struct ForecastAnswer {
    std::string queue;  // empty: all of the namespace
    DueMs now_ms = 0;
    std::vector<ForecastMinute> minutes;
};
struct RelocateAnswer {
    bool relocated = false;  // something that the index counts as needed stands elsewhere now; outcomes are not counted
    Sequence sequence = 0;   // of the record; 0: there is none, something newer has overtaken it
};

// How the target of a queue is doing. The engine knows nothing of it: who posts fills it in. One that answered that it
// is gone (410) has paused its queue (PausedBy::target), and is asked for nothing more: whatever was known of it before
// stays as it was.
struct TargetSeen {
    enum class State : std::uint8_t {
        works,   // or nothing is known to the contrary
        trying,  // it failed, and one post finds out whether it works again
        failed,  // it rests after failures
        asked,   // it asked to be left alone (Retry-After)
        unfit,   // it cannot be posted to as the server is configured
        off,     // the server posts nothing
    };
    State state = State::works;
    DueMs backoff_until_ms = 0;  // failed, asked
    std::uint32_t in_flight = 0;
};
// `counts` and `leased` are exact; `ready` are the due messages in memory: all, but for a backlog on disk.
struct QueueAnswer {
    std::string name_space{kDefaultNamespace};
    std::string queue;
    QueueSettings settings;
    QueueCounts counts;
    std::uint64_t ready = 0;
    std::uint64_t leased = 0;
    std::uint64_t waiters = 0;
    bool backlog_on_disk = false;
    std::uint64_t purged = 0;     // by the purge that is under way, since the process started
    std::uint64_t discarded = 0;  // likewise, by the discard
    std::optional<bool> removed;  // answer to a remove: whether there were settings
    std::optional<TargetSeen> target;
};
struct QueueListAnswer {
    std::vector<QueueAnswer> queues;
    bool complete = true;  // false: more come after the last one
};

struct ScheduleAnswer {
    std::string name_space{kDefaultNamespace};
    std::string name;
    ScheduleState state;
    bool created = false;         // by this command
    bool invalid_zone = false;    // its zone is not in the zone data
    std::string_view blocked_by;  // the code of what keeps its next run from being made; empty: nothing does
    std::string zone_data;        // version of what next times are reckoned with now
    std::optional<bool> removed;  // answer to a remove: whether there was one
    bool has_content = false;
    std::string body;
    std::string content_type;
    std::string headers;
    std::string traceparent;
};
struct ScheduleListAnswer {
    std::vector<ScheduleAnswer> schedules;  // without contents
    bool complete = true;                   // false: more come after the last one
};
struct PreviewAnswer {
    struct Time {
        std::uint64_t number = 0;  // 0: it will be none, or not known where the question began somewhere
        DueMs nominal_ms = 0;
        DueMs due_ms = 0;  // with the jitter
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
    std::vector<Excluded> excluded;  // between them, at most as many as were asked for
    bool more_excluded = false;      // there are more
};

struct WatchdogAnswer {
    std::string name_space{kDefaultNamespace};
    std::string name;
    WatchdogState state;
    std::string_view blocked_by;  // the code of what keeps its message from being made; empty: nothing does
    bool created = false;         // by this command
    std::optional<bool> late;     // of a put that fed it: as of a feed
    std::optional<bool> removed;  // answer to a remove: whether there was one
    bool has_content = false;
    std::string body;
    std::string content_type;
    std::string headers;
    std::string traceparent;
};
struct FedAnswer {
    std::string name_space{kDefaultNamespace};
    std::string name;
    DueMs due_ms = 0;         // when it fires if it is fed no more
    bool late = false;        // it had fired since it was fed, or was due
    std::uint64_t fired = 0;  // messages made so far
};
struct WatchdogListAnswer {
    std::vector<WatchdogAnswer> watchdogs;  // without contents
    bool complete = true;                   // false: more come after the last one
};

// What a namespace may take, and what is taken of it.
struct NamespaceAnswer {
    std::string name_space{kDefaultNamespace};
    NamespaceSettings settings;
    std::uint64_t pending = 0;
    std::uint64_t queues = 0;
    std::uint64_t schedules = 0;
    std::uint64_t watchdogs = 0;
    std::optional<bool> removed;  // answer to a remove: whether there were settings
};
struct NamespaceListAnswer {
    std::vector<NamespaceAnswer> namespaces;
    bool complete = true;  // false: more come after the last one
};

struct TokenAnswer {
    AccessToken token;
    DueMs last_used_ms = 0;       // since the server started; the engine does not know, the interface fills it in
    bool created = false;         // by this command
    std::optional<bool> removed;  // answer to a remove: whether there was one
};
struct TokenListAnswer {
    std::vector<TokenAnswer> tokens;
    bool complete = true;  // false: more come after the last one
};

using Reply =
    std::variant<Error, PutAnswer, PutBatchAnswer, MessageAnswer, ChangeAnswer, LeaseAnswer, LeaseEndAnswer,
                 CarryAnswer, ListAnswer, HistoryAnswer, QueueAnswer, QueueListAnswer, RedriveAnswer, ScheduleAnswer,
                 ScheduleListAnswer, PreviewAnswer, SettleAnswer, WatchdogAnswer, FedAnswer, WatchdogListAnswer,
                 NamespaceAnswer, NamespaceListAnswer, ForecastAnswer, TokenAnswer, TokenListAnswer>;

// Names who waits for a reply; chosen by who submits, 0 is nobody.
using ReplyToken = std::uint64_t;

}  // namespace duewheel
