// Copies of a log that is being written, of a damaged one, and of a missing one.
#include "journal/log_copy.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "journal/recovery.h"
#include "journal/trial_log.h"
#include "support/sim_disk.h"

namespace duewheel::log_copy_test {
namespace {

constexpr const char* kCopy = "/copy";

Result<LogCopy> copy(SimDisk& disk) {
    EXPECT_TRUE(disk.make_directories(kCopy).ok());
    return copy_log(disk, kDirectory, kCopy);
}

// What the server does between any two steps of the reader, until the hook is taken away: it commits, rolls, and drops
// segments at the front, which `moved` counts.
void go_on_meanwhile(SimDisk& disk, LocalJournal& journal, TrialLog& log, Random& random, std::uint64_t& moved) {
    disk.set_hook([&, is_inside = false](DiskOperation, std::string_view path) mutable {
        if (is_inside || !path.starts_with(kDirectory)) return;
        is_inside = true;
        if (random.chance(100'000)) commit_some(journal, log, random, 1 + static_cast<int>(random.below(5)));
        const Sequence front = journal.first_sequence();
        if (random.chance(100'000)) {
            EXPECT_TRUE(journal.drop_before(front + random.below(log.last_sequence() - front + 1)).ok());
            moved += journal.first_sequence() != front;
        }
        is_inside = false;
    });
}

TEST(LogCopy, contains_all_commits_and_can_be_continued) {
    SimDisk disk;
    Random random(1);
    TrialLog log(4, 700);
    auto journal = opened(disk, trial_options());
    commit_some(*journal, log, random, 100);
    const Result<LogCopy> made = copy(disk);
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ(made->totals, log.totals());
    EXPECT_EQ(made->segments, journal->catalog().list().size());
    disk.crash(random);
    auto copied = opened(disk, trial_options(), kCopy);
    EXPECT_EQ(copied->identity(), journal->identity());
    EXPECT_EQ(log.compare(*copied), "");
    commit_some(*copied, log, random, 20);
    EXPECT_EQ(log.compare(*copied), "");
}

// Up to the first fatal failure.
template <class Check>
void for_logs_being_written(Check check) {
    std::uint64_t moved = 0;
    for (std::uint64_t seed = 1; seed <= 300 && !testing::Test::HasFatalFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        SimDisk disk(seed);
        Random random(seed);
        TrialLog log(4, 700);
        auto journal = opened(disk, trial_options());
        commit_some(*journal, log, random, 80);
        go_on_meanwhile(disk, *journal, log, random, moved);
        check(disk, *journal, log);
    }
    EXPECT_GT(moved, 100u) << "the front did not move in this test";
}

TEST(LogCopy, of_a_log_being_written_is_consistent) {
    for_logs_being_written([](SimDisk& disk, LocalJournal& journal, const TrialLog& log) {
        const Totals before = log.totals();
        const Result<LogCopy> made = copy(disk);
        disk.set_hook({});
        ASSERT_TRUE(made.ok()) << made.error().message;
        ASSERT_GE(made->totals.commit, before.commit);
        const auto copied = opened(disk, trial_options(), kCopy);
        ASSERT_EQ(copied->totals(), made->totals);
        const std::size_t since = log.totals().commit - made->totals.commit;
        ASSERT_EQ(log.compare(*copied, since), "");
        ASSERT_LE(copied->first_sequence(), journal.first_sequence());
    });
}

// Reading it in place meets the same: what looked damaged was being written, and what was gone had been dropped.
TEST(LogCopy, is_not_needed_to_read_a_log_being_written) {
    for_logs_being_written([](SimDisk& disk, LocalJournal&, const TrialLog& log) {
        const Totals before = log.totals();
        const Result<FoundLog> found = find_log_in_use(disk, kDirectory);
        ASSERT_TRUE(found.ok()) << found.error().message;
        Totals read = found->segments.front()->header().before;
        const Status verified = verify_log(*found, [&](const CommitInLog& commit) {
            EXPECT_EQ(commit.totals.commit, read.commit + 1);
            read = commit.totals;
            return Status();
        });
        disk.set_hook({});
        ASSERT_TRUE(verified.ok()) << verified.error().message;
        ASSERT_GE(read.commit, before.commit);
        ASSERT_EQ(read, found->segments.back()->end().totals);
    });
}

// A server that commits faster than the rest of its segment can be looked at: each time that the end was to be judged,
// it was another one, and a log that was whole was called damaged.
TEST(LogCopy, ends_at_any_rate_of_commits) {
    for (const bool copies : {true, false}) {
        SimDisk disk;
        Random random(8);
        TrialLog log(4, 700);
        auto journal = opened(disk, trial_options(4 << 20));
        commit_some(*journal, log, random, 20);
        bool is_inside = false;
        int left = 2500;
        disk.set_hook([&](DiskOperation, std::string_view path) {
            if (is_inside || !path.starts_with(kDirectory) || left == 0) return;
            is_inside = true;
            const int commits = std::min(left, 3);
            commit_some(*journal, log, random, commits);
            left -= commits;
            is_inside = false;
        });
        if (copies) {
            const Result<LogCopy> made = copy(disk);
            EXPECT_TRUE(made.ok()) << made.error().message;
        } else {
            const Result<FoundLog> found = find_log_in_use(disk, kDirectory);
            EXPECT_TRUE(found.ok()) << found.error().message;
        }
        disk.set_hook({});
        EXPECT_LT(left, 1500) << "nothing was committed meanwhile";
    }
}

TEST(LogCopy, of_a_damaged_log_is_refused_as_at_a_start) {
    SimDisk disk;
    Random random(4);
    TrialLog log(4, 700);
    auto journal = opened(disk, trial_options());
    commit_some(*journal, log, random, 60);
    while (journal->room().used_bytes < kSegmentHeaderBytes + 4096) commit_some(*journal, log, random, 1);
    disk.flip(journal->catalog().snapshot().back()->path(), kSegmentHeaderBytes + 20);
    const Result<LogCopy> made = copy(disk);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, "damaged_log"_code);
}

TEST(LogCopy, of_no_log_is_refused) {
    SimDisk disk;
    ASSERT_TRUE(disk.make_directories(kDirectory).ok());
    const Result<LogCopy> made = copy(disk);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, "not_found"_code);
}

TEST(LogCopy, on_a_disk_that_is_too_small_says_so) {
    SimDisk disk;
    Random random(5);
    TrialLog log(4, 700);
    auto journal = opened(disk, trial_options());
    commit_some(*journal, log, random, 60);
    disk.set_capacity(disk.used_bytes() + 20'000);
    const Result<LogCopy> made = copy(disk);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, "no_space"_code);
}

}  // namespace
}  // namespace duewheel::log_copy_test
