// The simulated cluster does what real brokers do, where the tests of src/kafka depend on it.
#include "support/simulated_kafka.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::simulated_kafka_test {
namespace {

using Texts = std::vector<std::string>;
constexpr std::int64_t kTimeoutMs = 1'000;

KafkaRecord record(const std::string& value, std::int32_t partition = 0) {
    KafkaRecord record;
    record.topic = "t";
    record.partition = partition;
    record.value = value;
    return record;
}

struct Trial {
    Trial() { kafka.create_topic("t", 2); }

    std::unique_ptr<KafkaProducer> open(const std::string& id) {
        auto producer = *kafka.open_producer(id);
        EXPECT_TRUE(producer->init_transactions(kTimeoutMs));
        return producer;
    }
    static void produce(KafkaProducer& producer, const Texts& values) {
        for (const std::string& value : values) EXPECT_TRUE(producer.produce(record(value)));
        const auto flushed = producer.flush(kTimeoutMs);
        ASSERT_TRUE(flushed);
        for (const Status& each : *flushed) EXPECT_TRUE(each);
    }
    static void send(KafkaProducer& producer, const Texts& values) {
        EXPECT_TRUE(producer.begin_transaction());
        produce(producer, values);
        EXPECT_TRUE(producer.commit_transaction(kTimeoutMs));
    }
    Texts committed() const {
        Texts values;
        for (const KafkaRecord& each : kafka.committed("t")) values.push_back(*each.value);
        return values;
    }
    Texts read(std::int64_t from = KafkaConsumer::kBeginning) {
        const auto consumer = *kafka.open_consumer();
        EXPECT_TRUE(consumer->assign("t", 0, from));
        const auto records = consumer->poll(100, kTimeoutMs);
        if (!records) return {std::string(name_of(records.error().code))};
        Texts values;
        for (const KafkaRecord& each : *records) values.push_back(*each.value);
        return values;
    }

    SimulatedKafka kafka;
};

TEST(SimulatedKafka, shows_readers_committed_transactions_only_and_in_order) {
    Trial trial;
    const auto first = trial.open("a");
    const auto second = trial.open("b");
    EXPECT_TRUE(first->begin_transaction());
    Trial::produce(*first, {"1"});
    Trial::send(*second, {"2"});
    EXPECT_EQ(trial.read(), Texts{}) << "an open transaction is before it";
    EXPECT_TRUE(first->commit_transaction(kTimeoutMs));
    EXPECT_EQ(trial.read(), (Texts{"1", "2"}));
    EXPECT_TRUE(first->begin_transaction());
    Trial::produce(*first, {"3"});
    EXPECT_TRUE(first->abort_transaction(kTimeoutMs));
    EXPECT_EQ(trial.read(), (Texts{"1", "2"}));
    const auto offsets = (*trial.kafka.open_consumer())->offsets("t", 0, kTimeoutMs);
    EXPECT_EQ(offsets->high, 6) << "each transaction has a marker";
}

TEST(SimulatedKafka, fences_a_producer_and_ends_its_transaction) {
    Trial trial;
    const auto old = trial.open("a");
    EXPECT_TRUE(old->begin_transaction());
    Trial::produce(*old, {"1"});
    const auto fresh = trial.open("a");
    EXPECT_EQ(old->commit_transaction(kTimeoutMs).error().code, "kafka_fenced"_code);
    Trial::send(*fresh, {"2"});
    EXPECT_EQ(trial.read(), Texts{"2"});
}

// KAFKA-17754. The next transaction is committed in the middle: its first record is there though it is aborted.
TEST(SimulatedKafka, a_late_end_ends_the_next_transaction_of_the_same_producer) {
    for (const bool opens_anew : {false, true}) {
        Trial trial;
        auto producer = trial.open("a");
        trial.kafka.on_call = [](const KafkaCall& call) {
            return call.kind == KafkaCall::commit ? KafkaFault::late : KafkaFault::none;
        };
        const std::int64_t before_us = trial.kafka.now_us;
        Trial::send(*producer, {"1"});
        EXPECT_GE(trial.kafka.now_us - before_us, SimulatedKafka::kSlowUs);
        trial.kafka.on_call = nullptr;
        if (opens_anew) producer = trial.open("a");
        EXPECT_TRUE(producer->begin_transaction());
        Trial::produce(*producer, {"2", "3"});
        EXPECT_EQ(producer->abort_transaction(kTimeoutMs).ok(), opens_anew);
        EXPECT_EQ(trial.committed(), opens_anew ? Texts{"1"} : (Texts{"1", "2"}));
    }
}

TEST(SimulatedKafka, a_commit_without_an_answer_takes_place_or_not) {
    for (const auto& [fault, expected] :
         {std::pair(KafkaFault::lost_answer, Texts{"1"}), std::pair(KafkaFault::unreachable, Texts{}),
          std::pair(KafkaFault::delayed, Texts{"1"})}) {
        Trial trial;
        const auto producer = trial.open("a");
        trial.kafka.on_call = [fault = fault](const KafkaCall& call) {
            return call.kind == KafkaCall::commit ? fault : KafkaFault::none;
        };
        EXPECT_TRUE(producer->begin_transaction());
        Trial::produce(*producer, {"1"});
        EXPECT_EQ(producer->commit_transaction(kTimeoutMs).error().code, "kafka_unknown_outcome"_code);
        trial.open("a");
        EXPECT_EQ(trial.committed(), expected);
    }
}

TEST(SimulatedKafka, an_empty_transaction_of_a_fenced_producer_is_committed) {
    Trial trial;
    const auto old = trial.open("a");
    const auto fresh = trial.open("a");
    EXPECT_TRUE(old->begin_transaction());
    EXPECT_TRUE(old->commit_transaction(kTimeoutMs));
}

TEST(SimulatedKafka, refuses_records_alone_or_with_those_that_came_along) {
    for (const bool whole : {false, true}) {
        Trial trial;
        trial.kafka.refuses = [](const KafkaRecord& each) { return each.value == "bad"; };
        trial.kafka.refuses_whole_batches = whole;
        const auto producer = *trial.kafka.open_producer("");
        for (const KafkaRecord& each : {record("a"), record("bad"), record("c", 1)}) {
            EXPECT_TRUE(producer->produce(each));
        }
        const auto flushed = producer->flush(kTimeoutMs);
        EXPECT_EQ((*flushed)[0].ok(), !whole);
        EXPECT_EQ((*flushed)[1].error().code, "record_refused"_code);
        EXPECT_TRUE((*flushed)[2]);
    }
}

TEST(SimulatedKafka, trims_the_front_of_a_partition) {
    Trial trial;
    for (const char* value : {"0", "1", "2"}) trial.kafka.append(record(value));
    EXPECT_TRUE(trial.kafka.delete_before("t", 0, 2, kTimeoutMs));
    EXPECT_EQ(trial.read(), Texts{"2"});
    EXPECT_EQ(trial.read(1), Texts{"position_trimmed"});
    EXPECT_EQ((*trial.kafka.open_consumer())->offsets("t", 0, kTimeoutMs)->low, 2);
    EXPECT_EQ(trial.read(2), Texts{"2"});
}

}  // namespace
}  // namespace duewheel::simulated_kafka_test
