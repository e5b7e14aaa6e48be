// Clients that limit queues and their groups, and put many messages of one group.
#include <algorithm>

#include "simulation/workload.h"

namespace duewheel {
namespace {

constexpr std::uint64_t kGroups = 4;

}  // namespace

std::vector<std::string> Workload::groups() {
    std::vector<std::string> all;
    for (std::uint64_t number = 0; number < kGroups; ++number) all.push_back("group " + std::to_string(number));
    return all;
}

std::string Workload::draw_group() {
    return random_.chance(250'000) ? std::string() : groups()[random_.below(kGroups)];
}

RateRule Workload::draw_rate() {
    RateRule rate{1 + random_.below(5), 0, 0};
    if (random_.chance(700'000)) rate.per_ms = random_.between(1, 20'000);
    if (random_.chance(500'000)) rate.burst = 1 + random_.below(5);
    return rate;
}

void Workload::limit_queue(const QueueOf& queue) {
    ConfigureQueueCommand command{queue.name_space, queue.queue, ConfigureQueueCommand::What::set, {}, {}};
    QueueSettings& settings = command.settings;
    if (random_.chance(250'000)) settings.leased_max = 1 + random_.below(std::min(options_.engine.leased_max, 6u));
    if (random_.chance(200'000)) settings.rate = draw_rate();
    if (random_.chance(500'000))
        settings.group_leased_max = 1 + random_.below(std::min(options_.engine.leased_max, 3u));
    if (random_.chance(250'000)) settings.group_rate = draw_rate();
    surroundings_.submit(std::move(command));
}

void Workload::change_group(const QueueOf& queue) {
    ChangeGroupCommand command{queue.name_space, queue.queue, groups()[random_.below(kGroups)]};
    const std::uint64_t drawn = random_.below(6);
    const std::uint64_t number = 1 + random_.below(std::min(options_.engine.leased_max, 4u));
    const RateRule rate = draw_rate();
    const DueMs backoff_ms = random_.between(1, 10'000);
    command.change = [=](GroupSettings& settings, DueMs now) {
        if (drawn == 0) settings = {.revision = settings.revision};
        if (drawn == 1 || drawn == 2) settings.leased_max = number;
        if (drawn == 3) settings.weight = number;
        if (drawn == 4) settings.rate = rate;
        if (drawn == 5) settings.backoff_until_ms = now + backoff_ms;
        return Status();
    };
    surroundings_.submit(std::move(command));
}

void Workload::group() {
    if (grouped_ == kNone || random_.chance(50'000)) {
        grouped_ = static_cast<std::uint32_t>(random_.below(options_.queues));
    }
    const QueueOf queue = queue_name(options_, grouped_);
    switch (random_.below(10)) {
        case 0:
            return limit_queue(queue);
        case 1:
            return change_group(queue);
        case 2: {
            if (random_.chance(500'000)) {
                ListGroupsCommand list{queue.name_space, queue.queue};
                list.order = static_cast<GroupOrder>(random_.below(4));
                list.limit = static_cast<std::uint32_t>(1 + random_.below(5));
                return surroundings_.submit(std::move(list));
            }
            const std::string name = groups()[random_.below(kGroups)];
            return surroundings_.submit(DescribeGroupCommand{queue.name_space, queue.queue, name});
        }
        case 3:
        case 4:
        case 5: {  // a burst of one group
            PutBatchCommand batch;
            const std::string name = draw_group();
            const std::uint64_t count = 1 + random_.below(random_.chance(200'000) ? 30 : 4);
            for (std::uint64_t i = 0; i < count; ++i) {
                PutCommand put = draw_put(queue, oracle_.messages().size() + i + 1);
                put.group = name;
                batch.puts.push_back(std::move(put));
            }
            return surroundings_.submit(std::move(batch));
        }
        default: {
            LeaseCommand lease{queue.name_space, queue.queue};
            lease.max = static_cast<std::uint32_t>(1 + random_.below(8));
            lease.lease_ms = draw_lease_time();
            if (random_.chance(300'000)) lease.wait_ms = random_.between(1, 20'000);
            return surroundings_.submit(std::move(lease));
        }
    }
}

}  // namespace duewheel
