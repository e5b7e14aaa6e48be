// The pusher and its senders over a real engine and a simulated cluster.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/trial/trial_engine.h"
#include "kafka/out/kafka_plain_sender.h"
#include "kafka/out/kafka_pusher.h"
#include "kafka/out/kafka_sender.h"
#include "port/engine_delivery_port.h"
#include "support/recording_log.h"
#include "support/simulated_kafka.h"

namespace duewheel {

class KafkaTrial {
  public:
    explicit KafkaTrial(KafkaOutOptions chosen = {}, EngineOptions chosen_for_engine = {})
        : options(std::move(chosen)),
          engine_options(chosen_for_engine),
          shard(std::make_unique<TrialEngine>(engine_options)) {
        kafka.create_topic(options.ledger_topic());
        kafka.create_topic("out", 3);
        start();
    }

    // Everything that is not durable is lost, and the settings of queues, which a test engine does not keep.
    void crash() {
        pusher.reset();
        batches.clear();
        shard = std::make_unique<TrialEngine>(engine_options, *shard);
        start();
    }
    void set_target(const std::string& queue, std::optional<KafkaTarget> target,
                    const std::string& name_space = "default") {
        QueueSettings settings;
        settings.kafka = std::move(target);
        settings.retry.jitter_permille = 0;
        shard->ask<QueueAnswer>(
            ConfigureQueueCommand{name_space, queue, ConfigureQueueCommand::What::set, std::move(settings), true});
        run();
    }
    static KafkaTarget target(std::string topic = "out", bool exactly_once = true) {
        return {std::move(topic), {}, {}, exactly_once};
    }
    QueueAnswer queue(const std::string& name) {
        return shard->ask<QueueAnswer>(DescribeQueueCommand{"default", name});
    }
    QueueAnswer tell(const std::string& name, ConfigureQueueCommand::What what) {
        const QueueAnswer answer = shard->ask<QueueAnswer>(ConfigureQueueCommand{"default", name, what, {}});
        run();
        return answer;
    }
    MessageAnswer look(MessageId id) { return shard->ask<MessageAnswer>(GetCommand{"default", id}); }
    MessageId put(const std::string& queue, const std::string& body, const std::string& name_space = "default") {
        PutCommand put;
        put.name_space = name_space;
        put.queue = queue;
        put.body = body;
        return shard->ask<PutAnswer>(std::move(put)).id;
    }

    // Iterations of pusher, senders and engine until none has anything to do at this instant.
    void run(std::int64_t step_ms = 0) {
        for (int iterations = 0; iterations < 3'000; ++iterations) {
            iterate(std::exchange(step_ms, 0));
            if (!holds_batches) send_batches();
            if (pusher->next_wakeup(shard->engine().now()) > shard->engine().now()) return;
        }
        FAIL() << "it does not come to rest";
    }
    void iterate(std::int64_t step_ms = 0) {
        shard->engine().set_time(shard->engine().now() + step_ms);
        pusher->run_due(shard->engine().now());
        shard->turn(step_ms);
        hand_over();
    }
    // The senders work on what they were given.
    void send_batches() {
        while (!batches.empty()) {
            Pending next = std::move(batches.front());
            batches.pop_front();
            if (next.is_exactly_once) {
                sender->send(next.batch);
            } else {
                plain_sender->send(next.batch);
            }
            next.done(std::move(next.batch));
        }
    }
    std::vector<KafkaRecord> records(const std::string& topic = "out") const { return kafka.committed(topic); }
    // In the order of their bytes.
    std::vector<std::string> values(const std::string& topic = "out") const {
        std::vector<std::string> values;
        for (const KafkaRecord& record : records(topic)) values.push_back(record.value.value_or("null"));
        std::sort(values.begin(), values.end());
        return values;
    }
    static std::string header(const KafkaRecord& record, const std::string& name) {
        for (const KafkaHeader& header : record.headers) {
            if (header.name == name) return header.value.value_or("null");
        }
        return "-";
    }

    struct Pending {
        bool is_exactly_once = false;
        KafkaBatch batch;
        KafkaPusher::Done done;
    };
    const KafkaOutOptions options;
    const EngineOptions engine_options;
    SimulatedKafka kafka;
    RecordingLog log;
    std::unique_ptr<TrialEngine> shard;
    ReplySinks sinks;
    std::optional<EngineDeliveryPort> port;
    std::optional<KafkaSender> sender;
    std::optional<KafkaPlainSender> plain_sender;
    std::optional<KafkaPusher> pusher;
    std::deque<Pending> batches;
    std::vector<std::string> removed;  // queues whose targets were removed
    bool holds_batches = false;
    bool hides_time = false;  // from the sender, which takes slow calls for quick ones
    bool was_early = false;   // a message was passed to a sender before it was due

  private:
    void start() {
        const auto now_us = [this] { return hides_time ? kafka.now_us / 1'000 : kafka.now_us; };
        sender.emplace(kafka, options, "own", KafkaSender::Surroundings{now_us, [this] { return ++randoms_; }}, log);
        plain_sender.emplace(kafka, options, now_us);
        const auto lane = [this](bool is_exactly_once) {
            return [this, is_exactly_once](KafkaBatch batch, KafkaPusher::Done done) {
                for (const KafkaBatch::Message& message : batch.messages) {
                    was_early |= std::stoll(header(message.record, "duewheel-due-ms")) > shard->engine().now();
                }
                batches.push_back({is_exactly_once, std::move(batch), std::move(done)});
            };
        };
        port.emplace(shard->engine(), sinks);
        pusher.emplace(*port, options,
                       KafkaPusher::Surroundings{lane(true), lane(false),
                                                 [](std::string_view kept) {
                                                     if (has_record_parts(kept)) return *decode_record_parts(kept);
                                                     RecordParts parts;
                                                     parts.headers.emplace_back("kept", std::string(kept));
                                                     return parts;
                                                 },
                                                 [this](const QueueName& name) { removed.push_back(name.queue); }},
                       log);
    }
    void hand_over() {
        std::vector<std::pair<ReplyToken, Reply>> mine;
        for (auto& [token, reply] : shard->replies) {
            if (ReplyTokens::sink_of(token) != 0) mine.emplace_back(token, std::move(reply));
        }
        for (auto& [token, reply] : mine) {
            shard->replies.erase(token);
            sinks.deliver(token, std::move(reply));
        }
    }

    std::uint64_t randoms_ = 0;
};

}  // namespace duewheel
