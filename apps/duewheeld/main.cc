// The daemon: parse, build, run.
#include <cstdio>
#include <cstdlib>

#include <malloc.h>

#include <CLI/CLI.hpp>

#include "server/server.h"
#include "server/spdlog_sink.h"

namespace {

constexpr int kExitRefused = 1;

// Tables that grow and shrink with the load, and what sealing needs for a moment, go back to the system when they are
// freed. Left alone, the C library would learn from the first of them to keep such blocks for ever: 1 million pending
// messages then hold 140 MB instead of 70.
void return_large_blocks() {
    constexpr int kLargeBytes = 256 << 10;
    mallopt(M_MMAP_THRESHOLD, kLargeBytes);
    mallopt(M_TRIM_THRESHOLD, kLargeBytes);
    mallopt(M_ARENA_MAX, 2);
}

}  // namespace

int main(int argc, char** argv) {
    duewheel::ServerOptions options;
    std::uint64_t segment_megabytes = options.engine.segment_bytes >> 20;
    bool verbose = false;

    return_large_blocks();
    CLI::App app{"duewheeld keeps messages until they are due, on disk before it answers."};
    app.add_option("--data", options.data_directory, "Directory of the log and the index")
        ->envname("DUEWHEEL_DATA")
        ->capture_default_str();
    app.add_option("--http", options.http_address, "Address and port of the HTTP API; port 0 picks a free one")
        ->envname("DUEWHEEL_HTTP")
        ->capture_default_str();
    app.add_flag("--unsafe-plain-listen", options.unsafe_plain_listen,
                 "Allow another address than loopback although there is no TLS");
    app.add_option("--segment-megabytes", segment_megabytes, "Size of a segment of the log")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    app.add_option("--ready-max", options.engine.ready_max, "Due messages of one queue that are kept in memory")
        ->check(CLI::Range(1, 100'000'000))
        ->capture_default_str();
    app.add_flag("-v,--verbose", verbose, "Log debug events too");
    app.set_version_flag("--version", DUEWHEEL_VERSION);
    app.footer("Example:\n  duewheeld --data ./duewheel-data --http 127.0.0.1:7420");
    CLI11_PARSE(app, argc, argv);
    options.engine.segment_bytes = segment_megabytes << 20;

    duewheel::SpdlogSink log(verbose ? duewheel::LogLevel::debug : duewheel::LogLevel::info);
    duewheel::Result<std::unique_ptr<duewheel::Server>> server = duewheel::Server::open(options, log);
    if (!server) {
        log.error("cannot_start", server.error().message, {{"code", server.error().code}});
        return kExitRefused;
    }
    (*server)->run([&] {
        std::printf("ready http=%s\n", (*server)->http_address().c_str());
        std::fflush(stdout);
    });
    return EXIT_SUCCESS;
}
