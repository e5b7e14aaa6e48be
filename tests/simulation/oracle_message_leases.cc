// Leases of a message by its id, which is made due for that if it is not; and priorities that the end of a lease gives.
#include <algorithm>

#include "simulation/oracle.h"

namespace duewheel {
namespace {

constexpr std::uint32_t kLeasesSurely = 1'000;  // as many are never leased at once

}  // namespace

// It may be returned from the dead letters, like by a kick.
void Oracle::message_lease_submitted(MessageModel& about) {
    ++leases_[about.put.queue].open;
    ++about.returns_open;
    may_come_back(about);
}

void Oracle::message_lease_closed(MessageModel& about) {
    --leases_[about.put.queue].open;
    returns_closed(about);
}

void Oracle::carry_out_lease(const MessageModel& of, const World& world, DueRange now, Worlds& into) const {
    if (of.is_recurring()) return;
    const bool may_be_dead = world.phase == World::Phase::dead || (world.is_live() && may_have_died(of));
    if (may_be_dead || world.phase == World::Phase::held) {
        add_world(into, World{World::Phase::live, now, at_latest(world.nominal, now), {}});
    }
    if (!world.is_live() || world.due.high <= now.low) return;
    add_world(into, World{World::Phase::live, at_latest(world.due, now), at_latest(world.nominal, now), {}});
}

void Oracle::message_leased(ReplyToken token, const Request& request, const LeaseAnswer& answer) {
    const auto& command = std::get<LeaseMessageCommand>(request.command);
    if (answer.messages.size() != 1 || answer.messages.front().id != command.id) {
        return violate("X", "a lease of one message is answered with another one");
    }
    MessageModel* about = message(request.serial);
    if (about == nullptr) return violate("X", "an id that was never given out is leased");
    const World* world = about->certain();
    if (world != nullptr) {
        rare_.met(!world->is_live()                       ? Rare::returned_message_leased_by_id
                  : world->due.low > request.submitted_ms ? Rare::later_message_leased_by_id
                                                          : Rare::due_message_leased_by_id);
    }
    const LeaseCommand like_it{command.name_space, about->put.queue, 1, command.lease_ms};
    delivered(token, like_it, request.submitted_ms, answer.messages.front(), &request);
}

// Whether a lease of this message may be refused.
bool Oracle::may_be_unleasable(const MessageModel& about) {
    const QueueModel& queue = queue_of(about.put.name_space, about.put.queue);
    const bool may_be_paused = queue.paused || queue.settings.paused || !queue.is_known || !queue.open.empty() ||
                               queue.settings_step >= about.told_step;
    const bool has_rules = about.is_recurring() || about.half || !about.put.order_key.empty();
    const bool may_end = about.may_have_expired(latest()) || about.purge != MessageModel::Purge::no ||
                         may_have_died(about) || about.returns_open > 0;
    if (may_be_paused || has_rules || may_end || may_be_limited(about) || options_.leased_max < kLeasesSurely)
        return true;
    const Worlds worlds = with_open_commands(about, 0);
    const bool may_have_ended = std::any_of(worlds.begin(), worlds.end(), [](const World& world) {
        return world.is_ended() || world.phase == World::Phase::absent;
    });
    return may_have_ended || unseen(about) > 0 ||
           std::any_of(about.deliveries.begin(), about.deliveries.end(),
                       [&](const SeenDelivery& delivery) { return may_be_held(delivery, 0); });
}

// The message is due now, as if it had been leased and released.
void Oracle::made_ready(const Request& request, MessageModel& about) {
    if (!may_be_unleasable(about)) return violate("X", "a message was made due, and is not leased", &about);
    Worlds next;
    for (const World& world : with_open_commands(about, 0)) {
        if (world.is_live()) add_world(next, world);
        carry_out_lease(about, world, {request.submitted_ms, now_}, next);
    }
    if (next.empty()) return violate("C4", "made due, but it is " + describe(about.worlds()), &about);
    about.set({run_, 0}, next);
}

// ---- priorities

std::optional<std::int32_t> Oracle::priority_of(const Command& command) {
    if (const auto* release = std::get_if<ReleaseCommand>(&command)) return release->priority;
    const auto* hold = std::get_if<HoldLeaseCommand>(&command);
    return hold == nullptr ? std::nullopt : hold->priority;
}

void Oracle::priority_given(MessageModel& about, std::optional<std::int32_t> priority) {
    if (!priority) return;
    rare_.met(Rare::priority_changed);
    about.later_priority = priority;
    about.is_priority_in_doubt = false;
}

}  // namespace duewheel
