// The planted bugs: each breaks one promise on purpose, so that the tests which claim to find such a bug can be
// made to prove it. The numbers are those of the table in the documentation of the tests.
//
// In every ordinary build planted() is a constant false and the branches behind it vanish. Only a set of libraries
// compiled with DUEWHEEL_PLANTED_BUGS can switch a bug on, one at a time; such a library is never installed.
#pragma once

#include <cstdint>
#ifdef DUEWHEEL_PLANTED_BUGS
#include <atomic>
#endif

namespace duewheel {

enum class PlantedBug : std::uint8_t {
    none = 0,

    // Wheel and window.
    fires_a_tick_early = 1,
    node_lost_when_level_demoted = 2,
    occupancy_cleared_with_node_left = 3,
    loader_skips_last_key = 4,
    old_iterator_reinserts_cancelled = 5,
    fires_with_changed_version = 6,
    slot_over_cap_drops_rest = 7,

    // Journal.
    answer_before_sync = 8,
    directory_not_synced = 9,
    torn_tail_accepted = 10,
    footer_not_checked = 11,
    cut_area_not_zeroed = 12,
    failed_sync_is_success = 13,
    batch_split_over_two_commits = 14,

    // Tiers.
    sealed_position_is_current_one = 15,
    tombstone_lost_while_sealing = 16,
    range_delete_above_load_cursor = 17,
    merge_prefers_index = 18,
    key_forgotten_at_sealing = 19,
    facts_of_older_generation_used = 20,
    segment_dropped_too_soon = 21,
    queue_cursor_passes_unfinished = 22,

    // Engine.
    second_command_in_batch_not_checked = 23,
    fire_during_cancel_in_flight = 24,
    lease_ends_twice = 25,
    ack_without_token_check = 26,
    retry_counts_from_now = 27,
    expired_message_delivered = 28,
    attempt_count_lost_in_crash = 29,
    pause_lets_one_through = 30,
    order_key_overtaken_by_retry = 31,

    // Repeats.
    occurrence_number_reused = 32,
    interval_drifts = 33,
    last_occurrence_fired_twice = 34,
    dst_gap_fired_twice = 35,
    skipped_run_not_recorded = 36,
    watchdog_fires_after_lost_feed = 37,
    rolled_back_transaction_delivered = 38,

    // Time and log.
    server_time_steps_back = 39,
    older_epoch_counted = 40,

    // Tiers again: found missing among the forty.
    segment_dropped_under_read = 41,

    // Dead letters.
    discard_forgotten_in_crash = 42,

    // Repeats again.
    occurrence_skipped_after_restart = 43,
    loop_count_off_by_one = 45,
    occurrence_outlives_purge = 46,

    // Cleaning.
    carried_outcomes_forgotten = 47,

    // Schedules.
    run_repeated_after_crash = 48,
    missed_times_counted_twice = 49,
    overlap_looks_at_memory_alone = 50,
    jitter_changes_with_restart = 51,
    resume_makes_up_for_pause = 52,
    zone_change_fires_again = 53,

    // Transactions, beside 38.
    checks_made_up_for = 54,
    commit_forgets_delay = 55,
    check_not_counted = 56,

    // Namespaces.
    quota_forgets_puts_in_flight = 57,
    quota_hits_another_namespace = 58,
    put_allowance_never_used_up = 59,

    // Limits of a second.
    second_forgets_puts_in_flight = 60,  // 61 and 62 are free

    // Webhooks.
    webhook_acknowledged_without_answer = 63,
    webhook_posted_though_paused = 64,
    webhook_outlives_its_lease = 65,
    webhook_retry_after_forgotten = 66,
    webhook_posts_on_to_gone_target = 67,
    webhook_connection_leaks = 68,

    // Exports and backups.
    view_lacks_open_segment = 69,
    export_forgets_ordered_messages = 70,
    backup_lacks_the_newest_segment = 71,
    restored_ids_begin_where_the_backup_ends = 72,

    // Schedules, and forecasts.
    overlap_merges_into_no_run = 73,
    forecast_lacks_what_is_unsealed = 74,

    // Server time, beside 39.
    wall_clock_believed_at_once = 75,
    slewed_too_fast = 76,
    stop_forgets_the_time = 77,
    doubted_clock_believed_at_start = 78,

    // Backups, beside 71 and 72.
    restored_makes_as_if_new = 79,
};

#ifdef DUEWHEEL_PLANTED_BUGS
// The bug that is switched on. Set by tests only, before the code under test starts.
inline std::atomic<PlantedBug> planted_bug{PlantedBug::none};

inline bool planted(PlantedBug bug) {
    return planted_bug.load(std::memory_order_relaxed) == bug;
}
#else
constexpr bool planted(PlantedBug) {
    return false;
}
#endif

}  // namespace duewheel
