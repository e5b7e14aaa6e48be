// The engine of one shard: decides what fires when, and owns every change of a message's state.
//
// It is a passive state machine that takes the time as an argument: no clock, no thread, no lock, no I/O, no sleep. Its
// owner (the server's shard loop, or the simulator) passes commands, times, and the results of lookups and commits, and
// executes the effects:
//
//     submit, answer, committed, table_taken, forget  ──►  engine  ──►  effects: commit this, send that reply, look
//     this advance_to(now)                                                   up, seal that segment
//
// One batch in flight. Commands that change something wait until a batch is built. They are validated then, in order,
// against the applied state. An id is in a batch at most once: a second command on it waits for the next one. The batch
// is passed on as one Commit. When committed() reports that it is durable, it is applied, the next one is passed on,
// and only then the replies are sent. Nothing is applied or answered that is not durable. While a batch is in flight,
// due messages are still fired from memory; an id in the batch waits for its result.
//
// Two tiers (store/store.h): what the recent tier does not know is looked up through a Lookup; a result that is older
// than the newest table is looked up again.
//
// The due window (due_window.h): everything recent and everything due soon is on the wheel. Due messages wait in the
// ready list of their queue. A queue keeps at most `ready_max` clean ones in memory; the others stay on disk behind its
// cursor and are read in due order.
//
// Single-threaded, and long, because it is one state. The RecentTier is the owner's, and only the engine changes it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/command.h"
#include "engine/command_queue.h"
#include "engine/dead_letters.h"
#include "engine/delivery.h"
#include "engine/due_queue.h"
#include "engine/due_window.h"
#include "engine/effects.h"
#include "engine/engine_context.h"
#include "engine/engine_start.h"
#include "engine/input_table.h"
#include "engine/lease_token.h"
#include "engine/order_lines.h"
#include "engine/purges.h"
#include "engine/queue_reports.h"
#include "engine/queue_views.h"
#include "engine/queues.h"
#include "engine/schedule_plan.h"
#include "engine/schedule_table.h"
#include "engine/seconds.h"
#include "engine/settings.h"
#include "engine/tokens.h"
#include "engine/watchdog_course.h"
#include "engine/watchdog_table.h"
#include "journal/journal.h"
#include "store/store.h"

namespace duewheel {

// The base of the engine that exists before its parts.
struct OwnedContext {
    EngineContext owned_context_;
};

class Engine : OwnedContext, EnginePart {
  public:
    // `recent` contains the replayed log. The first time passed to advance_to() is the server time of the start; a time
    // before that of the log is raised to it.
    Engine(const EngineOptions& options, const EngineStart& start, RecentTier& recent);
    ~Engine();

    // Takes a command. The reply comes as an effect, at once or later; a refusal is a reply too. For a command with
    // limits, whatever is outside of them does not exist: a message, a lease, a schedule or a watchdog is unknown, and
    // lists omit it.
    void submit(Command command, ReplyToken token, SharedLimits limits = nullptr);

    // The receiver of this reply is gone: a waiting lease is withdrawn, and messages on their way to it are ready
    // again. Commands that change something are executed anyway.
    void forget(ReplyToken token);

    // True: a lease that still waits is withdrawn, and gets no reply. False: messages are on their way to it.
    bool withdraw(ReplyToken token);

    // All waiting leases get an empty reply, and none waits from now on.
    void stop_waiting();

    // For an owner that is about to stop, if the engine is idle: passes on a commit with the current time, so that the
    // next run does not start earlier, whatever its clocks say. False if there is none to wait for: the log already has
    // the time, has no space, or this run has not started to serve.
    bool save_time();

    // With little space, puts are refused with `store_full`, including waiting ones; with less, other commands that
    // make the log longer and end nothing; with hardly any, everything that must be written except by compaction
    // (open_segment.h).
    void set_log_space(LogSpace space);

    // While this is true, puts wait instead of starting a segment; commands that end messages may. The maintenance of
    // spare segments may not have noticed yet that only the reserve is left.
    void set_reserve_at_stake(bool at_stake) { segment_.set_reserve_at_stake(at_stake); }

    // Closes the open segment with the next commit, full or not, unless it is empty, so that it can be
    // sealed.
    void close_segment() { segment_.close_soon(); }

