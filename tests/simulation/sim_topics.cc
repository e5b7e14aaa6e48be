#include "simulation/sim_topics.h"

#include <cstdlib>
#include <iterator>

namespace duewheel {
namespace {

struct Died {};

constexpr std::uint64_t kFaultPerMillion = 40'000;

std::string header(const KafkaRecord& record, std::string_view name) {
    for (const KafkaHeader& each : record.headers) {
        if (each.name == name) return each.value.value_or("");
    }
    return {};
}

MessageId id_of(const KafkaRecord& record) {
    return std::strtoull(header(record, "duewheel-id").c_str(), nullptr, 10);
}

}  // namespace

std::string SimTopics::topic_of(std::uint32_t number) {
    return "t" + std::to_string(number);
}

SimTopics::SimTopics(const SimOptions& options, Oracle& oracle, LogSink& log, RareStates& rare, EventHash& hash,
                     Random random)
    : options_(options), oracle_(oracle), log_(log), rare_(rare), hash_(hash), random_(random) {
    kafka_.create_topic(options_.kafka.ledger_topic());
    for (std::uint32_t number = 0; number < kTopics; ++number) {
        kafka_.create_topic(topic_of(number), static_cast<std::int32_t>(number + 1));
    }
    kafka_.on_call = [this](const KafkaCall& call) { return fault(call); };
    kafka_.refuses = [](const KafkaRecord& record) { return id_of(record) / kShardsMax % 11 == 3; };
    kafka_.refuses_whole_batches = random_.chance(500'000);
    kafka_.refusals_stop_transactions = random_.chance(500'000);
}

void SimTopics::start(Engine& engine) {
    engine_ = &engine;
    port_.emplace(engine, kTokens, [this](Command command, ReplyToken token) { submit(std::move(command), token); });
    const auto now_us = [this] { return kafka_.now_us; };
    sender_.emplace(kafka_, options_.kafka, "own", KafkaSender::Surroundings{now_us, [this] { return ++randoms_; }},
                    log_);
    plain_sender_.emplace(kafka_, options_.kafka, now_us);
    const auto lane = [this](std::size_t number) {
        return [this, number](KafkaBatch batch, KafkaPusher::Done done) {
            take_batch(lanes_[number], std::move(batch), std::move(done));
        };
    };
    pusher_.emplace(*port_, options_.kafka,
                    KafkaPusher::Surroundings{lane(0), lane(1), [](std::string_view) { return RecordParts(); }}, log_);
}

void SimTopics::process_died() {
    for (const Lane& lane : lanes_) {
        if (lane.batch && lane.is_sent && !lane.batch->messages.empty()) rare_.met(Rare::died_with_records_sent);
    }
    pusher_.reset();
    port_.reset();
    plain_sender_.reset();
    sender_.reset();
    lanes_ = {};
    counters_ = {};
    asked_.clear();
    waiting_.clear();
    engine_ = nullptr;
}

// ---- the pusher and the engine

void SimTopics::submit(Command command, ReplyToken token) {
    if (const auto* lease = std::get_if<LeaseCommand>(&command)) {
        // It waits with one call for each queue: an earlier one was withdrawn, with nothing on its way to it.
        ReplyToken& waiting = waiting_[{lease->name_space, lease->queue}];
        if (waiting != 0) {
            oracle_.withdrawn(asked_.at(waiting).token);
            asked_.erase(waiting);
        }
        waiting = token;
    } else if (const auto* ack = std::get_if<AckCommand>(&command)) {
        ++taken_;
        if (seen_[ack->lease.id] == 0) {
            oracle_.violate_delivery("C3", ack->lease.id, "acknowledged, but its topic does not have it");
        }
    }
    hash_.add(command.index());
    Command seen = command;
    if (auto* lease = std::get_if<LeaseCommand>(&seen)) lease->stays = true;  // no client gives it up
    asked_.emplace(token, Asked{oracle_.submitted(seen), command});
    engine_->submit(std::move(command), token);
}

void SimTopics::hear(const ReplyEffect& effect) {
    const auto found = asked_.find(effect.token);
    if (found == asked_.end()) return oracle_.violate("X", "a lease that was withdrawn is answered");
    const Asked asked = std::move(found->second);
    asked_.erase(found);
    if (!oracle_.replied({asked.token, effect.reply})) return;
    if (const auto* lease = std::get_if<LeaseCommand>(&asked.command)) waiting_[{lease->name_space, lease->queue}] = 0;
    if (!oracle_.violated()) port_->deliver(effect.token, effect.reply);
}

// ---- the pusher and its senders

void SimTopics::take_batch(Lane& lane, KafkaBatch batch, KafkaPusher::Done done) {
    for (const KafkaBatch::Message& message : batch.messages) {
        const DueMs due = std::strtoll(header(message.record, "duewheel-due-ms").c_str(), nullptr, 10);
        if (due > engine_->now()) oracle_.violate_delivery("C2", message.name.id, "sent to its topic before it is due");
        if (id_of(message.record) != message.name.id) {
            oracle_.violate_delivery("C1", message.name.id, "its record has another id");
        }
    }
    lane = {std::move(batch), false, std::move(done)};
}

bool SimTopics::run_one() {
    std::size_t number = random_.below(lanes_.size());
    if (!lanes_[number].batch) number = 1 - number;
    Lane& lane = lanes_[number];
    if (!lane.batch) return false;
    disturb();
    if (!lane.is_sent) {
        lane.is_sent = true;
        try {
            send(number == 0, *lane.batch);
        } catch (const Died&) {
            rare_.met(Rare::died_in_a_call_to_kafka);
            has_died_ = true;
        }
        look_at_topics();
        return true;
    }
    const Lane sent = std::exchange(lane, {});
    count(*sent.batch);
    if (number == 0) counters_ = sent.batch->counters;
    sent.done(*sent.batch);
    return true;
}

void SimTopics::send(bool is_exactly_once, KafkaBatch& batch) {
    if (is_exactly_once) return sender_->send(batch);
    for (const KafkaBatch::Message& message : batch.messages) sent_plainly_.insert(message.name.id);
    plain_sender_->send(batch);
}

void SimTopics::count(const KafkaBatch& batch) {
    constexpr Rare kKinds[] = {Rare::record_not_sent, Rare::record_sent,   Rare::record_already_sent,
                               Rare::record_refused,  Rare::record_failed, Rare::record_in_doubt};
    for (const KafkaBatch::Message& message : batch.messages) {
        rare_.met(kKinds[static_cast<std::size_t>(message.outcome.kind)]);
        hash_.add(message.name.id);
        hash_.add(static_cast<std::uint64_t>(message.outcome.kind));
    }
    if (!batch.is_ready) rare_.met(Rare::kafka_unavailable);
    if (batch.counters.unknown_commits > counters_.unknown_commits) rare_.met(Rare::commit_of_records_unknown);
    if (batch.counters.slow_commits > counters_.slow_commits) rare_.met(Rare::commit_of_records_slow);
    if (!batch.found.empty()) rare_.met(Rare::ledger_found_messages);
}

// ---- the cluster

void SimTopics::disturb() {
    if (is_calm_ || !random_.chance(60'000)) return;
    const std::string topic = topic_of(static_cast<std::uint32_t>(random_.below(kTopics)));
    const auto toggle = [&](std::set<std::string>& topics) {
        if (topics.erase(topic) == 0) topics.insert(topic);
    };
    switch (random_.below(5)) {
        case 0:
            return toggle(kafka_.leaderless);
        case 1:
            return toggle(kafka_.forbidden);
        case 2:
            return kafka_.end_transactions();
        default:
            kafka_.is_up = !kafka_.is_up;
            return;
    }
}

KafkaFault SimTopics::fault(const KafkaCall& call) {
    hash_.add(call.kind);
    if (is_calm_) return KafkaFault::none;
    const bool may_die = options_.has(Fault::kill_in_call) || options_.has(Fault::cut_in_call);
    if (may_die && random_.chance(options_.crash_per_million / 10)) throw Died{};
    if (!random_.chance(kFaultPerMillion)) return KafkaFault::none;
    constexpr KafkaFault kFaults[] = {KafkaFault::slow, KafkaFault::unreachable, KafkaFault::lost_answer,
                                      KafkaFault::late, KafkaFault::delayed};
    return kFaults[random_.below(std::size(kFaults))];
}

void SimTopics::calm() {
    is_calm_ = true;
    kafka_.is_up = true;
    kafka_.leaderless.clear();
    kafka_.forbidden.clear();
    kafka_.refuses = {};
    kafka_.end_transactions();
}

// As a consumer of committed records.
void SimTopics::look_at_topics() {
    seen_.clear();
    for (std::uint32_t number = 0; number < kTopics; ++number) {
        kafka_.for_each_committed(topic_of(number), [&](const KafkaRecord& record) {
            const MessageId id = id_of(record);
            const std::uint64_t times = ++seen_[id];
            if (times == 1) return;
            if (!sent_plainly_.contains(id)) {
                return oracle_.violate_delivery("C5", id, "committed records have it twice");
            }
            rare_.met(Rare::record_sent_again_at_least_once);
        });
    }
}

}  // namespace duewheel
