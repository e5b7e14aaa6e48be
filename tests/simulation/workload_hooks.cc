// Clients that set, change and remove the webhooks of queues.
#include "simulation/sim_webhooks.h"
#include "simulation/workload.h"

namespace duewheel {

void Workload::hook() {
    using What = ConfigureQueueCommand::What;
    const QueueOf queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
    ConfigureQueueCommand command{queue.name_space, queue.queue, What::set, {}, {}};
    if (oracle_.seems_paused(queue.name_space, queue.queue) && random_.chance(700'000)) {
        command.what = What::resume;  // its target was gone, and is there again
        return surroundings_.submit(std::move(command));
    }
    if (random_.chance(850'000)) {
        constexpr std::int64_t kTimeoutsMs[] = {0, 1'000, 5'000};
        constexpr std::uint32_t kConcurrencies[] = {0, 1, 2, 5};
        constexpr std::uint32_t kRates[] = {0, 0, 0, 1, 20};
        WebhookTarget target;
        target.url = SimWebhooks::url_of(static_cast<std::uint32_t>(random_.below(SimWebhooks::kTargets)));
        target.timeout_ms = kTimeoutsMs[random_.below(3)];
        target.concurrency = kConcurrencies[random_.below(4)];
        target.rate = kRates[random_.below(5)];
        command.settings.webhook = std::move(target);
        if (options_.queues_have_rules) command.settings.retry = draw_retry();
    }
    surroundings_.submit(std::move(command));
}

}  // namespace duewheel
