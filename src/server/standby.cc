#include "server/standby.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/secure_random.h"
#include "base/system_clock.h"
#include "base/volume_size.h"
#include "ingress/shard_placement.h"
#include "net/event_loop.h"
#include "net/http_server.h"
#include "replication/topic_copy.h"
#include "server/kafka_topics.h"
#include "server/owners_topic.h"
#include "server/shard_owners.h"
#include "server/store_sizes.h"
#include "server/worker.h"
#include "store/directory_marks.h"

namespace duewheel {
namespace {

constexpr std::int64_t kPollMs = 200;
constexpr std::int64_t kTimeoutMs = 10'000;
constexpr std::int64_t kNsPerMs = 1'000'000;

// Everything that may succeed later without a change of this node.
bool may_be_tried_again(const Error& error) {
    return error.code.starts_with("kafka_") || error.code == "unknown_topic";
}

// Where the owner is; between the thread that follows and the one that answers.
class OwnerUrl {
  public:
    void set(std::string url) {
        const std::lock_guard lock(mutex_);
        url_ = std::move(url);
    }
    std::string get() const {
        const std::lock_guard lock(mutex_);
        return url_;
    }

  private:
    mutable std::mutex mutex_;
    std::string url_;
};

// The thread that follows the log. Each step blocks.
class Follower {
  public:
    Follower(const ServerOptions& options, std::string url, KafkaClient& client, OwnerUrl& owner, LogSink& log)
        : options_(options), url_(std::move(url)), client_(client), owner_(owner), log_(log) {}

    void stop() { is_stopping_ = true; }

    // Returns after the takeover, nothing after stop(), or an error that ends the process.
    Result<std::optional<TopicChain>> follow(std::uint64_t node) {
        FileSystem& files = posix_file_system();
        const std::string& directory = options_.data_directory;
        if (Status made = files.make_directories(directory); !made) return std::move(made).error();
        const Result<std::unique_ptr<DirectoryLock>> lock = files.lock(directory);
        if (!lock) return lock.error();
        if (Status usable = refuse_what_is_no_data_directory(files, directory); !usable) {
            return std::move(usable).error();
        }
        if (Status opened = retry([&] { return open(files); }); !opened) return std::move(opened).error();
        if (is_stopping_) return std::optional<TopicChain>();
        log_.info("standby", "This node follows the log of another one.",
                  {{"topic", options_.kafka.log_topic()}, {"commit", copy_->local_commit()}});
        alive_ns_ = boot_now_ns();
        while (!is_stopping_) {
            if (Status stepped = retry([&] { return step(); }); !stepped) return std::move(stepped).error();
            if (!is_due()) continue;
            if (Status claimed = retry([&] { return claim(node); }); !claimed) return std::move(claimed).error();
            if (chain_) return std::move(chain_);
        }
        return std::optional<TopicChain>();
    }

  private:
    // Repeats a step while Kafka is the reason that it fails.
    template <class Step>
    Status retry(Step run) {
        while (true) {
            Status done = run();
            if (done || !may_be_tried_again(done.error())) {
                if (done && std::exchange(is_away_, false)) log_.info("kafka_back", "Kafka can be reached again.");
                return done;
            }
            if (!std::exchange(is_away_, true)) {
                log_.warning("standby_waits", "The log of the other nodes cannot be read. This node tries again.",
                             {{"code", done.error().code}, {"error", done.error().message}});
            }
            if (is_stopping_) return {};
            std::this_thread::sleep_for(std::chrono::milliseconds(kPollMs));
            alive_ns_ = boot_now_ns();  // the owner may write again, and this node cannot see it yet
        }
    }

    Status open(FileSystem& files) {
        const Result<KafkaTopic> topic = client_.look_at(options_.kafka.log_topic(), kTimeoutMs);
        if (!topic) return topic.error();
        for (const KafkaTopicFinding& finding : check_kafka_topic(KafkaTopicRole::log, *topic)) {
            if (finding.breaks_promise && !options_.kafka.log.unsafe_replication) {
                return Error{"unsafe_topic",
                             "topic " + topic->name + " may lose acknowledged messages: " + finding.text};
            }
            log_.warning("unsafe_topic", finding.text, {{"topic", topic->name}});
        }
        if (const auto partitions = static_cast<std::uint32_t>(topic->partitions);
            partitions != options_.shards.count) {
            return Error{"shards_changed",
                         "topic " + topic->name + " has " + std::to_string(partitions) +
                             " partitions, and the setting shards.count is " + std::to_string(options_.shards.count) +
                             ": it must have one for each shard. Correct the setting, or create the "
                             "topic of a new cluster with `duewheel kafka create-topics --log --shards " +
                             std::to_string(options_.shards.count) + "`"};
        }
        const Result<std::uint64_t> volume = volume_bytes(options_.data_directory);
        if (!volume) return volume.error();
        TopicCopyOptions copy;
        copy.log = {.topic = options_.kafka.log_topic(),
                    .shard = options_.shards.number,
                    .cluster = options_.kafka.out.cluster};
        copy.directory = options_.data_directory;
        copy.journal.identity.shard = static_cast<std::uint16_t>(options_.shards.number);
        copy.journal.identity.shards = static_cast<std::uint16_t>(options_.shards.count);
        copy.journal.segment_bytes =
            store_sizes(options_.segment_bytes, options_.free_floor_bytes, *volume).segment_bytes;
        copy.journal.spare_count = options_.spare_segments;
        copy.journal.reserve_count = options_.reserve_segments;
        Result<std::unique_ptr<TopicCopy>> opened = TopicCopy::open(files, client_, copy);
        if (!opened) return std::move(opened).error();
        copy_ = *std::move(opened);
        return {};
    }

