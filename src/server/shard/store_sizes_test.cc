#include "server/shard/store_sizes.h"

#include <gtest/gtest.h>

#include "server/shard/space_watch.h"

namespace duewheel::store_sizes_test {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::size_t kReady = 1 + 3;  // spare and reserve segments

StoreSizes of_volume(std::uint64_t mebibytes) {
    return store_sizes({}, {}, mebibytes * kMiB);
}

TEST(StoreSizes, follow_the_volume) {
    EXPECT_EQ(of_volume(32).segment_bytes, kMiB);
    EXPECT_EQ(of_volume(32).free_floor_bytes, 2 * kMiB);
    EXPECT_EQ(of_volume(420).segment_bytes, 6 * kMiB);
    EXPECT_EQ(of_volume(1024).segment_bytes, 16 * kMiB);
    EXPECT_EQ(of_volume(1024).free_floor_bytes, 64 * kMiB);
    for (const std::uint64_t mebibytes : {4096u, 100'000u, 100'000'000u}) {
        EXPECT_EQ(of_volume(mebibytes).segment_bytes, 32 * kMiB);
        EXPECT_EQ(of_volume(mebibytes).free_floor_bytes, 256 * kMiB);
    }
}

TEST(StoreSizes, of_a_volume_of_unknown_size_are_the_largest) {
    EXPECT_EQ(of_volume(0).segment_bytes, 32 * kMiB);
    EXPECT_EQ(of_volume(0).free_floor_bytes, 256 * kMiB);
}

TEST(StoreSizes, configured_sizes_are_kept) {
    const StoreSizes sizes = store_sizes(8 * kMiB, 0, 48 * kMiB);
    EXPECT_EQ(sizes.segment_bytes, 8 * kMiB);
    EXPECT_EQ(sizes.free_floor_bytes, 0u);
    EXPECT_EQ(store_sizes(8 * kMiB, {}, 48 * kMiB).free_floor_bytes, 3 * kMiB);
}

// A volume of 420 MB refused its first put: four segments of 64 MiB and 256 MiB of free space did not fit on it.
TEST(StoreSizes, a_fresh_store_takes_puts_on_every_volume_from_32_mebibytes_on) {
    for (std::uint64_t mebibytes = 32; mebibytes < 8192; mebibytes += 1 + mebibytes / 50) {
        SCOPED_TRACE(mebibytes);
        const StoreSizes sizes = of_volume(mebibytes);
        SpaceWatch watch({sizes.free_floor_bytes, sizes.segment_bytes, 3});
        const std::uint64_t volume = mebibytes * kMiB;
        watch.see({volume - sizes.needed_bytes(kReady) + sizes.free_floor_bytes, kReady, false});
        EXPECT_FALSE(watch.is_full());
        // One that was full takes puts again when most of it is free.
        EXPECT_LE(watch.resume_bytes() + (1 + kReady) * sizes.segment_bytes, volume * 3 / 10);
    }
}

}  // namespace
}  // namespace duewheel::store_sizes_test
