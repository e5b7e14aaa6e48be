#include "engine/rules/watchdogs.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/error_codes.h"
#include "base/invariant.h"
#include "engine/rules/watchdog_course.h"

namespace duewheel {

// ---- commands

Verdict Watchdogs::put(PendingCommand& pending, PutWatchdogCommand& command) {
    Watchdog* watchdog = table_.find(command.name_space, command.name);
    if (const auto verdict = refuse(pending, command, watchdog)) return *verdict;
    const bool says_the_same = watchdog != nullptr && watchdog->state.rule == command.rule;
    if (says_the_same && !command.feeds) return replied(pending, describe(*watchdog));
    if (watchdog == nullptr) {
        if (const auto verdict = refuse_new(pending, command.name_space)) return *verdict;
    }
    if (says_the_same) {
        if (refuse_for_space(pending, Adds::change)) return Verdict::settled;
    } else if (const auto verdict = refuse_for_puts(pending)) {
        return *verdict;
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
    if (answer.created) watchdog = &begin(command.name_space, command.name);
    const MessageContent content = content_of(command);
    add_state(*watchdog, std::move(next), says_the_same ? nullptr : &content, pending.token, std::move(answer));
    return Verdict::settled;
}

Status Watchdogs::check(const PutWatchdogCommand& command) const {
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
    return check_messages(command.name_space, rule);
}

Verdict Watchdogs::decide(PendingCommand& pending, const FeedWatchdogCommand& command) {
    Watchdog* watchdog = table_.find(command.name_space, command.name);
    if (watchdog != nullptr && watchdog->in_batch()) return Verdict::deferred;
    if (watchdog == nullptr || !is_visible(*watchdog, pending.limits)) {
        return replied(pending, unknown(command.name_space, command.name, pending.limits));
    }
    if (refuse_for_space(pending, Adds::change)) return Verdict::settled;
    WatchdogState next = watchdog->state;
    FedAnswer answer{watchdog->name_space(), watchdog->name()};
    answer.late = is_late_to_feed(next, now_);
    feed(next, now_);
    answer.due_ms = next.due_ms;
    answer.fired = next.fired;
    add_state(*watchdog, std::move(next), nullptr, pending.token, std::move(answer));
    return Verdict::settled;
}

// ---- records

void Watchdogs::change(Watchdog& watchdog, const WatchdogState& next) {
    counters_.watchdog_feeds += next.feeds - watchdog.state.feeds;
    counters_.watchdog_firings += next.fired - watchdog.state.fired;
}

void Watchdogs::count(const Reply& with) {
    if (const auto* fed = std::get_if<FedAnswer>(&with)) counters_.watchdog_feeds_late += fed->late;
    if (const auto* put = std::get_if<WatchdogAnswer>(&with)) {
        counters_.watchdog_feeds_late += put->late.value_or(false);
    }
}

WatchdogAnswer Watchdogs::describe(const Watchdog& watchdog) const {
    WatchdogAnswer answer;
    answer.name_space = watchdog.name_space();
    answer.name = watchdog.name();
    answer.state = watchdog.state;
    answer.blocked_by = watchdog.blocked_by;
    return answer;
}

// ---- firings

void Watchdogs::place(Watchdog& watchdog) {
    if (has_to_fire(watchdog.state, now_)) return begin_due(watchdog);
    watchdog.blocked_by = ErrorCode::none;
    if (watchdog.state.due_ms != 0) return arm(watchdog, watchdog.state.due_ms);
    static_cast<void>(wheel_.cancel(watchdog.timer));
}

// There is no capacity for its message. The more watchdogs wait, the longer each interval, so that they do not keep the
// engine busy.
void Watchdogs::fire_later(Watchdog& watchdog, ErrorCode why) {
    watchdog.blocked_by = why;
    arm(watchdog, now_ + options_.spawn_again_ms + static_cast<std::int64_t>(table_.size() / 100));
}

// Takes the next watchdogs that are due, and has their contents read.
void Watchdogs::read_due() {
    if (!due_.has_to_read()) return;
    while (due_.prepared_count() < options_.firings_max && due_.has_due()) {
        Watchdog* watchdog = table_.find(due_.first_due());
        if (watchdog != nullptr && !due_.fits(watchdog->record_bytes, options_.batch_bytes_max)) break;
        due_.pop_due();
        if (watchdog == nullptr) continue;
        if (watchdog->in_batch()) {  // settled when its batch is applied
            watchdog->is_due = false;
            continue;
        }
        if (!has_to_fire(watchdog->state, now_)) {  // a feed that was being committed came in time
            watchdog->is_due = false;
            place(*watchdog);
            continue;
        }
        const QueueNumber queue = recent_.queues().find(watchdog->name_space(), watchdog->state.rule.queue);
        const ErrorCode why =
            segment_.refuses_puts() ? "store_full"_code : queues_.why_not_created(queue, watchdog->name_space(), now_);
        if (why != ErrorCode::none) {
            watchdog->is_due = false;
            fire_later(*watchdog, why);
            continue;
        }
        due_.prepare(watchdog->number, watchdog->log_position, watchdog->record_bytes, cache_);
    }
    if (auto wanted = due_.start_reading()) lookups_.start(*std::move(wanted), FiringLookup{});
}

void Watchdogs::finish(const FiringLookup&, const FoundRecords& records, Generation) {
    if (Status read = due_.take_records(records, "due watchdog"); !read) fail(std::move(read).error());
}

void Watchdogs::add_to_batch() {
    read_due();
    const std::size_t share = std::max<std::size_t>(options_.batch_operations_max / 4 * 3, 2);
    for (std::size_t left = due_.prepared_count(); left > 0 && has_to_add(); --left) {
        const std::size_t bytes = message_bytes(due_.first_ready().record_body.size());
        if (batch().count() + 2 > share || !has_room(bytes)) return;
        const Due::Item firing = due_.take_ready();
        Watchdog* watchdog = table_.find(firing.id);
        if (watchdog == nullptr) continue;
        watchdog->is_due = false;
        if (!watchdog->in_batch()) add_firing(*watchdog, firing);  // otherwise settled when the batch is applied
    }
}

void Watchdogs::add_firing(Watchdog& watchdog, const Due::Item& prepared) {
    if (!has_to_fire(watchdog.state, now_)) return place(watchdog);  // it was fed or set again
    if (prepared.log_position != watchdog.log_position) return begin_due(watchdog);
    if (segment_.refuses_puts()) return fire_later(watchdog, "store_full"_code);
    const Result<RuleRecord> whole = decode_rule(prepared.record_body);
    if (!whole) return fail(whole.error());
    if (const Status room = take_room(watchdog, now_); !room) {
        return fire_later(watchdog, room.error().code);
    }
    watchdog.blocked_by = ErrorCode::none;
    WatchdogState next = watchdog.state;
    const Firing firing = next_firing(next, now_);
    MessageRecord record = message_by(watchdog, *whole, firing.due_ms, firing.due_ms);
    record.content.watchdog = watchdog.name();
    record.content.occurrence = firing.number;
    record.content.fed_ms = firing.fed_ms;
    next.last_id = record.id;
    add(kNoEntry, std::move(record), 0, Error{});
    add_state(watchdog, std::move(next), nullptr, 0, Error{});
}

void Watchdogs::check() const {
    table_.for_each([&](const Watchdog& watchdog) {
        require(watchdog.in_batch() <= batches_.has_batch(), "a watchdog is in a batch that does not exist");
        if (!run_.started || watchdog.in_batch() || watchdog.is_due) return;
        const std::optional<Tick> deadline = wheel_.deadline_of(watchdog.timer);
        require(deadline.has_value() != watchdog.state.is_asleep(), "a watchdog sleeps on the wheel, or is not on it");
        if (!deadline || has_to_fire(watchdog.state, now_)) return;  // it tries again
        require(*deadline == static_cast<Tick>(watchdog.state.due_ms), "a watchdog is not on the wheel when it fires");
    });
}

}  // namespace duewheel
