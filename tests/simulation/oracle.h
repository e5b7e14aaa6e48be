// The oracle: a small model of the promises that knows only what clients saw. It receives each request when it is
// submitted, each reply when it arrives, and each crash of the process; it also knows the server time that was passed
// to the process, and what a client of the metrics could read. A violation names the broken promise (docs/promises.md):
//
//     C1 what was answered survives        C6 due as requested, repeats  C10 fail-stop
//     C2 never early                       C7 order, also by order key   C11 limits
//     C3 no loss, nothing after its expiry C8 leases                     C12 isolation of namespaces and queues
//     C4 a cancel with a definite outcome  C9 one message for each key   C13 limits of deliveries
//     X an impossible response
//
// C5, duplicates only where they are promised, is judged as C4, C6, C8 and C9 (docs/simulation.md).
//
// It judges each message separately (message_model.h), and is long, because all of this is one state. It stops at the
// first violation.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/commands/command.h"
#include "engine/core/engine.h"
#include "engine/puts/input_table.h"
#include "engine/settings/token_table.h"
#include "simulation/exported_lines.h"
#include "simulation/input_model.h"
#include "simulation/message_model.h"
#include "simulation/namespace_model.h"
#include "simulation/queue_model.h"
#include "simulation/rare_states.h"
#include "simulation/schedule_model.h"
#include "simulation/token_model.h"
#include "simulation/watchdog_model.h"

namespace duewheel {

// A number above every count in a run.
inline constexpr std::uint64_t kMany = 1'000'000'000'000;

// A time, as shown in the report of a violation.
inline std::string at(DueMs ms) {
    return std::to_string(ms);
}

struct Violation {
    std::string_view clause;
    std::string what;
    std::uint64_t serial = 0;  // of the message concerned; 0: none
};

struct OracleTotals {
    std::uint64_t messages = 0;  // accepted
    std::uint64_t deliveries = 0;
    std::uint64_t replies = 0;
    std::uint64_t requests_lost = 0;
};

class Oracle {
  public:
    // `history_keep_ms`: how long history is certainly kept.
    Oracle(const EngineOptions& options, std::int64_t keep_ms, std::int64_t history_keep_ms, RareStates& rare)
        : options_(options), keep_ms_(keep_ms), rare_(rare), history_keep_ms_(history_keep_ms) {}

    // ---- the process
    void started(DueMs floor_ms, std::uint64_t live_count, std::uint64_t step);
    void died(std::uint64_t step);
    // A stop has written everything, and saved this time: its leases outlive the run. Returns whether there is one.
    bool leases_written(DueMs saved_ms);
    // The first iteration of a run is over, before the first client is served: so many messages are leased.
    void leases_found(std::uint64_t leased);
    // This time was passed to the engine.
    void time_told(DueMs now);
    void set_step(std::uint64_t step) { step_ = step; }
    // Before replies are passed: the least free space at any time since the last ones.
    void space_seen(LogSpace least) { least_space_ = least; }

    // ---- clients
    // Before a command is submitted. Assigns the `serial` of a put's message. `limits`: null without any.
    ReplyToken submitted(const Command& command, const AccessLimits* limits = nullptr);
    // Whether that command must be refused for its limits.
    bool is_outside(ReplyToken token) const { return outside_.contains(token); }
    // The client is gone; only for leases.
    void forgotten(ReplyToken token);
    // The same, and no messages were on their way to it.
    void withdrawn(ReplyToken token);
    // False if the receiver is gone.
    bool replied(const ReplyEffect& effect);

