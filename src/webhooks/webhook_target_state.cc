#include "webhooks/webhook_target_state.h"

namespace duewheel {

Status WebhookTargetState::configure(TargetQueue changed, const WebhookSecrets& secrets, const HeaderCipher& cipher) {
    // A resume ends the backoff.
    if (paused && !changed.paused) backoff_until_ms = 0;
    // Other changes of a queue whose pause is not durable yet are reported as if it were not paused.
    paused = changed.paused || (changed.webhook && changed.webhook->url == gone_url);
    if (changed.webhook == webhook) return {};
    // Another URL is another target, with a new state.
    if (!changed.webhook || !has_url(changed.webhook->url)) {
        breaker.forget();
        trying = 0;
        backoff_until_ms = 0;
    }
    webhook = std::move(changed.webhook);
    is_fit = false;
    setup = {};
    if (!webhook) return {};
    pace.set(webhook->rate);
    Result<TargetSetup> made = TargetSetup::from(changed.name, *webhook, secrets, cipher);
    if (!made) return std::move(made).error();
    setup = *std::move(made);
    is_fit = true;
    return {};
}

std::uint32_t WebhookTargetState::wanted(std::uint32_t busy, std::uint32_t in_flight, const WebhookOptions& options,
                                         DueMs now) {
    const std::uint32_t queued = busy - in_flight;  // each will take a token of the pace
    const std::uint32_t most = breaker.is_open() ? 1 : concurrency(options);
    const std::uint32_t taken = breaker.is_open() ? queued + trying : busy;
    const std::uint32_t there = pace.available(now);
    return taken >= most || queued >= there ? 0 : std::min(most - taken, there - queued);
}

bool WebhookTargetState::failed(std::uint64_t openings, DueMs now) {
    const std::uint64_t before = breaker.openings();
    const bool opened = breaker.failed(openings, now);
    if (breaker.openings() != before) trying = 0;
    return opened;
}

TargetStatus WebhookTargetState::status(std::uint32_t in_flight, DueMs now) const {
    TargetStatus seen;
    seen.in_flight = in_flight;
    if (!is_fit) {
        seen.state = TargetStatus::State::unfit;
    } else if (backs_off_until() > now) {
        seen.backoff_until_ms = backs_off_until();
        const bool by_breaker = breaker.open_until_ms() >= backoff_until_ms;
        seen.state = by_breaker ? TargetStatus::State::failed : TargetStatus::State::retry_after;
    } else if (breaker.is_open()) {
        seen.state = TargetStatus::State::trying;
    }
    return seen;
}

}  // namespace duewheel
