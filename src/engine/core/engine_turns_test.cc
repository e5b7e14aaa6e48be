// Turns: a client that floods the server delays neither another namespace nor another queue of its own.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_turns_test {
namespace {

std::vector<std::string> bodies_in_log(const TrialEngine& shard) {
    std::vector<std::string> bodies;
    for (const MessageRecord& record : shard.records<MessageRecord>()) {
        if (record.kind == RecordKind::put) bodies.emplace_back(record.content.body);
    }
    return bodies;
}

PutCommand put_into(const std::string& name_space, const std::string& queue, const std::string& body) {
    PutCommand put;
    put.name_space = name_space;
    put.queue = queue;
    put.body = body;
    return put;
}

// After a flood of one put, the other does not wait for all of it.
void expect_quiet_is_early(const PutCommand& loud, const PutCommand& quiet) {
    EngineOptions options;
    options.batch_operations_max = 20;
    TrialEngine shard(options);
    for (int i = 0; i < 2'000; ++i) shard.submit(loud);
    shard.submit(quiet);
    shard.turn();
    const std::vector<std::string> bodies = bodies_in_log(shard);
    ASSERT_EQ(bodies.size(), 2'001u);
    EXPECT_LT(std::find(bodies.begin(), bodies.end(), quiet.body) - bodies.begin(), 60);
}

// A namespace sent two thousand puts at once, and the one put of another was in the last commit.
TEST(Turns, a_flood_of_one_namespace_delays_another_by_one_turn) {
    expect_quiet_is_early(put_into("loud", "q", "loud"), put_into("quiet", "q", "quiet"));
}

TEST(Turns, a_flood_of_one_queue_delays_another_of_its_namespace_by_a_turn) {
    expect_quiet_is_early(put_into("default", "loud", "loud"), put_into("default", "quiet", "quiet"));
}

TEST(Turns, are_as_long_as_weights_say) {
    EngineOptions options;
    options.batch_operations_max = 20;
    TrialEngine shard(options);
    shard.ask<NamespaceAnswer>(ConfigureNamespaceCommand{"heavy", false, {.weight = 4}});
    for (int i = 0; i < 1'000; ++i) {
        shard.submit(put_into("light", "q", "light"));
        shard.submit(put_into("heavy", "q", "heavy"));
    }
    shard.turn();
    const std::vector<std::string> bodies = bodies_in_log(shard);
    const auto heavy = std::count(bodies.begin(), bodies.begin() + 1'000, "heavy");
    EXPECT_NEAR(static_cast<double>(heavy), 800, 40);
}

// An ack of one namespace behind a flood of cancels of another.
TEST(Turns, an_ack_waits_in_the_line_of_its_message) {
    EngineOptions options;
    options.batch_operations_max = 20;
    TrialEngine shard(options);
    std::vector<MessageId> loud;
    for (int i = 0; i < 1'000; ++i) loud.push_back(shard.ask<PutAnswer>(put_into("loud", "q", "loud")).id);
    shard.put(0);
    const std::vector<Delivered> taken = shard.lease(1);
    ASSERT_EQ(taken.size(), 1u);
    shard.turn();
    for (const MessageId id : loud) shard.submit(CancelCommand{"loud", id});
    shard.submit(AckCommand{taken[0].lease});
    shard.turn();
    std::size_t before = 0;
    for (const MessageRecord& record : shard.records<MessageRecord>()) {
        if (record.kind != RecordKind::end) continue;
        if (record.id == taken[0].lease.id) break;
        ++before;
    }
    EXPECT_LT(before, 60u);
}

// A namespace with hundreds of queues was served in all of them before the one queue of another.
TEST(Turns, queues_of_one_namespace_are_served_in_turn_with_those_of_another) {
    constexpr int kLoud = 300;
    EngineOptions options;
    options.serve_chunk = 10;
    TrialEngine shard(options);
    const auto name = [](int i) { return "q" + std::to_string(i); };
    const auto put_later = [&](const std::string& name_space, const std::string& queue) {
        PutCommand put = put_into(name_space, queue, "body");
        put.when.delay_ms = 50;
        shard.ask<PutAnswer>(std::move(put));
        shard.submit(LeaseCommand{name_space, queue, 1, 30'000, 60'000});
    };
    for (int i = 0; i < kLoud; ++i) put_later("loud", name(i));
    put_later("quiet", "q");
    put_later("heavy", "a");
    shard.turn();
    shard.engine().advance_to(shard.engine().now() + 50);  // one turn
    std::map<std::string, std::uint64_t> leased;
    for (const QueueCounters& queue : shard.engine().busiest_queues(kLoud + 2)) {
        leased[queue.name.name_space] += queue.leased;
    }
    EXPECT_EQ(leased["quiet"], 1u);
    EXPECT_EQ(leased["loud"], 8u);
    shard.turn(50);
    for (int turns = 0; turns < kLoud; ++turns) shard.turn();
    EXPECT_EQ(shard.engine().counters().leased, kLoud + 2u) << "and the others in the turns that follow";
}

// One namespace had filled all the room there is for what waits, and another was told that the server is busy.
TEST(Turns, who_floods_leaves_room_for_others) {
    EngineOptions options;
    options.commands_waiting_max = 100;
    TrialEngine shard(options);
    shard.hold_commits = true;
    shard.submit(put_into("loud", "q", "first"));
    shard.turn();
    int refused = 0;
    std::vector<ReplyToken> sent;
    for (int i = 0; i < 200; ++i) sent.push_back(shard.submit(put_into("loud", "q", "loud")));
    shard.turn();
    for (const ReplyToken token : sent) {
        const auto found = shard.replies.find(token);
        if (found == shard.replies.end()) continue;
        EXPECT_EQ(std::get<Error>(found->second).code, "too_busy"_code);
        ++refused;
    }
    EXPECT_EQ(refused, 120) << "it has four times as much waiting as is free";
    const ReplyToken quiet = shard.submit(put_into("quiet", "q", "quiet"));
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(quiet));
    shard.hold_commits = false;
    shard.settle();
    EXPECT_TRUE(std::holds_alternative<PutAnswer>(shard.replies.at(quiet)));
}

}  // namespace
}  // namespace duewheel::engine_turns_test
