// Every limit and horizon of the engine in one place, with its default.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "message/retry_rule.h"

namespace duewheel {

struct EngineOptions {
    std::uint64_t shard = 0;

    // Limits on what is accepted.
    std::int64_t delay_max_ms = 10LL * 366 * 24 * 3600 * 1000;
    std::int64_t lease_min_ms = 1'000;
    std::int64_t lease_max_ms = 12LL * 3600 * 1000;
    std::int64_t wait_max_ms = 60'000;
    std::uint32_t lease_batch_max = 1'000;
    std::size_t lease_bytes_max = 4u << 20;  // of one answer, its first message apart
    std::uint32_t queues_max = 100'000;
    std::uint32_t waiters_per_queue_max = 10'000;
    std::uint32_t leased_max = 1'000'000;
    std::size_t commands_waiting_max = 200'000;      // for the disk: to be written or to be looked up
    std::size_t waiting_bytes_max = 256u << 20;      // of the puts among them
    std::int64_t keys_kept_ms = 24LL * 3600 * 1000;  // after the end of the message: its key and its outcome
    std::size_t reading_bytes_max = 64u << 20;       // contents that are being read for whoever asked to see them

    std::int64_t lease_default_ms = 30'000;  // of a lease that names no time, where its queue has none
    std::uint64_t pending_limit_max =
        1'000'000'000'000;                  // what a queue's limits.pending and a namespace's limits may be
    std::uint32_t namespaces_max = 10'000;  // that have settings

    // Purges: messages ended in one batch, entries looked at in one turn.
    std::uint32_t purge_chunk = 1'000;
    std::uint32_t purge_walk = 10'000;

    // Where neither message nor queue has a rule of its own.
    RetryRule retry{10, 1'000, 2'000, 3'600'000, 200};

    // Loops: how many occurrences one may be asked to make, how many of one go into a batch, for how many loops
    // contents are read at once, and when one that found no room tries again.
    std::uint64_t repeat_times_max = 1'000'000'000;
    std::uint32_t spawn_chunk = 100;
    std::uint32_t spawn_recurring = 256;
    std::int64_t spawn_again_ms = 1'000;

    // Transactions: how often a producer may be asked about one, and for how many contents are read at once.
    std::uint32_t check_times_max = 1'000;
    std::uint32_t overdue_prepared_max = 256;

    // Schedules: how many there may be, and how many times a preview shows. A run is on time within `run_on_time_ms` of
    // its nominal time; of one schedule that has missed times at most so many runs are made up for in a row. Of all of
    // them so many nominal times are looked at for a batch.
    std::uint32_t schedules_max = 200'000;
    std::uint32_t preview_max = 1'000;
    std::int64_t run_on_time_ms = 5'000;
    std::uint32_t runs_catch_up_max = 1'000;
    std::uint32_t run_steps_max = 10'000;

    // Watchdogs: how many there may be, and for how many that fire contents are read at once.
    std::uint32_t watchdogs_max = 1'000'000;
    std::uint32_t firings_max = 256;

    std::int64_t dead_kept_ms = 30LL * 24 * 3600 * 1000;  // then a dead message ends for good

    // Bringing back the dead of a queue, and letting go of them.
    std::uint64_t redrive_max = 100'000;  // messages a call
    std::uint32_t redrive_chunk = 1'000;  // messages a batch
    std::uint32_t redrives_max = 16;      // calls at once

    // One batch.
    std::uint32_t batch_operations_max = 1'024;
    std::size_t batch_bytes_max = 8u << 20;
    std::uint32_t apply_chunk = 256;  // operations of a durable batch that are applied in a turn
    std::int64_t confirm_after_ms = 5;

    // A message that fell due longer than this after the newest durable commit is handed out with the next one: so a
    // start knows of each message whether an earlier run may have handed it out, also where the clock was set back.
    std::int64_t unsaved_due_max_ms = 100;

    // The log's segments.
    std::uint64_t segment_bytes = 64u << 20;
    std::uint32_t unsealed_segments_max = 4;   // beyond, puts wait
    std::uint32_t cursor_records_max = 4'096;  // in the commit that closes a segment

    // Memory.
    std::uint32_t ready_max = 100'000;  // a queue's entries in memory that came from the index; of the fresh twice that
    std::uint32_t window_entries_max = 2'000'000;
    std::int64_t window_min_ms = 30'000;
    std::int64_t window_max_ms = 600'000;
    std::uint32_t load_chunk = 4'096;
    std::uint32_t idle_backlog = 256;  // entries kept of a backlog that nobody has asked for lately
    std::int64_t asked_lately_ms = 10'000;
    std::uint32_t backlogs_reading_max = 16;  // at once
    std::uint32_t order_lookups_max = 256;    // at once: which message of an order key comes first
    std::int64_t brief_wait_ms = 1'000;  // of a lease that does not wait: for what is being read for its queue, at most
    std::size_t record_cache_bytes = 32u << 20;
    std::uint32_t sweep_chunk = 4'096;  // entries a turn

    // Listing.
    std::uint32_t list_limit_max = 1'000;  // messages, or queues, of a page
    std::uint32_t list_chunk = 32'768;     // entries looked at in a turn, of all listings
    std::uint32_t list_walk_max = 10'000;  // rows of the index looked at for a page
    std::uint32_t listings_max = 1'000;    // at once

    // Forecasts: their length; of each, rows of the index that are looked at, in a question and in all, which is also
    // how many times of schedules; and how many of one schedule.
    std::uint32_t forecast_minutes_max = 24 * 60;
    std::uint32_t forecast_chunk = 4'096;
    std::uint64_t forecast_walk_max = 1'000'000;
    std::uint32_t forecast_runs_max = 10'000;

    std::uint32_t fire_chunk = 4'096;  // timers touched a turn, of each lane

    // Fairness: what a queue may make others wait for.
    std::uint64_t crowd_messages = 4'096;  // in a queue, from which on it leaves the first lane (timer_lanes.h)
    std::uint32_t serve_chunk = 1'000;     // messages handed out a turn, and what the last consumer gets beyond it
    // From so many that are ready on, those that fell due within `fresh_ms` get half of what a queue hands out
    // (ready_list.h).
    std::uint32_t streams_from = 1'000;
    std::int64_t fresh_ms = 1'000;
};

}  // namespace duewheel
