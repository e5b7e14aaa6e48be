// Listing, step by step: how a page is merged and its cost per iteration. What needs no engine is in
// queue_views_test.cc, and the simulator tests listings with crashes and all timings.
#include <gtest/gtest.h>

#include "engine/trial/trial_engine.h"

namespace duewheel::engine_listing_test {
namespace {

std::vector<MessageId> ids(const ListAnswer& page) {
    std::vector<MessageId> all;
    for (const ListedMessage& message : page.listed) all.push_back(message.row.id);
    return all;
}

ListCommand list_of(std::string queue = "q") {
    ListCommand list;
    list.queue = std::move(queue);
    return list;
}

TEST(Listing, shows_what_is_pending_by_due_time_with_its_live_state) {
    TrialEngine shard;
    const MessageId late = shard.put(5000);
    const MessageId soon = shard.put(1000);
    const MessageId taken = shard.put(0);
    shard.put(1000, "x", "other");
    ASSERT_EQ(shard.lease(1).size(), 1u);
    const MessageId now = shard.put(0);
    const ListAnswer page = shard.ask<ListAnswer>(list_of());
    EXPECT_EQ(ids(page), (std::vector{taken, now, soon, late}));
    EXPECT_FALSE(page.next);
    EXPECT_EQ(page.listed[0].row.state.state, State::leased);
    EXPECT_EQ(page.listed[0].row.state.attempts, 1u);
    EXPECT_EQ(page.listed[0].lease_until_ms, kStart + 30'000);
    EXPECT_EQ(page.listed[1].row.state.state, State::ready);
    EXPECT_EQ(page.listed[2].row.state.state, State::scheduled);
    ListCommand ready = list_of();
    ready.states = {State::ready};
    EXPECT_EQ(ids(shard.ask<ListAnswer>(ready)), std::vector{now});
    ListCommand window = list_of();
    window.from.due_ms = kStart + 1000;
    window.until_ms = kStart + 5000;
    EXPECT_EQ(ids(shard.ask<ListAnswer>(window)), std::vector{soon});
    EXPECT_TRUE(shard.ask<ListAnswer>(list_of("nobody")).listed.empty());
}

// A next page that began after the following id would skip one of those that are due at one instant, and one that began
// at the last id again would show it twice: nothing noticed, because no test had more at one instant than a page holds.
TEST(Listing, pages_within_one_instant_have_each_message_once) {
    for (const bool sealed : {false, true}) {
        TrialEngine shard({.segment_bytes = 64 << 10, .window_min_ms = 1000, .window_max_ms = 1000});
        PutBatchCommand batch;
        for (int i = 0; i < 25; ++i) {
            PutCommand& put = batch.puts.emplace_back();
            put.queue = "q";
            put.when.at_ms = kStart + 100'000;
        }
        std::vector<MessageId> all;
        for (const PutResult& result : shard.ask<PutBatchAnswer>(batch).results) {
            all.push_back(std::get<PutAnswer>(result).id);
        }
        if (sealed) shard.move_to_index();
        EXPECT_EQ(shard.index.contains(all.front()), sealed);
        ListCommand list = list_of();
        list.limit = 10;
        std::vector<MessageId> seen;
        std::vector<std::size_t> sizes;
        for (int pages = 0; pages < 10; ++pages) {
            const ListAnswer page = shard.ask<ListAnswer>(list);
            sizes.push_back(page.listed.size());
            for (const MessageId id : ids(page)) seen.push_back(id);
            if (!page.next) break;
            list.from = *page.next;
        }
        EXPECT_EQ(seen, all) << (sealed ? "sealed" : "in memory");
        EXPECT_EQ(sizes, (std::vector<std::size_t>{10, 10, 5}));
    }
}

TEST(Listing, memory_and_index_make_one_order) {
    TrialEngine shard({.segment_bytes = 64 << 10, .window_min_ms = 1000, .window_max_ms = 1000});
    std::vector<std::pair<DueMs, MessageId>> expected;
    for (int i = 0; i < 20; ++i) expected.emplace_back(100'000 + 7919 * i % 1000, shard.put(100'000 + 7919 * i % 1000));
    shard.move_to_index();
    for (int i = 20; i < 40; ++i)
        expected.emplace_back(100'000 + 7919 * i % 1000, shard.put(100'000 + 7919 * i % 1000));
    const auto [moved_due, moved] = expected[3];
    const MessageId cancelled = expected[4].second;
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", cancelled}).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(shard.ask<ChangeAnswer>(RescheduleCommand{"default", moved, {std::nullopt, 200'000}}).outcome,
              ChangeOutcome::rescheduled);
    expected[3].first = 200'000;
    expected.erase(expected.begin() + 4);
    std::sort(expected.begin(), expected.end());
    for (const std::uint32_t limit : {1u, 3u, 1000u}) {
        ListCommand list = list_of();
        list.limit = limit;
        std::vector<MessageId> met;
        for (;;) {
            const ListAnswer page = shard.ask<ListAnswer>(list);
            ASSERT_LE(page.listed.size(), limit);
            for (const MessageId id : ids(page)) met.push_back(id);
            if (!page.next) break;
            list.from = *page.next;
        }
        ASSERT_EQ(met.size(), expected.size()) << limit;
        for (std::size_t i = 0; i < met.size(); ++i) EXPECT_EQ(met[i], expected[i].second);
    }
}

