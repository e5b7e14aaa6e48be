// Puts with `on_key`: `keep` changes nothing of an unfinished message with its key, and `replace` changes its content
// and due time, not later than `within` after the first put. If the message has ended, both put another one.
#include <algorithm>

#include "simulation/oracle.h"

namespace duewheel {

bool Oracle::replaces(const Command& command) {
    const auto* put = std::get_if<PutCommand>(&command);
    return put != nullptr && put->on_key == OnKey::replace;
}

DueRange Oracle::due_of_put(const PutCommand& put, DueMs submitted_ms, DueRange first_put) const {
    const DueRange due = due_of(put.when, submitted_ms);
    if (put.within_ms == 0) return due;
    const DueMs last_put = first_put.high == 0 ? latest() : first_put.high;
    return {std::min(due.low, std::max(submitted_ms, first_put.low + put.within_ms)),
            std::min(due.high, std::max(now_, last_put + put.within_ms))};
}

// What it would have written of the message is not there, unless it was answered `replaced`.
void Oracle::body_answered(ReplyToken token, const Request& request, const Reply& reply) {
    if (!std::holds_alternative<PutCommand>(request.command)) return;
    const auto* answer = std::get_if<PutAnswer>(&reply);
    if (answer != nullptr && answer->replaced) return;  // its own check says so, of the right message
    message(request.serial)->body.refused(token);
    message(request.serial)->checkpoint.refused(token);
}

// Whether it may have been as it is said to be kept, at some time since the request.
bool Oracle::may_be_kept(const MessageModel& about, const Request& request, const PutAnswer& answer) const {
    if (is_ended(answer.state)) return false;
    if (about.is_recurring() || about.returns_open > 0 || about.redriven_ms >= request.submitted_ms) return true;
    Worlds candidates = with_open_commands(about, 0);
    for (std::size_t i = request.epoch; i < about.epochs.size(); ++i) {
        for (const World& world : about.epochs[i].worlds) add_world(candidates, world);
    }
    return std::any_of(candidates.begin(), candidates.end(), [&](const World& world) {
        return world.is_prepared() ? world.nominal.holds(answer.due_ms)
                                   : world.is_unfinished() && world.due.holds(answer.due_ms);
    });
}

void Oracle::put_replaced(ReplyToken token, const Request& request, const PutAnswer& answer, MessageModel& holder) {
    const auto& put = std::get<PutCommand>(request.command);
    MessageModel* known = message_of(answer.id);
    const bool is_other = known != nullptr && known != &holder && share_key(*known, holder);
    MessageModel& about = is_other ? *known : holder;
    if (put.on_key != OnKey::replace) return violate("C9", "a put replaces a message, and did not ask for it", &about);
    if (is_other ? !holder.may_be(World::Phase::absent) && !known->may_be_back
                 : known != (holder.id == 0 ? nullptr : &holder)) {
        return violate("C9", "a put replaces a message that has lost its key", &about);
    }
    if (is_surely_held(about)) return violate("C8", "a message inside its lease was replaced", &about);
    const Worlds before =
        explain(about, token, [](const World& world) { return world.is_live() || world.phase == World::Phase::held; });
    if (before.empty()) return violate("C9", "answered replaced, but it is " + describe(about.worlds()), &about);
    const DueRange due = due_of_put(put, request.submitted_ms, about.carried_out);
    if (!due.holds(answer.due_ms)) {
        return violate(
            "C9", "replaced, and due at " + at(answer.due_ms) + " and not from " + at(due.low) + " to " + at(due.high),
            &about);
    }
    rare_.met(Rare::put_replaced);
    if (answer.due_ms < *put.when.at_ms) rare_.met(Rare::put_replaced_within);
    if (is_other) {
        about.body.sent(put.body, token, request.step);
        about.checkpoint.sent({}, token, request.step);
        about.was_put_otherwise = true;
        about.forgiven_high = std::max(about.forgiven_high, attempts_high(about));
        body_answered(token, request, Error{});
    }
    about.replaced_ms = now_;
    about.body.accepted(token, step_, now_);
    about.checkpoint.accepted(token, step_, now_);
    Worlds next;
    const DueRange exact{answer.due_ms, answer.due_ms};
    for (const World& world : before) {
        const bool is_held = put.is_held || world.phase == World::Phase::held;
        if (is_held != (answer.state == State::held)) continue;
        add_world(next, {is_held ? World::Phase::held : World::Phase::live, exact, exact, {}});
    }
    if (next.empty()) return violate("C4", "a put that replaces a held message is answered as none", &about);
    // A delivery that began before may be told later.
    for (const World& world : before) {
        if (unseen(about) > 0) add_world(next, world);
    }
    if (!about.answered) {
        batch_told(about, true);
        about.answered = true;
        if (about.id == 0) {
            ++totals_.messages;
            id_learned(about, answer.id);
        }
    }
    about.set({run_, 0}, std::move(next));
}

// Somebody may have had it.
void Oracle::replace_refused(const MessageModel& about) {
    rare_.met(Rare::replace_refused_in_flight);
    const bool may_be_leased =
        unseen(about) > 0 || std::any_of(about.deliveries.begin(), about.deliveries.end(),
                                         [&](const SeenDelivery& delivery) { return may_be_held(delivery, 0); });
    if (!may_be_leased) violate("C9", "a replacement is refused, but no lease on its message is held", &about);
}

}  // namespace duewheel
