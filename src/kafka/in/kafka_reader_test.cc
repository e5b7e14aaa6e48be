// The reader against a simulated cluster and an engine whose log survives crashes. The file is long because all cases
// share this trial.
#include "kafka/in/kafka_reader.h"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"
#include "message/records/record_parts.h"
#include "shared/random.h"
#include "support/recording_log.h"
#include "support/simulated_kafka.h"

namespace duewheel::kafka_reader_test {
namespace {

constexpr const char* kLater = "payments.later";
constexpr const char* kErrors = "duewheel.errors";

// Reader, cluster and engine on one thread. A reply reaches the reader when deliver() is called.
class Trial {
  public:
    Trial() {
        kafka.create_topic(kLater, 3);
        kafka.create_topic(kErrors);
        options.commands.inputs = {{kLater, "payments"}};
        options.errors_topic = kErrors;
        options.now_ms = [this] { return kStart + kafka.now_us / 1000; };
        options.monotonic_ns = [this] { return kafka.now_us * 1000; };
        restart_engine();
    }

    // The process dies: what is not in the log is gone.
    void restart_engine() {
        open_.clear();
        reader.reset();
        auto fresh = shard ? std::make_unique<TrialEngine>(engine_options, *shard)
                           : std::make_unique<TrialEngine>(engine_options);
        shard = std::move(fresh);
        restart_reader();
    }
    void restart_reader() {
        KafkaReader::Positions positions;
        for (const auto& [input, position] : shard->engine().inputs()) positions[input] = position.offset;
        const auto submit = [this](Command command, std::function<void(Reply)> done) {
            if (std::holds_alternative<TakeRecordsCommand>(command)) ++takes;
            open_[shard->submit(std::move(command))] = std::move(done);
        };
        reader = std::make_unique<KafkaReader>(kafka, options, positions, submit, log);
    }
    void deliver() {
        shard->turn();
        for (auto each = open_.begin(); each != open_.end();) {
            const auto reply = shard->replies.find(each->first);
            if (reply == shard->replies.end()) {
                ++each;
                continue;
            }
            each->second(std::move(reply->second));
            shard->replies.erase(reply);
            each = open_.erase(each);
        }
    }
    // Until nothing is left to do at this time.
    void run() {
        for (int idle = 0; idle < 3; ++idle) {
            const std::uint64_t before = takes + reader->counters().errors + reader->counters().cancels;
            reader->step(0);
            if (!open_.empty() || takes + reader->counters().errors + reader->counters().cancels != before) idle = -1;
            deliver();
        }
    }
    void wait(std::int64_t ms) { kafka.now_us += ms * 1000; }

    void append(std::int32_t partition, std::string body,
                std::vector<KafkaHeader> headers = {{"duewheel-delay", "1h"}}) {
        KafkaRecord record;
        record.topic = kLater;
        record.partition = partition;
        record.value = std::move(body);
        record.headers = std::move(headers);
        record.timestamp_ms = options.now_ms();
        kafka.append(record);
    }
    void append_cancel(std::int32_t partition, std::string key) {
        KafkaRecord record;
        record.topic = kLater;
        record.partition = partition;
        record.headers = {{"duewheel-key", std::move(key)}};
        kafka.append(record);
    }
    // How often a message with this body was put.
    std::map<std::string, int> put_bodies() const {
        std::map<std::string, int> bodies;
        for (const MessageRecord& record : shard->records<MessageRecord>()) {
            if (record.kind == RecordKind::put) ++bodies[std::string(record.content.body)];
        }
        return bodies;
    }
    std::int64_t position(const std::string& input) const {
        const auto found = shard->engine().inputs().find(input);
        return found == shard->engine().inputs().end() ? kNoInputPosition : found->second.offset;
    }
    KafkaPartitionStatus status(std::int32_t partition) const {
        for (const KafkaPartitionStatus& status : reader->partitions()) {
            if (status.partition == partition) return status;
        }
        ADD_FAILURE() << "no such partition";
        return {};
    }
    void limit_queue(std::uint64_t pending_max) {
        const bool holds = std::exchange(shard->hold_commits, false);
        deliver();
        ConfigureQueueCommand command{.name_space = "kafka", .queue = "payments"};
        command.settings.pending_max = pending_max;
        shard->ask<QueueAnswer>(command);
        shard->hold_commits = holds;
    }