// Two million entries looked at in one go would hold up what falls due meanwhile.
TEST(Listing, the_entries_examined_per_iteration_are_limited) {
    TrialEngine shard({.list_chunk = 10});
    for (int i = 0; i < 95; ++i) shard.put(1000 + i);
    const ReplyToken token = shard.submit(list_of());
    int turns = 0;
    for (; shard.engine().next_wakeup() <= shard.engine().now(); ++turns) {
        ASSERT_LT(turns, 50);
        shard.engine().advance_to(turns < 5 ? kStart : kStart + 1000);
        EXPECT_EQ(shard.engine().counters().ready, turns < 5 ? 0u : 1u) << "what falls due meanwhile is fired";
    }
    EXPECT_GE(turns, 10);
    shard.turn(1000);
    EXPECT_EQ(shard.take<ListAnswer>(token).listed.size(), 95u);
}

TEST(History, includes_ends_that_are_not_in_the_index_yet) {
    TrialEngine shard;
    const MessageId done = shard.put(10);
    const MessageId cancelled = shard.put(1000);
    shard.put(1000);
    shard.turn(25);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{shard.lease(1)[0].lease}).outcome, LeaseOutcome::done);
    shard.turn(5);
    shard.ask<ChangeAnswer>(CancelCommand{"default", cancelled});
    HistoryCommand asked;
    asked.queue = "q";
    const HistoryAnswer answer = shard.ask<HistoryAnswer>(asked);
    ASSERT_EQ(answer.ended.size(), 2u);
    EXPECT_EQ(answer.ended[0], (EndedRow{done, State::done, Cause::acknowledged, false, 1, kStart + 25, 0, 15}));
    EXPECT_EQ(answer.ended[1], (EndedRow{cancelled, State::cancelled, Cause::cancelled, false, 0, kStart + 30, 0}));
    EXPECT_FALSE(answer.next);
    asked.limit = 1;
    const HistoryAnswer first = shard.ask<HistoryAnswer>(asked);
    ASSERT_TRUE(first.next);
    asked.from = *first.next;
    const HistoryAnswer second = shard.ask<HistoryAnswer>(asked);
    ASSERT_EQ(second.ended.size(), 1u);
    EXPECT_EQ(second.ended[0].id, cancelled);
    EXPECT_FALSE(second.next);
    asked.from = {};
    asked.limit = 100;
    asked.id = cancelled;
    ASSERT_EQ(shard.ask<HistoryAnswer>(asked).ended.size(), 1u);
    EXPECT_EQ(shard.ask<HistoryAnswer>(asked).ended[0].id, cancelled);
    asked.id = 0;
    asked.outcomes = {State::expired};
    EXPECT_TRUE(shard.ask<HistoryAnswer>(asked).ended.empty());
}

// The simulator met a message that died and was discarded within a millisecond: it stood twice in one page, at one
// place, until its segment was sealed, and a page that ended between the two would have left one out.
TEST(History, the_later_of_two_ends_within_a_millisecond_is_listed) {
    TrialEngine shard;
    PutCommand put{.queue = "q"};
    put.retry.attempts = 1;
    const MessageId id = shard.ask<PutAnswer>(put).id;
    const auto taken = shard.lease(1);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(FailCommand{taken.at(0).lease, "", {}}).outcome, LeaseOutcome::dead);
    EXPECT_EQ(shard.ask<ChangeAnswer>(DiscardCommand{"default", id}).outcome, ChangeOutcome::cancelled);
    HistoryCommand asked;
    asked.queue = "q";
    const HistoryAnswer answer = shard.ask<HistoryAnswer>(asked);
    ASSERT_EQ(answer.ended.size(), 1u);
    EXPECT_EQ(answer.ended[0], (EndedRow{id, State::cancelled, Cause::discarded, false, 1, kStart, 0}));
}

}  // namespace
}  // namespace duewheel::engine_listing_test
