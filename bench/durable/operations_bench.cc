// Operations of a shard, the same ones each time: the disk and the index are in memory, time is an argument, and there
// is one thread. Callgrind counts their instructions (bench/instructions.py), of which the part that counts runs in
// measured().
//
//   duewheel_operations_bench put|cancel|cycle|groups|cron|seal|start
//
// prints how many operations it did.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "durable/bench_shard.h"
#include "shared/random.h"
#include "support/memory_rows.h"
#include "support/sim_disk.h"

// Not inlined, so that callgrind finds it. The name has no parameters for the same reason.
extern "C" [[gnu::noinline]] void measured(const std::function<void()>& work) {
    work();
}

namespace {

using namespace duewheel;

constexpr DueMs kStart = 1'764'547'200'000;  // 2025-12-01, 00:00 UTC
constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kDayMs = 24 * 60 * kMinuteMs;
constexpr int kTurns = 50;
constexpr int kCommandsATurn = 100;
constexpr int kGroups = 1'000;
constexpr int kSchedules = 500;
constexpr int kMinutes = 10;
constexpr std::uint64_t kSmallSegmentBytes = 1 << 20;  // of a few thousand messages

class Bench {
  public:
    // A segment that is never full, if nothing else is said: an operation does not include sealing.
    explicit Bench(std::uint64_t segment_bytes = 64 << 20) {
        options_.engine.segment_bytes = segment_bytes;
        open();
    }

    void open() { shard_.emplace(disk_, "/data", rows_, retention_, options_); }
    void close() { shard_.reset(); }
    void seal() { shard_->seal(); }

    // Submits the commands and takes a turn; returns the replies.
    std::vector<Reply> turn(std::vector<Command> commands) {
        std::vector<Reply> replies;
        for (Command& command : commands) shard_->submit(std::move(command));
        shard_->turn(now_, [&](Reply& reply) {
            if (const auto* refused = std::get_if<Error>(&reply)) bench::fail(*refused);
            replies.push_back(std::move(reply));
        });
        return replies;
    }
    void pass(std::int64_t duration_ms) { now_ += duration_ms; }

    PutCommand message(std::int64_t delay_ms) {
        PutCommand command;
        command.queue = "work";
        command.when.delay_ms = delay_ms;
        command.body.resize(200);
        for (char& c : command.body) c = static_cast<char>(random_.next());
        return command;
    }
    std::vector<Command> puts(std::int64_t delay_min_ms, std::int64_t delay_max_ms, int groups = 0) {
        std::vector<Command> commands;
        for (int i = 0; i < kCommandsATurn; ++i) {
            PutCommand command = message(random_.between(delay_min_ms, delay_max_ms));
            if (groups > 0) command.group = "group" + std::to_string(random_.below(static_cast<std::uint64_t>(groups)));
            commands.emplace_back(std::move(command));
        }
        return commands;
    }
    // Leases what is due, up to a hundred messages, and acknowledges them; returns their number.
    int lease_and_ack() {
        LeaseCommand lease;
        lease.queue = "work";
        lease.max = kCommandsATurn;
        std::vector<Reply> leased = turn(one(std::move(lease)));
        std::vector<Command> acks;
        for (const Delivered& message : std::get<LeaseAnswer>(leased.at(0)).messages) {
            acks.emplace_back(AckCommand{message.lease});
        }
        const int count = static_cast<int>(acks.size());
        turn(std::move(acks));
        return count;
    }
    static std::vector<Command> one(Command command) {
        std::vector<Command> commands;
        commands.push_back(std::move(command));
        return commands;
    }

