// Counts how often a run got into the states where systems like this one break. A simulator that never gets there
// proves nothing, so each of these must be met over a large run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace duewheel {

// X(name): in the order in which they are printed.
#define DUEWHEEL_RARE_STATES(X)           \
    X(closing_commit)                     \
    X(closing_commit_with_cursors)        \
    X(confirming_commit)                  \
    X(commit_larger_than_a_segment)       \
    X(batch_of_ten_or_more)               \
    X(batch_put)                          \
    X(batch_put_partly_refused)           \
    X(lost_batch_found_there)             \
    X(lost_batch_found_missing)           \
    X(command_deferred)                   \
    X(answer_out_of_date)                 \
    X(loaded_from_the_index)              \
    X(evicted_behind_its_cursor)          \
    X(lease_of_twenty_or_more)            \
    X(lease_lost)                         \
    X(leased_as_the_queue_says)           \
    X(lease_ended_while_commit_in_flight) \
    X(due_while_commit_in_flight)         \
    X(puts_held_back)                     \
    X(too_busy)                           \
    X(too_many_waiters)                   \
    X(too_many_queues)                    \
    X(delay_too_long)                     \
    X(expires_too_soon)                   \
    X(expired)                            \
    X(expired_after_a_delivery)           \
    X(expired_without_a_command)          \
    X(next_of_an_order_key)               \
    X(order_key_asked_the_index)          \
    X(order_key_found_on_disk)            \
    X(waiter_timed_out)                   \
    X(waiter_served_later)                \
    X(delivery_waited_for_its_body)       \
    X(delivery_forgotten_on_its_way)      \
    X(two_commands_on_one_message)        \
    X(answered_by_the_command_before)     \
    X(cancelled)                          \
    X(cancelled_after_attempts)           \
    X(cancel_repeated)                    \
    X(cancel_in_flight)                   \
    X(cancel_too_late)                    \
    X(command_asked_the_index)            \
    X(rescheduled_while_ready)            \
    X(fired_by_command)                   \
    X(fired_though_due)                   \
    X(answered_gone)                      \
    X(ack_repeated)                       \
    X(ack_repeated_after_restart)         \
    X(ack_of_an_earlier_run_refused)      \
    X(ack_after_the_end_refused)          \
    X(forged_token_refused)               \
    X(answered_dead)                      \
    X(dead_by_failure)                    \
    X(failed_by_the_rule_of_its_queue)    \
    X(reason_of_a_failure_told)           \
    X(dead_by_a_lost_lease)               \
    X(redriven)                           \
    X(redrive_met_its_limit)              \
    X(held)                               \
    X(hold_repeated)                      \
    X(held_by_its_consumer)               \
    X(refused_while_held)                 \
    X(kicked_from_aside)                  \
    X(kicked_from_the_dead)               \
    X(kick_found_it_waiting)              \
    X(kick_found_no_room)                 \
    X(maybe_delivered)                    \
    X(delivered_again_after_lease)        \
    X(delivered_again_after_crash)        \
    X(delivered_though_put_unanswered)    \
    X(unanswered_command_found_done)      \
    X(unanswered_command_found_lost)      \
    X(killed)                             \
    X(power_cut)                          \
    X(died_in_a_commit)                   \
    X(died_after_commit_before_answer)    \
    X(died_in_sealing)                    \
    X(died_in_filling_a_spare)            \
    X(died_in_cleaning)                   \
    X(died_in_recovery)                   \
    X(torn_end_cut)                       \
    X(last_commit_lost)                   \
    X(last_commit_kept)                   \
    X(unsealed_segments_at_start)         \
    X(index_lost)                         \
    X(started_on_a_closed_segment)        \
    X(due_at_start)                       \
    X(sync_failed)                        \
    X(write_failed)                       \
    X(read_failed)                        \
    X(no_space_for_a_spare)               \
    X(no_space_for_a_segment)             \
    X(store_full)                         \
    X(put_refused_when_full)              \
    X(only_the_reserve_left)              \
    X(change_refused_in_the_reserve)      \
    X(refused_by_a_log_that_stands_still) \
    X(put_repeated)                       \
    X(put_repeated_after_a_crash)         \
    X(put_made_good_after_a_crash)        \
    X(put_repeated_after_the_end)         \
    X(key_conflict)                       \
    X(key_taken_over)                     \
    X(went_on_while_full)                 \
    X(reserve_used_up)                    \
    X(spare_given_up_for_a_table)         \
    X(started_while_full)                 \
    X(start_refused_when_full)            \
    X(puts_taken_again)                   \
    X(table_refused)                      \
    X(clock_jumped)                       \
    X(clock_went_back)                    \
    X(clock_went_back_over_a_restart)     \
    X(carried)                            \
    X(carry_overtaken)                    \
    X(segment_dropped)                    \
    X(segment_waited_for_answers)         \
    X(content_read_from_the_log)          \
    X(backlog_read)                       \
    X(page_with_another_behind)           \
    X(empty_page_with_another_behind)     \
    X(leased_message_listed)              \
    X(listing_ended)                      \
    X(listing_of_several_that_stood)      \
    X(history_of_several)                 \
    X(paused)                             \
    X(paused_at_start)                    \
    X(purge_begun)                        \
    X(purged)                             \
    X(purged_while_leased)                \
    X(lease_ended_as_purged)              \
    X(died_while_purging)                 \
    X(purge_read_the_index)               \
    X(queues_listed)                      \
    X(queues_listed_in_part)              \
    X(discard_begun)                      \
    X(discarded)                          \
    X(discarded_by_its_id)                \
    X(discard_found_it_waiting)           \
    X(kick_came_too_late_for_a_discard)   \
    X(died_while_discarding)              \
    X(queue_full)                         \
    X(queue_not_empty)                    \
    X(settings_removed)                   \
    X(loop_put)                           \
    X(loop_put_again)                     \
    X(loop_refused)                       \
    X(loop_cannot_be_moved)               \
    X(loop_done)                          \
    X(loop_ended_by_its_time)             \
    X(loop_cancelled)                     \
    X(loop_held)                          \
    X(loop_kicked)                        \
    X(loop_purged)                        \
    X(loop_listed)                        \
    X(loop_that_stood_through_a_listing)  \
    X(loop_waited_for_room)               \
    X(loop_waited_for_space)              \
    X(loop_behind_at_start)               \
    X(occurrence_met)                     \
    X(occurrence_of_a_growing_loop)       \
    X(occurrence_of_an_unanswered_loop)   \
    X(occurrence_ended_unmet)             \
    X(occurrences_in_one_commit)          \
    X(died_with_occurrences_in_flight)    \
    X(schedule_put)                       \
    X(schedule_put_again)                 \
    X(schedule_changed_in_place)          \
    X(schedule_times_changed)             \
    X(schedule_refused)                   \
    X(too_many_schedules)                 \
    X(schedule_removed)                   \
    X(schedule_was_not_there)             \
    X(schedule_removed_without_an_answer) \
    X(schedule_unknown)                   \
    X(lost_schedule_put_found_there)      \
    X(lost_schedule_put_found_missing)    \
    X(schedule_paused)                    \
    X(schedule_resumed)                   \
    X(schedule_fired)                     \
    X(no_room_for_a_run_by_hand)          \
    X(schedules_listed)                   \
    X(schedules_listed_in_part)           \
    X(schedule_previewed)                 \
    X(preview_with_times_left_out)        \
    X(preview_with_a_shifted_time)        \
    X(schedule_told_after_a_restart)      \
    X(schedule_behind_at_start)           \
    X(schedule_waited_for_space)          \
    X(schedule_ended)                     \
    X(schedule_carried)                   \
    X(zone_data_changed)                  \
    X(time_moved_by_zone_data)            \
    X(run_met)                            \
    X(run_with_jitter)                    \
    X(run_of_a_cron_rule)                 \
    X(run_at_a_shifted_time)              \
    X(run_in_a_second_pass)               \
    X(run_of_a_changed_schedule)          \
    X(run_of_an_unanswered_schedule)      \
    X(run_that_must_not_overlap)          \
    X(run_waits_for_the_one_before)       \
    X(waiting_run_made)                   \
    X(times_missed)                       \
    X(times_too_old)                      \
    X(times_of_a_pause)                   \
    X(times_skipped_by_overlap)           \
    X(missed_times_merged)                \
    X(times_merged_by_overlap)            \
    X(runs_made_up_for)                   \
    X(late_run_looked_at)                 \
    X(run_ended_unmet)                    \
    X(watchdog_put)                       \
    X(watchdog_put_again)                 \
    X(watchdog_changed_in_place)          \
    X(watchdog_refused)                   \
    X(too_many_watchdogs)                 \
    X(watchdog_fed)                       \
    X(watchdog_fed_late)                  \
    X(watchdog_fed_by_a_put)              \
    X(watchdog_unknown)                   \
    X(watchdog_removed)                   \
    X(watchdog_was_not_there)             \
    X(watchdogs_listed)                   \
    X(watchdog_owes)                      \
    X(watchdog_merged)                    \
    X(watchdog_told_nothing)              \
    X(watchdog_due_at_start)              \
    X(watchdog_carried)                   \
    X(firing_met)                         \
    X(firing_by_its_bound)                \
    X(firing_once_more)                   \
    X(firing_ended_unmet)                 \
    X(runs_in_one_commit)                 \
    X(died_with_runs_in_flight)           \
    X(half_put)                           \
    X(half_refused)                       \
    X(half_committed)                     \
    X(half_committed_before_it_was_due)   \
    X(half_rolled_back)                   \
    X(half_cancelled)                     \
    X(commit_repeated)                    \
    X(rollback_repeated)                  \
    X(commit_of_what_was_rolled_back)     \
    X(rollback_of_what_was_committed)     \
    X(settled_though_no_transaction)      \
    X(refused_while_prepared)             \
    X(half_looked_at)                     \
    X(half_committed_by_default)          \
    X(half_rolled_back_by_default)        \
    X(half_purged)                        \
    X(half_expired)                       \
    X(half_overdue_when_looked_at)        \
    X(settle_of_an_unknown_id)            \
    X(settle_lost)                        \
    X(settle_repeated_after_a_crash)      \
    X(check_delivered_again)              \
    X(default_after_every_check)          \
    X(check_met)                          \
    X(second_check_met)                   \
    X(check_met_after_its_half)           \
    X(check_of_an_unanswered_half)        \
    X(nothing_to_remove)                  \
    X(settings_carried)                   \
    X(outcomes_carried)                   \
    X(queue_unknown)                      \
    X(expired_with_its_lease)             \
    X(dead_message_listed)                \
    X(dead_message_let_go)                \
    X(damage_refused)                     \
    X(damage_harmless)

enum class Rare : std::uint16_t {
#define DUEWHEEL_NAME(name) name,
    DUEWHEEL_RARE_STATES(DUEWHEEL_NAME)
#undef DUEWHEEL_NAME
};

inline constexpr std::string_view kRareNames[] = {
#define DUEWHEEL_NAME(name) #name,
    DUEWHEEL_RARE_STATES(DUEWHEEL_NAME)
#undef DUEWHEEL_NAME
};
inline constexpr std::size_t kRareCount = sizeof kRareNames / sizeof kRareNames[0];
#undef DUEWHEEL_RARE_STATES

struct RareStates {
    std::array<std::uint64_t, kRareCount> counts{};

    void met(Rare state, std::uint64_t times = 1) { counts[static_cast<std::size_t>(state)] += times; }
    void add(const RareStates& others) {
        for (std::size_t i = 0; i < kRareCount; ++i) counts[i] += others.counts[i];
    }
};

}  // namespace duewheel
