// The parts of a shard without sockets: fills a data directory, opens it again, throws the index away and opens it once
// more. Prints one line of JSON: rates of put, replay and rebuild, memory and disk.
//
//   duewheel_shard_bench --data DIR --count 1000000 [--body 200]
#include <cstdio>
#include <cstdlib>
#include <string>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "durable/bench_shard.h"
#include "shared/random.h"
#include "shared/system_clock.h"
#include "store/rocks_rows.h"

namespace {

using namespace duewheel;

constexpr std::int64_t kDayMs = 24LL * 3600 * 1000;
constexpr int kPutsATurn = 4096;

struct Opened {
    explicit Opened(const std::string& directory)
        : rows(posix_file_system(), directory + "/index",
               [this](std::string_view key, std::string_view value) { return has_row_expired(retention, key, value); }),
          shard(posix_file_system(), directory, rows, retention) {}

    void turn(DueMs now) {
        shard.turn(now, [this](Reply&) { ++replies; });
        const std::int64_t start = monotonic_now_ns();
        shard.seal();
        seal_ns += monotonic_now_ns() - start;
    }

    Retention retention;
    RocksRowStorage rows;
    bench::BenchShard shard;
    std::uint64_t replies = 0;
    std::int64_t seal_ns = 0;
};

double seconds_since(std::int64_t start_ns) {
    return static_cast<double>(monotonic_now_ns() - start_ns) / 1e9;
}

double resident_megabytes() {
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    long pages = 0;
    long resident = 0;
    if (file == nullptr || std::fscanf(file, "%ld %ld", &pages, &resident) != 2) return 0;
    std::fclose(file);
    return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
    std::string directory;
    std::uint64_t count = 1'000'000;
    std::size_t body_bytes = 200;
    CLI::App app{"Fills, opens and rebuilds the parts of a shard."};
    app.add_option("--data", directory)->required();
    app.add_option("--count", count);
    app.add_option("--body", body_bytes);
    CLI11_PARSE(app, argc, argv);

    Random random(1);
    double put_seconds = 0;
    double seal_seconds = 0;
    double resident_filled = 0;
    DueMs now = wall_now_ms();
    {
        Opened shard(directory);
        const std::int64_t start = monotonic_now_ns();
        std::uint64_t put = 0;
        while (shard.replies < count) {
            for (int i = 0; i < kPutsATurn && put < count; ++i, ++put) {
                PutCommand command;
                command.queue = "load";
                command.when.delay_ms = random.between(kDayMs / 24, kDayMs);
                command.body.resize(body_bytes);
                for (char& c : command.body) c = static_cast<char>(random.next());
                shard.shard.submit(std::move(command));
            }
            shard.turn(now = std::max(now, wall_now_ms()));
        }
        put_seconds = seconds_since(start);
        seal_seconds = static_cast<double>(shard.seal_ns) / 1e9;
        for (int i = 0; i < 2000; ++i) shard.turn(++now);  // lets the sweep finish
        resident_filled = resident_megabytes();
    }
    std::int64_t start = monotonic_now_ns();
    double reopen_seconds = 0;
    std::uint64_t replayed = 0;
    std::uint64_t log_bytes = 0;
    std::uint64_t index_bytes = 0;
    {
        Opened shard(directory);
        shard.turn(++now);
        reopen_seconds = seconds_since(start);
        replayed = shard.shard.parts().recovery().replayed_records;
        log_bytes = shard.shard.parts().journal().room().used_bytes;
        for (const SegmentSummary& segment : shard.shard.parts().journal().catalog().list()) {
            if (segment.closed) log_bytes += segment.bytes;
        }
        index_bytes = shard.shard.parts().index().bytes();
    }
    if (Status removed = posix_file_system().remove_tree(directory + "/index"); !removed) bench::fail(removed.error());
    start = monotonic_now_ns();
    Opened rebuilt(directory);
    const double rebuild_seconds = seconds_since(start);
    const auto ull = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    std::printf(
        "{\"count\":%llu,\"put_per_second\":%.0f,\"seal_seconds\":%.2f,\"resident_mb\":%.0f,\"reopen_seconds\":%.3f,"
        "\"replayed\":%llu,\"rebuild_seconds\":%.2f,\"rebuild_per_second\":%.0f,\"log_mb\":%.0f,\"index_mb\":%.0f}\n",
        ull(count), static_cast<double>(count) / put_seconds, seal_seconds, resident_filled, reopen_seconds,
        ull(replayed), rebuild_seconds, static_cast<double>(count) / rebuild_seconds,
        static_cast<double>(log_bytes) / 1e6, static_cast<double>(index_bytes) / 1e6);
    return 0;
}