    // ---- what clients know
    // By serial - 1. References stay valid when messages are added.
    using Messages = std::deque<MessageModel>;
    const Messages& messages() const { return messages_; }
    DueMs now() const { return now_; }
    std::uint32_t run() const { return run_; }
    const OracleTotals& totals() const { return totals_; }
    // Lease requests without a reply, which a client may abandon.
    std::vector<ReplyToken> open_leases() const;
    // Whether all messages have certainly ended; none is unfinished or a dead letter.
    bool all_ended() const;
    static bool share_key(const MessageModel& left, const MessageModel& right);
    // Messages that may be held, and can be requested: by id, or by key if their put was not answered.
    std::vector<const MessageModel*> maybe_held();
    // Recurring messages that may not have created all occurrences yet, and whose ids are known.
    std::vector<const MessageModel*> loops_left() const;
    // When the message is due next, if known: for a recurring message, its next occurrence after now.
    std::optional<DueMs> next_due(const MessageModel& message) const;
    // Whether the queue may have dead letters.
    bool may_hold_dead(const std::string& name_space, const std::string& queue) const;
    // By namespace and name: every name that a client has used.
    using Schedules = std::map<std::pair<std::string, std::string>, ScheduleModel>;
    const Schedules& schedules() const { return schedules_; }
    // By serial - 1.
    const std::deque<SchedulePut>& schedule_puts() const { return schedule_puts_; }
    using Watchdogs = std::map<std::pair<std::string, std::string>, WatchdogModel>;
    const Watchdogs& watchdogs() const { return watchdogs_; }
    const std::deque<WatchdogPut>& watchdog_puts() const { return watchdog_puts_; }
    void check_watchdogs();
    // The first nominal time after now, if known.
    std::optional<DueMs> next_time(const ScheduleModel& model) const;
    // The process has started with other zone data, and reports these counts of its schedules first.
    void zones_changed(std::uint32_t version, const std::vector<ScheduleCounters>& counters);
    std::uint32_t zone_version() const { return zone_version_; }
    // Known prepared messages that may not be settled yet, or that became due by their default.
    std::vector<const MessageModel*> halves_left() const;
    // From now on nothing prevents the checks and the default of a prepared message.
    void leave_halves_alone();
    // Consumers have just found every queue empty.
    void queues_are_drained();
    // Consumers got nothing although messages are ready: leases of an earlier run may be all that there may be.
    void leases_are_in_use() { leases_in_use_ = true; }
    // Time jumps: until then every client only sleeps.
    void time_leapt() { drained_ms_ = now_; }
    // Consumers have drained all queues, and each schedule was read: verifies that each run that it reports was
    // delivered.
    void check_schedules();
    // The future due times of messages that may still be delivered, in order.
    std::vector<DueMs> dues_ahead() const;
    // Whether a request other than one that waits has no reply yet.
    bool awaits_answers() const;
    // Verifies that the number of unfinished messages is possible. `leases_are_over`: all leases have ended, and
    // expired messages too.
    void check_live_count(std::uint64_t live_count, std::string_view when, bool leases_are_over = false);
    // Everything has settled: every request was answered except those that wait.
    void check_all_answered();
    // Consumers have drained all queues: a message that should have been delivered is lost.
    void check_nothing_lost();
    // The same for puts of one request that was never answered: all or none of them were executed.
    void check_lost_batches();
    // Every lease has expired and everything has settled: purged messages have ended.
    void purges_are_over();
    // Everything has settled: discards are complete.
    void discards_are_over();
    // Whether the queue is paused, as far as known.
    bool seems_paused(const std::string& name_space, const std::string& queue) {
        return queue_of(name_space, queue).settings.paused;
    }
    // Its settings, if every command that may have changed them was answered; otherwise null.
    const QueueSettings* certain_settings(const std::string& name_space, const std::string& queue) {
        const QueueModel& model = queue_of(name_space, queue);
        return model.is_known && model.open.empty() ? &model.settings : nullptr;
    }

    using Tokens = std::map<std::string, TokenModel>;
    const Tokens& tokens() const { return tokens_; }
    void tokens_found(const TokenTable& tokens, bool is_the_server);
    using Inputs = std::map<std::string, InputModel>;
    const Inputs& inputs() const { return inputs_; }
    void inputs_found(const InputTable::Positions& found, bool is_the_server);

    // Another process reads the log.
    void viewed(const FindRow& find);
    // The log is exported; `find` as for viewed().
    void exported(const ExportedLines& lines, const FindRow& find);

    bool violated() const { return violation_.has_value(); }
    const Violation& violation() const { return *violation_; }
    void violate(std::string_view clause, std::string what, const MessageModel* message = nullptr);
    void violate_delivery(std::string_view clause, MessageId id, std::string what) {
        violate(clause, std::move(what), message_of(id));
    }
    std::string history(std::uint64_t serial) const;

    // The process was told to stop: requests do not wait any more.
    void stops() { is_stopping_ = true; }
    // What the ack of a lease says of its result; empty: nothing.
    static std::string result_of(const LeaseToken& lease);
    // Whether a client holds it, and not a consumer of the server.
    bool is_lease_of_a_client(const LeaseToken& lease) const;

    // The body of the message with this serial, which can be verified by itself.
    static std::string body_of(std::uint64_t serial, std::uint32_t bytes);

  private:
    static constexpr DueMs kNeverMs = INT64_MAX;
    // Simulated clients use fewer queues than this.
    static constexpr std::uint32_t kQueuesAtMost = 10;

    struct Request {
        Command command;
        DueMs submitted_ms = 0;
        std::uint64_t serial = 0;            // of the message concerned; 0: none, or unknown
        std::size_t epoch = 0;               // of that message when it was submitted
        bool known_lease = false;            // a client has received this token
        std::uint64_t step = 0;              // in which it was submitted
        std::uint32_t forgiven_low = 0;      // of that message when it was submitted
        std::uint64_t made_least = 0;        // likewise, of a recurring message; of a prepared message, checks
        std::vector<std::uint64_t> dead{};   // redrive: certain dead letters of the queue at that time
        std::vector<std::uint64_t> batch{};  // of puts: their messages
        std::uint64_t first_of_batch = 0;    // the first message that was not put before
        // Another command that changes this schedule was in progress at the same time.
        bool is_overlapped = false;
        std::uint32_t least_revision = 0;  // of the schedule when the request was submitted
        std::size_t lives = 0;             // of its name, at that time
        std::uint64_t schedule_moves = 0;  // of all schedules, at that time
        bool is_limited = false;           // the command has limits, and what it is about is within them
        DueMs settled_ms = 0;              // when everything had settled for the first time since
        bool was_absent = false;           // its message may not have been there when the request was submitted
    };

