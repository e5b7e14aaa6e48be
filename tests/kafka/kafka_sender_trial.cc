// The sender of exactly-once delivery against the broker that DUEWHEEL_KAFKA names. kafka_sender_test.py starts both.
//
// A child process sends and is killed again and again, in the middle of whatever it does. It has no log of its own:
// after each batch it says how far it has come, and the next child begins with the first batch of which nobody heard.
// So what was sent but not said is sent again unless the ledger has it.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kafka/client/kafka_client.h"
#include "kafka/out/kafka_sender.h"
#include "shared/random.h"
#include "shared/system_clock.h"
#include "support/recording_log.h"

namespace duewheel {
namespace {

constexpr std::int64_t kTimeoutMs = 20'000;
constexpr std::uint64_t kMessages = 15'000;
constexpr std::uint64_t kBatch = 100;
constexpr int kKillsMin = 8;
constexpr const char* kTopic = "sent";

std::unique_ptr<KafkaClient> connect(LogSink& log) {
    const char* bootstrap = std::getenv("DUEWHEEL_KAFKA");
    if (bootstrap == nullptr) return nullptr;
    Result<std::unique_ptr<KafkaClient>> client = KafkaClient::open({bootstrap, "", 10'000}, log);
    return client ? *std::move(client) : nullptr;
}

// In the child: ends only by a signal, an error, or with the last message.
int send_from(std::uint64_t first, int progress, std::uint64_t seed) {
    RecordingLog log;
    const std::unique_ptr<KafkaClient> client = connect(log);
    if (client == nullptr) return 1;
    KafkaOutOptions options;
    Random random(seed);
    KafkaSender sender(*client, options, "trial",
                       {.now_us = [] { return monotonic_now_ns() / 1'000; }, .random = [&] { return random.next(); }},
                       log);
    std::vector<MessageId> settled;
    for (std::uint64_t from = first; from < kMessages;) {
        const std::uint64_t until = std::min(from + kBatch, kMessages);
        KafkaBatch batch;
        batch.settled = settled;
        for (std::uint64_t id = from + 1; id <= until; ++id) {
            KafkaBatch::Message& message = batch.messages.emplace_back();
            message.name = {"default", id};
            message.record.topic = kTopic;
            message.record.key = std::to_string(id);
            message.record.value = std::string(100, 'x');
        }
        sender.send(batch);
        const bool done = std::all_of(batch.messages.begin(), batch.messages.end(), [](const auto& each) {
            return each.outcome.kind == KafkaOutcome::Kind::sent ||
                   each.outcome.kind == KafkaOutcome::Kind::already_sent;
        });
        if (!done) continue;
        settled.clear();
        for (const auto& each : batch.messages) settled.push_back(each.name.id);
        from = until;
        if (::write(progress, &from, sizeof from) != sizeof from) return 1;
    }
    return 0;
}

// Kills the child `kill_after_ms` after its first batch, or after its start if `is_early`, unless it ends before.
// Returns whether it was killed.
bool run_child(std::uint64_t& sent, std::uint64_t seed, std::int64_t kill_after_ms, bool is_early) {
    int ends[2];
    if (::pipe(ends) != 0) return false;
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        ::_exit(send_from(sent, ends[1], seed));
    }
    ::close(ends[1]);
    const auto in_ms = [](std::int64_t ms) { return monotonic_now_ns() + ms * 1'000'000; };
    std::int64_t kill_at_ns = in_ms(is_early ? kill_after_ms : kTimeoutMs);
    for (bool is_first = true;;) {
        const std::int64_t left_ms = std::max<std::int64_t>((kill_at_ns - monotonic_now_ns()) / 1'000'000, 0);
        pollfd said{ends[0], POLLIN, 0};
        if (::poll(&said, 1, static_cast<int>(left_ms)) == 0) ::kill(child, SIGKILL);
        std::uint64_t to = 0;  // what it said before its end is read too
        if (::read(ends[0], &to, sizeof to) != static_cast<ssize_t>(sizeof to)) break;
        sent = to;
        if (std::exchange(is_first, false) && !is_early) kill_at_ns = in_ms(kill_after_ms);
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "the child failed";
    return WIFSIGNALED(status);
}

TEST(KafkaSenderTrial, each_message_is_there_once_after_many_kills) {
    RecordingLog log;
    const auto seed = static_cast<std::uint64_t>(monotonic_now_ns());
    RecordProperty("seed", std::to_string(seed));
    const KafkaOutOptions options;
    {
        const std::unique_ptr<KafkaClient> client = connect(log);
        ASSERT_NE(client, nullptr) << "run kafka_sender_test.py";
        for (const std::string& name : {std::string(kTopic), options.ledger_topic()}) {
            ASSERT_TRUE(client->create({.name = name, .partitions = 1, .replicas = 1, .settings = {}}, kTimeoutMs));
        }
    }  // before the first fork: the client has threads
    Random random(seed);
    std::uint64_t sent = 0;
    int kills = 0;
    for (int children = 0; sent < kMessages && children < 500; ++children) {
        const bool is_early = random.below(4) == 0;
        const auto kill_after_ms = static_cast<std::int64_t>(random.below(60));
        kills += run_child(sent, random.next(), kill_after_ms, is_early) ? 1 : 0;
    }
    ASSERT_EQ(sent, kMessages) << "seed " << seed;
    EXPECT_GE(kills, kKillsMin);
    RecordProperty("kills", kills);

    const std::unique_ptr<KafkaClient> client = connect(log);
    const std::unique_ptr<KafkaConsumer> reader = *client->open_consumer();
    ASSERT_TRUE(reader->assign(kTopic, 0, KafkaConsumer::kBeginning));
    std::map<std::string, int> times;
    for (std::size_t empty = 0; empty < 3;) {
        const Result<std::vector<KafkaRecord>> records = reader->poll(10'000, 2'000);
        ASSERT_TRUE(records) << records.error().message;
        empty = records->empty() ? empty + 1 : 0;
        for (const KafkaRecord& record : *records) ++times[*record.key];
    }
    std::size_t repeated = 0;
    for (const auto& [key, count] : times) repeated += count > 1 ? 1 : 0;
    EXPECT_EQ(times.size(), kMessages) << kills << " kills, seed " << seed;
    EXPECT_EQ(repeated, 0u) << kills << " kills, seed " << seed;
    RecordProperty("kills", kills);
}

}  // namespace
}  // namespace duewheel
