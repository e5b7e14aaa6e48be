#include "simulation/post_judge.h"

#include <algorithm>
#include <charconv>
#include <type_traits>

namespace duewheel {
namespace {

constexpr std::uint32_t kFailuresToRest = 5;
constexpr DueMs kShortestRestMs = 1'000;
constexpr DueMs kAgainMs = 1'000;  // after a refusal

std::string_view field(const WebhookRequest& request, std::string_view name) {
    const auto found = std::find_if(request.fields.begin(), request.fields.end(),
                                    [&](const auto& each) { return each.first == name; });
    return found == request.fields.end() ? std::string_view() : std::string_view(found->second);
}

template <class Number>
Number number(const WebhookRequest& request, std::string_view name) {
    const std::string_view text = field(request, name);
    Number value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::optional<PostJudge::Key> key_of(const Command& command) {
    return std::visit(
        [](const auto& named) -> std::optional<PostJudge::Key> {
            if constexpr (requires { named.lease.code; }) {
                return PostJudge::Key{named.lease.id, named.lease.attempt};
            } else {
                return std::nullopt;
            }
        },
        command);
}

}  // namespace

void PostJudge::violate(std::string_view clause, const std::string& what, const Held& held) {
    oracle_.violate_delivery(clause, held.message.id, what + " (attempt " + std::to_string(held.message.attempt) + ")");
}

void PostJudge::process_died() {
    if (in_flight_ > 0) rare_.met(Rare::died_with_posts_under_way);
    held_.clear();
    targets_.clear();
    in_flight_ = 0;
}

// ---- leases

void PostJudge::asks(const LeaseCommand& lease) {
    Target& target = targets_[{lease.name_space, lease.queue}];
    target.asked_settings = target.settings;
}

void PostJudge::leased(const LeaseCommand& asked, const LeaseAnswer& answer) {
    const QueueKey queue{asked.name_space, asked.queue};
    for (const Delivered& message : answer.messages) {
        Held held;
        held.queue = queue;
        held.message = message;
        held.settings = targets_[queue].asked_settings;
        if (message.maybe_delivered) rare_.met(Rare::webhook_posted_again_after_crash);
        held_.emplace(Key{message.id, message.attempt}, std::move(held));
    }
}

void PostJudge::ended(const Command& command) {
    const std::optional<Key> key = key_of(command);
    if (!key) return;  // a queue is paused
    const auto found = held_.find(*key);
    if (found == held_.end()) {
        return oracle_.violate_delivery("C8", key->first, "a webhook's consumer ends a lease that it does not hold");
    }
    Held& held = found->second;
    if (std::exchange(held.is_ended, true)) return violate("C8", "a webhook's lease is ended twice", held);
    const auto answered = [&held](WebhookMeaning what) { return held.answer && meaning_of(*held.answer) == what; };
    if (held.is_posted && !held.answer) return violate("C8", "a lease is ended while its post is under way", held);
    if (std::holds_alternative<AckCommand>(command)) {
        if (answered(WebhookMeaning::delivered)) return;
        return violate("C3", "acknowledged, but its target has not taken it", held);
    }
    if (const auto* fail = std::get_if<FailCommand>(&command)) {
        const bool is_failure = held.answer && !answered(WebhookMeaning::delivered) && !answered(WebhookMeaning::gone);
        if (!is_failure) return violate("X", "failed, but its target did not say so", held);
        if (fail->backoff_min_ms < retry_after_ms(*held.answer, options_.retry_after_max_ms)) {
            violate("X", "to be tried again before its target wants it", held);
        }
        return;
    }
    if (held.answer && !answered(WebhookMeaning::gone))
        return violate("X", "given back although it was answered", held);
    rare_.met(Rare::webhook_given_back);
}

void PostJudge::end_answered(const Command& command, const Reply& reply) {
    const std::optional<Key> key = key_of(command);
    const auto found = key ? held_.find(*key) : held_.end();
    if (found == held_.end()) return;
    const auto* end = std::get_if<LeaseEndAnswer>(&reply);
    if (end != nullptr && end->outcome == LeaseOutcome::expired) rare_.met(Rare::webhook_ended_late);
    if (std::holds_alternative<Error>(reply)) {
        found->second.is_ended = false;  // and asked for again, as long as the lease lasts
        found->second.was_refused = true;
    } else {
        held_.erase(found);
    }
}

void PostJudge::told_of(const QueueAnswer& queue) {
    Target& target = targets_[{queue.name_space, queue.queue}];
    if (!queue.removed && std::exchange(target.revision, queue.settings.revision) == queue.settings.revision) return;
    if (target.in_flight > 0) rare_.met(Rare::webhook_changed_under_way);
    // Another URL is another target, and the first one again is a third.
    ++target.openings;
    ++target.settings;
    target.failures = target.tries_open = 0;
    target.rests = target.is_gone = false;
    target.backs_off_until = target.left_alone_until = 0;
    target.begun.clear();
}

// ---- posts

PostJudge::Key PostJudge::posted(const WebhookRequest& request, DueMs now) {
    rare_.met(Rare::webhook_posted);
    const Key key{number<MessageId>(request, "webhook-id"), number<std::uint32_t>(request, "duewheel-attempt")};
    const auto found = held_.find(key);
    if (found == held_.end()) {
        oracle_.violate_delivery("C8", key.first, "posted, but its consumer does not hold it");
        return key;
    }
    Held& held = found->second;
    Target& target = targets_[held.queue];
    if (held.is_posted) violate("C8", "posted twice under one lease", held);
    if (held.is_ended) violate("C8", "posted after its lease was given back", held);
    if (now + request.timeout.count() > held.message.lease_until_ms) {
        violate("C8", "posted for longer than its lease lasts", held);
    }
    check_content(request, held);
    check_settings(request, held, target, now);
    held.is_posted = true;
    held.url = target.url = request.url.text();
    held.openings = target.openings;
    ++target.in_flight;
    if (target.rests) ++target.tries_open;
    if (++in_flight_ > options_.connections_max) violate("C11", "posted beyond all connections", held);
    return key;
}

void PostJudge::check_content(const WebhookRequest& request, const Held& held) {
    const Delivered& message = held.message;
    const std::string_view name_space = field(request, "duewheel-namespace");
    const bool is_of_queue = (name_space.empty() ? kDefaultNamespace : name_space) == held.queue.first &&
                             field(request, "duewheel-queue") == held.queue.second;
    if (!is_of_queue) return violate("C12", "posted as of another queue", held);
    const bool is_whole = request.body == message.body && field(request, "Content-Type") == message.content_type &&
                          field(request, "traceparent") == message.traceparent &&
                          number<DueMs>(request, "duewheel-due-ms") == message.due_ms &&
                          (field(request, "duewheel-maybe-delivered") == "true") == message.maybe_delivered &&
                          field(request, "duewheel-schedule") == message.schedule &&
                          field(request, "duewheel-watchdog") == message.watchdog;
    if (!is_whole) return violate("C1", "posted with another content than was leased", held);
    if (message.check && number<MessageId>(request, "duewheel-check-message") == message.parent) {
        rare_.met(Rare::webhook_check_posted);
    } else if (message.check) {
        violate("C1", "a check was posted as none", held);
    }
}

void PostJudge::check_settings(const WebhookRequest& request, const Held& held, Target& target, DueMs now) {
    const QueueSettings* settings = oracle_.certain_settings(held.queue.first, held.queue.second);
    if (settings == nullptr) return;
    if (settings->paused) return violate("C7", "posted although its queue is paused", held);
    if (target.is_gone) return violate("X", "posted to a target that said that it is gone", held);
    if (!settings->webhook) return violate("C12", "posted although its queue has no webhook", held);
    const WebhookTarget& webhook = *settings->webhook;
    if (request.url.text() != webhook.url) return violate("C12", "posted to another target than its queue's", held);
    if (request.timeout.count() != (webhook.timeout_ms != 0 ? webhook.timeout_ms : options_.timeout_ms)) {
        return violate("X", "posted with another timeout than was said", held);
    }
    const std::uint32_t most = webhook.concurrency != 0 ? webhook.concurrency : options_.concurrency;
    const bool as_now_set = held.settings == target.settings;
    if (as_now_set && target.in_flight >= most) return violate("C11", "more posts at a time than the queue says", held);
    if (now < target.left_alone_until) return violate("X", "posted to a target that wants to be left alone", held);
    if (target.rests && now < target.backs_off_until)
        return violate("X", "posted to a target that does not work", held);
    if (target.rests && target.tries_open > 0) {
        return violate("X", "two at once are tried on a target that does not work", held);
    }
    if (webhook.rate == 0 || !as_now_set) return;
    std::erase_if(target.begun, [&](DueMs begun) { return begun <= now - 1000; });
    target.begun.push_back(now);
    // In less than a second: a full bucket, and what comes in 999 ms.
    const std::size_t begun_max = std::max<std::size_t>(webhook.rate / 10, 1) + std::size_t{webhook.rate} * 999 / 1000;
    if (target.begun.size() > begun_max) violate("C11", "more posts a second than the queue says", held);
}

void PostJudge::answered(const Key& key, const WebhookAnswer& answer, DueMs now) {
    const auto found = held_.find(key);
    if (found == held_.end()) return oracle_.violate_delivery("C8", key.first, "its lease was ended before its post");
    Held& held = found->second;
    Target& target = targets_[held.queue];
    held.answer = answer;
    --target.in_flight;
    --in_flight_;
    const WebhookMeaning meaning = meaning_of(answer);
    constexpr Rare kMet[] = {Rare::webhook_taken,       Rare::webhook_gone,           Rare::webhook_refused,
                             Rare::webhook_unavailable, Rare::webhook_without_answer, Rare::webhook_not_sent};
    rare_.met(kMet[static_cast<std::size_t>(meaning)]);
    if (target.tries_open > 0 && held.openings == target.openings) --target.tries_open;
    if (is_of_target(meaning)) {
        count_failure(target, held, now);
    } else {
        target.failures = 0;
        target.rests = false;
    }
    const QueueSettings* settings = oracle_.certain_settings(held.queue.first, held.queue.second);
    const bool is_its_target = settings != nullptr && settings->webhook && settings->webhook->url == held.url;
    if (meaning == WebhookMeaning::gone) target.is_gone |= is_its_target;
    const std::int64_t rest_ms = retry_after_ms(answer, options_.retry_after_max_ms);
    if (rest_ms == 0 || !is_its_target) return;
    rare_.met(Rare::webhook_left_alone);
    target.left_alone_until = std::max(target.left_alone_until, now + rest_ms);
}

// What was in progress when a target began to rest says nothing new.
void PostJudge::count_failure(Target& target, const Held& held, DueMs now) {
    if (held.openings != target.openings) return;
    if (!target.rests && ++target.failures < kFailuresToRest) return;
    rare_.met(Rare::webhook_target_rests);
    target.rests = true;
    target.backs_off_until = now + kShortestRestMs;
    target.tries_open = 0;
    ++target.openings;
}

void PostJudge::consumer_is_idle(DueMs now) {
    for (const auto& [key, held] : held_) {
        const bool is_over = held.was_refused && held.message.lease_until_ms <= now + kAgainMs;
        if (!held.is_ended && !is_over)
            return violate("C3", "leased for a webhook, and neither posted nor given back", held);
    }
    held_.clear();
}

}  // namespace duewheel
