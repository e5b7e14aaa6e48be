#include "beanstalk/beanstalk_service.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "beanstalk/beanstalk_session.h"

namespace duewheel {

BeanstalkService::BeanstalkService(CommandPort& port, BeanstalkOptions options, std::function<std::int64_t()> now_ms)
    : port_(port), options_(std::move(options)), now_ms_(std::move(now_ms)), started_ms_(now_ms_()) {
    tubes_.at("default").using_it = 1;  // it is always there; the count is corrected where it is shown
}

BeanstalkService::~BeanstalkService() = default;

std::unique_ptr<BeanstalkSession> BeanstalkService::open(StreamClient& client) {
    ++counters_.connections;
    auto session = std::make_unique<BeanstalkSession>(*this, client);
    sessions_.insert(session.get());
    return session;
}

void BeanstalkService::deliver(ReplyToken token, Reply reply) {
    const auto found = waiting_.find(token);
    if (found == waiting_.end()) {
        if (const auto* lease = std::get_if<LeaseAnswer>(&reply)) give_back(*lease);
        return;
    }
    const Waiting waiting = std::move(found->second);
    waiting_.erase(found);
    waiting.then(std::move(reply));
}

std::int64_t BeanstalkService::act() {
    const std::int64_t now_ms = now_ms_();
    std::int64_t next_ms = kNever;
    const std::vector<BeanstalkSession*> sessions(sessions_.begin(), sessions_.end());
    for (BeanstalkSession* session : sessions) next_ms = std::min(next_ms, session->act(now_ms));
    for (auto next = tubes_.all().begin(); next != tubes_.all().end();) {
        const auto tube = next++;
        if (tube->second.paused_until_ms == 0) continue;
        if (tube->second.is_paused(now_ms)) {
            next_ms = std::min(next_ms, tube->second.paused_until_ms);
            continue;
        }
        tubes_.at(tube->first).paused_until_ms = 0;
        for (BeanstalkSession* session : sessions) session->tube_changed();
        tubes_.drop_if_unneeded(std::string(tube->first), now_ms);
    }
    return next_ms;
}

void BeanstalkService::stop() {
    const std::vector<BeanstalkSession*> sessions(sessions_.begin(), sessions_.end());
    for (BeanstalkSession* session : sessions) session->stop();
}

std::int64_t BeanstalkService::time_left_ms(MessageId id) const {
    const auto found = reserved_.find(id);
    return found == reserved_.end() ? 0 : found->second->jobs_.at(id).until_ms - now_ms_();
}

ReplyToken BeanstalkService::submit(BeanstalkSession& session, Command command, Then then) {
    const ReplyToken token = kTokenBit | next_token_++;
    waiting_.emplace(token, Waiting{&session, std::move(then)});
    port_.submit(std::move(command), token, nullptr);
    return token;
}

// If its reply is on its way, it comes to deliver().
void BeanstalkService::forget(ReplyToken token) {
    if (waiting_.erase(token) != 0) port_.forget(token);
}

void BeanstalkService::submit_unattended(Command command) {
    port_.submit(std::move(command), kTokenBit | next_token_++, nullptr);
}

void BeanstalkService::give_back(const LeaseAnswer& answer) {
    for (const Delivered& each : answer.messages) submit_unattended(ReleaseCommand{each.lease});
}

void BeanstalkService::closed(BeanstalkSession& session) {
    sessions_.erase(&session);
    std::vector<ReplyToken> tokens;
    for (const auto& [token, waiting] : waiting_) {
        if (waiting.session == &session) tokens.push_back(token);
    }
    std::sort(tokens.begin(), tokens.end());
    for (const ReplyToken token : tokens) forget(token);
}

}  // namespace duewheel
