// duewheel bench: measures a server, usually on the same machine. It uses a separate queue and reports the messages
// that it leaves there. If client and server share the processors, a figure is the result of both; docs/command_line.md
// says how to read it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "arguments.h"
#include "base/error_codes.h"
#include "calendar/duration.h"
#include "load/load.h"
#include "local_time.h"
#include "plain_text.h"
#include "shared/system_clock.h"
#include "verbs.h"

namespace duewheel {
namespace {

namespace json = boost::json;

struct BenchArguments {
    std::string queue = "bench";
    std::string time = "10s";
    std::uint64_t connections = 4;
    std::uint64_t takers = 4;
    std::uint64_t batch = 0;
    std::uint64_t rate = 2000;
    std::uint64_t body_bytes = 200;
};

Result<LoadOptions> options_of(const Session& session, const BenchArguments& arguments) {
    const Result<HttpClientOptions> server = session.server.client_options();
    if (!server) return server.error();
    LoadOptions options;
    options.server = server->server;
    options.token = server->token;
    options.queue_path = session.path("queues", arguments.queue);
    options.connections = arguments.connections;
    options.takers = arguments.takers;
    options.run_ms = parse_duration(arguments.time).value();
    options.body_bytes = arguments.body_bytes;
    options.rate = arguments.rate;
    options.seed = static_cast<std::uint64_t>(monotonic_now_ns());
    return options;
}

std::string whole(double number) {
    return std::to_string(std::llround(number));
}

json::object levels(const Histogram& of) {
    return {{"p50", of.percentile(50'000)},
            {"p99", of.percentile(99'000)},
            {"p999", of.percentile(99'900)},
            {"max", of.max()}};
}

std::string shown_us(const Histogram& of) {
    const auto ms = [](std::uint64_t micros) {
        std::array<char, 32> text;
        std::snprintf(text.data(), text.size(), "%.1f ms", static_cast<double>(micros) / 1000);
        return std::string(text.data());
    };
    return "median " + ms(of.percentile(50'000)) + ", 99 % " + ms(of.percentile(99'000)) + ", max " + ms(of.max());
}

std::string shown_ms(const Histogram& of) {
    return "median " + std::to_string(of.percentile(50'000)) + " ms, 99 % " + std::to_string(of.percentile(99'000)) +
           " ms, max " + std::to_string(of.max()) + " ms";
}

// Prints the report; a refusal if a promise was broken.
int show_report(const Session& session, const Result<LoadReport>& run, const Rows& rows, double per_second) {
    if (!run)
        return session.complain(run.error(), run.error().code == "refused"_code ? kExitRefused : kExitUnreachable);
    if (session.json) {
        const json::object members = {{"seconds", run->seconds},
                                      {"per_second", std::llround(per_second)},
                                      {"accepted", run->accepted},
                                      {"refused", run->refused},
                                      {"taken", run->taken},
                                      {"acknowledged", run->acknowledged},
                                      {"early", run->early},
                                      {"request_us", levels(run->took_us)},
                                      {"late_ms", levels(run->late_ms)},
                                      {"client_cpu_seconds", run->client_cpu_seconds}};
        std::printf("%s\n", plain_json(members).c_str());
    } else {
        std::printf("%s", fields(rows).c_str());
    }
    if (run->refused > 0) {
        return session.complain(
            {"refused"_code, std::to_string(run->refused) + " puts were refused; the first one: " + run->refusal},
            kExitRefused);
    }
    return run->early == 0 ? kExitDone
                           : session.complain({"early"_code, "messages were delivered early"}, kExitRefused);
}

// The messages that a run leaves in its queue, for the report.
std::string left_behind(const BenchArguments& arguments, std::uint64_t messages) {
    if (messages == 0) return "nothing";
    return std::to_string(messages) + " messages in the queue " + printable(arguments.queue);
}

int bench_put(Session& session, const BenchArguments& arguments) {
    const Result<LoadOptions> common = options_of(session, arguments);
    if (!common) return session.complain(common.error(), kExitUsage);
    LoadOptions options = *common;
    options.batch = arguments.batch == 0 ? 500 : arguments.batch;
    const Result<LoadReport> run = load_put(options);
    if (!run) return show_report(session, run, {}, 0);
    const double per_second = static_cast<double>(run->accepted) / run->seconds;
    return show_report(session, run,
                       {{"puts per second", whole(per_second) + ", each on disk before its response"},
                        {"request", shown_us(run->took_us) + ", " + std::to_string(options.batch) + " messages each"},
                        {"puts", std::to_string(run->accepted)},
                        {"left behind", left_behind(arguments, run->accepted) + "; `duewheel queue purge` ends them"}},
                       per_second);
}

int bench_fire(Session& session, const BenchArguments& arguments) {
    const Result<LoadOptions> common = options_of(session, arguments);
    if (!common) return session.complain(common.error(), kExitUsage);
    LoadOptions options = *common;
    options.delay_min_ms = 1000;
    options.delay_max_ms = std::max<std::int64_t>(2000, options.run_ms);
    options.take_batch = arguments.batch == 0 ? 100 : arguments.batch;
    const Result<LoadReport> run = load_fire(options);
    if (!run) return show_report(session, run, {}, 0);
    const double per_second = static_cast<double>(run->taken) / run->seconds;
    return show_report(session, run,
                       {{"lateness", shown_ms(run->late_ms) + ", measured with this machine's clock"},
                        {"early", std::to_string(run->early)},
                        {"put, leased", std::to_string(run->accepted) + ", " + std::to_string(run->taken)},
                        {"left behind", left_behind(arguments, run->accepted - run->acknowledged)}},
                       per_second);
}

int bench_cycle(Session& session, const BenchArguments& arguments) {
    const Result<LoadOptions> common = options_of(session, arguments);
    if (!common) return session.complain(common.error(), kExitUsage);
    LoadOptions options = *common;
    options.delay_min_ms = options.delay_max_ms = 0;
    options.batch = options.take_batch = arguments.batch == 0 ? 100 : arguments.batch;
    const Result<LoadReport> run = load_cycle(options);
    if (!run) return show_report(session, run, {}, 0);
    const double per_second = static_cast<double>(run->acknowledged) / run->seconds;
    return show_report(
        session, run,
        {{"cycles per second", whole(per_second) + ": put, leased and acknowledged, each on disk"},
         {"put request", shown_us(run->took_us) + ", " + std::to_string(options.batch) + " messages each"},
         {"cycles", std::to_string(run->acknowledged)},
         {"left behind", left_behind(arguments, run->accepted - run->acknowledged)}},
        per_second);
}

void add_options(Verb<BenchArguments>& verb, const char* batch) {
    BenchArguments& options = *verb.options;
    verb.app->add_option("--queue", options.queue, "A queue that no other client uses")->capture_default_str();
    CLI::Option* time = verb.app->add_option("--for", options.time, "How long to put messages")->capture_default_str();
    takes_duration(time);
    time->check(CLI::Validator(
        [](const std::string& text) {
            const Result<std::int64_t> parsed = parse_duration(text);
            return parsed && *parsed == 0 ? "a rate needs a duration to measure, such as 1s" : std::string();
        },
        ""));
    verb.app->add_option("--connections", options.connections, "Number of connections that put messages")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    verb.app->add_option("--batch", options.batch, batch)->check(CLI::Range(1, 1000));
    verb.app->add_option("--body", options.body_bytes, "Size of each message's body, in bytes")
        ->check(CLI::Range(0, 1 << 20))
        ->capture_default_str();
}

void add_takers(Verb<BenchArguments>& verb) {
    verb.app->add_option("--takers", verb.options->takers, "Number of connections that lease and acknowledge messages")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
}

}  // namespace

void add_bench(CLI::App& program, Session& session) {
    CLI::App& bench =
        add_group(program, "bench", "Measure a server from the same machine, over http:// and not https://",
                  "duewheel bench cycle --for 1s");
    Verb<BenchArguments> put(bench, session, "put", "Measure puts per second, of messages due in 1 to 24 hours",
                             "duewheel bench put --for 1s --connections 64 --batch 1", bench_put);
    add_options(put, "Messages per request; default 500, and 1 uses single puts");
    Verb<BenchArguments> fire(bench, session, "fire",
                              "Measure the lateness of messages that become due at a steady rate",
                              "duewheel bench fire --for 1s --rate 1000", bench_fire);
    add_options(fire, "Maximum number of messages per lease call; default 100");
    add_takers(fire);
    fire.app->add_option("--rate", fire.options->rate, "Messages per second")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    Verb<BenchArguments> cycle(bench, session, "cycle",
                               "Measure messages per second that are put, leased and acknowledged",
                               "duewheel bench cycle --for 1s", bench_cycle);
    add_options(cycle, "Messages per request; default 100");
    add_takers(cycle);
}

}  // namespace duewheel
