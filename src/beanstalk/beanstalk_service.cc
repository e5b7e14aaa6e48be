#include "beanstalk/beanstalk_service.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "beanstalk/beanstalk_session.h"

namespace duewheel {
namespace {

// The line of a command of a client at `peer`. One of a Unix socket is known by its user.
AuditEntry audit_entry(const std::string& peer, std::string_view verb, const std::string& tube,
                       std::string_view outcome) {
    const bool is_local = peer.starts_with("uid:");
    AuditEntry entry;
    entry.verb = verb;
    entry.actor = is_local ? std::string_view(peer) : kAnonymous;
    entry.address = is_local ? "unix" : peer;
    entry.name_space = kDefaultNamespace;
    entry.object = tube;
    entry.outcome = outcome;
    return entry;
}

}  // namespace

BeanstalkService::BeanstalkService(BeanstalkPort& port, BeanstalkOptions options, std::function<std::int64_t()> now_ms)
    : port_(port),
      options_(std::move(options)),
      now_ms_(std::move(now_ms)),
      started_ms_(now_ms_()),
      tokens_(port.add_sink([this](ReplyToken token, Reply reply) { receive(token, std::move(reply)); })) {
    tubes_.at("default").using_it = 1;  // it is always there; the count is corrected where it is shown
}

BeanstalkService::~BeanstalkService() = default;

std::unique_ptr<BeanstalkSession> BeanstalkService::open(StreamClient& client) {
    ++counters_.connections;
    const SessionNumber number = next_session_++;
    auto session = std::make_unique<BeanstalkSession>(*this, number, client);
    sessions_.emplace(number, session.get());
    return session;
}

void BeanstalkService::receive(ReplyToken token, Reply reply) {
    const auto found = waiting_.find(token);
    if (found == waiting_.end()) {
        if (const auto* lease = std::get_if<LeaseAnswer>(&reply)) give_back(*lease);
        return;
    }
    const Waiting waiting = std::move(found->second);
    waiting_.erase(found);
    std::erase(waiting.session->in_progress_, token);
    waiting.then(std::move(reply));
    schedule(*waiting.session);
}

std::int64_t BeanstalkService::run_due() {
    const std::int64_t now_ms = now_ms_();
    while (!wakeups_.empty() && wakeups_.begin()->first <= now_ms) {
        BeanstalkSession& session = *sessions_.at(wakeups_.begin()->second);
        session.run_due(now_ms);
        schedule(session);
    }
    const std::int64_t pause_ends_ms = end_pauses(now_ms);
    return wakeups_.empty() ? pause_ends_ms : std::min(pause_ends_ms, wakeups_.begin()->first);
}

void BeanstalkService::schedule(BeanstalkSession& session) {
    const std::int64_t at_ms = session.next_wakeup_ms();
    if (at_ms == session.wakeup_ms_) return;
    wakeups_.erase({session.wakeup_ms_, session.number_});
    session.wakeup_ms_ = at_ms;
    if (at_ms != kNever) wakeups_.emplace(at_ms, session.number_);
}

std::int64_t BeanstalkService::end_pauses(std::int64_t now_ms) {
    std::int64_t next_ms = kNever;
    for (auto name = paused_.begin(); name != paused_.end();) {
        BeanstalkTube& tube = tubes_.at(*name);
        if (tube.is_paused(now_ms)) {
            next_ms = std::min(next_ms, tube.paused_until_ms);
            ++name;
            continue;
        }
        tube.paused_until_ms = 0;
        for (const auto& [number, session] : sessions_) session->tube_changed();
        tubes_.drop_if_unneeded(*name, now_ms);
        name = paused_.erase(name);
    }
    return next_ms;
}

void BeanstalkService::stop() {
    for (const auto& [number, session] : sessions_) session->stop();
}

std::int64_t BeanstalkService::time_left_ms(MessageId id) const {
    const auto found = reserved_.find(id);
    return found == reserved_.end() ? 0 : found->second->jobs_.at(id).until_ms - now_ms_();
}

ReplyToken BeanstalkService::submit(BeanstalkSession& session, Command command, Then then) {
    const ReplyToken token = tokens_.next();
    waiting_.emplace(token, Waiting{&session, std::move(then)});
    session.in_progress_.push_back(token);
    port_.submit(std::move(command), token);
    return token;
}

// If its reply is on its way, it comes to receive().
void BeanstalkService::forget(ReplyToken token) {
    if (drop_waiting(token)) port_.forget(token);
}

bool BeanstalkService::drop_waiting(ReplyToken token) {
    const auto found = waiting_.find(token);
    if (found == waiting_.end()) return false;
    std::erase(found->second.session->in_progress_, token);
    waiting_.erase(found);
    return true;
}

void BeanstalkService::submit_unattended(Command command) {
    port_.submit(std::move(command), tokens_.next());
}

void BeanstalkService::give_back(const LeaseAnswer& answer) {
    for (const Delivered& each : answer.messages) submit_unattended(ReleaseCommand{each.lease});
}

void BeanstalkService::record_refused(const BeanstalkSession& session, std::string_view verb, const std::string& tube,
                                      ErrorCode code) {
    port_.record_limited(audit_entry(session.client_.peer(), verb, tube, name_of(code)));
}

void BeanstalkService::record(BeanstalkSession& session, std::string_view verb, const std::string& tube,
                              std::function<void(bool)> then) {
    port_.record(audit_entry(session.client_.peer(), verb, tube, kOutcomeOk),
                 while_open<bool>(session.number_, std::move(then)));
}

void BeanstalkService::closed(BeanstalkSession& session) {
    sessions_.erase(session.number_);
    wakeups_.erase({session.wakeup_ms_, session.number_});
    while (!session.in_progress_.empty()) forget(session.in_progress_.front());
}

}  // namespace duewheel
