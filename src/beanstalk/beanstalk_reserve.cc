// Reserved jobs (beanstalk_session.h): reserve, time to run, and the pauses of tubes.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/error_codes.h"
#include "beanstalk/beanstalk_job.h"
#include "beanstalk/beanstalk_session.h"

namespace duewheel {
namespace {

constexpr std::int64_t kSafetyMarginMs = 1'000;  // before a timeout, in which a client should not wait for other jobs
constexpr std::int64_t kLeaseMarginMs = 10'000;  // beyond the TTR
constexpr std::int64_t kLeaseMaxMs = 12LL * 3600 * 1000;
// The lease of a job whose TTR is not known before the reply.
constexpr std::int64_t kFirstLeaseMs = std::int64_t{kBeanstalkTtrDefaultS} * 1'000 + kLeaseMarginMs;
constexpr std::string_view kDeadlineSoon = "DEADLINE_SOON\r\n";
constexpr std::string_view kTimedOut = "TIMED_OUT\r\n";

}  // namespace

// ---- reserve

// All watched tubes are tried one after the other, first the one whose next job has the smallest priority, and if none
// has a ready job, the session waits in all of them.
void BeanstalkSession::reserve(SlotNumber slot, std::optional<std::int32_t> timeout_s) {
    become(is_worker_, service_.workers_);
    ++service_.reserving_;
    reserve_ = Reserve{.slot = slot, .until_ms = {}, .to_try = {}, .is_waiting = false, .asked = {}};
    if (timeout_s) reserve_->until_ms = now_ms() + std::int64_t{*timeout_s} * 1'000;
    const bool waits_at_once = watched_.size() == 1 && timeout_s != 0 && nearest_timeout() - now_ms() > kSafetyMarginMs;
    if (waits_at_once) return wait_in_all_tubes();
    if (watched_.size() == 1) {
        reserve_->to_try = watched_;
        return try_next_tube();
    }
    service_.port_.find_first_ready(watched_, service_.while_open<BeanstalkPort::FirstReady>(
                                                  number_, [this](const BeanstalkPort::FirstReady& first) {
                                                      if (!reserve_) return;  // the server is stopping
                                                      reserve_->to_try = tubes_to_try(first);
                                                      try_next_tube();
                                                  }));
}

// The first to try is the last. Tubes whose ready jobs are all on disk come after all others. O(watched tubes), without
// the sorting.
std::vector<std::string> BeanstalkSession::tubes_to_try(const BeanstalkPort::FirstReady& first) {
    std::vector<std::pair<std::optional<ReadyKey>, std::string>> tubes;
    for (std::size_t i = 0; i < watched_.size(); ++i) tubes.emplace_back(first[i], watched_[i]);
    std::stable_sort(tubes.begin(), tubes.end(), [](const auto& left, const auto& right) {
        if (!left.first || !right.first) return right.first.has_value();
        return *right.first < *left.first;
    });
    std::vector<std::string> names;
    for (auto& [key, tube] : tubes) names.push_back(std::move(tube));
    return names;
}

void BeanstalkSession::try_next_tube() {
    while (!reserve_->to_try.empty()) {
        const std::string tube = std::move(reserve_->to_try.back());
        reserve_->to_try.pop_back();
        const BeanstalkTube* of = service_.tubes_.find(tube);
        if (of == nullptr || !of->is_paused(now_ms())) return ask_tube(tube, false);
    }
    if (nearest_timeout() - now_ms() <= kSafetyMarginMs) return end_reserve(kDeadlineSoon);
    if (reserve_->until_ms && *reserve_->until_ms <= now_ms()) return end_reserve(kTimedOut);
    wait_in_all_tubes();
}

void BeanstalkSession::wait_in_all_tubes() {
    reserve_->is_waiting = true;
    for (const std::string& tube : watched_) {
        ++service_.tubes_.at(tube).waiting;
        if (!service_.tubes_.at(tube).is_paused(now_ms())) ask_tube(tube, true);
    }
}

void BeanstalkSession::ask_tube(const std::string& tube, bool waits) {
    LeaseCommand lease;
    lease.queue = tube;
    lease.max = 1;
    lease.lease_ms = kFirstLeaseMs;
    lease.stays = waits;
    lease.ends_with_server = true;  // as its connection does
    // The reply never comes within submit(), so the token is known by then.
    const auto token = std::make_shared<ReplyToken>(0);
    *token = service_.submit(*this, std::move(lease),
                             [this, token](Reply result) { take_lease(*token, std::move(result)); });
    reserve_->asked.emplace(*token, tube);
}

void BeanstalkSession::take_lease(ReplyToken token, Reply result) {
    const auto asked = reserve_->asked.find(token);
    const std::string tube = asked->second;
    reserve_->asked.erase(asked);
    auto* lease = std::get_if<LeaseAnswer>(&result);
    if (lease != nullptr && !lease->messages.empty()) {
        return end_reserve(take_job(std::move(lease->messages.front()), tube));
    }
    if (!reserve_->asked.empty()) return;
    if (!reserve_->is_waiting) return try_next_tube();
    // The server is stopping, or its limit of leased messages is reached: as if there were none.
    end_reserve(kTimedOut);
}

std::string BeanstalkSession::take_job(Delivered job, const std::string& tube) {
    const std::int64_t at_ms = now_ms();
    Job& of = jobs_[job.id];
    of = {.lease = job.lease, .tube = tube, .ttr_ms = std::int64_t{ttr_of_headers(job.headers)} * 1'000};
    of.until_ms = at_ms + of.ttr_ms;
    of.lease_until_ms = at_ms + kFirstLeaseMs - kLeaseMarginMs / 2;
    service_.reserved_[job.id] = this;
    list_times(job.id);
    extend_leases(at_ms);
    return "RESERVED " + std::to_string(job.id) + " " + std::to_string(job.body.size()) + "\r\n" + job.body + "\r\n";
}

// The job may be in any tube, and ready, delayed or buried; pauses and a deadline that is near do not matter.
void BeanstalkSession::reserve_job(SlotNumber slot, MessageId id) {
    LeaseMessageCommand lease;
    lease.id = id;
    lease.lease_ms = kFirstLeaseMs;
    lease.ends_with_server = true;
    service_.submit(*this, std::move(lease), [this, slot](Reply result) {
        if (const auto* error = std::get_if<Error>(&result)) {
            const bool is_missing = error->code == "not_leasable"_code || error->code == "made_ready"_code ||
                                    error->code == "unknown_id"_code || error->code == "gone"_code;
            return is_missing ? reply(slot, "NOT_FOUND\r\n") : refuse(slot);
        }
        become(is_worker_, service_.workers_);
        auto& answer = std::get<LeaseAnswer>(result);
        reply(slot, take_job(std::move(answer.messages.front()), answer.queue));
    });
}

void BeanstalkSession::end_reserve(std::string_view text) {
    const SlotNumber slot = reserve_->slot;
    withdraw_reserve();
    reply(slot, text);
}

// It ends when all tubes have replied. A job that is on its way to it is reserved: returned, it would count as reserved
// though no client got it.
void BeanstalkSession::end_wait() {
    stop_waiting();
    std::vector<ReplyToken> asked;
    for (const auto& [token, tube] : reserve_->asked) asked.push_back(token);
    if (asked.empty()) return try_next_tube();  // all tubes are paused
    for (const ReplyToken token : asked) service_.port_.withdraw(token);
}

void BeanstalkSession::stop_waiting() {
    if (!std::exchange(reserve_->is_waiting, false)) return;
    for (const std::string& tube : watched_) --service_.tubes_.at(tube).waiting;
}

void BeanstalkSession::withdraw_reserve() {
    if (!reserve_) return;
    --service_.reserving_;
    stop_waiting();
    const Reserve reserve = *std::exchange(reserve_, std::nullopt);
    for (const auto& [token, tube] : reserve.asked) service_.forget(token);
}

// A pause began or ended.
void BeanstalkSession::tube_changed() {
    if (!reserve_ || !reserve_->is_waiting) return;
    for (auto next = reserve_->asked.begin(); next != reserve_->asked.end();) {
        const auto asked = next++;
        if (!service_.tubes_.at(asked->second).is_paused(now_ms())) continue;
        service_.forget(asked->first);
        reserve_->asked.erase(asked);
    }
    for (const std::string& tube : watched_) {
        const auto is_it = [&](const auto& asked) { return asked.second == tube; };
        const bool is_asked = std::any_of(reserve_->asked.begin(), reserve_->asked.end(), is_it);
        if (!is_asked && !service_.tubes_.at(tube).is_paused(now_ms())) ask_tube(tube, true);
    }
}

// ---- reserved jobs

std::int64_t BeanstalkSession::nearest_timeout() const {
    return timeouts_.empty() ? BeanstalkService::kNever : timeouts_.begin()->first;
}

void BeanstalkSession::list_times(MessageId id) {
    const Job& job = jobs_.at(id);
    timeouts_.emplace(job.until_ms, id);
    if (job.until_ms > job.lease_until_ms) extensions_.emplace(job.lease_until_ms - kLeaseMaxMs / 2, id);
}

void BeanstalkSession::unlist_times(MessageId id) {
    const Job& job = jobs_.at(id);
    timeouts_.erase({job.until_ms, id});
    extensions_.erase({job.lease_until_ms - kLeaseMaxMs / 2, id});
}

void BeanstalkSession::time_out_jobs(std::int64_t now_ms) {
    while (!timeouts_.empty() && timeouts_.begin()->first <= now_ms) {
        const MessageId id = timeouts_.begin()->second;
        ++service_.counters_.timeouts;
        service_.submit_unattended(ReleaseCommand{jobs_.at(id).lease});
        drop_job(id);
    }
}

// Before they end, while the job has time left.
void BeanstalkSession::extend_leases(std::int64_t now_ms) {
    while (!extensions_.empty() && extensions_.begin()->first <= now_ms) {
        const MessageId id = extensions_.begin()->second;
        Job& job = jobs_.at(id);
        unlist_times(id);
        const std::int64_t lease_ms = std::min(job.until_ms - now_ms + kLeaseMarginMs, kLeaseMaxMs);
        service_.submit_unattended(ExtendCommand{job.lease, lease_ms});
        job.lease_until_ms = now_ms + lease_ms - kLeaseMarginMs / 2;
        list_times(id);
    }
}

void BeanstalkSession::drop_job(MessageId id) {
    unlist_times(id);
    jobs_.erase(id);
    service_.reserved_.erase(id);
}

void BeanstalkSession::run_due(std::int64_t now_ms) {
    time_out_jobs(now_ms);
    extend_leases(now_ms);
    if (now_ms >= job_until_ms_) {
        job_until_ms_ = BeanstalkService::kNever;
        return stop();
    }
    if (!reserve_ || !reserve_->is_waiting) return;
    if (nearest_timeout() - now_ms <= kSafetyMarginMs) return end_wait();
    if (reserve_->until_ms && *reserve_->until_ms <= now_ms) end_wait();
}

std::int64_t BeanstalkSession::next_wakeup_ms() const {
    const std::int64_t nearest_ms = nearest_timeout();
    std::int64_t next_ms = std::min(nearest_ms, job_until_ms_);
    if (!extensions_.empty()) next_ms = std::min(next_ms, extensions_.begin()->first);
    if (!reserve_ || !reserve_->is_waiting) return next_ms;
    if (nearest_ms != BeanstalkService::kNever) next_ms = std::min(next_ms, nearest_ms - kSafetyMarginMs);
    return std::min(next_ms, reserve_->until_ms.value_or(BeanstalkService::kNever));
}

void BeanstalkSession::stop() {
    has_quit_ = true;
    if (reserve_) end_reserve(kTimedOut);
    if (slots_.empty()) client_.finish();
}

// ---- pause

// Pauses the tube for sessions of this protocol: consumers over HTTP go on.
void BeanstalkSession::pause(SlotNumber slot, const BeanstalkCommand& command) {
    static constexpr std::string_view kVerb = "tube.pause";
    if (!service_.port_.can_record()) return refuse(slot);
    when_known(command.tube, [this, slot, tube = command.tube, delay_s = command.delay_s](bool is_known) {
        if (!is_known) {
            service_.record_refused(*this, kVerb, tube, "unknown_queue"_code);
            return reply(slot, "NOT_FOUND\r\n");
        }
        BeanstalkTube& of = service_.tubes_.at(tube);
        ++of.pauses;
        of.pause_s = delay_s;
        of.paused_until_ms = now_ms() + std::max<std::int64_t>(std::int64_t{delay_s} * 1'000, 1);
        service_.paused_.insert(tube);
        for (const auto& [number, session] : service_.sessions_) session->tube_changed();
        reply_recorded(slot, kVerb, tube, "PAUSED\r\n");
    });
}

}  // namespace duewheel
