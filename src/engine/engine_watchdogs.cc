// Watchdogs by name: set, feed, remove, get, relocate. Their firings are in engine_firings.cc, the effects of feeds and
// firings in watchdog_course.h.
//
// The records of a watchdog are `rule` records. A whole one includes the content of its messages; all others contain
// the position of that one, so that a feed writes only numbers. At most one command on a watchdog is in a batch: a feed
// that meets its firing there, or its firing a feed, waits for the next one and is decided by the result.
//
// A feed is refused while the disk is full except for the reserve, like everything that makes the log longer; the
// messages of watchdogs wait for the disk too.
#include <algorithm>
#include <cassert>

#include "engine/command_limits.h"
#include "engine/copy_content.h"
#include "engine/engine.h"
#include "engine/refusals.h"

namespace duewheel {

// Starts all watchdogs, each armed for its next time.
void Engine::begin_watchdogs(std::vector<WatchdogStart> all) {
    for (WatchdogStart& start : all) {
        ++queues_.namespaces().at(start.name_space).watchdogs;
        Watchdog& watchdog = watchdogs_.add(std::move(start.name_space), std::move(start.name));
        watchdog.term =
            rule_term(kSubjectWatchdog, watchdog.name_space(), watchdog.name(), encode_watchdog(start.state));
        watchdog.state = std::move(start.state);
        watchdog.log_position = start.log_position;
        watchdog.record_bytes = start.record_bytes;
    }
}

Error Engine::unknown_watchdog(const std::string& name_space, const std::string& name,
                               const SharedLimits& limits) const {
    std::string text = "no watchdog has this name: " +
                       (limits ? std::string() : did_you_mean(name, watchdogs_.names_around(name_space, name))) +
                       "check the name, or create it first, which also feeds it";
    return {"unknown_watchdog", std::move(text), "watchdog"};
}

// ---- commands

Status Engine::check_watchdog(const PutWatchdogCommand& command) const {
    const WatchdogRule& rule = command.rule;
    if (rule.timeout_ms < 1 || rule.timeout_ms > kWatchdogMaxMs) {
        return out_of_range("timeout", "the time from the last feed until it fires must be from 1 ms to 100 years");
    }
    if (rule.max_ms != 0 && (rule.max_ms < rule.timeout_ms || rule.max_ms > kWatchdogMaxMs)) {
        return out_of_range("max",
                            "the longest time from the first feed until it fires must be from `timeout` to 100 years");
    }
    if (rule.repeat_every_ms < 0 || rule.repeat_every_ms > kWatchdogMaxMs) {
        return out_of_range("repeat_every", "the interval at which it fires again must be from 1 ms to 100 years");
    }
    if (rule.expires_after_ms > options_.delay_max_ms) {
        return out_of_range("expires_in", "at most " + std::to_string(options_.delay_max_ms) + " ms");
    }
    const QueueNumber queue = recent_.queues().find(command.name_space, rule.queue);
    if (const Result<RetryRule> retry = chosen_rule(rule.retry, queues_.retry_rule(queue)); !retry)
        return retry.error();
    return {};
}

Verdict Engine::put_watchdog(PendingCommand& pending, PutWatchdogCommand& command) {
    Watchdog* watchdog = watchdogs_.find(command.name_space, command.name);
    if (watchdog != nullptr && watchdog->in_batch) return Verdict::deferred;
    if (pending.limits && !pending.limits->admits_queue(command.rule.queue)) {
        return replied(pending, outside_queues(*pending.limits, "queue"));
    }
    if (watchdog != nullptr && !is_visible(*watchdog, pending.limits)) {
        return replied(pending, unknown_watchdog(command.name_space, command.name, pending.limits));
    }
    if (Status legal = check_watchdog(command); !legal) return replied(pending, std::move(legal).error());
    const bool says_the_same = watchdog != nullptr && watchdog->state.rule == command.rule;
    if (says_the_same && !command.feeds) return replied(pending, describe(*watchdog));
    if (watchdog == nullptr && watchdogs_.size() >= options_.watchdogs_max) {
        return replied(pending, Error{"watchdog_limit",
                                      "there are " + std::to_string(options_.watchdogs_max) +
                                          " watchdogs already: delete one that is not needed, or raise the setting "
                                          "limits.watchdogs_max",
                                      "watchdog"});
    }
    if (watchdog == nullptr) {
        if (Status fits = queues_.check_new_watchdog(command.name_space); !fits) {
            return replied(pending, std::move(fits).error());
        }
    }
    if (says_the_same) {
        if (refuse_for_space(pending, Adds::change)) return Verdict::settled;
    } else if (segment_.refuses_puts()) {
        ++counters_.refused_full;
        return replied(pending, store_full());
    }
    WatchdogAnswer answer;
    answer.created = watchdog == nullptr;
    WatchdogState next = watchdog != nullptr ? watchdog->state : WatchdogState{};
    if (answer.created) {
        next.created_ms = now_;
        next.rule = std::move(command.rule);
        feed(next, now_);
    } else {  // whether it is fed in time, the rule until now says
        if (command.feeds) {
            answer.late = is_late_to_feed(next, now_);
            feed(next, now_);
        }
        set_rule(next, std::move(command.rule), now_);
    }
    if (answer.created) {
        ++queues_.namespaces().at(command.name_space).watchdogs;
        watchdog = &watchdogs_.add(command.name_space, command.name);
    }
    if (says_the_same) {
        add_watchdog(*watchdog, std::move(next), nullptr, pending.token, std::move(answer));
        return Verdict::settled;
    }
    MessageContent content;
    content.put_ms = now_;
    copy_content(command, content);
    add_watchdog(*watchdog, std::move(next), &content, pending.token, std::move(answer));
    return Verdict::settled;
}

Verdict Engine::feed_watchdog(PendingCommand& pending, const FeedWatchdogCommand& command) {
    Watchdog* watchdog = watchdogs_.find(command.name_space, command.name);
    if (watchdog != nullptr && watchdog->in_batch) return Verdict::deferred;
    if (watchdog == nullptr || !is_visible(*watchdog, pending.limits)) {
        return replied(pending, unknown_watchdog(command.name_space, command.name, pending.limits));
    }
    if (refuse_for_space(pending, Adds::change)) return Verdict::settled;
    WatchdogState next = watchdog->state;
    FedAnswer answer{watchdog->name_space(), watchdog->name()};
    answer.late = is_late_to_feed(next, now_);
    feed(next, now_);
    answer.due_ms = next.due_ms;
    answer.fired = next.fired;
    add_watchdog(*watchdog, std::move(next), nullptr, pending.token, std::move(answer));
    return Verdict::settled;
}

Verdict Engine::remove_watchdog(PendingCommand& pending, const RemoveWatchdogCommand& command) {
    Watchdog* watchdog = watchdogs_.find(command.name_space, command.name);
    if (watchdog != nullptr && watchdog->in_batch) return Verdict::deferred;
    if (watchdog == nullptr || !is_visible(*watchdog, pending.limits)) {
        WatchdogAnswer nothing;
        nothing.name_space = command.name_space;
        nothing.name = command.name;
        nothing.removed = false;
        return replied(pending, std::move(nothing));
    }
    if (refuse_for_space(pending, Adds::end)) return Verdict::settled;
    WatchdogAnswer answer = describe(*watchdog);
    answer.removed = true;
    add_watchdog(*watchdog, WatchdogState{}, nullptr, pending.token, std::move(answer));
    return Verdict::settled;
}

// As for schedules.
Verdict Engine::relocate_watchdog(PendingCommand& pending, const RelocateRuleCommand& command) {
    Watchdog* watchdog = watchdogs_.find(command.name_space, command.name);
    if (watchdog != nullptr && watchdog->in_batch) return Verdict::deferred;
    if (watchdog == nullptr || watchdog->log_position != command.log_position) {
        return replied(pending, RelocateAnswer{});
    }
    const Result<Record> whole = decode_record(RecordKind::rule, command.record_body);
    if (!whole) {
        effects_.fatal_error = whole.error();
        return Verdict::settled;
    }
    add_watchdog(*watchdog, watchdog->state, &whole->content, pending.token,
                 RelocateAnswer{true, batch().next_sequence()});
    return Verdict::settled;
}

// ---- records

// Writes the next state of the watchdog; without a rule it is removed. `content`: only in a whole record, otherwise
// null.
void Engine::add_watchdog(Watchdog& watchdog, WatchdogState next, const MessageContent* content, ReplyToken token,
                          Reply with) {
    if (!next.rule.queue.empty()) next.revision = watchdog.state.revision + 1;
    const std::string value = encode_watchdog(next);
    assert(value.size() <= kWatchdogBytesMax);
    Record record;
    record.kind = RecordKind::rule;
    record.time_ms = now_;
    record.subject = kSubjectWatchdog;
    record.state.name_space = watchdog.name_space();
    record.name = watchdog.name();
    record.value = value;
    record.next_ms = next.due_ms;
    record.count = next.fired;
    if (content != nullptr) record.content = *content;
    if (watchdog.exists()) {
        record.log_position = watchdog.log_position;
        record.record_bytes = watchdog.record_bytes;
        record.previous.version = watchdog.state.revision;
        record.previous.term = watchdog.term;
    }
    watchdog.in_batch = true;
    batch().add(record, kNoEntry, token, std::move(with));
}

void Engine::apply_watchdog(std::string_view record_body, Operation& operation) {
    const Result<Record> record = decode_record(RecordKind::rule, record_body);
    Result<WatchdogState> state = record ? decode_watchdog(record->value) : record.error();
    if (!state) {
        effects_.fatal_error = state.error();
        return;
    }
    Watchdog* found = watchdogs_.find(record->state.name_space, record->name);
    assert(found != nullptr && found->in_batch);
    Watchdog& watchdog = *found;
    watchdog.in_batch = false;
    if (record->value.empty()) {
        static_cast<void>(wheel_.cancel(watchdog.timer));
        cache_.erase(watchdog.log_position);
        watchdogs_.remove(watchdog);
        return queues_.namespaces().count_out(record->state.name_space, &Namespace::watchdogs);
    }
    counters_.watchdog_feeds += state->feeds - watchdog.state.feeds;
    counters_.watchdog_firings += state->fired - watchdog.state.fired;
    watchdog.state = *std::move(state);
    watchdog.term = rule_term(kSubjectWatchdog, watchdog.name_space(), watchdog.name(), record->value);
    if (is_whole_rule(*record)) {
        cache_.erase(watchdog.log_position);
        watchdog.log_position = operation.sequence;
        watchdog.record_bytes = operation.frame_bytes;
        cache_.insert(watchdog.log_position, record_body);
    }
    settle_watchdog(watchdog);
    if (const auto* fed = std::get_if<FedAnswer>(&operation.reply)) counters_.watchdog_feeds_late += fed->late;
    auto* answer = std::get_if<WatchdogAnswer>(&operation.reply);
    if (answer == nullptr) return;
    counters_.watchdog_feeds_late += answer->late.value_or(false);
    if (operation.token == 0) return;
    const bool created = answer->created;
    const std::optional<bool> late = answer->late;
    *answer = describe(watchdog);
    answer->created = created;
    answer->late = late;
}

// ---- queries

WatchdogAnswer Engine::describe(const Watchdog& watchdog) {
    WatchdogAnswer answer;
    answer.name_space = watchdog.name_space();
    answer.name = watchdog.name();
    answer.state = watchdog.state;
    answer.blocked_by = watchdog.blocked_by;
    return answer;
}

void Engine::describe(const DescribeWatchdogCommand& command, ReplyToken token, const SharedLimits& limits) {
    const Watchdog* watchdog = watchdogs_.find(command.name_space, command.name);
    if (watchdog == nullptr || !watchdog->exists() || !is_visible(*watchdog, limits)) {
        return reply(token, unknown_watchdog(command.name_space, command.name, limits));
    }
    WatchdogLookup lookup{.token = token, .answer = describe(*watchdog), .shown_bytes = watchdog->record_bytes};
    if (const std::string* body = cache_.find(watchdog->log_position))
        return reply_with_content(std::move(lookup), *body);
    if (lookups_.shown_bytes() + watchdog->record_bytes > options_.reading_bytes_max) return reply(token, too_busy());
    lookups_.start(ReadRecords{{watchdog->log_position}}, std::move(lookup));
}

void Engine::finish(WatchdogLookup lookup, const FoundRecords& records, Generation) {
    reply_with_content(std::move(lookup), records.front().body);
}

void Engine::reply_with_content(WatchdogLookup lookup, std::string_view record_body) {
    const Result<Record> whole = decode_record(RecordKind::rule, record_body);
    if (!whole) {
        effects_.fatal_error = whole.error();
        return;
    }
    lookup.answer.has_content = true;
    copy_content(whole->content, lookup.answer);
    reply(lookup.token, std::move(lookup.answer));
}

void Engine::list_watchdogs(const ListWatchdogsCommand& command, ReplyToken token, const SharedLimits& limits) {
    if (command.limit < 1 || command.limit > options_.list_limit_max) {
        return reply(token, out_of_range("limit", "from 1 to " + std::to_string(options_.list_limit_max)));
    }
    WatchdogListAnswer answer;
    std::string_view after = command.after;
    while (const Watchdog* watchdog = watchdogs_.next_of(command.name_space, after)) {
        after = watchdog->name();
        if (!watchdog->exists() || !is_visible(*watchdog, limits)) continue;
        if (answer.watchdogs.size() == command.limit) {
            answer.complete = false;
            break;
        }
        answer.watchdogs.push_back(describe(*watchdog));
    }
    reply(token, std::move(answer));
}

}  // namespace duewheel
