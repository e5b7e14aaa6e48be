// The options of one simulated run, all derived from its seed: first which operations and which faults happen in it at
// all. One run with everything turned on finds less than many runs with different selections, because what always
// happens hides what it disturbs.
//
// A violation is reduced by turning operations and faults off, one by one, and by taking fewer steps; neither changes
// the other options.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/engine_options.h"
#include "kafka/out/kafka_batch.h"
#include "message/server_time.h"
#include "store/history.h"
#include "webhooks/webhook_options.h"

namespace duewheel {

// What clients do. The order is part of what a seed means: append only.
enum class Op : std::uint8_t {
    put,
    get,
    cancel,
    reschedule,
    fire,
    lease,
    lease_wait,
    ack,
    fail,
    extend,
    release,
    repeat,   // a request once more, as after a lost reply
    forge,    // a token that was not issued, or an id that is not there
    forget,   // the client of a lease is gone
    burst,    // several commands on one message before the engine has a turn
    collide,  // a command at the very millisecond of a due time or of a lease's end, or one beside it
    expire,   // time goes on to the end of a lease
    list,     // a page of a queue: the next one of a listing that has begun, or a first one
    queue,    // a queue is paused, resumed, purged, set, asked about, or its settings removed
    hold,
    kick,
    hold_lease,
    redrive,
    put_batch,  // many puts in one request
    end_batch,  // many leases end or are extended with one request
    discard,    // a dead letter, or those of a queue, end for good
    loop,       // a message that comes again and again is put, or changed at the time of its next occurrence
    schedule,   // a schedule is put, changed, paused, fired or looked at, also at the time of its next run
    transact,   // a message is put in a transaction, committed, or rolled back, also when its producer is asked
    watchdog,   // a watchdog is put, fed, removed or looked at, also at the time at which it fires
    limit,      // a namespace is limited, freed of its limits, or looked at
    hook,       // a queue gets a webhook, another one, or none
    view,       // the log is read beside the process, and exported
    backup,     // it is copied beside the process, and a server starts on what is restored
    forecast,   // of a queue, or of all
    token,      // an access token is set, rotated, removed or looked at; and other commands come with limits
    input,      // records of an input are taken, also again, by two readers, and from another position
    topic,      // a queue gets a Kafka topic, another one, or none
    take,       // a message is leased by its id; and the ends of leases change priorities
    group,      // a queue and its groups get limits and rates, and many messages of one group
};
inline constexpr std::size_t kOpCount = 40;

// What goes wrong. Append only.
enum class Fault : std::uint8_t {
    kill,            // the process dies between two steps; what the operating system holds stays
    power_cut,       // between two steps: what was not synced may be lost
    cut_in_call,     // the power goes inside a call of the disk, whichever step makes it
    kill_in_call,    // the process dies inside a call of the disk
    failed_sync,     // the process must stop
    failed_write,    // the process must stop
    failed_read,     // the process must stop
    disk_full,       // another program fills the disk and makes room again: puts are refused, tables and segments wait
    tables_refused,  // sealing waits
    index_lost,      // the index is empty after a restart
    clock_jump,      // the machine is suspended, for as long as may be; or the clock of a test is advanced
    clock_back,      // what the engine is told goes back; it must not mind
    slow_sealing,    // until puts are held back
    slow_disk,       // commits take long
    slow_reads,      // answers come late, and are out of date
    damage,          // at the very end: a byte of the log is turned, which must be found
    stop,            // the process is told to stop, and comes to an end by itself
    wall_ahead,      // the wall clock is set ahead, also while nothing runs
    wall_back,       // likewise, back
    wall_drift,      // it runs faster or slower than it should
    // Faults of a run with two shards.
    takeover,      // the standby node takes over, also while the owner is alive
    owner_paused,  // the owner goes on after it has been replaced, and its clients still send requests
    brokers,       // calls to them are slow, fail, or take place without a response
    topic_lost,    // the topic loses acknowledged records: the owner must stop
};
inline constexpr std::size_t kFaultCount = 24;

std::string_view op_name(Op op);
std::string_view fault_name(Fault fault);

struct SimOptions {
    std::uint64_t seed = 0;
    std::uint32_t steps = 400;
    std::array<std::uint32_t, kOpCount> op_weights{};
    std::array<bool, kFaultCount> faults{};

    EngineOptions engine;
    WebhookOptions webhooks;
    KafkaOutOptions kafka;
    std::size_t spare_segments = 1;
    std::size_t reserve_segments = 0;
    std::uint64_t free_floor_bytes = 0;
    std::int64_t keep_ms = 0;  // of outcomes
    HistoryBounds history;

    // Two: each has a log in a Kafka topic, and two nodes; `shard` is then one of them (two_shards.h).
    std::uint32_t shards = 1;
    std::uint32_t shard = 0;
    std::array<std::string, 2> name_spaces{"default", "other"};

    std::uint32_t queues = 1;
    std::uint32_t body_bytes_max = 0;
    std::int64_t due_scale_ms = 0;    // dues are mostly nearer than this
    std::int64_t lease_scale_ms = 0;  // and so long are leases
    std::uint32_t put_burst_max = 1;
    std::uint32_t batch_max = 2;  // puts of one request, leases of one
    bool reads_in_order = true;
    std::uint32_t order_keys = 0;            // how many there are; 0: no message has one
    std::uint32_t expiring_per_million = 0;  // of puts
    std::uint32_t keyed_per_million = 0;     // puts with an idempotency key
    bool queues_have_rules = false;          // for retries and leases
    std::uint32_t failing_per_million = 0;   // of what consumers would acknowledge
    bool lists_queues = false;
    std::uint32_t schedules = 1;                // names of them
    std::uint32_t watchdogs = 1;                // likewise
    std::uint32_t inputs = 1;                   // likewise
    std::int64_t start_ms = 1'700'000'000'000;  // when the clock begins: where there are schedules, mostly before
    std::string_view zone;                      // the clocks of this zone are changed
    bool zones_change = false;                  // zone data, over restarts
    bool follows_clocks = false;                // most schedules are told times of day, in that zone
    bool runs_overlap = true;                   // else no schedule allows it, and nobody fires one by hand
    ClockJump on_clock_jump = ClockJump::hold;
    bool test_clock = false;   // server time is moved by command
    bool reuses_keys = false;  // puts with keys are sent again also when their keys may be free by then

    // How eagerly each kind of step is chosen.
    std::uint32_t client_weight = 40;
    std::uint32_t clock_weight = 25;
    std::uint32_t commit_weight = 60;
    std::uint32_t read_weight = 60;
    std::uint32_t seal_weight = 40;
    std::uint32_t clean_weight = 40;
    std::uint32_t crash_per_million = 0;
    bool storms = false;                       // deaths come in groups
    std::uint32_t turn_per_million = 700'000;  // after something happened
    std::uint32_t check_every = 1;
    bool trace = false;  // tells each step and each record on standard error

    bool has(Fault fault) const { return faults[static_cast<std::size_t>(fault)]; }
    bool has(Op op) const { return op_weights[static_cast<std::size_t>(op)] != 0; }
};

SimOptions draw_options(std::uint64_t seed, std::uint32_t steps);
// Options of one of two shards: with clients, namespaces and faults of its own, and half of the steps.
SimOptions options_of_shard(const SimOptions& options, std::uint32_t shard);

// Switches the operation or fault of this name off; false where there is none of that name.
bool switch_off(SimOptions& options, std::string_view name);
// All that is on, by name.
std::vector<std::string_view> switched_on(const SimOptions& options);

}  // namespace duewheel
