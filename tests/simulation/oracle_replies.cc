// What each reply must contain, and what a client knows from it afterwards. Which requests may be refused, and how, is
// in oracle_refusals.cc.
#include <algorithm>

#include "simulation/oracle.h"

namespace duewheel {
// ---- cancel, reschedule, fire

std::uint32_t Oracle::must_be_counted(const MessageModel& of, LifePoint before) const {
    return static_cast<std::uint32_t>(
        std::count_if(of.deliveries.begin(), of.deliveries.end(), [&](const SeenDelivery& delivery) {
            return LifePoint{delivery.run, delivery.attempt} < before;
        }));
}

std::uint64_t Oracle::unseen(const MessageModel& of) const {
    if (of.is_recurring()) return 0;  // nobody gets it
    const auto leases = leases_.find(of.put.queue);
    return leases == leases_.end() ? 0 : leases->second.open + leases->second.lost - of.leases_lost_before;
}

void Oracle::check_attempts(const ChangeAnswer& answer, MessageModel& about) {
    if (answer.maybe_delivered) rare_.met(Rare::maybe_delivered);
    const std::uint32_t least = must_be_counted(about, {run_ + 1, 0});
    if (!answer.maybe_delivered && answer.attempts < least) {
        return violate("C4",
                       std::to_string(answer.attempts) + " attempts are answered, but " + std::to_string(least) +
                           " deliveries began before",
                       &about);
    }
    for (const SeenDelivery& delivery : about.deliveries) {
        if (delivery.run == run_ && delivery.attempt > answer.attempts) {
            return violate("C4",
                           "attempt " + std::to_string(delivery.attempt) + " was delivered before an answer of " +
                               std::to_string(answer.attempts) + " attempts",
                           &about);
        }
    }
    if (answer.attempts > about.deliveries.size() + unseen(about)) {
        return violate("C4",
                       std::to_string(answer.attempts) + " attempts are answered, but at most " +
                           std::to_string(about.deliveries.size() + unseen(about)) + " can have begun",
                       &about);
    }
}

void Oracle::change_replied(ReplyToken token, const Request& request, const ChangeAnswer& answer) {
    MessageModel* about = message(request.serial);
    if (about == nullptr) return violate("X", "an id that was never given out is answered");
    note(*about, change_outcome_name(answer.outcome), answer.due_ms, answer.attempts);
    if (answer.outcome == ChangeOutcome::dead && std::holds_alternative<DiscardCommand>(request.command)) {
        return violate("X", "a discard is refused because its message is dead", about);
    }
    if (answer.outcome != ChangeOutcome::gone) check_attempts(answer, *about);
    switch (answer.outcome) {
        case ChangeOutcome::cancelled:
        case ChangeOutcome::rescheduled:
        case ChangeOutcome::fired:
            return changed(token, request, answer, *about);
        case ChangeOutcome::cancelling:
            return cancelling(token, request, answer, *about);
        case ChangeOutcome::held:
            return held(token, answer, *about);
        case ChangeOutcome::kicked:
            return kicked(token, request, answer, *about);
        case ChangeOutcome::waiting:
            return waits(token, request, answer, *about);
        default:
            return too_late(token, answer, *about);
    }
}

bool Oracle::takes_back(const Command& command) {
    const auto* settle = std::get_if<SettleCommand>(&command);
    return std::holds_alternative<CancelCommand>(command) || (settle != nullptr && !settle->commits);
}

bool Oracle::commits(const Command& command) {
    const auto* settle = std::get_if<SettleCommand>(&command);
    return settle != nullptr && settle->commits;
}

// Since when what the request is answered may be so. Of several that do it any may have been the one: whoever finds it
// done is answered before who has done it.
DueMs Oracle::done_since(const MessageModel& about, const Request& request, bool (*does_it)(const Command&)) const {
    DueMs since = request.submitted_ms;
    for (const ReplyToken other : about.open) {
        const Request& open = requests_.at(other);
        if (does_it(open.command)) since = std::min(since, open.submitted_ms);
    }
    return since;
}

void Oracle::changed(ReplyToken token, const Request& request, const ChangeAnswer& answer, MessageModel& about) {
    for (const SeenDelivery& delivery : about.deliveries) {
        const bool by_repeat = answer.outcome == ChangeOutcome::cancelled && !about.may_be_unfinished();
        if (surely_held(about, delivery, now_) && !by_repeat) {
            return violate("C8",
                           "a message inside its lease until " + at(delivery.until.low) + " was answered " +
                               std::string(change_outcome_name(answer.outcome)),
                           &about);
        }
    }
    const LifePoint from{run_, answer.attempts};
    // Which of the two came first.
    const bool by_purge = answer.outcome == ChangeOutcome::cancelled && about.purge != MessageModel::Purge::no;
    // A message whose time is over is changed no more; that it was cancelled before may be repeated.
    const bool is_over = about.has_expired(request.submitted_ms) && about.open.empty();
    const Worlds& worlds = about.worlds();
    const bool may_repeat = answer.outcome == ChangeOutcome::cancelled &&
                            std::any_of(worlds.begin(), worlds.end(),
                                        [](const World& world) { return world.phase == World::Phase::cancelled; });
    // Neither has what is dead a time that could be over.
    const bool is_discard = std::holds_alternative<DiscardCommand>(request.command);
    const bool by_discard = answer.outcome == ChangeOutcome::cancelled && (is_discard || may_be_discarded(about));
    if (is_over && !may_repeat && !by_purge && !by_discard) {
        return violate(
            "C3", "its time was over, and it was answered " + std::string(change_outcome_name(answer.outcome)), &about);
    }
    if (answer.outcome != ChangeOutcome::cancelled && about.expires && answer.due_ms >= about.expires->high &&
        !about.may_be_back) {
        return violate("C3", "moved beyond its expiry", &about);
    }
    if (answer.outcome == ChangeOutcome::cancelled) {
        const bool is_cancel = std::holds_alternative<CancelCommand>(request.command);
        // A redrive that is not answered yet has brought it back into a queue that was purged.
        const bool may_be_purged = by_purge && about.returns_open > 0;
        const Worlds before = explain(about, token, [&](const World& world) {
            if (world.phase == World::Phase::cancelled) return !world.told || world.attempts == answer.attempts;
            if (world.is_unfinished() && ((is_cancel && !is_over) || may_be_purged)) return true;
            const bool may_be_dead =
                world.phase == World::Phase::dead || (world.is_live() && may_be_dead_after(about, answer.attempts));
            return may_be_dead && (is_discard || may_be_discarded(about, world));
        });
        if (before.empty()) return violate("C4", "answered cancelled, but it is " + describe(about.worlds()), &about);
        World world{World::Phase::cancelled, {}, {}, {done_since(about, request, &takes_back), now_}};
        const auto is_of_a_half = [](const World& was) { return was.is_prepared() || was.was_prepared; };
        const auto halves = std::count_if(before.begin(), before.end(), is_of_a_half);
        // One that was answered before may have been the one too, and a discard before it; the earliest counts.
        for (const World& was : before) {
            if (!was.is_unfinished()) world.ended.low = std::min(world.ended.low, was.ended.low);
            if (may_be_discarded(about, was)) world.ended.low = std::min(world.ended.low, earliest_death(about, was));
        }
        if (is_discard) {
            rare_.met(Rare::discarded_by_its_id);
        } else if (std::holds_alternative<KickCommand>(request.command) && before.front().phase == World::Phase::dead) {
            rare_.met(Rare::kick_came_too_late_for_a_discard);
        } else if (!before.front().is_unfinished()) {
            rare_.met(Rare::cancel_repeated);
        } else {
            rare_.met(answer.attempts > 0 ? Rare::cancelled_after_attempts : Rare::cancelled);
        }
        world.told = true;
        world.attempts = answer.attempts;
        Worlds cancelled;
        for (const bool was_prepared : {false, true}) {
            world.was_prepared = was_prepared;
            if (was_prepared ? halves > 0 : halves < static_cast<std::ptrdiff_t>(before.size()))
                cancelled.push_back(world);
        }
        if (about.half && halves > 0) rare_.met(Rare::half_cancelled);
        about.set(from, std::move(cancelled));
        if (about.half) half_told_settled(about);
        if (about.is_recurring()) loop_cancelled(about);
        return;
    }
    const bool is_fire = answer.outcome == ChangeOutcome::fired;
    if (about.is_recurring()) return violate("C6", "a loop was moved", &about);
    const bool fits_command = is_fire ? std::holds_alternative<FireCommand>(request.command)
                                      : std::holds_alternative<RescheduleCommand>(request.command);
    if (!fits_command) return violate("X", "a command got the answer of another one", &about);
    const Worlds before = explain(about, token, [&](const World& world) {
        const bool by_it =
            answer.due_ms >= request.submitted_ms && answer.due_ms <= now_ && world.due.high > answer.due_ms;
        return world.is_live() && (!is_fire || by_it || world.due.holds(answer.due_ms));
    });
    if (before.empty()) {
        return violate("C4", "moved, but it is " + describe(about.worlds()), &about);
    }
    const DueRange exact{answer.due_ms, answer.due_ms};
    if (is_fire) {
        Worlds same;
        bool may_be_moved = false;
        for (World world : before) {  // due already: nothing was changed
            may_be_moved |= world.due.high > answer.due_ms && answer.due_ms >= request.submitted_ms;
            if (!world.due.holds(answer.due_ms) || answer.due_ms > now_) continue;
            world.due = exact;
            add_world(same, world);
        }
        if (!same.empty()) {
            rare_.met(Rare::fired_though_due);
            for (const World& world : before) {
                const DueRange nominal{std::min(world.nominal.low, answer.due_ms),
                                       std::min(world.nominal.high, answer.due_ms)};
                if (may_be_moved) add_world(same, {World::Phase::live, exact, nominal, {}});
            }
            return about.set(from, same);
        }
        rare_.met(Rare::fired_by_command);
    }
    const auto* moved = std::get_if<RescheduleCommand>(&request.command);
    const DueRange legal =
        moved != nullptr ? due_of(moved->when, request.submitted_ms) : DueRange{request.submitted_ms, now_};
    if (!legal.holds(answer.due_ms)) {
        return violate("C4", "moved to " + at(answer.due_ms) + " and not to " + at(legal.low) + " to " + at(legal.high),
                       &about);
    }
    if (before.front().due.high <= request.submitted_ms && !is_fire) rare_.met(Rare::rescheduled_while_ready);
    if (!is_fire) return about.set(from, {World{World::Phase::live, exact, exact, {}}});
    Worlds fired;  // what had been due by itself before keeps its nominal time
    for (const World& world : before) {
        const DueRange nominal{std::min(world.nominal.low, answer.due_ms), std::min(world.nominal.high, answer.due_ms)};
        add_world(fired, World{World::Phase::live, exact, nominal, {}});
    }
    about.set(from, std::move(fired));
}

void Oracle::too_late(ReplyToken token, const ChangeAnswer& answer, MessageModel& about) {
    if (answer.outcome == ChangeOutcome::in_flight) {
        rare_.met(Rare::cancel_in_flight);
        const bool held =
            unseen(about) > 0 || std::any_of(about.deliveries.begin(), about.deliveries.end(),
                                             [&](const SeenDelivery& delivery) { return may_be_held(delivery, 0); });
        if (!held) return violate("C4", "answered in_flight, but no lease on it is held", &about);
        const Worlds live = explain(about, token, [](const World& world) { return world.is_live(); });
        if (live.empty()) return violate("C4", "answered in_flight, but it is " + describe(about.worlds()), &about);
        if (live != about.worlds()) about.set({run_, answer.attempts}, live);
        return;
    }
    rare_.met(Rare::cancel_too_late);
    const bool gone = answer.outcome == ChangeOutcome::gone;
    const bool expired = answer.outcome == ChangeOutcome::expired;
    if (gone) rare_.met(Rare::answered_gone);
    if (answer.outcome == ChangeOutcome::dead) {
        rare_.met(Rare::answered_dead);
        const bool may_die = may_be_dead_after(about, answer.attempts);
        const Worlds before = explain(about, token, [&](const World& world) {
            return world.phase == World::Phase::dead || (world.is_live() && may_die);
        });
        if (before.empty()) return violate("C4", "answered dead, but it is " + describe(about.worlds()), &about);
        Worlds dead;
        for (World world : before) {
            if (world.is_live()) {
                rare_.met(Rare::dead_by_a_lost_lease);
                world.ended.high = now_;
            }
            world.phase = World::Phase::dead;
            add_world(dead, world);
        }
        if (dead != about.worlds()) about.set({run_, answer.attempts}, dead);
        return;
    }
    if (!gone && !expired && answer.outcome != ChangeOutcome::delivered) {
        return violate("X", "answered " + std::string(change_outcome_name(answer.outcome)), &about);
    }
    if (expired) {
        rare_.met(about.deliveries.empty() ? Rare::expired : Rare::expired_after_a_delivery);
        for (const SeenDelivery& delivery : about.deliveries) {
            if (surely_held(about, delivery, now_)) return violate("C8", "expired inside its lease", &about);
        }
    }
    Worlds ended = explain(about, token, [&](const World& world) {
        const bool may_have_expired = world.is_unfinished() && about.may_have_expired(latest());
        if (gone && may_have_expired && about.expires->low + keep_ms_ < latest()) return true;
        const bool let_go = may_be_let_go(about, world);
        if (gone && let_go) return world.ended.low + options_.dead_kept_ms + keep_ms_ < latest();
        if (expired && let_go) return true;
        if (gone && may_be_discarded(about, world)) return world.ended.low + keep_ms_ < latest();
        if (gone && may_have_expired) return false;
        if (gone) return world.is_ended() && world.ended.low + keep_ms_ < latest();
        if (expired) return world.phase == World::Phase::expired || may_have_expired;
        return world.phase == World::Phase::done;
    });
    if (ended.empty()) {
        return violate(
            gone ? "C3" : "C4",
            "answered " + std::string(change_outcome_name(answer.outcome)) + ", but it is " + describe(about.worlds()),
            &about);
    }
    if (about.is_recurring() && answer.outcome == ChangeOutcome::delivered) return loop_is_done(about);
    Worlds discarded;  // a history tells later which of the two it was
    for (World& world : ended) {
        if (may_be_let_go(about, world)) rare_.met(Rare::dead_message_let_go);
        if (gone && may_be_discarded(about, world)) {
            discarded.push_back({World::Phase::cancelled, {}, {}, {0, latest()}});
        }
        if (world.is_unfinished() || world.phase == World::Phase::dead) {
            const bool was_prepared = world.is_prepared();
            world = World{World::Phase::expired, {}, {}, {0, latest()}};
            world.was_prepared = was_prepared;
        }
    }
    ended.insert(ended.end(), discarded.begin(), discarded.end());
    if (about.worlds().size() > 1 && about.open.empty()) rare_.met(Rare::unanswered_command_found_done);
    // The attempts of a message that is gone are not shown: a delivery that began before may be reported later.
    const std::uint64_t begun = gone ? about.deliveries.size() + unseen(about) : answer.attempts;
    if (ended != about.worlds()) about.set({run_, static_cast<std::uint32_t>(begun)}, ended);
}

// ---- get

// Whether one of these worlds may be what the row says; `may_die`: of an attempt that nobody has ended.
bool Oracle::row_fits(const MessageModel& about, const MessageRow& row, const Worlds& worlds, bool may_die) const {
    return std::any_of(worlds.begin(), worlds.end(), [&](const World& world) {
        switch (row.state.state) {
            case State::scheduled:
            case State::retrying:
                return world.is_live() && world.due.holds(row.state.due_ms);
            case State::ready:
            case State::leased:
                return world.is_live() && world.due.holds(row.state.due_ms) && row.state.due_ms <= now_;
            case State::prepared:
                return world.is_prepared() && world.nominal.holds(row.state.nominal_due_ms);
            case State::held:
                return world.phase == World::Phase::held && world.due.holds(row.state.due_ms);
            case State::dead:
                return world.phase == World::Phase::dead || (world.is_live() && may_die);
            case State::done:
                return world.phase == World::Phase::done;
            case State::cancelled:
                return world.phase == World::Phase::cancelled || may_be_discarded(about, world);
            case State::expired:
                if (may_be_let_go(about, world)) return true;
                return world.phase == World::Phase::expired ||
                       (world.is_unfinished() && about.may_have_expired(latest()));
            default:
                return false;
        }
    });
}

void Oracle::message_replied(const Request& request, const MessageAnswer& answer) {
    MessageModel* about = message(request.serial);
    if (about == nullptr) return violate("X", "an id that was never given out is answered");
    const MessageRow& row = answer.row;
    note(*about, "get: due, state", row.state.due_ms, static_cast<std::int64_t>(row.state.state));
    if (about->id == 0) {  // it was named by its key
        if (message_of(row.id) != nullptr) return violate("C9", "get by key answers another message", about);
        id_learned(*about, row.id);
    }
    Worlds candidates = with_open_commands(*about, 0);
    for (std::size_t i = request.epoch; i < about->epochs.size(); ++i) {
        for (const World& world : about->epochs[i].worlds) add_world(candidates, world);
    }
    // What a redrive or a kick returned in between may have ended again, and that be answered first (seed 30938).
    if (about->returns_open > 0 || about->redriven_ms >= request.submitted_ms) {
        for (const World& world : Worlds(candidates)) {
            if (world.phase != World::Phase::dead) continue;
            add_world(candidates, returned(world, {request.submitted_ms, now_}));
        }
    }
    const bool may_die = row.state.attempts >= request.forgiven_low + about->attempts_least;
    if (!row_fits(*about, row, candidates, may_die)) {
        return violate("C4",
                       "get says " + std::string(state_name(row.state.state)) + ", due " + at(row.state.due_ms) +
                           ", but it is " + describe(candidates),
                       about);
    }
    if (!row.state.maybe_delivered && request.epoch + 1 == about->epochs.size()) {
        std::uint32_t told_before = must_be_counted(*about, about->epochs.back().from);
        if (row.state.attempts < told_before) violate("C4", "get forgets attempts", about);
    }
    if (about->is_recurring()) loop_looked_at(request, answer, *about);
    if (about->half) half_looked_at(request, row, *about);
    const bool is_as_now = !is_ended(row.state.state) && request.epoch + 1 == about->epochs.size() && about->priority();
    if (is_as_now && row.state.priority != *about->priority()) {
        return violate("C7", "get answers another priority than it was given", about);
    }
    check_content(*about, answer);
    check_result(*about, row, candidates);
    check_timeline(request, *about, answer);
    check_wait(request, *about, row.state.state);
}

void Oracle::check_content(const MessageModel& about, const MessageAnswer& answer) {
    const PutCommand& put = about.put;
    if (answer.row.id != about.id || answer.row.state.queue != put.queue ||
        answer.row.state.name_space != put.name_space) {
        return violate("X", "get answers for another message or queue", &about);
    }
    const State state = answer.row.state.state;
    const bool is_dead = state == State::dead;
    const bool may_have_failed = (state == State::retrying || state == State::ready) && answer.row.state.attempts > 0;
    if (is_dead ? answer.row.reason.empty() || answer.row.ended_ms == 0
                : !answer.row.reason.empty() && !may_have_failed) {
        return violate("X", "a dead message says since when and why, one that failed may say why, and no other does",
                       &about);
    }
    if (!is_dead && !answer.row.reason.empty()) rare_.met(Rare::reason_of_a_failure_told);
    const DueMs expires = answer.row.state.expires_ms;
    const bool may_be =
        about.expires ? about.expires->holds(expires) || (about.may_be_back && expires == 0) : expires == 0;
    const std::int64_t expires_in_ms = about.is_recurring() && put.expires ? put.expires->delay_ms : 0;
    const bool is_as_put = answer.row.state.order_key == put.order_key && answer.expires_in_ms == expires_in_ms;
    if (!is_ended(answer.row.state.state) && (!may_be || !is_as_put)) {
        return violate("C1", "get answers another expiry or order key than was put", &about);
    }
    if (is_ended(answer.row.state.state) && !is_dead) {
        if (answer.has_content) violate("X", "an ended message has content", &about);
        return;
    }
    const bool same =
        answer.has_content && about.may_have_content(answer) && about.may_have_had_priority(answer.row.state.priority);
    if (!same) return violate("C1", "get answers another content than was put", &about);
    check_made(about, answer);
}

}  // namespace duewheel
