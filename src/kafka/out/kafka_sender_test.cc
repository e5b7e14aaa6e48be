// The transactions of the sender, against each fault of the simulated cluster.
#include "kafka/out/kafka_sender.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "kafka/out/kafka_plain_sender.h"
#include "support/recording_log.h"
#include "support/simulated_kafka.h"

namespace duewheel::kafka_sender_test {
namespace {

using Kind = KafkaOutcome::Kind;

struct Trial {
    Trial() {
        kafka.create_topic(options.ledger_topic());
        kafka.create_topic("out", 3);
        kafka.on_call = [this](const KafkaCall& call) {
            calls.push_back(call);
            const auto fault = faults.find(call.kind);
            if (fault == faults.end() || fault->second.empty()) return KafkaFault::none;
            const KafkaFault next = fault->second.front();
            fault->second.erase(fault->second.begin());
            return next;
        };
        restart();
    }
    void restart(const std::string& owner = "own") {
        sender.emplace(kafka, options, owner,
                       KafkaSender::Surroundings{[this] { return hides_time ? kafka.now_us / 1'000 : kafka.now_us; },
                                                 [this] { return ++randoms; }, [this] { return confirm_owner(); }},
                       log);
    }
    static KafkaBatch::Message message(MessageId id, const std::string& topic = "out") {
        KafkaBatch::Message message;
        message.name = {"default", id};
        message.record.topic = topic;
        message.record.key = "k" + std::to_string(id);
        message.record.value = std::to_string(id);
        return message;
    }
    static KafkaBatch batch(const std::vector<MessageId>& ids) {
        KafkaBatch batch;
        for (const MessageId id : ids) batch.messages.push_back(message(id));
        return batch;
    }
    std::vector<Kind> send(const std::vector<MessageId>& ids) { return send(batch(ids)); }
    std::vector<Kind> send(KafkaBatch batch) {
        sender->send(batch);
        last = std::move(batch);
        std::vector<Kind> kinds;
        for (const auto& each : last.messages) kinds.push_back(each.outcome.kind);
        return kinds;
    }
    std::vector<std::string> sent(const std::string& topic = "out") const {
        std::vector<std::string> values;
        for (const KafkaRecord& record : kafka.committed(topic)) values.push_back(record.value.value_or("null"));
        std::sort(values.begin(), values.end());
        return values;
    }
    std::size_t count(KafkaCall::Kind kind) const {
        return static_cast<std::size_t>(
            std::count_if(calls.begin(), calls.end(), [&](const KafkaCall& call) { return call.kind == kind; }));
    }

    std::function<Status()> confirm_owner = [] { return Status(); };
    SimulatedKafka kafka;
    KafkaOutOptions options;
    RecordingLog log;
    bool hides_time = false;
    std::uint64_t randoms = 0;
    std::map<KafkaCall::Kind, std::vector<KafkaFault>> faults;  // of the next calls of each kind
    std::vector<KafkaCall> calls;
    std::optional<KafkaSender> sender;
    KafkaBatch last;
};

using Texts = std::vector<std::string>;

TEST(KafkaSender, sends_a_batch_and_its_ids_in_one_transaction) {
    Trial trial;
    EXPECT_EQ(trial.send({1, 2, 3}), std::vector<Kind>(3, Kind::sent));
    EXPECT_TRUE(trial.last.is_ready);
    EXPECT_EQ(trial.sent(), (Texts{"1", "2", "3"}));
    const std::vector<KafkaRecord> ledger = trial.kafka.committed(trial.options.ledger_topic());
    ASSERT_EQ(ledger.size(), 2u) << "the barrier and the batch";
    const KafkaLedgerRecord entry = *decode_kafka_ledger_record(*ledger[1].value);
    EXPECT_EQ(entry.messages, (std::vector<KafkaMessageName>{{"default", 1}, {"default", 2}, {"default", 3}}));
    EXPECT_EQ(trial.last.counters.transactions, 1u);
    EXPECT_EQ(trial.last.counters.ledger_open, 3u);
}

TEST(KafkaSender, uses_its_two_ids_in_turn) {
    Trial trial;
    for (MessageId id = 1; id <= 4; ++id) trial.send({id});
    Texts begun;
    for (const KafkaCall& call : trial.calls) {
        if (call.kind == KafkaCall::begin) begun.push_back(call.name);
    }
    const std::string first = trial.options.transactional_id(0);
    const std::string second = trial.options.transactional_id(1);
    EXPECT_EQ(begun, (Texts{first, second, first, second, first})) << "with the barrier";
}

TEST(KafkaSender, does_not_send_what_an_earlier_run_has_sent) {
    Trial trial;
    trial.send({1, 2});
    trial.restart();
    trial.send(KafkaBatch{});
    EXPECT_EQ(trial.last.found, (std::vector<KafkaMessageName>{{"default", 1}, {"default", 2}}));
    EXPECT_EQ(trial.send({2, 3}), (std::vector<Kind>{Kind::already_sent, Kind::sent}));
    EXPECT_EQ(trial.last.counters.ledger_skips, 1u);
    EXPECT_EQ(trial.sent(), (Texts{"1", "2", "3"}));
}

TEST(KafkaSender, ends_what_an_earlier_run_left_open) {
    Trial trial;
    trial.send({1});
    trial.kafka.on_call = [](const KafkaCall& call) {
        if (call.kind == KafkaCall::commit) throw 1;
        return KafkaFault::none;
    };
    KafkaBatch batch = Trial::batch({2});
    EXPECT_THROW(trial.sender->send(batch), int);
    trial.kafka.on_call = nullptr;
    trial.restart();
    trial.send(KafkaBatch{});
    EXPECT_TRUE(trial.last.is_ready);
    EXPECT_EQ(trial.sent(), (Texts{"1"}));
    EXPECT_EQ(trial.send({2}), std::vector<Kind>{Kind::sent});
}

// An owner of a replicated log that was paused woke up, took the ids back from its successor, and sent a message that
// the successor had sent, acknowledged and removed from the ledger.
TEST(KafkaSender, sends_nothing_for_a_node_that_was_replaced) {
    Trial trial;
    std::size_t begun = 0;
    trial.confirm_owner = [&]() -> Status {
        begun = trial.count(KafkaCall::init);
        return Error{"log_fenced"_code, "another node owns the log"};
    };
    EXPECT_EQ(trial.send({1}), std::vector{Kind::not_sent});
    EXPECT_EQ(begun, 2u) << "the producers of all others have ended before";
    EXPECT_FALSE(trial.last.is_ready);
    EXPECT_EQ(trial.last.error.code, "log_fenced"_code);
    EXPECT_TRUE(trial.sent().empty());
    EXPECT_TRUE(trial.kafka.committed(trial.options.ledger_topic()).empty());
    trial.confirm_owner = [] { return Status(); };
    EXPECT_EQ(trial.send({1}), std::vector{Kind::sent});
}

TEST(KafkaSender, forgets_what_is_settled) {
    Trial trial;
    trial.send({1, 2});
    KafkaBatch next = Trial::batch({3});
    next.settled = {1, 2};
    trial.send(std::move(next));
    EXPECT_EQ(trial.last.counters.ledger_open, 1u);
    trial.restart();
    trial.send(KafkaBatch{});
    EXPECT_EQ(trial.last.found, (std::vector<KafkaMessageName>{{"default", 3}}));
}

// The ids of a new data directory begin at the first one again.
TEST(KafkaSender, sends_messages_whose_ids_another_data_directory_has_used) {
    Trial trial;
    trial.send({1, 2});
    trial.restart("new");
    EXPECT_EQ(trial.send({1}), std::vector<Kind>{Kind::sent});
    EXPECT_TRUE(trial.log.holds("kafka_ledger_shared"));
    EXPECT_TRUE(trial.last.found.empty());
    EXPECT_EQ(trial.sent(), (Texts{"1", "1", "2"}));
}

TEST(KafkaSender, refuses_alone_the_record_that_its_client_does_not_take) {
    Trial trial;
    KafkaBatch batch = Trial::batch({1, 2, 3});
    batch.messages[1].record.value = std::string(trial.kafka.record_bytes_max + 1, 'x');
    EXPECT_EQ(trial.send(std::move(batch)), (std::vector<Kind>{Kind::sent, Kind::refused, Kind::sent}));
    EXPECT_EQ(trial.last.messages[1].outcome.error.code, "record_refused"_code);
    EXPECT_EQ(trial.sent(), (Texts{"1", "3"}));
    EXPECT_EQ(trial.last.counters.transactions, 1u);
}

// A broker refuses all records of a request for a partition, and the client sends nothing more of such a transaction.
TEST(KafkaSender, finds_the_record_that_its_topic_refuses) {
    for (const bool stops : {false, true}) {
        Trial trial;
        trial.kafka.refuses = [](const KafkaRecord& record) { return record.value == "13"; };
        trial.kafka.refuses_whole_batches = true;
        trial.kafka.refusals_stop_transactions = stops;
        std::vector<MessageId> ids(50);
        for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = i + 1;
        std::vector<Kind> expected(50, Kind::sent);
        expected[12] = Kind::refused;
        EXPECT_EQ(trial.send(ids), expected);
        EXPECT_EQ(trial.sent().size(), 49u);
        EXPECT_EQ(trial.count(KafkaCall::init) == 2u, !stops) << "an abort that is answered closes no producer";
        EXPECT_EQ(trial.last.messages[12].outcome.error.code, "record_refused"_code);
    }
}

TEST(KafkaSender, fails_messages_for_topics_that_cannot_be_written_and_sends_the_others) {
    Trial trial;
    trial.kafka.create_topic("secret");
    trial.kafka.create_topic("down");
    trial.kafka.forbidden = {"secret"};
    trial.kafka.leaderless = {"down"};
    KafkaBatch batch;
    batch.messages = {Trial::message(1), Trial::message(2, "missing"), Trial::message(3, "secret"),
                      Trial::message(4, "down"), Trial::message(5)};
    EXPECT_EQ(trial.send(std::move(batch)),
              (std::vector<Kind>{Kind::sent, Kind::failed, Kind::failed, Kind::failed, Kind::sent}));
    EXPECT_EQ(trial.last.messages[1].outcome.error.code, "unknown_topic"_code);
    EXPECT_EQ(trial.last.messages[2].outcome.error.code, "kafka_refused"_code);
    EXPECT_EQ(trial.last.messages[3].outcome.error.code, "kafka_unavailable"_code);
    EXPECT_EQ(trial.sent(), (Texts{"1", "5"}));
    EXPECT_EQ(trial.count(KafkaCall::init), 6u) << "each timeout closes the producers: with others at fault, and alone";
}

// librdkafka waits for a missing topic for some seconds, and the whole batch waits with it. A few misspelt names kept
// all other queues seconds late.
TEST(KafkaSender, does_not_wait_for_a_missing_topic) {
    Trial trial;
    const auto calls = [&](KafkaCall::Kind kind, const std::string& name) {
        return std::count_if(trial.calls.begin(), trial.calls.end(),
                             [&](const KafkaCall& call) { return call.kind == kind && call.name == name; });
    };
    const auto send = [&](MessageId id) {
        KafkaBatch batch = Trial::batch({id});
        batch.messages.push_back(Trial::message(id + 1, "new"));
        return trial.send(std::move(batch));
    };
    EXPECT_EQ(send(1), (std::vector<Kind>{Kind::sent, Kind::failed}));
    EXPECT_EQ(trial.last.messages[1].outcome.error.code, "unknown_topic"_code);
    EXPECT_EQ(calls(KafkaCall::produce, "new"), 0);
    EXPECT_EQ(trial.count(KafkaCall::abort), 0u);
    trial.kafka.create_topic("new");
    EXPECT_EQ(send(3), std::vector<Kind>(2, Kind::sent));
    EXPECT_EQ(calls(KafkaCall::look_at, "out"), 1) << "what exists is not looked up again";
    EXPECT_EQ(calls(KafkaCall::look_at, "new"), 2);
    trial.kafka.remove_topic("new");
    EXPECT_EQ(send(5), (std::vector<Kind>{Kind::sent, Kind::failed}));
    EXPECT_EQ(send(7), (std::vector<Kind>{Kind::sent, Kind::failed}));
    EXPECT_EQ(calls(KafkaCall::produce, "new"), 2) << "the second one is where the topic was deleted";
    EXPECT_EQ(trial.sent(), (Texts{"1", "3", "5", "7"}));
}

// The lookup of each topic would take as long as the first one.
TEST(KafkaSender, looks_up_no_more_topics_when_no_broker_answers) {
    Trial trial;
    trial.send({1});
    trial.faults[KafkaCall::look_at] = {KafkaFault::unreachable, KafkaFault::unreachable};
    KafkaBatch batch;
    for (MessageId id = 2; id < 10; ++id) batch.messages.push_back(Trial::message(id, "t" + std::to_string(id)));
    const std::size_t before = trial.count(KafkaCall::look_at);
    trial.send(std::move(batch));
    EXPECT_EQ(trial.faults[KafkaCall::look_at].size(), 1u);
    EXPECT_EQ(trial.count(KafkaCall::look_at), before + 1);
}

struct UnknownCommit {
    KafkaFault fault;
    Kind expected;
};
class KafkaSenderUnknown : public testing::TestWithParam<UnknownCommit> {};

TEST_P(KafkaSenderUnknown, says_whether_a_batch_was_committed_only_when_it_knows) {
    Trial trial;
    trial.send({1});
    trial.faults[KafkaCall::commit] = {GetParam().fault};
    EXPECT_EQ(trial.send({2, 3}), std::vector<Kind>(2, GetParam().expected));
    EXPECT_TRUE(trial.last.is_ready);
    EXPECT_EQ(trial.last.counters.unknown_commits, 1u);
    EXPECT_EQ(trial.count(KafkaCall::abort), 0u);
    EXPECT_EQ(trial.sent().size(), GetParam().expected == Kind::sent ? 3u : 1u);
    trial.send({2, 3, 4});
    EXPECT_EQ(trial.sent(), (Texts{"1", "2", "3", "4"}));
}

// The brokers are away at the worst time, and the next call tells.
TEST_P(KafkaSenderUnknown, keeps_a_batch_unknown_while_the_brokers_are_away) {
    Trial trial;
    trial.send({1});
    trial.faults[KafkaCall::commit] = {GetParam().fault};
    trial.faults[KafkaCall::open_producer] = {KafkaFault::unreachable, KafkaFault::unreachable};
    EXPECT_EQ(trial.send({2}), std::vector<Kind>{Kind::unknown});
    EXPECT_FALSE(trial.last.is_ready);
    EXPECT_EQ(trial.send({2, 3}), (std::vector<Kind>{Kind::unknown, Kind::not_sent}));
    EXPECT_EQ(trial.send({2, 3}),
              (std::vector<Kind>{GetParam().expected == Kind::sent ? Kind::already_sent : Kind::sent, Kind::sent}));
    EXPECT_EQ(trial.sent(), (Texts{"1", "2", "3"}));
}

INSTANTIATE_TEST_SUITE_P(Faults, KafkaSenderUnknown,
                         testing::Values(UnknownCommit{KafkaFault::lost_answer, Kind::sent},
                                         UnknownCommit{KafkaFault::delayed, Kind::sent},
                                         UnknownCommit{KafkaFault::unreachable, Kind::not_sent}));

// KAFKA-17754: the client sent EndTxn twice, and the first one arrives in a later transaction.
TEST(KafkaSender, closes_its_producers_after_a_slow_commit) {
    for (const bool hides_time : {false, true}) {
        Trial trial;
        trial.send({1});
        trial.hides_time = hides_time;
        trial.faults[KafkaCall::commit] = {KafkaFault::late};
        EXPECT_EQ(trial.send({2}), std::vector<Kind>{Kind::sent});
        EXPECT_EQ(trial.kafka.late_ends(), 1u);
        trial.send({3});
        trial.kafka.refuses = [](const KafkaRecord& record) { return record.value == "5"; };
        trial.send({4, 5, 6});
        trial.send({7});
        const Texts expected = {"1", "2", "3", "4", "6", "7"};
        if (hides_time) {
            EXPECT_NE(trial.sent(), expected) << "the fault shows in a sender that does not notice it";
        } else {
            EXPECT_EQ(trial.sent(), expected);
            EXPECT_EQ(trial.last.counters.slow_commits, 1u);
            EXPECT_EQ(trial.kafka.late_ends(), 0u);
        }
    }
}

TEST(KafkaSender, closes_its_producers_after_an_abort_without_an_answer) {
    Trial trial;
    trial.send({1});
    trial.kafka.refuses = [](const KafkaRecord& record) { return record.value == "2"; };
    trial.faults[KafkaCall::abort] = {KafkaFault::delayed};
    EXPECT_EQ(trial.send({2, 3}), (std::vector<Kind>{Kind::refused, Kind::sent}));
    EXPECT_EQ(trial.count(KafkaCall::init), 4u);
    EXPECT_EQ(trial.sent(), (Texts{"1", "3"}));
}

TEST(KafkaSender, sends_nothing_while_the_brokers_are_away) {
    Trial trial;
    trial.kafka.is_up = false;
    EXPECT_EQ(trial.send({1}), std::vector<Kind>{Kind::not_sent});
    EXPECT_FALSE(trial.last.is_ready);
    EXPECT_EQ(trial.last.error.code, "kafka_unavailable"_code);
    trial.kafka.is_up = true;
    EXPECT_EQ(trial.send({1}), std::vector<Kind>{Kind::sent});
}

TEST(KafkaSender, starts_anew_after_each_call_that_times_out) {
    for (const KafkaCall::Kind kind :
         {KafkaCall::open_producer, KafkaCall::init, KafkaCall::begin, KafkaCall::produce, KafkaCall::flush,
          KafkaCall::commit, KafkaCall::open_consumer, KafkaCall::offsets, KafkaCall::poll}) {
        for (const KafkaFault fault : {KafkaFault::unreachable, KafkaFault::lost_answer}) {
            for (std::size_t after = 0; after < 3; ++after) {
                Trial trial;
                trial.faults[kind] = std::vector<KafkaFault>(after, KafkaFault::none);
                trial.faults[kind].push_back(fault);
                for (int tries = 0; tries < 3; ++tries) trial.send({1, 2, 3});
                EXPECT_EQ(trial.sent(), (Texts{"1", "2", "3"})) << kind << " " << after;
            }
        }
    }
}

TEST(KafkaSender, waits_for_an_open_transaction_before_its_barrier) {
    Trial trial;
    trial.kafka.hang(trial.options.ledger_topic(), 0);
    EXPECT_EQ(trial.send({1}), std::vector<Kind>{Kind::not_sent});
    EXPECT_FALSE(trial.last.is_ready);
    trial.kafka.end_transactions();
    EXPECT_EQ(trial.send({1}), std::vector<Kind>{Kind::sent});
}

// As after transaction.timeout.ms, or if two servers have the same name.
TEST(KafkaSender, goes_on_after_it_was_fenced) {
    Trial trial;
    trial.send({1});
    for (std::size_t turn = 0; turn < 2; ++turn) {
        const auto other = *trial.kafka.open_producer(trial.options.transactional_id(turn));
        ASSERT_TRUE(other->init_transactions(1'000));
    }
    EXPECT_EQ(trial.send({2}), std::vector<Kind>{Kind::not_sent});
    EXPECT_FALSE(trial.last.was_fenced) << "there is no other server";
    EXPECT_EQ(trial.send({2}), std::vector<Kind>{Kind::sent});
    EXPECT_EQ(trial.sent(), (Texts{"1", "2"}));
}

TEST(KafkaSender, recognizes_another_server_that_uses_its_ids) {
    for (const std::string owner : {"other", "own"}) {  // or a copy of the data directory
        Trial trial;
        EXPECT_EQ(trial.send({1}), std::vector<Kind>{Kind::sent});
        trial.restart();
        EXPECT_EQ(trial.send({2}), std::vector<Kind>{Kind::sent});
        EXPECT_FALSE(trial.last.was_fenced) << "that was an earlier run";
        KafkaSender other(
            trial.kafka, trial.options, owner,
            KafkaSender::Surroundings{[&] { return trial.kafka.now_us; }, [&] { return ++trial.randoms; }}, trial.log);
        KafkaBatch opens;
        other.send(opens);
        EXPECT_FALSE(opens.was_fenced);
        EXPECT_EQ(trial.send({3}), std::vector<Kind>{Kind::sent}) << "both get on, however often they take turns";
        EXPECT_TRUE(trial.last.was_fenced) << owner;
        EXPECT_EQ(trial.last.counters.fenced, 1u);
        EXPECT_EQ(trial.send({5}), std::vector<Kind>{Kind::sent});
        EXPECT_FALSE(trial.last.was_fenced);
        KafkaBatch batch = Trial::batch({4});
        other.send(batch);
        EXPECT_TRUE(batch.was_fenced) << "so does the other one";
    }
}

TEST(KafkaSender, sends_a_message_once_that_is_twice_in_a_batch) {
    Trial trial;
    EXPECT_EQ(trial.send({1, 1}), (std::vector<Kind>{Kind::sent, Kind::not_sent}));
    EXPECT_EQ(trial.send({1}), std::vector<Kind>{Kind::already_sent});
    EXPECT_EQ(trial.sent(), (Texts{"1"}));
}

// Each step of it may take a timeout, and the process waits for them when it stops.
TEST(KafkaSender, opens_no_producers_once_it_is_stopped) {
    Trial trial;
    trial.send({1});
    trial.restart();
    trial.kafka.is_up = false;
    const auto record_call = trial.kafka.on_call;
    trial.kafka.on_call = [&](const KafkaCall& call) {
        trial.sender->stop();
        return record_call(call);
    };
    trial.calls.clear();
    EXPECT_EQ(trial.send({2}), std::vector<Kind>{Kind::not_sent});
    EXPECT_FALSE(trial.last.is_ready);
    EXPECT_EQ(trial.calls.size(), 1u);
    EXPECT_EQ(trial.send({2}), std::vector<Kind>{Kind::not_sent});
    EXPECT_EQ(trial.calls.size(), 1u);
}

TEST(KafkaSender, trims_the_ledger_behind_what_is_settled) {
    Trial trial;
    const auto low = [&] {
        return (*trial.kafka.open_consumer())->offsets(trial.options.ledger_topic(), 0, 1'000)->low;
    };
    MessageId id = 0;
    std::vector<MessageId> unsettled;
    const auto minutes = [&](int count, bool settles) {
        for (int i = 0; i < count; ++i) {
            KafkaBatch batch = Trial::batch({++id});
            unsettled.push_back(id);
            if (settles) batch.settled = {unsettled.begin(), unsettled.end() - 1};
            trial.send(std::move(batch));
            trial.kafka.now_us += 61'000'000;
        }
    };
    minutes(3, false);
    EXPECT_EQ(low(), 0) << "all of them are open";
    minutes(4, true);
    EXPECT_GT(low(), 5);
    EXPECT_FALSE(trial.kafka.committed(trial.options.ledger_topic()).empty());
    trial.restart();
    trial.send(KafkaBatch{});
    EXPECT_EQ(trial.last.found, (std::vector<KafkaMessageName>{{"default", id}}));
}

TEST(KafkaSender, goes_on_when_the_ledger_was_created_anew) {
    for (const bool has_read_far : {false, true}) {
        Trial trial;
        for (MessageId id = 1; id < 5; ++id) trial.send({id});
        if (has_read_far) trial.restart();
        if (has_read_far) trial.send(KafkaBatch{});
        trial.kafka.remove_topic(trial.options.ledger_topic());
        EXPECT_EQ(trial.send({5}), std::vector<Kind>{Kind::not_sent});
        EXPECT_EQ(trial.last.error.code, "unknown_topic"_code);
        trial.kafka.create_topic(trial.options.ledger_topic());
        if (!has_read_far) trial.send({5});  // it waits where nothing is any more
        EXPECT_EQ(trial.send({4, 5}), (std::vector<Kind>{Kind::already_sent, Kind::sent}));
        EXPECT_EQ(trial.log.holds("kafka_ledger_lost"), has_read_far);
    }
}

// ---- without transactions

KafkaBatch plainly(Trial& trial, KafkaBatch batch) {
    KafkaPlainSender sender(trial.kafka, trial.options, [&] { return trial.kafka.now_us; });
    sender.send(batch);
    return batch;
}

TEST(KafkaPlainSender, has_a_result_for_each_record) {
    Trial trial;
    trial.kafka.create_topic("down");
    trial.kafka.leaderless = {"down"};
    trial.kafka.refuses = [](const KafkaRecord& record) { return record.value == "4"; };
    trial.kafka.refuses_whole_batches = true;
    KafkaBatch batch;
    batch.messages = {Trial::message(1), Trial::message(2, "missing"), Trial::message(3, "down"), Trial::message(4)};
    for (MessageId id = 5; id < 40; ++id) batch.messages.push_back(Trial::message(id));
    batch = plainly(trial, std::move(batch));
    std::vector<Kind> kinds;
    for (const auto& each : batch.messages) kinds.push_back(each.outcome.kind);
    std::vector<Kind> expected(39, Kind::sent);
    expected[1] = Kind::failed;
    expected[2] = Kind::unknown;
    expected[3] = Kind::refused;
    EXPECT_EQ(kinds, expected);
    EXPECT_TRUE(batch.is_ready);
    EXPECT_EQ(trial.sent().size(), 36u);
    EXPECT_EQ(trial.count(KafkaCall::begin), 0u);
}

TEST(KafkaPlainSender, does_not_know_what_became_of_a_flush_that_timed_out) {
    Trial trial;
    trial.faults[KafkaCall::flush] = {KafkaFault::lost_answer};
    const KafkaBatch batch = plainly(trial, Trial::batch({1}));
    EXPECT_EQ(batch.messages[0].outcome.kind, Kind::unknown);
    EXPECT_FALSE(batch.is_ready);
}

}  // namespace
}  // namespace duewheel::kafka_sender_test
