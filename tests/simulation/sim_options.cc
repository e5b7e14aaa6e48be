#include "simulation/sim_options.h"

#include <algorithm>
#include <iterator>

#include "shared/random.h"
#include "simulation/sim_placement.h"

namespace duewheel {
namespace {

constexpr std::string_view kOpNames[kOpCount] = {
    "put",       "get",     "cancel",   "reschedule", "fire",     "lease",      "lease_wait", "ack",
    "fail",      "extend",  "release",  "repeat",     "forge",    "forget",     "burst",      "collide",
    "expire",    "list",    "queue",    "hold",       "kick",     "hold_lease", "redrive",    "put_batch",
    "end_batch", "discard", "loop",     "schedule",   "transact", "watchdog",   "limit",      "hook",
    "view",      "backup",  "forecast", "token",      "input",    "topic",      "take",       "group"};
constexpr std::string_view kFaultNames[kFaultCount] = {
    "kill",         "power_cut",  "cut_in_call",    "kill_in_call", "failed_sync", "failed_write",
    "failed_read",  "disk_full",  "tables_refused", "index_lost",   "clock_jump",  "clock_back",
    "slow_sealing", "slow_disk",  "slow_reads",     "damage",       "stop",        "wall_ahead",
    "wall_back",    "wall_drift", "takeover",       "owner_paused", "brokers",     "topic_lost"};

constexpr std::int64_t kKeepLongMs = 1000LL * 366 * 86'400'000;

template <class T, std::size_t N>
T pick(Random& random, const T (&values)[N]) {
    return values[random.below(N)];
}

void draw_workload(SimOptions& options, Random& random) {
    // Puts and leases are always on: without them nothing happens.
    constexpr std::uint32_t kUsual[] = {30, 6, 8, 8, 4, 14, 8, 18, 5, 4, 5, 5, 2, 3, 5, 8, 4, 12, 5, 5, 6, 3, 3, 10, 4};
    for (std::size_t op = 0; op < std::size(kUsual); ++op) {
        const bool needed = op == static_cast<std::size_t>(Op::put) || op == static_cast<std::size_t>(Op::lease);
        const bool on = random.chance(700'000);
        const std::uint32_t factor = pick<std::uint32_t>(random, {1, 1, 1, 2, 5});
        if (on || needed) options.op_weights[op] = kUsual[op] * factor;
    }
    options.queues = pick<std::uint32_t>(random, {1, 1, 2, 3, 6});
    options.body_bytes_max = pick<std::uint32_t>(random, {0, 50, 200, 700, 3000, 20'000});
    options.due_scale_ms =
        pick<std::int64_t>(random, {2, 20, 500, 5'000, 60'000, 600'000, 86'400'000, 9LL * 366 * 86'400'000});
    options.lease_scale_ms = pick<std::int64_t>(random, {1'000, 1'050, 5'000, 60'000, 3'600'000});
    options.put_burst_max = pick<std::uint32_t>(random, {1, 3, 10, 30});
    options.batch_max = pick<std::uint32_t>(random, {2, 2, 5, 20, 60});
}

void draw_faults(SimOptions& options, Random& random) {
    for (std::size_t fault = 0; fault <= static_cast<std::size_t>(Fault::damage); ++fault) {
        const bool lesser = fault == static_cast<std::size_t>(Fault::slow_sealing) ||
                            fault == static_cast<std::size_t>(Fault::slow_disk) ||
                            fault == static_cast<std::size_t>(Fault::slow_reads) ||
                            fault == static_cast<std::size_t>(Fault::damage);
        options.faults[fault] = random.chance(lesser ? 250'000 : 400'000);
    }
    options.crash_per_million = pick<std::uint32_t>(random, {0, 5'000, 10'000, 20'000, 50'000});
    if (options.has(Fault::slow_sealing)) options.seal_weight = 1;
    if (options.has(Fault::slow_disk)) options.commit_weight = 5;
    if (options.has(Fault::slow_reads)) options.read_weight = 5;
    options.clean_weight = pick<std::uint32_t>(random, {3, 40, 100});
    options.client_weight = pick<std::uint32_t>(random, {20, 40, 80});
    options.turn_per_million = pick<std::uint32_t>(random, {200'000, 700'000, 1'000'000});
}

void draw_engine(EngineOptions& engine, Random& random) {
    engine.segment_bytes = pick<std::uint64_t>(random, {8192, 9216, 12'288, 16'384, 32'768});
    engine.load_chunk = pick<std::uint32_t>(random, {1, 2, 5, 50});
    engine.ready_max = pick<std::uint32_t>(random, {1, 2, 5, 20, 1000});
    engine.sweep_chunk = pick<std::uint32_t>(random, {1, 3, 100});
    engine.fire_chunk = pick<std::uint32_t>(random, {1, 3, 1000});
    engine.crowd_messages = pick<std::uint64_t>(random, {1, 3, 20, 1000});
    engine.serve_chunk = pick<std::uint32_t>(random, {1, 3, 1000});
    engine.streams_from = pick<std::uint32_t>(random, {1, 3, 1000});
    engine.fresh_ms = pick<std::int64_t>(random, {0, 20, 1000});
    engine.apply_chunk = pick<std::uint32_t>(random, {1, 2, 5, 1000});
    engine.batch_operations_max = pick<std::uint32_t>(random, {1, 2, 5, 20, 1000});
    engine.batch_bytes_max = pick<std::size_t>(random, {1024, 4096, 1 << 20});
    engine.record_cache_bytes = pick<std::size_t>(random, {0, 2000, 20'000, 1 << 20});
    engine.lease_bytes_max = pick<std::size_t>(random, {100, 4000, 1 << 20});
    engine.unsealed_segments_max = pick<std::uint32_t>(random, {1, 2, 4});
    engine.cursor_records_max = pick<std::uint32_t>(random, {1, 2, 100, 1000});
    engine.window_min_ms = pick<std::int64_t>(random, {2, 50, 1000, 30'000});
    engine.window_max_ms = engine.window_min_ms * pick<std::int64_t>(random, {1, 4, 20});
    engine.window_entries_max = pick<std::uint32_t>(random, {2, 20, 1000});
    engine.leased_max = pick<std::uint32_t>(random, {2, 1000, 1000});
    engine.waiters_per_queue_max = pick<std::uint32_t>(random, {1, 10, 1000});
    engine.commands_waiting_max = pick<std::size_t>(random, {5, 1000, 1000});
    engine.queues_max = pick<std::uint32_t>(random, {3, 100, 100});
    engine.retry.attempts = pick<std::uint32_t>(random, {1, 2, 3, 10, 1'000'000});
    engine.retry.first_ms = pick<std::int64_t>(random, {1, 30, 1000});
    engine.retry.factor_permille = pick<std::uint32_t>(random, {1000, 1500, 2000});
    engine.retry.max_ms = engine.retry.first_ms * pick<std::int64_t>(random, {1, 5, 3600});
    engine.retry.jitter_permille = pick<std::uint32_t>(random, {0, 200, 1000});
    engine.dead_kept_ms = pick<std::int64_t>(random, {2'000, 60'000, 30LL * 24 * 3600 * 1000});
    engine.redrive_max = pick<std::uint64_t>(random, {1, 3, 1000});
    engine.redrive_chunk = pick<std::uint32_t>(random, {1, 2, 1000});
    engine.redrives_max = pick<std::uint32_t>(random, {1, 16, 16});
    engine.purge_chunk = pick<std::uint32_t>(random, {1, 3, 1000});
    engine.purge_walk = pick<std::uint32_t>(random, {1, 5, 10'000});
    engine.shard = pick<std::uint64_t>(random, {0, 0, 7, 1023});
    engine.list_chunk = pick<std::uint32_t>(random, {1, 3, 100, 32'768});
    engine.list_walk_max = pick<std::uint32_t>(random, {1, 2, 5, 1000});
    engine.listings_max = pick<std::uint32_t>(random, {1, 1000, 1000});
}

// When clocks are changed, forward and back, by an hour and by half of one.
struct ClockChange {
    std::string_view zone;
    std::int64_t at_ms;
};
constexpr ClockChange kClockChanges[] = {
    {"America/New_York", 1'710'054'000'000},    {"America/New_York", 1'730'613'600'000},
    {"Australia/Lord_Howe", 1'728'142'200'000}, {"Australia/Lord_Howe", 1'712'415'600'000},
    {"Europe/Oslo", 1'711'846'800'000},         {"Europe/Oslo", 1'729'990'800'000},
};

void draw_schedules(SimOptions& options, Random& random) {
    options.op_weights[static_cast<std::size_t>(Op::schedule)] = pick<std::uint32_t>(random, {0, 0, 6, 20, 60});
    options.schedules = pick<std::uint32_t>(random, {1, 2, 5, 5});
    const ClockChange& change = pick(random, kClockChanges);
    options.zone = change.zone;
    options.engine.schedules_max = pick<std::uint32_t>(random, {1, 3, 1000});
    options.engine.preview_max = pick<std::uint32_t>(random, {3, 3, 3, 1000});
    options.engine.run_on_time_ms = pick<std::int64_t>(random, {0, 5, 200, 5000});
    options.engine.runs_catch_up_max = pick<std::uint32_t>(random, {1, 3, 1000});
    options.engine.run_steps_max = pick<std::uint32_t>(random, {3, 100, 10'000});
    options.zones_change = random.chance(300'000);
    options.follows_clocks = random.chance(500'000) || options.zones_change;
    options.runs_overlap = random.chance(600'000);
    if (!options.has(Op::schedule)) return;
    // Some time before the clocks are changed, so that the run comes to it.
    constexpr std::int64_t kFourHoursMs = 4LL * 3600 * 1000;
    const std::int64_t before = std::min(2 * std::max(options.due_scale_ms, options.lease_scale_ms), kFourHoursMs);
    if (random.chance(700'000)) options.start_ms = change.at_ms - random.between(0, before);
    // One whose queue cannot have a name waits forever.
    options.queues = std::min(options.queues, options.engine.queues_max);
}

void draw_watchdogs(SimOptions& options) {
    Random random(options.seed ^ 0x3a7c4d06);
    options.op_weights[static_cast<std::size_t>(Op::watchdog)] = pick<std::uint32_t>(random, {0, 0, 6, 20, 60});
    options.watchdogs = pick<std::uint32_t>(random, {1, 2, 5});
    options.engine.watchdogs_max = pick<std::uint32_t>(random, {1, 3, 1000});
    options.engine.firings_max = pick<std::uint32_t>(random, {1, 2, 256});
    // One whose queue cannot have a name waits forever.
    if (options.has(Op::watchdog)) options.queues = std::min(options.queues, options.engine.queues_max);
}

// One run in eight has two shards.
void draw_shards(SimOptions& options) {
    Random random(options.seed ^ 0x5a4d5);
    if (!random.chance(125'000)) return;
    options.shards = 2;
    options.faults[static_cast<std::size_t>(Fault::takeover)] = random.chance(800'000);
    options.faults[static_cast<std::size_t>(Fault::owner_paused)] = random.chance(500'000);
    options.faults[static_cast<std::size_t>(Fault::brokers)] = random.chance(500'000);
    options.faults[static_cast<std::size_t>(Fault::topic_lost)] = random.chance(200'000);
}

// What came later is drawn by itself, so that seeds go on meaning what they meant.
void draw_later_ones(SimOptions& options) {
    Random random(options.seed ^ 0xd15ca8d);
    options.op_weights[static_cast<std::size_t>(Op::discard)] = pick<std::uint32_t>(random, {0, 0, 4, 12});
    options.lists_queues = random.chance(500'000);
    options.reuses_keys = options.keyed_per_million > 0 && random.chance(300'000);
    if (options.reuses_keys) options.keep_ms = pick<std::int64_t>(random, {20, 5'000, 3'600'000});
    options.engine.keys_kept_ms = options.keep_ms;
    options.op_weights[static_cast<std::size_t>(Op::loop)] = pick<std::uint32_t>(random, {0, 0, 4, 10, 40});
    options.engine.spawn_chunk = pick<std::uint32_t>(random, {1, 2, 5, 100});
    options.engine.spawn_recurring = pick<std::uint32_t>(random, {1, 2, 256});
    // Not so short that those that wait in a full queue never come to rest, where a turn touches one timer.
    options.engine.spawn_again_ms = pick<std::int64_t>(random, {200, 1000, 5000});
    options.engine.repeat_times_max = pick<std::uint64_t>(random, {4, 1'000'000'000, 1'000'000'000});
    draw_schedules(options, random);
    options.op_weights[static_cast<std::size_t>(Op::transact)] = pick<std::uint32_t>(random, {0, 0, 6, 20, 60});
    options.engine.check_times_max = pick<std::uint32_t>(random, {4, 1000});
    options.engine.overdue_prepared_max = pick<std::uint32_t>(random, {1, 3, 1000});
    draw_watchdogs(options);
    Random limits(options.seed ^ 0x11a175ace);
    options.op_weights[static_cast<std::size_t>(Op::limit)] = pick<std::uint32_t>(limits, {0, 0, 0, 3, 10});
    options.engine.namespaces_max = pick<std::uint32_t>(limits, {1, 10'000, 10'000});
    Random hooks(options.seed ^ 0x3eb4001c5);
    options.op_weights[static_cast<std::size_t>(Op::hook)] = pick<std::uint32_t>(hooks, {0, 0, 0, 4, 15});
    options.webhooks.connections_max = pick<std::size_t>(hooks, {1, 2, 5, 1000});
    options.webhooks.bytes_in_flight_max = pick<std::size_t>(hooks, {100, 4000, 64u << 20});
    options.webhooks.concurrency = pick<std::uint32_t>(hooks, {1, 3, 64});
    options.webhooks.timeout_ms = pick<std::int64_t>(hooks, {1'000, 15'000});
    options.webhooks.retry_after_max_ms = pick<std::int64_t>(hooks, {1'000, 3'600'000});
    Random views(options.seed ^ 0x71e35);
    options.op_weights[static_cast<std::size_t>(Op::view)] = pick<std::uint32_t>(views, {0, 0, 0, 0, 2, 6});
    Random backups(options.seed ^ 0xbac09);
    options.op_weights[static_cast<std::size_t>(Op::backup)] = pick<std::uint32_t>(backups, {0, 0, 0, 0, 1, 3});
    Random forecasts(options.seed ^ 0xf04eca57);
    options.op_weights[static_cast<std::size_t>(Op::forecast)] = pick<std::uint32_t>(forecasts, {0, 0, 0, 4, 40});
    options.engine.forecast_minutes_max = pick<std::uint32_t>(forecasts, {3, 1440});
    options.engine.forecast_chunk = pick<std::uint32_t>(forecasts, {1, 3, 4096});
    options.engine.forecast_walk_max = pick<std::uint64_t>(forecasts, {3, 50, 1'000'000});
    options.engine.forecast_runs_max = pick<std::uint32_t>(forecasts, {2, 10'000});
    Random tokens(options.seed ^ 0x70cec5);
    options.op_weights[static_cast<std::size_t>(Op::token)] = pick<std::uint32_t>(tokens, {0, 0, 0, 5, 25});
    Random inputs(options.seed ^ 0x1b907);
    options.op_weights[static_cast<std::size_t>(Op::input)] = pick<std::uint32_t>(inputs, {0, 0, 0, 10, 40});
    options.inputs = pick<std::uint32_t>(inputs, {1, 1, 3});
    Random topics(options.seed ^ 0x70b1c);
    options.op_weights[static_cast<std::size_t>(Op::topic)] = pick<std::uint32_t>(topics, {0, 0, 0, 4, 15});
    options.kafka.batch_max = pick<std::size_t>(topics, {1, 3, 8, 1000});
    options.kafka.bytes_max = pick<std::size_t>(topics, {100, 4000, 64u << 20});
    Random takes(options.seed ^ 0x7a4e5);
    options.op_weights[static_cast<std::size_t>(Op::take)] = pick<std::uint32_t>(takes, {0, 0, 0, 5, 20});
    Random groups(options.seed ^ 0x6209b5);
    options.op_weights[static_cast<std::size_t>(Op::group)] = pick<std::uint32_t>(groups, {0, 0, 0, 20, 200});
    Random clocks(options.seed ^ 0xc10c5);
    options.faults[static_cast<std::size_t>(Fault::stop)] = clocks.chance(400'000);
    options.faults[static_cast<std::size_t>(Fault::wall_ahead)] = clocks.chance(250'000);
    options.faults[static_cast<std::size_t>(Fault::wall_back)] = clocks.chance(250'000);
    options.faults[static_cast<std::size_t>(Fault::wall_drift)] = clocks.chance(150'000);
    options.on_clock_jump = clocks.chance(300'000) ? ClockJump::accept : ClockJump::hold;
    options.test_clock = clocks.chance(60'000);
    // A crash between the commits of one request's puts, which must not be two, is met where there are many of them.
    Random batches(options.seed ^ 0xba7c4e5);
    if (batches.chance(200'000)) options.op_weights[static_cast<std::size_t>(Op::put_batch)] *= 10;
    draw_shards(options);
}

}  // namespace

std::string_view op_name(Op op) {
    return kOpNames[static_cast<std::size_t>(op)];
}
std::string_view fault_name(Fault fault) {
    return kFaultNames[static_cast<std::size_t>(fault)];
}

SimOptions draw_options(std::uint64_t seed, std::uint32_t steps) {
    Random random(seed ^ 0x5eed0f0b71045);
    SimOptions options;
    options.seed = seed;
    options.steps = steps;
    draw_workload(options, random);
    draw_faults(options, random);
    draw_engine(options.engine, random);
    options.spare_segments = pick<std::size_t>(random, {0, 1, 1, 2});
    options.reserve_segments = pick<std::size_t>(random, {0, 0, 2});
    options.keep_ms = pick<std::int64_t>(random, {10, 5'000, 86'400'000, kKeepLongMs});
    options.history.keep_ms =
        pick<std::int64_t>(random, {1'000, 86'400'000, 1000LL * 366 * 86'400'000, 1000LL * 366 * 86'400'000});
    options.history.bytes_max = pick<std::uint64_t>(random, {500, 10'000, 1u << 30, 1u << 30});
    options.reads_in_order = random.chance(500'000);
    options.check_every = pick<std::uint32_t>(random, {4, 16, 64});
    options.storms = random.chance(300'000);
    options.order_keys = pick<std::uint32_t>(random, {0, 0, 1, 2, 5});
    options.expiring_per_million = pick<std::uint32_t>(random, {0, 0, 100'000, 500'000});
    options.free_floor_bytes = pick<std::uint64_t>(random, {0, 0, 8192, 40'000});
    // Where time may jump past the end of a key's life between a request and its answer, a repeat may be a new message.
    options.keyed_per_million = pick<std::uint32_t>(random, {0, 0, 200'000, 700'000});
    if (options.keyed_per_million > 0) options.keep_ms = kKeepLongMs;
    options.engine.keys_kept_ms = options.keep_ms;
    options.queues_have_rules = random.chance(300'000);
    options.failing_per_million = pick<std::uint32_t>(random, {0, 0, 300'000, 800'000});
    draw_later_ones(options);
    return options;
}

SimOptions options_of_shard(const SimOptions& options, std::uint32_t shard) {
    constexpr std::uint64_t kSecondShard = std::uint64_t{1} << 40;
    SimOptions own = options;
    own.seed = shard == 0 ? options.seed : options.seed ^ kSecondShard;
    own.shard = shard;
    own.engine.shard = shard;
    own.name_spaces = namespaces_of_shard(shard, options.shards);
    own.steps = std::max<std::uint32_t>(options.steps / options.shards, 1);
    return own;
}

bool switch_off(SimOptions& options, std::string_view name) {
    for (std::size_t op = 0; op < kOpCount; ++op) {
        if (kOpNames[op] == name) return options.op_weights[op] = 0, true;
    }
    for (std::size_t fault = 0; fault < kFaultCount; ++fault) {
        if (kFaultNames[fault] == name) return options.faults[fault] = false, true;
    }
    return false;
}

std::vector<std::string_view> switched_on(const SimOptions& options) {
    std::vector<std::string_view> names;
    for (std::size_t op = 0; op < kOpCount; ++op) {
        if (options.op_weights[op] != 0) names.push_back(kOpNames[op]);
    }
    for (std::size_t fault = 0; fault < kFaultCount; ++fault) {
        if (options.faults[fault]) names.push_back(kFaultNames[fault]);
    }
    return names;
}

}  // namespace duewheel
