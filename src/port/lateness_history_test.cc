#include "port/lateness_history.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/histogram.h"
#include "message/message.h"
#include "shared/random.h"

namespace duewheel::lateness_history_test {
namespace {

using Row = LatenessHistory::Row;
constexpr DueMs kRow = LatenessHistory::kRowMs;
constexpr DueMs kHour = 3'600'000;
constexpr DueMs kStart = 1'798'783'200'000;  // the start of a row

QueueName queue(const std::string& name) {
    return {"default", name};
}

void deliver(LatenessHistory& history, DueMs now, const QueueName& name, const std::vector<std::int64_t>& late_ms) {
    LatenessHistory::Deliveries deliveries = history.deliver(now, name, late_ms.size());
    for (const std::int64_t late : late_ms) deliveries.record(late, 0);
}

TEST(LatenessHistory, has_a_row_for_each_five_seconds_with_deliveries) {
    LatenessHistory history;
    deliver(history, kStart, queue("a"), {1, 2, 3});
    deliver(history, kStart + kRow - 1, queue("b"), {10});
    deliver(history, kStart + 3 * kRow, queue("a"), {7});
    EXPECT_EQ(history.rows(kStart + kRow - 1, kHour), std::vector<Row>()) << "the row has not ended";
    const std::vector<Row> both = {{kStart, 4, 2, 10, 10}, {kStart + 3 * kRow, 1, 7, 7, 7}};
    EXPECT_EQ(history.rows(kStart + 4 * kRow, kHour), both);
    EXPECT_EQ(history.rows_of(queue("a"), kStart + 4 * kRow, kHour),
              (std::vector<Row>{{kStart, 3, 2, 3, 3}, {kStart + 3 * kRow, 1, 7, 7, 7}}));
    EXPECT_EQ(history.rows_of(queue("b"), kStart + 4 * kRow, kHour), (std::vector<Row>{{kStart, 1, 10, 10, 10}}));
    EXPECT_EQ(history.rows_of({"other", "a"}, kStart + 4 * kRow, kHour), std::vector<Row>());
    EXPECT_EQ(history.rows(kStart + 4 * kRow, 2 * kRow), std::vector<Row>({both[1]})) << "the window begins later";
}

TEST(LatenessHistory, forgets_after_an_hour_also_over_idle_times) {
    LatenessHistory history;
    deliver(history, kStart, queue("a"), {1});
    EXPECT_EQ(history.rows(kStart + kHour - 1, kHour).size(), 1u);
    EXPECT_EQ(history.rows(kStart + kHour + kRow, kHour).size(), 0u) << "without a delivery in between";
    for (const DueMs idle : {kHour, kHour + kRow, 24 * kHour}) {
        LatenessHistory later;
        deliver(later, kStart, queue("a"), {1});
        deliver(later, kStart + idle, queue("a"), {2});
        const std::vector<Row> rows = later.rows(kStart + idle + kRow, kHour);
        ASSERT_EQ(rows.size(), 1u) << idle;
        EXPECT_EQ(rows[0].max_ms, 2u);
    }
}

TEST(LatenessHistory, keeps_the_wait_apart_from_the_lateness) {
    LatenessHistory history;
    history.deliver(kStart, queue("a"), 1).record(3, 60'000);
    history.deliver(kStart, queue("b"), 1).record(7, 0);
    EXPECT_EQ(history.rows(kStart + kRow, kHour), (std::vector<Row>{{kStart, 2, 3, 7, 7, 0, 60'000, 60'000}}));
    const std::vector<LatenessHistory::QueueRows> queues = history.queues(kStart + kRow, kHour);
    ASSERT_EQ(queues.size(), 2u);
    EXPECT_EQ(queues[0].wait_max_ms, 60'000u);
    EXPECT_EQ(queues[0].max_ms, 3u);
    EXPECT_EQ(queues[1].wait_p99_ms, 0u);
}

TEST(LatenessHistory, an_hour_of_rows_is_complete) {
    LatenessHistory history;
    DueMs now = kStart;
    for (std::uint32_t row = 0; row < 1000; ++row, now += kRow) deliver(history, now, queue("a"), {row});
    const std::vector<Row> rows = history.rows(now, kHour);
    ASSERT_EQ(rows.size(), LatenessHistory::kRows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i].time_ms, now - static_cast<DueMs>(rows.size() - i) * kRow);
        EXPECT_EQ(rows[i].max_ms, 1000 - rows.size() + i);
    }
}

TEST(LatenessHistory, percentiles_are_at_most_a_16th_too_high) {
    Random random(5);
    for (const std::uint64_t most : {20u, 1'000u, 1'000'000u, 4'000'000'000u}) {
        LatenessHistory history;
        Histogram exact;
        LatenessHistory::Deliveries deliveries = history.deliver(kStart, queue("a"), 5'000);
        for (int i = 0; i < 5'000; ++i) {
            const std::uint64_t late = random.below(most + 1);
            deliveries.record(static_cast<std::int64_t>(late), 0);
            exact.record(late);
        }
        const Row row = history.rows(kStart + kRow, kHour).at(0);
        for (const auto& [shown, permille] : {std::pair(row.p50_ms, 50'000u), std::pair(row.p99_ms, 99'000u)}) {
            const double expected = static_cast<double>(exact.percentile(permille));
            EXPECT_GE(shown, expected * 63 / 64) << most;
            EXPECT_LE(shown, expected * 17 / 16) << most;
        }
        EXPECT_EQ(row.max_ms, exact.max());
    }
    LatenessHistory history;
    deliver(history, kStart, queue("a"), {-5, 5'000'000'000});
    EXPECT_EQ(history.rows(kStart + kRow, kHour), (std::vector<Row>{{kStart, 2, 0, 4'294'967'295, 4'294'967'295}}));
}

TEST(LatenessHistory, takes_up_to_3_mb_with_any_number_of_queues) {
    LatenessHistory history;
    const std::string long_name(195, 'x');
    DueMs now = kStart;
    for (int row = 0; row < 800; ++row, now += kRow) {
        for (int i = 0; i < 300; ++i) {
            const QueueName name{long_name, long_name + std::to_string((row * 7 + i) % 1000)};
            deliver(history, now, name, {row, i});
        }
    }
    EXPECT_EQ(history.queues(now, kHour).size(), LatenessHistory::kQueuesMax);
    EXPECT_LE(history.memory_bytes(), 3'000'000u);
    EXPECT_GE(history.memory_bytes(), 100u * 720 * 28) << "it counts what it has";
}

TEST(LatenessHistory, a_busy_queue_replaces_one_that_is_idle) {
    LatenessHistory history;
    DueMs now = kStart;
    for (std::size_t i = 0; i < LatenessHistory::kQueuesMax; ++i) {
        deliver(history, now, queue("early" + std::to_string(i)), std::vector<std::int64_t>(5, 1));
    }
    for (int row = 0; row < 3; ++row, now += kRow) {
        for (int i = 0; i < 1'000; ++i) deliver(history, now, queue("small" + std::to_string(i)), {1});
        deliver(history, now, queue("early7"), std::vector<std::int64_t>(50, 1));
        deliver(history, now, queue("busy"), std::vector<std::int64_t>(40, 3));
    }
    EXPECT_EQ(history.rows_of(queue("busy"), now, kHour).size(), 2u) << "from the row after it was seen";
    EXPECT_EQ(history.rows_of(queue("early7"), now, kHour).size(), 3u) << "a busy one stays";
    const std::vector<LatenessHistory::QueueRows> queues = history.queues(now, kHour);
    EXPECT_EQ(queues[0].name, queue("early7"));
    EXPECT_EQ(queues[0].count, 155u);
    EXPECT_EQ(queues[1].name, queue("busy"));
    EXPECT_EQ(queues[1].count, 80u);
    EXPECT_EQ(queues[1].p99_ms, 3u);
    std::size_t early = 0;
    for (const auto& each : queues) early += each.name.queue.starts_with("early");
    EXPECT_EQ(early, LatenessHistory::kQueuesMax - 1) << "queues with one delivery each replace none";
}

}  // namespace
}  // namespace duewheel::lateness_history_test