    // Sets the time without doing anything: before a command that arrived after the last iteration, so that its times
    // do not count from an old one.
    void set_time(DueMs now) { context_.now = std::max(now_, now); }

    // The end of an iteration: fires what is due, serves consumers, and passes on the next batch if none is in flight.
    // `now` is server time; it never goes back here, whatever is passed.
    void advance_to(DueMs now);

    // The commit that was passed on is durable. It is applied at once as far as one iteration allows, and in the next
    // ones.
    void committed();

    // The result of a lookup of the effects.
    void answer(Answer answer);
    // Lookups are numbered in order. Whether one up to this one is still open: it may contain the log position that a
    // record had when it started. O(open lookups).
    std::uint64_t newest_ticket() const { return lookups_.newest_ticket(); }
    bool awaits_answer_until(std::uint64_t ticket) const { return lookups_.is_open_until(ticket); }

    // The index now contains every segment up to and including this one. Called on the shard's thread, in order; for
    // the newest one possibly before committed() for the commit that closed it.
    void table_taken(SegmentNumber through);
    // The generation of the newest table, which a reader notes before it reads (store/store.h).
    const std::atomic<Generation>& generation() const { return lookups_.generation(); }

    Effects take_effects();

    // When advance_to() has something to do again: now() for at once, kNever as a DueMs for only after an event.
    static constexpr DueMs kNoWakeup = INT64_MAX;
    DueMs next_wakeup() const;

    DueMs now() const { return now_; }
    const Totals& totals() const { return batches_.totals(); }
    std::uint64_t incarnation() const { return context_.incarnation; }
    // False until the first commit of this run is durable: until then nothing is served.
    bool is_serving() const { return context_.serving; }
    // No awaited work is on its way to the disk or from it.
    bool is_idle() const;
    EngineCounters counters() const;

    // The queues with the most ready or leased messages, then with the most consumers, then with the most pending
    // messages: up to `max`, the busiest first; among equals, the one known longest first. O(queues * log(max)).
    std::vector<QueueCounters> busiest_queues(std::size_t max) const { return reports_.busiest_queues(max); }
    // The queues with the most messages received and delivered since the start, then with the most pending ones, an
    // order that hardly changes over time: up to `max`, the busiest first; and the sums of all others.
    // O(queues * log(max)).
    QueueTraffic queue_traffic(std::size_t max) const { return reports_.queue_traffic(max); }
    // Of all queues, including forgotten ones.
    const QueueTotals& queue_totals() const { return queues_.totals(); }

    // O(queues).
    QueueSums queue_sums() const { return reports_.queue_sums(); }
    // Those with settings, by name, up to this number. O(namespaces).
    std::vector<NamespaceAnswer> namespaces_with_settings(std::size_t max) const {
        return reports_.namespaces_with_settings(max);
    }
    // What is durable. Valid until the next iteration.
    const TokenTable& tokens() const { return tokens_.table(); }
    // The timers of messages, leases and waiting consumers. Their ticks are milliseconds since 1970.
    const TimerLanes& timers() const { return wheel_; }
    // How far each input has been taken, by name: what is durable. Valid until the next iteration.
    const InputTable::Positions& inputs() const { return inputs_.all(); }
    // By name, up to this number. O(schedules).
    std::vector<ScheduleCounters> schedules_by_name(std::size_t most) const;

    // Queues with targets for messages that the server delivers itself (settings.h).
    std::vector<TargetQueue> take_changed_targets(TargetKind kind) { return settings_.take_changed_targets(kind); }
    bool have_targets_changed(TargetKind kind) const { return settings_.have_targets_changed(kind); }
    std::uint64_t queues_with_target(TargetKind kind) const { return settings_.queues_with_target(kind); }

    // Verifies every invariant; aborts with a message. Slow: for tests and the simulator.
    void check() const;

  private:
    using DueMessages = DueQueue<MessageId>;
    using DueSchedules = DueQueue<ScheduleNumber, NewestRun>;
    using DueWatchdogs = DueQueue<WatchdogNumber>;
    struct Waiter {
        ReplyToken token = 0;
        QueueNumber queue = 0;
        std::uint32_t max = 1;
        std::int64_t lease_ms = 0;
        TimerHandle timer;
        bool brief = false;  // only until the current read for its queue is done
    };
    // The part that takes the result of a lookup.
    Listings& part_for(const ListingLookup&) { return views_.listings; }
    Listings& part_for(const DeadListingLookup&) { return views_.listings; }
    HistoryPages& part_for(const HistoryLookup&) { return views_.history; }
    Forecasts& part_for(const ForecastLookup&) { return views_.forecasts; }
    DeadLetters& part_for(const DeadLookup&) { return dead_letters_; }
    Seconds& part_for(const SecondsLookup&) { return seconds_; }
    template <class Kind>
    Engine& part_for(const Kind&) {
        return *this;
    }

