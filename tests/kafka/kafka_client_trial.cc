// The Kafka client against the broker that DUEWHEEL_KAFKA names. kafka_client_test.py starts both;
// DUEWHEEL_KAFKA_CLUSTER is the command that pauses and continues the broker.
//
// The broker keeps its own time, so the cases about a broker that does not answer wait for real timeouts.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error_codes.h"
#include "kafka/client/kafka_client.h"
#include "shared/system_clock.h"
#include "support/recording_log.h"
#include "support/temporary_directory.h"

namespace duewheel {
namespace {

constexpr std::int64_t kTimeoutMs = 20'000;
constexpr std::int64_t kShortTimeoutMs = 2'000;  // of cases in which it runs out

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr) ADD_FAILURE() << name << " is not set; run kafka_client_test.py";
    return value == nullptr ? "" : value;
}

std::int64_t now_ms() {
    return monotonic_now_ns() / 1'000'000;
}

// "" of success.
std::string code(const Status& status) {
    return status.ok() ? "" : std::string(name_of(status.error().code));
}
template <class T>
std::string code(const Result<T>& result) {
    return result.ok() ? "" : std::string(name_of(result.error().code));
}

class KafkaClientTrial : public testing::Test {
  protected:
    // A topic of this case alone.
    std::string topic(std::string_view name, std::int32_t partitions = 1,
                      std::vector<std::pair<std::string, std::string>> settings = {}) {
        const std::string full =
            std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + "." + std::string(name);
        const Status made = client().create(
            {.name = full, .partitions = partitions, .replicas = 1, .settings = std::move(settings)}, kTimeoutMs);
        EXPECT_EQ(code(made), "") << made.error().message;
        return full;
    }

    static std::unique_ptr<KafkaClient> open(RecordingLog& log, KafkaConnection connection) {
        if (connection.bootstrap.empty()) connection.bootstrap = environment("DUEWHEEL_KAFKA");
        auto opened = KafkaClient::open(connection, log);
        if (!opened) ADD_FAILURE() << opened.error().message;
        return opened ? std::move(*opened) : nullptr;
    }
    KafkaClient& client() {
        if (!client_) client_ = open(log_, {});
        return *client_;
    }
    std::unique_ptr<KafkaProducer> producer(const std::string& id = {}) { return producer_of(client(), id); }
    static std::unique_ptr<KafkaProducer> producer_of(KafkaClient& client, const std::string& id) {
        auto opened = client.open_producer(id);
        EXPECT_EQ(code(opened), "");
        if (!id.empty()) {
            const Status ready = (*opened)->init_transactions(kTimeoutMs);
            EXPECT_EQ(code(ready), "") << ready.error().message;
        }
        return std::move(*opened);
    }

    // The codes of the records' results.
    static std::vector<std::string> flush(KafkaProducer& producer, std::int64_t timeout_ms = kTimeoutMs) {
        const auto results = producer.flush(timeout_ms);
        EXPECT_EQ(code(results), "");
        std::vector<std::string> codes;
        for (const Status& result : *results) codes.push_back(code(result));
        return codes;
    }
    static void send(KafkaProducer& producer, const KafkaRecord& record) {
        const Status queued = producer.produce(record);
        EXPECT_EQ(code(queued), "") << queued.error().message;
    }

    // The first `count` records of the partition; fewer if they do not come in time.
    std::vector<KafkaRecord> read(const std::string& topic, std::size_t count, std::int64_t timeout_ms = kTimeoutMs) {
        auto consumer = *client().open_consumer();
        EXPECT_EQ(code(consumer->assign(topic, 0, KafkaConsumer::kBeginning)), "");
        return read(*consumer, count, timeout_ms);
    }
    static std::vector<KafkaRecord> read(KafkaConsumer& consumer, std::size_t count, std::int64_t timeout_ms) {
        std::vector<KafkaRecord> read;
        const std::int64_t until_ms = now_ms() + timeout_ms;
        while (read.size() < count && now_ms() < until_ms) {
            auto records = consumer.poll(count - read.size(), until_ms - now_ms());
            if (!records) {
                ADD_FAILURE() << records.error().message;
                break;
            }
            std::move(records->begin(), records->end(), std::back_inserter(read));
        }
        return read;
    }
    static std::vector<std::string> values(const std::vector<KafkaRecord>& records) {
        std::vector<std::string> values;
        for (const KafkaRecord& record : records) values.push_back(record.value.value_or("(null)"));
        return values;
    }