    EngineOptions engine_options;
    KafkaReaderOptions options;
    SimulatedKafka kafka;
    RecordingLog log;
    std::unique_ptr<TrialEngine> shard;
    std::unique_ptr<KafkaReader> reader;
    std::uint64_t takes = 0;

  private:
    std::map<ReplyToken, std::function<void(Reply)>> open_;
};

std::optional<std::string> header(const KafkaRecord& record, std::string_view name) {
    for (const KafkaHeader& header : record.headers) {
        if (header.name == name) return header.value;
    }
    return std::nullopt;
}

TEST(KafkaReader, each_record_becomes_one_message_and_the_next_start_goes_on_after_it) {
    Trial trial;
    for (int i = 0; i < 30; ++i) trial.append(i % 3, std::to_string(i));
    trial.run();
    EXPECT_EQ(trial.put_bodies().size(), 30u);
    EXPECT_EQ(trial.reader->counters().records, 30u);
    EXPECT_EQ(trial.reader->counters().messages, 30u);
    for (const char* input : {"payments.later/0", "payments.later/1", "payments.later/2"}) {
        EXPECT_EQ(trial.position(input), 10);
    }
    trial.restart_engine();
    trial.append(1, "30");
    trial.run();
    EXPECT_EQ(trial.reader->counters().records, 1u);
    for (const auto& [body, times] : trial.put_bodies()) EXPECT_EQ(times, 1) << body;
    EXPECT_EQ(trial.put_bodies().size(), 31u);
    trial.wait(20'000);
    trial.run();
    EXPECT_EQ(trial.status(1).lag, 0);
    EXPECT_EQ(trial.status(1).position, 11);
    EXPECT_EQ(trial.status(1).state, KafkaPartitionStatus::State::reading);
}

// Puts, cancels, repeated keys and broken records, while the process and the reader die, commits are lost, brokers are
// away and the queue is full.
TEST(KafkaReader, over_crashes_each_put_is_taken_once_and_each_broken_record_is_in_the_errors_topic) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        Trial trial;
        std::set<std::string> puts;
        std::set<std::string> broken;
        std::map<std::string, bool> is_cancelled;  // by key
        const auto append_one = [&](int number) {
            const auto partition = static_cast<std::int32_t>(random.below(3));
            const std::string name = std::to_string(number);
            switch (random.below(6)) {
                case 0:
                    trial.append(partition, name, {{"duewheel-delay", "soon"}});
                    broken.insert(name);
                    return;
                case 1:
                case 2: {
                    trial.append(partition, name, {{"duewheel-delay", "1h"}, {"duewheel-key", name}});
                    puts.insert(name);
                    is_cancelled[name] = random.chance(500'000);
                    if (is_cancelled[name]) trial.append_cancel(partition, name);
                    return;
                }
                case 3:  // the engine refuses it
                    trial.append(partition, name, {{"duewheel-delay", "50000d"}});
                    broken.insert(name);
                    return;
                default:
                    trial.append(partition, name);
                    puts.insert(name);
            }
        };
        trial.kafka.on_call = [&](const KafkaCall& call) {
            if (!random.chance(20'000)) return KafkaFault::none;
            return call.kind == KafkaCall::flush && random.chance(500'000) ? KafkaFault::lost_answer
                                                                           : KafkaFault::unreachable;
        };
        int number = 0;
        for (int step = 0; step < 400; ++step) {
            if (number < 150) append_one(number++);
            trial.shard->hold_commits = random.chance(500'000);
            if (random.chance(700'000)) trial.reader->step(0);
            if (random.chance(700'000)) trial.deliver();
            if (random.chance(20'000)) trial.restart_engine();
            if (random.chance(20'000)) trial.limit_queue(random.chance(500'000) ? 1 + random.below(40) : 0);
            if (random.chance(50'000)) trial.wait(1'000);
        }
        trial.kafka.on_call = nullptr;
        trial.shard->hold_commits = false;
        trial.deliver();
        trial.limit_queue(0);
        for (int i = 0; i < 12; ++i) {
            trial.wait(20'000);
            trial.run();
        }
        const std::map<std::string, int> bodies = trial.put_bodies();
        ASSERT_EQ(bodies.size(), puts.size());
        for (const auto& [body, times] : bodies) ASSERT_EQ(times, 1) << "record " << body;
        for (const std::string& put : puts) ASSERT_TRUE(bodies.contains(put)) << "record " << put;
        std::set<std::string> written;
        for (const KafkaRecord& record : trial.kafka.committed(kErrors)) written.insert(*record.value);
        ASSERT_EQ(written, broken);
        for (const auto& [key, cancelled] : is_cancelled) {
            GetCommand get{.name_space = "kafka", .by_key = {"payments", key}};
            ASSERT_EQ(trial.shard->ask<MessageAnswer>(get).row.state.state,
                      cancelled ? State::cancelled : State::scheduled)
                << "key " << key;
        }
    }
}

TEST(KafkaReader, a_broken_record_is_in_the_errors_topic_as_it_came_and_the_rest_goes_on) {
    Trial trial;
    KafkaRecord broken;
    broken.topic = kLater;
    broken.partition = 1;
    broken.key = std::string("\0k", 2);
    broken.value = "value";
    broken.headers = {{"a", "1"}, {"a", std::nullopt}, {"duewheel-delay", "soon"}};
    trial.kafka.append(broken);
    trial.append(1, "good");
    trial.run();
    EXPECT_EQ(trial.put_bodies(), (std::map<std::string, int>{{"good", 1}}));
    EXPECT_EQ(trial.position("payments.later/1"), 2);
    const std::vector<KafkaRecord> errors = trial.kafka.committed(kErrors);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].key, broken.key);
    EXPECT_EQ(errors[0].value, broken.value);
    ASSERT_EQ(errors[0].headers.size(), 6u);
    EXPECT_TRUE(std::equal(broken.headers.begin(), broken.headers.end(), errors[0].headers.begin()));
    EXPECT_EQ(header(errors[0], "duewheel-error-code"), "bad_duration");
    EXPECT_NE(header(errors[0], "duewheel-error")->find("column 1"), std::string::npos);
    EXPECT_EQ(header(errors[0], "duewheel-source"), "payments.later/1/0");
    EXPECT_EQ(trial.reader->counters().errors, 1u);
    EXPECT_EQ(trial.log.count("kafka_record_rejected"), 1u);
}

TEST(KafkaReader, a_record_that_is_too_large_for_the_errors_topic_is_found_by_its_source) {
    Trial trial;
    trial.kafka.refuses = [](const KafkaRecord& record) { return record.topic == kErrors && record.value.has_value(); };
    trial.append(0, "broken", {{"duewheel-delay", "soon"}});
    trial.append(0, "good");
    trial.run();
    const std::vector<KafkaRecord> errors = trial.kafka.committed(kErrors);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].value, std::nullopt);
    EXPECT_EQ(header(errors[0], "duewheel-source"), "payments.later/0/0");
    EXPECT_EQ(trial.position("payments.later/0"), 2);
}

TEST(KafkaReader, while_the_errors_topic_cannot_be_written_the_partition_waits_and_others_go_on) {
    Trial trial;
    trial.kafka.leaderless = {kErrors};
    trial.append(0, "broken", {{"duewheel-delay", "soon"}});
    trial.append(0, "behind");
    trial.append(2, "other");
    for (int i = 0; i < 5; ++i) {
        trial.run();
        trial.wait(20'000);
    }
    EXPECT_EQ(trial.put_bodies(), (std::map<std::string, int>{{"other", 1}}));
    EXPECT_EQ(trial.status(0).state, KafkaPartitionStatus::State::waiting);
    EXPECT_EQ(trial.log.count("kafka_input_waits"), 1u);
    trial.kafka.leaderless.clear();
    trial.run();
    EXPECT_EQ(trial.put_bodies().size(), 2u);
    EXPECT_EQ(trial.status(0).state, KafkaPartitionStatus::State::reading);
    EXPECT_EQ(trial.log.count("kafka_input_goes_on"), 1u);
    EXPECT_GE(trial.kafka.committed(kErrors).size(), 1u);
}

TEST(KafkaReader, a_full_queue_makes_its_partition_wait_with_exponential_backoff) {
    Trial trial;
    trial.limit_queue(2);
    for (int i = 0; i < 5; ++i) trial.append(0, std::to_string(i));
    trial.append(1, "other", {{"duewheel-delay", "1h"}, {"duewheel-topic", "refunds"}});
    trial.run();
    EXPECT_EQ(trial.put_bodies().size(), 3u);
    EXPECT_EQ(trial.position("payments.later/0"), 2);
    EXPECT_EQ(trial.position("payments.later/1"), 1);
    EXPECT_EQ(trial.status(0).state, KafkaPartitionStatus::State::waiting);
    EXPECT_EQ(trial.status(0).reason, "queue_full"_code);
    const std::uint64_t before = trial.takes;
    for (int i = 0; i < 600; ++i) {
        trial.wait(100);
        trial.reader->step(0);
        trial.deliver();
    }
    EXPECT_GE(trial.takes - before, 8u);
    EXPECT_LE(trial.takes - before, 13u) << "in a minute, with 100 ms, 200 ms, ... up to 10 s between";
    EXPECT_EQ(trial.log.count("kafka_input_waits"), 1u);
    trial.limit_queue(0);
    trial.wait(10'000);
    trial.run();
    EXPECT_EQ(trial.put_bodies().size(), 6u);
    EXPECT_EQ(trial.status(0).state, KafkaPartitionStatus::State::reading);
    EXPECT_EQ(trial.reader->counters().errors, 0u);
}

// What Kafka has is not read into memory while it cannot be taken, and is read when it can.
TEST(KafkaReader, a_partition_that_waits_is_not_read_on_without_end) {
    Trial trial;
    trial.limit_queue(1);
    for (int i = 0; i < 6'000; ++i) trial.append(0, std::to_string(i));
    trial.append(1, "other", {{"duewheel-delay", "1h"}, {"duewheel-topic", "refunds"}});
    for (int i = 0; i < 60; ++i) {
        trial.run();
        trial.wait(1'000);
    }
    EXPECT_EQ(trial.put_bodies().size(), 2u);
    EXPECT_LE(trial.status(0).waiting_records, 3 * KafkaPartition::kRecordsMax);
    trial.limit_queue(0);
    trial.wait(10'000);
    trial.run();
    EXPECT_EQ(trial.put_bodies().size(), 6'001u);
    for (const auto& [body, times] : trial.put_bodies()) ASSERT_EQ(times, 1) << body;
}

// Each of them kept 2,000 records and 8 MiB: a topic with 64 partitions and a full queue took 670 MB.
TEST(KafkaReader, many_partitions_that_wait_keep_no_more_than_a_few_do) {
    constexpr int kPartitions = 64;
    constexpr int kRecords = 250 * kPartitions;
    Trial trial;
    trial.kafka.remove_topic(kLater);
    trial.kafka.create_topic(kLater, kPartitions);
    trial.restart_reader();
    trial.limit_queue(1);
    for (int i = 0; i < kRecords; ++i) trial.append(i % kPartitions, std::to_string(i));
    for (int i = 0; i < 20; ++i) {
        trial.wait(1'000);
        trial.run();
    }
    std::size_t waiting = 0;
    for (const KafkaPartitionStatus& status : trial.reader->partitions()) waiting += status.waiting_records;
    EXPECT_GT(waiting, 4'000u);
    EXPECT_LE(waiting, 8'000u);
    trial.limit_queue(0);
    for (int i = 0; i < 100 && trial.reader->counters().messages < kRecords; ++i) {
        trial.wait(10'000);
        trial.run();
    }
    EXPECT_EQ(trial.put_bodies().size(), static_cast<std::size_t>(kRecords));
    for (const auto& [body, times] : trial.put_bodies()) ASSERT_EQ(times, 1) << body;
}

TEST(KafkaReader, what_the_engine_refuses_for_good_goes_to_the_errors_topic) {
    Trial trial;
    trial.append(0, "a", {{"duewheel-delay", "1h"}, {"duewheel-key", "k"}});
    trial.append(0, "b", {{"duewheel-delay", "1h"}, {"duewheel-key", "k"}});
    trial.append(0, "c", {{"duewheel-delay", "50000d"}});
    trial.append(0, "d", {{"duewheel-repeat", "0ms"}});
    trial.append(0, "e");
    trial.run();
    std::vector<std::string> codes;
    for (const KafkaRecord& record : trial.kafka.committed(kErrors)) {
        codes.push_back(header(record, "duewheel-error-code").value_or(""));
    }
    EXPECT_EQ(codes, (std::vector<std::string>{"key_conflict", "delay_too_long", "out_of_range"}));
    EXPECT_EQ(trial.put_bodies(), (std::map<std::string, int>{{"a", 1}, {"e", 1}}));
    EXPECT_EQ(trial.position("payments.later/0"), 5);
    EXPECT_EQ(trial.reader->counters().records, 5u);
}

TEST(KafkaReader, cancels_and_schedules_are_executed) {
    Trial trial;
    trial.append(0, "a", {{"duewheel-delay", "1h"}, {"duewheel-key", "k"}});
    trial.append_cancel(0, "k");
    trial.append_cancel(0, "unknown");
    trial.append(0, "nightly", {{"duewheel-cron", "0 3 * * *"}, {"duewheel-key", "nightly"}});
    trial.append(0, "bad", {{"duewheel-cron", "0 3 31 2 *"}, {"duewheel-key", "never"}});
    trial.run();
    EXPECT_EQ(trial.shard->engine().counters().cancelled, 1u);
    EXPECT_EQ(trial.reader->counters().cancels, 2u);
    EXPECT_EQ(trial.reader->counters().cancels_without_effect, 1u);
    EXPECT_EQ(trial.reader->counters().schedules, 1u);
    EXPECT_EQ(trial.reader->counters().errors, 1u);
    EXPECT_EQ(trial.position("payments.later/0"), 5);
    const DescribeScheduleCommand describe{"kafka", "nightly"};
    EXPECT_EQ(trial.shard->ask<ScheduleAnswer>(describe).state.rule.queue, "payments");
    KafkaRecord removal;
    removal.topic = kLater;
    removal.partition = 0;
    removal.headers = {{"duewheel-key", "nightly"}, {"duewheel-cron", ""}};
    trial.kafka.append(removal);
    trial.run();
    EXPECT_EQ(trial.shard->ask<Error>(describe).code, "unknown_schedule"_code);
}

TEST(KafkaReader, a_partition_that_lost_records_stops_and_says_so) {
    Trial trial;
    trial.append(0, "a");
    trial.append(1, "b");
    trial.run();
    trial.reader.reset();
    trial.append(0, "lost");
    trial.append(0, "left");
    ASSERT_TRUE(trial.kafka.delete_before(kLater, 0, 2, 1'000).ok());
    trial.restart_reader();
    trial.append(1, "c");
    trial.run();
    EXPECT_EQ(trial.put_bodies(), (std::map<std::string, int>{{"a", 1}, {"b", 1}, {"c", 1}}));
    EXPECT_EQ(trial.status(0).state, KafkaPartitionStatus::State::stopped);
    EXPECT_EQ(trial.status(0).reason, "position_trimmed"_code);
    EXPECT_EQ(trial.log.count("kafka_position_trimmed"), 1u);
    EXPECT_EQ(trial.reader->counters().trimmed, 1u);

    trial.options.skips_trimmed = true;
    trial.restart_reader();
    trial.run();
    EXPECT_EQ(trial.put_bodies().size(), 4u);
    EXPECT_TRUE(trial.put_bodies().contains("left"));
    EXPECT_EQ(trial.position("payments.later/0"), 3);
    EXPECT_EQ(trial.status(0).state, KafkaPartitionStatus::State::reading);

    // Created again, it has fewer records than were taken.
    trial.reader.reset();
    trial.kafka.create_topic(kLater, 3);
    trial.append(0, "again");
    trial.restart_reader();
    trial.run();
    EXPECT_TRUE(trial.put_bodies().contains("again"));
    EXPECT_EQ(trial.position("payments.later/0"), 1);
}

TEST(KafkaReader, records_that_were_read_before_the_loss_are_taken) {
    Trial trial;
    trial.options.skips_trimmed = true;
    trial.restart_reader();
    trial.append(0, "a");
    trial.reader->step(0);  // reads it
    trial.append(0, "lost");
    trial.append(0, "left");
    ASSERT_TRUE(trial.kafka.delete_before(kLater, 0, 2, 1'000).ok());
    trial.run();
    EXPECT_EQ(trial.put_bodies(), (std::map<std::string, int>{{"a", 1}, {"left", 1}}));
    EXPECT_EQ(trial.position("payments.later/0"), 3);
}

TEST(KafkaReader, brokers_that_are_away_are_reported_once_and_nothing_is_lost) {
    Trial trial;
    trial.append(0, "a");
    trial.run();
    trial.kafka.is_up = false;
    for (int i = 0; i < 30; ++i) {
        trial.run();
        trial.wait(1'000);
    }
    EXPECT_EQ(trial.log.count("kafka_read_failing"), 1u);
    trial.append(0, "b");
    trial.kafka.is_up = true;
    for (int i = 0; i < 3; ++i) {
        trial.wait(10'000);
        trial.run();
    }
    EXPECT_EQ(trial.put_bodies(), (std::map<std::string, int>{{"a", 1}, {"b", 1}}));
    EXPECT_EQ(trial.log.count("kafka_read_recovered"), 1u);
}

TEST(KafkaReader, a_topic_that_is_missing_at_first_and_partitions_that_are_added_are_found) {
    Trial trial;
    trial.kafka.remove_topic(kLater);
    trial.restart_reader();
    trial.run();
    EXPECT_EQ(trial.log.count("kafka_input_unavailable"), 1u);
    trial.kafka.create_topic(kLater, 1);
    trial.append(0, "a");
    trial.wait(10'000);
    trial.run();
    EXPECT_EQ(trial.put_bodies().size(), 1u);
    trial.kafka.create_topic(kLater, 2);  // with the same content, but for the simulation
    trial.append(0, "a");
    trial.append(1, "b");
    trial.run();
    EXPECT_FALSE(trial.put_bodies().contains("b"));
    trial.wait(61'000);
    trial.run();
    EXPECT_EQ(trial.put_bodies(), (std::map<std::string, int>{{"a", 1}, {"b", 1}}));
}

// Each lookup takes as long as its timeout, and a server with twenty input topics needed minutes to stop.
TEST(KafkaReader, looks_up_one_topic_in_a_step_while_no_broker_answers) {
    Trial trial;
    for (int i = 0; i < 20; ++i) trial.options.commands.inputs.push_back({"in" + std::to_string(i), "out"});
    trial.restart_reader();
    int lookups = 0;
    trial.kafka.on_call = [&](const KafkaCall& call) {
        lookups += call.kind == KafkaCall::look_at ? 1 : 0;
        return KafkaFault::unreachable;
    };
    trial.reader->step(0);
    EXPECT_EQ(lookups, 1);
    trial.reader->step(0);
    EXPECT_EQ(lookups, 2);
    trial.reader->stop();
    trial.reader->step(0);
    EXPECT_EQ(lookups, 2);
}

// `duewheel kafka status` and the metric duewheel_kafka_in_reading called it read.
TEST(KafkaReader, the_status_names_topics_and_partitions_that_cannot_be_read) {
    using State = KafkaPartitionStatus::State;
    Trial trial;
    trial.kafka.remove_topic(kLater);
    trial.restart_reader();
    trial.run();
    ASSERT_EQ(trial.reader->partitions().size(), 1u);
    EXPECT_EQ(trial.status(-1).topic, kLater);
    EXPECT_EQ(trial.status(-1).state, State::waiting);
    EXPECT_EQ(trial.status(-1).reason, "unknown_topic"_code);

    trial.kafka.create_topic(kLater, 2);
    trial.append(0, "a");
    trial.wait(10'000);
    trial.run();
    ASSERT_EQ(trial.reader->partitions().size(), 2u);
    EXPECT_EQ(trial.status(0).state, State::reading);

    trial.kafka.remove_topic(kLater);
    trial.run();
    for (const std::int32_t partition : {0, 1}) {
        EXPECT_EQ(trial.status(partition).state, State::waiting);
        EXPECT_EQ(trial.status(partition).reason, "unknown_topic"_code);
    }

    trial.kafka.create_topic(kLater, 2);
    trial.append(0, "in the place of a");
    for (int i = 0; i < 10; ++i) {
        trial.wait(3'000);
        trial.run();
    }
    EXPECT_EQ(trial.status(0).state, State::reading);
    EXPECT_EQ(trial.status(1).state, State::reading);
}

TEST(KafkaReader, the_lag_is_that_of_the_position_next_to_it) {
    Trial trial;
    for (int i = 0; i < 5; ++i) trial.append(0, std::to_string(i));
    trial.shard->hold_commits = true;
    trial.reader->step(0);
    trial.deliver();
    EXPECT_EQ(trial.status(0).lag, 5);
    trial.shard->hold_commits = false;
    trial.deliver();
    trial.run();
    EXPECT_EQ(trial.status(0).position, 5);
    EXPECT_EQ(trial.status(0).lag, 0);
}

TEST(KafkaReader, a_partition_stops_if_another_reader_takes_its_records) {
    Trial trial;
    trial.append(0, "a");
    trial.run();
    TakeRecordsCommand other{.input = "payments.later/0", .position = 1, .next = 7};
    trial.shard->ask<TakeRecordsAnswer>(other);
    trial.append(0, "b");
    trial.append(1, "c");
    trial.run();
    EXPECT_EQ(trial.status(0).state, KafkaPartitionStatus::State::stopped);
    EXPECT_EQ(trial.status(0).reason, "position_moved"_code);
    EXPECT_EQ(trial.log.count("kafka_input_stopped"), 1u);
    EXPECT_EQ(trial.put_bodies(), (std::map<std::string, int>{{"a", 1}, {"c", 1}}));
}

// While a batch is on its way to the disk, the next records are read, and all of them are one batch then.
TEST(KafkaReader, records_are_read_while_the_engine_writes_and_each_partition_has_one_batch_in_flight) {
    Trial trial;
    trial.append(0, "a");
    trial.shard->hold_commits = true;
    trial.reader->step(0);
    trial.deliver();
    const std::uint64_t before = trial.takes;
    EXPECT_EQ(before, 1u);
    for (int i = 0; i < 10; ++i) {
        trial.append(0, std::to_string(i));
        trial.reader->step(0);
        trial.deliver();
    }
    EXPECT_EQ(trial.takes, before);
    trial.shard->hold_commits = false;
    trial.deliver();
    trial.run();
    EXPECT_EQ(trial.takes, before + 1);
    EXPECT_EQ(trial.put_bodies().size(), 11u);
}

// On its own thread, with a loop that executes commands on another one.
TEST(KafkaReader, runs_on_a_thread_and_stops_while_replies_are_open) {
    Trial trial;
    trial.append(0, "a");
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::function<void(Reply)>> open;
    const auto submit = [&](const Command&, std::function<void(Reply)> done) {
        const std::lock_guard lock(mutex);
        open.push_back(std::move(done));
        changed.notify_all();
    };
    KafkaReaderOptions options = trial.options;
    auto reader = std::make_unique<KafkaReader>(trial.kafka, options, KafkaReader::Positions(), submit, trial.log);
    std::thread thread([&] { reader->run(); });
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return !open.empty(); });
    }
    EXPECT_EQ(reader->counters().records, 0u);
    reader->stop();
    thread.join();
    reader.reset();
    for (const auto& done : open) done(TakeRecordsAnswer{.position = 1, .taken = 1});
}

}  // namespace
}  // namespace duewheel::kafka_reader_test