    Status step() {
        const Result<TopicCopy::Progress> progress = copy_->follow(kPollMs);
        if (!progress) return progress.error();
        if (copy_->chain().claim()) owner_.set(copy_->chain().claim()->url);
        if (progress->records == 0) return {};
        is_released_ = progress->is_released;
        alive_ns_ = boot_now_ns();
        return {};
    }

    bool is_due() const {
        const bool is_free = is_released_ || copy_->chain().position().epoch < 0;
        return is_free || boot_now_ns() - alive_ns_ >= options_.kafka.log.takeover_after_ms * kNsPerMs;
    }

    Status claim(std::uint64_t node) {
        const Result<bool> is_at_end = copy_->is_at_end(kTimeoutMs);
        if (!is_at_end) return is_at_end.error();
        if (!*is_at_end) return {};
        log_.info("takeover_begins",
                  is_released_ ? "The owner has released the log. This node takes it over."
                               : "There is no sign of life of an owner. This node takes the log over.",
                  {{"commit", copy_->local_commit()}});
        Result<TopicChain> chain = copy_->claim(node, url_, kTimeoutMs);
        if (!chain) return std::move(chain).error();
        chain_ = *std::move(chain);
        return {};
    }

    const ServerOptions& options_;
    const std::string url_;
    KafkaClient& client_;
    OwnerUrl& owner_;
    LogSink& log_;
    std::atomic<bool> is_stopping_{false};
    std::unique_ptr<TopicCopy> copy_;
    std::optional<TopicChain> chain_;
    std::int64_t alive_ns_ = 0;  // of the boot clock: the last sign of life
    bool is_released_ = false;
    bool is_away_ = false;
};

// `owner`: of the own shard.
HttpResponse answer(const HttpRequest& request, const Sharding& shards, const std::string& owner,
                    const ShardOwners& owners) {
    if (request.path == "/livez") return {.content_type = "application/json", .body = R"({"status":"standby"})"};
    if (request.path == "/readyz") {
        return plain_problem(503, "standby",
                             "this node is a standby node" + (owner.empty() ? "" : "; the owner is " + owner));
    }
    const std::optional<CallPath> call = find_call(request);
    const std::uint32_t shard =
        (call ? shard_of_request(request, *call, shards.count) : std::nullopt).value_or(shards.number);
    return redirect_to_owner(request, shard, shard == shards.number ? owner : owners.url_of(shard));
}

}  // namespace

std::string url_of_node(const ServerOptions& options, const std::string& http_address) {
    if (!options.kafka.log.url.empty()) return options.kafka.log.url;
    return (options.tls.certificate.empty() ? "http://" : "https://") + http_address;
}

Result<std::optional<Takeover>> stand_by(const ServerOptions& options, LogSink& log,
                                         const std::function<void(const std::string& address)>& listening) {
    if (Status fine = check_kafka_options(options.kafka); !fine) return std::move(fine).error();
    if (Status fine = check_sharding(options.shards, true); !fine) return std::move(fine).error();
    std::uint64_t node = 0;
    if (Status drawn = secure_random_bytes(std::as_writable_bytes(std::span(&node, 1))); !drawn) {
        return std::move(drawn).error();
    }
    Result<std::unique_ptr<KafkaClient>> client =
        KafkaClient::open({.bootstrap = options.kafka.bootstrap, .client_file = options.kafka.client_file}, log);
    if (!client) return std::move(client).error();
    OwnerUrl owner;  // as the log says
    ShardOwners owners;
    EventLoop loop;
    HttpServer http(loop, options.http, [&](const HttpRequest& request, HttpReply reply) {
        const std::string own = owner.get();
        const std::string& known = own.empty() ? owners.url_of(options.shards.number) : own;
        reply.answer(answer(request, options.shards, known, owners));
    });
    http.set_clock(wall_now_ms);
    const Result<BoundAddress> address = http.bind(options.http_address);
    if (!address) return address.error();
    if (!options.tls.certificate.empty()) {
        Result<std::unique_ptr<TlsContext>> tls = TlsContext::load(options.tls, wall_now_ms());
        if (!tls) return std::move(tls).error();
        http.use_tls(*std::move(tls));
    }
    if (Status accepting = http.start_accepting(); !accepting) return std::move(accepting).error();
    listening(address->text());

    OwnersTopic owners_topic(**client, options.kafka.owners_topic(), owners, log);
    owners_topic.start();
    Follower follower(options, url_of_node(options, address->text()), **client, owner, log);
    Result<std::optional<TopicChain>> followed = std::optional<TopicChain>();
    std::signal(SIGPIPE, SIG_IGN);
    loop.on_signals({SIGTERM, SIGINT}, [&](int) { follower.stop(); });
    {
        Worker worker("dw-standby");
        worker.run([&] {
            followed = follower.follow(node);
            loop.stop();
        });
        loop.run();
    }
    if (!followed) return std::move(followed).error();
    if (!*followed) return std::optional<Takeover>();
    return std::optional(Takeover{
        .client = *std::move(client), .chain = **std::move(followed), .node = node, .http_address = address->text()});
}

}  // namespace duewheel
