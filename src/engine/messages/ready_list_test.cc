// The delivery order of a queue, and its two streams during a backlog.
#include "engine/messages/ready_list.h"

#include <string>

#include <gtest/gtest.h>

#include "engine/trial/trial_engine.h"

namespace duewheel::ready_list_test {
namespace {

constexpr DueMs kLateBefore = 1'000;

ReadyKey key(DueMs due, std::int32_t priority = 0) {
    return {priority, static_cast<EntryNumber>(due), {due, static_cast<MessageId>(due)}};
}

std::string drained(ReadyList& list, bool shares) {
    std::string order;
    const auto is_live = [](const ReadyKey&) { return true; };
    while (const ReadyKey* first = list.first(100, kLateBefore, shares, is_live)) {
        order += (order.empty() ? "" : " ") + std::to_string(first->position.due_ms);
        list.pop_first();
    }
    return order;
}

TEST(ReadyList, delivers_by_priority_then_due_time) {
    ReadyList list;
    for (const DueMs due : {1'200, 100, 1'100, 300, 200}) list.push(key(due, due == 300 ? -1 : 0));
    EXPECT_EQ(drained(list, false), "300 100 200 1100 1200");
}

TEST(ReadyList, gives_each_stream_its_turn_while_many_wait) {
    ReadyList list;
    for (const DueMs due : {1'100, 100, 1'200, 300, 200, 999, 1'000}) list.push(key(due));
    EXPECT_EQ(drained(list, true), "100 1000 200 1100 300 1200 999");
}

TEST(ReadyList, a_higher_priority_goes_before_both_streams) {
    ReadyList list;
    for (const DueMs due : {100, 200, 1'100}) list.push(key(due));
    for (const DueMs due : {50, 1'050}) list.push(key(due, 5));
    EXPECT_EQ(drained(list, true), "100 1100 200 1050 50");
}

TEST(ReadyList, shows_the_first_of_each_stream_in_order_and_keeps_them) {
    ReadyList list;
    for (const DueMs due : {900, 300, 100, 800, 200, 700, 1'300, 1'100, 1'200}) list.push(key(due));
    static_cast<void>(list.first(9, kLateBefore, true, [](const ReadyKey&) { return true; }));
    std::string order;
    list.visit_first(5, [&](const ReadyKey& each) { order += std::to_string(each.position.due_ms) + " "; });
    EXPECT_EQ(order, "100 200 300 700 800 1100 1200 1300 ");
    EXPECT_EQ(drained(list, false), "100 200 300 700 800 900 1100 1200 1300");
}

TEST(ReadyList, fresh_messages_become_late) {
    ReadyList list;
    list.push(key(1'500));
    list.push(key(2'500));
    const auto is_live = [](const ReadyKey&) { return true; };
    EXPECT_EQ(list.first(2, 1'000, true, is_live)->position.due_ms, 1'500);
    list.push(key(1'400));
    EXPECT_EQ(list.first(3, 2'000, true, is_live)->position.due_ms, 1'400);
    list.pop_first();
    EXPECT_EQ(list.first(2, 2'000, true, is_live)->position.due_ms, 2'500);
}

TEST(ReadyList, drops_stale_keys_from_both_streams) {
    ReadyList list;
    for (const DueMs due : {100, 200, 1'100, 1'200}) list.push(key(due));
    const auto is_live = [](const ReadyKey& each) { return each.position.due_ms % 200 == 0; };
    EXPECT_EQ(list.first(2, kLateBefore, true, is_live)->position.due_ms, 200);
    list.pop_first();
    EXPECT_EQ(list.first(1, kLateBefore, true, is_live)->position.due_ms, 1'200);
    list.pop_first();
    EXPECT_EQ(list.first(0, kLateBefore, true, is_live), nullptr);
}

// After an hour without consumers whatever fell due then waited for all of the hour to be delivered.
TEST(ReadyList, of_a_queue_delivers_new_messages_through_a_backlog) {
    EngineOptions options;
    options.streams_from = 50;
    TrialEngine shard(options);
    for (int i = 0; i < 100; ++i) shard.put(0, "late");
    shard.turn(3'600'000);
    shard.put(0, "fresh");
    const std::vector<Delivered> taken = shard.lease(4);
    ASSERT_EQ(taken.size(), 4u);
    EXPECT_EQ(taken[0].body, "late");
    EXPECT_EQ(taken[3].body, "fresh") << "an answer is in due order";
    shard.lease(60);
    shard.put(0, "fresh");
    EXPECT_EQ(shard.lease(37).back().body, "late") << "few wait: first come, first served";
    EXPECT_EQ(shard.lease().at(0).body, "fresh");
}

// A backlog takes all the places that a queue has in memory. What fell due meanwhile was put behind it, on the disk.
TEST(ReadyList, of_a_queue_reserves_memory_for_messages_due_now) {
    EngineOptions options;
    options.ready_max = 10;
    options.segment_bytes = 16 << 10;
    TrialEngine shard(options);
    for (int i = 0; i < 40; ++i) shard.put(0, "late");
    shard.put(60'000, "fresh");
    shard.turn(1);
    shard.move_to_index();
    shard.turn(60'000);
    std::vector<std::string> bodies;
    for (const Delivered& message : shard.lease(2)) bodies.push_back(message.body);
    EXPECT_EQ(bodies, (std::vector<std::string>{"late", "fresh"}));
}

// A start read all that had fallen due while the server was down before it read what fell due next: that was late by
// the time it takes to read an hour.
TEST(ReadyList, new_due_messages_after_a_start_are_read_beside_overdue_ones) {
    constexpr MessageId kOverdue = 40;
    EngineOptions options;
    options.load_chunk = 4;
    options.record_cache_bytes = 0;
    EngineStart start;
    start.load_cursor_ms = kStart - 600'000;
    start.totals.id_counter = start.totals.live_count = kOverdue + 1;
    QueueCounts counts;
    counts.pending = kOverdue + 1;
    start.queue_states.push_back({{"default", "q"}, counts, {}, 0, 0});
    TrialEngine shard(options, start, [&](TrialEngine& of) {
        of.hold_lookups = true;
        for (MessageId number = 1; number <= kOverdue + 1; ++number) {
            MessageRow& row = of.index[number * kShardsMax];
            row.id = number * kShardsMax;
            row.record_bytes = 100;
            row.state.name_space = "default";
            row.state.queue = "q";
            row.state.version = 1;
            row.state.due_ms = number <= kOverdue ? kStart - 500'000 + static_cast<DueMs>(number) : kStart + 10;
            row.state.nominal_due_ms = row.state.due_ms;
        }
    });
    for (int answers = 0; answers < 2; ++answers) {
        shard.answer_lookups();
        shard.turn(0);
    }
    EXPECT_EQ(shard.engine().counters().loaded, options.load_chunk + 1) << "a stretch of both";
    for (int answers = 0; answers < 40; ++answers) {
        shard.answer_lookups();
        shard.turn(0);
    }
    EXPECT_EQ(shard.engine().counters().loaded, kOverdue + 1);
    EXPECT_EQ(shard.engine().counters().ready, kOverdue);
    shard.turn(10);
    EXPECT_EQ(shard.engine().counters().ready, kOverdue + 1);
}

}  // namespace
}  // namespace duewheel::ready_list_test
