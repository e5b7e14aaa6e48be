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
// The state, and nearly all decisions, are in its parts (ARCHITECTURE.md, "Parts of the engine"). The engine itself has
// this interface, the order of an iteration (engine.cc), and what becomes part of a batch (engine_batches.cc,
// engine_space.cc).
//
// Single-threaded. The RecentTier is the owner's, and only the engine changes it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/commands/command.h"
#include "engine/commands/queue_views.h"
#include "engine/core/command_queue.h"
#include "engine/core/effects.h"
#include "engine/core/engine_context.h"
#include "engine/core/engine_start.h"
#include "engine/messages/dead_letter_writer.h"
#include "engine/messages/dead_letters.h"
#include "engine/messages/dispatcher.h"
#include "engine/messages/lifecycle.h"
#include "engine/messages/loader.h"
#include "engine/messages/message_commands.h"
#include "engine/messages/message_finder.h"
#include "engine/messages/message_leases.h"
#include "engine/messages/purges.h"
#include "engine/messages/recurring_messages.h"
#include "engine/messages/transactions.h"
#include "engine/puts/inputs.h"
#include "engine/puts/puts.h"
#include "engine/rules/schedules.h"
#include "engine/rules/watchdogs.h"
#include "engine/settings/groups.h"
#include "engine/settings/queues.h"
#include "engine/settings/settings.h"
#include "engine/settings/tokens.h"
#include "engine/views/message_reader.h"
#include "engine/views/queue_reports.h"
#include "journal/journal.h"
#include "store/store.h"

namespace duewheel {

// The base of the engine that exists before its parts.
struct OwnedContext {
    EngineContext context_;
};

class Engine : OwnedContext, UsesState, Use<BatchWriter> {
  public:
    // `recent` contains the replayed log. The first time passed to advance_to() is the server time of the start; a time
    // before that of the log is raised to it.
    Engine(const EngineOptions& options, const EngineStart& start, RecentTier& recent);
    ~Engine();

    // Takes a command. The reply comes as an effect, at once or later; a refusal is a reply too. For a command with
    // limits, whatever is outside of them does not exist: a message, a lease, a schedule or a watchdog is unknown, and
    // lists omit it.
    void submit(Command&& command, ReplyToken token, SharedLimits limits = nullptr);

    // The receiver of this reply is gone: a waiting lease is withdrawn, and messages on their way to it are ready
    // again; a request waits for the end of a message no longer. Commands that change something are executed anyway.
    void forget(ReplyToken token) {
        reader_.forget(token);
        dispatcher_.forget(token);
        message_leases_.forget(token);
    }

    // True: a lease that still waits is withdrawn, and gets no reply. False: messages are on their way to it.
    bool withdraw(ReplyToken token) { return dispatcher_.withdraw(token); }

    // All waiting leases get an empty reply, all requests that wait for the end of a message its state, and none waits
    // from now on.
    void stop_waiting() {
        dispatcher_.stop_waiting();
        reader_.stop_waiting();
    }

    // For an owner that is about to stop, if the engine is idle: passes on a commit with the current time, so that the
    // next run does not start earlier, whatever its clocks say. False if there is none to wait for: the log already has
    // the time, has no space, or this run has not started to serve.
    bool save_time();

    // With little space, puts are refused with `store_full`, including waiting ones; with less, other commands that
    // make the log longer and end nothing; with hardly any, everything that must be written except by compaction
    // (open_segment.h).
    void set_log_space(LogSpace space);
    // The disk space that puts may still use, as last measured.
    void set_free_bytes(std::uint64_t free_bytes) { queues_.set_free_bytes(free_bytes); }

    // While this is true, puts wait instead of starting a segment; commands that end messages may. The maintenance of
    // spare segments may not have noticed yet that only the reserve is left.
    void set_reserve_at_stake(bool at_stake) { segment_.set_reserve_at_stake(at_stake); }

    // Closes the open segment with the next commit, full or not, unless it is empty, so that it can be
    // sealed.
    void close_segment() { segment_.close_soon(); }

    // Sets the time without doing anything: before a command that arrived after the last iteration, so that its times
    // do not count from an old one. `rounded_up`: the next whole millisecond, if a part of this one has passed. Delays
    // count from it, so that what is due after one is not early by the clock of the client.
    void set_time(DueMs now, DueMs rounded_up = 0) {
        context_.time.now = std::max(now_, now);
        context_.time.rounded_up = std::max(context_.time.rounded_up, rounded_up);
    }

    // While this is true, commands wait for the next batch, unless the engine's own work makes one.
    void delay_batch(bool is_delayed) { is_batch_delayed_ = is_delayed; }
    // Commands that no batch has taken yet; those that the commit in flight answers.
    std::size_t commands_waiting() const { return commands_.waiting(); }
    std::size_t commands_in_flight() const { return batches_.is_in_flight() ? batch().answered() : 0; }

    // The end of an iteration: fires what is due, serves consumers, and passes on the next batch if none is in flight.
    // `now` is server time; it never goes back here, whatever is passed.
    void advance_to(DueMs now);

