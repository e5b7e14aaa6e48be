#include "engine/core/command_queue.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include "engine/trial/trial_context.h"

namespace duewheel::command_queue_test {
namespace {

struct Trial {
    explicit Trial(EngineOptions options) : trial(options) {}

    bool put(std::string name_space, std::size_t bytes, std::string queue = "q") {
        PutCommand put{.name_space = std::move(name_space), .queue = std::move(queue)};
        put.body = std::string(bytes, 'x');
        return commands.push(std::move(put), 1, nullptr);
    }
    PendingCommand take(CommandQueue::Lines& lines) {
        const PendingPtr taken = lines.take(1);
        commands.release(taken->line, taken->bytes);
        return std::move(*taken);
    }

    TrialContext trial;
    NamespaceTable namespaces;
    CommandQueue commands{trial.context, namespaces};
};

TEST(CommandQueue, puts_and_other_commands_have_lines_of_their_own_and_return_to_them_from_a_lookup) {
    Trial test({});
    EXPECT_TRUE(test.commands.is_empty());
    ASSERT_TRUE(test.put("default", 10));
    ASSERT_TRUE(test.commands.push(CancelCommand{.id = 5}, 2, nullptr));
    EXPECT_EQ(test.commands.puts().size(), 1u);
    EXPECT_EQ(test.commands.others().size(), 1u);
    test.commands.push_looked_up(std::move(*test.commands.puts().take(1)));
    test.commands.push_looked_up(std::move(*test.commands.others().take(1)));
    EXPECT_EQ(test.commands.looked_up_puts().size(), 1u);
    EXPECT_EQ(test.commands.looked_up().size(), 1u);
    EXPECT_EQ(test.commands.waiting_bytes(), 10u) << "counted once";
    test.take(test.commands.looked_up_puts());
    test.take(test.commands.looked_up());
    EXPECT_TRUE(test.commands.is_empty());
    EXPECT_EQ(test.commands.waiting_bytes(), 0u);
}

TEST(CommandQueue, a_namespace_that_floods_leaves_a_fifth) {
    Trial test({.commands_waiting_max = 100});
    int accepted = 0;
    while (test.put("flood", 0)) ++accepted;
    EXPECT_EQ(accepted, 80);
    EXPECT_FALSE(test.commands.is_full());
    int others = 0;
    while (test.put("other", 0)) ++others;
    EXPECT_EQ(others, 16) << "four fifths of the rest";
    test.take(test.commands.puts());
    EXPECT_TRUE(test.put("third", 0));
}

TEST(CommandQueue, the_content_of_puts_is_limited_in_the_same_way) {
    Trial test({.waiting_bytes_max = 1'000});
    ASSERT_TRUE(test.put("flood", 850));
    EXPECT_FALSE(test.put("flood", 10)) << "it has more than four times what is free";
    EXPECT_TRUE(test.put("other", 150));
    EXPECT_FALSE(test.put("third", 1));
}

TEST(CommandQueue, open_lookups_count_and_compaction_may_always_wait) {
    Trial test({.commands_waiting_max = 1});
    test.trial.lookups.start(ReadRecords{{1}}, PrefetchLookup{});
    EXPECT_TRUE(test.commands.is_full());
    EXPECT_FALSE(test.put("default", 0));
    RelocateCommand relocate;
    relocate.row.id = 9;
    relocate.generation = 3;
    ASSERT_TRUE(test.commands.push(std::move(relocate), 1, nullptr));
    const PendingCommand pending = test.take(test.commands.others());
    ASSERT_TRUE(pending.facts) << "it brings what it has read";
    EXPECT_EQ((*pending.facts)->id, 9u);
    EXPECT_EQ(pending.facts_generation, 3u);
}

TEST(CommandQueue, namespaces_take_turns_by_weight) {
    Trial test({});
    Namespace& heavy = test.namespaces.at("heavy");
    heavy.conf = std::make_unique<NamespaceConf>();
    heavy.conf->settings.weight = 3;
    test.namespaces.with_settings = 1;
    for (int i = 0; i < 8; ++i) {
        test.put("light", 0);
        test.put("heavy", 0);
    }
    std::string order;
    for (int i = 0; i < 8; ++i) {
        const PendingPtr taken = test.commands.puts().take(8'192);
        order += std::get<PutCommand>(taken->command).name_space.front();
    }
    EXPECT_EQ(order, "lhhhlhhh");
}

TEST(CommandQueue, a_command_with_a_lease_counts_for_the_namespace_of_its_message) {
    Trial test({.commands_waiting_max = 100});
    const MessageId id = test.trial.put(test.trial.now);
    AckCommand ack;
    ack.lease.id = id;
    int accepted = 0;
    while (test.commands.push(ack, 1, nullptr)) ++accepted;
    EXPECT_EQ(accepted, 80);
    EXPECT_FALSE(test.put(std::string(kDefaultNamespace), 0)) << "its namespace has its share";
    EXPECT_TRUE(test.put("other", 0));
}

// The acks of a queue that was drained in batches of a thousand held up those of all other queues: they shared a line.
TEST(CommandQueue, calls_with_a_lease_take_turns_by_the_queue_of_its_message) {
    Trial test({});
    const auto ack = [&](MessageId id) {
        AckCommand command;
        command.lease.id = id;
        ASSERT_TRUE(test.commands.push(std::move(command), 1, nullptr));
    };
    const MessageId crowded = test.trial.put(test.trial.now), other = test.trial.put(test.trial.now, {}, "other");
    for (int i = 0; i < 100; ++i) ack(crowded);
    ack(other);
    for (int i = 0; i < 100; ++i) ack(crowded);
    int before = 0;
    while (std::get<AckCommand>(test.commands.others().take(1'000)->command).lease.id != other) ++before;
    EXPECT_LE(before, 9) << "a turn is eight kilobytes";
}

TEST(CommandQueue, puts_can_be_removed_while_they_wait) {
    Trial test({});
    test.put("default", 10);
    test.put("default", 20);
    test.commands.erase_puts_if([](const PendingCommand& put) { return put.bytes == 10; });
    EXPECT_EQ(test.commands.puts().size(), 1u);
    EXPECT_EQ(test.commands.waiting_bytes(), 20u);
}

}  // namespace
}  // namespace duewheel::command_queue_test
