// What must hold if a queue limits how many messages are due in one second: no put and no move goes into a second that
// is certainly full, and none is refused or postponed while there is certainly room (C11).
#include <algorithm>

#include "engine/commands/command_traits.h"
#include "simulation/oracle.h"

namespace duewheel {

// Its queue's settings, where they are certain and were so when a request was submitted in that step; else null.
const QueueSettings* Oracle::settings_since(const MessageModel& about, std::uint64_t step) {
    const QueueModel& queue = queue_of(about.put.name_space, about.put.queue);
    const bool is_certain = queue.is_known && queue.open.empty() && queue.settings_step < step;
    return is_certain ? &queue.settings : nullptr;
}

Oracle::Dues Oracle::dues_of(Second second, const MessageModel& except) {
    return {except.put.name_space, except.put.queue, {second * 1000, second * 1000 + 999}, &except};
}

bool Oracle::is_among(const Dues& dues, const MessageModel& about) {
    if (&about == dues.except || about.put.name_space != dues.name_space) return false;
    return dues.queue.empty() || about.put.queue == dues.queue;
}

// Those that were due then when it was executed: those that are, and whose clients were told so before, because
// commands are answered in the order in which they are executed.
bool Oracle::is_surely_due_in(const Dues& dues, const MessageModel& about) const {
    const World* world = about.certain();
    const bool is_steady = world != nullptr && about.open.empty() && about.id != 0 && about.deliveries.empty();
    if (!is_steady || about.is_recurring() || !world->is_live() || !is_among(dues, about)) return false;
    const bool stays = !about.may_have_expired(now_) && !may_have_died(about) && about.purge == MessageModel::Purge::no;
    return stays && world->due.low == world->due.high && dues.when.holds(world->due.low);
}

std::uint64_t Oracle::surely_due_in(Second second, const MessageModel& except) const {
    const Dues dues = dues_of(second, except);
    return static_cast<std::uint64_t>(std::count_if(messages_.begin(), messages_.end(),
                                                    [&](const auto& about) { return is_surely_due_in(dues, about); }));
}

// Whether it cannot have been due then at any time since the request was submitted.
bool Oracle::is_surely_elsewhere(const Dues& dues, const MessageModel& about, const Request& request) const {
    if (!about.open.empty() || about.told_step >= request.step || about.is_recurring()) return false;
    return std::all_of(about.worlds().begin(), about.worlds().end(), [&](const World& world) {
        if (world.is_ended()) return world.ended.high < request.submitted_ms;
        if (!world.is_live()) return true;  // not there, dead, held, or prepared
        if (world.due.low <= dues.when.high && dues.when.low <= world.due.high) return false;
        // What has been due may rest after a failure, and until then; but not if nobody has had it, or still has it.
        if (world.due.low > now_ || about.deliveries.empty()) return world.due.low > now_ || unseen(about) == 0;
        const SeenDelivery& last = about.deliveries.back();
        const bool may_be_over =
            last.ended || last.may_have_ended || last.endings_open > 0 || last.until.low <= latest();
        return unseen(about) == 0 && !may_be_over;
    });
}

// All that may have been due then since the request was submitted.
std::uint64_t Oracle::may_be_due_in(const Dues& dues, const Request& request) const {
    std::uint64_t count = 0;
    for (const MessageModel& about : messages_) {
        if (!is_among(dues, about) || is_surely_elsewhere(dues, about, request)) continue;
        count += 1 + (about.is_recurring() ? not_met(about) : 0);
    }
    const QueueKey key{dues.name_space, dues.queue};
    const QueueKey* queue = dues.queue.empty() ? nullptr : &key;
    return count + runs_not_met(queue) + checks_not_met(queue) + firings_not_met(queue);
}

// After a put or a move of the message, which asked for one time and was answered another one, or the same.
void Oracle::check_second(const MessageModel& about, const When& asked, DueMs due, const Request& request) {
    const bool is_moved_on = asked.at_ms && due > std::max<DueMs>(*asked.at_ms, 1);
    if (about.put.is_held && is_a_put(request.command)) {
        if (is_moved_on) violate("C11", "placed in a later second though it is set aside", &about);
        return;
    }
    if (is_moved_on) {
        rare_.met(is_a_put(request.command) ? Rare::put_into_a_later_second : Rare::moved_into_a_later_second);
        if ((due - std::max<DueMs>(*asked.at_ms, 1)) % 1000 != 0) {
            return violate("C11", "placed in a later second at another time of it", &about);
        }
    }
    const QueueSettings* settings = settings_since(about, request.step);
    if (settings == nullptr) return;
    const std::uint64_t limit = settings->per_second;
    if (is_moved_on) {
        if (limit == 0) return violate("C11", "placed in a later second though its queue limits none", &about);
        for (DueMs passed = *asked.at_ms; passed < due; passed += 1000) {
            if (may_be_due_in(dues_of(second_of(passed), about), request) >= limit) continue;
            return violate("C11", "placed in a later second though that of " + at(passed) + " had room", &about);
        }
    }
    if (limit == 0 || second_of(due) <= second_of(latest())) return;
    const bool may_be_there = !is_a_put(request.command) &&  // and needs no room then
                              std::any_of(about.worlds().begin(), about.worlds().end(), [&](const World& world) {
                                  return world.is_live() && second_of(world.due.low) <= second_of(due) &&
                                         second_of(due) <= second_of(world.due.high);
                              });
    if (may_be_there) return;
    rare_.met(Rare::second_judged_exactly);
    if (surely_due_in(second_of(due), about) < limit) return;
    violate("C11", "the second of " + at(due) + " took another message, and has " + std::to_string(limit) + " already",
            &about);
}

void Oracle::refused_for_its_second(const Request& request, const MessageModel& about) {
    rare_.met(Rare::second_full);
    const QueueSettings* settings = settings_since(about, request.step);
    if (settings == nullptr) return;
    if (settings->per_second == 0) {
        return violate("C11", "refused for its second though its queue limits none", &about);
    }
    const auto* put = std::get_if<PutCommand>(&request.command);
    if (put != nullptr && put->is_held) {
        return violate("C11", "refused for its second though it is to be set aside", &about);
    }
    const When& asked = put != nullptr ? put->when : std::get<RescheduleCommand>(request.command).when;
    const std::int64_t flex_ms = put != nullptr ? put->flex_ms : std::get<RescheduleCommand>(request.command).flex_ms;
    if (!asked.at_ms) return;
    if (second_of(*asked.at_ms) <= second_of(request.submitted_ms)) {
        return violate("C11", "refused for its second though it is due at once", &about);
    }
    // A message that may end before that is not moved on, nor a recurring message beyond its end.
    DueMs latest = *asked.at_ms + (about.expires ? 0 : flex_ms);
    if (put != nullptr && put->repeat && put->repeat->until_ms) latest = std::min(latest, *put->repeat->until_ms);
    for (DueMs passed = *asked.at_ms; passed <= latest; passed += 1000) {
        if (may_be_due_in(dues_of(second_of(passed), about), request) >= settings->per_second) continue;
        return violate("C11", "refused for its second though that of " + at(passed) + " had room", &about);
    }
}

}  // namespace duewheel
