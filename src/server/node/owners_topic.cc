#include "server/node/owners_topic.h"

#include <charconv>
#include <chrono>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "server/node/sharding.h"

namespace duewheel {
namespace {

constexpr std::int64_t kOwnersPollMs = 100;
constexpr std::int64_t kOwnersTimeoutMs = 2'000;
constexpr int kPausesBeforeRetry = 10;
constexpr std::size_t kOwnersRecordsMax = 1'000;

}  // namespace

OwnersTopic::OwnersTopic(KafkaCluster& cluster, std::string topic, ShardOwners& owners, LogSink& log)
    : cluster_(cluster), topic_(std::move(topic)), owners_(owners), log_(log) {}

void OwnersTopic::start() {
    thread_ = std::thread([this] { run(); });
}

OwnersTopic::~OwnersTopic() {
    is_stopping_ = true;
    if (thread_.joinable()) thread_.join();
}

void OwnersTopic::announce(std::uint32_t shard, std::string url) {
    owners_.set(shard, url);
    const std::lock_guard lock(mutex_);
    own_ = Own{.shard = shard, .url = std::move(url)};
}

std::optional<OwnersTopic::Own> OwnersTopic::own() const {
    const std::lock_guard lock(mutex_);
    return own_;
}

void OwnersTopic::run() {
    while (!is_stopping_) {
        const Status done = step();
        if (done) {
            if (std::exchange(last_error_, ErrorCode::none) != ErrorCode::none) {
                log_.info("owners_available", "The topic of the owners of shards can be used.", {{"topic", topic_}});
            }
            continue;
        }
        if (last_error_ != done.error().code) {
            log_.warning("owners_unavailable",
                         "The topic of the owners of shards cannot be used. This node tries again, and may not know "
                         "meanwhile where requests for other nodes go. If the topic does not exist, create it with "
                         "`duewheel kafka create-topics --log`.",
                         {{"topic", topic_}, {"code", name_of(done.error().code)}, {"error", done.error().message}});
        }
        last_error_ = done.error().code;
        wait();
    }
}

Status OwnersTopic::step() {
    if (!consumer_) {
        if (Status opened = open(); !opened) return opened;
    }
    const Result<std::vector<KafkaRecord>> records = consumer_->poll(kOwnersRecordsMax, kOwnersPollMs);
    if (!records) {
        consumer_.reset();
        return records.error();
    }
    for (const KafkaRecord& record : *records) apply(record);
    const std::optional<Own> own = this->own();
    if (!own || own->url == written_) return {};
    return write(*own);
}

Status OwnersTopic::open() {
    // Without this, a topic that is missing would look like one without records.
    if (const Result<KafkaTopic> found = cluster_.look_at(topic_, kOwnersTimeoutMs); !found) return found.error();
    Result<std::unique_ptr<KafkaConsumer>> consumer = cluster_.open_consumer();
    if (!consumer) return std::move(consumer).error();
    if (Status assigned = (*consumer)->assign(topic_, 0, KafkaConsumer::kBeginning); !assigned) return assigned;
    consumer_ = *std::move(consumer);
    return {};
}

// Records that make no sense are ignored: they are a hint.
void OwnersTopic::apply(const KafkaRecord& record) {
    if (!record.key || !record.value || !is_node_url(*record.value)) return;
    std::uint32_t shard = 0;
    const char* const end = record.key->data() + record.key->size();
    const auto [stopped, failed] = std::from_chars(record.key->data(), end, shard);
    if (failed != std::errc() || stopped != end || shard >= kShardCountMax) return;
    const std::optional<Own> own = this->own();
    if (own && own->shard == shard) {
        written_ = *record.value;
    } else {
        owners_.set(shard, *record.value);
    }
}

Status OwnersTopic::write(const Own& own) {
    Result<std::unique_ptr<KafkaProducer>> producer = cluster_.open_producer("");
    if (!producer) return std::move(producer).error();
    KafkaRecord record;
    record.topic = topic_;
    record.partition = 0;
    record.key = std::to_string(own.shard);
    record.value = own.url;
    if (Status queued = (*producer)->produce(record); !queued) return queued;
    const Result<std::vector<Status>> flushed = (*producer)->flush(kOwnersTimeoutMs);
    if (!flushed) return flushed.error();
    for (const Status& each : *flushed) {
        if (!each) return each;
    }
    written_ = own.url;
    return {};
}

void OwnersTopic::wait() const {
    for (int i = 0; i < kPausesBeforeRetry && !is_stopping_; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(kOwnersPollMs));
    }
}

}  // namespace duewheel
