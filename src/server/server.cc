#include "server/server.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include <unistd.h>

#include "access/audit_files.h"
#include "base/disk_guard.h"
#include "base/error_codes.h"
#include "base/version.h"
#include "base/volume_size.h"
#include "calendar/duration.h"
#include "http_api/calls/contract.h"
#include "http_api/calls/recent_log.h"
#include "http_api/calls/shard_placement.h"
#include "http_api/http_api.h"
#include "net/event_loop.h"
#include "server/audit_trail.h"
#include "server/beanstalk.h"
#include "server/kafka.h"
#include "server/limits/limit.h"
#include "server/limits/options_check.h"
#include "server/metrics/metrics.h"
#include "server/node/node_role.h"
#include "server/process/end_signals.h"
#include "server/process/http_listener.h"
#include "server/process/io_thread.h"
#include "server/process/last_resort.h"
#include "server/process/open_files.h"
#include "server/shard/data_directory.h"
#include "server/shard/disk_advice.h"
#include "server/shard/shard.h"
#include "server/webhooks.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

// sysexits.h: a temporary failure. Started again, this node is a standby node.
constexpr int kExitFenced = 75;
// How often requests that wait for a replicated log are looked at.
constexpr std::int64_t kLogCheckNs = 500'000'000;

// Beyond loopback the server does not know its own names: it checks them only if they are configured.
CallerRules caller_rules(const ServerOptions& options) {
    CallerRules rules;
    rules.check_host = is_loopback(options.http_address) || !options.http_hosts.empty();
    for (const std::string& host : options.http_hosts) {
        if (std::optional<Site> site = parse_site(host)) rules.sites.push_back(*std::move(site));
    }
    rules.own_hosts = {"localhost", "127.0.0.1", "[::1]"};
    rules.own_hosts.push_back(options.http_address.substr(0, options.http_address.rfind(':')));
    return rules;
}

}  // namespace

// What the process tells its supervisor.
struct Server::Progress {
    // Returns when to be called again at the latest.
    EventLoop::TimePoint report_alive();

    Reports to;
    std::int64_t next_alive_ns = 0;
    bool was_ready = false;
};

// How far a stop has come.
struct Server::Stop {
    bool begun = false;
    bool is_drained = false;  // no HTTP client is connected
    bool saves_time = false;
    bool saves_end = false;
    std::int64_t by_ns = 0;
};

// In the order of construction; destroyed in reverse order.
struct Server::Parts {
    Parts(const ServerOptions& server_options, LogSink& log_sink, std::optional<Takeover> takeover)
        : options(server_options),
          log(log_sink),
          role(options, std::move(takeover), log, [this](const Error& error) { fail(error); }) {}
    ~Parts() { role.stop(); }

    Status open();
    void fit_connections();
    std::optional<std::string> why_puts_are_refused() const;
    Status open_kafka();
    Status open_audit();
    Status open_beanstalk();
    Status listen();
    EventLoop::TimePoint turn();
    void take_signal(int signal);
    void drain_beanstalk();
    void begin_stop(int signal);
    void leave_when_idle();
    [[noreturn]] void fail(const Error& error);

    ServerOptions options;
    RecentLog log;
    NodeRole role;
    DataDirectory data{options, log};
    EventLoop loop;
    std::unique_ptr<Webhooks> webhooks;
    std::unique_ptr<Shard> shard;
    std::unique_ptr<Kafka> kafka;       // null: no brokers are named
    std::unique_ptr<AuditTrail> audit;  // null: the setting audit.enabled is false
    std::optional<Metrics> metrics;
    std::unique_ptr<HttpApi> api;
    std::unique_ptr<Beanstalk> beanstalk;  // null: it does not listen for that protocol
    HttpListener http{loop, options, log};
    Progress reports;
    Stop stop;
};

EventLoop::TimePoint Server::Progress::report_alive() {
    if (to.alive_interval.count() == 0) return EventLoop::kOnEvents;
    if (const std::int64_t now_ns = monotonic_now_ns(); now_ns >= next_alive_ns) {
        to.alive();
        next_alive_ns = now_ns + to.alive_interval.count();
    }
    return EventLoop::TimePoint(std::chrono::nanoseconds(next_alive_ns));
}

// Ends the process: nothing may be answered any more, and the loop's thread may be busy.
void Server::Parts::fail(const Error& error) {
    disk_is_forbidden = false;  // the loop does not go on
    if (error.code == "log_fenced"_code) {
        log.warning("replaced", error.message, {{"code", name_of(error.code)}});
        data.run().stop();
        _exit(kExitFenced);
    }
    if (error.code == "log_unavailable"_code) {  // waiting for brokers ends only with the process
        log.warning(
            "stopped_while_waiting",
            "The server has stopped while no broker acknowledged its last changes. It has not acknowledged them "
            "either; they may take effect.",
            {{"error", error.message}});
        data.run().stop();
        _exit(EXIT_SUCCESS);
    }
    log.error("fatal_error", with_disk_advice(error).message, {{"code", name_of(error.code)}});
    data.run().fail();
    data.keep(error);
    _exit(kExitFatalError);
}

