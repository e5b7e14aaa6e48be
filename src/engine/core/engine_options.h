// Every limit and horizon of the engine, with its default.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "message/retry_rule.h"

namespace duewheel {

struct EngineOptions {
    std::uint64_t shard = 0;

    // Limits of what is accepted.
    std::int64_t delay_max_ms = 4'294'967'295'000;  // 2^32 - 1 s, which clients of beanstalkd may ask for
    std::int64_t lease_min_ms = 1'000;
    std::int64_t lease_max_ms = 12LL * 3600 * 1000;
    std::int64_t wait_max_ms = 60'000;
    std::uint32_t lease_batch_max = 1'000;
    std::size_t lease_bytes_max = 4u << 20;  // of one reply, without its first message
    std::uint32_t queues_max = 100'000;
    std::uint32_t waiters_per_queue_max = 10'000;
    std::uint32_t message_waits_max = 20'000;  // requests that wait for the end of a message
    std::uint32_t leased_max = 1'000'000;
    std::size_t commands_waiting_max = 200'000;      // for the disk: to be written or looked up
    std::size_t waiting_bytes_max = 256u << 20;      // of the puts among them
    std::int64_t keys_kept_ms = 24LL * 3600 * 1000;  // after the end of the message: its key and its outcome
    std::size_t reading_bytes_max = 64u << 20;       // content that is being read to be shown

    std::int64_t lease_default_ms = 30'000;  // of a lease without a duration, if its queue has none
    std::int64_t lease_grace_ms = 10'000;    // how long a lease of an earlier run lasts at least, from the start
    std::uint64_t pending_limit_max =
        1'000'000'000'000;                  // the maximum of a queue's limits.pending and a namespace's limits
    std::uint32_t namespaces_max = 10'000;  // namespaces with settings

    // Purges: messages ended in one batch, entries visited in one iteration.
    std::uint32_t purge_chunk = 1'000;
    std::uint32_t purge_walk = 10'000;

    // If neither the message nor the queue has its own rule.
    RetryRule retry{10, 1'000, 2'000, 3'600'000, 200};

    // Recurring messages: maximum number of occurrences, how many of one go into a batch, for how many of them contents
    // are read at once (enough for several batches: the one that starts a lookup has none of what it reads), and when
    // one that found no space tries again.
    std::uint64_t repeat_times_max = 1'000'000'000;
    std::uint32_t spawn_chunk = 100;
    std::uint32_t spawn_recurring = 1'024;
    std::int64_t spawn_again_ms = 1'000;

    // Transactions: the maximum number of checks, and for how many of them contents are read at once.
    std::uint32_t check_times_max = 1'000;
    std::uint32_t overdue_prepared_max = 256;

    // Schedules: their maximum number, and the maximum number of times in a preview. A run is on time within
    // `run_on_time_ms` of its nominal time; of a schedule with missed times, up to this many runs are created in a row.
    // A batch considers this many nominal times of all schedules together.
    std::uint32_t schedules_max = 200'000;
    std::uint32_t preview_max = 1'000;
    std::int64_t run_on_time_ms = 5'000;
    std::uint32_t runs_catch_up_max = 1'000;
    std::uint32_t run_steps_max = 10'000;

    // A recurring message or a schedule whose next time passed longer than this ago is behind: the rules of a namespace
    // that are behind create up to `catch_up_rate` messages a second.
    std::int64_t catch_up_after_ms = 60'000;
    std::uint64_t catch_up_rate = 5'000;

    // Watchdogs: their maximum number, and for how many firing ones contents are read at once.
    std::uint32_t watchdogs_max = 1'000'000;
    std::uint32_t firings_max = 256;

    std::int64_t dead_kept_ms = 30LL * 24 * 3600 * 1000;  // then a dead letter expires

    // Redriving and expiring dead letters.
    std::uint64_t redrive_max = 100'000;  // messages per call
    std::uint32_t redrive_chunk = 1'000;  // messages per batch
    std::uint32_t redrives_max = 16;      // calls at once

    // One batch.
    std::uint32_t batch_operations_max = 1'024;
    std::size_t batch_bytes_max = 8u << 20;
    std::uint32_t apply_chunk = 64;  // operations of a durable batch that are applied in one iteration
    std::int64_t confirm_after_ms = 5;

    // A message that becomes due longer than this after the newest durable commit is delivered after the next commit.
    // So a start knows of each message whether an earlier run may have delivered it, even if the clock was set back.
    std::int64_t unsaved_due_max_ms = 100;
    // A log that another process may take over: longer than this after the newest durable commit, a delivery waits for
    // the next one, which fails if that has happened.
    std::int64_t unconfirmed_max_ms = INT64_MAX;

    // The segments of the log.
    std::uint64_t segment_bytes = 64u << 20;
    std::uint32_t unsealed_segments_max = 4;   // beyond, puts wait
    std::uint32_t cursor_records_max = 4'096;  // in the commit that closes a segment

    // Memory.
    std::uint32_t ready_max =
        100'000;  // entries of a queue in memory that came from the index; twice that of the fresh ones
    std::uint32_t window_entries_max = 2'000'000;
    std::int64_t window_min_ms = 30'000;
    std::int64_t window_max_ms = 600'000;
    std::uint32_t load_chunk = 4'096;
    std::uint32_t idle_backlog = 256;  // entries kept of a backlog that was not requested lately
    std::int64_t asked_lately_ms = 10'000;
    std::uint32_t backlogs_reading_max = 16;  // at once
    std::uint32_t order_lookups_max = 256;    // at once: which message of an order key comes first
    std::int64_t brief_wait_ms = 1'000;  // the maximum time that a lease without a wait waits for lookups of its queue
    std::size_t record_cache_bytes = 32u << 20;
    std::uint32_t read_ahead = 64;  // ready messages whose bodies are read with that of a delivery
    std::size_t read_ahead_bytes = 256u << 10;
    std::uint32_t sweep_chunk = 1'024;  // entries per iteration

    // Listing.
    std::uint32_t list_limit_max = 1'000;  // messages, or queues, of a page
    std::uint32_t list_chunk = 32'768;     // entries visited in one iteration, for all listings
    std::uint32_t group_chunk = 4'096;     // groups visited in one iteration, for all lists of groups
    std::uint32_t list_walk_max = 10'000;  // rows of the index read for a page
    std::uint32_t listings_max = 1'000;    // at once

    // Forecasts: their length; rows of the index read for each, in one lookup and in total, which is also the limit of
    // schedule times; and the limit of times of one schedule.
    std::uint32_t forecast_minutes_max = 24 * 60;
    std::uint32_t forecast_chunk = 4'096;
    std::uint64_t forecast_walk_max = 1'000'000;
    std::uint32_t forecast_runs_max = 10'000;

    std::uint32_t fire_chunk = 1'024;  // timers handled per iteration, of each lane

    // Fairness: how much a queue can delay others.
    std::uint64_t crowd_messages = 4'096;  // messages in a queue from which on it leaves the first lane (timer_lanes.h)
    // Messages delivered per iteration, and the maximum for the last consumer beyond it.
    std::uint32_t serve_chunk = 250;
    // With more ready messages than this, those that became due within `fresh_ms` get half of a queue's deliveries
    // (ready_list.h).
    std::uint32_t streams_from = 1'000;
    std::int64_t fresh_ms = 1'000;
};

}  // namespace duewheel
