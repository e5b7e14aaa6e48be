// Runs the trials of crash_trial_fixture.h over many seeds: each fault occurs, and none loses an acknowledged commit.
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "journal/crash_trial_fixture.h"

namespace duewheel::crash_test {
namespace {

TEST(Crash, a_power_cut_at_each_call_of_the_disk_loses_nothing_that_was_acknowledged) {
    CrashCounts counts;
    for (std::uint64_t seed = 1; seed <= 40 / kTrialDivisor; ++seed) {
        for (std::uint64_t call = 1; call <= 120; ++call) {
            SCOPED_TRACE("seed " + std::to_string(seed) + ", call " + std::to_string(call));
            ASSERT_EQ(CrashTrial(seed, call, counts).run(3), "");
        }
    }
    EXPECT_GT(counts.power_cuts, 40u * 120u / kTrialDivisor);
}

TEST(Crash, many_lives_with_every_fault_lose_nothing_that_was_acknowledged) {
    CrashCounts counts;
    for (std::uint64_t seed = 1; seed <= 6000 / kTrialDivisor; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        ASSERT_EQ(CrashTrial(seed, 0, counts).run(), "");
    }
    for (const std::uint64_t count :
         {counts.calls, counts.lives, counts.commits, counts.power_cuts, counts.kills_in_call, counts.cuts_in_recovery,
          counts.torn_ends, counts.kept_unanswered, counts.lost_unanswered, counts.failed_syncs, counts.full_disks,
          counts.rolls, counts.drops}) {
        EXPECT_GT(count, 200u / kTrialDivisor);
        RecordProperty("count", std::to_string(count));
    }
    std::printf(
        "%lu calls, %lu lives, %lu commits, %lu power cuts, %lu kills in a call (%lu of both in recovery), %lu torn "
        "ends, unanswered %lu kept "
        "%lu lost, %lu failures, %lu full disks, %lu rolls, %lu drops\n",
        counts.calls, counts.lives, counts.commits, counts.power_cuts, counts.kills_in_call, counts.cuts_in_recovery,
        counts.torn_ends, counts.kept_unanswered, counts.lost_unanswered, counts.failed_syncs, counts.full_disks,
        counts.rolls, counts.drops);
}

}  // namespace
}  // namespace duewheel::crash_test
