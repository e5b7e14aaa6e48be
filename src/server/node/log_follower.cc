#include "server/node/log_follower.h"

#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "base/volume_size.h"
#include "server/node/log_topic.h"
#include "server/shard/store_sizes.h"
#include "shared/system_clock.h"
#include "store/maintenance/directory_marks.h"

namespace duewheel {
namespace {

constexpr std::int64_t kPollMs = 200;
constexpr std::int64_t kRequestTimeoutMs = 10'000;
constexpr std::int64_t kMeasureNs = 1'000'000'000;
constexpr std::int64_t kLagTimeoutMs = 3'000;
constexpr std::int64_t kProbeTimeoutMs = 3'000;
constexpr std::int64_t kNsPerMs = 1'000'000;

// Everything that may succeed later without a change of this node.
bool may_be_tried_again(const Error& error) {
    return name_of(error.code).starts_with("kafka_") || error.code == "unknown_topic"_code;
}

}  // namespace

LogFollower::LogFollower(const ServerOptions& options, std::string url, KafkaCluster& cluster,
                         std::function<void(const std::string&)> on_owner, LogSink& log,
                         std::function<std::int64_t()> now_ns)
    : options_(options),
      url_(std::move(url)),
      cluster_(cluster),
      on_owner_(std::move(on_owner)),
      log_(log),
      now_ns_(std::move(now_ns)),
      files_(posix_file_system()),
      retention_(options.keep_outcomes_ms, options.history),
      rows_(files_, options.data_directory + "/index",
            [this](std::string_view key, std::string_view value) { return has_row_expired(retention_, key, value); }),
      index_(rows_, retention_, log) {}

void LogFollower::stop() {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    stopping_.notify_all();
}

void LogFollower::pause() {
    std::unique_lock lock(mutex_);
    stopping_.wait_for(lock, std::chrono::milliseconds(kPollMs), [this] { return is_stopping_.load(); });
}

Result<std::optional<TopicChain>> LogFollower::follow(std::uint64_t node) {
    const std::string& directory = options_.data_directory;
    if (Status made = files_.make_directories(directory); !made) return std::move(made).error();
    const Result<std::unique_ptr<DirectoryLock>> lock = files_.lock(directory);
    if (!lock) return lock.error();
    if (Status usable = refuse_what_is_no_data_directory(files_, directory); !usable) return std::move(usable).error();
    if (Status opened = retry([&] { return open(); }); !opened) return std::move(opened).error();
    if (is_stopping_) return std::optional<TopicChain>();
    log_.info("standby", "This node follows the log of another one.",
              {{"topic", options_.kafka.log_topic()}, {"commit", copy_->local_commit()}});
    alive_ns_ = now_ns_();
    while (!is_stopping_) {
        if (Status stepped = retry([&] { return step(); }); !stepped) return std::move(stepped).error();
        if (Status measured = retry([&] { return measure_lag(); }); !measured) return std::move(measured).error();
        if (Status kept = retry([&] { return keep_index(); }); !kept) return std::move(kept).error();
        if (is_stopping_ || !is_due()) continue;
        if (Status claimed = retry([&] { return claim(node); }); !claimed) return std::move(claimed).error();
        if (chain_) return std::move(chain_);
    }
    return std::optional<TopicChain>();
}

// Repeats a step while Kafka is the reason that it fails.
template <class Step>
Status LogFollower::retry(Step run) {
    while (true) {
        Status done = run();
        if (done || !may_be_tried_again(done.error())) {
            if (done && std::exchange(is_away_, false)) log_.info("kafka_back", "Kafka can be reached again.");
            return done;
        }
        if (!std::exchange(is_away_, true)) {
            log_.warning("standby_waits", "The log of the other nodes cannot be read. This node tries again.",
                         {{"code", name_of(done.error().code)}, {"error", done.error().message}});
        }
        if (is_stopping_) return {};
        pause();
        alive_ns_ = now_ns_();  // the owner may write again, and this node cannot see it yet
    }
}

Status LogFollower::open() {
    const Result<KafkaTopic> topic = cluster_.look_at(options_.kafka.log_topic(), kRequestTimeoutMs);
    if (!topic) return topic.error();
    const std::vector<KafkaTopicFinding> findings = check_kafka_topic(KafkaTopicRole::log, *topic);
    if (!options_.kafka.log.unsafe_replication) {
        if (Status safe = refuse_unsafe_topic(options_.kafka, findings); !safe) return safe;
    }
    for (const KafkaTopicFinding& finding : findings) {
        log_.warning("unsafe_topic", finding.text, {{"topic", topic->name}});
    }
    if (const auto wrong = check_partitions(KafkaTopicRole::log, *topic, options_.shards.count)) {
        return Error{"shards_changed"_code, "topic " + topic->name + ": " + wrong->text};
    }
    const Result<std::uint64_t> volume = volume_bytes(options_.data_directory);
    if (!volume) return volume.error();
    TopicCopyOptions copy;
    copy.log = {
        .topic = options_.kafka.log_topic(), .shard = options_.shards.number, .cluster = options_.kafka.out.cluster};
    copy.directory = options_.data_directory;
    copy.journal.identity.shard = static_cast<std::uint16_t>(options_.shards.number);
    copy.journal.identity.shards = static_cast<std::uint16_t>(options_.shards.count);
    copy.journal.segment_bytes = store_sizes(options_.segment_bytes, options_.free_floor_bytes, *volume).segment_bytes;
    copy.journal.spare_count = options_.spare_segments;
    copy.journal.reserve_count = options_.reserve_segments;
    Result<std::unique_ptr<TopicCopy>> opened = TopicCopy::open(files_, cluster_, copy);
    if (!opened) return std::move(opened).error();
    copy_ = *std::move(opened);
    return {};
}

Status LogFollower::step() {
    const Result<TopicCopy::Progress> progress = copy_->follow(kPollMs);
    if (!progress && progress.error().code == "copy_too_old"_code) return copy_->explain(progress.error());
    if (!progress) return progress.error();
    const TopicChain& chain = copy_->chain();
    if (chain.claim() && std::exchange(owner_epoch_, chain.position().epoch) != chain.position().epoch) {
        on_owner_(chain.claim()->url);
    }
    if (progress->starts_again) {
        log_.warning("standby_starts_again",
                     "The owner removed a part of the log before this node had copied it. The copy starts again.");
        index_.close();
        is_caught_up_ = false;
        alive_ns_ = now_ns_();
    }
    apply(*progress);
    return {};
}

Status LogFollower::measure_lag() {
    if (now_ns_() < measure_at_ns_) return {};
    const Result<std::int64_t> lag = ask_lag();
    if (!lag) return lag.error();
    is_caught_up_ = is_caught_up_ || *lag == 0;
    measure_at_ns_ = now_ns_() + kMeasureNs;
    const std::lock_guard lock(mutex_);
    status_ = {.epoch = copy_->chain().position().epoch,
               .commit = copy_->local_commit(),
               .lag_records = static_cast<std::uint64_t>(*lag),
               .segments_sealed = index_.segments_sealed()};
    return {};
}

void LogFollower::apply(const TopicCopy::Progress& progress) {
    if (!progress.is_alive) return;
    is_released_ = progress.is_released;
    alive_ns_ = now_ns_();
}

// Brokers that answer late could not show or take the owner's records: its silence does not count.
void LogFollower::allow_for_slow_brokers(std::int64_t began_ns) {
    const std::int64_t now_ns = now_ns_();
    if (now_ns - began_ns >= options_.kafka.log.takeover_after_ms * kNsPerMs / 2) alive_ns_ = now_ns;
}

Result<std::int64_t> LogFollower::ask_lag() {
    const std::int64_t began_ns = now_ns_();
    Result<std::int64_t> lag = copy_->lag(kLagTimeoutMs);
    allow_for_slow_brokers(began_ns);
    return lag;
}

StandbyStatus LogFollower::status() const {
    const std::lock_guard lock(mutex_);
    return status_;
}

// One step at a time, so that the node goes on reading meanwhile.
Status LogFollower::keep_index() {
    if (copy_->local() == nullptr) return {};
    const Result<bool> done = index_.step(*copy_->local(), is_caught_up_);
    if (!done) return done.error();
    if (*done) alive_ns_ = now_ns_();  // a step takes seconds, in which nothing was read
    return {};
}

bool LogFollower::is_free() const {
    return is_released_ || copy_->chain().position().epoch < 0;
}

bool LogFollower::is_due() const {
    return is_free() || now_ns_() - alive_ns_ >= options_.kafka.log.takeover_after_ms * kNsPerMs;
}

Status LogFollower::claim(std::uint64_t node) {
    const Result<std::int64_t> lag = ask_lag();
    if (!lag) return lag.error();
    if (*lag > 0 || !is_due()) return {};
    if (!is_free()) {
        const std::int64_t began_ns = now_ns_();
        const Result<TopicCopy::Progress> probed = copy_->probe(node, kProbeTimeoutMs);
        if (!probed) return probed.error();
        apply(*probed);
        allow_for_slow_brokers(began_ns);
        if (is_stopping_ || !is_due()) return {};
    }
    log_.info("takeover_begins",
              is_released_ ? "The owner has released the log. This node takes it over."
                           : "There is no sign of life of an owner. This node takes the log over.",
              {{"commit", copy_->local_commit()}});
    Result<TopicChain> chain = copy_->claim(node, url_, kRequestTimeoutMs);
    if (!chain && chain.error().code == "log_fenced"_code) {
        // Another node was quicker, and this one has read its claim: it goes on following.
        alive_ns_ = now_ns_();
        is_released_ = false;
        return {};
    }
    if (!chain) return std::move(chain).error();
    chain_ = *std::move(chain);
    copy_.reset();
    return {};
}

}  // namespace duewheel
