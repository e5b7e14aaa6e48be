// Leases: which are held, which must outlive their run, and what the ends and extensions of leases are answered.
#include <algorithm>

#include "simulation/oracle.h"

namespace duewheel {

namespace {

bool ends_without_ack(const Command& command) {
    return std::holds_alternative<FailCommand>(command) || std::holds_alternative<ReleaseCommand>(command) ||
           std::holds_alternative<HoldLeaseCommand>(command);
}

}  // namespace

bool Oracle::surely_held(const MessageModel& of, const SeenDelivery& delivery, DueMs until) const {
    const bool is_over = delivery.ended || delivery.expired_with_message || delivery.may_have_ended;
    const bool is_here = delivery.run == run_ || delivery.kept_in == run_;
    if (!is_here || delivery.until.low <= until || is_over || delivery.endings_open > 0) return false;
    return std::none_of(of.deliveries.begin(), of.deliveries.end(), [&](const SeenDelivery& other) {
        return other.run == run_ && other.attempt > delivery.attempt;
    });
}

// A stop writes all leases of clients. What a crash forgets is not known, so they may be held or not.
bool Oracle::leases_written(DueMs saved_ms) {
    bool has_kept = false;
    for (MessageModel& message : messages_) {
        for (SeenDelivery& delivery : message.deliveries) {
            if (delivery.ends_with_server || !surely_held(message, delivery, saved_ms)) continue;
            const bool is_quick = served_by_ms_ + options_.lease_grace_ms > saved_ms;
            if (delivery.run != run_ && is_quick) rare_.met(Rare::lease_kept_over_quick_restarts);
            delivery.kept_in = run_ + 1;
            has_kept = true;
        }
    }
    return has_kept;
}

// Those that ended meanwhile last for the grace. A restart uses up no attempt, so it forgives one at most.
void Oracle::leases_started() {
    served_by_ms_ = 0;
    for (MessageModel& message : messages_) {
        if (attempts_high(message) > 0) ++message.forgiven_high;
        for (SeenDelivery& delivery : message.deliveries) {
            if (delivery.kept_in != run_) continue;
            delivery.until.low = std::max(delivery.until.low, now_ + options_.lease_grace_ms);
            delivery.until.high = std::max(delivery.until.high, delivery.until.low);
        }
    }
}

void Oracle::leases_found(std::uint64_t leased) {
    const auto kept = static_cast<std::uint64_t>(
        std::count_if(messages_.begin(), messages_.end(), [this](const MessageModel& message) {
            return std::any_of(message.deliveries.begin(), message.deliveries.end(),
                               [&](const SeenDelivery& delivery) { return surely_held(message, delivery, latest()); });
        }));
    if (leased >= kept) return;
    violate("C8", std::to_string(leased) + " messages are leased after a restart, but it must be " +
                      std::to_string(kept) + " at least");
}

bool Oracle::may_be_held(const SeenDelivery& delivery, DueMs from) const {
    if (delivery.ended || (delivery.run != run_ && delivery.ends_with_server)) return false;
    if (delivery.run != run_ && (served_by_ms_ == 0 || served_by_ms_ + options_.lease_grace_ms > from)) return true;
    // The answer may be as old as its request, and the oracle does not know which of the two times counted.
    return delivery.extends_open > 0 || delivery.until.high > from;
}

void Oracle::lease_end_replied(ReplyToken token, const Request& request, const LeaseEndAnswer& answer) {
    MessageModel* about = message(request.serial);
    if (about == nullptr || !request.known_lease) {
        return violate(
            "C8", "a token that was not issued is answered " + std::string(lease_outcome_name(answer.outcome)), about);
    }
    const LeaseToken& lease = std::visit(
        [](const auto& command) -> const LeaseToken& {
            if constexpr (requires { command.lease.code; }) return command.lease;
            static const LeaseToken none;
            return none;
        },
        request.command);
    SeenDelivery& delivery = *about->delivery_of(lease);
    note(*about, lease_outcome_name(answer.outcome), answer.due_ms + answer.lease_until_ms, lease.attempt);
    if (answer.outcome == LeaseOutcome::expired) return lease_refused(token, request, *about, delivery);
    if (answer.repeated && !std::holds_alternative<AckCommand>(request.command)) {
        return end_repeated(request, answer, *about, delivery);
    }
    lease_ended(token, request, answer, *about, delivery);
}

// What the first command changed is known from its answer, or stays in doubt as that of a command without one.
void Oracle::end_repeated(const Request& request, const LeaseEndAnswer& answer, MessageModel& about,
                          SeenDelivery& delivery) {
    if (delivery.endings_sent < 2) {
        return violate("C8", "the first command that ends a lease is answered as if it were repeated", &about);
    }
    const bool is_as_told = !delivery.told_end || *delivery.told_end == end_by(request.command);
    if (!is_as_told && answer.outcome != LeaseOutcome::cancelled) {
        return violate("C8",
                       "a lease that ended otherwise is answered " + std::string(lease_outcome_name(answer.outcome)),
                       &about);
    }
    rare_.met(Rare::end_of_a_lease_repeated);
    delivery.ended = true;
}

void Oracle::lease_refused(ReplyToken token, const Request& request, MessageModel& about, SeenDelivery& delivery) {
    // Or its message's time is over, which an end of the lease that is no ack makes the end of the message.
    const bool may_end = ends_without_ack(request.command) && about.may_have_expired(latest());
    if (surely_held(about, delivery, now_)) {
        if (!may_end) {
            return violate("C8", "a lease until " + at(delivery.until.low) + " is answered expired", &about);
        }
        rare_.met(Rare::expired_with_its_lease);
        delivery.ended = true;
        return;
    }
    delivery.expired_with_message |= may_end;  // and whatever else was asked of it comes too late
    if (delivery.run != run_) rare_.met(Rare::ack_of_an_earlier_run_refused);
    rare_.met(Rare::ack_after_the_end_refused);
    if (!std::holds_alternative<AckCommand>(request.command)) return;
    // An ack that was executed repeats its answer for as long as outcomes are kept.
    const DueMs latest = std::max(now_, latest_now_);
    const Worlds others = explain(about, token, [&](const World& world) {
        const bool by_it = world.phase == World::Phase::done && world.attempt == delivery.token.attempt &&
                           world.incarnation == delivery.token.incarnation;
        return !by_it || world.ended.low + keep_ms_ < latest;
    });
    if (others.empty()) return violate("C8", "a repeated ack does not repeat its answer", &about);
    if (others != about.worlds()) about.set(about.epochs.back().from, others);
}

void Oracle::lease_ended(ReplyToken token, const Request& request, const LeaseEndAnswer& answer, MessageModel& about,
                         SeenDelivery& delivery) {
    const LeaseToken& lease = delivery.token;
    const LifePoint from{run_, lease.attempt};
    const bool is_ack = std::holds_alternative<AckCommand>(request.command);
    const auto is_by_it = [&](const World& world) {
        return world.phase == World::Phase::done && world.attempt == lease.attempt &&
               world.incarnation == lease.incarnation;
    };
    if (is_ack && answer.outcome == LeaseOutcome::done) {
        Worlds repeated = explain(about, token, is_by_it);
        if (!repeated.empty()) {
            // Whichever of two acks ended it: it may have been the earlier one.
            for (World& world : repeated) world.ended.low = std::min(world.ended.low, request.submitted_ms);
            rare_.met(delivery.run == run_ ? Rare::ack_repeated : Rare::ack_repeated_after_restart);
            delivery.ended = true;
            if (repeated != about.worlds()) about.set(from, repeated);
            return;
        }
    }
    if (served_by_ms_ == 0) served_by_ms_ = now_;
    if (!may_be_held(delivery, request.submitted_ms)) {
        return violate("C8",
                       "a lease that ended at " + at(delivery.until.high) + " is answered " +
                           std::string(lease_outcome_name(answer.outcome)),
                       &about);
    }
    for (const SeenDelivery& other : about.deliveries) {
        if (other.run == run_ && other.attempt > lease.attempt) {
            return violate("C8",
                           "attempt " + std::to_string(other.attempt) + " had begun when the lease of attempt " +
                               std::to_string(lease.attempt) + " was answered",
                           &about);
        }
    }
    const bool is_over = answer.outcome == LeaseOutcome::purged || answer.outcome == LeaseOutcome::cancelled;
    if (is_over && !is_ack) return lease_purged(token, about, delivery);
    const bool goes_on = !is_ack && answer.outcome != LeaseOutcome::extended;
    if (goes_on && about.stopped_in) {
        return violate("C4",
                       "answered " + std::string(lease_outcome_name(answer.outcome)) +
                           " although its cancel was requested while it was leased",
                       &about);
    }
    // What has become of it may have been told by another answer before.
    const Worlds live = explain(about, token, [&](const World& world) {
        return world.is_live() || (answer.outcome == LeaseOutcome::held && world.phase == World::Phase::held) ||
               (answer.outcome == LeaseOutcome::dead && world.phase == World::Phase::dead);
    });
    if (live.empty()) return violate("C8", "a lease on what is " + describe(about.worlds()) + " ended", &about);
    Worlds next;
    const DueRange exact{answer.due_ms, answer.due_ms};
    const auto due_again = [&](DueMs delay) {
        for (World world : live) {
            world.due = exact;
            add_world(next, world);
        }
        const DueRange legal{request.submitted_ms + delay, now_ + delay};
        if (!legal.holds(answer.due_ms)) next.clear();
    };
    if (is_ack && answer.outcome == LeaseOutcome::done) {
        next = {World{World::Phase::done, {}, {}, {request.submitted_ms, now_}, lease.attempt, lease.incarnation}};
    } else if (std::holds_alternative<FailCommand>(request.command) &&
               (answer.outcome == LeaseOutcome::retrying || answer.outcome == LeaseOutcome::dead)) {
        return failed(request, answer, about, delivery, live);
    } else if (std::holds_alternative<HoldLeaseCommand>(request.command) && answer.outcome == LeaseOutcome::held) {
        rare_.met(Rare::held_by_its_consumer);
        priority_given(about, std::get<HoldLeaseCommand>(request.command).priority);
        for (World world : live) {
            world.phase = World::Phase::held;
            add_world(next, world);
        }
    } else if (const auto* release = std::get_if<ReleaseCommand>(&request.command);
               release != nullptr && answer.outcome == LeaseOutcome::released) {
        if (release->delay_ms > 0) due_again(release->delay_ms);
        about.forgiven_low += 1;
        priority_given(about, release->priority);
        for (World world : live) {  // at once: it is due as it was
            if (release->delay_ms > 0 || !world.due.holds(answer.due_ms)) continue;
            world.due = exact;
            add_world(next, world);
        }
    } else if (const auto* extend = std::get_if<ExtendCommand>(&request.command);
               extend != nullptr && answer.outcome == LeaseOutcome::extended) {
        // As long as was asked for, or as long as before, which another extension or the grace may have made longer.
        check_extension(request, answer, about);
        const DueMs until = answer.lease_until_ms;
        const DueMs before =
            std::max(delivery.until.high, delivery.run != run_ ? served_by_ms_ + options_.lease_grace_ms : DueMs{0});
        const bool is_longer = extend->lease_ms && until > now_ + *extend->lease_ms && until > before;
        if (until < delivery.until.low || until < request.submitted_ms + extend->lease_ms.value_or(0) ||
            (is_longer && delivery.extends_open == 0)) {
            violate("C8", "a lease until " + at(delivery.until.low) + " was extended to " + at(until), &about);
        }
        delivery.until.low = until;
        delivery.until.high = std::max(delivery.until.high, until);
        if (delivery.run != run_) delivery.kept_in = run_;
        return;
    } else {
        return violate("X", "a lease's command got the answer of another one", &about);
    }
    if (next.empty()) return violate("C4", "due again at " + at(answer.due_ms) + ", which cannot be", &about);
    if (delivery.run != run_) rare_.met(Rare::lease_kept_over_a_restart);
    delivery.ended = true;
    attempt_ended(delivery, request.command);
    about.recorded = std::max(about.recorded, LifePoint{run_, lease.attempt});
    about.set(from, next);
}

// It is leased. From now on it ends with its lease, as done or as cancelled.
void Oracle::cancelling(ReplyToken token, const Request& request, const ChangeAnswer& answer, MessageModel& about) {
    const auto* cancel = std::get_if<CancelCommand>(&request.command);
    if (cancel == nullptr || !cancel->running) {
        return violate("X", "answered cancelling, but nobody asked for that", &about);
    }
    const bool held =
        unseen(about) > 0 || std::any_of(about.deliveries.begin(), about.deliveries.end(),
                                         [&](const SeenDelivery& delivery) { return may_be_held(delivery, 0); });
    if (!held) return violate("C4", "answered cancelling, but no lease on it is held", &about);
    const Worlds live = explain(about, token, [](const World& world) { return world.is_live(); });
    if (live.empty()) return violate("C4", "answered cancelling, but it is " + describe(about.worlds()), &about);
    if (about.stopped_in && *about.stopped_in != answer.attempts) {
        return violate("C4", "answered cancelling in a later attempt than before", &about);
    }
    rare_.met(about.stopped_in ? Rare::cancelling_repeated : Rare::cancelling);
    if (!about.stopped_in) {
        about.stopped_in = answer.attempts;
        about.stopped_step = step_;
        if (about.purge == MessageModel::Purge::no) about.purged_ms = request.submitted_ms;
        about.purge = MessageModel::Purge::surely;
    }
    about.recorded = std::max(about.recorded, LifePoint{run_, answer.attempts});
    about.set({run_, answer.attempts}, live);
}

// An extension says that the consumer should stop if that was answered before, and never if nobody has asked for it.
void Oracle::check_extension(const Request& request, const LeaseEndAnswer& answer, const MessageModel& about) {
    if (answer.cancel_requested) {
        rare_.met(Rare::extension_says_stop);
        if (about.stops_sent == 0) violate("C4", "a consumer is asked to stop, which nobody wants", &about);
    } else if (about.stopped_in && about.stopped_step < request.step) {
        violate("C4", "an extension does not say that the cancel was requested", &about);
    }
}

// The end of the lease was the end of the message; a command on it may have been told so before.
void Oracle::lease_purged(ReplyToken token, MessageModel& about, SeenDelivery& delivery) {
    rare_.met(about.stopped_in ? Rare::lease_ended_as_cancelled : Rare::lease_ended_as_purged);
    Worlds ended = explain(about, token, [](const World& world) { return world.phase == World::Phase::cancelled; });
    if (about.purge == MessageModel::Purge::no || ended.empty()) {
        return violate("C4", "answered purged, but it is " + describe(about.worlds()), &about);
    }
    delivery.ended = true;
    about.set({run_, delivery.attempt}, std::move(ended));
}

}  // namespace duewheel
