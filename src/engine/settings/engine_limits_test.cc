// Limits of the engine that no other test reaches, at the limit and beyond; late commands; and the state of queues.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "calendar/duration.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_limits_test {
namespace {

using Shard = TrialEngine;

TEST(EngineLimits, no_more_messages_are_leased_than_the_limit_until_a_lease_ends) {
    EngineOptions options;
    options.leased_max = 2;
    Shard shard(options);
    for (int i = 0; i < 3; ++i) shard.put(0);
    const auto held = shard.lease(10);
    ASSERT_EQ(held.size(), 2u);
    EXPECT_EQ(shard.lease(10).size(), 0u);
    const ReplyToken waiting = shard.submit(LeaseCommand{"default", "q", 10, 30'000, 1000});
    shard.turn(500);
    EXPECT_FALSE(shard.replies.contains(waiting));
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{held[0].lease}).outcome, LeaseOutcome::done);
    shard.turn();
    EXPECT_EQ(shard.take<LeaseAnswer>(waiting).messages.size(), 1u);
    EXPECT_EQ(shard.engine().counters().leased, 2u);
}

// A million messages due at one instant were processed by one wheel before anything that was due a millisecond later,
// and all consumers of their queue were served before any other.
TEST(EngineLimits, a_burst_in_one_queue_does_not_delay_another) {
    EngineOptions options;
    options.crowd_messages = 8;
    options.fire_chunk = 10;
    options.serve_chunk = 3;
    Shard shard(options);
    for (int i = 0; i < 1000; ++i) shard.put(50, "body", "crowd");
    shard.put(51, "body", "few");
    std::vector<ReplyToken> in_crowd;
    for (int i = 0; i < 50; ++i) in_crowd.push_back(shard.submit(LeaseCommand{"default", "crowd", 3, 30'000, 1000}));
    const ReplyToken other = shard.submit(LeaseCommand{"default", "few", 1, 30'000, 1000});
    shard.hold_commits = true;
    shard.turn(51);
    for (int i = 0; i < 20 && !shard.replies.contains(other); ++i) shard.turn();
    EXPECT_EQ(shard.take<LeaseAnswer>(other).messages.size(), 1u);
    EXPECT_FALSE(shard.replies.contains(in_crowd.back()));
    EXPECT_EQ(shard.engine().next_wakeup(), shard.engine().now()) << "the rest goes on at once";
    shard.hold_commits = false;
    for (int i = 0; i < 200; ++i) shard.turn();
    for (const ReplyToken token : in_crowd) EXPECT_GT(shard.take<LeaseAnswer>(token).messages.size(), 0u);
}

TEST(EngineLimits, consumers_of_two_queues_are_served_in_turn) {
    EngineOptions options;
    options.serve_chunk = 1;
    Shard shard(options);
    std::vector<ReplyToken> waiting;
    for (const char* queue : {"a", "a", "a", "b", "b", "b"}) shard.put(0, "body", queue);
    for (const char* queue : {"a", "a", "a", "b", "b", "b"}) {
        waiting.push_back(shard.submit(LeaseCommand{"default", queue, 1, 30'000, 1000}));
    }
    std::string served;
    for (int i = 0; i < 10; ++i) {
        shard.engine().advance_to(shard.engine().now());
        for (const ReplyEffect& effect : shard.engine().take_effects().replies) {
            served += effect.token < waiting[3] ? 'a' : 'b';
        }
    }
    EXPECT_TRUE(served == "ababab" || served == "bababa") << served;
}

TEST(EngineLimits, a_lease_reply_has_up_to_the_limit_of_bytes_or_one_larger_message) {
    EngineOptions options;
    options.lease_bytes_max = 1300;
    Shard shard(options);
    for (int i = 0; i < 3; ++i) shard.put(0, std::string(500, 'x'));
    EXPECT_EQ(shard.lease(10).size(), 2u);
    EXPECT_EQ(shard.lease(10).size(), 1u);
    for (int i = 0; i < 2; ++i) shard.put(0, std::string(5000, 'x'));
    EXPECT_EQ(shard.lease(10).size(), 1u);
    EXPECT_EQ(shard.lease(10).size(), 1u);
}

TEST(EngineLimits, commands_that_wait_for_the_disk_are_refused_beyond_the_limit) {
    EngineOptions options;
    options.commands_waiting_max = 2;
    Shard shard(options);
    const MessageId id = shard.put(1000);
    shard.hold_commits = true;
    const ReplyToken in_flight = shard.submit(PutCommand{.queue = "q"});
    shard.turn();
    const ReplyToken waiting = shard.submit(PutCommand{.queue = "q"});
    const ReplyToken cancel = shard.submit(CancelCommand{"default", id});
    for (const Command& refused : {Command(PutCommand{.queue = "q"}), Command(CancelCommand{"default", id}),
                                   Command(GetCommand{"default", id})}) {
        EXPECT_EQ(shard.ask<Error>(refused).code, "too_busy"_code) << refused.index();
    }
    EXPECT_EQ(shard.ask<LeaseAnswer>(LeaseCommand{"default", "q", 1, 30'000, 0}).messages.size(), 0u)
        << "a lease waits for no disk";
    shard.hold_commits = false;
    shard.turn();
    EXPECT_NE(shard.take<PutAnswer>(in_flight).id, 0u);
    EXPECT_NE(shard.take<PutAnswer>(waiting).id, 0u);
    EXPECT_EQ(shard.take<ChangeAnswer>(cancel).outcome, ChangeOutcome::cancelled);
    EXPECT_NE(shard.put(0), 0u);
}

// The refusals advised limits that exist under no such name, or did not say what to do.
TEST(EngineLimits, the_number_of_concurrent_redrives_is_limited) {
    for (const std::uint32_t limit : {1u, 2u}) {
        EngineOptions options;
        options.redrives_max = limit;
        TrialEngine shard(options);
        shard.put(1000);
        shard.hold_lookups = true;  // so that none comes to its end
        std::vector<ReplyToken> under_way;
        for (std::uint32_t i = 0; i < limit; ++i) {
            under_way.push_back(shard.submit(RedriveCommand{"default", "q", std::nullopt}));
            shard.turn();
            EXPECT_FALSE(shard.replies.contains(under_way.back()));
        }
        EXPECT_EQ(shard.ask<Error>(RedriveCommand{"default", "q", std::nullopt}).code, "too_busy"_code);
        shard.hold_lookups = false;
        shard.answer_lookups();
        shard.turn();
        for (const ReplyToken token : under_way) EXPECT_EQ(shard.take<RedriveAnswer>(token).redriven, 0u);
        EXPECT_EQ(shard.ask<RedriveAnswer>(RedriveCommand{"default", "q", std::nullopt}).redriven, 0u);
    }
}

TEST(EngineLimits, errors_name_the_setting_or_the_remedy) {
    EngineOptions options;
    options.delay_max_ms = 1000;
    options.queues_max = 1;
    Shard shard(options);
    shard.put(0);
    const auto detail = [&](const Command& command) { return shard.ask<Error>(command).message; };
    PutCommand late{.queue = "q"};
    late.when.delay_ms = 1001;
    EXPECT_NE(detail(late).find("choose an earlier one"), std::string::npos);
    EXPECT_NE(detail(PutCommand{.queue = "r"}).find("the setting limits.queues_max"), std::string::npos);
    EXPECT_NE(detail(LeaseCommand{"default", "r", 1, 30'000, 1}).find("the setting limits.queues_max"),
              std::string::npos);
    EXPECT_NE(detail(LeaseCommand{"default", "q", 1, 999, 0}).find("choose a longer one"), std::string::npos);
}

// They said "43200000 ms".
TEST(EngineLimits, errors_name_durations_in_the_units_that_users_write) {
    Shard shard;
    shard.put(0);
    const auto expect_says = [&](const LeaseCommand& command, const std::string& text) {
        const std::string message = shard.ask<Error>(command).message;
        EXPECT_NE(message.find(text), std::string::npos) << message;
    };
    const EngineOptions options;
    expect_says({"default", "q", 1, options.lease_max_ms + 1, 0}, "up to " + format_duration(options.lease_max_ms));
    expect_says({"default", "q", 1, options.lease_min_ms - 1, 0}, "at least " + format_duration(options.lease_min_ms));
    expect_says({"default", "q", 1, 30'000, options.wait_max_ms + 1}, "to " + format_duration(options.wait_max_ms));
}

TEST(EngineLimits, a_lease_requested_long_after_the_last_iteration_lasts_its_full_time) {
    Shard shard;
    shard.put(0);
    shard.engine().set_time(kStart + 60'000);
    const ReplyToken token = shard.submit(LeaseCommand{"default", "q", 1, 5000, 0});
    shard.turn(60'000);
    const auto messages = shard.take<LeaseAnswer>(token).messages;
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].lease_until_ms, kStart + 65'000);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{messages[0].lease}).outcome, LeaseOutcome::done);
}

// A fresh server with one put an hour ahead said that it knew no queue: only those were told of which something had
// been due.
TEST(EngineLimits, a_queue_with_only_future_messages_is_listed) {
    Shard shard;
    shard.put(3'600'000, "body", "ahead");
    EXPECT_EQ(shard.engine().counters().queues, 1u);
    const auto queues = shard.engine().busiest_queues(10);
    ASSERT_EQ(queues.size(), 1u);
    EXPECT_EQ(queues[0].name.queue, "ahead");
    EXPECT_EQ(queues[0].ready, 0u);
    shard.turn(3'600'000);
    EXPECT_EQ(shard.engine().busiest_queues(10).at(0).ready, 1u);
}

// With 99,000 queues a look at the counts copied each of them, ten megabytes for a page that is read every second.
TEST(EngineLimits, the_busiest_queues_come_first_up_to_the_limit) {
    Shard shard;
    shard.put(3'600'000, "body", "far");
    shard.put(3'600'000, "body", "farther");
    shard.put(3'600'000, "body", "farther");
    shard.put(0, "body", "busy");
    shard.put(0, "body", "busiest");
    shard.put(0, "body", "busiest");
    shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "told", ConfigureQueueCommand::What::pause, {}});
    shard.turn(1);
    shard.submit(LeaseCommand{"default", "eager", 1, 5000, 5000});
    shard.turn(1);
    const auto names = [&](std::size_t most) {
        std::string text;
        for (const auto& queue : shard.engine().busiest_queues(most)) text += queue.name.queue + " ";
        return text;
    };
    EXPECT_EQ(names(10), "busiest busy eager farther far told ");
    EXPECT_EQ(names(4), "busiest busy eager farther ");
    EXPECT_EQ(names(1), "busiest ");
    EXPECT_EQ(names(0), "");
    EXPECT_EQ(shard.engine().queue_sums().with_settings, 1u);
    EXPECT_EQ(shard.engine().queue_sums().held, 0u);
    for (const char* queue : {"far", "eager"}) {
        const MessageId id = shard.put(3'600'000, "body", queue);
        shard.ask<ChangeAnswer>(HoldCommand{"default", id});
    }
    EXPECT_EQ(shard.engine().queue_sums().held, 2u);
    EXPECT_EQ(shard.engine().queue_sums().dead, 0u);
}

TEST(EngineLimits, the_queues_with_most_traffic_come_first_and_the_others_are_summed) {
    Shard shard;
    for (int i = 0; i < 3; ++i) shard.put(0, "body", "first");
    for (int i = 0; i < 2; ++i) shard.put(20, "body", "second");
    for (int i = 0; i < 5; ++i) shard.put(3'600'000, "body", "third");
    shard.put(10, "body", "fourth");
    shard.turn(1000);
    const auto messages = shard.ask<LeaseAnswer>(LeaseCommand{"default", "first", 3, 5000, 0}).messages;
    ASSERT_EQ(messages.size(), 3u);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{messages[0].lease}).outcome, LeaseOutcome::done);

    const QueueTraffic traffic = shard.engine().queue_traffic(2);
    ASSERT_EQ(traffic.busiest.size(), 2u);
    const QueueCounters& first = traffic.busiest[0];
    EXPECT_EQ(first.name.queue, "first");
    EXPECT_EQ(first.totals, (QueueTotals{.received = 3, .delivered = 3, .wait_ms = 3'000, .acknowledged = 1}));
    EXPECT_EQ(first.pending, 2u);
    EXPECT_EQ(first.leased, 2u);
    EXPECT_EQ(first.oldest_due_ms, kStart);
    EXPECT_EQ(traffic.busiest[1].name.queue, "third");
    EXPECT_EQ(traffic.busiest[1].oldest_due_ms, 0);
    EXPECT_EQ(traffic.other_queues, 2u);
    EXPECT_EQ(traffic.others.pending, 3u);
    EXPECT_EQ(traffic.others.ready, 3u);
    EXPECT_EQ(traffic.others.oldest_due_ms, kStart + 10);
    EXPECT_EQ(shard.engine().counters(),
              (QueueTotals{.received = 11, .delivered = 3, .wait_ms = 3'000, .acknowledged = 1}));
    EXPECT_EQ(shard.engine().queue_traffic(4).other_queues, 0u);
}

}  // namespace
}  // namespace duewheel::engine_limits_test
