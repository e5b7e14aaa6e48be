#include "server/standby.h"

#include <csignal>
#include <mutex>
#include <span>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "base/json_writer.h"
#include "base/secure_random.h"
#include "base/system_clock.h"
#include "ingress/shard_placement.h"
#include "net/event_loop.h"
#include "net/http_server.h"
#include "server/end_signals.h"
#include "server/log_follower.h"
#include "server/metric_table.h"
#include "server/metrics_text.h"
#include "server/owners_topic.h"
#include "server/shard_owners.h"
#include "server/worker.h"

namespace duewheel {
namespace {

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

// What `duewheel kafka status` shows of a standby node.
std::string standby_state(const StandbyStatus& status, const std::string& owner) {
    std::string text;
    JsonWriter json(text);
    json.open().text("status", "standby");
    if (!owner.empty()) json.text("owner", owner);
    json.number("epoch", status.epoch);
    json.number("commit", status.commit);
    json.number("lag_records", status.lag_records).close();
    return text;
}

// Those that concern a standby node. The others are on the page of the owner.
std::string standby_metrics(const StandbyStatus& status) {
    MetricsText text;
    text.single(kLogOwner, false);
    text.single(kStandbyLag, status.lag_records);
    text.family(kBuildInfo);
    text.series({{"version", DUEWHEEL_VERSION}}, true);
    return text.take();
}

// `owner`: of the own shard.
HttpResponse answer(const HttpRequest& request, const Sharding& shards, const std::string& owner,
                    const ShardOwners& owners, const StandbyStatus& status) {
    if (request.path == "/livez") {
        return {.content_type = "application/json", .body = standby_state(status, owner)};
    }
    if (request.path == "/metrics") {
        return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = standby_metrics(status)};
    }
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
    hold_end_signals();  // for the threads that are started from here on
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
    std::optional<LogFollower> follower;
    HttpServer http(loop, options.http, [&](const HttpRequest& request, HttpReply reply) {
        const std::string own = owner.get();
        const std::string& known = own.empty() ? owners.url_of(options.shards.number) : own;
        reply.answer(answer(request, options.shards, known, owners, follower->status()));
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
    follower.emplace(
        options, url_of_node(options, address->text()), **client, [&](const std::string& url) { owner.set(url); }, log);
    Result<std::optional<TopicChain>> followed = std::optional<TopicChain>();
    std::signal(SIGPIPE, SIG_IGN);
    bool is_stopping = false;
    loop.on_signals({SIGTERM, SIGINT}, [&](int) {
        is_stopping = true;
        follower->stop();
    });
    {
        Worker worker("dw-standby");
        worker.run([&] {
            followed = follower->follow(node);
            loop.stop();
        });
        pass_end_signals();
        loop.run();
        hold_end_signals();
    }
    if (!followed) return std::move(followed).error();
    if (!*followed) return std::optional<Takeover>();
    loop.context().poll();  // for one that has come just now
    if (is_stopping) repeat_end_signal();
    return std::optional(Takeover{
        .client = *std::move(client), .chain = **std::move(followed), .node = node, .http_address = address->text()});
}

}  // namespace duewheel
