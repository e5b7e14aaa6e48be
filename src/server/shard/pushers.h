// The pushers of a shard, of which each may be absent.
#pragma once

#include <algorithm>
#include <variant>

#include "engine/commands/command.h"
#include "kafka/out/kafka_pusher.h"
#include "webhooks/webhook_pusher.h"

namespace duewheel {

struct Pushers {
    WebhookPusher* webhooks = nullptr;
    KafkaPusher* kafka = nullptr;

    void run_due(DueMs now) const {
        each([now](auto& pusher) { pusher.run_due(now); });
    }
    void stop() const {
        each([](auto& pusher) { pusher.stop(); });
    }
    bool are_idle() const {
        return (webhooks == nullptr || webhooks->is_idle()) && (kafka == nullptr || kafka->is_idle());
    }
    DueMs next_wakeup(DueMs now) const {
        DueMs next = DeliveryPort::kNoWakeup;
        each([&](const auto& pusher) { next = std::min(next, pusher.next_wakeup(now)); });
        return next;
    }
    // Adds the status of targets to a reply about queues.
    void complete(Reply& reply, DueMs now) const {
        if (auto* queue = std::get_if<QueueAnswer>(&reply)) fill_in(*queue, now);
        if (auto* list = std::get_if<QueueListAnswer>(&reply)) {
            for (QueueAnswer& queue : list->queues) fill_in(queue, now);
        }
    }

  private:
    template <class Use>
    void each(Use use) const {
        if (webhooks != nullptr) use(*webhooks);
        if (kafka != nullptr) use(*kafka);
    }
    void fill_in(QueueAnswer& queue, DueMs now) const {
        if (queue.removed || (!queue.settings.webhook && !queue.settings.kafka)) return;
        const QueueName name{queue.name_space, queue.queue};
        queue.target.emplace();
        if (queue.settings.webhook && webhooks != nullptr) {
            queue.target = webhooks->target_status(name, now);
        } else if (queue.settings.kafka && kafka != nullptr) {
            queue.target = kafka->target_status(name, now);
        } else {
            queue.target->state = TargetStatus::State::off;
        }
    }
};

}  // namespace duewheel