  private:
    ShardOptions options_;
    SimDisk disk_;
    MemoryRowStorage rows_;
    Retention retention_;
    Random random_{1};
    DueMs now_ = kStart;
    std::optional<bench::BenchShard> shard_;
};

// Messages for later.
int put() {
    Bench bench;
    for (int i = 0; i < kTurns; ++i) {
        std::vector<Command> commands = bench.puts(kDayMs / 24, kDayMs);
        measured([&] { bench.turn(std::move(commands)); });
        bench.pass(10);
    }
    return kTurns * kCommandsATurn;
}

// Messages for later that are cancelled a second later.
int cancel() {
    Bench bench;
    std::vector<std::vector<Command>> cancels;
    for (int i = 0; i < kTurns; ++i) {
        std::vector<Command> commands = bench.puts(kDayMs / 24, kDayMs);
        std::vector<Reply> replies;
        measured([&] { replies = bench.turn(std::move(commands)); });
        cancels.emplace_back();
        for (const Reply& reply : replies) {
            CancelCommand command;
            command.id = std::get<PutAnswer>(reply).id;
            cancels.back().emplace_back(std::move(command));
        }
        bench.pass(10);
    }
    for (std::vector<Command>& commands : cancels) {
        measured([&] { bench.turn(std::move(commands)); });
        bench.pass(10);
    }
    return kTurns * kCommandsATurn;
}

// Messages that are put, leased and acknowledged.
int cycle() {
    Bench bench;
    int acknowledged = 0;
    for (int i = 0; i < kTurns; ++i) {
        std::vector<Command> commands = bench.puts(0, 0);
        measured([&] {
            bench.turn(std::move(commands));
            acknowledged += bench.lease_and_ack();
        });
        bench.pass(10);
    }
    return acknowledged;
}

// The same in groups that take turns. All have limits, which they do not reach.
int groups() {
    Bench bench;
    ConfigureQueueCommand command;
    command.queue = "work";
    command.settings.group_leased_max = 10'000;
    command.settings.group_rate = RateRule{.count = 100'000, .burst = 100'000};
    bench.turn(Bench::one(std::move(command)));
    int acknowledged = 0;
    for (int i = 0; i < 2 * kTurns; ++i) {
        std::vector<Command> commands;
        if (i < kTurns) commands = bench.puts(0, 0, kGroups);
        measured([&] {
            bench.turn(std::move(commands));
            // A backlog of a thousand messages, so that groups wait for their turns.
            if (i >= 10) acknowledged += bench.lease_and_ack();
        });
        bench.pass(10);
    }
    return acknowledged;
}

// Runs of schedules that come every minute, leased and acknowledged.
int cron() {
    Bench bench;
    const TimesRule times{.kind = TimesKind::cron, .text = "* * * * *"};
    for (int i = 0; i < kSchedules; ++i) {
        ScheduleRule rule;
        rule.times = times;
        rule.queue = "work";
        PutScheduleCommand command{
            .name = "schedule" + std::to_string(i), .rule = rule, .times = *ScheduleTimes::make(times, &Zone::load)};
        command.body = std::string(100, 'x');
        bench.turn(Bench::one(std::move(command)));
    }
    int acknowledged = 0;
    for (int minute = 0; minute < kMinutes; ++minute) {
        bench.pass(kMinuteMs);
        measured([&] {
            for (int idle = 0; idle < 2;) {
                const int leased = bench.lease_and_ack();
                acknowledged += leased;
                if (leased == 0) ++idle;
            }
        });
    }
    return acknowledged;
}

// Messages of segments that are sealed when they are full.
int seal() {
    Bench bench(kSmallSegmentBytes);
    for (int i = 0; i < kTurns; ++i) {
        bench.turn(bench.puts(kDayMs / 24, kDayMs));
        measured([&] { bench.seal(); });
        bench.pass(10);
    }
    return kTurns * kCommandsATurn;
}

// Messages that a start finds: some in the index, some in the end of the log.
int start() {
    Bench bench(kSmallSegmentBytes);
    for (int i = 0; i < kTurns; ++i) {
        bench.turn(bench.puts(kDayMs / 24, kDayMs));
        bench.seal();
        bench.pass(10);
    }
    bench.close();
    measured([&] { bench.open(); });
    return kTurns * kCommandsATurn;
}

}  // namespace

int main(int argc, char** argv) {
    const std::map<std::string, int (*)()> operations = {{"put", put},       {"cancel", cancel}, {"cycle", cycle},
                                                         {"groups", groups}, {"cron", cron},     {"seal", seal},
                                                         {"start", start}};
    const auto found = argc == 2 ? operations.find(argv[1]) : operations.end();
    if (found == operations.end()) {
        std::fprintf(stderr, "usage: %s put|cancel|cycle|groups|cron|seal|start\n", argv[0]);
        return 2;
    }
    std::printf("%d\n", found->second());
    return 0;
}
