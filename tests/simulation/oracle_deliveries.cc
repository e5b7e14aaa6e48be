// What each delivery must be: of a message that was put, with its body, not early, not after its end, with its own
// attempt number, and not while another consumer has it.
#include <algorithm>
#include <cstdlib>

#include "simulation/oracle.h"

namespace duewheel {

void Oracle::lease_replied(ReplyToken token, const Request& request, const LeaseAnswer& answer) {
    const auto& command = std::get<LeaseCommand>(request.command);
    if (answer.queue != command.queue) return violate("X", "a lease is answered for another queue");
    if (answer.messages.size() > command.max) return violate("C11", "a lease is answered with more than its limit");
    if (answer.messages.empty()) {
        if (command.wait_ms > 0) rare_.met(Rare::waiter_timed_out);
        return;
    }
    if (now_ > request.submitted_ms) rare_.met(Rare::waiter_served_later);
    if (answer.messages.size() >= 20) rare_.met(Rare::lease_of_twenty_or_more);
    for (const Delivered& delivery : answer.messages) {
        delivered(token, command, request.submitted_ms, delivery);
        if (violated()) return;
    }
    check_order(answer);
    check_turns(answer);
}

MessageModel* Oracle::find_delivered(const LeaseCommand& command, const Delivered& delivery) {
    if (!delivery.watchdog.empty()) return find_firing(command, delivery);
    if (!delivery.schedule.empty()) return find_run(command, delivery);
    if (delivery.check) return find_check(delivery);
    if (delivery.parent != 0 || delivery.occurrence != 0) return find_occurrence(delivery);
    const std::uint64_t serial = std::strtoull(delivery.body.c_str(), nullptr, 10);
    MessageModel* known = message_of(delivery.id);
    if (serial == 0 || serial > messages_.size()) {
        violate("C1", "a body was delivered that nobody put", known);
        return nullptr;
    }
    // A put that was sent again when its key was free is another message with the same content.
    const std::uint64_t actual = known != nullptr && share_key(*known, messages_[serial - 1]) ? known->serial
                                 : known == nullptr ? unknown_with_key_of(serial, delivery)
                                                    : serial;
    MessageModel& about = messages_[actual - 1];
    if (about.put.repeat || (known != nullptr && (known->parent != 0 || known->is_run() || known->is_firing()))) {
        violate("C6", "a loop was delivered itself, or an occurrence as no such thing", &about);
        return nullptr;
    }
    if (known == nullptr && about.id == 0) {  // its put was never answered
        rare_.met(Rare::delivered_though_put_unanswered);
        batch_told(about, true);
        id_learned(about, delivery.id);
        known = &about;
    }
    // The content was read when the lease began; the lease may have ended, and the message been replaced, before the
    // reply (seed 79).
    if (known == &about && about.may_have_content(delivery, delivery.delivered_ms)) return &about;
    violate("C1", "message " + std::to_string(delivery.id) + " was delivered with another content than was put", known);
    return nullptr;
}

// `by_id`: the consumer chose the message; null if it took the next one of its queue.
void Oracle::delivered(ReplyToken token, const LeaseCommand& command, DueMs submitted_ms, const Delivered& delivery,
                       const Request* by_id) {
    ++totals_.deliveries;
    MessageModel* about = find_delivered(command, delivery);
    if (about == nullptr) return;
    note(*about, "delivered: at, attempt", delivery.delivered_ms, delivery.attempt);
    if (about->put.queue != command.queue || about->put.name_space != command.name_space) {
        return violate("C12", "delivered to a consumer of another queue", about);
    }
    if (delivery.delivered_ms < submitted_ms || delivery.delivered_ms > now_) {
        return violate("X", "delivered at a time that is not that of its request", about);
    }
    const bool adds_up = delivery.lateness_ms + delivery.wait_ms <= now_ - delivery.due_ms;
    if (!adds_up || delivery.lateness_ms < 0 || delivery.wait_ms < 0) {
        return violate("X", "lateness and wait are more than the time since the message was due", about);
    }
    if (!may_last(command, delivery.lease_until_ms - delivery.delivered_ms)) {
        return violate("C8", "the lease is not as long as was asked for", about);
    }
    if (now_ > delivery.delivered_ms) rare_.met(Rare::delivery_waited_for_its_body);
    check_not_paused(command, token, delivery, *about);
    check_not_purged(*about, delivery);
    if (about->stopped_in && delivery.attempt > *about->stopped_in) {
        return violate("C4", "delivered again although its cancel was requested while it was leased", about);
    }
    if (about->has_expired(delivery.delivered_ms)) return violate("C3", "delivered although its time was over", about);

    // The worlds of its own time.
    const LifePoint point{run_, delivery.attempt};
    const auto after = std::partition_point(about->epochs.begin(), about->epochs.end(),
                                            [&](const Epoch& epoch) { return epoch.from < point; });
    Worlds possible;
    Worlds later;  // of a redrive or another put that may have come after it
    bool early = false;
    bool other_nominal = false;
    if (after != about->epochs.begin()) {
        // What brings it back may be answered later: a redrive when all of its queue are there.
        const Worlds& then = (after - 1)->worlds;
        const bool may_have_come_back =
            about->returns_open > 0 && std::any_of(then.begin(), then.end(), [](const World& world) {
                return world.phase == World::Phase::dead || world.phase == World::Phase::held;
            });
        // And so may what commits it.
        const bool was_prepared =
            std::any_of(then.begin(), then.end(), [](const World& world) { return world.is_prepared(); });
        // And so may a lease by its id that made it due, when its content is read.
        const bool was_leased_by_id = std::any_of(about->open.begin(), about->open.end(), [&](ReplyToken open) {
            return std::holds_alternative<LeaseMessageCommand>(requests_.at(open).command);
        });
        Worlds all = then;
        if (may_have_come_back || was_prepared || was_leased_by_id) {
            for (const World& world : with_open_commands(*about, 0)) add_world(all, world);
        }
        if (by_id != nullptr) {
            for (const World& world : with_open_commands(*about, 0)) add_world(all, world);
            for (const World& world : Worlds(all)) carry_out(*by_id, *about, world, all);
        }
        const bool may_come_later = delivery.delivered_ms <= std::max(about->redriven_ms, about->replaced_ms);
        for (World world : all) {
            if (!world.is_live()) continue;
            early |= world.due.low > delivery.delivered_ms;
            if (world.due.low > delivery.delivered_ms) {
                if (may_come_later) add_world(later, world);
                continue;
            }
            other_nominal |= !world.nominal.holds(delivery.due_ms);
            if (!world.nominal.holds(delivery.due_ms)) {
                if (delivery.delivered_ms <= about->replaced_ms) add_world(later, world);
                continue;
            }
            if (world.due.high > delivery.delivered_ms && may_come_later) {
                World back = world;
                back.due.low = delivery.delivered_ms;
                add_world(later, back);
            }
            world.due.high = std::min(world.due.high, delivery.delivered_ms);
            add_world(possible, world);
        }
    }
    if (possible.empty() && early) return violate("C2", "delivered before it was due", about);
    if (possible.empty() && other_nominal) {
        return violate("C6", "delivered as due at " + std::to_string(delivery.due_ms) + ", which it was not", about);
    }
    if (possible.empty()) return violate("C4", "delivered although it is " + describe(about->worlds()), about);
    if (about->half) half_delivered(*about);
    if (after == about->epochs.end()) {
        if (about->worlds().size() > 1 && possible.size() == 1) rare_.met(Rare::unanswered_command_found_lost);
        for (const World& world : later) add_world(possible, world);
        // Somebody may have looked at the prepared message before, and is answered later.
        if (by_id != nullptr || (about->half && about->deliveries.empty())) {
            about->set({run_, delivery.attempt - 1}, possible);
        } else {
            about->replace(possible);
        }
    }

    check_checkpoint(*about, delivery);
    SeenDelivery fresh;
    fresh.run = run_;
    fresh.attempt = delivery.attempt;
    fresh.token = delivery.lease;
    fresh.delivered_ms = delivery.delivered_ms;
    fresh.until = {delivery.lease_until_ms, delivery.lease_until_ms};
    fresh.ends_with_server = command.ends_with_server;
    fresh.worker = command.worker;
    if (served_by_ms_ == 0) served_by_ms_ = delivery.delivered_ms;
    check_lease_gaps(*about, fresh);
    if (run_ > about->recorded.run && delivery.attempt <= about->recorded.attempts) {
        violate("C4",
                "attempt " + std::to_string(delivery.attempt) + " although attempt " +
                    std::to_string(about->recorded.attempts) + " was answered before",
                about);
    }
    const bool outlasts_its_leases = queue_of(about->put.name_space, about->put.queue).had_topic;
    if (about->returns_open == 0 && !outlasts_its_leases &&
        delivery.attempt > about->forgiven_high + about->attempts_most) {
        violate("C3",
                "attempt " + std::to_string(delivery.attempt) + " although at most " +
                    std::to_string(about->forgiven_high) + " are forgiven and its rule allows " +
                    std::to_string(about->attempts_most),
                about);
    }
    const std::uint32_t least = must_be_counted(*about, point);
    if (!delivery.maybe_delivered && delivery.attempt <= least) {
        violate("C4", "attempt " + std::to_string(delivery.attempt) + " after " + std::to_string(least) + " deliveries",
                about);
    }
    if (delivery.attempt > about->deliveries.size() + unseen(*about) + 1) {
        violate("C4",
                "attempt " + std::to_string(delivery.attempt) + " after at most " +
                    std::to_string(about->deliveries.size() + unseen(*about)) + " deliveries",
                about);
    }
    check_order_key(*about, fresh, delivery.due_ms);
    if (about->is_check && !about->deliveries.empty()) rare_.met(Rare::check_delivered_again);
    about->deliveries.push_back(fresh);
    check_limits_of(*about, fresh);
    // Told late: it may have died of this attempt before its queue was purged, and then the purge has left it.
    if (about->purge == MessageModel::Purge::surely && may_have_died(*about)) about->purge = MessageModel::Purge::maybe;
}

// Messages of one order key are never delivered two at once, and none before an earlier one.
void Oracle::check_order_key(const MessageModel& about, const SeenDelivery& fresh, DueMs nominal) {
    if (about.put.order_key.empty()) return;
    for (const MessageModel& other : messages_) {
        if (!other.shares_order_key(about)) continue;
        for (const SeenDelivery& delivery : other.deliveries) {
            const bool is_before = delivery.delivered_ms <= fresh.delivered_ms;
            // Answers may come in another order than their deliveries began.
            const bool overlap = is_before ? surely_held(other, delivery, fresh.delivered_ms)
                                           : delivery.run == run_ && fresh.until.low > delivery.delivered_ms;
            if (overlap) {
                return violate("C7", "delivered while message " + std::to_string(other.id) + " of its order key is out",
                               &about);
            }
            rare_.met(Rare::next_of_an_order_key);
        }
        if (surely_precedes(other, about, nominal, fresh.delivered_ms)) {
            return violate("C7", "delivered before message " + std::to_string(other.id) + " of its order key", &about);
        }
    }
}

// Whether `other` stood unfinished before `about` in its line when that was delivered: it was so before that, and
// nothing has been asked of it since.
bool Oracle::surely_precedes(const MessageModel& other, const MessageModel& about, DueMs nominal, DueMs at) const {
    const World* world = other.certain();
    const bool waits = world != nullptr && (world->is_live() || world->is_prepared());
    if (!waits || other.id == 0 || !other.open.empty() || other.told_ms >= at) return false;
    if (world->nominal.low != world->nominal.high || other.may_have_expired(at) || may_have_died(other)) return false;
    return DuePosition{world->nominal.low, other.id} < DuePosition{nominal, about.id};
}

// In one run of the process no two leases of one message overlap, and each attempt is made once.
void Oracle::check_lease_gaps(MessageModel& about, const SeenDelivery& fresh) {
    std::uint64_t& incarnation = incarnation_of_run_[run_];
    if (incarnation == 0) {
        incarnation = fresh.token.incarnation;
        if (std::count(incarnation_of_run_.begin(), incarnation_of_run_.end(), incarnation) != 1) {
            return violate("C8", "two runs of the process share an incarnation", &about);
        }
    }
    if (fresh.token.incarnation != incarnation || fresh.token.attempt != fresh.attempt || fresh.token.id != about.id) {
        return violate("C8", "a lease token of another lease", &about);
    }
    for (const SeenDelivery& other : about.deliveries) {
        if (other.run != run_) {
            if (surely_held(about, other, fresh.delivered_ms)) {
                return violate("C8", "delivered although a lease that outlived a restart holds it", &about);
            }
            rare_.met(Rare::delivered_again_after_crash);
            continue;
        }
        if (other.attempt == fresh.attempt) return violate("C8", "one attempt was delivered twice", &about);
        const SeenDelivery& first = other.attempt < fresh.attempt ? other : fresh;
        const SeenDelivery& second = other.attempt < fresh.attempt ? fresh : other;
        const bool given_back = first.ended || first.endings_open > 0;
        if (!given_back && first.until.low > second.delivered_ms) {
            return violate("C8",
                           "delivered at " + std::to_string(second.delivered_ms) + " although another held it until " +
                               std::to_string(first.until.low),
                           &about);
        }
        if (!given_back) rare_.met(Rare::delivered_again_after_lease);
    }
}

// Within one answer, and within one group: by priority, then due, then id.
void Oracle::check_order(const LeaseAnswer& answer) {
    std::map<std::string, const MessageModel*> before_in_group;
    for (const Delivered& delivery : answer.messages) {
        const MessageModel* about = message_of(delivery.id);
        const MessageModel*& before = before_in_group[about->put.group];
        // What has changed since may have stood elsewhere.
        if (about->returns_open > 0 || about->certain() == nullptr || !about->priority() ||
            about->epochs.back().from >= LifePoint{run_, delivery.attempt})
            continue;
        if (before != nullptr) {
            const auto key = [](const MessageModel& of) {
                return std::tuple(*of.priority(), of.certain()->due.low, of.id);
            };
            const bool exact = before->certain()->due.low == before->certain()->due.high &&
                               about->certain()->due.low == about->certain()->due.high;
            if (exact && key(*about) < key(*before)) return violate("C7", "handed out in another order", about);
        }
        before = about;
    }
}

}  // namespace duewheel
