#include "simulation/sim_webhooks.h"

#include <algorithm>
#include <cassert>

namespace duewheel {

std::string SimWebhooks::url_of(std::uint32_t target) {
    return "http://t" + std::to_string(target) + ".example/in";
}

SimWebhooks::SimWebhooks(const SimOptions& options, Oracle& oracle, LogSink& log, RareStates& rare, EventHash& hash,
                         Random random)
    : options_(options),
      oracle_(oracle),
      log_(log),
      hash_(hash),
      random_(random),
      judge_(options.webhooks, oracle, rare),
      secrets_(*WebhookSecrets::read({})) {
    for (Manner& manner : manners_) manner = static_cast<Manner>(random_.below(8));
}

void SimWebhooks::start(Engine& engine) {
    engine_ = &engine;
    port_.emplace(engine, kTokens, [this](Command command, ReplyToken token) { submit(std::move(command), token); });
    WebhookPusher::Surroundings surroundings;
    surroundings.send = [this](WebhookRequest request, WebhookClient::Done done) {
        send(std::move(request), std::move(done));
    };
    surroundings.read_headers = [](std::string_view) { return HeaderFields(); };
    surroundings.wall_now_ms = [this] { return engine_->now(); };
    pusher_ =
        std::make_unique<WebhookPusher>(*port_, options_.webhooks, secrets_, cipher_, std::move(surroundings), log_);
}

void SimWebhooks::process_died() {
    posts_.clear();
    pending_lookups_.clear();
    waiting_.clear();
    pusher_.reset();
    port_.reset();
    engine_ = nullptr;
    judge_.process_died();
}

// ---- the pusher and the engine

void SimWebhooks::submit(Command command, ReplyToken token) {
    if (const auto* lease = std::get_if<LeaseCommand>(&command)) {
        // It waits with one call for each queue: an earlier one was withdrawn, with nothing on its way to it.
        ReplyToken& waiting = waiting_[{lease->name_space, lease->queue}];
        if (waiting != 0) {
            oracle_.withdrawn(pending_lookups_.at(waiting).token);
            pending_lookups_.erase(waiting);
        }
        waiting = token;
        judge_.asks(*lease);
    } else {
        judge_.ended(command);
    }
    hash_.add(command.index());
    pending_lookups_.emplace(token, PendingLookup{oracle_.submitted(command), command});
    engine_->submit(std::move(command), token);
}

void SimWebhooks::hear(const ReplyEffect& effect) {
    const auto found = pending_lookups_.find(effect.token);
    if (found == pending_lookups_.end()) return oracle_.violate("X", "a lease that was withdrawn is answered");
    const PendingLookup asked = std::move(found->second);
    pending_lookups_.erase(found);
    if (!oracle_.replied({asked.token, effect.reply})) return;
    if (const auto* lease = std::get_if<LeaseCommand>(&asked.command)) {
        waiting_[{lease->name_space, lease->queue}] = 0;
        if (const auto* answer = std::get_if<LeaseAnswer>(&effect.reply)) judge_.leased(*lease, *answer);
    } else if (const auto* paused = std::get_if<QueueAnswer>(&effect.reply)) {
        judge_.told_of(*paused);
    } else {
        judge_.end_answered(asked.command, effect.reply);
    }
    if (!oracle_.violated()) port_->deliver(effect.token, effect.reply);
}

void SimWebhooks::run_due() {
    const DueMs now = engine_->now();
    for (std::size_t i = posts_.size(); i-- > 0;) {
        if (posts_[i].times_out_ms > now) continue;
        WebhookAnswer late;
        late.kind = WebhookAnswer::Kind::timed_out;
        answer(i, std::move(late));
    }
    pusher_->run_due(now);
}

DueMs SimWebhooks::next_wakeup() const {
    DueMs next = pusher_->next_wakeup(engine_->now());
    for (const Post& post : posts_) next = std::min(next, post.times_out_ms);
    return next;
}

void SimWebhooks::check_quiet() {
    if (!posts_.empty()) return;
    if (pusher_->counters().in_flight != 0) {
        return oracle_.violate("C11", "nothing is posted, but connections are counted as taken");
    }
    if (pusher_->is_idle()) judge_.consumer_is_idle(engine_->now());
}

// ---- the pusher and its targets

void SimWebhooks::send(WebhookRequest request, WebhookClient::Done done) {
    Post post;
    for (std::uint32_t target = 0; target < kTargets; ++target) {
        if (request.url.text() == url_of(target)) post.target = target;
    }
    post.times_out_ms = engine_->now() + request.timeout.count();
    post.key = judge_.posted(request, engine_->now());
    post.done = std::move(done);
    hash_.add(post.key.first);
    hash_.add(post.key.second);
    posts_.push_back(std::move(post));
}

bool SimWebhooks::answer_one() {
    if (posts_.empty()) return false;
    const std::size_t which = random_.below(posts_.size());
    Manner& manner = manners_[posts_[which].target];
    if (random_.chance(100'000)) manner = static_cast<Manner>(random_.below(8));
    if (is_calm_) manner = Manner::takes;
    if (manner != Manner::silent) answer(which, draw_answer(manner));
    return true;
}

WebhookAnswer SimWebhooks::draw_answer(Manner manner) {
    WebhookAnswer answer;
    answer.kind = WebhookAnswer::Kind::answered;
    switch (manner) {
        case Manner::takes:
            answer.status = random_.chance(500'000) ? 200 : 204;
            break;
        case Manner::refuses: {
            constexpr int kStatuses[] = {301, 400, 404};
            answer.status = kStatuses[random_.below(3)];
            break;
        }
        case Manner::overloaded:
            answer.status = random_.chance(500'000) ? 500 : 503;
            break;
        case Manner::asks_for_rest:
            answer.status = random_.chance(500'000) ? 429 : 503;
            answer.retry_after_s = random_.between(0, 20);
            break;
        case Manner::gone:
            answer.status = 410;
            break;
        case Manner::silent:
        case Manner::breaks:
            answer.kind = WebhookAnswer::Kind::broken;
            break;
        case Manner::unreachable:
            answer.kind = random_.chance(500'000) ? WebhookAnswer::Kind::unreachable : WebhookAnswer::Kind::forbidden;
            break;
    }
    return answer;
}

void SimWebhooks::answer(std::size_t which, WebhookAnswer answer) {
    const Post post = std::move(posts_[which]);
    posts_.erase(posts_.begin() + static_cast<std::ptrdiff_t>(which));
    hash_.add(static_cast<std::uint64_t>(answer.kind));
    hash_.add(static_cast<std::uint64_t>(answer.status));
    if (meaning_of(answer) == WebhookMeaning::delivered) ++taken_;
    judge_.answered(post.key, answer, engine_->now());
    post.done(std::move(answer));
}

}  // namespace duewheel