    // The commit that was passed on is durable, and comes back: its bytes are those of the batch. It is applied at once
    // as far as one iteration allows, and in the next ones.
    void committed(Commit commit);

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
    std::uint64_t incarnation() const { return run_.incarnation; }
    // False until the first commit of this run is durable: until then nothing is served.
    bool is_serving() const { return run_.serving; }
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
    // The groups with the most ready and leased messages of all queues: up to `max`, the busiest first. With more than
    // `group_chunk` groups, those of an earlier visit (group_views.h).
    std::vector<GroupAnswer> busiest_groups(std::size_t max) { return views_.groups.busiest(max); }
    // The ready message that the next consumer of the queue would get; none: none is ready in memory. Amortised
    // O(log n) in the number of ready messages.
    std::optional<ReadyKey> first_ready(std::string_view name_space, std::string_view queue);
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
    const InputTable::Positions& inputs() const { return inputs_.table().all(); }
    // By name, up to this number. O(schedules).
    std::vector<ScheduleCounters> schedules_by_name(std::size_t max) const { return schedules_.by_name(max); }

    // Queues with targets for messages that the server delivers itself (settings.h).
    std::vector<TargetQueue> take_changed_targets(TargetKind kind) { return settings_.take_changed_targets(kind); }
    bool have_targets_changed(TargetKind kind) const { return settings_.have_targets_changed(kind); }
    std::uint64_t queues_with_target(TargetKind kind) const { return settings_.queues_with_target(kind); }

    // Verifies every invariant; aborts with a message. Slow: for tests and the simulator.
    void check() const;

  private:
    void fire_due();
    // What decides, reads, starts or finishes something: the engine finds a part by the type of that (part_by_type.h).
    auto parts() {
        return std::tie(reader_, reports_, views_.listings, views_.history, views_.forecasts, views_.groups, messages_,
                        message_leases_, puts_, inputs_, transactions_, recurring_, settings_, groups_, schedules_,
                        watchdogs_, tokens_, lifecycle_, loader_, dispatcher_, dead_letters_, dead_writer_, purges_);
    }

    // ---- batches (engine_batches.cc)

    // What a batch accepts. While the log is stalled: commands of compaction, or all others, which are answered.
    enum class Takes : std::uint8_t { commands, puts, cleaning, others };
    void build_batch();
    void add_epoch();
    // Until the batch is this full.
    void take_commands(CommandQueue::Lines& from, Takes what, std::size_t quarters = 4);
    Verdict validate(PendingCommand& pending);
    bool must_close_segment() const;
    void submit_batch(bool closes_segment);
    void apply_durable();
    void apply_next(Operation& operation);
    void finish_commit();
    void apply(Operation& operation, MessageRecord& record);
    void apply(Operation& operation, const ConfRecord& record);
    void apply(Operation& operation, const RuleRecord& record);
    void apply(const CursorRecord& record) { loader_.apply_cursor(record); }
    void apply(const RelocationDoneRecord&) {}
    void apply(const EpochRecord&) {
        run_.serving = true;
        lifecycle_.begin_grace();
    }
    // The index contains their segment.
    void apply(const OutcomesRecord& record) { counters_.relocated += record.count; }
    void apply_content(const Operation& operation, const MessageRecord& record);
    void count(const MessageRecord& record, QueueNumber in_queue);

    // ---- a full disk (engine_space.cc)

    bool is_held_back(const Command& command) const;
    bool has_commands() const;
    void answer_without_log();
    void build_for_cleaning();

    // ---- sources of work for batches (part_by_type.h)

    // In the order in which a batch takes their work. A new one with clients that wait for it is refused in
    // answer_without_log() too: a stalled log takes no batches.
    static auto sources_of(auto& engine) {
        auto& own = engine.lifecycle_.own_records();
        // A command on an expired message comes too late, so these are added before commands.
        return std::tie(own.expired, own.attempts, engine.dispatcher_, own.exhausted, engine.purges_,
                        engine.dead_writer_, engine.groups_, engine.recurring_, engine.transactions_, engine.schedules_,
                        engine.watchdogs_);
    }
    bool has_own_work() const;
    bool needs_own_batch() const;
    bool may_build_batch() const;
    bool is_own_work_done() const;
    std::size_t next_own_bytes() const;

    DeadLetters dead_letters_{context_};
    Queues queues_{context_, dead_letters_};
    CommandQueue commands_{context_, queues_.namespaces()};
    Lifecycle lifecycle_;
    Loader loader_;
    Dispatcher dispatcher_{context_, queues_, lifecycle_, loader_};
    Purges purges_{context_, queues_, lifecycle_};
    QueueReports reports_{context_, queues_, lifecycle_.turns()};
    Groups groups_{context_, queues_, lifecycle_.turns()};
    Settings settings_{context_, queues_, reports_, dead_letters_, purges_, lifecycle_.turns()};
    MessageFinder finder_{context_, lifecycle_};
    Transactions transactions_{context_, queues_, lifecycle_, finder_};
    RecurringMessages recurring_{context_, queues_, lifecycle_};
    DeadLetterWriter dead_writer_{context_, dead_letters_, queues_, lifecycle_};
    MessageCommands messages_{context_, queues_, lifecycle_, finder_, dead_writer_};
    MessageLeases message_leases_{context_, queues_, lifecycle_, dispatcher_, finder_, dead_writer_};
    MessageReader reader_{context_, lifecycle_, finder_, commands_, recurring_, transactions_};
    Puts puts_{context_, queues_, finder_, transactions_};
    Inputs inputs_;
    Tokens tokens_;

    Schedules schedules_;
    Watchdogs watchdogs_;
    QueueViews views_{context_, queues_, lifecycle_, schedules_.table()};
    bool is_batch_delayed_ = false;
};

}  // namespace duewheel
