// What the log says about webhook targets.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/log.h"
#include "base/status.h"
#include "engine/commands/target_queue.h"
#include "webhooks/webhook_url.h"

namespace duewheel {

class WebhookEvents {
  public:
    explicit WebhookEvents(LogSink& log) : log_(log) {}

    void headers_unencrypted(std::size_t queues);
    void target_misconfigured(const QueueName& queue, const Error& error);
    void target_failing(const QueueName& queue, const WebhookUrl& url, std::string_view why);
    void target_recovered(const QueueName& queue, const WebhookUrl& url);
    void target_gone(const QueueName& queue, const WebhookUrl& url);
    // With this status and Retry-After.
    void target_asked_for_pause(const QueueName& queue, const WebhookUrl& url, int status, std::int64_t pause_ms);

  private:
    LogSink& log_;
};

}  // namespace duewheel
