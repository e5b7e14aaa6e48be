#include "support/simulated_kafka.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/error_codes.h"

namespace duewheel {
namespace {

Error unknown_topic(const std::string& topic) {
    return {"unknown_topic"_code, "there is no topic " + topic + ": create it", topic};
}

bool is_timeout(KafkaFault fault) {
    return fault == KafkaFault::unreachable || fault == KafkaFault::lost_answer || fault == KafkaFault::delayed;
}

bool takes_place(KafkaFault fault) {
    return fault != KafkaFault::unreachable && fault != KafkaFault::delayed;
}

}  // namespace

class SimulatedProducer final : public KafkaProducer {
  public:
    SimulatedProducer(SimulatedKafka& kafka, std::string id) : kafka_(kafka), id_(std::move(id)) {}

    Status init_transactions(std::int64_t timeout_ms) override {
        KafkaFault fault{};
        if (Status begun = kafka_.begin_call({KafkaCall::init, id_}, timeout_ms, fault); !begun) return begun;
        kafka_.deliver_late_ends(id_);
        SimulatedKafka::Coordinator& at = kafka_.coordinators_[id_];
        for (const std::uint64_t each : {at.transaction, at.stray}) {
            if (each != 0) kafka_.finish(each, SimulatedKafka::End::aborted);
        }
        at.transaction = at.stray = 0;
        epoch_ = ++at.epoch;
        if (is_timeout(fault)) return kafka_.timed_out("init_transactions");
        return {};
    }

    Status begin_transaction() override {
        KafkaFault fault{};
        if (Status begun = kafka_.begin_call({KafkaCall::begin, id_}, 0, fault); !begun) return begun;
        assert(!in_transaction_);
        in_transaction_ = true;
        added_.clear();
        has_records_ = false;
        return {};
    }

    Status produce(const KafkaRecord& record) override {
        KafkaFault fault{};
        if (Status begun = kafka_.begin_call({KafkaCall::produce, record.topic}, 0, fault); !begun) return begun;
        assert(id_.empty() || in_transaction_);
        const std::size_t bytes = record.key.value_or("").size() + record.value.value_or("").size();
        if (bytes > kafka_.record_bytes_max) return Error{"record_refused"_code, "the record is larger than the limit"};
        queued_.push_back(record);
        return {};
    }

    Result<std::vector<Status>> flush(std::int64_t timeout_ms) override {
        KafkaFault fault{};
        if (Status begun = kafka_.begin_call({KafkaCall::flush, id_}, timeout_ms, fault); !begun) {
            return std::move(begun).error();
        }
        std::vector<KafkaRecord> records = std::exchange(queued_, {});
        std::vector<Status> results(records.size());
        for (KafkaRecord& record : records) record.partition = kafka_.choose_partition(record);
        for (std::size_t i = 0; i < records.size(); ++i) results[i] = refusal_of(records, i);
        bool is_stopped = false;
        for (Status& each : results) {
            is_stopped |= kafka_.refusals_stop_transactions && !id_.empty() && !each;
            if (is_stopped && each) each = kafka_.timed_out("produce");
        }
        for (std::size_t i = 0; i < records.size(); ++i) {
            if (i == records.size() / 2) kafka_.deliver_late_ends(id_);
            if (results[i]) append(std::move(records[i]));
            if (!results[i] && results[i].error().code == "kafka_unavailable"_code) waits_ = true;
        }
        if (std::exchange(waits_, false)) kafka_.now_us += timeout_ms * 1000;
        if (is_timeout(fault)) return kafka_.timed_out("flush");
        return results;
    }

    Status commit_transaction(std::int64_t timeout_ms) override { return end(true, timeout_ms); }
    Status abort_transaction(std::int64_t timeout_ms) override { return end(false, timeout_ms); }

  private:
    Status refusal_of(const std::vector<KafkaRecord>& records, std::size_t index) {
        const KafkaRecord& record = records[index];
        if (is_fenced()) return Error{"kafka_fenced"_code, "another producer has the same transactional id"};
        const SimulatedKafka::Topic* topic = kafka_.find(record.topic);
        if (topic == nullptr || record.partition >= topic->description.partitions) return unknown_topic(record.topic);
        if (kafka_.forbidden.contains(record.topic)) {
            return Error{"kafka_refused"_code, "there is no permission to write topic " + record.topic, record.topic};
        }
        if (kafka_.leaderless.contains(record.topic)) return kafka_.timed_out("produce");
        const bool is_refused = std::any_of(records.begin(), records.end(), [&](const KafkaRecord& each) {
            const bool came_together = each.topic == record.topic && each.partition == record.partition;
            return kafka_.refuses && kafka_.refuses(each) &&
                   (&each == &record || (kafka_.refuses_whole_batches && came_together));
        });
        if (is_refused) return Error{"record_refused"_code, "the topic refuses the record"};
        return {};
    }

