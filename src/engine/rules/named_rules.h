// What schedules and watchdogs have in common: rules with a name that create messages.
//
// The records of a rule are `rule` records. A whole one includes the content of its messages; all others contain the
// position of that one, so that most changes write only numbers. At most one command on a rule is in a batch, as for
// messages and queues; what it changes is decided by the result.
//
// A message is written whole, with its rule. One batch contains it and the new state of the rule, so after a crash both
// exist or neither. The content is read from the log first. A due rule waits like a put: for the disk while that is
// full, for segments to be sealed, for room in its queue, for the queue's name.
//
// `Kind` names the types and functions of one of the two; what they do differently, they override.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/error_codes.h"
#include "calendar/duration.h"
#include "engine/commands/command_limits.h"
#include "engine/commands/command_traits.h"
#include "engine/commands/refusals.h"
#include "engine/core/batch_writer.h"
#include "engine/messages/due_queue.h"
#include "engine/rules/rule_table.h"
#include "engine/settings/queues.h"
#include "message/records/content.h"
#include "shared/nearest_name.h"

namespace duewheel {

// The nominal times that a change skips; 0: none.
struct PassedTimes {
    DueMs from_ms = 0;
    DueMs to_ms = 0;
};

template <class Kind>
class NamedRules : protected Uses<EngineOptions, RecentTier, ServerTime, EngineCounters, Lookups, RecordCache,
                                  TimerLanes, BatchPipeline, OpenSegment, EarlierRuns, RunState, Effects, BatchWriter> {
  public:
    using Rule = typename Kind::Rule;
    using RuleState = typename Rule::State;
    using Answer = typename Kind::Answer;
    using Due = DueQueue<RuleNumber, typename Kind::Extra>;

    static constexpr bool owns(Subject subject) { return subject == Kind::kSubject; }
    const RuleTable<Rule>& table() const { return table_; }

    // The first time of this run.
    void start() {
        table_.for_each([this](Rule& rule) { place(rule); });
    }
    // The timer of the rule fired.
    void wake(RuleNumber number) {
        if (Rule* rule = table_.find(number)) begin_due(*rule);
    }

    // ---- commands

    // A patch keeps what it does not mention. The content of messages is only in the newest whole record, which is read
    // first; if that was replaced meanwhile, the new one is.
    Verdict decide(PendingCommand& pending, typename Kind::Patch& command) {
        const Rule* rule = table_.find(command.name_space, command.name);
        if (rule != nullptr && rule->in_batch()) return Verdict::deferred;
        if (rule != nullptr && !is_visible(*rule, pending.limits)) {
            return replied(pending, unknown(command.name_space, command.name, pending.limits));
        }
        decltype(RuleState::rule) before;
        RuleRecord whole;
        if (rule != nullptr) {
            if (const auto verdict = read_whole(pending, *rule, command)) return *verdict;
            Result<RuleRecord> read = decode_rule(command.record_body);
            if (!read) return fail(read.error()), Verdict::settled;
            whole = *std::move(read);
            before = rule->state.rule;
        }
        Result<typename Kind::Put> changed = command.change(before, whole.content);
        if (!changed) {
            const bool is_unknown = rule == nullptr && changed.error().code == "missing_member"_code;
            if (!is_unknown) return replied(pending, changed.error());
            Error error = unknown(command.name_space, command.name, pending.limits);
            // The same error for one of another queue as for one that does not exist.
            if (!pending.limits) error.message += "; to create it with this call, " + changed.error().message;
            return replied(pending, std::move(error));
        }
        if (!has_room(record_bytes_max(pending.command))) return Verdict::deferred;
        changed->name_space = command.name_space;
        changed->name = command.name;
        return put(pending, *changed);
    }
    Verdict decide(PendingCommand& pending, typename Kind::Put& command) { return put(pending, command); }
    // The reply says whether it existed.
    Verdict remove(PendingCommand& pending, const std::string& name_space, const std::string& name) {
        Rule* rule = table_.find(name_space, name);
        if (rule != nullptr && rule->in_batch()) return Verdict::deferred;
        Answer answer;
        if (rule == nullptr || !is_visible(*rule, pending.limits)) {
            answer.name_space = name_space;
            answer.name = name;
            answer.removed = false;
            return replied(pending, std::move(answer));
        }
        if (refuse_for_space(pending, Adds::end)) return Verdict::settled;
        answer = describe(*rule);
        answer.removed = true;
        add_state(*rule, RuleState{}, nullptr, pending.token, std::move(answer));
        return Verdict::settled;
    }
    // Compaction writes the whole rule again, unchanged.
    Verdict decide(PendingCommand& pending, const RelocateRuleCommand& command) {
        Rule* rule = table_.find(command.name_space, command.name);
        if (rule != nullptr && rule->in_batch()) return Verdict::deferred;
        if (rule == nullptr || rule->log_position != command.log_position) return replied(pending, RelocateAnswer{});
        const Result<RuleRecord> whole = decode_rule(command.record_body);
        if (!whole) return fail(whole.error()), Verdict::settled;
        add_state(*rule, rule->state, &whole->content, pending.token, RelocateAnswer{true, batch().next_sequence()});
        return Verdict::settled;
    }

    // ---- queries

    void read(const typename Kind::Describe& command, ReplyToken token, const SharedLimits& limits) {
        const Rule* rule = find_visible(command.name_space, command.name, limits);
        if (rule == nullptr) return reply(token, unknown(command.name_space, command.name, limits));
        RuleLookup<Answer> lookup{.token = token, .answer = describe(*rule), .shown_bytes = rule->record_bytes};
        if (const std::string* body = cache_.find(rule->log_position)) return reply_with(std::move(lookup), *body);
        if (lookups_.shown_bytes() + rule->record_bytes > options_.reading_bytes_max) return reply(token, too_busy());
        lookups_.start(ReadRecords{{rule->log_position}}, std::move(lookup));
    }
    void read(const typename Kind::List& command, ReplyToken token, const SharedLimits& limits) {
        if (Status fits = check_page(command.limit, options_.list_limit_max); !fits)
            return reply(token, std::move(fits).error());
        typename Kind::ListAnswer answer;
        std::string_view after = command.after;
        while (const Rule* rule = table_.next_of(command.name_space, after)) {
            after = rule->name();
            if (!rule->exists() || !is_visible(*rule, limits)) continue;
            if (Kind::list(answer).size() == command.limit) {
                answer.complete = false;
                break;
            }
            Kind::list(answer).push_back(describe(*rule));
        }
        reply(token, std::move(answer));
    }
    void finish(RuleLookup<Answer> lookup, const FoundRecords& records, Generation) {
        reply_with(std::move(lookup), records.front().body);
    }

    // ---- records

    // The record is durable.
    void apply(Operation& operation, const RuleRecord& record) {
        Rule* found = table_.find(operation.rule);
        assert(found != nullptr && found->in_batch());
        Rule& rule = *found;
        const std::unique_ptr<RuleState> next = std::move(rule.next);
        if (next->revision == 0) {
            static_cast<void>(wheel_.cancel(rule.timer));
            cache_.erase(rule.log_position);
            forget(rule);
            table_.remove(rule);
            return queues_.namespaces().count_out(record.name_space, Kind::kCount);
        }
        change(rule, *next);
        rule.state = std::move(*next);
        if (record.content.put_ms != 0) {  // a whole record
            cache_.erase(rule.log_position);
            rule.log_position = operation.sequence;
            rule.record_bytes = operation.frame_bytes;
            cache_.insert(rule.log_position, batch().body(operation));
        }
        place(rule);
        count(operation.reply);
        auto* answer = std::get_if<Answer>(&operation.reply);
        if (operation.token == 0 || answer == nullptr) return;
        const Answer before = std::exchange(*answer, describe(rule));
        answer->created = before.created;
        if constexpr (requires { answer->late; }) answer->late = before.late;
    }

    // ---- messages for a batch

    bool has_to_add() const { return due_.has_ready() && !segment_.puts_stalled(); }
    bool has_work() const { return has_to_add() || due_.has_to_read(); }
    bool is_idle() const { return due_.is_idle(); }
    // The most that the first one adds; 0: there is none.
    std::size_t next_bytes() const { return !has_to_add() ? 0 : message_bytes(due_.first_ready().record_body.size()); }

  protected:
    NamedRules(const Uses& uses, Queues& queues) : Uses(uses), queues_(queues) {}
    ~NamedRules() = default;

    // ---- what each kind does by itself

    virtual Verdict put(PendingCommand& pending, typename Kind::Put& command) = 0;
    // Whether a put is valid.
    virtual Status check(const typename Kind::Put& command) const = 0;
    virtual Answer describe(const Rule& rule) const = 0;
    // Puts a rule whose record was just applied, or that was found at the start, where it belongs: on the wheel, among
    // the due ones, or neither.
    virtual void place(Rule& rule) = 0;
    // The rule gets this state, or is removed.
    virtual void change(Rule& rule, const RuleState& next) = 0;
    virtual void forget(Rule&) {}
    virtual void count(const Reply&) {}
    // Before the next state is written.
    virtual void complete(const Rule&, RuleState&) const {}

    // ---- names

    Rule& begin(std::string name_space, std::string name) {
        ++(queues_.namespaces().at(name_space).*Kind::kCount);
        return table_.add(std::move(name_space), std::move(name));
    }
    // A rule of the log, at the start.
    template <class Start>
    Rule& begin(Start& start) {
        Rule& rule = begin(std::move(start.name_space), std::move(start.name));
        rule.term = subject_term(Kind::kSubject, rule.name_space(), rule.name(), Kind::encode(start.state));
        rule.state = std::move(start.state);
        rule.log_position = start.log_position;
        rule.record_bytes = start.record_bytes;
        return rule;
    }
    static bool is_visible(const Rule& rule, const SharedLimits& limits) {
        return !limits || limits->admits_queue(rule.state.rule.queue);
    }
    const Rule* find_visible(std::string_view name_space, std::string_view name, const SharedLimits& limits) const {
        const Rule* rule = table_.find(name_space, name);
        return rule != nullptr && rule->exists() && is_visible(*rule, limits) ? rule : nullptr;
    }
    Error unknown(const std::string& name_space, const std::string& name, const SharedLimits& limits) const {
        std::string hint;
        if (!limits) hint = did_you_mean(nearest_name(name, table_.names_around(name_space, name)));
        if (!hint.empty()) hint += " If not, ";
        return Kind::unknown("no " + std::string(Kind::kName) + " has this name: " + hint + std::string(Kind::kHint));
    }

    // ---- puts

    // The verdict on a put that is deferred or refused; `rule` is null if it is new.
    std::optional<Verdict> refuse(PendingCommand& pending, const typename Kind::Put& command, const Rule* rule) {
        if (rule != nullptr && rule->in_batch()) return Verdict::deferred;
        if (pending.limits && !pending.limits->admits_queue(command.rule.queue)) {
            return replied(pending, outside_queues(*pending.limits, "queue"));
        }
        if (rule != nullptr && !is_visible(*rule, pending.limits)) {
            return replied(pending, unknown(command.name_space, command.name, pending.limits));
        }
        if (Status legal = check(command); !legal) return replied(pending, std::move(legal).error());
        return std::nullopt;
    }
    // The same for a new one, because of limits.
    std::optional<Verdict> refuse_new(PendingCommand& pending, const std::string& name_space) {
        const std::string kind(Kind::kName);
        const Namespace* own = queues_.namespaces().find(name_space);
        if (!queues_.namespaces().may_use_one(name_space, own == nullptr ? 0 : own->*Kind::kCount, table_.size(),
                                              options_.*Kind::kMax)) {
            return replied(pending,
                           Kind::too_many("there may be " + std::to_string(options_.*Kind::kMax) + " " + kind +
                                          "s, and all are in use, or the share of one namespace (four times "
                                          "as many as are left): delete one that is not needed, or raise the setting "
                                          "limits." +
                                          kind + "s_max"));
        }
        if (Status fits = queues_.check_quota(name_space, Kind::kCount, Kind::kQuota, Kind::too_many({}).code, kind);
            !fits) {
            return replied(pending, std::move(fits).error());
        }
        return std::nullopt;
    }
    // What is valid in the rules of both kinds.
    Status check_messages(const std::string& name_space, const MessageTemplate& rule) const {
        if (rule.expires_after_ms > options_.delay_max_ms) {
            return out_of_range("expires_in", "at most " + format_duration(options_.delay_max_ms));
        }
        const QueueNumber queue = recent_.queues().find(name_space, rule.queue);
        const Result<RetryRule> retry = chosen_rule(rule.retry, queues_.retry_rule(queue));
        return retry ? Status() : Status(retry.error());
    }
    MessageContent content_of(const typename Kind::Put& command) const {
        MessageContent content;
        content.put_ms = now_;
        copy_content(command, content);
        return content;
    }
    std::optional<Verdict> refuse_for_puts(const PendingCommand& pending) {
        if (!segment_.refuses_puts()) return std::nullopt;
        ++counters_.refused_full;
        return replied(pending, store_full());
    }
    // Reads the whole record into the command. If that needs a lookup, returns a verdict, and the command is validated
    // again with the result.
    template <class Command>
    std::optional<Verdict> read_whole(PendingCommand& pending, const Rule& rule, Command& command) {
        if (command.log_position == rule.log_position) return std::nullopt;
        command.log_position = rule.log_position;
        if (const std::string* body = cache_.find(rule.log_position)) {
            command.record_body = *body;
            return std::nullopt;
        }
        lookups_.start(ReadRecords{{rule.log_position}}, WholeRuleLookup{std::move(pending)});
        return Verdict::looking_up;
    }
    // Writes the next state; without a queue the rule is removed. `content`: only in a whole record, otherwise null.
    void add_state(Rule& rule, RuleState next, const MessageContent* content, ReplyToken token, Reply with,
                   PassedTimes passed = {}) {
        if (!next.rule.queue.empty()) {
            next.revision = rule.state.revision + 1;
            complete(rule, next);
        }
        const std::string value = Kind::encode(next);
        assert(value.size() <= Kind::kBytesMax);
        RuleRecord record;
        record.time_ms = now_;
        record.subject = Kind::kSubject;
        record.name_space = rule.name_space();
        record.name = rule.name();
        record.value = value;
        record.next_ms = Kind::next_ms(next);
        record.count = Kind::messages(next);
        record.skipped_from = static_cast<std::uint64_t>(passed.from_ms);
        record.skipped_to = static_cast<std::uint64_t>(passed.to_ms);
        if (content != nullptr) record.content = *content;
        if (rule.exists()) {
            record.log_position = rule.log_position;
            record.record_bytes = rule.record_bytes;
            record.revision_before = rule.state.revision;
            record.term_before = rule.term;
        }
        rule.term = subject_term(Kind::kSubject, rule.name_space(), rule.name(), value);
        rule.next = std::make_unique<RuleState>(std::move(next));
        batch().add(std::move(record), kNoEntry, token, std::move(with));
        batch().operations().back().rule = rule.number;
    }

    // ---- messages

    void arm(Rule& rule, DueMs at) {
        if (wheel_.reschedule(rule.timer, static_cast<Tick>(at))) return;
        rule.timer = wheel_.schedule(static_cast<Tick>(at), Kind::kCookie | rule.number, Kind::company(table_.size()));
    }
    void begin_due(Rule& rule) {
        static_cast<void>(wheel_.cancel(rule.timer));
        if (!std::exchange(rule.is_due, true)) due_.add(rule.number);
    }
    // The bytes of one message in a batch, with the new state of its rule.
    static std::size_t message_bytes(std::size_t record_bytes) {
        return record_bytes + Kind::kBytesMax + 2 * kRecordOverheadMax;
    }
    // Whether the queue accepts one more message, for this time of the rule; counts it if so.
    Status take_room(const Rule& rule, DueMs nominal_ms) {
        const std::string& queue = rule.state.rule.queue;
        return queues_.take_room_to_create(recent_.queues().find(rule.name_space(), queue), rule.name_space(), queue,
                                           nominal_ms);
    }
    // A message of the rule. `whole` is its newest whole record.
    MessageRecord message_by(const Rule& by, const RuleRecord& whole, DueMs nominal_ms, DueMs due_ms) const {
        const MessageTemplate& rule = by.state.rule;
        MessageRecord record;
        record.kind = RecordKind::spawn;
        record.id = next_id();
        record.state.due_ms = due_ms;
        record.state.nominal_due_ms = nominal_ms;
        if (rule.expires_after_ms != 0) record.state.expires_ms = due_ms + rule.expires_after_ms;
        record.state.maybe_delivered = earlier_runs_.may_have_created(nominal_ms);
        record.state.priority = rule.priority;
        if (!rule.retry.is_empty()) {
            // It was valid when it was set. If the queue's rule has changed since and the two are not valid together,
            // the queue's rule applies.
            const QueueNumber queue = recent_.queues().find(by.name_space(), rule.queue);
            if (const Result<RetryRule> retry = chosen_rule(rule.retry, queues_.retry_rule(queue))) {
                record.state.retry = *retry;
            }
        }
        record.state.name_space = by.name_space();
        record.state.queue = rule.queue;
        record.state.order_key = rule.order_key;
        record.state.group = rule.group;
        record.content = whole.content;
        record.content.put_ms = now_;
        return record;
    }

    Queues& queues_;
    RuleTable<Rule> table_;
    Due due_;

  private:
    void reply_with(RuleLookup<Answer> lookup, std::string_view record_body) {
        const Result<RuleRecord> whole = decode_rule(record_body);
        if (!whole) return fail(whole.error());
        lookup.answer.has_content = true;
        copy_content(whole->content, lookup.answer);
        reply(lookup.token, std::move(lookup.answer));
    }
};

}  // namespace duewheel