Status Server::Parts::open() {
    if (Status fine = check_options(options, wall_now_ms()); !fine) return fine;
    fit_connections();
    // The address first: an error about it must not come only after a store was created or recovered.
    if (Status bound = http.open(); !bound) return bound;
    if (Status opened = data.open(role.replication()); !opened) return opened;
    role.start(http.address());
    shard =
        std::make_unique<Shard>(loop, data.shard(), options.clock, log, [this](const Error& error) { fail(error); });
    metrics.emplace(options, *shard, data.run().last());
    if (role.replication() != nullptr) metrics->include(*role.replication());
    if (Status auditing = open_audit(); !auditing) return auditing;
    if (Status opened_beanstalk = open_beanstalk(); !opened_beanstalk) return opened_beanstalk;
    std::vector<BoundAddress> listeners = {http.bound()};
    if (const auto address = beanstalk ? beanstalk->bound() : std::nullopt) listeners.push_back(*address);
    Result<std::unique_ptr<Webhooks>> made =
        Webhooks::open(loop, shard->delivery_port(), options.webhooks, options.data_directory, listeners, log);
    if (!made) return std::move(made).error();
    webhooks = *std::move(made);
    if (options.webhooks.post) {
        shard->push_with(webhooks->pusher());
    } else {
        log.warning(
            "webhooks_disabled",
            "Webhooks are disabled (webhooks.post = false): messages of queues with a webhook stay in their queues.");
    }
    if (Status opened_kafka = open_kafka(); !opened_kafka) return opened_kafka;
    if (Status listening = listen(); !listening) return listening;
    return data.run().begin();
}

void Server::Parts::fit_connections() {
    std::size_t& connections = options.http.connections_max;
    const std::uint64_t files = raise_open_files_max(connections + kOpenFilesKept);
    const std::size_t fitting = connections_within(files, connections);
    if (fitting == connections) return;
    log.warning(
        "open_files_limit_low",
        "The limit on open files allows fewer connections than the setting http.connections_max. Raise the limit "
        "(ulimit -n, or LimitNOFILE= in the systemd unit), or lower the setting.",
        {{"open_files_max", files}, {"configured", connections}, {"in_force", fitting}});
    connections = fitting;
}

Status Server::Parts::open_kafka() {
    if (options.kafka.bootstrap.empty()) return {};
    Kafka::ConfirmOwner confirm_owner;
    if (role.replication() != nullptr) confirm_owner = [this] { return role.replication()->confirm_owner(); };
    Result<std::unique_ptr<Kafka>> made =
        Kafka::open(loop, *shard, data.shard().engine(), options.kafka, options.shards.count, options.api,
                    data.instance(), std::move(confirm_owner), log);
    if (!made) return std::move(made).error();
    kafka = *std::move(made);
    shard->push_with(kafka->pusher());
    metrics->include(*kafka);
    return {};
}

Status Server::Parts::open_audit() {
    if (!options.audit_enabled) return {};
    const Result<std::uint64_t> volume = volume_bytes(audit_directory(options.data_directory));
    if (!volume) return volume.error();
    Result<std::unique_ptr<AuditTrail>> opened = AuditTrail::open(
        loop, options.data_directory, *volume, [this] { return shard->clock().server_ms; }, log);
    if (!opened) return std::move(opened).error();
    audit = *std::move(opened);
    return {};
}

Status Server::Parts::open_beanstalk() {
    if (options.beanstalk.listen.empty()) return {};
    Result<std::unique_ptr<Beanstalk>> opened =
        Beanstalk::open(loop, *shard, options.beanstalk, options.http, data.instance(), audit.get(),
                        io_thread_count(options.io_threads) > 0);
    if (!opened) {
        Error error = std::move(opened).error();
        if (error.code == "bad_address"_code)
            error.code = "bad_beanstalk_address"_code;  // that of HTTP is another setting
        if (error.code == "forbidden_group"_code) error.code = "bad_beanstalk_group"_code;
        const bool is_about_group = error.code == "bad_beanstalk_group"_code;
        error.message = (is_about_group ? "beanstalk.socket_group: " : "beanstalk.listen: ") + error.message;
        return error;
    }
    beanstalk = *std::move(opened);
    metrics->include(*beanstalk);
    if (requires_tokens(options)) {
        log.warning("beanstalk_without_tokens",
                    "The protocol of beanstalkd has no access tokens: its clients can use all queues of the namespace "
                    "default.",
                    {{"address", beanstalk->address()}});
    }
    return {};
}