    bool is_fenced() const { return !id_.empty() && kafka_.coordinators_[id_].epoch != epoch_; }

    void append(KafkaRecord record) {
        SimulatedKafka::Entry entry;
        if (!id_.empty()) {
            const std::pair partition(record.topic, record.partition);
            SimulatedKafka::Coordinator& at = kafka_.coordinators_[id_];
            if (added_.insert(partition).second) {
                entry.transaction = kafka_.begin_at_coordinator(id_);
            } else if (kafka_.transactions_.at(at.transaction).end == SimulatedKafka::End::open) {
                entry.transaction = at.transaction;
            } else {
                if (at.stray == 0) at.stray = kafka_.next_transaction_++;
                entry.transaction = at.stray;
            }
            kafka_.transactions_[entry.transaction].partitions.insert(partition);
            has_records_ = true;
        }
        SimulatedKafka::Partition& to = *kafka_.find(record.topic, record.partition);
        record.offset = to.high();
        if (record.timestamp_ms == 0) record.timestamp_ms = kafka_.now_us / 1000;
        entry.record = std::move(record);
        to.entries.push_back(std::move(entry));
    }

    Status end(bool commits, std::int64_t timeout_ms) {
        const KafkaCall call{commits ? KafkaCall::commit : KafkaCall::abort, id_};
        KafkaFault fault{};
        const char* const name = commits ? "commit_transaction" : "abort_transaction";
        const auto unknown = [&] {
            if (!commits) return kafka_.timed_out(name);
            return Error{"kafka_unknown_outcome"_code, "the broker did not say whether the transaction was committed"};
        };
        if (Status begun = kafka_.begin_call(call, timeout_ms, fault); !begun) return unknown();
        assert(in_transaction_);
        if (commits && !queued_.empty()) {
            const Result<std::vector<Status>> flushed = flush(timeout_ms);
            if (!flushed) return flushed.error();
            for (const Status& each : *flushed) {
                if (!each) return each;
            }
        }
        queued_.clear();
        in_transaction_ = false;
        if (!has_records_) return {};  // the client does not ask the broker
        if (fault == KafkaFault::delayed) kafka_.late_.push_back({id_, epoch_, commits, 0});
        if (takes_place(fault)) {
            const std::uint64_t ended = kafka_.coordinators_[id_].transaction;
            if (Status done = kafka_.end_transaction(id_, epoch_, commits); !done) return done;
            if (fault == KafkaFault::late) kafka_.late_.push_back({id_, epoch_, commits, ended});
        }
        if (is_timeout(fault)) return unknown();
        return {};
    }

    SimulatedKafka& kafka_;
    const std::string id_;
    std::int32_t epoch_ = -1;
    bool in_transaction_ = false;
    bool has_records_ = false;
    bool waits_ = false;
    std::set<std::pair<std::string, std::int32_t>> added_;  // partitions, as the client believes
    std::vector<KafkaRecord> queued_;
};

class SimulatedConsumer final : public KafkaConsumer {
  public:
    explicit SimulatedConsumer(SimulatedKafka& kafka) : kafka_(kafka) {}

    Status assign(const std::string& topic, std::int32_t partition, std::int64_t offset) override {
        const SimulatedKafka::Partition* of = kafka_.find(topic, partition);
        if (of == nullptr) return unknown_topic(topic);
        assigned_[{topic, partition}] = offset == kBeginning ? of->low : offset;
        return {};
    }
    Status unassign(const std::string& topic, std::int32_t partition) override {
        assigned_.erase({topic, partition});
        return {};
    }