    // A request that must be refused, because what it is about is outside the limits that it came with.
    struct OutsideRequest {
        bool names_it = false;  // a namespace or a queue; otherwise it is about a message or a lease
        bool is_of_a_lease = false;
        std::uint64_t serial = 0;  // of that message
    };

    // Puts of one request whose answer was lost.
    struct LostBatch {
        std::vector<std::uint64_t> serials;
        std::uint64_t there = 0;  // one of them that is known to exist
        std::uint64_t not_there = 0;
    };

    MessageModel* message(std::uint64_t serial) { return serial == 0 ? nullptr : &messages_[serial - 1]; }
    const MessageModel* message(std::uint64_t serial) const { return serial == 0 ? nullptr : &messages_[serial - 1]; }
    MessageModel* message_of(MessageId id);
    MessageModel* named_by(const Command& command);
    static std::string_view command_name(const Command& command);
    // The message that a command names by its id or its lease; 0: none.
    static MessageId id_of(const Command& command);
    void note(MessageModel& message, std::string_view what, std::int64_t first = 0, std::int64_t second = 0);

    // What a command does to a world if it is executed between its submission and now.
    void carry_out(const Request& request, const MessageModel& message, const World& world, Worlds& into) const;
    // All worlds that the open commands of the message may have led to, each executed or not, in any order.
    Worlds with_open_commands(const MessageModel& message, ReplyToken except) const;
    // The worlds of the message that fit. Unless all of them fit, also fitting worlds to which open commands may have
    // led: after a crash, one of several worlds may fit although it never existed, while an open command led to another
    // one that fits (seed 5790).
    template <class Fits>
    Worlds explain(MessageModel& message, ReplyToken token, Fits&& fits) {
        Worlds fitting;
        for (const World& world : message.worlds()) {
            if (fits(world)) fitting.push_back(world);
        }
        // A redrive may already have returned the message, because it is answered only when all dead letters of the
        // queue are returned.
        const bool is_certain = fitting.size() == message.worlds().size() && message.returns_open == 0;
        if (is_certain || message.open.empty()) return fitting;
        // A reply may overtake the one of a command that was executed before it.
        if (fitting.empty()) rare_.met(Rare::answered_by_the_command_before);
        for (const World& world : with_open_commands(message, token)) {
            if (fits(world)) add_world(fitting, world);
        }
        return fitting;
    }

    // Attempts: what the message's rule allows, and what may have begun. All rules that may apply to it; certain if no
    // client has changed the rule of its queue since that step.
    std::vector<RetryRule> rules_of(const MessageModel& message, std::uint64_t since_step) const;
    void learn_rule(MessageModel& message);
    bool rule_is_known(const QueueModel& queue, std::uint64_t since_step) const;
    void rule_may_become(const ConfigureQueueCommand& command);
    bool may_last(const LeaseCommand& command, std::int64_t lease_ms);
    std::uint64_t attempts_high(const MessageModel& message) const;
    // A lease that no client ended may have been its last one.
    bool may_have_died(const MessageModel& message) const;
    bool may_be_dead_after(const MessageModel& message, std::uint32_t attempt) const;
    World returned(const World& world, DueRange now) const;
    // Kicks and redrives that are not answered, or were just now.
    void returns_closed(MessageModel& message);
    void may_come_back(MessageModel& about);
    // It may have been a dead letter for so long that it may have expired.
    bool may_be_let_go(const MessageModel& about) const;
    bool may_be_let_go(const MessageModel& about, const World& world) const;
    // Discards of its queue: which may have ended it, and whether one that was answered before `step` certainly has.
    DueMs discarded_until(const MessageModel& about) const;
    bool may_be_discarded(const MessageModel& about) const;
    DueMs earliest_death(const MessageModel& about, const World& world) const;
    static bool takes_back(const Command& command);
    static bool commits(const Command& command);
    DueMs done_since(const MessageModel& about, const Request& request, bool (*does_it)(const Command&)) const;
    bool may_be_discarded(const MessageModel& about, const World& world) const;
    bool is_surely_discarded(const MessageModel& about, const World& world, std::uint64_t step) const;
    void discard_answered(const Request& request, const QueueAnswer& answer);
    void discard_lost(QueueModel& queue, const ConfigureQueueCommand& command);
    std::vector<MessageModel*> in_queue(const RedriveCommand& command);
    bool is_surely_held(const MessageModel& message) const;
    void redrive_replied(const Request& request, const RedriveAnswer& answer);
    void held(ReplyToken token, const ChangeAnswer& answer, MessageModel& message);
    void kicked(ReplyToken token, const Request& request, const ChangeAnswer& answer, MessageModel& message);
    void waits(ReplyToken token, const Request& request, const ChangeAnswer& answer, MessageModel& message);
    void failed(const Request& request, const LeaseEndAnswer& answer, MessageModel& message, SeenDelivery& delivery,
                const Worlds& live);

    // Deliveries that a reply must count.
    std::uint32_t must_be_counted(const MessageModel& message, LifePoint before) const;

