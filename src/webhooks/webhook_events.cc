#include "webhooks/webhook_events.h"

#include "base/error_codes.h"

namespace duewheel {

void WebhookEvents::headers_unencrypted(std::size_t queues) {
    log_.warning("webhook_headers_unencrypted",
                 "Webhook headers set before the encryption key are plain on disk. Set these webhooks again.",
                 {{"queues", queues}});
}

void WebhookEvents::target_misconfigured(const QueueName& queue, const Error& error) {
    log_.error("webhook_misconfigured",
               "The webhook of a queue cannot be used, and its messages stay in the queue. Correct the error below.",
               {{"namespace", queue.name_space},
                {"queue", queue.queue},
                {"code", name_of(error.code)},
                {"error", error.message}});
}

void WebhookEvents::target_failing(const QueueName& queue, const WebhookUrl& url, std::string_view why) {
    log_.warning(
        "webhook_target_failing",
        "A webhook target failed several times in a row. It is retried with growing pauses, and its messages "
        "stay in the queue.",
        {{"namespace", queue.name_space}, {"queue", queue.queue}, {"target", url.authority()}, {"last_result", why}});
}

void WebhookEvents::target_recovered(const QueueName& queue, const WebhookUrl& url) {
    log_.info("webhook_target_recovered", "A webhook target works again. Its messages are posted.",
              {{"namespace", queue.name_space},
               {"queue", queue.queue},
               {"target", url.authority()},
               {"last_result", "answered"}});
}

void WebhookEvents::target_gone(const QueueName& queue, const WebhookUrl& url) {
    log_.warning(
        "webhook_target_gone",
        "A webhook target answered 410 Gone, and its queue was paused. Correct the URL, then resume the queue.",
        {{"namespace", queue.name_space}, {"queue", queue.queue}, {"target", url.authority()}});
}

void WebhookEvents::target_asked_for_pause(const QueueName& queue, const WebhookUrl& url, int status,
                                           std::int64_t pause_ms) {
    log_.warning(
        "webhook_target_retry_after",
        "A webhook target asked for a long pause (Retry-After), and its messages stay in the queue. To end the "
        "pause early, pause and resume the queue.",
        {{"namespace", queue.name_space},
         {"queue", queue.queue},
         {"target", url.authority()},
         {"status", status},
         {"retry_after_ms", pause_ms}});
}

}  // namespace duewheel