// Accepts clients when the server can answer them.
Status Server::Parts::listen() {
    HttpApiOptions api_options = options.api;
    api_options.callers = caller_rules(options);
    if (options.shards.count > 1) {
        api_options.redirect = [this](const HttpRequest& request, const CallPath& call) -> std::optional<HttpResponse> {
            const auto number = shard_of_request(request, call, options.shards.count);
            if (!number || *number == options.shards.number) return std::nullopt;
            return redirect_to_owner(request, *number, role.url_of(*number));
        };
    }
    api_options.auth_required = requires_tokens(options);
    api_options.find_zone = [this](std::string_view name) { return shard->zones().find(name); };
    api_options.check_webhook = [this](const TargetOwner& owner, WebhookTarget& target) {
        return webhooks->accept(owner, target);
    };
    api_options.check_kafka = [this](std::string_view name_space, const KafkaTarget& target, bool is_administrator) {
        return check_kafka_target(options.kafka, name_space, target, is_administrator);
    };
    api_options.instance = data.instance();
    api_options.version = kVersion;
    api_options.disk_free_bytes = [this] { return shard->parts().space().seen().free_bytes; };
    api_options.contract = contract_text([this](std::string_view limit) { return find_limit(limit)->read(options); });
    api_options.audit = audit.get();
    api_options.recent_log = &log;
    if (role.replication() != nullptr) api_options.log_is_unavailable = [this] { return role.is_waiting(); };
    if (kafka) {
        api_options.kafka_stats = [this] {
            return kafka->stats(role.replication() != nullptr ? role.replication()->status() : KafkaLogStatus{});
        };
    }
    api_options.metrics = [this] {
        return metrics->page(http.counters(), api->access_refusals(), audit ? audit->counters() : AuditCounters(),
                             http.certificate_expires_in_ms());
    };
    api_options.readiness = [this] {
        Readiness readiness;
        readiness.ready = shard->is_serving() && !stop.begun;
        if (!shard->is_serving()) readiness.reasons.push_back("the first commit since the start is not durable yet");
        if (stop.begun) readiness.reasons.push_back("the server is stopping");
        if (shard->clock().state == ClockState::held) {
            readiness.reasons.push_back(
                "the wall clock is too far ahead, and server time continues without it until `duewheel clock accept`");
        } else if (shard->clock().state == ClockState::slow) {
            readiness.reasons.push_back("server time is ahead of the wall clock by " +
                                        format_duration(-shard->clock().ahead_ms() / 1000 * 1000) +
                                        ", and runs a tenth slower until the wall clock catches up");
        }
        if (role.is_waiting()) {
            readiness.ready = false;
            readiness.reasons.push_back("no broker acknowledges commits of the replicated log");
        }
        if (audit && !audit->is_available()) {
            readiness.reasons.push_back("the audit log cannot be written, and administrative requests are refused");
        }
        if (const std::optional<std::string> why = why_puts_are_refused()) {
            readiness.ready = false;
            readiness.reasons.push_back(*why);
        }
        return readiness;
    };
    api = std::make_unique<HttpApi>(*shard, std::move(api_options), log);
    if (Status accepting = http.accept(*api); !accepting) return accepting;
    if (requires_tokens(options) && data.shard().engine().tokens().size() == 0) {
        log.warning(
            "no_tokens",
            "The server requires access tokens and has none, so it refuses all requests. Stop it, and make one with "
            "`duewheel token add ID --admin --data DIR`.");
    }
    if (options.unsafe_plain_listen && !lack_of_defence(options).empty()) {
        log.warning("unsafe_listen", "The server may listen beyond loopback, and it " + lack_of_defence(options) + ".",
                    {{"address", http.address()}});
    }
    return {};
}

std::optional<std::string> Server::Parts::why_puts_are_refused() const {
    const SpaceWatch& space = shard->parts().space();
    if (!space.is_full()) return std::nullopt;
    return std::string(space.has_only_reserve()
                           ? "puts and moves are refused: the disk is full except for a reserve, with "
                           : "puts are refused: the disk is nearly full, with ") +
           std::to_string(space.seen().free_bytes) + " bytes free; puts are accepted again at " +
           std::to_string(space.resume_bytes()) + " bytes";
}