    // engine_commands.cc: commands that change something, validated when a batch is built; reads and leases at once
    Verdict validate(PendingCommand& pending);
    Verdict cancel(PendingCommand& pending, const CancelCommand& command);
    Verdict ack(PendingCommand& pending, const AckCommand& command);
    Verdict relocate(PendingCommand& pending, const RelocateCommand& command);
    Verdict extend(PendingCommand& pending, const ExtendCommand& command);
    Verdict relocate_outcomes(PendingCommand& pending, const RelocateOutcomesCommand& command);
    Verdict relocation_done(PendingCommand& pending, const RelocationDoneCommand& command);
    std::optional<Verdict> name_by_key(PendingCommand& pending, const std::string& name_space, const MessageKey& by_key,
                                       MessageId& id);
    static Error unknown_key();
    void get(const GetCommand& command, ReplyToken token, const SharedLimits& limits);
    void get_by_key(PendingCommand pending);
    void finish(FactsLookup lookup, std::optional<MessageRow> row, Generation generation);
    void finish_get(const PendingCommand& pending, std::optional<MessageRow> row, Generation generation);
    void finish(KeysLookup lookup, std::vector<std::optional<KeyFacts>> facts, Generation generation);
    void finish(MessageLookup lookup, const FoundRecords& records, Generation generation);
    void answer_get(MessageRow row, ReplyToken token, std::string_view blocked_by = {});
    void lease(const LeaseCommand& command, ReplyToken token);

    // engine_retries.cc: attempts, and what happens when they are used up; hold and kick
    Verdict fail(PendingCommand& pending, const FailCommand& command);
    Verdict release(PendingCommand& pending, const ReleaseCommand& command);
    std::optional<Verdict> end_with_lease(PendingCommand& pending, EntryNumber number);
    Verdict hold(PendingCommand& pending, const HoldCommand& command);
    Verdict hold_lease(PendingCommand& pending, const HoldLeaseCommand& command);
    Verdict kick(PendingCommand& pending, const KickCommand& command);
    Verdict discard(PendingCommand& pending, const DiscardCommand& command);
    // The rule of a message or of a queue (kNoQueue: of a future queue) that has none of its own.
    const RetryRule& retry_rule(const Entry& entry) const;
    // Attempts started that count against the rule.
    std::uint32_t attempts_counted(const Entry& entry) const;
    bool is_used_up(const Entry& entry) const;
    Record dead_letter_record(const Entry& entry, std::string_view reason) const;
    Record redrive_record(const Entry& entry, Cause cause) const;
    void mark_exhausted(EntryNumber number);
    std::string_view exhaustion_reason(const Entry& entry) const;
    std::size_t dead_letter_bytes_max(const Entry& entry) const {
        return kRecordOverheadMax + exhaustion_reason(entry).size();
    }
    std::size_t next_exhausted_bytes() const;
    void add_exhausted();

    // engine_dead_letters.cc
    void redrive(const RedriveCommand& command, ReplyToken token);
    bool has_redrives_to_add() const;
    void add_redrives();
    bool add_dead_letters(DeadWalk& walk);
    bool has_dead_to_expire() const;
    Record expire_dead(const Entry& entry, Cause cause) const;
    bool finish_dead_expiry(const DeadWalk& walk, DuePosition next);
    bool is_discarded(const Entry& entry) const;