    void put_replied(ReplyToken token, const Request& request, const PutAnswer& answer);
    void put_repeated(ReplyToken token, const Request& request, const PutAnswer& answer, MessageModel& about);
    // oracle_puts.cc
    MessageModel* holder_of(const PutCommand& put);
    bool may_have_freed_its_key(const MessageModel& about, OnKey on_key) const;
    bool has_surely_freed_its_key(const MessageModel& about, OnKey on_key, DueMs by) const;
    MessageModel& take_key_over(std::uint64_t serial, const PutCommand& put);
    void put_lost(std::uint64_t serial, const PutCommand& put, DueMs submitted_ms);
    bool may_conflict(const MessageModel& about, const PutCommand& put) const;
    // oracle_on_key.cc
    static bool replaces(const Command& command);
    // Including `within`, which counts from the first put of the message.
    DueRange due_of_put(const PutCommand& put, DueMs submitted_ms, DueRange first_put) const;
    void body_answered(ReplyToken token, const Request& request, const Reply& reply);
    bool may_be_kept(const MessageModel& about, const Request& request, const PutAnswer& answer) const;
    void put_replaced(ReplyToken token, const Request& request, const PutAnswer& answer, MessageModel& about);
    void replace_refused(const MessageModel& about);
    std::uint64_t put_submitted(const PutCommand& put, ReplyToken token);
    void batch_submitted(Request& request, ReplyToken token);
    void batch_replied(ReplyToken token, const Request& request, const PutBatchAnswer& answer);
    bool is_surely_taken(const MessageModel& about, const Request& request);
    void puts_lost(const Request& request);
    void batch_told(MessageModel& about, bool was_put);
    void change_replied(ReplyToken token, const Request& request, const ChangeAnswer& answer);
    void changed(ReplyToken token, const Request& request, const ChangeAnswer& answer, MessageModel& message);
    void too_late(ReplyToken token, const ChangeAnswer& answer, MessageModel& message);
    void check_attempts(const ChangeAnswer& answer, MessageModel& message);
    void lease_end_replied(ReplyToken token, const Request& request, const LeaseEndAnswer& answer);
    void lease_ended(ReplyToken token, const Request& request, const LeaseEndAnswer& answer, MessageModel& message,
                     SeenDelivery& delivery);
    void end_repeated(const Request& request, const LeaseEndAnswer& answer, MessageModel& message,
                      SeenDelivery& delivery);
    void lease_refused(ReplyToken token, const Request& request, MessageModel& message, SeenDelivery& delivery);
    void message_replied(const Request& request, const MessageAnswer& answer);
    void check_content(const MessageModel& message, const MessageAnswer& answer);
    void error_replied(const Request& request, const Error& error);
    void refused_for_space(const Request& request);
    void refused_for_its_share_of_the_disk();
    void refused_as_unknown(const Request& request);
    void lease_replied(ReplyToken token, const Request& request, const LeaseAnswer& answer);
    void delivered(ReplyToken token, const LeaseCommand& command, DueMs submitted_ms, const Delivered& delivery,
                   const Request* by_id = nullptr);
    void check_lease_gaps(MessageModel& message, const SeenDelivery& fresh);
    MessageModel* find_delivered(const LeaseCommand& command, const Delivered& delivery);
    std::uint64_t unknown_with_key_of(std::uint64_t serial, const Content& content) const;
    void check_order(const LeaseAnswer& answer);
    void check_order_key(const MessageModel& message, const SeenDelivery& fresh, DueMs nominal);
    bool surely_precedes(const MessageModel& other, const MessageModel& message, DueMs nominal, DueMs at) const;

    // oracle_message_leases.cc
    void message_lease_submitted(MessageModel& about);
    void message_lease_closed(MessageModel& about);
    void carry_out_lease(const MessageModel& of, const World& world, DueRange now, Worlds& into) const;
    void message_leased(ReplyToken token, const Request& request, const LeaseAnswer& answer);
    bool may_be_unleasable(const MessageModel& about);
    void made_ready(const Request& request, MessageModel& about);
    // The priority that the command gives to its message.
    static std::optional<std::int32_t> priority_of(const Command& command);
    void priority_given(MessageModel& about, std::optional<std::int32_t> priority);

    // oracle_recurring.cc
    void loop_submitted(MessageModel& fresh);
    bool is_bad_loop(const PutCommand& put, DueMs start_ms) const;
    static bool is_loop_of_long_ago(const PutCommand& put, DueMs now);
    bool is_refused_loop(const Request& request, const MessageModel* about, ErrorCode code) const;
    // The maximum number of occurrences created by now, and of those not seen yet.
    std::uint64_t made_at_most(const MessageModel& loop) const;
    std::uint64_t not_met(const MessageModel& loop) const;
    // Whether an occurrence is due, in this queue or in any, whose creation is not known.
    bool is_behind(const MessageModel& loop) const;
    bool some_loop_is_behind(const QueueKey* queue) const;
    bool learn_start(MessageModel& loop, std::uint64_t number, DueMs due_ms);
    void occurrence_made(MessageModel& loop, std::uint64_t number);
    void loop_is_done(MessageModel& loop);
    void loop_held(MessageModel& loop);
    void loop_kicked(const ChangeAnswer& answer, MessageModel& loop);
    void loop_cancelled(MessageModel& loop);
    void loop_purged(MessageModel& loop, MessageId through);
    void check_loop_row(MessageModel& loop, const MessageState& row, std::uint64_t made_least);
    void loop_looked_at(const Request& request, const MessageAnswer& answer, MessageModel& loop);
    void check_made(const MessageModel& about, const MessageAnswer& answer);
    MessageModel* find_occurrence(const Delivered& delivery);
    MessageModel* find_loop(const Delivered& delivery);
    MessageModel& occurrence_met(MessageModel& loop, const Delivered& delivery);
    void asked_before_it_was_met(MessageModel& about, const World& fresh);
    void check_after_its_end(const MessageModel& loop, const MessageModel& occurrence);
    bool may_have_vanished(const MessageModel& loop, std::uint64_t number) const;
    void check_occurrences(const MessageModel& loop);

