// Clients that set, change and remove the limits of namespaces.
#include <algorithm>
#include <iterator>
#include <utility>

#include "simulation/workload.h"

namespace duewheel {

// Limits the namespace of a dead letter to one message, and puts one. A few actions later, when the limit is in force,
// the dead letter is kicked, and there is no room for it.
bool Workload::narrow_around_dead() {
    const Oracle::Messages& messages = oracle_.messages();
    const auto found = std::find_if(messages.rbegin(), messages.rend(), [](const MessageModel& message) {
        return message.id != 0 && message.open.empty() && message.may_be(World::Phase::dead);
    });
    if (found == messages.rend()) return false;
    dead_to_kick_ = found->serial;
    ConfigureNamespaceCommand narrow{found->put.name_space, false, {}};
    narrow.settings.pending_max = 1;
    surroundings_.submit(std::move(narrow));
    put_beside_dead();
    return true;
}

void Workload::put_beside_dead() {
    const PutCommand& dead = oracle_.messages()[dead_to_kick_ - 1].put;
    PutCommand put = draw_put({dead.name_space, dead.queue}, oracle_.messages().size() + 1);
    put.when = When{.at_ms = surroundings_.clock() + options_.due_scale_ms};
    put.expires.reset();
    put.repeat.reset();
    surroundings_.submit(std::move(put));
}

void Workload::kick_into_full() {
    put_beside_dead();
    const MessageModel& message = oracle_.messages()[std::exchange(dead_to_kick_, 0) - 1];
    surroundings_.submit(KickCommand{message.put.name_space, message.id});
}

void Workload::limit() {
    const std::string name_space = options_.name_spaces[random_.chance(700'000) ? 0 : 1];
    const std::uint64_t drawn = random_.below(12);
    if (drawn < 2) return surroundings_.submit(DescribeNamespaceCommand{name_space});
    if (drawn == 2) {
        ListNamespacesCommand list;
        if (random_.chance(300'000)) list.after = options_.name_spaces[0];
        list.limit = random_.chance(500'000) ? 1 : 100;
        return surroundings_.submit(std::move(list));
    }
    ConfigureNamespaceCommand command;
    command.name_space = name_space;
    command.removes = drawn < 6;
    NamespaceSettings& settings = command.settings;
    constexpr std::uint64_t kRates[] = {1, 2, 5, 20, 1'000};
    if (random_.chance(500'000)) settings.pending_max = 1 + random_.below(30);
    if (random_.chance(200'000)) settings.queues_max = 1 + random_.below(4);
    if (random_.chance(200'000)) settings.schedules_max = 1 + random_.below(3);
    if (random_.chance(200'000)) settings.watchdogs_max = 1 + random_.below(3);
    if (random_.chance(400'000)) settings.put_rate = kRates[random_.below(std::size(kRates))];
    if (random_.chance(300'000)) settings.weight = 1 + random_.below(5);
    if (random_.chance(30'000)) settings.put_rate = options_.engine.pending_limit_max + 1;
    surroundings_.submit(std::move(command));
}

}  // namespace duewheel