    // engine_puts.cc: puts, with or without keys, one or many
    struct KeyLookup {
        enum class What : std::uint8_t { free, held, needs_lookup, busy } what = What::free;
        KeyFacts holder;
    };
    Verdict put(PendingCommand& pending, PutCommand& command);
    Verdict put_batch(PendingCommand& pending, PutBatchCommand& command);
    std::optional<Verdict> look_up_keys(PendingCommand& pending, std::span<const PutCommand> puts,
                                        std::vector<std::optional<KeyFacts>>& holders);
    KeyLookup look_up_key(std::string_view name_space, std::string_view queue_name, std::string_view key,
                          const std::optional<KeyFacts>* facts) const;
    Result<Repeat> chosen_recurring(const PutCommand& command, DueMs start) const;
    PutResult put_one(PutCommand& command, const std::optional<KeyFacts>& holder);
    // Keys that earlier puts of the same request hold, as spelled by key_name().
    using HeldKeys = std::unordered_map<std::string, KeyFacts>;
    PutResult put_one_of(PutCommand& command, std::optional<KeyFacts>& holder, HeldKeys& held_here);

    // The message that a command identifies.
    struct Known {
        enum class What : std::uint8_t { entry, ended, unknown, gone, needs_lookup, busy } what = What::gone;
        EntryNumber entry = kNoEntry;
        MessageRow ended;
        bool admitted = false;  // from the lookup result, for this command
    };
    Known find_message(PendingCommand& pending, MessageId id, const std::string* name_space);
    Known expire_or(Known known);
    std::optional<ChangeAnswer> too_late(const Entry& entry) const;
    std::optional<Verdict> answer_unless_here(const Known& known, PendingCommand& pending, MessageId id);
    void withdraw(const Known& known);
    Record changed(const Entry& entry, RecordKind kind, Cause cause) const;
    // The entry that a lease token still holds, or the error.
    std::optional<Verdict> find_leased(PendingCommand& pending, const LeaseToken& lease, Known& known);
    static Error unknown_id(MessageId id);
    static Error gone();
    static Error not_waiting(State state);
    static ChangeAnswer ended_answer(const MessageRow& row);

    // engine_patches.cc: changes of some settings
    Verdict patch(PendingCommand& pending, PatchScheduleCommand& command);
    Verdict patch(PendingCommand& pending, PatchWatchdogCommand& command);
    std::optional<Verdict> read_whole_rule(PendingCommand& pending, Sequence log_position, Sequence& read_position,
                                           std::string& record_body);
    void finish(RuleLookup lookup, FoundRecords records, Generation generation);

    // engine_purge.cc
    bool is_purged(const Entry& entry) const;
    bool take_for_purge(EntryNumber number);
    Verdict purge(EntryNumber number, PendingCommand& pending, Reply reply);
    Verdict purge(const Known& known, PendingCommand& pending, Reply reply);
    static ChangeAnswer purged_answer(ChangeAnswer answer);
    std::size_t walking_purge() const;
    void walk_purge();
    void finish(const PurgeLookup& lookup, const Stretch& stretch, Generation generation);
    void add_purged();
    bool purge_has_work() const;

    // engine_space.cc
    bool is_held_back(const Command& command) const;
    bool has_commands() const;
    void keep_attempts_waiting();
    void answer_without_log();
    void build_for_cleaning();
    void end_redrives();

    // engine_sources.cc
    struct BatchSource {
        // A batch would add some of it now, or have it read.
        bool (*has_work)(const Engine&);
        // The most that the next of it adds to a batch, 0 if there is none: the open segment is closed without space
        // for that.
        std::size_t (*next_bytes)(const Engine&);
        void (Engine::*add)();
        // None of it is on its way to the disk or from it.
        bool (*is_idle)(const Engine&);
    };
    static const std::array<BatchSource, 9> kBatchSources;
    bool has_own_work() const;
    bool is_own_work_done() const;
    std::size_t next_own_bytes() const;

    // engine_batches.cc
    void build_batch();
    // Of a stalled log: commands of compaction, or all others, which are answered.
    enum class Takes : std::uint8_t { commands, puts, cleaning, others };
    void add_epoch();
    // Until the batch is this full.
    void take_commands(CommandQueue::Lines& from, Takes what, std::size_t quarters = 4);
    void add_attempts();
    bool must_close_segment() const;
    void add_cursors();
    void submit_batch(bool closes_segment);
    void apply_durable();
    void apply_next(Operation& operation);
    std::unique_ptr<Batch> finish_commit();
    void apply(Operation& operation);
    void count(const Record& record, QueueNumber in_queue);
    void place_applied(EntryNumber number, bool keeps_live, bool woken);

