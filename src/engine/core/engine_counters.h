// What an engine counts, as plain values for metrics and statistics: counts since the start, and levels now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/commands/queue_totals.h"
#include "engine/core/log_space.h"
#include "message/message.h"
#include "store/store.h"

namespace duewheel {

// Counts since the start, and levels now. What happens in queues is counted there, and is the sum of all of them.
struct EngineCounters : QueueTotals {
    std::uint64_t accepted = 0;
    std::uint64_t fired = 0;  // became ready
    std::uint64_t rescheduled = 0;
    std::uint64_t held = 0;
    std::uint64_t requeued = 0;   // kicked or redriven
    std::uint64_t let_go = 0;     // dead ones that were kept long enough
    std::uint64_t discarded = 0;  // dead ones
    std::uint64_t commits = 0;
    std::uint64_t records = 0;
    std::uint64_t lookups = 0;
    std::uint64_t stale_answers = 0;
    std::uint64_t loaded = 0;
    std::uint64_t evicted = 0;
    std::uint64_t deferred = 0;
    std::uint64_t relocated = 0;
    std::uint64_t listed = 0;  // messages in pages
    std::uint64_t purged = 0;
    std::uint64_t spawned = 0;             // by loops, schedules and watchdogs
    std::uint64_t schedule_runs = 0;       // by their rules
    std::uint64_t schedule_runs_late = 0;  // of these: created late, after they were missed
    std::uint64_t schedule_manual_runs = 0;
    std::uint64_t schedule_times_skipped = 0;
    std::uint64_t schedule_times_merged = 0;
    std::uint64_t watchdog_feeds = 0;
    std::uint64_t watchdog_feeds_late = 0;  // of these: it had fired since it was fed, or was due
    std::uint64_t watchdog_firings = 0;
    std::uint64_t prepared = 0;  // put in transactions
    std::uint64_t committed = 0;
    std::uint64_t rolled_back = 0;
    std::uint64_t unanswered = 0;  // of these two: by the default
    std::uint64_t checks = 0;      // check messages

    std::uint64_t pending = 0;  // unfinished messages
    std::uint64_t ready = 0;    // in memory
    std::uint64_t leased = 0;
    std::uint64_t waiters = 0;
    std::uint64_t message_waits = 0;  // requests that wait for the end of a message
    std::uint64_t commands_waiting = 0;
    std::uint64_t waiting_bytes = 0;  // content of the puts among them
    std::uint64_t reading_bytes = 0;  // contents that are being read for GET requests
    std::uint64_t listings = 0;       // being made
    std::uint64_t in_memory = 0;
    std::uint64_t unsealed_segments = 0;
    std::uint64_t queues = 0;
    std::uint64_t queue_names = 0;  // that count against queues_max: also those that are about to be forgotten
    std::uint64_t schedules = 0;
    std::uint64_t watchdogs = 0;
    std::uint64_t namespaces = 0;      // that have settings
    std::uint64_t quota_refusals = 0;  // by limits of namespaces
    std::uint64_t order_lines = 0;     // order keys that a message in memory, or one that waits, has
    std::uint64_t cached_bytes = 0;
    std::uint64_t memory_bytes = 0;
    std::uint64_t refused_full = 0;          // puts
    bool puts_stalled = false;               // waiting for segments to be sealed, or to be made ready
    std::uint64_t changes_refused_full = 0;  // all other commands
    LogSpace space = LogSpace::enough;
    DueMs loaded_until_ms = 0;
    DueMs server_time_ms = 0;
};

// What metrics and reports show about one queue.
struct QueueCounters {
    QueueName name;
    std::uint64_t ready = 0;
    std::uint64_t leased = 0;
    std::uint64_t waiters = 0;
    bool backlog_on_disk = false;
    std::uint64_t pending = 0;
    bool paused = false;
    bool has_settings = false;
    std::uint64_t dead = 0;
    std::uint64_t groups = 0;
    std::uint64_t limited_groups = 0;
    DueMs oldest_due_ms = 0;  // of what is due and has not ended, on disk at least as late; 0: nothing is due
    QueueTotals totals;
};

// The busiest queues, and the sums of all others.
struct QueueTraffic {
    std::vector<QueueCounters> busiest;
    std::size_t other_queues = 0;
    QueueCounters others;  // without a name and totals; `paused` if any is; oldest_due_ms is the oldest of all
};

// Sums over all queues.
struct QueueSums {
    std::uint64_t dead = 0;  // dead letters of all queues
    std::uint64_t held = 0;
    std::uint64_t prepared = 0;
    std::uint64_t with_settings = 0;  // queues
};

// What metrics show about one schedule.
struct ScheduleCounters {
    std::string name_space;
    std::string name;
    std::uint64_t made = 0;
    std::uint64_t late = 0;
    std::uint64_t fired = 0;
    std::uint64_t skipped = 0;
    std::uint64_t merged = 0;
    DueMs next_ms = 0;
    bool paused = false;
};

}  // namespace duewheel
