#include "webhooks/webhook_pusher.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "message/failure_reason.h"

namespace duewheel {
namespace {

constexpr std::int64_t kLeaseBeyondTimeoutMs = 30'000;
constexpr std::int64_t kLeaseLeftMs = 1'000;     // beyond the timeout, of a lease that is posted
constexpr std::int64_t kLongBackoffMs = 60'000;  // long enough to be logged
constexpr std::int64_t kAgainMs = 1'000;         // after the engine refused a lease call
constexpr std::uint32_t kEndsMax = 4'096;        // of a target, not durable yet; at this limit nothing is leased for it

}  // namespace

WebhookPusher::WebhookPusher(DeliveryPort& port, const WebhookOptions& options, const WebhookSecrets& secrets,
                             const HeaderCipher& cipher, Surroundings surroundings, LogSink& log)
    : port_(port),
      options_(options),
      secrets_(secrets),
      cipher_(cipher),
      surroundings_(std::move(surroundings)),
      events_(log),
      shares_(options),
      calls_(port, [this](ReplyToken token, Reply reply) { receive(token, std::move(reply)); }),
      ends_([this](Command command) { return calls_.submit(std::move(command)); }) {}

WebhookPusher::~WebhookPusher() = default;

void WebhookPusher::run_due(DueMs now) {
    now_ = std::max(now_, now);
    if (port_.have_targets_changed(TargetKind::webhook)) take_changes();
    for (Arrived& arrived : std::exchange(answers_, {})) take_answer(std::move(arrived));
    ends_.run_due(now_);
    targets_.touch_due(now_);
    begin_queued();
    shares_.feed_starved([this](TargetNumber number) { targets_.touch(number); });
    targets_.serve_touched([this](TargetNumber number) { serve(number); });
}

DueMs WebhookPusher::next_wakeup(DueMs now) const {
    if (targets_.has_touched() || !answers_.empty() || port_.have_targets_changed(TargetKind::webhook)) return now;
    if (shares_.may_feed()) return now;
    return std::min(targets_.next_wakeup(kNoWakeup), ends_.next_wakeup());
}

void WebhookPusher::stop() {
    stopping_ = true;
    shares_.stop();
    ends_.stop();
    for (const auto& [number, target] : targets_.all()) targets_.touch(number);
}

WebhookCounters WebhookPusher::counters() const {
    WebhookCounters counters = counters_;
    counters.in_flight = shares_.in_flight();
    counters.bytes_in_flight = shares_.bytes();
    counters.targets = port_.queues_with_target(TargetKind::webhook);
    counters.targets_open = open_;
    return counters;
}

TargetStatus WebhookPusher::target_status(const QueueName& queue, DueMs now) const {
    const Target* found = targets_.find(queue);
    if (found == nullptr) return {};  // its settings were just created
    return found->state.status(found->use.in_flight, now);
}

// ---- targets

void WebhookPusher::take_changes() {
    for (auto& changed : port_.take_changed_targets(TargetKind::webhook)) take_change(std::move(changed));
    if (const std::size_t queues = std::exchange(unencrypted_, 0); queues > 0) events_.headers_unencrypted(queues);
}

void WebhookPusher::take_change(TargetQueue changed) {
    const auto [number, is_new] = targets_.add(changed.name);
    Target& target = targets_.at(number);
    if (is_new) shares_.join(target.use, number, changed.name.name_space);
    calls_.withdraw(target);  // the lease request may be different now
    targets_.touch(number);
    WebhookTargetState& state = target.state;
    const bool is_another = changed.webhook && changed.webhook != state.webhook;
    if (is_another && cipher_.has_key() && !changed.webhook->headers.empty()) ++unencrypted_;
    const bool was_open = state.breaker.is_open();
    if (Status fit = state.configure(std::move(changed), secrets_, cipher_); !fit) {
        events_.target_misconfigured(target.name, fit.error());
    }
    if (was_open && !state.breaker.is_open()) --open_;
}

void WebhookPusher::forget_if_over(TargetNumber number) {
    Target& target = targets_.at(number);
    if (target.state.webhook || target.leasing != 0 || target.use.busy != 0 || target.ends != 0 || target.use.starved) {
        return;
    }
    shares_.part(target.use, target.name.name_space);
    targets_.erase(number);
}

bool WebhookPusher::may_post(const Target& target) const {
    return !stopping_ && target.state.may_post();
}

// Leases messages for the target if it may have more, and withdraws its lease request if not.
void WebhookPusher::serve(TargetNumber number) {
    Target& target = targets_.at(number);
    if (!may_post(target)) {
        target.ready_ms = 0;
        calls_.withdraw(target);
        return forget_if_over(number);
    }
    if (const DueMs until = target.state.backs_off_until(); until > now_) {
        target.ready_ms = 0;
        calls_.withdraw(target);
        return targets_.wake_at(number, until);
    }
    if (target.leasing != 0) return;
    const std::uint32_t wanted =
        target.ends >= kEndsMax ? 0 : target.state.wanted(target.use.busy, target.use.in_flight, options_, now_);
    if (wanted == 0) {  // otherwise it is touched when a post or the end of a lease completes
        if (const DueMs next = target.state.pace.next_ms(now_); next > now_) targets_.wake_at(number, next);
        return;
    }
    const std::size_t room = shares_.room_or_wait(target.use);
    if (room == 0) {  // it waits for its own posts, or for connections that other targets have
        if (target.use.busy == 0 && target.ready_ms == 0) target.ready_ms = now_;
        return;
    }
    LeaseCommand lease;
    lease.ready_ms = std::exchange(target.ready_ms, 0);
    lease.max = static_cast<std::uint32_t>(std::min<std::size_t>(room, wanted));
    lease.lease_ms = target.state.timeout_ms(options_) + kLeaseBeyondTimeoutMs;
    lease.stays = true;
    calls_.lease(number, target, std::move(lease));
}

// ---- messages

void WebhookPusher::receive(ReplyToken token, Reply reply) {
    if (ends_.is_of(token)) {
        if (const auto ended = ends_.take(token, std::move(reply), now_)) take_end(*ended);
        return;
    }
    const std::optional<TargetNumber> number = calls_.take(token);
    if (!number) return;
    Target& target = targets_.at(*number);
    target.leasing = 0;
    targets_.touch(*number);
    if (auto* answer = std::get_if<LeaseAnswer>(&reply)) return take_messages(*number, std::move(*answer));
    DueMs& until_ms = target.state.backoff_until_ms;  // the engine is overloaded
    until_ms = std::max(until_ms, now_ + kAgainMs);
}

void WebhookPusher::take_messages(TargetNumber number, LeaseAnswer answer) {
    if (port_.have_targets_changed(TargetKind::webhook)) take_changes();  // possibly answered already
    Target& target = targets_.at(number);
    for (Delivered& message : answer.messages) {
        Post post;
        post.target = number;
        post.lease = message.lease;
        post.lease_until_ms = message.lease_until_ms;
        post.bytes = message.body.size() + message.headers.size();
        shares_.add(target.use, post.bytes);
        target.queued.push_back({std::move(post), std::move(message)});
    }
    begin_queued();
}

// Ends the accounting of a post that completed or never started.
void WebhookPusher::leave(const Post& post) {
    shares_.remove(targets_.at(post.target).use, post.bytes);
    targets_.touch(post.target);
}

// Posts queued messages as long as a connection is allowed.
void WebhookPusher::begin_queued() {
    shares_.take_turns([this](TargetNumber number, bool may_begin) {
        Target& target = targets_.at(number);
        const bool goes = may_go(target, target.queued.front().post);
        if (goes && !may_begin) return false;
        Queued next = std::move(target.queued.front());
        target.queued.pop_front();
        if (goes) {
            post(std::move(next.post), std::move(next.message));
        } else {
            leave(next.post);
            release(next.post);
        }
        return true;
    });
}

// False if the message waited too long, or its target may not receive it now: it is released.
bool WebhookPusher::may_go(const Target& target, const Post& post) const {
    const WebhookTargetState& state = target.state;
    if (!may_post(target) || state.backs_off_until() > now_ || state.is_being_tested()) return false;
    return post.lease_until_ms >= now_ + state.timeout_ms(options_) + kLeaseLeftMs;
}

void WebhookPusher::post(Post post, Delivered message) {
    Target& target = targets_.at(post.target);
    WebhookTargetState& state = target.state;
    state.pace.count(now_);
    targets_.touch(post.target);  // the next one is due at a time now
    ++state.trying;
    post.url = state.webhook->url;
    post.openings = state.breaker.openings();
    const WebhookAttempt attempt{.name_space = target.name.name_space,
                                 .queue = target.name.queue,
                                 .url = state.setup.url,
                                 .signer = state.setup.signer,
                                 .timeout_ms = state.timeout_ms(options_),
                                 .timestamp_ms = surroundings_.wall_now_ms(),
                                 .headers = state.setup.headers};
    const HeaderFields own = message.headers.empty() ? HeaderFields() : surroundings_.read_headers(message.headers);
    WebhookRequest request = webhook_of(message, own, attempt);
    shares_.post_begun(target.use);
    ++counters_.posted;
    surroundings_.send(std::move(request),
                       [this, post = std::move(post), headers = state.setup.headers](WebhookAnswer answer) mutable {
                           hide_header_values(headers, answer.text);
                           hide_header_values(headers, answer.end);
                           answers_.push_back({std::move(post), std::move(answer)});
                       });
}

// A delivery that did not take place does not count among the attempts.
void WebhookPusher::release(const Post& post) {
    ++counters_.released;
    end(post, ReleaseCommand{post.lease, 0});
}

// ---- answers

void WebhookPusher::take_answer(Arrived arrived) {
    Target& posted = targets_.at(arrived.post.target);
    shares_.post_ended(posted.use);
    if (arrived.post.openings == posted.state.breaker.openings()) --posted.state.trying;
    leave(arrived.post);
    post_us_.record(arrived.answer.took_us);
    update_breaker(posted, arrived.post, arrived.answer);
    end_lease(arrived.post, arrived.answer);
}

void WebhookPusher::update_breaker(Target& target, const Post& post, const WebhookAnswer& answer) {
    WebhookTargetState& state = target.state;
    if (!state.has_url(post.url)) return;  // the target has changed
    if (!is_of_target(meaning_of(answer))) {
        if (!state.breaker.worked()) return;
        --open_;
        return events_.target_recovered(target.name, state.setup.url);
    }
    if (!state.failed(post.openings, now_)) return;
    ++open_;
    ++counters_.breakers_opened;
    events_.target_failing(target.name, state.setup.url, failure_reason(answer, 200));
}

// Acknowledges, fails or releases the message.
void WebhookPusher::end_lease(const Post& post, const WebhookAnswer& answer) {
    const WebhookMeaning meaning = meaning_of(answer);
    if (answer.kind == WebhookAnswer::Kind::forbidden) ++counters_.forbidden;
    switch (meaning) {
        case WebhookMeaning::delivered:
            ++counters_.delivered;
            return end(post, AckCommand{post.lease});
        case WebhookMeaning::gone:
            ++counters_.refused;
            pause_gone(post);
            return release(post);
        case WebhookMeaning::refused:
        case WebhookMeaning::unavailable:
            ++counters_.refused;
            break;
        case WebhookMeaning::no_answer:
            ++counters_.no_answer;
            break;
        case WebhookMeaning::not_sent:
            ++counters_.not_sent;
            break;
    }
    const std::int64_t backoff_ms = retry_after_ms(answer, options_.retry_after_max_ms);
    Target& target = targets_.at(post.target);
    if (backoff_ms > 0 && target.state.has_url(post.url)) {
        // Logged once, regardless of the number of posts in progress when the target requested it.
        DueMs& until_ms = target.state.backoff_until_ms;
        if (backoff_ms >= kLongBackoffMs && until_ms <= now_) {
            events_.target_asked_for_pause(target.name, target.state.setup.url, answer.status, backoff_ms);
        }
        until_ms = std::max(until_ms, now_ + backoff_ms);
    }
    end(post, FailCommand{post.lease, failure_reason(answer, kReasonBytesMax), std::nullopt, backoff_ms});
}

// Before the message is released, so that its queue is paused by then.
void WebhookPusher::pause_gone(const Post& post) {
    Target& target = targets_.at(post.target);
    WebhookTargetState& state = target.state;
    if (state.paused || !state.has_url(post.url)) return;
    state.paused = true;
    state.gone_url = post.url;
    calls_.withdraw(target);
    ++counters_.targets_gone;
    events_.target_gone(target.name, state.setup.url);
    ConfigureQueueCommand pause;
    pause.name_space = target.name.name_space;
    pause.queue = target.name.queue;
    pause.what = ConfigureQueueCommand::What::pause;
    pause.gone_url = post.url;
    ++target.ends;
    ends_.end(post.target, std::move(pause), kNoWakeup);
}

// ---- ends of leases

void WebhookPusher::end(const Post& post, Command command) {
    ++targets_.at(post.target).ends;
    ends_.end(post.target, std::move(command), post.lease_until_ms);
}

void WebhookPusher::take_end(const PusherLeaseEnds::Ended& ended) {
    const auto* answer = std::get_if<LeaseEndAnswer>(&ended.reply);
    if (answer != nullptr && answer->outcome == LeaseOutcome::expired) ++counters_.ended_late;
    Target& target = targets_.at(ended.context);
    --target.ends;
    if (std::holds_alternative<ConfigureQueueCommand>(ended.command)) target.state.gone_url.clear();
    targets_.touch(ended.context);
}

}  // namespace duewheel
