// A queue that the server delivers itself, as the pushers see it.
#pragma once

#include <optional>

#include "resource/queue_settings.h"
#include "store/store.h"

namespace duewheel {

// A queue that has a target, or had one until now.
struct TargetQueue {
    QueueName name;
    std::optional<WebhookTarget> webhook;
    std::optional<KafkaTarget> kafka;
    bool paused = false;
};

}  // namespace duewheel