    // engine_firing.cc
    static_assert(WatchdogTable::kNumberBits <= 61);
    void fire_due();
    void wake(EntryNumber number);
    void settle(EntryNumber number);  // after a change: on the wheel, ready, or out of memory
    void make_ready(EntryNumber number);
    void list_ready(EntryNumber number);
    void evict(EntryNumber number);
    void end_lease(EntryNumber number);
    void unlist(EntryNumber number);  // off the wheel, the ready list and the leases
    void arm(EntryNumber number, DueMs at);
    std::uint32_t ready_max_for(const Entry& entry) const;
    void arm_expiry(EntryNumber number);
    void serve_queues();
    std::size_t serve_next(QueueNumber number);
    std::vector<ReadyKey> take_ready(QueueNumber number, const Waiter& waiter);
    std::size_t grant(QueueNumber number, const Waiter& waiter);
    void fill(Delivered& message, std::string_view record_body);
    void finish(DeliveryLookup lookup, const FoundRecords& records, Generation generation);
    void finish_delivery(Delivery delivery, const FoundRecords& records);
    bool is_due_saved(const Delivery& delivery) const;
    void deliver_held();
    void return_delivery(const Delivery& delivery);
    void end_wait(std::uint64_t number);
    void wait_briefly(std::uint64_t number, Waiter& waiter);
    void drop_waiter(std::uint64_t waiter);
    bool is_read_for(const Queue& at) const;
    void drop_brief_waiters(QueueNumber number);

    // engine_moves.cc
    Verdict reschedule(PendingCommand& pending, const RescheduleCommand& command);
    Verdict fire(PendingCommand& pending, const FireCommand& command);
    // Both: another due time for a waiting message; `field` is the member of the command.
    Verdict move(PendingCommand& pending, MessageId id, const std::string& name_space, DueMs due, Cause cause,
                 const char* field, std::int64_t flex_ms = 0);

    // engine_expiry.cc
    static Error expires_too_soon(std::string field);
    DueMs expiry(EntryNumber number) const;
    bool has_expired(EntryNumber number) const;
    void unsettled_expiry(EntryNumber number);
    void settled_expiry(EntryNumber number);
    void begin_expiry(EntryNumber number);
    Verdict expire(EntryNumber number, PendingCommand& pending);
    void add_expiries();
    bool may_leave(EntryNumber number) const;

    // engine_recurring.cc
    static Error is_recurring_message();
    void begin_spawn(EntryNumber number);
    void requeue_spawn(EntryNumber number);
    std::string_view blocking_reason(EntryNumber number);
    void recheck_spawn(EntryNumber number);
    void read_spawns();
    void finish(const SpawnLookup& lookup, const FoundRecords& records, Generation generation);
    bool has_spawns_to_add() const;
    std::size_t next_spawn_bytes() const;
    void add_spawns();
    bool must_wait(EntryNumber number);
    std::optional<Record> recurring_record(const DueMessages::Item& due);
    Record occurrence_record(MessageId id, const MessageState& recurring, const Record& whole, DueMs due) const;
    void make_occurrences(EntryNumber number, DueMessages::Item due, std::size_t share);

    // engine_transactions.cc
    Status check_transaction(const PutCommand& command) const;
    Status validate_check_queue(const PutCommand& command);
    Verdict settle_transaction(PendingCommand& pending, const SettleCommand& command);
    Record commit_record(const Entry& entry, Cause cause) const;
    Record rollback_record(const Entry& entry, Cause cause) const;
    void settle_prepared(EntryNumber number);
    void recheck_prepared(EntryNumber number);
    void read_prepared();
    void finish(const PreparedLookup& lookup, const FoundRecords& records, Generation generation);
    bool has_prepared_to_settle() const;
    std::size_t next_prepared_bytes() const;
    void settle_overdue_prepared();
    void add_overdue(EntryNumber number, const DueMessages::Item& prepared);
    Queues::NameLimit limit_of_check(const std::string& name_space, const std::string& queue);
    bool can_be_checked(const std::string& name_space, const std::string& queue);
    std::string_view why_check_waits(const MessageState& prepared, const TransactionRule& rule);
    Record check_record(const Entry& entry, const MessageState& prepared, const MessageContent& content) const;

    template <class Rule>
    static bool is_visible(const Rule& rule, const SharedLimits& limits) {
        return !limits || limits->admits_queue(rule.state.rule.queue);
    }