    // oracle_prepared.cc
    void half_submitted(MessageModel& fresh);
    bool is_bad_half(const PutCommand& put) const;
    bool is_refused_half(const Request& request, ErrorCode code) const;
    void halves_told_time();
    void settle_replied(ReplyToken token, const Request& request, const SettleAnswer& answer);
    // Whether only a commit or a rollback can get this error; if so, judges it.
    bool settle_refused(ReplyToken token, const Request& request, const Error& error);
    void half_told_settled(MessageModel& about);
    void half_stands(const MessageState& row, std::uint64_t checks_least, MessageModel& about);
    void half_looked_at(const Request& request, const MessageRow& row, MessageModel& about);
    void half_delivered(MessageModel& about);
    MessageModel* find_half(const Delivered& delivery);
    MessageModel* find_check(const Delivered& delivery);
    MessageModel* check_met(MessageModel& half, const Delivered& delivery);
    // The maximum number of those not seen yet, in this queue or in any.
    std::uint64_t checks_not_met(const QueueKey* queue) const;
    void check_asked(const MessageModel& about);
    bool is_unhurried(const TransactionRule& rule) const;
    bool half_is_over(const MessageModel& about) const;
    bool has_surely_ended(const MessageModel& about) const;
    bool half_had_its_time(const PreparedModel& half) const;
    std::optional<DueMs> next_due_of_half(const MessageModel& about) const;

    // oracle_schedules.cc
    ScheduleModel* schedule_of(const Command& command);
    static bool changes_a_schedule(const Command& command);
    void schedule_submitted(const Command& command, ReplyToken token, Request& request);
    void schedule_closed(const Command& command, ReplyToken token, bool was_refused);
    void schedules_died();
    void schedule_replied(const Request& request, const ScheduleAnswer& answer);
    void schedule_put_replied(const Request& request, const ScheduleAnswer& answer,
                              const std::optional<ScheduleState>& before, ScheduleModel& model);
    void schedule_removed(const Request& request, const ScheduleAnswer& answer, ScheduleModel& model);
    void schedule_is_gone(const Request& request, ScheduleModel& model);
    void schedules_listed(const Request& request, const ScheduleListAnswer& answer);
    void schedule_refused(const Request& request, const Error& error);
    bool may_be_refused(const SchedulePut& put, const ScheduleModel& model, const Request& request,
                        ErrorCode code) const;
    // oracle_previews.cc
    struct Previewed {
        const ScheduleModel& model;
        const ScheduleState& state;
        const RuleStretch& stretch;
        const TimesModel& times;
        bool is_anew = false;  // `times` are calculated with other zone data than `stretch`
        const PreviewScheduleCommand& asked;
        const PreviewAnswer& answer;
        std::optional<DueMs> from_ms{};  // the instant from which it starts; none: by numbers
        std::uint64_t number = 0;        // of the next time, unless it starts at an instant
        std::optional<DueMs> seen{};     // the last one
    };
    void schedule_previewed(const Request& request, const PreviewAnswer& answer);
    void preview_begins(const Request& request, Previewed& preview);
    void preview_times(const Request& request, Previewed& preview);
    void preview_left_out(const Previewed& preview);
    std::optional<DueMs> next_of_preview(const Previewed& preview) const;
    std::optional<DueMs> missing_in(const Previewed& preview) const;
    // oracle_schedule_states.cc
    void schedule_told(ScheduleModel& model, const ScheduleState& state, const Request& request, bool was_created);
    ScheduleLife* life_told(ScheduleModel& model, const ScheduleState& state, const Request& request, bool was_created);
    bool may_be_two_lives(const ScheduleModel& model, const ScheduleLife& life, const ScheduleState& state) const;
    void check_stretch(ScheduleModel& model, ScheduleLife& life, const SchedulePut& put, const ScheduleState& state);
    void zone_changed(ScheduleModel& model, const ScheduleCounters& counters);
    void check_goes_on(const ScheduleModel& model, const ScheduleTold& before, const ScheduleTold& after);
    void check_passed(const ScheduleModel& model, const ScheduleLife& life, const ScheduleState& before,
                      const ScheduleState& after);
    void schedule_violates(const ScheduleModel& model, std::string_view clause, const std::string& what);
    // oracle_runs.cc
    DueMs due_of_run(const SchedulePut& put, DueMs nominal_ms) const;
    MessageModel run_of(const SchedulePut& put, DueMs due_ms) const;
    MessageModel* find_run(const LeaseCommand& command, const Delivered& delivery);
    MessageModel* run_met(ScheduleModel& model, const SchedulePut& put, const Delivered& delivery);
    void explain_run(ScheduleModel& model, std::uint64_t serial);
    void explain_runs(ScheduleModel& model);
    void check_policies(const ScheduleModel& model, const ScheduleLife& life, const MessageModel& about, DueMs nominal);
    bool was_made_after_its_removal(const ScheduleLife& life, const MessageModel& about) const;
    void schedule_fired(const Request& request, const PutAnswer& answer);
    void check_run_made(const MessageModel& about, const MessageAnswer& answer);
    // The maximum number of those not seen yet, in this queue or in any.
    std::uint64_t runs_not_met(const QueueKey* queue) const;
    std::uint64_t not_met(const ScheduleModel& model) const;
    bool some_schedule_is_behind() const;
    // A waiting run is created with the current settings of the schedule, for a time of its earlier settings.
    bool runs_may_wait(const ScheduleModel& model) const;
    bool run_may_have_vanished(const ScheduleModel& model, DueMs nominal_ms) const;
    void schedule_dues_ahead(std::vector<DueMs>& dues) const;
    void runs_ahead(const ScheduleModel& model, const ScheduleLife& life, std::vector<DueMs>& dues) const;
    bool schedules_go_on() const;
    void check_runs(const ScheduleModel& model, const ScheduleLife& life);

