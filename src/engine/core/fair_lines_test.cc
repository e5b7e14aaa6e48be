#include "engine/core/fair_lines.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "shared/random.h"

namespace duewheel::fair_lines_test {
namespace {

struct Item {
    std::uint64_t space = 0;
    std::uint64_t queue = 0;
    std::uint64_t number = 0;
};
using Lines = FairLines<Item>;

constexpr std::int64_t kCost = 1'000;

void fill(Lines& lines, std::uint64_t space, std::uint64_t queue, int count, std::uint32_t weight = 1) {
    for (int i = 0; i < count; ++i) {
        lines.push({space, queue}, weight, {space, queue, static_cast<std::uint64_t>(i)});
    }
}

std::map<std::uint64_t, int> taken_by_space(Lines& lines, int count, std::int64_t cost = kCost) {
    std::map<std::uint64_t, int> taken;
    for (int i = 0; i < count; ++i) ++taken[lines.take(cost).space];
    return taken;
}

// How many are taken before the first one that `is_wanted`.
template <class IsWanted>
int taken_until(Lines& lines, IsWanted is_wanted) {
    int before = 0;
    while (!is_wanted(lines.take(kCost))) ++before;
    return before;
}
constexpr int kTurn = 9;  // a turn of 8 KiB, and what is taken with the last of it

TEST(FairLines, one_line_is_a_queue) {
    Lines lines;
    fill(lines, 7, 3, 100);
    for (std::uint64_t i = 0; i < 100; ++i) {
        EXPECT_EQ(lines.next().number, i);
        EXPECT_EQ(lines.take(kCost).number, i);
    }
    EXPECT_TRUE(lines.empty());
}

TEST(FairLines, a_flood_delays_another_namespace_by_one_turn) {
    Lines lines;
    fill(lines, 1, 0, 100'000);
    fill(lines, 2, 0, 1);
    EXPECT_LE(taken_until(lines, [](const auto& item) { return item.space == 2; }), kTurn);
}

TEST(FairLines, namespaces_take_turns_by_their_weights) {
    Lines lines;
    fill(lines, 1, 0, 20'000, 1);
    fill(lines, 2, 0, 20'000, 3);
    auto taken = taken_by_space(lines, 8'000);
    EXPECT_NEAR(taken[1], 2'000, 40);
    EXPECT_NEAR(taken[2], 6'000, 40);
}

TEST(FairLines, turns_are_measured_by_cost) {
    Lines lines;
    fill(lines, 1, 0, 20'000);
    fill(lines, 2, 0, 20'000);
    std::map<std::uint64_t, std::int64_t> cost;
    for (int i = 0; i < 10'000; ++i) {
        const std::int64_t of_next = lines.next().space == 1 ? 100 : 5'000;
        cost[lines.take(of_next).space] += of_next;
    }
    EXPECT_NEAR(static_cast<double>(cost[1]) / static_cast<double>(cost[2]), 1.0, 0.05);
}

TEST(FairLines, an_item_that_costs_more_than_a_turn_uses_the_next_ones_too) {
    Lines lines;
    fill(lines, 1, 0, 10);
    fill(lines, 2, 0, 1'000);
    EXPECT_EQ(lines.take(1 << 20).space, 1u);
    const auto taken = taken_by_space(lines, 1'000);
    EXPECT_EQ(taken.contains(1), false) << "a mebibyte is more than a thousand items";
    EXPECT_EQ(lines.take(kCost).space, 1u) << "and who is alone owes nobody";
}

TEST(FairLines, an_idle_line_saves_no_turns) {
    Lines lines;
    fill(lines, 1, 0, 1);
    lines.take(kCost);
    fill(lines, 2, 0, 1'000);
    taken_by_space(lines, 900);
    fill(lines, 1, 0, 100);
    auto taken = taken_by_space(lines, 40);
    EXPECT_NEAR(taken[1], 20, 9);
}

TEST(FairLines, many_queues_of_one_namespace_get_no_more_than_one_of_another) {
    Lines lines;
    for (std::uint64_t queue = 1; queue <= 100; ++queue) fill(lines, 1, queue, 100);
    fill(lines, 2, 1, 10'000);
    auto taken = taken_by_space(lines, 4'000);
    EXPECT_NEAR(taken[1], 2'000, 20);
}

TEST(FairLines, queues_of_one_namespace_take_turns) {
    Lines lines;
    fill(lines, 1, 1, 100'000);
    fill(lines, 1, 2, 1);
    EXPECT_LE(taken_until(lines, [](const auto& item) { return item.queue == 2; }), kTurn);
}

TEST(FairLines, a_returned_item_is_the_first_of_its_line) {
    Lines lines;
    fill(lines, 1, 1, 3);
    Item first = lines.take(0);
    Item second = lines.take(0);
    lines.put_back({1, 1}, 1, second);
    lines.put_back({1, 1}, 1, first);
    for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(lines.take(0).number, i);
}

TEST(FairLines, erasing_an_item_keeps_the_order_of_the_others) {
    Lines lines;
    fill(lines, 1, 1, 10);
    fill(lines, 2, 1, 5);
    lines.erase_if([](const Item& item) { return item.space == 2 || item.number % 2 == 0; });
    ASSERT_EQ(lines.size(), 5u);
    EXPECT_EQ(lines.find_if([](const Item& item) { return item.space == 2; }), nullptr);
    for (std::uint64_t i = 1; i < 10; i += 2) EXPECT_EQ(lines.take(kCost).number, i);
    EXPECT_TRUE(lines.empty());
}

// Against lines that are kept by hand: order within each, nothing lost, and over any stretch in which two namespaces
// had something waiting throughout, neither got more than its weight's share and three turns.
TEST(FairLines, keep_order_and_shares_over_random_histories) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Random random(seed);
        Lines lines;
        std::map<std::pair<std::uint64_t, std::uint64_t>, std::deque<std::uint64_t>> kept;
        std::map<std::uint64_t, std::int64_t> got;  // since all of them had something waiting
        const std::uint32_t weights[] = {1, 2, 5};
        std::uint64_t number = 0;
        const auto waits = [&](std::uint64_t space) {
            return std::any_of(kept.begin(), kept.end(),
                               [&](const auto& line) { return line.first.first == space && !line.second.empty(); });
        };
        for (int step = 0; step < 3'000; ++step) {
            if (random.chance(520'000)) {
                const std::uint64_t space = random.below(3);
                const std::uint64_t queue = random.below(3);
                lines.push({space, queue}, weights[space], {space, queue, ++number});
                kept[{space, queue}].push_back(number);
                continue;
            }
            if (lines.empty()) continue;
            const Item seen = lines.next();
            const std::int64_t cost = random.between(1, 3'000);
            const Item item = lines.take(cost);
            ASSERT_EQ(item.number, seen.number);
            got[item.space] += cost;
            auto& line = kept[{item.space, item.queue}];
            ASSERT_EQ(line.front(), item.number) << "seed " << seed;
            if (random.chance(100'000)) {
                lines.put_back({item.space, item.queue}, weights[item.space], item);
            } else {
                line.pop_front();
            }
            if (!waits(0) || !waits(1) || !waits(2)) got.clear();
            for (const auto& [space, of] : got) {
                for (const auto& [other, of_other] : got) {
                    const auto per_weight = of / weights[space] - of_other / weights[other];
                    EXPECT_LE(per_weight, 3 * 8'192 + 3'000) << "seed " << seed;
                }
            }
        }
    }
}

}  // namespace
}  // namespace duewheel::fair_lines_test
