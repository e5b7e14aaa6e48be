// Previews of schedules: future times, and excluded ones.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_schedules.h"

namespace duewheel::engine_previews_test {
namespace {

using Numbers = std::vector<std::uint64_t>;

TEST(Previews, a_preview_ends_with_the_last_time) {
    TrialEngine shard;
    const auto seen = [&shard](DueMs from) {
        Numbers numbers;
        PreviewScheduleCommand look{"default", "s", 10};
        look.from_ms = from;
        for (const auto& time : shard.ask<PreviewAnswer>(look).times) numbers.push_back(time.number);
        return numbers;
    };
    shard.ask<ScheduleAnswer>(every(1'000, 4));
    EXPECT_EQ(seen(kStart), (Numbers{1, 2, 3, 4}));
    EXPECT_EQ(seen(kStart + 2'500), (Numbers{3, 4}));
    EXPECT_EQ(seen(kStart + 4'001), Numbers());
    shard.turn(2'000);
    EXPECT_EQ(seen(kStart), (Numbers{0, 0, 3, 4})) << "those that have passed are not numbered";
    shard.turn(2'000);
    EXPECT_EQ(seen(kStart + 4'001), Numbers()) << "it has ended";
}

TEST(Previews, a_preview_shows_what_will_be_made_and_changes_nothing) {
    TrialEngine shard;
    shard.ask<ScheduleAnswer>(every(100, 4));
    shard.turn(100);
    const std::size_t records = shard.log().size();
    const PreviewAnswer seen = shard.ask<PreviewAnswer>(PreviewScheduleCommand{"default", "s", 10, {}});
    ASSERT_EQ(seen.times.size(), 3u) << "one of four is made";
    EXPECT_EQ(seen.times[0].number, 2u);
    EXPECT_EQ(seen.times[0].nominal_ms, kStart + 200);
    EXPECT_EQ(seen.times[2].number, 4u);
    EXPECT_EQ(shard.ask<Error>(PreviewScheduleCommand{"default", "s", 0, {}}).code, "out_of_range"_code);
    EXPECT_EQ(shard.ask<Error>(PreviewScheduleCommand{"default", "s", 1'001, {}}).code, "out_of_range"_code);
    EXPECT_EQ(shard.log().size(), records);
}

TEST(Previews, a_preview_of_a_put_shows_what_it_would_do_and_changes_nothing) {
    TrialEngine shard;
    const auto after = [&shard](const PutScheduleCommand& put) {
        PreviewScheduleCommand look{"default", "s", 3, {}};
        look.after_put = std::make_shared<const PutScheduleCommand>(put);
        return shard.ask<PreviewAnswer>(look);
    };
    const auto first = [](const PreviewAnswer& seen) {
        return std::pair(seen.times.at(0).number, seen.times.at(0).nominal_ms);
    };
    EXPECT_EQ(first(after(every(100))), (std::pair<std::uint64_t, DueMs>(1, kStart + 100)))
        << "of one that does not exist";
    EXPECT_EQ(shard.ask<Error>(PreviewScheduleCommand{"default", "s", 3, {}}).code, "unknown_schedule"_code);
    shard.ask<ScheduleAnswer>(every(100));
    shard.turn(100);
    const std::size_t records = shard.log().size();
    EXPECT_EQ(first(after(every(100))), (std::pair<std::uint64_t, DueMs>(2, kStart + 200))) << "the same times go on";
    EXPECT_EQ(first(after(every(70))), (std::pair<std::uint64_t, DueMs>(2, kStart + 170))) << "other times start now";
    EXPECT_EQ(first(shard.ask<PreviewAnswer>(PreviewScheduleCommand{"default", "s", 1, {}})),
              (std::pair<std::uint64_t, DueMs>(2, kStart + 200)));
    PreviewScheduleCommand look{"default", "s", 3, {}};
    look.after_put = std::make_shared<const PutScheduleCommand>(every(100, 1));
    EXPECT_EQ(shard.ask<Error>(look).code, "out_of_range"_code) << "its only time has passed";
    EXPECT_EQ(shard.log().size(), records);
}

TEST(Previews, a_preview_in_a_pause_starts_after_the_times_in_it) {
    TrialEngine shard;
    shard.ask<ScheduleAnswer>(every(100));
    shard.ask<ScheduleAnswer>(ControlScheduleCommand{"default", "s", ControlScheduleCommand::What::pause});
    shard.turn(250);
    const PreviewAnswer seen = shard.ask<PreviewAnswer>(PreviewScheduleCommand{"default", "s", 2, {}});
    ASSERT_EQ(seen.times.size(), 2u);
    EXPECT_EQ(seen.times[0].nominal_ms, kStart + 300);
    EXPECT_EQ(seen.times[0].number, 3u);
    const PreviewAnswer before = shard.ask<PreviewAnswer>(PreviewScheduleCommand{"default", "s", 3, kStart + 200});
    ASSERT_EQ(before.times.size(), 3u);
    EXPECT_EQ(before.times[0].number, 0u) << "it has passed";
    EXPECT_EQ(before.times[1].number, 3u);
    shard.ask<ScheduleAnswer>(ControlScheduleCommand{"default", "s", ControlScheduleCommand::What::resume});
    shard.turn(50);
    const std::vector<Delivered> made = shard.lease();
    ASSERT_EQ(made.size(), 1u);
    EXPECT_EQ(made[0].occurrence, 3u);
}

// After more than a thousand times in a pause it no longer knew the numbers, and told times behind the last one.
TEST(Previews, a_preview_in_a_long_pause_ends_with_the_last_time) {
    TrialEngine shard;
    shard.ask<ScheduleAnswer>(every(100, 1'100));
    shard.ask<ScheduleAnswer>(ControlScheduleCommand{"default", "s", ControlScheduleCommand::What::pause});
    shard.turn(109'950);
    const PreviewAnswer last = shard.ask<PreviewAnswer>(PreviewScheduleCommand{"default", "s", 2, {}});
    ASSERT_EQ(last.times.size(), 1u);
    EXPECT_EQ(last.times[0].number, 1'100u);
    shard.turn(50);
    EXPECT_TRUE(shard.ask<PreviewAnswer>(PreviewScheduleCommand{"default", "s", 2, {}}).times.empty());
}

TEST(Previews, a_preview_reports_that_more_is_excluded_than_it_lists) {
    TrialEngine shard;
    shard.ask<ScheduleAnswer>(schedule({.kind = TimesKind::every,
                                        .every_ms = 3'600'000,
                                        .closed = "1970-02-01..1970-02-28",
                                        .start_ms = 30LL * 86'400'000}));
    const auto preview = [&](std::uint32_t count) {
        return shard.ask<PreviewAnswer>(PreviewScheduleCommand{"default", "s", count, {}});
    };
    EXPECT_FALSE(preview(24).more_excluded) << "all on the last day of January";
    const PreviewAnswer seen = preview(25);
    EXPECT_EQ(seen.times.size(), 25u);
    EXPECT_EQ(seen.excluded.size(), 25u);
    EXPECT_TRUE(seen.more_excluded);
    EXPECT_FALSE(preview(28 * 24).more_excluded);
}

}  // namespace
}  // namespace duewheel::engine_previews_test
