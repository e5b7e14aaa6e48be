#include "server/kafka.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/enum_name.h"
#include "base/json_writer.h"
#include "base/secure_random.h"
#include "http_api/calls/shard_placement.h"
#include "http_api/requests/kept_headers.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

// For barriers, which must differ from those of every earlier process.
std::uint64_t random_number() {
    std::array<std::byte, sizeof(std::uint64_t)> bytes{};
    // The server does not start where this fails.
    static_cast<void>(secure_random_bytes(bytes));
    std::uint64_t number = 0;
    std::memcpy(&number, bytes.data(), bytes.size());
    return number;
}

std::int64_t monotonic_now_us() {
    return monotonic_now_ns() / 1000;
}

KafkaReaderOptions reader_options(const KafkaOptions& options, std::uint32_t shards, const HttpApiOptions& limits) {
    KafkaReaderOptions chosen;
    chosen.shard = static_cast<std::uint32_t>(options.out.shard);
    chosen.shards = shards;
    chosen.commands.name_space = input_namespace(chosen.shard, shards);
    chosen.commands.limits = limits;
    for (auto& [topic, target] : kafka_inputs(options)) chosen.commands.inputs.push_back({topic, target});
    chosen.commands.may_be_named = [&options, name_space = chosen.commands.name_space](const std::string& topic) {
        return may_record_name_topic(options, name_space, topic);
    };
    chosen.errors_topic = options.errors_topic;
    chosen.skips_trimmed = options.skips_trimmed;
    return chosen;
}

// Runs a sender on its worker.
template <class Sender>
KafkaPusher::Send send_on(Worker& worker, EventLoop& loop, Sender& sender) {
    return [&worker, &loop, &sender](KafkaBatch batch, KafkaPusher::Done done) {
        // Shared because functions are copied; a batch can have many megabytes.
        auto shared = std::make_shared<KafkaBatch>(std::move(batch));
        worker.run([&loop, &sender, shared, done = std::move(done)] {
            sender.send(*shared);
            loop.post([shared, done] { done(std::move(*shared)); });
        });
    };
}

std::string_view name_of(KafkaPartitionStatus::State state) {
    return enum_name<KafkaPartitionStatus::State::stopped>(state, {"reading", "waiting", "stopped"});
}

}  // namespace

Result<std::unique_ptr<Kafka>> Kafka::open(EventLoop& loop, Shard& shard, Engine& engine, const KafkaOptions& options,
                                           std::uint32_t shards, const HttpApiOptions& limits, const std::string& owner,
                                           ConfirmOwner confirm_owner, LogSink& log) {
    const KafkaConnection connection{.bootstrap = options.bootstrap,
                                     .client_file = options.client_file,
                                     .transaction_timeout_ms = options.out.transaction_timeout_ms};
    Result<std::unique_ptr<KafkaClient>> client = KafkaClient::open(connection, log);
    if (!client) return std::move(client).error();
    return std::unique_ptr<Kafka>(new Kafka(loop, shard, engine, options, shards, limits, owner,
                                            std::move(confirm_owner), *std::move(client), log));
}

Kafka::Kafka(EventLoop& loop, Shard& shard, Engine& engine, const KafkaOptions& options, std::uint32_t shards,
             const HttpApiOptions& limits, const std::string& owner, ConfirmOwner confirm_owner,
             std::unique_ptr<KafkaClient> client, LogSink& log)
    : loop_(loop),
      engine_(engine),
      log_(log),
      client_(std::move(client)),
      reader_options_(reader_options(options, shards, limits)),
      sender_(*client_, options.out, owner, {monotonic_now_us, random_number, std::move(confirm_owner)}, log),
      plain_sender_(*client_, options.out, monotonic_now_us),
      pusher_(shard.delivery_port(), options.out,
              {send_on(exactly_once_, loop, sender_), send_on(at_least_once_, loop, plain_sender_), record_parts_of,
               [this](const QueueName& queue) { intake_.target_removed(queue); }},
              log),
      intake_([&shard](Command command, ReplyToken token) { shard.submit(std::move(command), token, nullptr); },
              shard.add_sink([this](ReplyToken token, Reply reply) { intake_.reply(token, std::move(reply)); })) {}

Kafka::~Kafka() {
    stop();
}

void Kafka::start_reading() {
    if (reader_ || reader_options_.commands.inputs.empty()) return;
    const auto submit = [this](Command command, KafkaIntake::Done done) {
        auto shared = std::make_shared<Command>(std::move(command));
        loop_.post([this, shared, done = std::move(done)] { intake_.accept(std::move(*shared), done); });
    };
    KafkaReader::Positions positions;
    for (const auto& [name, input] : engine_.inputs()) positions.emplace(name, input.offset);
    reader_ = std::make_unique<KafkaReader>(*client_, reader_options_, positions, submit, log_);
    reading_.run([this] { reader_->run(); });
}

void Kafka::stop() {
    if (reader_) reader_->stop();
    sender_.stop();
}

KafkaCounters Kafka::counters() const {
    return {pusher_.counters(), reader_ ? reader_->counters() : KafkaReaderCounters(), client_->statistics()};
}

std::vector<KafkaPartitionStatus> Kafka::partitions() const {
    return reader_ ? reader_->partitions() : std::vector<KafkaPartitionStatus>();
}

std::string Kafka::stats(const KafkaLogStatus& log) const {
    const auto [sent, received, connections] = counters();
    std::string text;
    JsonWriter json(text);
    json.open().number("brokers_up", connections.brokers_up).open("out");
    json.number("queues", sent.targets).number("queues_backing_off", sent.targets_open);
    json.number("sent", sent.sent).number("refused", sent.refused).number("failed", sent.failed);
    json.number("in_flight", sent.leased).number("transactions", sent.exactly_once.transactions);
    json.number("ledger_skips", sent.exactly_once.ledger_skips).number("fenced", sent.exactly_once.fenced).close();
    json.open("in").number("records", received.records).number("messages", received.messages);
    json.number("errors", received.errors).open_array("partitions");
    for (const KafkaPartitionStatus& partition : partitions()) {
        json.open().text("topic", partition.topic);
        if (partition.partition >= 0) json.number("partition", partition.partition);
        json.text("state", name_of(partition.state));
        if (partition.reason != ErrorCode::none) json.text("reason", name_of(partition.reason));
        if (partition.position != kNoInputPosition) json.number("position", partition.position);
        if (partition.lag) json.number("lag", *partition.lag);
        json.close();
    }
    json.close_array().close();
    if (log.is_owner) {
        json.open("log").text("role", "owner").text("state", log.counters.is_waiting ? "waiting" : "writing");
        json.text("topic_state", log.is_topic_unsafe ? "unsafe" : "safe").number("epoch", log.epoch);
        json.number("first_offset", log.first_offset).number("next_offset", log.counters.next_offset);
        json.number("commits", log.counters.commits).close();
    }
    json.close();
    return text;
}

}  // namespace duewheel
