// The load of the benchmarks: every run of load/load.h on the command line, the same program for every server it speaks
// to.
//
//   duewheel_load put    --server http://127.0.0.1:7420 --connections 64 --seconds 10 [--count N] [--pipeline 1] ...
//   duewheel_load fire   --server ... --rate 2000 --seconds 30 --connections 4 --takers 4
//
// and cycle, drain, cancel, ask. `--server beanstalk://127.0.0.1:11300` speaks beanstalkd's protocol instead (put and
// cancel only). An access token comes in DUEWHEEL_TOKEN. It prints one line of JSON.
#include "load/load.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include <CLI/CLI.hpp>

namespace {

using duewheel::Histogram;
using duewheel::LoadOptions;
using duewheel::LoadReport;
using duewheel::Result;

using RunFunction = Result<LoadReport> (*)(const LoadOptions&);

unsigned long long ull(std::uint64_t value) {
    return value;
}

void print_levels(const char* name, const Histogram& of) {
    std::printf("\"%s\":{\"p50\":%llu,\"p99\":%llu,\"p999\":%llu,\"max\":%llu},", name, ull(of.percentile(50'000)),
                ull(of.percentile(99'000)), ull(of.percentile(99'900)), ull(of.max()));
}

void print(const std::string& what, const LoadReport& report) {
    const std::uint64_t done = what == "put"      ? report.accepted
                               : what == "ask"    ? report.answered
                               : what == "cancel" ? report.accepted + report.acknowledged
                                                  : report.acknowledged;
    std::printf("{\"what\":\"%s\",\"seconds\":%.3f,\"per_second\":%.0f,\"accepted\":%llu,\"refused\":%llu,",
                what.c_str(), report.seconds, static_cast<double>(done) / report.seconds, ull(report.accepted),
                ull(report.refused));
    std::printf("\"taken\":%llu,\"acknowledged\":%llu,\"answered\":%llu,\"early\":%llu,", ull(report.taken),
                ull(report.acknowledged), ull(report.answered), ull(report.early));
    std::printf("\"behind\":%llu,\"first_taken_seconds\":%.3f,", ull(report.behind), report.first_taken_seconds);
    print_levels("took_us", report.took_us);
    print_levels("late_ms", report.late_ms);
    std::printf("\"client_cpu_seconds\":%.3f}\n", report.client_cpu_seconds);
}

}  // namespace

int main(int argc, char** argv) {
    const std::map<std::string, RunFunction> runs = {{"put", duewheel::load_put},       {"fire", duewheel::load_fire},
                                                     {"cycle", duewheel::load_cycle},   {"drain", duewheel::load_drain},
                                                     {"cancel", duewheel::load_cancel}, {"ask", duewheel::load_ask}};
    LoadOptions options;
    std::string queue = "load";
    std::string name_space = "default";
    std::string what;
    double seconds = 10;
    CLI::App app{"Load for a durable queue over loopback."};
    app.add_option("RUN", what, "put, fire, cycle, drain, cancel or ask")->required()->check(CLI::IsMember(runs));
    app.add_option("--server", options.server);
    app.add_option("--queue", queue);
    app.add_option("--namespace", name_space);
    app.add_option("--path", options.ask_path);
    app.add_option("--connections", options.connections);
    app.add_option("--takers", options.takers);
    app.add_option("--seconds", seconds);
    app.add_option("--count", options.count);
    app.add_option("--pipeline", options.pipeline);
    app.add_option("--delay-min-ms", options.delay_min_ms);
    app.add_option("--delay-max-ms", options.delay_max_ms);
    app.add_option("--due-ms", options.due_ms);
    app.add_option("--body", options.body_bytes);
    app.add_option("--groups", options.groups);
    app.add_option("--rate", options.rate);
    app.add_option("--batch", options.batch);
    app.add_option("--take-batch", options.take_batch);
    app.add_option("--seed", options.seed);
    CLI11_PARSE(app, argc, argv);
    if (const char* token = std::getenv("DUEWHEEL_TOKEN")) options.token = token;
    options.queue_path = "/v1/namespaces/" + name_space + "/queues/" + queue;
    options.run_ms = static_cast<std::int64_t>(seconds * 1000);
    const Result<LoadReport> run = runs.at(what)(options);
    if (!run) {
        std::fprintf(stderr, "duewheel_load: %s\n", run.error().message.c_str());
        return 1;
    }
    print(what, *run);
    if (run->refused > 0) std::fprintf(stderr, "refused: %s\n", run->refusal.c_str());
    return run->refused == 0 && run->early == 0 ? 0 : 1;
}
