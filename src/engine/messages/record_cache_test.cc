#include "engine/messages/record_cache.h"

#include <gtest/gtest.h>

namespace duewheel::record_cache_test {
namespace {

constexpr std::size_t kCost = 100 + 96;  // of a body of 100 bytes, with its place in the table

TEST(RecordCache, is_limited_in_bytes_and_drops_the_oldest) {
    for (const std::size_t limit : {10 * kCost - 1, 10 * kCost, 10 * kCost + 1}) {
        RecordCache cache(limit);
        for (Sequence log_position = 1; log_position <= 10; ++log_position)
            cache.insert(log_position, std::string(100, 'x'));
        EXPECT_EQ(cache.holds(1), limit >= 10 * kCost) << limit;
        EXPECT_TRUE(cache.holds(2));
        EXPECT_LE(cache.bytes(), limit);
        cache.insert(11, std::string(100, 'x'));
        EXPECT_FALSE(cache.holds(1));
        EXPECT_TRUE(cache.holds(11));
        EXPECT_LE(cache.bytes(), limit);
    }
}

TEST(RecordCache, does_not_keep_very_large_bodies) {
    RecordCache cache(800);
    cache.insert(1, std::string(101, 'x'));
    cache.insert(2, std::string(100, 'x'));
    EXPECT_FALSE(cache.holds(1));
    EXPECT_TRUE(cache.holds(2));
    ASSERT_NE(cache.find(2), nullptr);
    cache.erase(2);
    EXPECT_EQ(cache.find(2), nullptr);
    EXPECT_EQ(cache.bytes(), 0u);
}

}  // namespace
}  // namespace duewheel::record_cache_test
