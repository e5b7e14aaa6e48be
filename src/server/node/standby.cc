#include "server/node/standby.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <span>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <unistd.h>

#include "base/error_codes.h"
#include "base/json_writer.h"
#include "base/secure_random.h"
#include "base/version.h"
#include "http_api/calls/shard_placement.h"
#include "net/event_loop.h"
#include "net/http/http_server.h"
#include "server/limits/options_check.h"
#include "server/metrics/metric_table.h"
#include "server/metrics/metrics_text.h"
#include "server/node/log_follower.h"
#include "server/node/owners_topic.h"
#include "server/process/certificate_watch.h"
#include "server/process/end_signals.h"
#include "server/shard/shard_owners.h"
#include "server/shard/worker.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

// How long brokers that do not answer can hold up the end of a standby node.
constexpr std::int64_t kStopNs = 5'000'000'000;

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
std::string standby_metrics(std::uint32_t shard, const StandbyStatus& status) {
    MetricsText text;
    const std::string number = std::to_string(shard);
    text.family(kLogOwner);
    text.series({{"shard", number}}, false);
    text.family(kStandbyLag);
    text.series({{"shard", number}}, status.lag_records);
    text.family(kBuildInfo);
    text.series({{"version", kVersion}}, true);
    return text.take();
}

// `owner`: of the own shard.
HttpResponse answer(const HttpRequest& request, const Sharding& shards, const std::string& owner,
                    const ShardOwners& owners, const StandbyStatus& status) {
    if (request.path == "/livez") {
        return {.content_type = "application/json", .body = standby_state(status, owner)};
    }
    if (request.path == "/metrics") {
        return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
                .body = standby_metrics(shards.number, status)};
    }
    if (request.path == "/readyz") {
        return plain_problem(503, "standby"_code,
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

Result<std::optional<Takeover>> stand_by(const ServerOptions& options, LogSink& log, const StandbyReports& reports) {
    // All of them: a node that cannot serve must not find that out when it has taken the log over.
    if (Status fine = check_options(options, wall_now_ms()); !fine) return std::move(fine).error();
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
    // No answer depends on a body.
    http.set_gatekeeper([](const HttpRequest&) { return HttpAdmission{.is_admitted = false}; });
    const Result<BoundAddress> address = http.bind(options.http_address);
    if (!address) return address.error();
    std::unique_ptr<CertificateWatch> certificates;  // null: no TLS
    std::optional<Worker> certificate_reader;        // ends before what its jobs use
    if (!options.tls.certificate.empty()) {
        Result<std::unique_ptr<CertificateWatch>> tls = CertificateWatch::open(
            options.tls, loop, log, [&](const CertificateFiles::Context& context) { http.use_tls(context); },
            [&](std::function<void()> job) { certificate_reader->run(std::move(job)); }, wall_now_ms(),
            monotonic_now_ns());
        if (!tls) return std::move(tls).error();
        certificate_reader.emplace("dw-certificate");
        certificates = *std::move(tls);
    }
    if (Status accepting = http.start_accepting(); !accepting) return std::move(accepting).error();
    std::optional<OwnersTopic> owners_topic(std::in_place, **client, options.kafka.owners_topic(), owners, log);
    owners_topic->start();
    follower.emplace(
        options, url_of_node(options, address->text()), **client, [&](const std::string& url) { owner.set(url); }, log);
    Result<std::optional<TopicChain>> followed = std::optional<TopicChain>();
    bool is_stopping = false;
    std::int64_t stop_by_ns = 0;
    loop.on_signals({SIGTERM, SIGINT, SIGHUP, SIGUSR1}, [&](int signal) {
        if (signal == SIGTERM || signal == SIGINT) {
            is_stopping = true;
            stop_by_ns = monotonic_now_ns() + kStopNs;
            return follower->stop();
        }
        if (signal == SIGHUP && certificates) certificates->reload(wall_now_ms());
    });
    std::int64_t next_alive_ns = 0;
    const auto turn = [&] {
        const std::int64_t now_ns = monotonic_now_ns();
        EventLoop::TimePoint next = EventLoop::kOnEvents;
        const auto call_at = [&next](std::int64_t at_ns) {
            next = std::min(next, EventLoop::TimePoint(std::chrono::nanoseconds(at_ns)));
        };
        if (is_stopping) {
            if (now_ns >= stop_by_ns) _exit(EXIT_SUCCESS);  // it has nothing to finish
            call_at(stop_by_ns);
        }
        if (certificates) call_at(certificates->advance_to(wall_now_ms(), now_ns));
        if (reports.alive_interval.count() == 0) return next;
        if (now_ns >= next_alive_ns) {
            reports.alive();
            next_alive_ns = now_ns + reports.alive_interval.count();
        }
        call_at(next_alive_ns);
        return next;
    };
    reports.listening(address->text());
    {
        Worker worker("dw-standby");
        worker.run([&] {
            followed = follower->follow(node);
            owners_topic.reset();  // it may wait for brokers, and a signal must not be lost meanwhile
            loop.stop();
        });
        pass_end_signals();
        loop.run(turn);
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
