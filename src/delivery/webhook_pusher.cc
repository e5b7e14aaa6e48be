#include "delivery/webhook_pusher.h"

#include <algorithm>

#include "base/utf8.h"
#include "delivery/dynamic_threshold.h"

namespace duewheel {
namespace {

constexpr std::int64_t kLeaseBeyondTimeoutMs = 30'000;
constexpr std::int64_t kLeaseLeftMs = 1'000;     // beyond the timeout, of a lease that is posted
constexpr std::int64_t kLongBackoffMs = 60'000;  // long enough to be logged
constexpr std::int64_t kAgainMs = 1'000;         // after the engine refused a lease call
constexpr std::uint32_t kEndsMax = 4'096;        // of a target, not durable yet; at this limit nothing is leased for it
constexpr std::size_t kReasonBytesMax = 1024;

}  // namespace

WebhookPusher::WebhookPusher(Engine& engine, const WebhookOptions& options, const WebhookSecrets& secrets,
                             const HeaderCipher& cipher, Surroundings surroundings, LogSink& log)
    : engine_(engine),
      options_(options),
      secrets_(secrets),
      cipher_(cipher),
      surroundings_(std::move(surroundings)),
      log_(log),
      ends_([this](Command command) {
          const ReplyToken token = kTokenBit | next_token_++;
          surroundings_.submit(std::move(command), token);
          return token;
      }) {}

WebhookPusher::~WebhookPusher() = default;

void WebhookPusher::act(DueMs now) {
    now_ = std::max(now_, now);
    if (engine_.have_targets_changed(TargetKind::webhook)) take_changes();
    for (Arrived& arrived : std::exchange(answers_, {})) take_answer(std::move(arrived));
    ends_.act(now_);
    targets_.touch_due(now_);
    begin_queued();
    serve_starved();
    targets_.serve_touched([this](TargetNumber number) { serve(number); });
}

DueMs WebhookPusher::next_wakeup(DueMs now) const {
    if (targets_.has_touched() || !answers_.empty() || engine_.have_targets_changed(TargetKind::webhook)) return now;
    if (may_feed()) return now;
    return std::min(targets_.next_wakeup(kNoWakeup), ends_.next_wakeup());
}

void WebhookPusher::stop() {
    stopping_ = true;
    ends_.stop();
    for (const auto& [number, target] : targets_.all()) targets_.touch(number);
}

WebhookCounters WebhookPusher::counters() const {
    WebhookCounters counters = counters_;
    counters.in_flight = in_flight_;
    counters.bytes_in_flight = bytes_;
    counters.targets = engine_.queues_with_target(TargetKind::webhook);
    counters.targets_open = open_;
    return counters;
}

TargetStatus WebhookPusher::target_status(const QueueName& queue, DueMs now) const {
    const Target* found = targets_.find(queue);
    if (found == nullptr) return {};  // its settings were just created
    const Target& target = *found;
    TargetStatus seen;
    seen.in_flight = target.in_flight;
    if (!target.is_fit) {
        seen.state = TargetStatus::State::unfit;
    } else if (backs_off_until(target) > now) {
        seen.backoff_until_ms = backs_off_until(target);
        const bool by_breaker = target.breaker.open_until_ms() >= target.backoff_until_ms;
        seen.state = by_breaker ? TargetStatus::State::failed : TargetStatus::State::retry_after;
    } else if (target.breaker.is_open()) {
        seen.state = TargetStatus::State::trying;
    }
    return seen;
}

// ---- targets

void WebhookPusher::take_changes() {
    for (auto& changed : engine_.take_changed_targets(TargetKind::webhook)) take_change(std::move(changed));
    if (const std::size_t queues = std::exchange(unencrypted_, 0); queues > 0) {
        log_.warning("webhook_headers_unencrypted",
                     "Webhook headers set before the encryption key are plain on disk. Set these webhooks again.",
                     {{"queues", queues}});
    }
}

void WebhookPusher::take_change(TargetQueue changed) {
    const auto [number, is_new] = targets_.add(changed.name);
    Target& target = targets_.at(number);
    if (is_new) {
        Share& share = shares_[changed.name.name_space];
        ++share.targets;
        target.share = &share;
    }
    withdraw(target);  // the lease request may be different now
    targets_.touch(number);
    // A resume ends the backoff.
    if (target.paused && !changed.paused) target.backoff_until_ms = 0;
    // Other changes of a queue whose pause is not durable yet are reported as if it were not paused.
    target.paused = changed.paused || (changed.webhook && changed.webhook->url == target.gone_url);
    if (changed.webhook == target.webhook) return;
    // Another URL is another target, with a new state.
    if (!changed.webhook || !target.webhook || changed.webhook->url != target.webhook->url) {
        open_ -= target.breaker.is_open() ? 1 : 0;
        target.breaker.forget();
        target.trying = 0;
        target.backoff_until_ms = 0;
    }
    target.webhook = std::move(changed.webhook);
    target.is_fit = false;
    target.setup = {};
    if (!target.webhook) return;
    target.pace.set(target.webhook->rate);
    if (cipher_.has_key() && !target.webhook->headers.empty()) ++unencrypted_;
    if (Result<TargetSetup> setup = TargetSetup::from(target.name, *target.webhook, secrets_, cipher_); setup) {
        target.setup = *std::move(setup);
        target.is_fit = true;
    } else {
        log_.error(
            "webhook_misconfigured",
            "The webhook of a queue cannot be used, and its messages stay in the queue. Correct the error below.",
            {{"namespace", target.name.name_space},
             {"queue", target.name.queue},
             {"code", setup.error().code},
             {"error", setup.error().message}});
    }
}

void WebhookPusher::withdraw(Target& target) {
    if (target.leasing == 0 || !engine_.withdraw(target.leasing)) return;
    leases_requested_.erase(target.leasing);
    target.leasing = 0;
}

bool WebhookPusher::forget_if_over(TargetNumber number) {
    Target& target = targets_.at(number);
    if (target.webhook || target.leasing != 0 || target.busy != 0 || target.ends != 0 || target.starved) return false;
    if (--target.share->targets == 0) shares_.erase(target.name.name_space);
    targets_.erase(number);
    return true;
}

std::int64_t WebhookPusher::timeout_of(const Target& target) const {
    return target.webhook->timeout_ms != 0 ? target.webhook->timeout_ms : options_.timeout_ms;
}

std::uint32_t WebhookPusher::concurrency_of(const Target& target) const {
    return target.webhook->concurrency != 0 ? target.webhook->concurrency : options_.concurrency;
}

DueMs WebhookPusher::backs_off_until(const Target& target) const {
    return std::max(target.backoff_until_ms, target.breaker.open_until_ms());
}

bool WebhookPusher::may_post(const Target& target) const {
    return !stopping_ && target.webhook && target.is_fit && !target.paused;
}

// Connections that are reserved for targets of the namespace that have none. Without them a few hanging targets would
// use the whole share of their namespace.
std::size_t WebhookPusher::kept_in(const Share& share) const {
    const std::size_t firsts = std::min(share.targets, options_.connections_max * 2 / 5);
    const std::size_t kept = firsts - std::min(firsts, share.begun);
    return std::min<std::size_t>(kept, options_.connections_max - in_flight_);
}

// The number of further posts for a target of the namespace that already has one.
std::size_t WebhookPusher::left_in(const Share& share) const {
    const std::size_t kept = kept_in(share);
    return left_of(share.in_flight + kept, options_.connections_max - in_flight_ - kept);
}

// How many more messages the namespace may lease within its share.
std::size_t WebhookPusher::room_in(const Share& share) const {
    if (bytes_ >= options_.bytes_in_flight_max) return 0;
    if (share.bytes >= kTimesFree * (options_.bytes_in_flight_max - bytes_)) return 0;
    const std::size_t kept = kept_in(share);
    const std::size_t most = kTimesFree * (options_.connections_max - in_flight_ - kept);
    const std::size_t own = share.in_flight + share.queued + kept;
    return own >= most ? 0 : std::max<std::size_t>((most - own) / (kTimesFree + 1), 1);
}

bool WebhookPusher::may_begin(const Share& share) const {
    return stopping_ || share.in_flight < kTimesFree * (options_.connections_max - in_flight_);
}

bool WebhookPusher::may_begin(const Target& target) const {
    if (stopping_ || target.in_flight == 0) return true;  // as its namespace may
    return target.in_flight < left_in(*target.share);
}

// How many more messages the target could use without limits on resources.
std::uint32_t WebhookPusher::wanted_by(Target& target) {
    if (target.ends >= kEndsMax) return 0;
    const bool is_open = target.breaker.is_open();
    const std::uint32_t most = is_open ? 1 : concurrency_of(target);
    const std::uint32_t taken = is_open ? target.busy - target.in_flight + target.trying : target.busy;
    return taken >= most ? 0 : std::min(most - taken, target.pace.available(now_));
}

// How many more bytes it may lease. A target without any may have one message as long as its namespace may, regardless
// of reserved resources.
std::size_t WebhookPusher::room_of(const Target& target) const {
    const Share& share = *target.share;
    const std::size_t left = left_in(share);
    const bool is_large =
        target.bytes != 0 && (bytes_ >= options_.bytes_in_flight_max ||
                              target.bytes >= left_of(share.bytes, options_.bytes_in_flight_max - bytes_));
    if (target.busy < left && !is_large) {
        const std::size_t room = std::min(room_in(share), (left - target.busy + 1) / 2);
        if (room > 0) return room;
    }
    return target.busy == 0 && may_have_one(share) ? 1 : 0;
}

bool WebhookPusher::may_have_one(const Share& share) const {
    return !stopping_ && bytes_ < options_.bytes_in_flight_max && may_begin(share);
}

// Leases messages for the target if it may have more, and withdraws its lease request if not.
void WebhookPusher::serve(TargetNumber number) {
    Target& target = targets_.at(number);
    if (!may_post(target)) {
        withdraw(target);
        static_cast<void>(forget_if_over(number));
        return;
    }
    if (const DueMs rests = backs_off_until(target); rests > now_) {
        withdraw(target);
        return targets_.wake_at(number, rests);
    }
    if (target.leasing != 0) return;
    const std::uint32_t wanted = wanted_by(target);
    if (wanted == 0) {  // otherwise it is touched when a post or the end of a lease completes
        if (const DueMs next = target.pace.next_ms(now_); next > now_) targets_.wake_at(number, next);
        return;
    }
    // Targets that already wait are served first. A target with messages to send waits for those posts.
    Share& share = *target.share;
    const bool is_its_turn = std::exchange(target.fed, false) || share.starved.empty();
    const std::size_t room = is_its_turn ? room_of(target) : 0;
    if (room == 0) {
        if (target.busy > 0 || std::exchange(target.starved, true)) return;
        share.starved.push_back(number);
        ++starved_;
        return;
    }
    LeaseCommand lease;
    lease.name_space = target.name.name_space;
    lease.queue = target.name.queue;
    lease.max = static_cast<std::uint32_t>(std::min<std::size_t>(room, wanted));
    lease.lease_ms = timeout_of(target) + kLeaseBeyondTimeoutMs;
    lease.stays = true;
    target.leasing = kTokenBit | next_token_++;
    leases_requested_.emplace(target.leasing, number);
    surroundings_.submit(std::move(lease), target.leasing);
}

bool WebhookPusher::may_feed() const {
    return starved_ > 0 && std::any_of(shares_.begin(), shares_.end(), [this](const auto& each) {
               return !each.second.starved.empty() && may_have_one(each.second);
           });
}

// In each namespace the longest waiting targets first, and only as many as there are resources for.
void WebhookPusher::serve_starved() {
    if (starved_ == 0) return;
    for (auto& [name, share] : shares_) {
        std::size_t room = may_have_one(share) ? options_.connections_max - in_flight_ : 0;
        for (; room > 0 && !share.starved.empty(); --room) {
            const TargetNumber number = share.starved.front();
            share.starved.pop_front();
            --starved_;
            targets_.at(number).starved = false;
            targets_.at(number).fed = true;
            targets_.touch(number);
        }
    }
}

// ---- messages

void WebhookPusher::reply(ReplyToken token, Reply reply) {
    if (ends_.is_of(token)) {
        if (const auto ended = ends_.take(token, std::move(reply), now_)) take_end(*ended);
        return;
    }
    const auto request = leases_requested_.find(token);
    if (request == leases_requested_.end()) return;
    const TargetNumber number = request->second;
    leases_requested_.erase(request);
    Target& target = targets_.at(number);
    target.leasing = 0;
    targets_.touch(number);
    if (auto* answer = std::get_if<LeaseAnswer>(&reply)) return take_messages(number, std::move(*answer));
    target.backoff_until_ms = std::max(target.backoff_until_ms, now_ + kAgainMs);  // the engine is overloaded
}

void WebhookPusher::take_messages(TargetNumber number, LeaseAnswer answer) {
    if (engine_.have_targets_changed(TargetKind::webhook)) take_changes();  // possibly answered already
    Target& target = targets_.at(number);
    for (Delivered& message : answer.messages) {
        Post post;
        post.target = number;
        post.lease = message.lease;
        post.lease_until_ms = message.lease_until_ms;
        post.bytes = message.body.size() + message.headers.size();
        bytes_ += post.bytes;
        target.share->bytes += post.bytes;
        target.bytes += post.bytes;
        ++target.busy;
        Share& share = *target.share;
        if (share.lines.empty()) lines_.push_back(&share);
        if (target.queued.empty()) share.lines.push_back(number);
        ++share.queued;
        target.queued.push_back({std::move(post), std::move(message)});
    }
    begin_queued();
}

// Ends the accounting of a post that completed or never started.
void WebhookPusher::leave(const Post& post) {
    bytes_ -= post.bytes;
    Target& target = targets_.at(post.target);
    target.share->bytes -= post.bytes;
    target.bytes -= post.bytes;
    --target.busy;
    targets_.touch(post.target);
}

// Posts one message of each namespace in turn, and of each target in it, as long as a connection is allowed.
void WebhookPusher::begin_queued() {
    for (std::size_t passed_over = 0; passed_over < lines_.size();) {
        Share& share = *lines_.front();
        lines_.pop_front();
        const bool begins = may_begin(share) && begin_next(share);
        if (!share.lines.empty()) lines_.push_back(&share);
        passed_over = begins ? 0 : passed_over + 1;
    }
}

// False: none of its targets may open another connection now.
bool WebhookPusher::begin_next(Share& share) {
    for (std::size_t targets = share.lines.size(); targets > 0; --targets) {
        const TargetNumber number = share.lines.front();
        share.lines.pop_front();
        Target& target = targets_.at(number);
        const bool goes = may_go(target, target.queued.front().post);
        if (goes && !may_begin(target)) {
            share.lines.push_back(number);
            continue;
        }
        Queued next = std::move(target.queued.front());
        target.queued.pop_front();
        --share.queued;
        if (!target.queued.empty()) share.lines.push_back(number);
        if (goes) {
            post(std::move(next.post), std::move(next.message));
        } else {
            leave(next.post);
            release(next.post);
        }
        return true;
    }
    return false;
}

// False if the message waited too long, or its target may not receive it now: it is released.
bool WebhookPusher::may_go(const Target& target, const Post& post) const {
    if (!may_post(target) || backs_off_until(target) > now_ || (target.breaker.is_open() && target.trying > 0))
        return false;
    return post.lease_until_ms >= now_ + timeout_of(target) + kLeaseLeftMs;
}

void WebhookPusher::post(Post post, Delivered message) {
    Target& target = targets_.at(post.target);
    target.pace.take();
    post.url = target.webhook->url;
    post.openings = target.breaker.openings();
    WebhookAttempt attempt{.name_space = target.name.name_space,
                           .queue = target.name.queue,
                           .url = target.setup.url,
                           .signer = target.setup.signer,
                           .timeout_ms = timeout_of(target),
                           .timestamp_ms = surroundings_.wall_now_ms(),
                           .lateness_ms = std::max<std::int64_t>(now_ - message.due_ms, 0),
                           .headers = target.setup.headers};
    const HeaderFields own = message.headers.empty() ? HeaderFields() : surroundings_.read_headers(message.headers);
    WebhookRequest request = webhook_of(message, own, attempt);
    ++in_flight_;
    ++target.share->in_flight;
    if (target.in_flight++ == 0) ++target.share->begun;
    ++target.trying;
    ++counters_.posted;
    surroundings_.send(std::move(request),
                       [this, post = std::move(post), headers = target.setup.headers](WebhookAnswer answer) mutable {
                           hide_header_values(headers, answer.text);
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
    --in_flight_;
    Target& posted = targets_.at(arrived.post.target);
    --posted.share->in_flight;
    if (--posted.in_flight == 0) --posted.share->begun;
    if (arrived.post.openings == posted.breaker.openings()) --posted.trying;
    leave(arrived.post);
    post_us_.record(arrived.answer.took_us);
    update_breaker(posted, arrived.post, arrived.answer);
    settle(arrived.post, arrived.answer);
}

void WebhookPusher::update_breaker(Target& target, const Post& post, const WebhookAnswer& answer) {
    if (!target.webhook || target.webhook->url != post.url) return;  // the target has changed
    const WebhookMeaning meaning = meaning_of(answer);
    const auto tell = [&](LogLevel level, const char* event, const char* sentence, std::string_view why) {
        const std::string authority = target.setup.url.authority();
        const LogField fields[] = {{"namespace", target.name.name_space},
                                   {"queue", target.name.queue},
                                   {"target", authority},
                                   {"last_result", why}};
        log_.write(level, event, sentence, fields);
    };
    if (!is_of_target(meaning)) {
        if (!target.breaker.worked()) return;
        --open_;
        return tell(LogLevel::info, "webhook_target_recovered",
                    "A webhook target works again. Its messages are posted.", "answered");
    }
    const std::uint64_t openings = target.breaker.openings();
    const bool opened = target.breaker.failed(post.openings, now_);
    if (target.breaker.openings() != openings) target.trying = 0;
    if (!opened) return;
    ++open_;
    ++counters_.breakers_opened;
    tell(LogLevel::warning, "webhook_target_failing",
         "A webhook target failed several times in a row. It is retried with growing pauses, and its messages stay in "
         "the queue.",
         failure_reason(answer, 200));
}

// Acknowledges, fails or releases the message.
void WebhookPusher::settle(const Post& post, const WebhookAnswer& answer) {
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
    if (backoff_ms > 0 && target.webhook && target.webhook->url == post.url) {
        if (backoff_ms >= kLongBackoffMs && target.backoff_until_ms <= now_) log_backoff(target, backoff_ms, answer);
        target.backoff_until_ms = std::max(target.backoff_until_ms, now_ + backoff_ms);
    }
    end(post, FailCommand{post.lease, failure_reason(answer, kReasonBytesMax), std::nullopt, backoff_ms});
}

// Logs each backoff once, regardless of the number of posts in progress when the target requested it.
void WebhookPusher::log_backoff(const Target& target, std::int64_t backoff_ms, const WebhookAnswer& answer) {
    log_.warning(
        "webhook_target_retry_after",
        "A webhook target asked for a long pause (Retry-After), and its messages stay in the queue. To end the "
        "pause early, pause and resume the queue.",
        {{"namespace", target.name.name_space},
         {"queue", target.name.queue},
         {"target", target.setup.url.authority()},
         {"status", answer.status},
         {"retry_after_ms", backoff_ms}});
}

// Before the message is released, so that its queue is paused by then.
void WebhookPusher::pause_gone(const Post& post) {
    Target& target = targets_.at(post.target);
    if (target.paused || !target.webhook || target.webhook->url != post.url) return;
    target.paused = true;
    target.gone_url = post.url;
    withdraw(target);
    ++counters_.targets_gone;
    log_.warning(
        "webhook_target_gone",
        "A webhook target answered 410 Gone, and its queue was paused. Correct the URL, then resume the queue.",
        {{"namespace", target.name.name_space},
         {"queue", target.name.queue},
         {"target", target.setup.url.authority()}});
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

void WebhookPusher::take_end(const LeaseEnds::Ended& ended) {
    const auto* answer = std::get_if<LeaseEndAnswer>(&ended.reply);
    if (answer != nullptr && answer->outcome == LeaseOutcome::expired) ++counters_.ended_late;
    Target& target = targets_.at(ended.context);
    --target.ends;
    if (std::holds_alternative<ConfigureQueueCommand>(ended.command)) target.gone_url.clear();
    targets_.touch(ended.context);
}

}  // namespace duewheel