    // oracle_watchdogs.cc
    static bool is_of_watchdogs(const Command& command);
    WatchdogModel* watchdog_of(const Command& command);
    void watchdog_violates(const WatchdogModel& model, std::string_view clause, const std::string& what);
    void watchdog_submitted(const Command& command, ReplyToken token);
    void watchdogs_died();
    void watchdogs_started();
    void watchdog_replied(ReplyToken token, const Request& request, const Reply& reply);
    void watchdog_is_there(WatchdogModel& model, const WatchdogModel::Open& sent);
    void watchdog_was_fed(WatchdogModel& model, const WatchdogModel::Open& sent, DueMs due_ms, bool is_late);
    void watchdog_fed(WatchdogModel& model, const WatchdogModel::Open& sent, const FedAnswer& answer);
    void watchdog_put(WatchdogModel& model, const WatchdogModel::Open& sent, const PutWatchdogCommand& command,
                      const WatchdogAnswer& answer);
    void watchdog_removed(WatchdogModel& model, const WatchdogModel::Open& sent, const WatchdogAnswer& answer);
    void watchdog_told(WatchdogModel& model, const WatchdogModel::Open& sent, const WatchdogState& state);
    // Whether a client may have fed it at that time, including by `also`, which is being answered.
    bool was_fed_at(const WatchdogModel& model, const WatchdogModel::Open& also, DueMs fed_ms) const;
    void watchdogs_listed(const Request& request, const WatchdogListAnswer& answer);
    void watchdog_refused(WatchdogModel& model, const WatchdogModel::Open& sent, const Request& request,
                          const Error& error);
    MessageModel message_by(const WatchdogPut& put, DueMs due_ms) const;
    MessageModel* find_firing(const LeaseCommand& command, const Delivered& delivery);
    MessageModel* firing_met(WatchdogModel& model, const WatchdogPut& put, const Delivered& delivery);
    void check_firing(WatchdogModel& model, const MessageModel& about, const Delivered& delivery);
    bool is_due_by_a_rule(const WatchdogModel& model, DueMs fed_ms, DueMs due_ms);
    bool may_be_once_more(const WatchdogModel& model, const WatchdogRule& rule, DueMs fed_ms, DueMs due_ms) const;
    void check_firing_made(const MessageModel& about, const MessageAnswer& answer);
    std::uint64_t firings_not_met(const QueueKey* queue) const;
    void watchdog_dues_ahead(std::vector<DueMs>& dues) const;
    bool watchdogs_go_on() const;
    bool firing_may_have_vanished(const WatchdogModel& model) const;

    // A listing from its first page to its last.
    struct Standing {
        std::size_t epochs = 0;        // of the message when the listing began
        std::uint64_t deliveries = 0;  // seen and unseen, at that time
        std::uint32_t pages = 0;       // that contained it
        bool was_due = false;
        std::uint64_t made = 0;  // of a recurring message: the exact number of occurrences at that time
    };
    struct Listing {
        ListCommand first;
        std::map<std::uint64_t, std::uint64_t> made_least;  // of recurring messages, when the last page was requested
        std::map<std::uint64_t, Standing> standing;         // by serial: messages that may have to be listed
        std::set<std::uint64_t> ended_before;               // before the newest page was requested
    };
    bool is_listed_in(const MessageModel& message, const ListCommand& list) const;
    void listing_submitted(const ListCommand& list);
    void list_replied(const Request& request, const ListAnswer& answer);
    void row_listed(Listing& listing, const Request& request, const ListedMessage& listed);
    bool stands_exactly(const MessageModel& loop) const;
    void listing_ended(const Listing& listing);