    Result<std::vector<KafkaRecord>> poll(std::size_t records_max, std::int64_t timeout_ms) override {
        KafkaFault fault{};
        if (Status begun = kafka_.begin_call({KafkaCall::poll, ""}, timeout_ms, fault); !begun) {
            return std::move(begun).error();
        }
        std::vector<KafkaRecord> records;
        for (auto each = assigned_.begin(); each != assigned_.end(); ++each) {
            const auto& [from, next] = *each;
            const std::string field = from.first + "/" + std::to_string(from.second);
            const SimulatedKafka::Partition* of = kafka_.find(from.first, from.second);
            if (of != nullptr && next >= of->low && next <= of->high()) continue;
            assigned_.erase(each);  // not read until it is assigned again
            if (of == nullptr) return Error{"unknown_topic"_code, "the topic is gone", field};
            return Error{"position_trimmed"_code, "the topic does not have this offset", field};
        }
        for (auto& [from, next] : assigned_) {
            const SimulatedKafka::Partition* of = kafka_.find(from.first, from.second);
            for (const std::int64_t stable = kafka_.last_stable_offset(*of); next < stable; ++next) {
                if (records.size() >= records_max) return records;
                const SimulatedKafka::Entry& entry = of->entries[static_cast<std::size_t>(next - of->low)];
                if (kafka_.is_committed(entry)) records.push_back(entry.record);
            }
        }
        if (records.empty()) kafka_.now_us += timeout_ms * 1000;
        return records;
    }

    Result<Offsets> offsets(const std::string& topic, std::int32_t partition, std::int64_t timeout_ms,
                            std::int64_t) override {
        KafkaFault fault{};
        if (Status begun = kafka_.begin_call({KafkaCall::offsets, topic}, timeout_ms, fault); !begun) {
            return std::move(begun).error();
        }
        const SimulatedKafka::Partition* of = kafka_.find(topic, partition);
        if (of == nullptr) return unknown_topic(topic);
        return Offsets{of->low, kafka_.last_stable_offset(*of)};
    }

  private:
    SimulatedKafka& kafka_;
    std::map<std::pair<std::string, std::int32_t>, std::int64_t> assigned_;
};

class SimulatedAppender final : public KafkaAppender {
  public:
    SimulatedAppender(SimulatedKafka& kafka, std::string topic, std::int32_t partition)
        : kafka_(kafka), topic_(std::move(topic)), partition_(partition) {}

    Result<std::vector<std::int64_t>> append(const std::vector<std::string>& values, std::int64_t timeout_ms) override {
        KafkaFault fault{};
        if (Status begun = kafka_.begin_call({KafkaCall::append, topic_}, timeout_ms, fault); !begun) {
            return std::move(begun).error();
        }
        const SimulatedKafka::Partition* to = kafka_.find(topic_, partition_);
        if (to == nullptr) return unknown_topic(topic_);
        std::vector<KafkaRecord> late;
        std::swap(late, kafka_.delayed_);
        const std::size_t before = late.size() / 2;
        for (std::size_t i = 0; i < before; ++i) kafka_.append(late[i]);
        std::vector<std::int64_t> offsets;
        for (const std::string& value : values) {
            KafkaRecord record;
            record.topic = topic_;
            record.partition = partition_;
            record.value = value;
            offsets.push_back(to->high());
            if (takes_place(fault)) kafka_.append(record);
            if (fault == KafkaFault::delayed) kafka_.delayed_.push_back(record);
        }
        for (std::size_t i = before; i < late.size(); ++i) kafka_.append(late[i]);
        if (is_timeout(fault)) return kafka_.timed_out("append");
        return offsets;
    }

