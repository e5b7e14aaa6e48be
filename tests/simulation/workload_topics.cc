// Clients that set, change and remove the Kafka topics of queues.
#include "simulation/sim_topics.h"
#include "simulation/workload.h"

namespace duewheel {

void Workload::topic() {
    const QueueOf queue = queue_name(options_, static_cast<std::uint32_t>(random_.below(options_.queues)));
    ConfigureQueueCommand command{queue.name_space, queue.queue, ConfigureQueueCommand::What::set, {}, {}};
    if (random_.chance(850'000)) {
        KafkaTarget target;
        target.topic = SimTopics::topic_of(static_cast<std::uint32_t>(random_.below(SimTopics::kTopics)));
        if (random_.chance(200'000)) target.key = "k";
        if (random_.chance(200'000)) target.partition = 0;
        target.exactly_once = random_.chance(750'000);
        command.settings.kafka = std::move(target);
        if (options_.queues_have_rules) command.settings.retry = draw_retry();
    }
    surroundings_.submit(std::move(command));
}

}  // namespace duewheel
