#include "server/shard/space_watch.h"

#include <gtest/gtest.h>

namespace duewheel::space_watch_test {
namespace {

constexpr std::uint64_t kMegabyte = 1 << 20;
constexpr SpaceLimits kUsual{256 * kMegabyte, 64 * kMegabyte, 2};

SpaceReading seen(std::uint64_t free_megabytes, std::size_t spares = 3, bool refused = false) {
    return {free_megabytes * kMegabyte, spares, refused};
}

TEST(SpaceWatch, is_full_below_its_floor_and_not_at_it) {
    SpaceWatch watch(kUsual);
    watch.see(seen(256));
    EXPECT_FALSE(watch.is_full());
    watch.see({256 * kMegabyte - 1, 3, false});
    EXPECT_TRUE(watch.is_full());
}

TEST(SpaceWatch, ends_only_a_margin_above_the_floor) {
    SpaceWatch watch(kUsual);
    watch.see(seen(100));
    EXPECT_EQ(watch.resume_bytes(), 384 * kMegabyte);
    watch.see(seen(383));
    EXPECT_TRUE(watch.is_full());
    watch.see(seen(384));
    EXPECT_FALSE(watch.is_full());
}

TEST(SpaceWatch, about_the_floor_it_changes_once) {
    SpaceWatch watch(kUsual);
    int changes = 0;
    for (int second = 0; second < 100; ++second) {
        const bool before = watch.is_full();
        watch.see(seen(second % 2 == 0 ? 250 : 320));  // a spare is filled and given up again
        if (watch.is_full() != before) ++changes;
    }
    EXPECT_EQ(changes, 1);
}

TEST(SpaceWatch, is_full_when_only_the_reserve_is_left) {
    SpaceWatch watch({0, 64 * kMegabyte, 2});
    watch.see(seen(10, 3));
    EXPECT_FALSE(watch.is_full()) << "the floor is off";
    watch.see(seen(10, 2));
    EXPECT_FALSE(watch.is_full()) << "a spare is on its way";
    watch.see(seen(10, 2, true));
    EXPECT_TRUE(watch.is_full());
    watch.see(seen(200, 2, true));
    EXPECT_TRUE(watch.is_full()) << "the spares come first";
    watch.see(seen(130, 3));
    EXPECT_FALSE(watch.is_full());
}

TEST(SpaceWatch, has_only_the_reserve_when_no_other_spare_can_be_filled) {
    SpaceWatch watch(kUsual);
    watch.see(seen(100, 3));
    EXPECT_FALSE(watch.has_only_reserve()) << "there is less than the floor";
    watch.see(seen(100, 2));
    EXPECT_FALSE(watch.has_only_reserve()) << "a spare is on its way";
    watch.see(seen(10, 3, true));
    EXPECT_FALSE(watch.has_only_reserve()) << "one more than the reserve";
    watch.see(seen(10, 2, true));
    EXPECT_TRUE(watch.has_only_reserve());
    watch.see(seen(100, 3));
    EXPECT_FALSE(watch.has_only_reserve());
    EXPECT_TRUE(watch.is_full());
}

TEST(SpaceWatch, without_floor_and_spares_it_is_never_full) {
    SpaceWatch watch({0, 64 * kMegabyte, 0});
    watch.see(seen(0, 0));
    EXPECT_FALSE(watch.is_full());
}

TEST(SpaceWatch, looks_closely_before_it_is_full) {
    SpaceWatch watch(kUsual);
    watch.see(seen(10'000));
    EXPECT_FALSE(watch.is_close());
    watch.see(seen(767));
    EXPECT_TRUE(watch.is_close());
    EXPECT_FALSE(watch.is_full());
    watch.see(seen(10'000, 1, true));
    EXPECT_TRUE(watch.is_close());
}

}  // namespace
}  // namespace duewheel::space_watch_test
