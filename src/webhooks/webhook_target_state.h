// Whether and how fast messages may be posted to the webhook of a queue: its settings, its pace, its breaker, and the
// backoff that the target asked for. Takes the time as an argument; O(1).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "delivery/target_breaker.h"
#include "delivery/target_pace.h"
#include "engine/commands/command.h"
#include "engine/commands/target_queue.h"
#include "webhooks/header_cipher.h"
#include "webhooks/target_setup.h"
#include "webhooks/webhook_options.h"
#include "webhooks/webhook_secrets.h"

namespace duewheel {

struct WebhookTargetState {
    std::optional<WebhookTarget> webhook;
    bool paused = false;
    bool is_fit = false;   // it can be posted to, and signed for
    std::string gone_url;  // that said it is gone, until the engine has answered the pause for it
    TargetSetup setup;
    TargetPace pace;
    TargetBreaker breaker;
    DueMs backoff_until_ms = 0;  // as the target asked, or as the engine's refusal says
    std::uint32_t trying = 0;    // posts in progress, since the breaker last opened

    // The settings of the queue have changed. An error, with the codes of TargetSetup::from(): the webhook cannot be
    // used.
    Status configure(TargetQueue changed, const WebhookSecrets& secrets, const HeaderCipher& cipher);

    bool may_post() const { return webhook && is_fit && !paused; }
    // A post to this URL was one to the target as it is now.
    bool has_url(const std::string& url) const { return webhook && webhook->url == url; }
    DueMs backs_off_until() const { return std::max(backoff_until_ms, breaker.open_until_ms()); }
    // After failures, a single post tests whether the target works again, and it is in progress.
    bool is_being_tested() const { return breaker.is_open() && trying > 0; }

    std::int64_t timeout_ms(const WebhookOptions& options) const {
        return webhook->timeout_ms != 0 ? webhook->timeout_ms : options.timeout_ms;
    }
    std::uint32_t concurrency(const WebhookOptions& options) const {
        return webhook->concurrency != 0 ? webhook->concurrency : options.concurrency;
    }
    // True if the breaker opened, as TargetBreaker::failed() says.
    bool failed(std::uint64_t openings, DueMs now);
    // `busy`: its messages that are leased, of which `in_flight` are being posted. How many more it may have now.
    std::uint32_t wanted(std::uint32_t busy, std::uint32_t in_flight, const WebhookOptions& options, DueMs now);

    TargetStatus status(std::uint32_t in_flight, DueMs now) const;
};

}  // namespace duewheel
