// Attempts, dead letters and held messages: which of them may exist, and which must.
//
// A message becomes a dead letter by a failure, which its consumer learns, or when its last lease is lost, of which no
// client learns: then its clients know that it may be live or dead. Known attempts are lower bounds (a delivery that no
// client saw may have begun), so there are also two bounds of the attempts that no longer count.
#include <algorithm>

#include "simulation/oracle.h"

namespace duewheel {

// ---- rules

bool Oracle::rule_is_known(const QueueModel& queue, std::uint64_t since_step) const {
    return queue.is_known && queue.open.empty() && queue.settings_step < since_step;
}

std::vector<RetryRule> Oracle::rules_of(const MessageModel& about, std::uint64_t since_step) const {
    if (about.rule) return {*about.rule};
    const auto queue = queues_.find({about.put.name_space, about.put.queue});
    if (queue == queues_.end()) return {*chosen_rule(about.put.retry, options_.retry)};
    const auto with = [&](const RetryChoice& of_queue) {
        return *chosen_rule(about.put.retry, *chosen_rule(of_queue, options_.retry));
    };
    // What a message says of its own rule is made whole when it is put.
    const std::uint64_t since = about.put.retry.is_empty() ? since_step : std::min(since_step, about.submitted_step);
    if (rule_is_known(queue->second, since)) return {with(queue->second.settings.retry)};
    std::vector<RetryRule> rules;
    for (const RetryChoice& choice : queue->second.rules) rules.push_back(with(choice));
    return rules;
}

// What is known of its rule from now on.
void Oracle::learn_rule(MessageModel& about) {
    std::vector<RetryRule> rules = rules_of(about, 0);
    if (about.answered && !about.put.retry.is_empty()) {
        const std::vector<RetryRule> then = rules_of(about, about.submitted_step);
        if (then.size() == 1) rules = then, about.rule = then.front();
    }
    about.attempts_least = about.attempts_most = rules.front().attempts;
    about.rest_most_ms = 0;
    for (const RetryRule& rule : rules) {
        about.attempts_least = std::min(about.attempts_least, rule.attempts);
        about.attempts_most = std::max(about.attempts_most, rule.attempts);
        about.rest_most_ms = std::max(about.rest_most_ms, 2 * rule.max_ms);
    }
}

// A command that says so was sent.
void Oracle::rule_may_become(const ConfigureQueueCommand& command) {
    QueueModel& queue = queue_of(command.name_space, command.queue);
    const QueueSettings& settings = command.settings;
    queue.lease_times.push_back(settings.lease_ms);
    if (std::find(queue.rules.begin(), queue.rules.end(), settings.retry) != queue.rules.end()) return;
    queue.rules.push_back(settings.retry);
    for (MessageModel& about : messages_) {
        if (is_in(about, {command.name_space, command.queue})) learn_rule(about);
    }
}

bool Oracle::may_last(const LeaseCommand& command, std::int64_t lease_ms) {
    if (command.lease_ms) return lease_ms == *command.lease_ms;
    const std::vector<std::int64_t>& times = queue_of(command.name_space, command.queue).lease_times;
    if (lease_ms != options_.lease_default_ms) rare_.met(Rare::leased_as_the_queue_says);
    return std::any_of(times.begin(), times.end(),
                       [&](std::int64_t time) { return lease_ms == (time == 0 ? options_.lease_default_ms : time); });
}

// ---- attempts

std::uint64_t Oracle::attempts_high(const MessageModel& about) const {
    return about.deliveries.size() + unseen(about);
}

bool Oracle::may_be_dead_after(const MessageModel& about, std::uint32_t attempt) const {
    return attempt >= about.forgiven_low + about.attempts_least;
}

bool Oracle::may_have_died(const MessageModel& about) const {
    return attempts_high(about) >= about.forgiven_low + about.attempts_least;
}

bool Oracle::may_be_let_go(const MessageModel& about, const World& world) const {
    const bool is_dead = world.phase == World::Phase::dead || (world.is_live() && may_have_died(about));
    return is_dead && world.ended.low + options_.dead_kept_ms <= latest();
}

bool Oracle::may_be_let_go(const MessageModel& about) const {
    return std::any_of(about.worlds().begin(), about.worlds().end(),
                       [&](const World& world) { return may_be_let_go(about, world); });
}

// ---- discards
//
// A discard that is answered says who is to go: those that died before an instant that is not later than the call. They
// are dead until its walk comes to them, and then cancelled; from its answer on nobody brings them back.

DueMs Oracle::discarded_until(const MessageModel& about) const {
    const auto queue = queues_.find({about.put.name_space, about.put.queue});
    if (queue == queues_.end()) return 0;
    DueMs until = queue->second.discarded_until;
    for (const auto& [token, command] : queue->second.open) {
        if (command.what != ConfigureQueueCommand::What::discard) continue;
        until = std::max(until, std::min(command.before_ms.value_or(now_), now_));
    }
    return until;
}

// A lease that is lost was held first.
DueMs Oracle::earliest_death(const MessageModel& about, const World& world) const {
    DueMs died = world.ended.low;
    for (const SeenDelivery& delivery : about.deliveries) {
        if (delivery.run == run_ && world.is_live()) died = std::max(died, delivery.delivered_ms);
    }
    return died;
}

bool Oracle::may_be_discarded(const MessageModel& about, const World& world) const {
    const bool is_dead = world.phase == World::Phase::dead || (world.is_live() && may_have_died(about));
    return is_dead && earliest_death(about, world) < discarded_until(about);
}

bool Oracle::may_be_discarded(const MessageModel& about) const {
    return std::any_of(about.worlds().begin(), about.worlds().end(),
                       [&](const World& world) { return may_be_discarded(about, world); });
}

bool Oracle::is_surely_discarded(const MessageModel& about, const World& world, std::uint64_t step) const {
    const auto queue = queues_.find({about.put.name_space, about.put.queue});
    if (world.phase != World::Phase::dead || world.ended.high == 0 || queue == queues_.end()) return false;
    const std::vector<DiscardMark>& marks = queue->second.discards;
    return std::any_of(marks.begin(), marks.end(), [&](const DiscardMark& mark) {
        return world.ended.high < mark.before && mark.answered_step < step;
    });
}

void Oracle::discard_answered(const Request& request, const QueueAnswer& answer) {
    const auto& command = std::get<ConfigureQueueCommand>(request.command);
    QueueModel& queue = queue_of(command.name_space, command.queue);
    const DueMs before = answer.settings.discard_before_ms;
    // So far it goes at least, where somebody is dead.
    const DueMs least = std::min(command.before_ms.value_or(request.submitted_ms), request.submitted_ms);
    if (before > now_) return violate("C3", "a discard is to end who dies later");
    if (before != 0) {
        rare_.met(Rare::discard_begun);
        queue.discards.push_back({before, step_});
        queue.discarded_until = std::max(queue.discarded_until, before);
    }
    for (MessageModel& about : messages_) {
        if (!is_in(about, {command.name_space, command.queue})) continue;
        const World* world = about.certain();
        if (world == nullptr || world->phase != World::Phase::dead) continue;
        note(about, "dead at a discard: before", before);
        const bool should_go = world->ended.high != 0 && world->ended.high < least && about.open.empty();
        const bool is_left = should_go && world->ended.high >= before;
        if (!is_left || may_be_let_go(about) || may_be_discarded(about)) continue;
        return violate("C3", "a discard leaves a message that was dead before it", &about);
    }
}

// Its answer was lost: it may have been executed until now.
void Oracle::discard_lost(QueueModel& queue, const ConfigureQueueCommand& command) {
    queue.discarded_until = std::max(queue.discarded_until, std::min(command.before_ms.value_or(now_), now_));
}

void Oracle::discards_are_over() {
    for (MessageModel& about : messages_) {
        const World* world = about.id == 0 || about.epochs.empty() ? nullptr : about.certain();
        if (world == nullptr || !about.open.empty() || may_be_let_go(about)) continue;
        if (!is_surely_discarded(about, *world, step_ + 1)) continue;
        about.set(about.epochs.back().from, {World{World::Phase::cancelled, {}, {}, {world->ended.low, now_}}});
    }
}

// ---- the way back

// Somebody asks for it to be returned, and it may be among the dead letters.
void Oracle::may_come_back(MessageModel& about) {
    if (attempts_high(about) == 0) return;
    about.may_be_back = true;
    // While its queue is purged it is purged like the others.
    const QueueModel& queue = queue_of(about.put.name_space, about.put.queue);
    if (queue.marks.empty() && queue.open.empty()) return;
    about.purge = std::max(about.purge, MessageModel::Purge::maybe);
}

World Oracle::returned(const World& world, DueRange now) const {
    World next = world;
    next.phase = World::Phase::live;
    next.ended = {};
    if (world.due == kAsItsRuleSays) return next;
    next.due = {std::max(world.due.low, now.low), std::max(world.due.high, now.high)};
    return next;
}

// What was in progress beside it may be executed after it.
void Oracle::returns_closed(MessageModel& about) {
    if (about.returns_open > 0) --about.returns_open;
    about.forgiven_high = std::max(about.forgiven_high, attempts_high(about) + about.open.size());
}

std::vector<MessageModel*> Oracle::in_queue(const RedriveCommand& command) {
    std::vector<MessageModel*> all;
    for (MessageModel& about : messages_) {
        if (about.put.queue == command.queue && about.put.name_space == command.name_space) all.push_back(&about);
    }
    return all;
}

bool Oracle::is_surely_held(const MessageModel& about) const {
    return std::any_of(about.deliveries.begin(), about.deliveries.end(),
                       [&](const SeenDelivery& delivery) { return surely_held(about, delivery, now_); });
}

// ---- a failure

void Oracle::failed(const Request& request, const LeaseEndAnswer& answer, MessageModel& about, SeenDelivery& delivery,
                    const Worlds& live) {
    const auto& command = std::get<FailCommand>(request.command);
    const std::uint32_t attempt = delivery.attempt;
    const std::vector<RetryRule> rules = rules_of(about, request.step);
    const auto [fewest, most_of_all] = std::minmax_element(
        rules.begin(), rules.end(),
        [](const RetryRule& left, const RetryRule& right) { return left.attempts < right.attempts; });
    if (about.put.retry.is_empty() && rules.size() == 1 && rules.front() != options_.retry) {
        rare_.met(Rare::failed_by_the_rule_of_its_queue);
    }
    Worlds next;
    if (answer.outcome == LeaseOutcome::dead) {
        if (attempt < about.forgiven_low + fewest->attempts) {
            return violate("C3",
                           "dead after attempt " + std::to_string(attempt) + ", of which " +
                               std::to_string(about.forgiven_low) + " are forgiven and its rule allows " +
                               std::to_string(fewest->attempts),
                           &about);
        }
        rare_.met(Rare::dead_by_failure);
        for (World world : live) {
            world.phase = World::Phase::dead;
            world.ended = {request.submitted_ms, now_};
            add_world(next, world);
        }
    } else {
        if (about.returns_open == 0 && attempt >= about.forgiven_high + most_of_all->attempts) {
            return violate("C3",
                           "tried again after attempt " + std::to_string(attempt) + ", of which at most " +
                               std::to_string(about.forgiven_high) + " are forgiven and its rule allows " +
                               std::to_string(most_of_all->attempts),
                           &about);
        }
        std::int64_t least = command.retry_in_ms.value_or(kRetryBackoffMaxMs);
        std::int64_t most = command.retry_in_ms.value_or(0);
        const std::uint64_t forgiven_high =
            about.returns_open > 0 ? attempt : std::min<std::uint64_t>(about.forgiven_high, attempt);
        for (std::uint64_t forgiven = about.forgiven_low; !command.retry_in_ms && forgiven <= forgiven_high;
             ++forgiven) {
            const auto failure = static_cast<std::uint32_t>(attempt > forgiven ? attempt - forgiven : 1);
            for (const RetryRule& rule : rules) {
                const std::int64_t rest =
                    std::max(backoff_after_failure_ms(rule, failure, about.id), command.backoff_min_ms);
                least = std::min(least, rest);
                most = std::max(most, rest);
            }
        }
        if (answer.due_ms < request.submitted_ms + least || answer.due_ms > now_ + most) {
            return violate("C4", "due again at " + std::to_string(answer.due_ms) + ", which its rule does not say",
                           &about);
        }
        for (World world : live) {
            world.due = {answer.due_ms, answer.due_ms};
            add_world(next, world);
        }
    }
    delivery.ended = true;
    attempt_ended(delivery, request.command);
    about.recorded = std::max(about.recorded, LifePoint{run_, attempt});
    about.set({run_, attempt}, next);
}

// ---- held and returned

void Oracle::held(ReplyToken token, const ChangeAnswer& answer, MessageModel& about) {
    if (is_surely_held(about)) return violate("C8", "a message inside its lease was set aside by another", &about);
    const Worlds before = explain(about, token, [](const World& world) { return world.is_unfinished(); });
    if (before.empty()) return violate("C4", "answered held, but it is " + describe(about.worlds()), &about);
    rare_.met(before.front().is_live() ? Rare::held : Rare::hold_repeated);
    Worlds next;
    for (World world : before) {
        world.phase = World::Phase::held;
        add_world(next, world);
    }
    about.set({run_, answer.attempts}, next);
    if (about.is_recurring()) loop_held(about);
}

void Oracle::kicked(ReplyToken token, const Request& request, const ChangeAnswer& answer, MessageModel& about) {
    if (is_surely_held(about)) return violate("C8", "a message inside its lease was kicked", &about);
    const Worlds before = explain(about, token, [&](const World& world) {
        if (is_surely_discarded(about, world, request.step)) return false;
        const bool fits = world.phase == World::Phase::held || world.phase == World::Phase::dead ||
                          (world.is_live() && may_be_dead_after(about, answer.attempts));
        // Another answer may have told in the meantime that it had been returned.
        if (world.is_live() && request.epoch + 1 < about.epochs.size() && world.due.holds(answer.due_ms)) return true;
        const World back = returned(world, {request.submitted_ms, now_});
        return fits && back.due.holds(answer.due_ms);
    });
    if (before.empty()) {
        return violate("C4", "kicked to " + std::to_string(answer.due_ms) + ", but it is " + describe(about.worlds()),
                       &about);
    }
    may_come_back(about);
    rare_.met(before.front().phase == World::Phase::held ? Rare::kicked_from_aside : Rare::kicked_from_the_dead);
    about.forgiven_low = std::max(about.forgiven_low, answer.attempts);
    Worlds next;
    for (World world : before) {
        world.phase = World::Phase::live;
        world.ended = {};
        if (!about.is_recurring()) world.due = {answer.due_ms, answer.due_ms};
        add_world(next, world);
    }
    const bool was_dead = before.front().phase == World::Phase::dead && before.size() == 1;
    about.set({run_, answer.attempts}, next);
    if (about.is_recurring()) loop_kicked(answer, about);
    if (!was_dead) return;
    check_limit(about, request.step);
    check_namespace_limit(about, request.step);
}

void Oracle::waits(ReplyToken token, const Request& request, const ChangeAnswer& answer, MessageModel& about) {
    if (is_surely_held(about)) return violate("C8", "a message inside its lease is said to wait", &about);
    const bool is_discard = std::holds_alternative<DiscardCommand>(request.command);
    // It may have been live all the while, or be so by a kick whose answer comes behind this one.
    Worlds live = with_open_commands(about, token);
    std::erase_if(live, [&](const World& world) {
        return !(is_discard ? world.is_unfinished() : world.is_live() || world.is_prepared());
    });
    if (live.empty()) return violate("C4", "answered waiting, but it is " + describe(about.worlds()), &about);
    rare_.met(is_discard ? Rare::discard_found_it_waiting : Rare::kick_found_it_waiting);
    if (live != about.worlds()) about.set({run_, answer.attempts}, live);
}

// Each that was dead when the call came is live again, unless the call came to its limit; others may be.
void Oracle::redrive_replied(const Request& request, const RedriveAnswer& answer) {
    const auto& command = std::get<RedriveCommand>(request.command);
    if (answer.redriven > command.max.value_or(options_.redrive_max)) {
        return violate("C11", "a redrive brought back more than its limit");
    }
    rare_.met(Rare::redriven, answer.redriven);
    if (answer.more) rare_.met(Rare::redrive_met_its_limit);
    std::uint64_t surely_dead = 0;
    for (MessageModel* about : in_queue(command)) {
        const bool was_dead = std::find(request.dead.begin(), request.dead.end(), about->serial) != request.dead.end();
        const World* certain = about->certain();
        const bool is_dead = was_dead && certain != nullptr && certain->phase == World::Phase::dead &&
                             !may_be_let_go(*about) && !may_be_discarded(*about);
        surely_dead += is_dead && about->returns_open == 0 && about->open.empty() ? 1 : 0;
        const bool must = is_dead && !answer.more;
        Worlds next;
        for (const World& world : about->worlds()) {
            if (!must) add_world(next, world);
            const bool may = world.phase == World::Phase::dead || (world.is_live() && may_have_died(*about));
            if (may && !is_surely_discarded(*about, world, request.step))
                add_world(next, returned(world, {request.submitted_ms, now_}));
        }
        if (next == about->worlds()) continue;
        may_come_back(*about);
        about->was_told(now_, step_);
        about->redriven_ms = now_;
        note(*about, "perhaps redriven");
        about->set({run_, 0}, next);
    }
    if (!answer.more && answer.redriven < surely_dead) {
        violate("C3", "a redrive brought back " + std::to_string(answer.redriven) + " of " +
                          std::to_string(surely_dead) + " that were dead");
    }
}

}  // namespace duewheel
