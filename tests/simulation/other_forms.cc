#include "simulation/other_forms.h"

#include <algorithm>
#include <utility>

namespace duewheel {
namespace {

// The message's key, where it is held for certain.
MessageKey held_key(MessageId id, const Oracle& oracle, DueMs now, std::int64_t keys_held_ms) {
    const auto& messages = oracle.messages();
    const auto found =
        std::find_if(messages.begin(), messages.end(), [id](const MessageModel& each) { return each.id == id; });
    if (id == 0 || found == messages.end() || !found->answered || found->put.key.empty()) return {};
    if (found->was_put_otherwise) return {};
    const DueMs age = now - found->first_put_ms;
    if (age < 0 || age >= keys_held_ms) return {};
    return {found->put.queue, found->put.key};
}

}  // namespace

Command in_other_form(Command command, const Oracle& oracle, DueMs now, std::int64_t keys_held_ms) {
    const auto by_key = [&](auto& named) {
        if (named.by_key.is_given()) return;
        named.by_key = held_key(named.id, oracle, now, keys_held_ms);
        if (named.by_key.is_given()) named.id = 0;
    };
    if (auto* get = std::get_if<GetCommand>(&command)) {
        by_key(*get);
    } else if (auto* cancel = std::get_if<CancelCommand>(&command)) {
        by_key(*cancel);
    } else if (auto* move = std::get_if<RescheduleCommand>(&command)) {
        by_key(*move);
    } else if (auto* queue = std::get_if<ConfigureQueueCommand>(&command)) {
        if (queue->what != ConfigureQueueCommand::What::set || queue->keeps_pause) return command;
        const auto change = [to = queue->settings](QueueSettings& settings) { return settings = to, Status(); };
        return PatchQueueCommand{queue->name_space, queue->queue, change, 0};
    } else if (auto* space = std::get_if<ConfigureNamespaceCommand>(&command)) {
        if (space->removes) return command;
        const auto change = [to = space->settings](NamespaceSettings& settings) { return settings = to, Status(); };
        return PatchNamespaceCommand{space->name_space, change, 0};
    } else if (auto* schedule = std::get_if<PutScheduleCommand>(&command)) {
        const auto change = [to = *schedule](const ScheduleRule&, const MessageContent&) {
            return Result<PutScheduleCommand>(to);
        };
        return PatchScheduleCommand{schedule->name_space, schedule->name, change, schedule->body.size()};
    } else if (auto* watchdog = std::get_if<PutWatchdogCommand>(&command)) {
        const auto change = [to = *watchdog](const WatchdogRule&, const MessageContent&) {
            return Result<PutWatchdogCommand>(to);
        };
        return PatchWatchdogCommand{watchdog->name_space, watchdog->name, change, watchdog->body.size()};
    }
    return command;
}

}  // namespace duewheel