EventLoop::TimePoint Server::Parts::turn() {
    EventLoop::TimePoint next_work = shard->turn();
    next_work = std::min(next_work, http.run_due());
    if (audit) next_work = std::min(next_work, audit->run_due(monotonic_now_ns()));
    const std::int64_t expiry_ns = api->end_expired();
    if (expiry_ns != INT64_MAX) {
        next_work = std::min(next_work, EventLoop::TimePoint(std::chrono::nanoseconds(monotonic_now_ns() + expiry_ns)));
    }
    const std::int64_t events_ns = api->send_events(monotonic_now_ns());
    next_work = std::min(next_work, EventLoop::TimePoint(std::chrono::nanoseconds(events_ns)));
    if (role.replication() != nullptr) {
        const std::int64_t now_ns = monotonic_now_ns();
        role.replication()->report_waiting();
        if (role.is_waiting()) api->refuse_waiting(now_ns);
        next_work = std::min(next_work, EventLoop::TimePoint(std::chrono::nanoseconds(now_ns + kLogCheckNs)));
    }
    if (beanstalk) {
        next_work = std::min(next_work, beanstalk->run_due());
        if (shard->needs_turn()) next_work = EventLoop::kAtOnce;
    }
    if (!reports.was_ready && shard->is_serving()) {
        reports.was_ready = true;
        if (beanstalk)
            log.info("beanstalk_ready", "The server accepts clients of beanstalkd.",
                     {{"address", beanstalk->address()}});
        log.info("ready", "The server accepts requests.", {{"http", http.address()}});
        reports.to.ready();
        if (kafka) kafka->start_reading();
    }
    const EventLoop::TimePoint next = std::min(next_work, reports.report_alive());
    if (!stop.is_drained) return next;
    if (!beanstalk || beanstalk->is_over() || monotonic_now_ns() >= stop.by_ns) leave_when_idle();
    return std::min(next, EventLoop::TimePoint(std::chrono::nanoseconds(stop.by_ns)));
}

void Server::Parts::take_signal(int signal) {
    if (signal == SIGUSR1) return drain_beanstalk();
    if (signal != SIGHUP) return begin_stop(signal);
    if (http.reload()) return;
    log.info("nothing_to_reload", "SIGHUP reloads the TLS certificate, and the server has none.");
}

// As beanstalkd does, which clients know as the reply DRAINING.
void Server::Parts::drain_beanstalk() {
    if (!beanstalk) {
        return log.info("nothing_to_drain", "SIGUSR1 refuses puts of clients of beanstalkd, and the server has none.");
    }
    log.info("beanstalk_draining", "From now on puts of clients of beanstalkd are refused.");
    beanstalk->drain();
}

void Server::Parts::begin_stop(int signal) {
    if (std::exchange(stop.begun, true)) return;  // a second signal does not make it faster; kill -9 does, and is safe
    log.info("stopping", "The server is stopping. It answers the requests that it has received.", {{"signal", signal}});
    reports.to.stopping();
    if (kafka) kafka->stop();
    shard->stop_waiting();
    api->stop_events();
    if (beanstalk) beanstalk->stop();
    stop.by_ns = monotonic_now_ns() + std::chrono::nanoseconds(options.drain).count();
    http.drain(options.drain, [this] { stop.is_drained = true; });
}

// No client is connected any more, so every request has been answered. Records that still wait for the disk (of started
// attempts, and the final time) have until the deadline: a full disk must not prevent the process from stopping.
void Server::Parts::leave_when_idle() {
    if (shard->is_idle() && !std::exchange(stop.saves_time, true)) shard->save_time();
    if (!shard->is_idle() && monotonic_now_ns() < stop.by_ns) return;
    if (std::exchange(stop.saves_end, true)) return;
    if (audit) audit->finish();
    if (!shard->is_idle()) return loop.stop();  // what is written is not known
    shard->save_end([this] { loop.stop(); });
}

Server::Server() = default;

Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::open(const ServerOptions& options, LogSink& log,
                                             std::optional<Takeover> takeover) {
    auto server = std::unique_ptr<Server>(new Server);
    server->parts_ = std::make_unique<Parts>(options, log, std::move(takeover));
    if (Status opened = server->parts_->open(); !opened) return std::move(opened).error();
    return server;
}

std::string Server::http_address() const {
    return parts_->http.address();
}

std::string Server::beanstalk_address() const {
    return parts_->beanstalk ? parts_->beanstalk->address() : "";
}

void Server::run(Reports reports) {
    parts_->reports.to = std::move(reports);
    parts_->loop.on_signals({SIGTERM, SIGINT, SIGHUP, SIGUSR1}, [this](int signal) { parts_->take_signal(signal); });
    pass_end_signals();
    {
        const DiskForbidden on_this_thread;
        parts_->loop.run([this] { return parts_->turn(); });
    }
    if (LogReplication* const replication = parts_->role.replication()) replication->release();
    parts_->data.run().stop();
    parts_->log.info("stopped", "The server has stopped.");
}

}  // namespace duewheel
