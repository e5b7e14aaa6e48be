// Verifies that the crash trials of the journal find each planted bug of the journal.
#include <cstdint>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "journal/crash_trial_fixture.h"
#include "simulation/planted_bug.h"

namespace duewheel {
namespace {

constexpr std::uint64_t kTrialsMax = 3000 / kTrialDivisor;

// How many trials it takes to find what is wrong; 0: none of them does.
std::uint64_t trials_until_found(PlantedBug bug) {
    planted_bug = bug;
    CrashCounts counts;
    std::uint64_t found = 0;
    for (std::uint64_t seed = 1; seed <= kTrialsMax && found == 0; ++seed) {
        const std::string wrong = CrashTrial(seed, 0, counts).run();
        if (wrong.empty()) continue;
        found = seed;
        std::printf("bug %d: trial %lu, %lu calls of the disk: %s\n", static_cast<int>(bug), seed, counts.calls,
                    wrong.c_str());
    }
    planted_bug = kNoBug;
    return found;
}

TEST(PlantedBugs, none_is_found_without_a_planted_bug) {
    EXPECT_EQ(trials_until_found(PlantedBug::none), 0u);
}

TEST(PlantedBugs, a_missing_directory_sync_is_found) {
    EXPECT_NE(trials_until_found(PlantedBug::directory_not_synced), 0u);
}

TEST(PlantedBugs, a_torn_tail_that_is_accepted_is_found) {
    EXPECT_NE(trials_until_found(PlantedBug::torn_tail_accepted), 0u);
}

TEST(PlantedBugs, a_footer_that_is_not_checked_is_found) {
    EXPECT_NE(trials_until_found(PlantedBug::footer_not_checked), 0u);
}

TEST(PlantedBugs, a_cut_area_that_is_not_zeroed_is_found) {
    EXPECT_NE(trials_until_found(PlantedBug::cut_area_not_zeroed), 0u);
}

TEST(PlantedBugs, a_failed_sync_taken_for_success_is_found) {
    EXPECT_NE(trials_until_found(PlantedBug::failed_sync_is_success), 0u);
}

}  // namespace
}  // namespace duewheel