    struct HistoryReading {
        bool begun = false;
        std::set<std::uint64_t> must_be_met;  // serials
        std::set<std::uint64_t> met;
    };
    void history_submitted(const HistoryCommand& asked);
    void history_replied(const Request& request, const HistoryAnswer& answer);
    // oracle_queues.cc
    QueueModel& queue_of(const std::string& name_space, const std::string& queue);
    static bool is_in(const MessageModel& about, const QueueKey& name);
    void configure_submitted(const ConfigureQueueCommand& command, ReplyToken token);
    void configure_replied(const Request& request, const QueueAnswer& answer);
    void configure_closed(const ConfigureQueueCommand& command, ReplyToken token);
    void queues_died();
    void queues_started();
    void may_be_purged(MessageModel& about, DueMs from);
    void id_learned(MessageModel& about, MessageId id);
    void purge_answered(const Request& request, const QueueAnswer& answer);
    // The lease ended with its message, by a purge, or by a cancel while it was leased.
    void lease_purged(ReplyToken token, MessageModel& about, SeenDelivery& delivery);
    // Cancels of what is leased.
    void cancelling(ReplyToken token, const Request& request, const ChangeAnswer& answer, MessageModel& about);
    void check_extension(const Request& request, const LeaseEndAnswer& answer, const MessageModel& about);
    void check_not_purged(MessageModel& about, const Delivered& delivery);
    void check_not_paused(const LeaseCommand& command, ReplyToken token, const Delivered& delivery,
                          MessageModel& about);
    // The minimum and maximum number of unfinished messages of the queue.
    DueRange unfinished_in(const std::string& name_space, const std::string& queue) const;
    void check_limit(const MessageModel& accepted, std::uint64_t submitted_step);
    bool may_be_full(const PutCommand& put, const Request& request);
    void described(const std::string& name_space, const std::string& queue, const QueueAnswer& answer);
    // oracle_groups.cc
    void group_submitted(const ChangeGroupCommand& command);
    void group_closed(const ChangeGroupCommand& command);
    void group_replied(const ChangeGroupCommand& command, const GroupAnswer& answer);
    void group_described(const DescribeGroupCommand& command, const Request& request, const GroupAnswer& answer);
    void groups_died();
    void groups_started();
    std::uint64_t surely_leased(const QueueKey& name, const std::string* group, DueMs since) const;
    void check_limits_of(const MessageModel& about, const SeenDelivery& fresh);
    void check_turns(const LeaseAnswer& answer);
    void check_turns_before(const MessageModel& about, DueMs delivered_ms);
    bool may_be_limited(const MessageModel& about);

    void queues_listed(const Request& request, const QueueListAnswer& answer);
    void settings_refused(const Request& request, const Error& error);
    // oracle_namespaces.cc
    NamespaceModel& namespace_of(const std::string& name_space);
    const NamespaceSettings* limits_since(const std::string& name_space, std::uint64_t step) const;
    static bool is_of_namespaces(const Command& command);
    void namespace_submitted(const Command& command, ReplyToken token);
    void namespaces_died();
    void namespace_replied(ReplyToken token, const Request& request, const Reply& reply);
    void namespace_refused(const Request& request, const Error& error);
    void namespace_told(const std::string& name_space, const NamespaceAnswer& answer);
    void namespaces_listed(const Request& request, const NamespaceListAnswer& answer);
    DueRange unfinished_in_space(const std::string& name_space) const;
    DueRange schedules_in(const std::string& name_space) const;
    DueRange watchdogs_in(const std::string& name_space) const;
    void check_namespace_limit(const MessageModel& accepted, std::uint64_t submitted_step);
    bool may_be_full_space(const PutCommand& put, const Request& request);
    bool may_have_no_room(const PutCommand& put, const Request& request, ErrorCode code);
    void put_tried(const PutCommand& put, ReplyToken token, std::size_t part);
    void put_told(const PutCommand& put, ReplyToken token, std::size_t part, bool is_taken);
    void check_put_rate(const std::string& name_space);
    bool has_rules(const std::string& name_space) const;
    void refused_for_its_rate(const PutCommand& put, const Request& request);
    // oracle_access.cc
    bool outside_submitted(const Command& command, const AccessLimits& limits, ReplyToken token);
    void outside_replied(const OutsideRequest& request, const Reply& reply);
    bool is_forgotten_within_limits(const Request& request, const Error& error) const;
    // oracle_tokens.cc
    static bool is_of_tokens(const Command& command);
    void token_submitted(const Command& command, ReplyToken token);
    void tokens_died();
    void token_replied(const Request& request, const Reply& reply);
    void token_seen(const std::string& id, TokenState state);
    void token_changed(const Request& request, const ChangeTokenCommand& change, const TokenAnswer& answer);
    void check_certificate_names(const Request& request, const AccessToken& token);
    void check_admin_is_kept(const std::string& id, const std::vector<TokenState>& before, const TokenState& after);
    void token_refused(const Request& request, const Error& error);
    void last_admin_refused(const Request& request, const ChangeTokenCommand& change);
    void tokens_listed(const Request& request, const TokenListAnswer& answer);
    // oracle_inputs.cc
    void records_submitted(const TakeRecordsCommand& command, Request& request, ReplyToken token);
    void records_replied(ReplyToken token, const Request& request, const Reply& reply);
    void record_taken(ReplyToken token, const Request& request, std::size_t part);
    void record_found(std::uint64_t serial, const std::vector<InputModel::Way>& ways);