    // The first error of polling.
    static Error error_of(KafkaConsumer& consumer) {
        // That a topic ends before the position is believed only after 20 seconds.
        const std::int64_t until_ms = now_ms() + 2 * kTimeoutMs;
        while (now_ms() < until_ms) {
            const auto records = consumer.poll(10, 1000);
            if (!records) return records.error();
        }
        return {ErrorCode::none, "no error came"};
    }

    // `words` for tools/kafka_cluster.py, run `after` some seconds in the background.
    static void cluster(const std::string& words, int after_s = 0) {
        const std::string command = environment("DUEWHEEL_KAFKA_CLUSTER") + " " + words;
        const std::string waits = "sleep " + std::to_string(after_s) + " && " + command + " &";
        EXPECT_EQ(std::system((after_s > 0 ? waits : command).c_str()), 0);
    }

    RecordingLog log_;
    std::unique_ptr<KafkaClient> client_;
};

TEST_F(KafkaClientTrial, keeps_keys_values_and_headers_as_they_are) {
    const std::string all_bytes = std::string("\0\xff\n", 3);
    const std::vector<KafkaHeader> headers{{.name = "a", .value = "1"},         {.name = "b", .value = all_bytes},
                                           {.name = "a", .value = ""},          {.name = "a", .value = {}},
                                           {.name = "", .value = "of no name"}, {.name = "a", .value = "1"}};
    std::vector<KafkaRecord> sent{
        {.key = {}, .value = {}},
        {.key = "", .value = ""},
        {.key = all_bytes, .value = all_bytes, .headers = headers},
        {.key = "k", .value = std::string(900'000, 'x')},
    };
    const std::string name = topic("t");
    const auto out = producer();
    for (std::size_t i = 0; i < sent.size(); ++i) {
        sent[i].topic = name;
        sent[i].partition = 0;
        sent[i].timestamp_ms = 1'700'000'000'000 + static_cast<std::int64_t>(i);
        send(*out, sent[i]);
        sent[i].offset = static_cast<std::int64_t>(i);
    }
    EXPECT_EQ(flush(*out), std::vector<std::string>(sent.size()));
    const auto got = read(name, sent.size());
    ASSERT_EQ(got.size(), sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(got[i], sent[i]) << i;
}

TEST_F(KafkaClientTrial, gives_a_record_without_a_time_the_time_of_sending) {
    const std::string name = topic("t");
    const auto out = producer();
    const std::int64_t before_ms = wall_now_ms();
    send(*out, {.topic = name, .value = "x"});
    EXPECT_EQ(flush(*out), std::vector<std::string>{""});
    const auto got = read(name, 1);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_GE(got[0].timestamp_ms, before_ms);
    EXPECT_LE(got[0].timestamp_ms, wall_now_ms());
}

// With the hashes that the tests of Kafka's Java client expect of its murmur2.
TEST_F(KafkaClientTrial, chooses_partitions_as_the_java_client_does) {
    constexpr std::int32_t kPartitions = 7;
    const std::vector<std::pair<std::string, std::int32_t>> hashes{
        {"21", -973932308}, {"foobar", -790332482}, {"a-little-bit-long-string", -985981536}, {"abc", 479470107}};
    const std::string name = topic("t", kPartitions);
    const auto out = producer();
    for (const auto& [key, hash] : hashes) send(*out, {.topic = name, .key = key, .value = key});
    EXPECT_EQ(flush(*out), std::vector<std::string>(hashes.size()));
    const auto in = *client().open_consumer();
    for (std::int32_t i = 0; i < kPartitions; ++i) EXPECT_EQ(code(in->assign(name, i, 0)), "");
    for (const KafkaRecord& record : read(*in, hashes.size(), kTimeoutMs)) {
        const auto found = std::ranges::find(hashes, *record.key, &std::pair<std::string, std::int32_t>::first);
        ASSERT_NE(found, hashes.end());
        EXPECT_EQ(record.partition, (found->second & 0x7fffffff) % kPartitions) << *record.key;
    }
}

TEST_F(KafkaClientTrial, shows_committed_transactions_only) {
    const std::string name = topic("t");
    const auto out = producer("shows");
    const auto in = *client().open_consumer();
    EXPECT_EQ(code(in->assign(name, 0, 0)), "");
    for (const auto& [value, is_committed] :
         std::vector<std::pair<std::string, bool>>{{"a", true}, {"b", false}, {"c", true}}) {
        EXPECT_EQ(code(out->begin_transaction()), "");
        send(*out, {.topic = name, .value = value});
        EXPECT_EQ(flush(*out), std::vector<std::string>{""});
        EXPECT_EQ(code(is_committed ? out->commit_transaction(kTimeoutMs) : out->abort_transaction(kTimeoutMs)), "");
    }
    EXPECT_EQ(code(out->begin_transaction()), "");
    send(*out, {.topic = name, .value = "open"});
    EXPECT_EQ(flush(*out), std::vector<std::string>{""});
    EXPECT_EQ(values(read(*in, 3, 1500)), (std::vector<std::string>{"a", "c"}));
    // Each transaction ends with a record of its own; the open one is beyond.
    const auto offsets = in->offsets(name, 0, kTimeoutMs);
    ASSERT_EQ(code(offsets), "");
    EXPECT_EQ(offsets->low, 0);
    EXPECT_EQ(offsets->high, 6);
    EXPECT_EQ(code(out->commit_transaction(kTimeoutMs)), "");
    EXPECT_EQ(values(read(*in, 1, kTimeoutMs)), std::vector<std::string>{"open"});
    EXPECT_EQ(client().statistics().ends_repeated, 0u);
    EXPECT_EQ(client().statistics().brokers_up, 1u);
    EXPECT_EQ(log_.lines(), std::vector<std::string>());
}

TEST_F(KafkaClientTrial, fences_an_older_producer_and_ends_its_transaction) {
    const std::string name = topic("t");
    const auto old = producer("fences");
    EXPECT_EQ(code(old->begin_transaction()), "");
    send(*old, {.topic = name, .value = "old"});
    EXPECT_EQ(flush(*old), std::vector<std::string>{""});
    const auto next = producer("fences");
    EXPECT_EQ(code(old->commit_transaction(kTimeoutMs)), "kafka_fenced");
    EXPECT_EQ(code(next->begin_transaction()), "");
    send(*next, {.topic = name, .value = "next"});
    EXPECT_EQ(code(next->commit_transaction(kTimeoutMs)), "");
    EXPECT_EQ(values(read(name, 1)), std::vector<std::string>{"next"});
}

// librdkafka looks up a new topic by a timer, once a second, which held up the first message of each topic.
TEST_F(KafkaClientTrial, the_first_record_of_a_topic_waits_for_no_timer) {
    constexpr int kTopics = 25;
    std::vector<std::string> names;
    for (int i = 0; i < kTopics; ++i) names.push_back(topic("t" + std::to_string(i)));
    const auto out = producer_of(client(), "first");
    const std::int64_t began_ms = now_ms();
    for (const std::string& name : names) {
        EXPECT_EQ(code(out->begin_transaction()), "");
        send(*out, {.topic = name, .value = "x"});
        EXPECT_EQ(flush(*out), std::vector<std::string>{""});
        EXPECT_EQ(code(out->commit_transaction(kTimeoutMs)), "");
    }
    EXPECT_LT(now_ms() - began_ms, (kTopics - 5) * 1'000);
}

TEST_F(KafkaClientTrial, fails_the_record_of_an_unknown_topic_alone) {
    const std::string name = topic("t");
    const auto out = producer();
    send(*out, {.topic = name, .value = "a"});
    send(*out, {.topic = "there.is.none", .value = "b"});
    send(*out, {.topic = name, .value = "c"});
    EXPECT_EQ(flush(*out), (std::vector<std::string>{"", "unknown_topic", ""}));
    EXPECT_EQ(code(out->produce({.topic = name, .partition = 7, .value = "d"})), "unknown_topic");
    EXPECT_EQ(code(client().look_at("there.is.none", kTimeoutMs)), "unknown_topic");
    EXPECT_EQ(values(read(name, 2)), (std::vector<std::string>{"a", "c"}));
}

TEST_F(KafkaClientTrial, reports_records_that_the_topic_refuses) {
    const std::string small = topic("small", 1, {{"max.message.bytes", "10000"}});
    const std::string compacted = topic("compacted", 1, {{"cleanup.policy", "compact"}});
    const auto out = producer();
    send(*out, {.topic = small, .value = std::string(20'000, 'x')});
    send(*out, {.topic = compacted, .key = {}, .value = "x"});
    EXPECT_EQ(flush(*out), (std::vector<std::string>{"record_refused", "record_refused"}));
    send(*out, {.topic = small, .value = "x"});
    send(*out, {.topic = compacted, .key = "k", .value = "x"});
    EXPECT_EQ(flush(*out), (std::vector<std::string>{"", ""}));
    const std::string large = topic("large", 1, {{"max.message.bytes", "8000000"}});
    send(*out, {.topic = large, .value = std::string(5'000'000, 'x')});
    EXPECT_EQ(flush(*out), std::vector<std::string>{""});
}

TEST_F(KafkaClientTrial, a_refused_record_can_be_taken_out_of_a_transaction) {
    const std::string small = topic("small", 1, {{"max.message.bytes", "10000"}});
    const auto out = producer("refused");
    EXPECT_EQ(code(out->begin_transaction()), "");
    send(*out, {.topic = small, .value = std::string(20'000, 'x')});
    EXPECT_EQ(flush(*out), std::vector<std::string>{"record_refused"});
    EXPECT_EQ(code(out->abort_transaction(kTimeoutMs)), "");
    EXPECT_EQ(code(out->begin_transaction()), "");
    send(*out, {.topic = small, .value = "good"});
    EXPECT_EQ(flush(*out), std::vector<std::string>{""});
    EXPECT_EQ(code(out->commit_transaction(kTimeoutMs)), "");
    EXPECT_EQ(values(read(small, 1)), std::vector<std::string>{"good"});
}

TEST_F(KafkaClientTrial, says_that_a_position_was_trimmed) {
    const std::string name = topic("t");
    const auto out = producer();
    for (int i = 0; i < 10; ++i) send(*out, {.topic = name, .value = std::to_string(i)});
    EXPECT_EQ(flush(*out), std::vector<std::string>(10));
    const Status deleted = client().delete_before(name, 0, 5, kTimeoutMs);
    EXPECT_EQ(code(deleted), "") << deleted.error().message;
    EXPECT_EQ(code(client().delete_before(name, 0, 50, kTimeoutMs)), "position_trimmed");
    const auto in = *client().open_consumer();
    for (const std::int64_t offset : {2, 50}) {
        EXPECT_EQ(code(in->assign(name, 0, offset)), "");
        const Error error = error_of(*in);
        EXPECT_EQ(error.code, "position_trimmed"_code) << error.message;
        EXPECT_EQ(error.field, name + "/0");
        EXPECT_EQ(code(in->unassign(name, 0)), "");
    }
    const auto offsets = in->offsets(name, 0, kTimeoutMs);
    ASSERT_EQ(code(offsets), "");
    EXPECT_EQ(offsets->low, 5);
    EXPECT_EQ(code(in->assign(name, 0, offsets->low)), "");
    EXPECT_EQ(values(read(*in, 1, kTimeoutMs)), std::vector<std::string>{"5"});
}

TEST_F(KafkaClientTrial, says_that_a_topic_to_read_is_missing) {
    const auto in = *client().open_consumer();
    EXPECT_EQ(code(in->assign("there.is.none", 0, 0)), "");
    const Error error = error_of(*in);
    EXPECT_EQ(error.code, "unknown_topic"_code) << error.message;
    EXPECT_EQ(error.field, "there.is.none/0");
    const std::string name = topic("t");
    EXPECT_EQ(code(in->assign(name, 0, 0)), "");
    EXPECT_EQ(code(in->assign(name, 1, 0)), "");
    EXPECT_EQ(error_of(*in).field, name + "/1");
    cluster("run kafka-topics --delete --topic " + name);
    const Error deleted = error_of(*in);
    EXPECT_EQ(deleted.code, "unknown_topic"_code) << deleted.message;
    EXPECT_EQ(deleted.field, name + "/0");
}

TEST_F(KafkaClientTrial, creates_topics_with_settings_and_shows_them) {
    const std::string name = topic("t", 3, {{"retention.ms", "-1"}, {"cleanup.policy", "compact"}});
    // A broker may show a topic only a moment after it has said that it is created.
    const std::int64_t until_ms = now_ms() + kTimeoutMs;
    auto found = client().look_at(name, kTimeoutMs);
    while (code(found) == "unknown_topic" && now_ms() < until_ms) found = client().look_at(name, kTimeoutMs);
    ASSERT_EQ(code(found), "");
    EXPECT_EQ(found->partitions, 3);
    EXPECT_EQ(found->replicas, 1);
    EXPECT_EQ(found->settings,
              (std::vector<std::pair<std::string, std::string>>{{"cleanup.policy", "compact"},
                                                                {"max.message.bytes", "1048588"},
                                                                {"min.insync.replicas", "1"},
                                                                {"retention.bytes", "-1"},
                                                                {"retention.ms", "-1"},
                                                                {"unclean.leader.election.enable", "false"}}));
    EXPECT_EQ(code(client().create({.name = name}, kTimeoutMs)), "topic_exists");
    const Status replicas = client().create({.name = "three", .partitions = 1, .replicas = 3}, kTimeoutMs);
    EXPECT_EQ(code(replicas), "kafka_failed");
    EXPECT_NE(replicas.error().message.find("replication factor"), std::string::npos) << replicas.error().message;
    EXPECT_EQ(code(client().create({.name = "no/slash"}, kTimeoutMs)), "unknown_topic");
}

TEST_F(KafkaClientTrial, tells_a_wrong_password_from_a_missing_permission) {
    const std::string name = topic("t");
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/client";
    const auto open_as = [&](const std::string& password) {
        std::ofstream(path) << "security.protocol=sasl_plaintext\nsasl.mechanism=PLAIN\nsasl.username=alice\n"
                            << "sasl.password=" << password << "\n";
        std::filesystem::permissions(path, std::filesystem::perms(0600));
        return open(log_, {.bootstrap = environment("DUEWHEEL_KAFKA_SASL"), .client_file = path});
    };
    const auto wrong = open_as("wrong-password");
    const auto looked = wrong->look_at(name, kShortTimeoutMs);
    ASSERT_EQ(code(looked), "kafka_login");
    EXPECT_EQ(looked.error().message.find("wrong-password"), std::string::npos) << looked.error().message;
    const auto in = *wrong->open_consumer();
    EXPECT_EQ(code(in->assign(name, 0, 0)), "");
    EXPECT_EQ(error_of(*in).code, "kafka_login"_code);
    for (const std::string& line : log_.lines()) EXPECT_EQ(line.find("wrong-password"), std::string::npos) << line;

    const auto right = open_as("right-password");
    EXPECT_EQ(code(right->look_at(name, kTimeoutMs)), "kafka_refused");
    const auto out = producer_of(*right, {});
    EXPECT_EQ(code(out->produce({.topic = name, .value = "x"})), "kafka_refused");
    const auto transactional = *right->open_producer("alice");
    EXPECT_EQ(code(transactional->init_transactions(kTimeoutMs)), "kafka_refused");
}

TEST_F(KafkaClientTrial, gives_up_when_no_broker_answers_and_goes_on_when_one_does) {
    const std::string name = topic("t");
    const auto hasty = open(log_, {.transaction_timeout_ms = kShortTimeoutMs});
    auto plain = producer_of(*hasty, {});
    auto transactional = producer_of(*hasty, "gives-up");
    const auto in = *hasty->open_consumer();
    EXPECT_EQ(code(in->assign(name, 0, 0)), "");
    EXPECT_EQ(code(transactional->begin_transaction()), "");
    send(*transactional, {.topic = name, .value = "in doubt"});
    EXPECT_EQ(flush(*transactional), std::vector<std::string>{""});

    cluster("pause 1");
    send(*plain, {.topic = name, .value = "late"});
    EXPECT_EQ(flush(*plain, 3 * kShortTimeoutMs), std::vector<std::string>{"kafka_unavailable"});
    EXPECT_EQ(code(transactional->commit_transaction(kShortTimeoutMs)), "kafka_unknown_outcome");
    EXPECT_EQ(code(hasty->look_at(name, kShortTimeoutMs)), "kafka_unavailable");
    EXPECT_EQ(error_of(*in).code, "kafka_unavailable"_code);
    const std::int64_t closing_ms = now_ms();
    transactional.reset();
    plain.reset();
    EXPECT_LT(now_ms() - closing_ms, 3'000);
    EXPECT_GT(hasty->statistics().disconnects, 0u);
    EXPECT_EQ(hasty->statistics().records_queued, 0u);

    cluster("resume 1");
    const auto next = producer_of(*hasty, "gives-up");
    EXPECT_EQ(code(next->begin_transaction()), "");
    send(*next, {.topic = name, .value = "next"});
    EXPECT_EQ(code(next->commit_transaction(kTimeoutMs)), "");
    std::vector<std::string> got;
    while (got.empty() || got.back() != "next") {
        const auto more = values(read(*in, 1, kTimeoutMs));
        ASSERT_FALSE(more.empty());
        got.push_back(more.front());
    }
}

// KAFKA-17754: librdkafka sends the end of a transaction again when the first request times out, and reports success.
// The first one may still be on its way.
TEST_F(KafkaClientTrial, the_outcome_of_an_end_that_was_sent_twice_is_unknown) {
    const std::string name = topic("t");
    const auto hasty = open(log_, {.transaction_timeout_ms = kShortTimeoutMs});
    const auto out = producer_of(*hasty, "twice");
    EXPECT_EQ(code(out->begin_transaction()), "");
    send(*out, {.topic = name, .value = "x"});
    EXPECT_EQ(flush(*out), std::vector<std::string>{""});
    cluster("pause 1");
    cluster("resume 1", 4);
    EXPECT_EQ(code(out->commit_transaction(kTimeoutMs)), "kafka_unknown_outcome");
    EXPECT_EQ(hasty->statistics().ends_repeated, 1u);
}

// Through the proxy of kafka_held_end_test.py.
class HeldEnd : public KafkaClientTrial {
  protected:
    void SetUp() override {
        const char* port = std::getenv("DUEWHEEL_KAFKA_PROXY");
        if (port == nullptr) GTEST_SKIP() << "run kafka_held_end_test.py";
        control_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ASSERT_EQ(::connect(control_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }
    ~HeldEnd() override {
        if (control_ >= 0) ::close(control_);
    }

    void proxy(const std::string& command) const {
        const std::string line = command + "\n";
        ASSERT_EQ(::send(control_, line.data(), line.size(), 0), static_cast<ssize_t>(line.size()));
        std::array<char, 16> answer{};
        ASSERT_GT(::recv(control_, answer.data(), answer.size(), 0), 0);
    }

    // Commits "a" with an end that the proxy holds, releases the held end while the transaction of "b" is open, and
    // aborts that one. What a consumer sees.
    std::vector<std::string> run(bool gives_up_producer) {
        const std::string name = topic("t");
        const auto hasty = open(log_, {.transaction_timeout_ms = kShortTimeoutMs});
        auto out = producer_of(*hasty, name);
        EXPECT_EQ(code(out->begin_transaction()), "");
        send(*out, {.topic = name, .value = "a"});
        EXPECT_EQ(flush(*out), std::vector<std::string>{""});
        proxy("hold_next");
        EXPECT_EQ(code(out->commit_transaction(kTimeoutMs)), "kafka_unknown_outcome");
        if (gives_up_producer) out = producer_of(*hasty, name);
        EXPECT_EQ(code(out->begin_transaction()), "");
        send(*out, {.topic = name, .value = "b"});
        EXPECT_EQ(flush(*out), std::vector<std::string>{""});
        proxy("release");
        const Status aborted = out->abort_transaction(kTimeoutMs);
        EXPECT_EQ(aborted.ok(), gives_up_producer);
        return values(read(name, 2, 3000));
    }

  private:
    int control_ = -1;
};

TEST_F(HeldEnd, commits_the_next_transaction_of_a_producer_that_is_used_again) {
    EXPECT_EQ(run(false), (std::vector<std::string>{"a", "b"}));
}

TEST_F(HeldEnd, changes_nothing_after_the_producer_was_given_up) {
    EXPECT_EQ(run(true), std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace duewheel