  private:
    SimulatedKafka& kafka_;
    const std::string topic_;
    const std::int32_t partition_;
};

SimulatedKafka::SimulatedKafka() = default;
SimulatedKafka::~SimulatedKafka() = default;

// ---- the cluster

Result<std::unique_ptr<KafkaProducer>> SimulatedKafka::open_producer(const std::string& transactional_id) {
    KafkaFault fault{};
    if (on_call) fault = on_call({KafkaCall::open_producer, transactional_id});
    if (is_timeout(fault)) return timed_out("open_producer");
    return std::unique_ptr<KafkaProducer>(std::make_unique<SimulatedProducer>(*this, transactional_id));
}

Result<std::unique_ptr<KafkaConsumer>> SimulatedKafka::open_consumer() {
    KafkaFault fault{};
    if (on_call) fault = on_call({KafkaCall::open_consumer, ""});
    if (is_timeout(fault)) return timed_out("open_consumer");
    return std::unique_ptr<KafkaConsumer>(std::make_unique<SimulatedConsumer>(*this));
}

Result<std::unique_ptr<KafkaAppender>> SimulatedKafka::open_appender(const std::string& topic, std::int32_t partition) {
    KafkaFault fault{};
    if (on_call) fault = on_call({KafkaCall::open_appender, topic});
    if (is_timeout(fault)) return timed_out("open_appender");
    return std::unique_ptr<KafkaAppender>(std::make_unique<SimulatedAppender>(*this, topic, partition));
}

Result<KafkaTopic> SimulatedKafka::look_at(const std::string& topic, std::int64_t timeout_ms) {
    KafkaFault fault{};
    if (Status begun = begin_call({KafkaCall::look_at, topic}, timeout_ms, fault); !begun) {
        return std::move(begun).error();
    }
    const Topic* found = find(topic);
    if (found == nullptr) return unknown_topic(topic);
    return found->description;
}

Status SimulatedKafka::create(const KafkaTopic& topic, std::int64_t timeout_ms) {
    KafkaFault fault{};
    if (Status begun = begin_call({KafkaCall::create, topic.name}, timeout_ms, fault); !begun) return begun;
    if (find(topic.name) != nullptr) return Error{"topic_exists"_code, "the topic exists", topic.name};
    topics_[topic.name] = {topic, std::vector<Partition>(static_cast<std::size_t>(topic.partitions))};
    return {};
}

Status SimulatedKafka::delete_before(const std::string& topic, std::int32_t partition, std::int64_t offset,
                                     std::int64_t timeout_ms) {
    KafkaFault fault{};
    if (Status begun = begin_call({KafkaCall::delete_before, topic}, timeout_ms, fault); !begun) return begun;
    Partition* of = find(topic, partition);
    if (of == nullptr) return unknown_topic(topic);
    if (offset > of->high()) return Error{"kafka_failed"_code, "the topic does not have this offset", topic};
    if (offset > of->low) {
        const auto end = of->entries.begin() + static_cast<std::ptrdiff_t>(offset - of->low);
        of->deleted.insert(of->deleted.end(), of->entries.begin(), end);
        of->entries.erase(of->entries.begin(), end);
        of->low = offset;
    }
    if (is_timeout(fault)) return timed_out("delete_before");
    return {};
}

void SimulatedKafka::restore_front(const std::string& topic, std::int32_t partition) {
    Partition& of = *find(topic, partition);
    of.low -= static_cast<std::int64_t>(of.deleted.size());
    of.entries.insert(of.entries.begin(), of.deleted.begin(), of.deleted.end());
    of.deleted.clear();
}

void SimulatedKafka::create_topic(const std::string& name, std::int32_t partitions) {
    topics_[name] = {{name, partitions, 1, {}}, std::vector<Partition>(static_cast<std::size_t>(partitions))};
}

void SimulatedKafka::remove_topic(const std::string& name) {
    topics_.erase(name);
}

std::vector<KafkaRecord> SimulatedKafka::committed(const std::string& topic) const {
    std::vector<KafkaRecord> records;
    for_each_committed(topic, [&](const KafkaRecord& record) { records.push_back(record); });
    return records;
}

void SimulatedKafka::for_each_committed(const std::string& topic,
                                        const std::function<void(const KafkaRecord&)>& visit) const {
    const auto found = topics_.find(topic);
    if (found == topics_.end()) return;
    for (const Partition& partition : found->second.partitions) {
        for (const Entry& entry : partition.entries) {
            if (is_committed(entry)) visit(entry.record);
        }
    }
}

void SimulatedKafka::append(const KafkaRecord& record) {
    KafkaRecord own = record;
    own.partition = choose_partition(record);
    Partition& to = *find(own.topic, own.partition);
    own.offset = to.high();
    if (own.timestamp_ms == 0) own.timestamp_ms = now_us / 1000;
    to.entries.push_back({std::move(own), 0});
}

void SimulatedKafka::lose_tail(const std::string& topic, std::int32_t partition, std::int64_t offset) {
    Partition& of = *find(topic, partition);
    if (offset < of.high()) of.entries.resize(static_cast<std::size_t>(offset - of.low));
}

void SimulatedKafka::hang(const std::string& topic, std::int32_t partition) {
    const std::uint64_t number = next_transaction_++;
    transactions_[number].partitions.insert({topic, partition});
    Partition& of = *find(topic, partition);
    KafkaRecord record;
    record.topic = topic;
    record.partition = partition;
    record.offset = of.high();
    of.entries.push_back({std::move(record), number});
}

void SimulatedKafka::end_transactions() {
    for (auto& [id, at] : coordinators_) {
        if (at.transaction != 0 && transactions_.at(at.transaction).end == End::open) ++at.epoch;
    }
    for (auto& [number, transaction] : transactions_) finish(number, End::aborted);
}

// ---- calls and transactions

Error SimulatedKafka::timed_out(const char* call) {
    return {"kafka_unavailable"_code, std::string(call) + " timed out"};
}

// An error: it does not reach the cluster.
Status SimulatedKafka::begin_call(KafkaCall call, std::int64_t timeout_ms, KafkaFault& fault) {
    fault = on_call ? on_call(call) : KafkaFault::none;
    const bool is_local = call.kind == KafkaCall::begin || call.kind == KafkaCall::produce;
    if (!is_up && !is_local) fault = KafkaFault::unreachable;
    if (!is_local) now_us += kCallUs;
    if (fault == KafkaFault::slow || fault == KafkaFault::late) now_us += kSlowUs;
    if (is_timeout(fault)) now_us += timeout_ms * 1000;
    if (fault == KafkaFault::unreachable) return timed_out("the call");
    return {};
}

std::uint64_t SimulatedKafka::begin_at_coordinator(const std::string& id) {
    Coordinator& at = coordinators_[id];
    if (at.transaction == 0 || transactions_.at(at.transaction).end != End::open) at.transaction = next_transaction_++;
    static_cast<void>(transactions_[at.transaction]);
    return at.transaction;
}

Status SimulatedKafka::end_transaction(const std::string& id, std::int32_t epoch, bool commits) {
    Coordinator& at = coordinators_[id];
    if (at.epoch != epoch) return Error{"kafka_fenced"_code, "another producer has the same transactional id"};
    const End wanted = commits ? End::committed : End::aborted;
    if (at.transaction == 0) return Error{"kafka_failed"_code, "there is no transaction"};
    finish(at.transaction, wanted);
    if (transactions_.at(at.transaction).end != wanted) return Error{"kafka_failed"_code, "it has ended otherwise"};
    return {};
}

void SimulatedKafka::finish(std::uint64_t number, End end) {
    Transaction& transaction = transactions_[number];
    if (transaction.end != End::open) return;
    transaction.end = end;
    for (const auto& [topic, partition] : transaction.partitions) {
        if (Partition* of = find(topic, partition)) of->entries.push_back({KafkaRecord{}, number});
    }
}

// To the transaction that is open now, unless the producer was fenced.
void SimulatedKafka::deliver_late_ends(const std::string& id) {
    const Coordinator& at = coordinators_[id];
    for (auto each = late_.begin(); each != late_.end();) {
        const bool is_next = each->id == id && at.transaction != 0 && each->ended != at.transaction &&
                             transactions_.at(at.transaction).end == End::open;
        if (each->epoch != at.epoch && each->id == id) {
            each = late_.erase(each);
        } else if (is_next) {
            finish(at.transaction, each->commits ? End::committed : End::aborted);
            each = late_.erase(each);
        } else {
            ++each;
        }
    }
}

// ---- topics

SimulatedKafka::Topic* SimulatedKafka::find(const std::string& topic) {
    const auto found = topics_.find(topic);
    return found == topics_.end() ? nullptr : &found->second;
}

SimulatedKafka::Partition* SimulatedKafka::find(const std::string& topic, std::int32_t partition) {
    Topic* found = find(topic);
    if (found == nullptr || partition < 0 || partition >= found->description.partitions) return nullptr;
    return &found->partitions[static_cast<std::size_t>(partition)];
}

std::int32_t SimulatedKafka::choose_partition(const KafkaRecord& record) {
    const Topic* found = find(record.topic);
    if (found == nullptr) return 0;
    if (record.partition >= 0) return record.partition;
    const auto partitions = static_cast<std::uint32_t>(found->description.partitions);
    if (!record.key) return static_cast<std::int32_t>(next_partition_++ % partitions);
    std::uint32_t hash = 0;
    for (const char each : *record.key) hash = hash * 31 + static_cast<unsigned char>(each);
    return static_cast<std::int32_t>(hash % partitions);
}

std::int64_t SimulatedKafka::last_stable_offset(const Partition& partition) const {
    const auto is_open = [&](const Entry& entry) {
        return entry.transaction != 0 && transactions_.at(entry.transaction).end == End::open;
    };
    const auto first = std::find_if(partition.entries.begin(), partition.entries.end(), is_open);
    return partition.low + (first - partition.entries.begin());
}

bool SimulatedKafka::is_committed(const Entry& entry) const {
    if (entry.record.topic.empty()) return false;  // a marker
    return entry.transaction == 0 || transactions_.at(entry.transaction).end == End::committed;
}

}  // namespace duewheel
