#include "kafka/out/kafka_pusher.h"

#include <algorithm>
#include <utility>

#include "base/dynamic_threshold.h"

namespace duewheel {
namespace {

constexpr std::int64_t kLeaseBeyondTransactionMs = 30'000;
constexpr std::int64_t kExtendMs = 5'000;        // between looks at the leases of what is under way
constexpr std::int64_t kLeaseRefusedMs = 1'000;  // after the engine refused a lease call
constexpr std::uint32_t kLeaseMax = 1'000;       // messages of one call
constexpr std::size_t kTargetEndsMax = 16'384;   // of a target, not durable yet; then no more is leased for it
constexpr std::size_t kBatchesGathered = 3;      // that may wait in a lane
// How many times as large as a transaction a batch without one may be. It is one wait for the brokers, and no record of
// it depends on another one.
constexpr std::size_t kTimesTransaction = 4;

}  // namespace

KafkaPusher::KafkaPusher(DeliveryPort& port, const KafkaOutOptions& options, Surroundings surroundings, LogSink& log)
    : port_(port),
      options_(options),
      surroundings_(std::move(surroundings)),
      log_(log),
      calls_(port, [this](ReplyToken token, Reply reply) { receive(token, std::move(reply)); }),
      ends_([this](Command command) { return calls_.submit(std::move(command)); }),
      settled_([this](Command command) { return calls_.submit(std::move(command)); }) {
    lanes_[0].is_exactly_once = true;
    lanes_[0].batch_max = options_.batch_max;
    lanes_[1].batch_max = kTimesTransaction * options_.batch_max;
    lanes_[0].send = surroundings_.send_exactly_once;
    lanes_[1].send = surroundings_.send_at_least_once;
}

KafkaPusher::~KafkaPusher() = default;

void KafkaPusher::run_due(DueMs now) {
    now_ = std::max(now_, now);
    if (port_.have_targets_changed(TargetKind::kafka)) take_changes();
    for (auto& [lane, batch] : std::exchange(results_, {})) take_result(lanes_[lane], std::move(batch));
    ends_.run_due(now_);
    targets_.touch_due(now_);
    for (Lane& lane : lanes_) {
        if (may_begin(lane)) begin_batch(lane);
        feed_starved(lane);
    }
    targets_.serve_touched([this](TargetNumber number) { maintain(number); });
    if (extend_at_ms_ <= now_) extend_leases();
    if (!stopping_) settled_.run_due(now_);
}

DueMs KafkaPusher::next_wakeup(DueMs now) const {
    if (targets_.has_touched() || !results_.empty() || port_.have_targets_changed(TargetKind::kafka)) return now;
    DueMs next = ends_.next_wakeup();
    for (const Lane& lane : lanes_) {
        if (may_begin(lane)) return now;
        if (!lane.is_sending && has_next(lane)) next = std::min(next, lane.backoff_until_ms);
        if (lane.is_sending) next = std::min(next, extend_at_ms_);
    }
    if (apart_ > 0) next = std::min(next, extend_at_ms_);
    next = std::min(next, targets_.next_wakeup(kNoWakeup));
    if (!stopping_) next = std::min(next, settled_.next_wakeup(kNoWakeup));
    return std::max(next, now);
}

void KafkaPusher::stop() {
    stopping_ = true;
    ends_.stop();
    for (Lane& lane : lanes_) give_back_all(lane);
    for (const auto& [number, target] : targets_.all()) targets_.touch(number);
}

bool KafkaPusher::is_idle() const {
    return leased_ == 0 && ends_.size() == 0 && results_.empty() && !lanes_[0].is_sending && !lanes_[1].is_sending;
}

KafkaOutCounters KafkaPusher::counters() const {
    KafkaOutCounters counters = counters_;
    counters.leased = leased_;
    counters.bytes_leased = bytes_;
    counters.targets = port_.queues_with_target(TargetKind::kafka);
    counters.targets_open = open_;
    counters.exactly_once = lanes_[0].counters;
    counters.at_least_once = lanes_[1].counters;
    return counters;
}

TargetStatus KafkaPusher::target_status(const QueueName& queue, DueMs now) const {
    const Target* found = targets_.find(queue);
    if (found == nullptr) return {};  // its settings are as new as that
    const Target& target = *found;
    TargetStatus status;
    status.in_flight = static_cast<std::uint32_t>(target.under_way);
    const DueMs until_ms = std::max(target.breaker.open_until_ms(), lanes_[target.lane].backoff_until_ms);
    if (until_ms > now) {
        status.state = TargetStatus::State::failed;
        status.backoff_until_ms = until_ms;
    } else if (target.breaker.is_open() || lanes_[target.lane].is_down) {
        status.state = TargetStatus::State::trying;
    }
    return status;
}

// ---- targets

void KafkaPusher::take_changes() {
    for (auto& changed : port_.take_changed_targets(TargetKind::kafka)) take_change(std::move(changed));
}

void KafkaPusher::take_change(TargetQueue changed) {
    const auto [number, is_new] = targets_.add(changed.name);
    Target& target = targets_.at(number);
    if (is_new) {
        Share& share = shares_[changed.name.name_space];
        if (share.targets++ == 0) share.number = next_share_++;
        target.share = &share;
    }
    targets_.touch(number);
    target.paused = changed.paused;
    if (target.kafka && !changed.kafka && surroundings_.target_removed) surroundings_.target_removed(target.name);
    if (changed.kafka != target.kafka) take_target(number, std::move(changed.kafka));
}

// What waits for the one before goes to the new one, but not over to another lane.
void KafkaPusher::take_target(TargetNumber number, std::optional<KafkaTarget> kafka) {
    Target& target = targets_.at(number);
    if (!kafka || !target.kafka || kafka->topic != target.kafka->topic) {
        open_ -= target.breaker.is_open() ? 1 : 0;
        target.breaker.forget();
        target.backoff_until_ms = 0;
    }
    if (target.kafka) --lanes_[target.lane].targets;
    target.kafka = std::move(kafka);
    if (target.kafka) {
        const std::size_t lane = target.kafka->exactly_once ? 0 : 1;
        ++lanes_[lane].targets;
        if (target.lane == lane) return;
        give_back_together(number, lanes_[std::exchange(target.lane, lane)]);
    }
    for (Item& item : std::exchange(target.apart, {})) {
        --apart_;
        stop_waiting(item);
        leave(item);
        if (!item.may_be_sent) give_back(item);
    }
    target.is_alone = false;
}

void KafkaPusher::touch_all(std::size_t lane) {
    for (const auto& [number, target] : targets_.all()) {
        if (target.lane == lane) targets_.touch(number);
    }
}

void KafkaPusher::withdraw_and_give_back(TargetNumber number) {
    Target& target = targets_.at(number);
    calls_.withdraw(target);
    give_back_together(number, lanes_[target.lane]);
    give_back_apart(target);
}

void KafkaPusher::forget_if_over(TargetNumber number) {
    Target& target = targets_.at(number);
    const bool is_used = target.kafka || target.leasing != 0 || target.starved || target.is_lined ||
                         target.waiting + target.under_way + target.ends > 0;
    if (is_used) return;
    if (--target.share->targets == 0) shares_.erase(target.name.name_space);
    targets_.erase(number);
}

DueMs KafkaPusher::backs_off_until(const Target& target) const {
    return std::max({target.backoff_until_ms, target.breaker.open_until_ms(), lanes_[target.lane].backoff_until_ms});
}

std::int64_t KafkaPusher::lease_ms() const {
    return options_.transaction_timeout_ms + kLeaseBeyondTransactionMs;
}

// How many more messages may wait for the target. A namespace, and a target in it, may have as much as it leaves to
// the others; one that has none may have one.
std::size_t KafkaPusher::room_of(const Target& target) const {
    if (bytes_ >= options_.bytes_max) return 0;
    const Share& share = *target.share;
    const Lane& lane = lanes_[target.lane];
    const std::size_t gathered_max = kBatchesGathered * lane.batch_max;
    const std::size_t free = gathered_max - std::min(gathered_max, lane.waiting);
    const bool is_large = share.bytes >= kTimesFree * (options_.bytes_max - bytes_);
    const std::size_t left = is_large ? 0 : left_of(share.waiting[target.lane], free);
    if (target.waiting < left) return (left - target.waiting + 1) / 2;
    return target.waiting == 0 && free > 0 ? 1 : 0;
}

// Sees that the target waits for messages if it may have some, and for nothing if not.
void KafkaPusher::maintain(TargetNumber number) {
    Target& target = targets_.at(number);
    Lane& lane = lanes_[target.lane];
    if (!may_send(target)) {
        withdraw_and_give_back(number);
        return forget_if_over(number);
    }
    if (const DueMs backoff = backs_off_until(target); backoff > now_) {
        withdraw_and_give_back(number);
        return targets_.wake_at(number, backoff);
    }
    if (!target.apart.empty() && !std::exchange(target.is_lined, true)) lane.alone.push_back(number);
    if (lane.is_down && lane.is_exactly_once) return calls_.withdraw(target);  // until its sender is open
    if (target.leasing != 0 || target.ends >= kTargetEndsMax) return;
    const std::size_t busy = target.waiting + target.under_way;
    if (target.breaker.is_open()) {
        if (busy == 0) lease(number, 1);
        return;
    }
    const std::size_t room = target.starved ? 0 : room_of(target);
    if (room > 0) return lease(number, static_cast<std::uint32_t>(std::min<std::size_t>(room, kLeaseMax)));
    if (std::exchange(target.starved, true)) return;
    lane.starved.push_back(number);
}

// A target that had nothing due waits for a single message. So what is leased stays small when many queues become due
// at the same time.
void KafkaPusher::lease(TargetNumber number, std::uint32_t max) {
    Target& target = targets_.at(number);
    LeaseCommand lease;
    lease.max = target.has_more ? max : 1;
    lease.lease_ms = lease_ms();
    lease.stays = !target.has_more;
    calls_.lease(number, target, std::move(lease));
}

// Those that have waited longest first. One that finds no room waits again.
void KafkaPusher::feed_starved(Lane& lane) {
    const std::size_t gathered_max = kBatchesGathered * lane.batch_max;
    if (lane.starved.empty() || lane.waiting >= gathered_max || bytes_ >= options_.bytes_max) return;
    for (std::size_t room = gathered_max - lane.waiting; room > 0 && !lane.starved.empty(); --room) {
        targets_.at(lane.starved.front()).starved = false;
        targets_.touch(lane.starved.front());
        lane.starved.pop_front();
    }
}

// ---- messages

void KafkaPusher::receive(ReplyToken token, Reply reply) {
    if (ends_.is_of(token)) {
        if (const auto ended = ends_.take(token, std::move(reply), now_)) take_end(*ended);
        return;
    }
    if (settled_.is_of(token)) return settled_.reply(token, reply);
    const std::optional<TargetNumber> number = calls_.take(token);
    if (!number) return;  // of an extended lease
    Target& target = targets_.at(*number);
    target.leasing = 0;
    targets_.touch(*number);
    if (auto* answer = std::get_if<LeaseAnswer>(&reply)) return take_messages(*number, std::move(*answer));
    target.backoff_until_ms = std::max(target.backoff_until_ms, now_ + kLeaseRefusedMs);
}

void KafkaPusher::take_messages(TargetNumber number, LeaseAnswer answer) {
    if (port_.have_targets_changed(TargetKind::kafka)) take_changes();  // made, and answered, just before
    Target& target = targets_.at(number);
    target.has_more = !answer.messages.empty();
    for (Delivered& message : answer.messages) {
        Item item;
        item.target = number;
        item.lane = target.lane;
        item.lease = message.lease;
        item.lease_until_ms = message.lease_until_ms;
        item.bytes = message.body.size() + message.headers.size();
        item.message = std::move(message);
        bytes_ += item.bytes;
        target.share->bytes += item.bytes;
        ++leased_;
        wait(std::move(item));
    }
}

// Extends leases of messages under way, and of those that may have been sent and are undecided. Messages that only wait
// are released when their leases are too short.
void KafkaPusher::extend_leases() {
    extend_at_ms_ = now_ + kExtendMs;
    for (Lane& lane : lanes_) {
        for (Item& item : lane.under_way) extend(item);
    }
    if (apart_ == 0) return;
    for (auto& [number, target] : targets_.all()) {
        for (Item& item : target.apart) extend(item);
    }
}

void KafkaPusher::extend(Item& item) {
    if (item.lease_until_ms - now_ > lease_ms() / 2) return;
    item.lease_until_ms = now_ + lease_ms();
    static_cast<void>(calls_.submit(ExtendCommand{item.lease, lease_ms()}));
}

}  // namespace duewheel
