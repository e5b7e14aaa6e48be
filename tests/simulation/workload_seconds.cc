// Clients that limit how many messages of a queue are due in one second, and fill such seconds.
#include <algorithm>

#include "simulation/workload.h"

namespace duewheel {

// One of the youngest of that queue.
const MessageModel* Workload::pick_in(const QueueOf& queue) {
    const Oracle::Messages& messages = oracle_.messages();
    for (std::size_t back = 1; back <= std::min<std::size_t>(messages.size(), 60); ++back) {
        const MessageModel& message = messages[messages.size() - back];
        const bool is_there = message.put.queue == queue.queue && message.put.name_space == queue.name_space;
        if (is_there && message.id != 0 && random_.chance(400'000)) return &message;
    }
    return pick_message();
}

void Workload::narrow() {
    if (narrow_ == kNone || random_.chance(50'000))
        narrow_ = static_cast<std::uint32_t>(random_.below(options_.queues));
    const QueueOf queue = queue_name(options_, narrow_);
    if (random_.chance(150'000)) {
        ConfigureQueueCommand command{queue.name_space, queue.queue, ConfigureQueueCommand::What::set, {}, {}};
        if (random_.chance(800'000)) command.settings.per_second = 1 + random_.below(3);
        return surroundings_.submit(std::move(command));
    }
    // Few seconds, so that they fill; not the one that is now, which takes all.
    const DueMs begin = surroundings_.clock() / 4'000 * 4'000 + 4'000;
    const DueMs at = begin + random_.between(0, 2'500);
    const std::int64_t flex_ms = random_.chance(600'000) ? random_.between(0, 4'000) : 0;
    if (random_.chance(250'000)) {
        const MessageModel* message = pick_in(queue);
        if (message == nullptr) return;
        return send(RescheduleCommand{message->put.name_space, message->id, {at, 0}, flex_ms});
    }
    const std::uint64_t count = 1 + random_.below(4);
    const bool in_one_request = random_.chance(300'000) && count > 1;
    PutBatchCommand batch;
    for (std::uint64_t i = 0; i < count; ++i) {
        PutCommand put = draw_put(queue, oracle_.messages().size() + batch.puts.size() + 1);
        put.when = When{at, 0};
        put.flex_ms = flex_ms;
        put.expires.reset();
        put.repeat.reset();  // it was drawn to come so often from its own time on
        if (options_.has(Op::loop) && !put.transaction && random_.chance(200'000)) put.repeat = draw_repeat(put.when);
        if (!in_one_request) {
            surroundings_.submit(std::move(put));
        } else {
            batch.puts.push_back(std::move(put));
        }
    }
    if (in_one_request) surroundings_.submit(std::move(batch));
}

}  // namespace duewheel
