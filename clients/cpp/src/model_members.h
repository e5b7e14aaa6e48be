// The members of options and answers by their names in JSON, in order. Written by generate.py: do not change it by
// hand.
#pragma once

#include <concepts>
#include <type_traits>

#include "duewheel/client/models.h"

namespace duewheel::client {

template <class Model, class Wanted>
concept Is = std::same_as<std::remove_const_t<Model>, Wanted>;

template <Is<RetryRule> Model, class Each>
void for_each_member(Model& model, Each&& each) {
    each("attempts", model.attempts);
    each("first", model.first);
    each("factor", model.factor);
    each("max", model.max);
    each("jitter", model.jitter);
}

template <Is<Repeat> Model, class Each>
void for_each_member(Model& model, Each&& each) {
    each("every", model.every);
    each("times", model.times);
    each("factor", model.factor);
    each("max", model.max);
    each("until", model.until);
}

template <Is<CheckBack> Model, class Each>
void for_each_member(Model& model, Each&& each) {
    each("queue", model.queue);
    each("after", model.after);
    each("times", model.times);
}

template <Is<Transaction> Model, class Each>
void for_each_member(Model& model, Each&& each) {
    each("check_back", model.check_back);
    each("otherwise", model.otherwise);
}

template <Is<PutOptions> Model, class Each>
void for_each_member(Model& model, Each&& each) {
    each("delay", model.delay);
    each("due", model.due);
    each("expires_in", model.expires_in);
    each("expires", model.expires);
    each("order_key", model.order_key);
    each("group", model.group);
    each("priority", model.priority);
    each("repeat", model.repeat);
    each("retry", model.retry);
    each("transaction", model.transaction);
    each("held", model.held);
    each("headers", model.headers);
    each("kafka", model.kafka);
    each("content_type", model.content_type);
    each("key", model.key);
    each("on_key", model.on_key);
    each("within", model.within);
    each("imported", model.imported);
}

template <Is<QueueSettings> Model, class Each>
void for_each_member(Model& model, Each&& each) {
    each("target", model.target);
    each("paused", model.paused);
    each("lease", model.lease);
    each("retry", model.retry);
    each("rate", model.rate);
    each("limits", model.limits);
    each("groups", model.groups);
}

template <Is<ScheduleSettings> Model, class Each>
void for_each_member(Model& model, Each&& each) {
    each("queue", model.queue);
    each("cron", model.cron);
    each("every", model.every);
    each("iso", model.iso);
    each("at", model.at);
    each("zone", model.zone);
    each("dst", model.dst);
    each("dst_repeat", model.dst_repeat);
    each("closed", model.closed);
    each("start", model.start);
    each("end", model.end);
    each("times", model.times);
    each("jitter", model.jitter);
    each("misfire", model.misfire);
    each("misfire_window", model.misfire_window);
    each("overlap", model.overlap);
    each("paused", model.paused);
    each("headers", model.headers);
    each("kafka", model.kafka);
    each("content_type", model.content_type);
    each("priority", model.priority);
    each("order_key", model.order_key);
    each("group", model.group);
    each("expires_in", model.expires_in);
    each("retry", model.retry);
}

template <Is<WatchdogSettings> Model, class Each>
void for_each_member(Model& model, Each&& each) {
    each("queue", model.queue);
    each("timeout", model.timeout);
    each("max", model.max);
    each("repeat_every", model.repeat_every);
    each("feed", model.feed);
    each("headers", model.headers);
    each("kafka", model.kafka);
    each("content_type", model.content_type);
    each("priority", model.priority);
    each("order_key", model.order_key);
    each("group", model.group);
    each("expires_in", model.expires_in);
    each("retry", model.retry);
}

template <Is<Attempt> Model, class Each>
void for_each_member(Model& model, Each&& each) {
    each("attempt", model.attempt);
    each("started_ms", model.started);
    each("ended_ms", model.ended);
    each("outcome", model.outcome);
    each("reason", model.reason);
    each("worker", model.worker);
}

template <Is<Check> Model, class Each>
void for_each_member(Model& model, Each&& each) {
    each("message", model.message);
    each("number", model.number);
    each("times", model.times);
    each("otherwise", model.otherwise);
}

template <Is<Receipt> Model, class Each>
void for_each_member(Model& model, Each&& each) {
    each("id", model.id);
    each("state", model.state);
    each("due_ms", model.due);
    each("kept", model.kept);
    each("replaced", model.replaced);
    each("ended", model.ended);
    each("hint", model.hint);
}

template <Is<Message> Model, class Each>
void for_each_member(Model& model, Each&& each) {
    each("id", model.id);
    each("namespace", model.in_namespace);
    each("queue", model.queue);
    each("state", model.state);
    each("due_ms", model.due);
    each("answer_by_ms", model.answer_by);
    each("checks", model.checks);
    each("nominal_due_ms", model.nominal_due);
    each("expires_ms", model.expires);
    each("order_key", model.order_key);
    each("group", model.group);
    each("key", model.key);
    each("priority", model.priority);
    each("attempts", model.attempts);
    each("maybe_delivered", model.maybe_delivered);
    each("next_occurrence", model.next_occurrence);
    each("blocked_by", model.blocked_by);
    each("retry", model.retry);
    each("repeat", model.repeat);
    each("expires_in_ms", model.expires_in);
    each("transaction", model.transaction);
    each("check", model.check);
    each("parent", model.parent);
    each("schedule", model.schedule);
    each("watchdog", model.watchdog);
    each("last_fed_ms", model.last_fed);
    each("occurrence", model.occurrence);
    each("put_ms", model.put);
    each("lease_until_ms", model.lease_until);
    each("cancel_requested", model.cancel_requested);
    each("delivered_ms", model.delivered);
    each("worker", model.worker);
    each("progress", model.progress);
    each("checkpoint", model.checkpoint);
    each("timeline", model.timeline);
    each("ended_ms", model.ended);
    each("reason", model.reason);
    each("result", model.result);
    each("content_type", model.content_type);
    each("headers", model.headers);
    each("kafka", model.kafka);
    each("traceparent", model.traceparent);
}

template <Is<Lease> Model, class Each>
void for_each_member(Model& model, Each&& each) {
    each("id", model.id);
    each("queue", model.queue);
    each("lease", model.token);
    each("lease_until_ms", model.lease_until);
    each("group", model.group);
    each("key", model.key);
    each("checkpoint", model.checkpoint);
    each("content_type", model.content_type);
    each("headers", model.headers);
    each("kafka", model.kafka);
    each("traceparent", model.traceparent);
    each("check", model.check);
    each("parent", model.parent);
    each("schedule", model.schedule);
    each("watchdog", model.watchdog);
    each("last_fed_ms", model.last_fed);
    each("occurrence", model.occurrence);
    each("due_ms", model.due);
    each("delivered_ms", model.delivered);
    each("lateness_ms", model.lateness);
    each("wait_ms", model.wait);
    each("attempt", model.attempt);
    each("maybe_delivered", model.maybe_delivered);
}

template <Is<QueueState> Model, class Each>
void for_each_member(Model& model, Each&& each) {
    each("namespace", model.in_namespace);
    each("queue", model.queue);
    each("paused", model.paused);
    each("paused_by", model.paused_by);
    each("pending", model.pending);
    each("scheduled", model.scheduled);
    each("prepared", model.prepared);
    each("ready", model.ready);
    each("leased", model.leased);
    each("held", model.held);
    each("dead", model.dead);
    each("waiters", model.waiters);
    each("backlog_on_disk", model.backlog_on_disk);
    each("purge", model.purge);
    each("discard", model.discard);
    each("webhook", model.webhook);
    each("kafka", model.kafka);
    each("settings", model.settings);
    each("in_force", model.in_force);
}

}  // namespace duewheel::client
