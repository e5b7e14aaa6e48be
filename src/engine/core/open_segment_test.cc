#include "engine/core/open_segment.h"

#include <tuple>

#include <gtest/gtest.h>

namespace duewheel::open_segment_test {
namespace {

constexpr std::uint64_t kBytes = 64 << 10;
constexpr std::uint64_t kReserve = 2048;  // kBytes / 32, and no less than kClosingRoomBytes

struct Trial {
    EngineOptions options{.segment_bytes = kBytes, .unsealed_segments_max = 2};
    OpenSegment segment{options, 5, kSegmentHeaderBytes, 0, 512, {}};

    // Records for which the segment has just enough space.
    std::size_t most() const {
        std::size_t bytes = kBytes;
        while (!segment.fits(bytes)) --bytes;
        return bytes;
    }
    void close() {
        segment.add_commit(10, true);
        segment.close(0);
    }
};

TEST(OpenSegment, keeps_space_for_the_commit_that_closes_it) {
    Trial trial;
    const std::size_t most = trial.most();
    trial.segment.add_commit(most, false);
    EXPECT_FALSE(trial.segment.fits(1));
    EXPECT_GE(trial.segment.room_to_close(), kReserve);
    EXPECT_LT(trial.segment.room_to_close(), kReserve + 512);
}

TEST(OpenSegment, one_that_its_first_commit_enlarged_can_still_be_closed) {
    Trial trial;
    trial.segment.add_commit(10 * kBytes, false);
    EXPECT_EQ(trial.segment.room_to_close(), kClosingRoomBytes);
    trial.segment.close(0);
    EXPECT_EQ(trial.segment.number(), 6u);
    EXPECT_TRUE(trial.segment.is_empty());
    EXPECT_TRUE(trial.segment.fits(1'000));
}

TEST(OpenSegment, is_not_closed_while_it_is_empty) {
    Trial trial;
    trial.segment.close_soon();
    EXPECT_TRUE(trial.segment.is_close_wanted());
    trial.segment.begin_batch();
    EXPECT_FALSE(trial.segment.is_close_wanted());
    trial.segment.add_commit(10, false);
    trial.segment.close_soon();
    trial.segment.begin_batch();
    EXPECT_TRUE(trial.segment.is_close_wanted());
    trial.segment.add_commit(10, true);
    EXPECT_FALSE(trial.segment.is_close_wanted());
}

TEST(OpenSegment, a_closed_segment_is_swept_once_the_index_has_it) {
    Trial trial;
    trial.close();  // 5
    trial.close();  // 6
    EXPECT_EQ(trial.segment.unsealed(), 2u);
    EXPECT_FALSE(trial.segment.has_to_sweep());
    trial.segment.table_taken(5);
    EXPECT_EQ(trial.segment.unsealed(), 1u);
    EXPECT_EQ(trial.segment.first_to_sweep(), 5u);
    trial.segment.swept();
    trial.segment.table_taken(7);  // a fast sealer has found 7 before it counts as closed
    EXPECT_EQ(trial.segment.first_to_sweep(), 6u);
    trial.segment.swept();
    trial.segment.add_commit(10, true);
    trial.segment.close(7);
    EXPECT_EQ(trial.segment.first_to_sweep(), 7u);
}

TEST(OpenSegment, puts_wait_for_the_sealer_and_for_a_spare_segment) {
    Trial trial;
    trial.segment.set_reserve_at_stake(true);
    EXPECT_TRUE(trial.segment.puts_stalled()) << "they would start a segment";
    trial.segment.add_commit(10, false);
    EXPECT_FALSE(trial.segment.puts_stalled());
    trial.segment.set_reserve_at_stake(false);
    trial.close();
    EXPECT_FALSE(trial.segment.puts_stalled());
    trial.close();
    EXPECT_TRUE(trial.segment.puts_stalled()) << "two segments are not in the index";
    trial.segment.set_space(LogSpace::scarce);
    EXPECT_FALSE(trial.segment.puts_stalled()) << "they are refused";
    EXPECT_TRUE(trial.segment.refuses_puts());
}

// The table of open_segment.h.
TEST(OpenSegment, with_less_space_less_may_be_written) {
    Trial trial;
    trial.segment.add_commit(10, false);
    const auto may = [&](LogSpace space) {
        trial.segment.set_space(space);
        return std::tuple(!trial.segment.refuses_puts(), trial.segment.may_add(Adds::change),
                          trial.segment.may_add(Adds::end));
    };
    EXPECT_EQ(may(LogSpace::enough), std::tuple(true, true, true));
    EXPECT_EQ(may(LogSpace::scarce), std::tuple(false, true, true));
    EXPECT_EQ(may(LogSpace::reserve), std::tuple(false, false, true));
    EXPECT_EQ(may(LogSpace::cleaning), std::tuple(false, false, true));
    EXPECT_EQ(may(LogSpace::none), std::tuple(false, false, true));
    trial.segment.add_commit(kBytes / 2, false);
    EXPECT_EQ(may(LogSpace::cleaning), std::tuple(false, false, true));
    EXPECT_EQ(may(LogSpace::none), std::tuple(false, false, false)) << "it is half full";
    EXPECT_TRUE(trial.segment.cleaning_may_write());
    trial.segment.close(0);
    EXPECT_EQ(may(LogSpace::cleaning), std::tuple(false, false, false)) << "nothing else starts a segment";
    EXPECT_TRUE(trial.segment.cleaning_may_write());
    EXPECT_EQ(may(LogSpace::none), std::tuple(false, false, false));
    EXPECT_FALSE(trial.segment.cleaning_may_write());
}

TEST(OpenSegment, one_that_was_started_for_compaction_takes_nothing_else) {
    Trial trial;
    trial.segment.set_space(LogSpace::cleaning);
    trial.segment.add_commit(10, false);
    EXPECT_FALSE(trial.segment.may_add(Adds::end));
    EXPECT_TRUE(trial.segment.cleaning_may_write());
    trial.segment.set_space(LogSpace::reserve);
    EXPECT_TRUE(trial.segment.may_add(Adds::end)) << "there is space again";
}

}  // namespace
}  // namespace duewheel::open_segment_test
