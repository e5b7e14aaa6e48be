#include "kafka/out/kafka_plain_sender.h"

#include <utility>

#include "base/error_codes.h"

namespace duewheel {
namespace {

// The outcome of a record that was queued.
KafkaOutcome::Kind kind_of_failure(const Error& error) {
    if (error.code == "record_refused"_code) return KafkaOutcome::Kind::refused;
    return is_of_kafka_topic(error) ? KafkaOutcome::Kind::failed : KafkaOutcome::Kind::unknown;
}

}  // namespace

KafkaPlainSender::KafkaPlainSender(KafkaCluster& cluster, const KafkaOutOptions& options,
                                   std::function<std::int64_t()> now_us)
    : cluster_(cluster),
      options_(options),
      now_us_(std::move(now_us)),
      topics_(cluster, options.transaction_timeout_ms) {}

KafkaPlainSender::~KafkaPlainSender() = default;

void KafkaPlainSender::send(KafkaBatch& batch) {
    const std::int64_t began_us = now_us_();
    batch.is_ready = true;
    Indexes all;
    for (std::size_t i = 0; i < batch.messages.size(); ++i) all.push_back(i);
    std::vector<Indexes> parts{topics_.keep_existing(batch, all)};
    while (!parts.empty()) {
        const Indexes part = std::move(parts.back());
        parts.pop_back();
        const Indexes refused = send_part(batch, part);
        if (refused.size() < 2) continue;
        // Brokers refuse all records that came together.
        const auto middle = refused.begin() + static_cast<std::ptrdiff_t>(refused.size() / 2);
        parts.emplace_back(refused.begin(), middle);
        parts.emplace_back(middle, refused.end());
    }
    topics_.forget_failed(batch, all);
    batch.counters = counters_;
    batch.took_us = now_us_() - began_us;
}

// Returns the records that a broker refused.
KafkaPlainSender::Indexes KafkaPlainSender::send_part(KafkaBatch& batch, const Indexes& part) {
    const auto outcome = [&](std::size_t index) -> KafkaOutcome& { return batch.messages[index].outcome; };
    const auto fail = [&](const Indexes& which, KafkaOutcome::Kind kind, const Error& error) {
        batch.is_ready = false;
        batch.error = error;
        for (const std::size_t index : which) outcome(index) = {kind, error};
    };
    if (!producer_) {
        Result<std::unique_ptr<KafkaProducer>> opened = cluster_.open_producer("");
        if (!opened) return fail(part, KafkaOutcome::Kind::not_sent, opened.error()), Indexes{};
        producer_ = *std::move(opened);
        ++counters_.producers_opened;
    }
    Indexes queued;
    for (const std::size_t index : part) {
        const Status taken = producer_->produce(batch.messages[index].record);
        if (taken) {
            queued.push_back(index);
        } else {
            const KafkaOutcome::Kind kind = kind_of_failure(taken.error());
            outcome(index) = {kind == KafkaOutcome::Kind::unknown ? KafkaOutcome::Kind::not_sent : kind, taken.error()};
        }
    }
    if (queued.empty()) return {};
    const Result<std::vector<Status>> flushed = producer_->flush(options_.transaction_timeout_ms);
    if (!flushed) {
        producer_.reset();
        return fail(queued, KafkaOutcome::Kind::unknown, flushed.error()), Indexes{};
    }
    Indexes refused;
    for (std::size_t i = 0; i < queued.size(); ++i) {
        if (const Status& status = (*flushed)[i]; status) {
            outcome(queued[i]) = {KafkaOutcome::Kind::sent, {}};
        } else {
            outcome(queued[i]) = {kind_of_failure(status.error()), status.error()};
            if (outcome(queued[i]).kind == KafkaOutcome::Kind::refused) refused.push_back(queued[i]);
        }
    }
    return refused;
}

}  // namespace duewheel