    // Whether a lease is certainly held, and whether it may be.
    bool surely_held(const MessageModel& message, const SeenDelivery& delivery, DueMs until) const;
    bool may_be_held(const SeenDelivery& delivery, DueMs from) const;
    void leases_started();
    // The number of deliveries of the message that may have begun without being seen by a client.
    std::uint64_t unseen(const MessageModel& message) const;
    DueRange due_of(const When& when, DueMs submitted_ms) const;

    bool row_fits(const MessageModel& about, const MessageRow& row, const Worlds& worlds, bool may_die) const;
    // oracle_work.cc
    void check_result(const MessageModel& about, const MessageRow& row, const Worlds& worlds);
    void checkpoint_answered(ReplyToken token, const Request& request, const Reply& reply);
    void check_checkpoint(const MessageModel& about, const Delivered& delivery);
    static AttemptOutcome end_by(const Command& command);
    void attempt_ended(SeenDelivery& delivery, const Command& command);
    void check_timeline(const Request& request, const MessageModel& about, const MessageAnswer& answer);
    static bool waits_for_an_end(const Command& command);
    void check_wait(const Request& request, const MessageModel& about, State state);
    bool may_still_wait(Request& request) const;
    // oracle_views.cc
    bool check_line(const MessageModel& about, const MessageLine& line, const MessageRow& row);
    void check_settings_lines(const ExportedLines& lines);
    // oracle_forecasts.cc
    struct CountRange {
        std::uint64_t least = 0;
        std::uint64_t most = 0;
    };
    // Messages that are due in a range of time, of a queue or of all (an empty name).
    struct Dues {
        std::string name_space;
        std::string queue;
        DueRange when;
    };
    static bool is_among(const Dues& dues, const MessageModel& about);
    bool is_surely_due_in(const Dues& dues, const MessageModel& about) const;
    bool is_surely_elsewhere(const Dues& dues, const MessageModel& about, const Request& request) const;
    std::uint64_t may_be_due_in(const Dues& dues, const Request& request) const;
    void forecast_replied(const Request& request, const ForecastAnswer& answer);
    void check_minute(const Request& request, const ForecastMinute& minute, bool may_count_twice);
    CountRange runs_in(const Dues& dues, const Request& request) const;
    // The greatest server time of any run.
    DueMs latest() const { return std::max(now_, latest_now_); }
    bool is_over(const MessageModel& message) const;
    bool is_refused_expiry(const Request& request, const MessageModel* about) const;
    void close(ReplyToken token, const Request& request);
    void forget_lease(const LeaseCommand& command);

    const EngineOptions options_;
    const std::int64_t keep_ms_;
    RareStates& rare_;
    DueMs now_ = 0;
    DueMs latest_now_ = 0;  // over all runs
    std::uint32_t run_ = 0;
    std::uint64_t step_ = 0;
    DueMs served_by_ms_ = 0;  // by then this run served; 0: it may not yet
    LogSpace least_space_ = LogSpace::enough;
    // By run: its incarnation, once a delivery has shown it.
    std::vector<std::uint64_t> incarnation_of_run_{0};
    Messages messages_;                            // by serial - 1
    std::vector<std::uint64_t> loops_;             // serials of those that may not have created all occurrences yet
    std::vector<std::uint64_t> overdue_prepared_;  // serials of those whose default cannot apply yet
    DueMs alone_from_ms_ = kNeverMs;
    DueMs drained_ms_ = 0;  // when consumers last found all queues empty
    bool leases_in_use_ = false;
    bool is_stopping_ = false;
    DueMs slowest_drain_ms_ = 0;  // the longest time that a drain took
    std::map<MessageId, std::uint64_t> serial_of_id_;
    std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t> serial_of_key_;
    std::map<ReplyToken, Request> requests_;
    std::map<ReplyToken, OutsideRequest> outside_;
    std::set<ReplyToken> forgotten_;  // in this run; a reply may be on its way
    ReplyToken next_token_ = 1;
    struct QueueLeases {
        std::uint64_t open = 0;
        std::uint64_t lost = 0;
    };
    std::map<std::string, QueueLeases> leases_;
    const std::int64_t history_keep_ms_;
    std::map<std::uint64_t, HistoryReading> histories_;
    std::map<std::uint64_t, Listing> listings_;  // by the query that identifies each
    std::vector<LostBatch> lost_batches_;
    std::map<QueueKey, QueueModel> queues_;
    std::map<std::string, NamespaceModel> namespaces_;  // whose limits a client has set, or tried to set
    Tokens tokens_;
    Inputs inputs_;
    Schedules schedules_;
    std::deque<SchedulePut> schedule_puts_;
    Watchdogs watchdogs_;
    std::deque<WatchdogPut> watchdog_puts_;
    std::uint32_t zone_version_ = 0;
    std::uint64_t schedule_moves_ = 0;  // commands that change one, sent and closed
    OracleTotals totals_;
    std::optional<Violation> violation_;
};

}  // namespace duewheel
