#include "server/shard/log_reserve.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "support/sim_disk.h"

namespace duewheel::log_reserve_test {
namespace {

constexpr const char* kDirectory = "/data";
constexpr std::uint64_t kSegmentBytes = 64 << 10;

// A log that is open and has all its spare segments, one and a reserve of four.
class LogReserveTest : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(disk.make_directories(kDirectory).ok());
        JournalOptions options;
        options.segment_bytes = kSegmentBytes;
        options.spare_count = 1;
        options.reserve_count = 4;
        auto opened = LocalJournal::open(disk, std::string(kDirectory) + "/journal", options);
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        journal = *std::move(opened);
        reserve = std::make_unique<LogReserve>(
            disk, kDirectory, *journal,
            SpaceLimits{.floor_bytes = 0, .segment_bytes = kSegmentBytes, .reserve_segments = 4});
        ASSERT_TRUE(measure());
        ASSERT_EQ(journal->ready_spares(), 5u);
    }
    void fill_disk() { disk.set_capacity(disk.used_bytes()); }
    bool measure() {
        const Result<SpaceReading> seen = reserve->maintain_spare_segments();
        if (seen) reserve->observe(*seen);
        return seen.ok();
    }
    // Succeeds once the disk has this many free bytes.
    LogReserve::Step needs(std::uint64_t bytes) {
        return [this, bytes]() -> Status {
            ++runs;
            if (*disk.free_bytes(kDirectory) >= bytes) return {};
            return Error{"no_space"_code, "the disk is full"};
        };
    }

    SimDisk disk;
    std::unique_ptr<LocalJournal> journal;
    std::unique_ptr<LogReserve> reserve;
    int runs = 0;
};

TEST_F(LogReserveTest, a_step_that_has_space_uses_no_spare) {
    EXPECT_TRUE(reserve->run_to_build_table(needs(0)).ok());
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(journal->ready_spares(), 5u);
    const Status failed = reserve->run_to_build_table([] { return Status(Error{"io_error"_code, "broken"}); });
    EXPECT_EQ(failed.error().code, "io_error"_code);
    EXPECT_EQ(journal->ready_spares(), 5u);
}

TEST_F(LogReserveTest, on_a_full_disk_a_spare_is_given_up_and_the_step_runs_again) {
    fill_disk();
    EXPECT_TRUE(reserve->run_to_build_table(needs(kSegmentBytes)).ok());
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(journal->ready_spares(), 4u);
    EXPECT_EQ(reserve->run_to_build_table(needs(100 * kSegmentBytes)).error().code, "no_space"_code);
    EXPECT_EQ(journal->ready_spares(), 3u);
}

// What is left for compaction, which alone frees space, is kept from a step that frees none.
TEST_F(LogReserveTest, a_mark_leaves_the_segments_of_compaction_and_a_table_does_not) {
    fill_disk();
    const auto never = needs(100 * kSegmentBytes);
    for (int i = 0; i < 5; ++i) EXPECT_FALSE(reserve->run_to_save_mark(never).ok());
    EXPECT_EQ(journal->ready_spares(), 3u);
    for (int i = 0; i < 5; ++i) EXPECT_FALSE(reserve->run_to_build_table(never).ok());
    EXPECT_EQ(journal->ready_spares(), 0u) << "the open segment still accepts records";
}

TEST_F(LogReserveTest, spares_are_not_filled_while_a_table_waits_for_space) {
    fill_disk();
    EXPECT_FALSE(reserve->run_to_build_table(needs(100 * kSegmentBytes)).ok());
    reserve->set_table_waits(true);
    disk.set_capacity(disk.used_bytes() + 2 * kSegmentBytes);
    const Result<SpaceReading> waits = reserve->maintain_spare_segments();
    ASSERT_TRUE(waits.ok());
    EXPECT_TRUE(waits->spares_refused);
    EXPECT_EQ(waits->ready_spares, 4u);
    reserve->set_table_waits(false);
    const Result<SpaceReading> filled = reserve->maintain_spare_segments();
    ASSERT_TRUE(filled.ok());
    EXPECT_FALSE(filled->spares_refused);
    EXPECT_EQ(filled->ready_spares, 5u);
}

TEST_F(LogReserveTest, the_log_space_follows_what_is_left) {
    EXPECT_EQ(reserve->log_space(), LogSpace::enough);
    fill_disk();
    const auto give_up = [&] {
        EXPECT_FALSE(reserve->run_to_build_table(needs(100 * kSegmentBytes)).ok());
        disk.set_capacity(disk.used_bytes());
        EXPECT_TRUE(measure());
    };
    give_up();
    EXPECT_EQ(reserve->log_space(), LogSpace::reserve) << "four are left, the whole reserve";
    give_up();
    EXPECT_EQ(reserve->log_space(), LogSpace::cleaning);
    give_up();
    give_up();
    EXPECT_EQ(reserve->log_space(), LogSpace::cleaning);
    give_up();
    EXPECT_EQ(reserve->log_space(), LogSpace::none);
}

TEST_F(LogReserveTest, a_measurement_is_needed_when_the_reserve_has_changed_since_the_last_one) {
    EXPECT_FALSE(reserve->needs_measurement());
    fill_disk();
    EXPECT_FALSE(reserve->run_to_build_table(needs(100 * kSegmentBytes)).ok());
    EXPECT_TRUE(reserve->needs_measurement());
    disk.set_capacity(disk.used_bytes());
    ASSERT_TRUE(measure());
    EXPECT_FALSE(reserve->needs_measurement());
}

}  // namespace
}  // namespace duewheel::log_reserve_test
