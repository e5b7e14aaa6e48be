#include "store/message_map.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>

#include <gtest/gtest.h>

#include "base/block_vector.h"
#include "shared/random.h"

namespace duewheel {
namespace {

TEST(MessageMap, agrees_with_a_map_over_random_histories) {
    Random random(7);
    MessageMap<std::uint32_t> map;
    std::map<MessageId, std::uint32_t> model;
    for (int i = 0; i < 200'000; ++i) {
        const MessageId id = random.below(5'000) * kShardsMax;
        const auto value = static_cast<std::uint32_t>(random.below(1'000));
        if (random.chance(400'000)) {
            map.erase(id);
            model.erase(id);
        } else {
            map.set(id, value);
            model[id] = value;
        }
        ASSERT_EQ(map.size(), model.size());
    }
    std::map<MessageId, std::uint32_t> seen;
    map.for_each([&](MessageId id, std::uint32_t value) { seen[id] = value; });
    EXPECT_EQ(seen, model);
    for (MessageId id = 0; id < 5'000 * kShardsMax; id += kShardsMax) {
        ASSERT_EQ(map.contains(id), model.contains(id));
        if (map.contains(id)) {
            ASSERT_EQ(*map.find(id), model.at(id));
        }
    }
}

// While half a million messages ended, an iteration took 40 ms: a table of all of them was copied to one of twice its
// size.
TEST(MessageMap, grows_in_small_parts) {
    MessageMap<std::uint64_t> map;
    constexpr std::size_t kIds = 1'000'000;
    std::size_t most = 0;
    for (std::size_t i = 1; i <= kIds; ++i) {
        const std::size_t before = map.bytes();
        map.set(i * kShardsMax, i);
        if (i > 10'000) most = std::max(most, (map.bytes() - before) * 100 / before);
    }
    EXPECT_LE(most, 6u) << "per cent that it grew at once";
    EXPECT_LE(map.bytes(), kIds * 2 * 17);
}

TEST(BlockVector, elements_stay_where_they_are) {
    BlockVector<int> numbers;
    numbers.grow_to(1);
    int* first = &numbers[0];
    *first = 5;
    numbers.grow_to(3 * BlockVector<int>::kBlock + 1);
    EXPECT_EQ(&numbers[0], first);
    EXPECT_EQ(numbers[0], 5);
    EXPECT_EQ(numbers[3 * BlockVector<int>::kBlock], 0);
    EXPECT_EQ(numbers.size(), 3 * BlockVector<int>::kBlock + 1);
    EXPECT_EQ(numbers.capacity(), 4 * BlockVector<int>::kBlock);
}

}  // namespace
}  // namespace duewheel
