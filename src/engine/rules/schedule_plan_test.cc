// The decision about nominal times that have come: on time, missed, overlapping, paused.
#include "engine/rules/schedule_plan.h"

#include <gtest/gtest.h>

#include "shared/random.h"

namespace duewheel::schedule_plan_test {
namespace {

constexpr DueMs kMinute = 60'000;

ScheduleState every_minute(Misfire misfire = Misfire::once, Overlap overlap = Overlap::allow) {
    ScheduleState state;
    state.revision = 1;
    state.rule.queue = "q";
    state.rule.times = {.kind = TimesKind::every, .every_ms = kMinute, .start_ms = kMinute};
    state.rule.misfire = misfire;
    state.rule.overlap = overlap;
    state.next_ms = kMinute;
    return state;
}

ScheduleTimes times_of(const ScheduleState& state) {
    return *ScheduleTimes::make(state.rule.times, &Zone::load);
}

SchedulePlan plan(const ScheduleState& state, DueMs now, const PlanLimits& limits = {}) {
    return plan_runs(state, times_of(state), now, limits);
}

std::vector<std::uint64_t> numbers(const SchedulePlan& plan) {
    std::vector<std::uint64_t> all;
    for (const PlannedRun& run : plan.runs) all.push_back(run.number);
    return all;
}

using Numbers = std::vector<std::uint64_t>;

// The newest times without a run of their own.
void expect_passed(const ScheduleState& state, DueMs from_ms, DueMs to_ms, std::uint64_t count, PassedWhy why) {
    EXPECT_EQ(state.passed_from_ms, from_ms);
    EXPECT_EQ(state.passed_to_ms, to_ms);
    EXPECT_EQ(state.passed_count, count);
    EXPECT_EQ(state.passed_why, why);
}

TEST(SchedulePlan, a_punctual_time_creates_a_run_and_advances_the_schedule) {
    EXPECT_TRUE(plan(every_minute(), kMinute - 1).changes_nothing());
    const SchedulePlan made = plan(every_minute(), kMinute + 5'000);
    EXPECT_EQ(made.runs, (std::vector<PlannedRun>{{kMinute, 1}}));
    EXPECT_EQ(made.after.next_ms, 2 * kMinute);
    EXPECT_EQ(made.after.next_run, 2u);
    EXPECT_EQ(made.after.made, 1u);
    EXPECT_EQ(made.after.late, 0u);
}

// While its queue was full a schedule counted times as merged into a run that was not made; a pause, or a window, then
// passed that over.
TEST(SchedulePlan, nothing_is_merged_into_a_run_without_capacity) {
    PlanLimits limits;
    limits.runs_max = 0;
    EXPECT_TRUE(plan(every_minute(Misfire::once), 5 * kMinute + 30'000, limits).changes_nothing());
    ScheduleState paused = every_minute(Misfire::once);
    paused.pass_until_ms = 5 * kMinute + 30'000;
    const SchedulePlan passed = plan(paused, 5 * kMinute + 30'000, limits);
    EXPECT_EQ(passed.after.skipped, 5u) << "what is skipped needs none";
    EXPECT_EQ(passed.after.merged, 0u);
    limits.last_is_unfinished = true;
    const SchedulePlan waits = plan(every_minute(Misfire::once, Overlap::queue_one), 5 * kMinute + 30'000, limits);
    EXPECT_EQ(waits.after.merged, 4u);
    EXPECT_EQ(waits.after.waiting_run, 5u) << "nor does one that waits";
}

TEST(SchedulePlan, once_creates_one_run_for_all_missed_times) {
    const SchedulePlan made = plan(every_minute(Misfire::once), 5 * kMinute + 30'000);
    EXPECT_EQ(made.runs, (std::vector<PlannedRun>{{5 * kMinute, 5}}));
    EXPECT_EQ(made.after.merged, 4u);
    EXPECT_EQ(made.after.late, 1u);
    expect_passed(made.after, kMinute, 4 * kMinute, 4, PassedWhy::missed);
    // One that is on time beside it is a run of its own.
    EXPECT_EQ(numbers(plan(every_minute(Misfire::once), 5 * kMinute + 2'000)), (Numbers{4, 5}));
}

TEST(SchedulePlan, all_creates_each_up_to_its_limit_and_skips_the_rest) {
    PlanLimits limits;
    limits.catch_up_max = 3;
    const SchedulePlan made = plan(every_minute(Misfire::all), 5 * kMinute + 30'000, limits);
    EXPECT_EQ(numbers(made), (Numbers{1, 2, 3}));
    EXPECT_EQ(made.after.skipped, 2u);
    EXPECT_EQ(made.after.passed_from_ms, 4 * kMinute);
    // The count starts again once one was on time.
    const SchedulePlan later = plan(made.after, 6 * kMinute, limits);
    EXPECT_EQ(numbers(later), (Numbers{6}));
    EXPECT_EQ(numbers(plan(later.after, 9 * kMinute + 30'000, limits)), (Numbers{7, 8, 9}));
}

TEST(SchedulePlan, skip_creates_none_of_the_missed_runs) {
    const SchedulePlan made = plan(every_minute(Misfire::skip), 5 * kMinute + 30'000);
    EXPECT_TRUE(made.runs.empty());
    EXPECT_EQ(made.after.skipped, 5u);
    EXPECT_EQ(made.after.next_ms, 6 * kMinute);
    EXPECT_EQ(made.passed_from_ms, kMinute);
    EXPECT_EQ(made.passed_to_ms, 5 * kMinute);
}

TEST(SchedulePlan, a_window_skips_older_times) {
    ScheduleState state = every_minute(Misfire::all);
    state.rule.misfire_window_ms = 2 * kMinute;
    const SchedulePlan made = plan(state, 5 * kMinute + 30'000);
    EXPECT_EQ(numbers(made), (Numbers{4, 5}));
    EXPECT_EQ(made.after.passed_why, PassedWhy::too_old);
    state.rule.misfire = Misfire::once;
    state.rule.misfire_window_ms = 20'000;
    EXPECT_TRUE(plan(state, 5 * kMinute + 30'000).runs.empty()) << "even the last one is too old";
}

// A window of a second was none: what came within five seconds was on time.
TEST(SchedulePlan, a_window_may_be_shorter_than_the_tolerance) {
    ScheduleState state = every_minute(Misfire::all);
    state.rule.misfire_window_ms = 1'000;
    EXPECT_EQ(numbers(plan(state, kMinute + 1'000)), (Numbers{1}));
    const SchedulePlan late = plan(state, kMinute + 1'001);
    EXPECT_TRUE(late.runs.empty());
    EXPECT_EQ(late.after.skipped, 1u);
    EXPECT_EQ(late.after.passed_why, PassedWhy::too_old);
}

TEST(SchedulePlan, times_are_counted_in_every_case) {
    ScheduleState state = every_minute(Misfire::once);
    state.rule.times.times = 3;
    const SchedulePlan made = plan(state, 60 * kMinute);
    EXPECT_EQ(made.runs, (std::vector<PlannedRun>{{3 * kMinute, 3}}));
    EXPECT_EQ(made.after.next_ms, 0);
    EXPECT_TRUE(made.after.has_ended());
}

TEST(SchedulePlan, times_in_a_pause_are_skipped) {
    ScheduleState state = every_minute(Misfire::all);
    state.pass_until_ms = 3 * kMinute + 1;
    const SchedulePlan made = plan(state, 4 * kMinute);
    EXPECT_EQ(numbers(made), (Numbers{4}));
    EXPECT_EQ(made.after.passed_why, PassedWhy::paused);
    EXPECT_EQ(made.after.skipped, 3u);
}

TEST(SchedulePlan, overlap_skip_makes_no_run_beside_an_unfinished_one) {
    PlanLimits limits;
    limits.last_is_unfinished = true;
    const SchedulePlan made = plan(every_minute(Misfire::once, Overlap::skip), kMinute, limits);
    EXPECT_TRUE(made.runs.empty());
    EXPECT_EQ(made.after.skipped, 1u);
    EXPECT_EQ(made.after.passed_why, PassedWhy::overlap);
    // Nor beside one that the same plan makes.
    EXPECT_EQ(numbers(plan(every_minute(Misfire::all, Overlap::skip), 4 * kMinute)), (Numbers{1}));
    EXPECT_EQ(numbers(plan(every_minute(Misfire::once, Overlap::allow), kMinute, limits)), (Numbers{1}));
}

// Five minutes passed beside an unfinished run: three times were said to be merged into the last one, which overlap
// then skipped, so that they were in no run at all and not counted as skipped.
TEST(SchedulePlan, times_merged_into_a_run_that_overlap_skips_are_skipped_with_it) {
    PlanLimits busy;
    busy.last_is_unfinished = true;
    const SchedulePlan made = plan(every_minute(Misfire::once, Overlap::skip), 5 * kMinute + 2'000, busy);
    EXPECT_TRUE(made.runs.empty());
    EXPECT_EQ(made.after.merged, 0u);
    EXPECT_EQ(made.after.skipped, 5u);
    EXPECT_EQ(made.after.passed_why, PassedWhy::overlap);
    EXPECT_EQ(made.after.passed_count, 5u);
    // Later times are merged into a waiting run.
    const SchedulePlan waits = plan(every_minute(Misfire::once, Overlap::queue_one), 5 * kMinute + 2'000, busy);
    EXPECT_EQ(waits.after.waiting_run, 5u);
    EXPECT_EQ(waits.after.merged, 4u);
}

TEST(SchedulePlan, queue_one_keeps_the_newest_run_waiting_and_merges_the_rest) {
    PlanLimits busy;
    busy.last_is_unfinished = true;
    const ScheduleState start = every_minute(Misfire::all, Overlap::queue_one);
    const SchedulePlan waits = plan(start, kMinute, busy);
    EXPECT_TRUE(waits.runs.empty());
    EXPECT_EQ(waits.after.waiting_ms, kMinute);
    EXPECT_EQ(waits.after.waiting_run, 1u);
    EXPECT_EQ(waits.after.made, 0u);
    const SchedulePlan merged = plan(plan(waits.after, 2 * kMinute, busy).after, 3 * kMinute, busy);
    EXPECT_TRUE(merged.runs.empty());
    EXPECT_EQ(merged.after.merged, 2u);
    EXPECT_EQ(merged.after.waiting_run, 3u);
    expect_passed(merged.after, kMinute, 2 * kMinute, 2, PassedWhy::overlap);
    EXPECT_TRUE(plan(merged.after, 3 * kMinute + 1, busy).changes_nothing());
    const SchedulePlan goes = plan(merged.after, 3 * kMinute + 10);
    EXPECT_EQ(goes.runs, (std::vector<PlannedRun>{{3 * kMinute, 3}}));
    EXPECT_EQ(goes.after.waiting_ms, 0);
    EXPECT_EQ(goes.after.made, 1u);
    EXPECT_EQ(goes.after.last_run_ms, 3 * kMinute);
    const SchedulePlan again = plan(goes.after, 4 * kMinute, busy);
    EXPECT_EQ(again.after.waiting_run, 4u);
    ScheduleState relaxed = again.after;
    relaxed.rule.overlap = Overlap::allow;
    EXPECT_EQ(numbers(plan(relaxed, 4 * kMinute, busy)), (Numbers{4})) << "the policy was changed while one waited";
}

// A run that waited kept the first time of all that were merged into it and was made however late: with `expires_in` it
// had expired when it was made, although a minute ago another time had come.
TEST(SchedulePlan, a_run_that_has_waited_longer_than_the_window_is_skipped) {
    PlanLimits busy;
    busy.last_is_unfinished = true;
    ScheduleState state = every_minute(Misfire::once, Overlap::queue_one);
    state.rule.misfire_window_ms = 10 * kMinute;
    state.rule.times.times = 2;
    state = plan(plan(state, kMinute, busy).after, 2 * kMinute, busy).after;
    EXPECT_EQ(state.waiting_run, 2u);
    EXPECT_TRUE(plan(state, 20 * kMinute, busy).changes_nothing()) << "it is judged when it may go";
    PlanLimits no_room;
    no_room.runs_max = 0;
    for (const PlanLimits& limits : {PlanLimits{}, no_room}) {
        const SchedulePlan gone = plan(state, 12 * kMinute + 1, limits);
        EXPECT_TRUE(gone.runs.empty());
        EXPECT_EQ(gone.after.skipped, 1u);
        EXPECT_EQ(gone.after.merged, 1u);
        EXPECT_EQ(gone.after.passed_from_ms, 2 * kMinute);
        EXPECT_EQ(gone.after.passed_count, 1u) << "for another reason than the one before";
        EXPECT_EQ(gone.after.passed_why, PassedWhy::too_old);
        EXPECT_TRUE(gone.after.has_ended());
    }
    EXPECT_EQ(numbers(plan(state, 12 * kMinute)), (Numbers{2}));
}

// The queue had filled up when the one before ended. For as long as it stayed full the run that waited was the one that
// had come first.
TEST(SchedulePlan, the_newest_waits_even_if_it_waits_only_for_capacity) {
    PlanLimits busy;
    busy.last_is_unfinished = true;
    const ScheduleState waits = plan(every_minute(Misfire::once, Overlap::queue_one), kMinute, busy).after;
    PlanLimits no_room;
    no_room.runs_max = 0;
    const SchedulePlan crowded = plan(waits, 60 * kMinute + 2'000, no_room);
    EXPECT_TRUE(crowded.runs.empty());
    EXPECT_EQ(crowded.after.waiting_run, 60u);
    EXPECT_EQ(crowded.after.merged, 59u);
    EXPECT_TRUE(plan(crowded.after, 60 * kMinute + 3'000, no_room).changes_nothing());
    EXPECT_EQ(numbers(plan(crowded.after, 60 * kMinute + 3'000)), (Numbers{60}));
    EXPECT_EQ(numbers(plan(waits, 60 * kMinute + 2'000)), (Numbers{60}));
    PlanLimits few_steps;
    few_steps.steps_max = 10;
    EXPECT_TRUE(plan(waits, 60 * kMinute + 2'000, few_steps).runs.empty()) << "newer ones are to be looked at first";
}

// A run that only began to wait counted as made up for: with a limit of one the first of all that were missed waited,
// and the others were skipped.
TEST(SchedulePlan, a_waiting_run_is_not_a_missed_run) {
    PlanLimits busy;
    busy.last_is_unfinished = true;
    busy.catch_up_max = 1;
    const SchedulePlan waits = plan(every_minute(Misfire::all, Overlap::queue_one), 5 * kMinute + 30'000, busy);
    EXPECT_EQ(waits.after.waiting_run, 5u);
    EXPECT_EQ(waits.after.merged, 4u);
    EXPECT_EQ(waits.after.skipped, 0u);
    EXPECT_EQ(plan(waits.after, 5 * kMinute + 40'000).after.made_up, 1u);
}

// A waiting run may be older than the last skipped times: it is counted, and the newest skipped range is still
// reported. Earlier, the range of the waiting run was reported.
TEST(SchedulePlan, a_waiting_run_does_not_hide_later_times) {
    PlanLimits busy;
    busy.last_is_unfinished = true;
    ScheduleState state = plan(every_minute(Misfire::skip, Overlap::queue_one), kMinute, busy).after;
    const SchedulePlan missed = plan(state, 3 * kMinute + 30'000, busy);
    EXPECT_EQ(missed.after.skipped, 2u);
    EXPECT_EQ(missed.after.waiting_run, 1u);
    const SchedulePlan merged = plan(missed.after, 4 * kMinute, busy);
    EXPECT_EQ(merged.after.waiting_run, 4u);
    EXPECT_EQ(merged.after.merged, 1u);
    expect_passed(merged.after, 2 * kMinute, 3 * kMinute, 2, PassedWhy::missed);
    EXPECT_EQ(merged.passed_from_ms, kMinute);
    EXPECT_EQ(merged.passed_to_ms, kMinute);
}

// The oracle of shares: however small the steps in which missed times are walked, the end is the same.
TEST(SchedulePlan, scanning_in_parts_has_the_same_result) {
    Random random(20261122);
    for (int round = 0; round < 400; ++round) {
        ScheduleState state =
            every_minute(static_cast<Misfire>(random.below(3)), static_cast<Overlap>(random.below(3)));
        if (random.below(2) == 0) state.rule.misfire_window_ms = static_cast<std::int64_t>(random.below(20)) * kMinute;
        if (random.below(3) == 0) state.rule.times.times = 1 + random.below(30);
        if (random.below(3) == 0) state.pass_until_ms = static_cast<DueMs>(random.below(20)) * kMinute;
        if (state.rule.overlap == Overlap::queue_one && random.below(2) == 0) {
            state.waiting_ms = state.last_ms = kMinute;
            state.waiting_run = 1;
            state.next_ms = 2 * kMinute;
            state.next_run = 2;
        }
        PlanLimits limits;
        limits.catch_up_max = static_cast<std::uint32_t>(random.below(30));
        const DueMs now = static_cast<DueMs>(random.below(40)) * kMinute + static_cast<DueMs>(random.below(10'000));
        const SchedulePlan whole = plan(state, now, limits);

        ScheduleState walked = state;
        std::vector<PlannedRun> runs;
        bool unfinished = false;
        for (int shares = 0; shares < 200; ++shares) {
            limits.steps_max = 1 + random.below(5);
            limits.runs_max = 1 + random.below(3);
            limits.last_is_unfinished = unfinished;
            const SchedulePlan share = plan(walked, now, limits);
            if (share.changes_nothing()) break;
            runs.insert(runs.end(), share.runs.begin(), share.runs.end());
            unfinished |= !share.runs.empty();
            walked = share.after;
        }
        ASSERT_EQ(runs, whole.runs) << "round " << round;
        ASSERT_TRUE(walked == whole.after) << "round " << round;
    }
}

}  // namespace
}  // namespace duewheel::schedule_plan_test
