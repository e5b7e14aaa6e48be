// Batches and their results (kafka_pusher.h).
#include <algorithm>
#include <span>
#include <utility>

#include "base/error_codes.h"
#include "kafka/out/kafka_pusher.h"
#include "kafka/out/kafka_record.h"
#include "message/failure_reason.h"
#include "shared/utf8.h"

namespace duewheel {
namespace {

constexpr std::size_t kBatchBytesMax = 16u << 20;
constexpr std::size_t kRecordCostBytes = 256;       // beside the content: what a small message costs
constexpr std::int64_t kLeaseBeyondSendMs = 1'000;  // and the transaction timeout: left of a lease that is sent
constexpr std::int64_t kBackoffMinMs = 1'000;
constexpr std::int64_t kBackoffMaxMs = 30'000;
constexpr std::int64_t kFencedPauseMinMs = 1'000;
constexpr std::int64_t kFencedPauseMaxMs = 60'000;
constexpr std::int64_t kFencedAgainMs = 600'000;  // until this has passed, the pauses grow, and the log says it once

bool is_sent(KafkaOutcome::Kind kind) {
    return kind == KafkaOutcome::Kind::sent || kind == KafkaOutcome::Kind::already_sent;
}

std::string reason_of(const Error& error) {
    return stored_reason(std::string(name_of(error.code)) + ": " + as_utf8(error.message));
}

}  // namespace

// ---- batches

bool KafkaPusher::is_to_open(const Lane& lane) const {
    return lane.is_exactly_once && lane.targets > 0 && !stopping_ && (!lane.is_opened || lane.is_down);
}

bool KafkaPusher::has_next(const Lane& lane) const {
    return !lane.together.empty() || !lane.alone.empty() || is_to_open(lane);
}

bool KafkaPusher::may_begin(const Lane& lane) const {
    return !lane.is_sending && lane.backoff_until_ms <= now_ && has_next(lane);
}

void KafkaPusher::wait(Item item) {
    Target& target = targets_.at(item.target);
    ++target.waiting;
    ++target.share->waiting[item.lane];
    ++lanes_[item.lane].waiting;
    if (target.is_alone) {
        ++apart_;
        target.apart.push_back(std::move(item));
        return targets_.touch(item.target);
    }
    lanes_[item.lane].together.push({target.share->number, item.target}, 1, std::move(item));
}

// Its other messages follow when their turns come.
void KafkaPusher::set_alone(TargetNumber number) {
    targets_.at(number).is_alone = true;
    targets_.touch(number);
}

// Kinds of batches take turns. Before its first message, and after an outage, a sender gets an empty batch to open its
// producers.
void KafkaPusher::begin_batch(Lane& lane) {
    if (is_to_open(lane)) return send(lane, {});
    std::vector<Item> items = lane.was_alone ? next_together(lane) : next_alone(lane);
    const bool finds_none = items.empty();
    if (finds_none) items = lane.was_alone ? next_alone(lane) : next_together(lane);
    lane.was_alone = lane.was_alone == finds_none;
    if (!items.empty()) send(lane, std::move(items));
}

std::vector<KafkaPusher::Item> KafkaPusher::next_together(Lane& lane) {
    std::vector<Item> items;
    std::size_t bytes = 0;
    while (!lane.together.empty() && items.size() < lane.batch_max && bytes < kBatchBytesMax) {
        Item item = lane.together.take(static_cast<std::int64_t>(lane.together.next().bytes + kRecordCostBytes));
        stop_waiting(item);
        if (!may_go(item)) {
            leave(item);
            if (!item.may_be_sent) give_back(item);
        } else if (targets_.at(item.target).is_alone) {
            wait(std::move(item));
        } else {
            bytes += item.bytes;
            items.push_back(std::move(item));
        }
    }
    return items;
}

std::vector<KafkaPusher::Item> KafkaPusher::next_alone(Lane& lane) {
    std::vector<Item> items;
    while (items.empty() && !lane.alone.empty()) {
        const TargetNumber number = lane.alone.front();
        lane.alone.pop_front();
        Target& target = targets_.at(number);
        target.is_lined = false;
        targets_.touch(number);  // it is put back there if it has more
        if (&lanes_[target.lane] != &lane || !may_send(target) || backs_off_until(target) > now_) continue;
        const std::size_t max = target.breaker.is_open() ? 1 : lane.batch_max;
        for (std::size_t bytes = 0; !target.apart.empty() && items.size() < max && bytes < kBatchBytesMax;) {
            Item item = std::move(target.apart.front());
            target.apart.pop_front();
            --apart_;
            stop_waiting(item);
            if (item.may_be_sent || may_go(item)) {
                bytes += item.bytes;
                items.push_back(std::move(item));
            } else {
                leave(item);
                give_back(item);
            }
        }
    }
    return items;
}

bool KafkaPusher::may_go(const Item& item) const {
    const Target& target = targets_.at(item.target);
    if (!may_send(target) || item.lane != target.lane || backs_off_until(target) > now_) return false;
    if (target.breaker.is_open() && target.under_way > 0) return false;
    return item.lease_until_ms >= now_ + options_.transaction_timeout_ms + kLeaseBeyondSendMs;
}

void KafkaPusher::send(Lane& lane, std::vector<Item> items) {
    KafkaBatch batch;
    batch.messages.reserve(items.size());
    for (Item& item : items) {
        Target& target = targets_.at(item.target);
        ++target.under_way;
        item.openings = target.breaker.openings();
        if (!std::exchange(item.has_record, true)) {
            RecordParts parts;
            if (!item.message.headers.empty()) parts = surroundings_.read_parts(item.message.headers);
            item.record = kafka_record_of(item.message, std::move(parts), *target.kafka);
        }
        KafkaBatch::Message& message = batch.messages.emplace_back();
        message.name = {target.name.name_space, item.lease.id};
        message.record = std::move(item.record);
    }
    if (lane.is_exactly_once) batch.settled = settled_.take();
    lane.is_opened = true;
    lane.is_sending = true;
    lane.under_way = std::move(items);
    const std::size_t index = lane.is_exactly_once ? 0 : 1;
    lane.send(std::move(batch), [this, index](KafkaBatch done) { results_.emplace_back(index, std::move(done)); });
}

// ---- results

void KafkaPusher::take_result(Lane& lane, KafkaBatch batch) {
    std::vector<Item> items = std::exchange(lane.under_way, {});
    lane.is_sending = false;
    lane.counters = batch.counters;
    if (!items.empty()) batch_us_.record(batch.took_us);
    settled_.look_up(std::move(batch.found), now_);
    note_readiness(lane, batch);
    for (std::size_t i = 0; i < items.size(); ++i) {
        items[i].record = std::move(batch.messages[i].record);
        take_outcome(std::move(items[i]), std::move(batch.messages[i].outcome), batch.is_ready, lane.was_alone);
    }
}

// What waits is released meanwhile.
void KafkaPusher::slow_down_fenced(Lane& lane) {
    const bool is_again = lane.fenced_at_ms != 0 && now_ - lane.fenced_at_ms < kFencedAgainMs;
    lane.fenced_pause_ms = is_again ? std::min(2 * lane.fenced_pause_ms, kFencedPauseMaxMs) : kFencedPauseMinMs;
    lane.fenced_at_ms = now_;
    lane.backoff_until_ms = std::max(lane.backoff_until_ms, now_ + lane.fenced_pause_ms);
    give_back_all(lane);
    touch_all(lane.is_exactly_once ? 0 : 1);
    if (now_ < lane.fenced_log_at_ms) return;
    lane.fenced_log_at_ms = now_ + kFencedAgainMs;
    log_.error("kafka_fenced",
               "Another server sends with the same kafka.cluster name, and each ends the other one's transactions. "
               "Both slow down, and a message may be sent twice after a restart. Stop one of them, or give it a "
               "kafka.cluster name of its own.",
               {{"cluster", options_.cluster}, {"pause_ms", lane.fenced_pause_ms}});
}

void KafkaPusher::note_readiness(Lane& lane, const KafkaBatch& batch) {
    if (stopping_) return;
    const std::size_t index = lane.is_exactly_once ? 0 : 1;
    if (batch.was_fenced) slow_down_fenced(lane);
    if (!batch.is_ready) {
        if (lane.backoff_ms == 0) {
            log_.warning("kafka_unavailable",
                         "Kafka cannot be used. Due messages stay in their queues, and the server tries again with "
                         "growing pauses.",
                         {{"code", name_of(batch.error.code)}, {"error", batch.error.message}});
        }
        lane.is_down = true;
        lane.backoff_ms = std::clamp(2 * lane.backoff_ms, kBackoffMinMs, kBackoffMaxMs);
        lane.backoff_until_ms = std::max(lane.backoff_until_ms, now_ + lane.backoff_ms);
        give_back_all(lane);
        return touch_all(index);
    }
    if (std::exchange(lane.is_down, false)) touch_all(index);
    const bool works = lane.is_exactly_once || std::any_of(batch.messages.begin(), batch.messages.end(),
                                                           [](const auto& each) { return is_sent(each.outcome.kind); });
    if (!works || std::exchange(lane.backoff_ms, 0) == 0) return;
    log_.info("kafka_available", "Kafka can be used again. Due messages are sent.");
}

void KafkaPusher::take_outcome(Item item, KafkaOutcome outcome, bool is_ready, bool was_alone) {
    const TargetNumber number = item.target;
    Target& target = targets_.at(number);
    --target.under_way;
    targets_.touch(number);
    const bool is_same_lane = item.lane == target.lane && target.kafka;
    const auto keep = [&] {
        if (is_same_lane && !stopping_) {
            set_alone(number);
            return wait(std::move(item));
        }
        leave(item);
        if (!item.may_be_sent) give_back(item);
    };
    switch (outcome.kind) {
        case KafkaOutcome::Kind::sent:
        case KafkaOutcome::Kind::already_sent:
            ++(outcome.kind == KafkaOutcome::Kind::sent ? counters_.sent : counters_.already_sent);
            note_worked(number);
            leave(item);
            return end(item, AckCommand{item.lease});
        case KafkaOutcome::Kind::refused:
            ++counters_.refused;
            note_worked(number);
            leave(item);
            return end(item, FailCommand{item.lease, reason_of(outcome.error), std::nullopt, 0});
        case KafkaOutcome::Kind::failed:
            ++counters_.failed;
            note_failed(item, outcome.error);
            leave(item);
            return give_back(item);
        case KafkaOutcome::Kind::not_sent:
            if (is_ready) {
                if (was_alone) note_failed(item, outcome.error);
                return keep();
            }
            if (item.may_be_sent) return keep();
            leave(item);
            return give_back(item);
        case KafkaOutcome::Kind::unknown:
            item.may_be_sent = true;
            if (is_ready) note_failed(item, outcome.error);
            return keep();
    }
}

void KafkaPusher::note_worked(TargetNumber number) {
    Target& target = targets_.at(number);
    if (target.breaker.worked()) {
        --open_;
        log_target(target, LogLevel::info, "kafka_target_recovered", "A topic can be written again.", {});
    }
    if (!std::exchange(target.is_alone, false)) return;
    for (Item& item : std::exchange(target.apart, {})) {
        --apart_;
        stop_waiting(item);
        wait(std::move(item));
    }
}

void KafkaPusher::note_failed(const Item& item, const Error& error) {
    Target& target = targets_.at(item.target);
    set_alone(item.target);
    if (!target.breaker.failed(item.openings, now_)) return;
    ++open_;
    ++counters_.breakers_opened;
    log_target(target, LogLevel::warning, "kafka_target_failing",
               "A topic cannot be written. Its messages stay in the queue, and the server tries again with growing "
               "pauses. Correct the error below.",
               error);
}

void KafkaPusher::log_target(const Target& target, LogLevel level, const char* event, const char* sentence,
                             const Error& error) {
    const std::string topic = target.kafka ? target.kafka->topic : "";
    const LogField fields[] = {{"namespace", target.name.name_space},
                               {"queue", target.name.queue},
                               {"topic", topic},
                               {"code", name_of(error.code)},
                               {"error", error.message}};
    const std::size_t count = error.code == ErrorCode::none ? 3 : 5;
    log_.write(level, event, sentence, std::span(fields).first(count));
}

// ---- ends of leases

void KafkaPusher::stop_waiting(const Item& item) {
    Target& target = targets_.at(item.target);
    --target.waiting;
    --target.share->waiting[item.lane];
    --lanes_[item.lane].waiting;
    targets_.touch(item.target);
}

// It is not held any more.
void KafkaPusher::leave(const Item& item) {
    Target& target = targets_.at(item.target);
    bytes_ -= item.bytes;
    target.share->bytes -= item.bytes;
    --leased_;
    targets_.touch(item.target);
}

// A delivery that did not take place does not count among the attempts.
void KafkaPusher::give_back(const Item& item) {
    ++counters_.given_back;
    end(item, ReleaseCommand{item.lease, 0});
}

// At once, because the sender may wait for brokers: its next batch, which would leave these out, begins much later.
void KafkaPusher::give_back_together(TargetNumber number, Lane& lane) {
    const Target& target = targets_.at(number);
    if (target.waiting == target.apart.size()) return;
    lane.together.erase_if([&](const Item& item) {
        if (item.target != number) return false;
        stop_waiting(item);
        leave(item);
        if (!item.may_be_sent) give_back(item);
        return true;
    });
}

// Except what may have been sent; that is left to its lease where nothing can tell any more.
void KafkaPusher::give_back_apart(Target& target) {
    std::deque<Item> kept;
    for (Item& item : std::exchange(target.apart, {})) {
        if (item.may_be_sent && target.kafka && !stopping_) {
            kept.push_back(std::move(item));
            continue;
        }
        --apart_;
        stop_waiting(item);
        leave(item);
        if (!item.may_be_sent) give_back(item);
    }
    target.apart = std::move(kept);
}

// What waits together; each target gives back what it has apart.
void KafkaPusher::give_back_all(Lane& lane) {
    while (!lane.together.empty()) {
        const Item item = lane.together.take(1);
        stop_waiting(item);
        leave(item);
        if (!item.may_be_sent) give_back(item);
    }
}

void KafkaPusher::end(const Item& item, Command command) {
    ++targets_.at(item.target).ends;
    ends_.end(item.target * lanes_.size() + item.lane, std::move(command), item.lease_until_ms);
}

void KafkaPusher::take_end(const PusherLeaseEnds::Ended& ended) {
    const TargetNumber number = ended.context / lanes_.size();
    const bool is_exactly_once = ended.context % lanes_.size() == 0;
    Target& target = targets_.at(number);
    --target.ends;
    targets_.touch(number);
    const auto* answer = std::get_if<LeaseEndAnswer>(&ended.reply);
    const bool is_late = answer == nullptr || answer->outcome == LeaseOutcome::expired;
    if (is_late) ++counters_.ended_late;
    const auto* ack = std::get_if<AckCommand>(&ended.command);
    if (ack == nullptr || !is_exactly_once) return;
    if (!is_late) return settled_.add(ack->lease.id);
    settled_.look_up({KafkaMessageName{target.name.name_space, ack->lease.id}}, now_);
}

}  // namespace duewheel
