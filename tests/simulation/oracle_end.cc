// The checks of how many messages there are, and of the end: everything is answered, and nothing is lost.
#include <algorithm>
#include <string>
#include <variant>

#include "simulation/oracle.h"

namespace duewheel {

void Oracle::check_live_count(std::uint64_t live_count, std::string_view when, bool leases_are_over) {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
    for (const MessageModel& message : messages_) {
        if (message.is_surely_unfinished() && !may_have_died(message) && !message.may_have_expired(latest())) ++least;
        const bool is_gone = message.has_expired(now_) || (message.half && has_surely_ended(message));
        if (message.may_be_unfinished() && !(leases_are_over && is_gone)) ++most;
        if (message.is_recurring() && !leases_are_over) most += not_met(message);
    }
    if (!leases_are_over) most += runs_not_met(nullptr) + checks_not_met(nullptr) + firings_not_met(nullptr);
    if (live_count >= least && live_count <= most) return;
    violate(live_count < least ? "C1" : "C3", std::to_string(live_count) + " messages are unfinished " +
                                                  std::string(when) + ", but it must be " + std::to_string(least) +
                                                  " to " + std::to_string(most));
}

bool Oracle::awaits_answers() const {
    if (!outside_.empty()) return true;
    return std::any_of(requests_.begin(), requests_.end(), [](const auto& request) {
        return !std::holds_alternative<LeaseCommand>(request.second.command) &&
               !waits_for_an_end(request.second.command);
    });
}

void Oracle::check_all_answered() {
    if (!outside_.empty()) return violate("C9", "a command outside its limits is never answered");
    for (auto& [token, request] : requests_) {
        if (std::holds_alternative<LeaseCommand>(request.command) || may_still_wait(request)) continue;
        return violate("C9", "a " + std::string(command_name(request.command)) + " is never answered",
                       message(request.serial));
    }
}

void Oracle::check_nothing_lost() {
    for (const MessageModel& message : messages_) {
        if (message.is_recurring()) check_occurrences(message);
        const bool is_left = std::none_of(message.worlds().begin(), message.worlds().end(), [](const World& world) {
            return world.is_ended() || world.phase == World::Phase::absent;
        });
        if (!is_left || may_be_let_go(message) || may_be_discarded(message)) continue;
        if (message.may_have_expired(latest())) continue;
        return violate("C3",
                       "message " + std::to_string(message.id) + " was never delivered to its end: it is " +
                           describe(message.worlds()),
                       &message);
    }
}

}  // namespace duewheel