    // engine_inputs.cc
    Verdict take_records(PendingCommand& pending, TakeRecordsCommand& command);
    Verdict relocate_input(PendingCommand& pending, const RelocateSettingsCommand& command);
    void add_input(const std::string& input, std::int64_t offset, ReplyToken token, Reply reply);
    void apply_input(std::string_view record_body, const Operation& operation);

    // engine_schedules.cc
    struct PassedTimes {
        DueMs from_ms = 0;
        DueMs to_ms = 0;
    };
    void begin_schedules(std::vector<ScheduleStart> all);
    void keep_to_zone_data(Schedule& schedule) const;
    Verdict put_schedule(PendingCommand& pending, PutScheduleCommand& command);
    Status check_schedule(const PutScheduleCommand& command) const;
    Result<ScheduleState> state_after(const PutScheduleCommand& command, const Schedule* schedule) const;
    Error unknown_schedule(const std::string& name_space, const std::string& name, const SharedLimits& limits) const;
    Verdict control_schedule(PendingCommand& pending, ControlScheduleCommand& command);
    Verdict fire_schedule(PendingCommand& pending, ControlScheduleCommand& command, Schedule& schedule);
    Verdict relocate_schedule(PendingCommand& pending, const RelocateRuleCommand& command);
    void add_rule(Schedule& schedule, ScheduleState next, const MessageContent* content, PassedTimes passed,
                  ReplyToken token, Reply reply);
    void apply_rule(std::string_view record_body, Operation& operation);
    ScheduleAnswer describe(const Schedule& schedule) const;
    void describe(const DescribeScheduleCommand& command, ReplyToken token, const SharedLimits& limits);
    void finish(ScheduleLookup lookup, const FoundRecords& records, Generation generation);
    void reply_with_content(ScheduleLookup lookup, std::string_view record_body);
    void list_schedules(const ListSchedulesCommand& command, ReplyToken token, const SharedLimits& limits);
    void preview(const PreviewScheduleCommand& command, ReplyToken token, const SharedLimits& limits);
    PreviewAnswer preview_of(const Schedule& schedule, const PreviewScheduleCommand& command) const;
    static std::uint64_t number_at(const Schedule& schedule, DueMs from_ms);

    // engine_runs.cc
    void settle_schedule(Schedule& schedule);
    void arm(Schedule& schedule, DueMs at);
    void wake_schedule(ScheduleNumber number);
    void begin_run(Schedule& schedule);
    std::optional<bool> is_unfinished(MessageId id) const;
    bool has_runs_to_add() const;
    void read_runs();
    void finish(const LastRunLookup& lookup, const std::optional<MessageRow>& row, Generation generation);
    void finish(const RunLookup& lookup, const FoundRecords& records, Generation generation);
    std::size_t run_bytes(std::size_t record_bytes) const;
    void add_runs();
    void make_runs(Schedule& schedule, const DueSchedules::Item& run, std::size_t share, std::size_t& steps_left);
    Status check_run_room(const std::string& name_space, const std::string& queue);
    template <class Rule>
    Record message_by(const std::string& name_space, const Rule& rule, const Record& whole, DueMs nominal_ms,
                      DueMs due_ms) const;
    MessageId add_run(const Schedule& schedule, const Record& whole, const PlannedRun& run, DueMs due);

    // engine_watchdogs.cc
    void begin_watchdogs(std::vector<WatchdogStart> all);
    Error unknown_watchdog(const std::string& name_space, const std::string& name, const SharedLimits& limits) const;
    Status check_watchdog(const PutWatchdogCommand& command) const;
    Verdict put_watchdog(PendingCommand& pending, PutWatchdogCommand& command);
    Verdict feed_watchdog(PendingCommand& pending, const FeedWatchdogCommand& command);
    Verdict remove_watchdog(PendingCommand& pending, const RemoveWatchdogCommand& command);
    Verdict relocate_watchdog(PendingCommand& pending, const RelocateRuleCommand& command);
    void add_watchdog(Watchdog& watchdog, WatchdogState next, const MessageContent* content, ReplyToken token,
                      Reply reply);
    void apply_watchdog(std::string_view record_body, Operation& operation);
    static WatchdogAnswer describe(const Watchdog& watchdog);
    void describe(const DescribeWatchdogCommand& command, ReplyToken token, const SharedLimits& limits);
    void finish(WatchdogLookup lookup, const FoundRecords& records, Generation generation);
    void reply_with_content(WatchdogLookup lookup, std::string_view record_body);
    void list_watchdogs(const ListWatchdogsCommand& command, ReplyToken token, const SharedLimits& limits);

