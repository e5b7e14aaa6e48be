// What must hold for a queue as a whole: nothing is delivered while it is certainly paused, nothing that was purged is
// delivered later, a full queue accepts nothing, and reports about it are true.
//
// A queue is certainly paused from the response that says so until a client requests anything that may end the pause:
// commands on one queue are executed in the order of their submission.
#include <algorithm>

#include "base/error_codes.h"
#include "simulation/oracle.h"

namespace duewheel {
namespace {

using What = ConfigureQueueCommand::What;

// As far as a user sets it.
bool is_same(const QueueSettings& left, const QueueSettings& right) {
    return left.paused == right.paused && left.pending_max == right.pending_max && left.lease_ms == right.lease_ms &&
           left.retry == right.retry && left.webhook == right.webhook && left.kafka == right.kafka &&
           left.leased_max == right.leased_max && left.rate == right.rate &&
           left.group_leased_max == right.group_leased_max && left.group_rate == right.group_rate;
}

bool may_end_a_pause(const ConfigureQueueCommand& command) {
    return command.what == What::resume || command.what == What::remove ||
           (command.what == What::set && !command.settings.paused);
}

}  // namespace

QueueModel& Oracle::queue_of(const std::string& name_space, const std::string& queue) {
    return queues_[{name_space, queue}];
}

void Oracle::configure_submitted(const ConfigureQueueCommand& command, ReplyToken token) {
    QueueModel& queue = queue_of(command.name_space, command.queue);
    queue.open.emplace(token, command);
    if (command.what == What::purge) queue.was_purged = true;
    if (command.what == What::set) rule_may_become(command);
    queue.had_topic |= command.settings.kafka.has_value();
    if (may_end_a_pause(command) && queue.paused) {
        queue.was_paused = {queue.paused->from, now_};
        queue.paused.reset();
    }
}

void Oracle::configure_replied(const Request& request, const QueueAnswer& answer) {
    const auto& command = std::get<ConfigureQueueCommand>(request.command);
    QueueModel& queue = queue_of(command.name_space, command.queue);
    if (answer.queue != command.queue || answer.name_space != command.name_space) {
        return violate("X", "a queue is answered for another one");
    }
    queue.settings = answer.removed ? QueueSettings{} : answer.settings;
    queue.is_known = queue.open.empty();
    queue.settings_step = step_;
    queue.settings_ms = now_;
    queue.delivered.clear();
    for (auto& [name, group] : queue.groups) group.delivered.clear();
    // A target that is gone pauses the queue only if it still has it.
    const bool right = !command.gone_url.empty()      ? command.what == What::pause
                       : command.what == What::pause  ? answer.settings.paused
                       : command.what == What::resume ? !answer.settings.paused
                       : command.what == What::set    ? is_same(answer.settings, command.settings)
                       : command.what == What::remove ? answer.removed.has_value()
                                                      : true;
    if (!right) return violate("X", "a queue's settings are answered otherwise than they were set");
    if (command.what == What::remove) {
        rare_.met(*answer.removed ? Rare::settings_removed : Rare::nothing_to_remove);
        if (*answer.removed && unfinished_in(command.name_space, command.queue).low > 0) {
            return violate("C3", "the settings of a queue were removed although it holds messages");
        }
    }
    if (command.what == What::purge) purge_answered(request, answer);
    if (command.what == What::discard) discard_answered(request, answer);
    const bool may_be_ended = std::any_of(queue.open.begin(), queue.open.end(),
                                          [](const auto& open) { return may_end_a_pause(open.second); });
    if (!queue.settings.paused || may_be_ended) {
        queue.paused.reset();
    } else if (!queue.paused) {
        rare_.met(Rare::paused);
        queue.paused = Pause{now_, next_token_ - 1};
    }
}

void Oracle::configure_closed(const ConfigureQueueCommand& command, ReplyToken token) {
    queue_of(command.name_space, command.queue).open.erase(token);
}

void Oracle::queues_died() {
    for (auto& [name, queue] : queues_) {
        for (const auto& [token, command] : queue.open) {
            queue.is_known = false;
            if (command.what == What::discard) discard_lost(queue, command);
            if (command.what != What::purge) continue;
            const DueMs asked_ms = requests_.at(token).submitted_ms;
            if (queue.purge_lost_ms == 0) queue.purge_lost_ms = asked_ms;
            for (MessageModel& about : messages_) {
                if (is_in(about, name)) may_be_purged(about, asked_ms);
            }
        }
        queue.open.clear();
        if (queue.is_known && queue.settings.purge_through != 0) rare_.met(Rare::died_while_purging);
        if (queue.is_known && queue.settings.discard_before_ms != 0) rare_.met(Rare::died_while_discarding);
    }
}

// Server time may go back over a restart, and a pause holds over it.
void Oracle::queues_started() {
    for (auto& [name, queue] : queues_) {
        queue.was_paused = {};
        if (queue.paused) {
            rare_.met(Rare::paused_at_start);
            queue.paused->from = now_ - 1;
        }
    }
}

bool Oracle::is_in(const MessageModel& about, const QueueKey& name) {
    return about.put.queue == name.second && about.put.name_space == name.first;
}

// ---- purges

// From then on another possible world of it is that the purge has ended it.
void Oracle::may_be_purged(MessageModel& about, DueMs from) {
    if (about.purge == MessageModel::Purge::no) about.purged_ms = from;
    about.purge = std::max(about.purge, MessageModel::Purge::maybe);
    about.set(about.epochs.back().from, about.worlds());
}

// Its put was never answered, and it has turned out to be there: a purge that was answered meanwhile may have met it.
void Oracle::id_learned(MessageModel& about, MessageId id) {
    about.id = id;
    serial_of_id_[id] = about.serial;
    for (const PurgeMark& mark : queue_of(about.put.name_space, about.put.queue).marks) {
        if (id > mark.through || about.purge != MessageModel::Purge::no) continue;
        may_be_purged(about, mark.asked_ms);
    }
}

void Oracle::purge_answered(const Request& request, const QueueAnswer& answer) {
    const auto& command = std::get<ConfigureQueueCommand>(request.command);
    const QueueKey name{command.name_space, command.queue};
    const MessageId through = answer.settings.purge_through;
    if (through != 0) {
        rare_.met(Rare::purge_begun);
        queue_of(name.first, name.second).marks.push_back({through, request.submitted_ms, now_, run_});
    }
    for (MessageModel& about : messages_) {
        if (!is_in(about, name)) continue;
        if (about.id == 0) {  // of a record, which of the two was executed first is not known
            const Worlds worlds = with_open_commands(about, 0);
            const bool may_be_there =
                std::any_of(worlds.begin(), worlds.end(), [](const World& world) { return world.is_unfinished(); });
            if (about.records > 0 && may_be_there) may_be_purged(about, request.submitted_ms);
            continue;
        }
        const bool before = about.answered && about.answered_step < request.step && about.is_surely_unfinished();
        if (before && about.open.empty() && about.id > through && !about.may_have_expired(now_) &&
            !may_have_died(about)) {
            return violate("X", "a purge leaves a message that was there before it", &about);
        }
        if (about.id > through) continue;
        note(about, "purged: through", static_cast<std::int64_t>(through));
        may_be_purged(about, request.submitted_ms);
        // What is dead stays, and may be returned.
        const bool may_stay = may_have_died(about) || about.may_be(World::Phase::dead) || about.returns_open > 0;
        if (!may_stay) about.purge = MessageModel::Purge::surely;
        if (about.is_recurring()) loop_purged(about, through);
        if (!about.deliveries.empty() && may_be_held(about.deliveries.back(), now_))
            rare_.met(Rare::purged_while_leased);
    }
}

void Oracle::check_not_purged(MessageModel& about, const Delivered& delivery) {
    const QueueModel& queue = queue_of(about.put.name_space, about.put.queue);
    for (const PurgeMark& mark : queue.marks) {
        if (delivery.id > mark.through || about.may_be_back) continue;
        about.purge = MessageModel::Purge::surely;
        if (mark.run < run_ || delivery.delivered_ms > mark.answered_ms) {
            return violate("C3",
                           "delivered at " + std::to_string(delivery.delivered_ms) +
                               " although its queue was purged at " + std::to_string(mark.answered_ms),
                           &about);
        }
    }
}

void Oracle::purges_are_over() {
    for (MessageModel& about : messages_) {
        if (about.purge != MessageModel::Purge::surely || about.epochs.empty()) continue;
        if (about.may_have_expired(now_)) continue;  // it may have ended so before the purge came to it
        std::erase_if(about.epochs.back().worlds, [](const World& world) { return world.is_unfinished(); });
        if (about.worlds().empty()) about.epochs.back().worlds = {MessageModel::purged_world(now_)};
    }
}

// ---- pauses and limits

void Oracle::check_not_paused(const LeaseCommand& command, ReplyToken token, const Delivered& delivery,
                              MessageModel& about) {
    const QueueModel& queue = queue_of(command.name_space, command.queue);
    const DueMs at = delivery.delivered_ms;
    const bool in_pause = queue.paused && (at > queue.paused->from || token > queue.paused->answer);
    const bool in_last = queue.was_paused.low < at && at < queue.was_paused.high;
    if (!in_pause && !in_last) return;
    violate("C7",
            "delivered at " + std::to_string(at) + " although its queue is paused since " +
                std::to_string(in_pause ? queue.paused->from : queue.was_paused.low),
            &about);
}

DueRange Oracle::unfinished_in(const std::string& name_space, const std::string& queue) const {
    DueRange count;
    for (const MessageModel& about : messages_) {
        if (!is_in(about, {name_space, queue})) continue;
        const bool stays = about.open.empty() && !about.may_have_expired(now_) && !may_have_died(about);
        if (about.is_surely_unfinished() && stays) ++count.low;
        if (about.may_be_unfinished() || !about.open.empty()) ++count.high;
        if (about.is_recurring()) count.high += static_cast<DueMs>(not_met(about));
    }
    const QueueKey key{name_space, queue};
    count.high += static_cast<DueMs>(runs_not_met(&key) + checks_not_met(&key) + firings_not_met(&key));
    return count;
}

// After a put or a kick, submitted in that step, that brought the message in. A recurring message leaves a place for
// what it makes.
void Oracle::check_limit(const MessageModel& accepted, std::uint64_t submitted_step) {
    const QueueModel& queue = queue_of(accepted.put.name_space, accepted.put.queue);
    if (!queue.is_known || !queue.open.empty() || queue.settings.pending_max == 0) return;
    const auto held = static_cast<std::uint64_t>(unfinished_in(accepted.put.name_space, accepted.put.queue).low);
    const std::uint64_t places = held + (accepted.is_recurring() ? 1 : 0);
    if (places <= queue.settings.pending_max || queue.settings_step >= submitted_step) return;
    violate("C11", "a queue that may hold " + std::to_string(queue.settings.pending_max) + " messages took another one",
            &accepted);
}

// What rules have made may have died of leases whose answers were lost, before anybody met one of it (seed 7995).
bool Oracle::may_hold_dead(const std::string& name_space, const std::string& queue) const {
    const QueueKey key{name_space, queue};
    const auto leases = leases_.find(queue);
    if (leases != leases_.end() && leases->second.open + leases->second.lost > 0) {
        const bool has_unmet = std::any_of(messages_.begin(), messages_.end(), [&](const MessageModel& about) {
            return about.is_recurring() && is_in(about, key) && not_met(about) > 0;
        });
        if (has_unmet || runs_not_met(&key) + checks_not_met(&key) + firings_not_met(&key) > 0) return true;
    }
    return std::any_of(messages_.begin(), messages_.end(), [&](const MessageModel& about) {
        return is_in(about, {name_space, queue}) && (may_have_died(about) || about.may_be(World::Phase::dead));
    });
}

// Some of the puts in one request may be refused when it is executed, and that is answered when the others are on disk:
// what ended meanwhile was there still, and settings that are answered before it came after it.
bool Oracle::may_be_full(const PutCommand& put, const Request& request) {
    const QueueModel& queue = queue_of(put.name_space, put.queue);
    rare_.met(Rare::queue_full);
    if (!queue.is_known || !queue.open.empty() || queue.settings_step >= request.step) return true;
    const auto may_have_been_there = [&](const MessageModel& about) {
        if (!is_in(about, {put.name_space, put.queue})) return false;
        return !about.open.empty() ||
               std::any_of(about.worlds().begin(), about.worlds().end(), [&](const World& world) {
                   return world.is_unfinished() ||
                          (world.phase != World::Phase::absent && world.ended.high >= request.submitted_ms);
               });
    };
    auto held = static_cast<std::uint64_t>(std::count_if(messages_.begin(), messages_.end(), may_have_been_there));
    for (const MessageModel& about : messages_) {
        if (about.is_recurring() && is_in(about, {put.name_space, put.queue})) held += not_met(about);
    }
    const QueueKey key{put.name_space, put.queue};
    held += runs_not_met(&key) + checks_not_met(&key) + firings_not_met(&key);
    return queue.settings.pending_max != 0 && held + (put.repeat ? 2 : 1) >= queue.settings.pending_max;
}

void Oracle::settings_refused(const Request& request, const Error& error) {
    const auto& command = std::get<ConfigureQueueCommand>(request.command);
    const DueRange held = unfinished_in(command.name_space, command.queue);
    const bool may_be = error.code == "queue_not_empty"_code && command.what == What::remove &&
                        (held.high > 0 || may_hold_dead(command.name_space, command.queue));
    if (!may_be) return violate("X", "a queue's settings are refused with " + std::string(name_of(error.code)));
    rare_.met(Rare::queue_not_empty);
}

// Nothing is surely in the queue, and it surely has no settings.
void Oracle::refused_as_unknown(const Request& request) {
    QueueKey name;
    bool may_be_refused = false;
    if (const auto* described = std::get_if<DescribeQueueCommand>(&request.command)) {
        name = {described->name_space, described->queue};
        may_be_refused = true;
    } else if (const auto* groups = std::get_if<ListGroupsCommand>(&request.command)) {
        name = {groups->name_space, groups->queue};
        may_be_refused = true;
    } else if (const auto* group = std::get_if<DescribeGroupCommand>(&request.command)) {
        name = {group->name_space, group->queue};
        may_be_refused = true;
    } else if (const auto* redrive = std::get_if<RedriveCommand>(&request.command)) {
        name = {redrive->name_space, redrive->queue};
        may_be_refused = true;
    } else if (const auto* told = std::get_if<ConfigureQueueCommand>(&request.command)) {
        name = {told->name_space, told->queue};
        may_be_refused = told->what == What::resume || told->what == What::purge || told->what == What::discard ||
                         !told->gone_url.empty();
    }
    if (!may_be_refused) return violate("X", "a command that names no queue is told that it is not known");
    const bool has_dead = std::any_of(messages_.begin(), messages_.end(), [&](const MessageModel& about) {
        const World* certain = about.certain();
        return is_in(about, name) && certain != nullptr && certain->phase == World::Phase::dead && about.open.empty() &&
               !may_be_let_go(about);
    });
    if (has_dead || unfinished_in(name.first, name.second).low > 0) {
        return violate("C1", "a queue with messages is not known");
    }
    const QueueModel& queue = queue_of(name.first, name.second);
    const bool has_settings = queue.is_known && queue.open.empty() && queue.settings.revision != 0;
    if (has_settings && queue.settings_step < request.step) violate("C1", "a queue with settings is not known");
    rare_.met(Rare::queue_unknown);
}

// ---- what is told of a queue

void Oracle::described(const std::string& name_space, const std::string& name, const QueueAnswer& answer) {
    const QueueModel& queue = queue_of(name_space, name);
    const DueRange held = unfinished_in(name_space, name);
    if (answer.queue != name || answer.name_space != name_space) {
        return violate("X", "a queue is told of for another one");
    }
    const auto pending = static_cast<DueMs>(answer.counts.pending);
    if (!held.holds(pending)) {
        return violate("X", "a queue tells of " + std::to_string(pending) + " unfinished messages, and it must be " +
                                std::to_string(held.low) + " to " + std::to_string(held.high));
    }
    if (queue.is_known && queue.open.empty() && !is_same(answer.settings, queue.settings)) {
        return violate("C1", "a queue's settings have changed by themselves");
    }
    if (answer.ready + answer.leased + answer.counts.held > answer.counts.pending) {
        violate("X", "a queue has more ready and leased messages than messages");
    }
}

// Each is told of as if it had been asked for alone; whose that holds a message is omitted only where the page ends
// before it.
void Oracle::queues_listed(const Request& request, const QueueListAnswer& answer) {
    const auto& list = std::get<ListQueuesCommand>(request.command);
    if (answer.queues.size() > list.limit) return violate("C11", "a page of queues is longer than its limit");
    if (!answer.complete && answer.queues.size() < list.limit) {
        return violate("X", "a page of queues ends before its limit, and more are said to come");
    }
    rare_.met(answer.complete ? Rare::queues_listed : Rare::queues_listed_in_part);
    std::string before = list.after;
    std::set<std::string> told;
    for (const QueueAnswer& queue : answer.queues) {
        if (queue.queue <= before) return violate("X", "a page of queues is out of order, or tells of one twice");
        before = queue.queue;
        told.insert(queue.queue);
        described(list.name_space, queue.queue, queue);
        if (violated()) return;
    }
    for (const MessageModel& about : messages_) {
        const std::string& queue = about.put.queue;
        if (about.put.name_space != list.name_space || queue <= list.after || told.contains(queue)) continue;
        if (!answer.complete && queue > before) continue;
        const bool was_there = about.answered && about.answered_step < request.step && about.is_surely_unfinished();
        if (!was_there || !about.open.empty() || about.may_have_expired(latest()) || may_have_died(about)) continue;
        return violate("C1", "a queue with messages is not in the list", &about);
    }
}

}  // namespace duewheel
