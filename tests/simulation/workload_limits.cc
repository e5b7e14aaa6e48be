// Clients that set, change and remove the limits of namespaces.
#include <iterator>

#include "simulation/workload.h"

namespace duewheel {

void Workload::limit() {
    const std::string name_space = random_.chance(700'000) ? "default" : "other";
    const std::uint64_t drawn = random_.below(12);
    if (drawn < 2) return surroundings_.submit(DescribeNamespaceCommand{name_space});
    if (drawn == 2) {
        ListNamespacesCommand list;
        if (random_.chance(300'000)) list.after = "default";
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