    // engine_firings.cc
    void settle_watchdog(Watchdog& watchdog);
    void arm(Watchdog& watchdog, DueMs at);
    void wake_watchdog(WatchdogNumber number);
    void begin_firing(Watchdog& watchdog);
    void fire_later(Watchdog& watchdog, std::string_view why);
    bool has_firings_to_add() const;
    void read_firings();
    void finish(const FiringLookup& lookup, const FoundRecords& records, Generation generation);
    static std::size_t firing_bytes(std::size_t record_bytes);
    void add_firings();
    void add_firing(Watchdog& watchdog, const DueWatchdogs::Item& prepared);

    // engine_order.cc
    void join_line(EntryNumber number);
    bool wait_in_line(EntryNumber number);
    void unready(EntryNumber number);
    void advance_line(const std::string& name);
    void end_line_lookup(const std::string& name);
    void finish(const OrderLookup& lookup, const Stretch& stretch, Generation generation);
    void check_lines() const;

    // engine_loading.cc
    void load();
    void finish(const DueLookup& lookup, Stretch stretch, Generation generation);
    void finish(const BacklogLookup& lookup, Stretch stretch, Generation generation);
    void finish(const PrefetchLookup& lookup, const FoundRecords& records, Generation generation);
    void read_backlog(QueueNumber number);
    void prefetch(const std::vector<MessageRow>& rows);
    EntryNumber admit(const MessageRow& row);
    void drop(EntryNumber number, Leaving leaving = Leaving::to_disk);
    void sweep();
    DueMs load_cursor() const;

    DueMs durable_load_cursor_ms_ = 0;

    std::vector<MessageId> attempts_;   // started, their record is not written yet
    std::vector<MessageId> exhausted_;  // attempts used up, their end is not written yet
    std::deque<MessageId> expiries_;    // due, their record is not written yet

    DeadLetters dead_letters_{context_};
    Queues queues_{context_, dead_letters_};
    QueueReports reports_{context_, queues_};
    CommandQueue commands_{context_, queues_.namespaces()};
    Seconds seconds_{context_, queues_, commands_};
    Purges purges_{context_, queues_};
    Settings settings_{context_, queues_, reports_, seconds_, dead_letters_, purges_};
    Tokens tokens_;
    InputTable inputs_;

    bool serving_left_ = false;  // the last iteration delivered its maximum before it came to all marked queues
    LeaseSigner signer_;
    Leases leases_;
    std::unordered_map<std::uint64_t, Waiter> waiters_;
    std::unordered_map<ReplyToken, std::uint64_t> waiter_of_reply_;
    // The ticket of a delivery whose body is being read.
    std::unordered_map<ReplyToken, std::uint64_t> delivery_of_reply_;
    std::vector<Delivery> held_;  // complete; they wait for a commit with the current time
    std::uint64_t next_waiter_ = 1;
    std::uint64_t ready_count_ = 0;

    std::deque<MessageId> to_purge_;  // in memory and not leased
    // Expiries that have come, or that come while the message is leased, and are not recorded.
    std::set<DuePosition> unsettled_expiries_;
    // Deadlines of prepared messages that have come, and are not recorded. The load cursor does not pass either of
    // them.
    std::set<DuePosition> unsettled_deadlines_;
    DueMessages due_recurring_;
    DueMessages due_prepared_;  // whose deadline has passed
    DueSchedules due_schedules_;
    DueWatchdogs due_watchdogs_;
    std::size_t recurring_due_ = 0;  // in memory, with `spawning`
    ScheduleTable schedules_;
    WatchdogTable watchdogs_;
    std::string zone_data_;

    // loading
    std::vector<QueueNumber> waiting_for_window_;  // a consumer there waits for due messages to be loaded
    std::uint32_t backlogs_reading_ = 0;
    DueWindow window_;
    OrderLines order_lines_{context_};
    QueueViews views_{context_, earlier_runs_, leases_, schedules_};
};

}  // namespace duewheel
