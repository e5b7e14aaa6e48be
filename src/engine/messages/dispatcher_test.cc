#include "engine/messages/dispatcher.h"

#include <gtest/gtest.h>

#include "engine/trial/trial_parts.h"

namespace duewheel::dispatcher_test {
namespace {

LeaseCommand lease(std::int64_t wait_ms, std::uint32_t max = 1) {
    LeaseCommand command;
    command.queue = "q";
    command.max = max;
    command.lease_ms = 5'000;
    command.wait_ms = wait_ms;
    return command;
}

TEST(Dispatcher, a_ready_message_is_leased_at_once_and_only_once) {
    TrialParts trial;
    const EntryNumber number = trial.put_message(trial.now);
    trial.dispatcher.start(lease(0), 1);
    const LeaseAnswer answer = trial.take<LeaseAnswer>(1);
    ASSERT_EQ(answer.messages.size(), 1u);
    EXPECT_EQ(answer.messages[0].body, "body");
    EXPECT_EQ(answer.messages[0].attempt, 1u);
    EXPECT_TRUE(trial.context.signer.is_genuine(answer.messages[0].lease));
    EXPECT_EQ(trial.recent.entry(number).state(), State::leased);
    trial.dispatcher.start(lease(0), 2);
    EXPECT_TRUE(trial.take<LeaseAnswer>(2).messages.empty());
    trial.lifecycle.check();
}

TEST(Dispatcher, a_consumer_waits_until_a_message_becomes_due) {
    TrialParts trial;
    trial.put_message(trial.now + 300);
    trial.dispatcher.start(lease(1'000), 1);
    trial.dispatcher.serve_queues();
    EXPECT_TRUE(trial.effects.replies.empty());
    EXPECT_EQ(trial.dispatcher.waiters(), 1u);
    trial.advance_to(trial.now + 300);
    trial.dispatcher.serve_queues();
    // The log knows an older time: the reply waits until a commit has saved this one.
    EXPECT_TRUE(trial.dispatcher.has_held());
    trial.advance_to(trial.now + 400);
    trial.batch([] {});
    trial.dispatcher.deliver_held();
    const LeaseAnswer answer = trial.take<LeaseAnswer>(1);
    ASSERT_EQ(answer.messages.size(), 1u);
    EXPECT_EQ(answer.messages[0].lateness_ms, 400) << "also while the reply waited";
    EXPECT_EQ(answer.messages[0].wait_ms, 0);
    EXPECT_EQ(trial.lifecycle.leases().at(answer.messages[0].id).lateness_ms, 400u);
    EXPECT_EQ(trial.dispatcher.waiters(), 0u);
}

TEST(Dispatcher, a_wait_that_ends_is_answered_without_messages) {
    TrialParts trial;
    trial.put_message(trial.now + 5'000);
    trial.dispatcher.start(lease(1'000), 1);
    trial.advance_to(trial.now + 1'000);
    trial.dispatcher.serve_queues();
    EXPECT_TRUE(trial.take<LeaseAnswer>(1).messages.empty());
    trial.dispatcher.check();
}

TEST(Dispatcher, a_message_whose_consumer_has_disconnected_while_its_body_was_read_is_ready_again) {
    TrialParts trial;
    const EntryNumber number = trial.put_message(trial.now);
    trial.context.cache.erase(trial.recent.entry(number).log_position);
    trial.dispatcher.start(lease(0), 1);
    const ReadRecords wanted = trial.started<ReadRecords>();
    ASSERT_EQ(wanted.log_positions.size(), 1u);
    EXPECT_EQ(trial.recent.entry(number).state(), State::leased);
    trial.dispatcher.forget(1);
    EXPECT_EQ(trial.recent.entry(number).state(), State::ready);
    EXPECT_TRUE(trial.effects.replies.empty());
    trial.lifecycle.check();
}

// Consumers that take one message at a time waited for the disk for each: a drain took twice as long.
TEST(Dispatcher, the_bodies_of_the_next_messages_are_read_with_that_of_a_delivery) {
    TrialParts trial;
    std::vector<Sequence> positions;
    for (int i = 0; i < 4; ++i) {
        positions.push_back(trial.recent.entry(trial.put_message(trial.now)).log_position);
        if (i != 2) trial.context.cache.erase(positions.back());
    }
    trial.dispatcher.start(lease(0), 1);
    trial.dispatcher.start(lease(0), 2);
    std::vector<std::vector<Sequence>> wanted;
    for (const Lookup& lookup : trial.lookups.take_started())
        wanted.push_back(std::get<ReadRecords>(lookup.what).log_positions);
    const std::vector<std::vector<Sequence>> expected = {
        {positions[1], positions[3]}, {positions[0]}, {positions[1]}};  // one at a time
    EXPECT_EQ(wanted, expected);
    const auto ahead = std::get<PrefetchLookup>(trial.lookups.finish(trial.lookups.newest_ticket() - 2, 0));
    trial.loader.finish(ahead, {{positions[3], "read"}}, 0);
    EXPECT_EQ(*trial.context.cache.find(positions[3]), "read");
    trial.dispatcher.start(lease(0), 3);
    EXPECT_FALSE(trial.lookups.has_started()) << "it was in the cache";
    trial.context.cache.erase(positions[3]);
    trial.put_message(trial.now);
    trial.dispatcher.start(lease(0), 4);
    EXPECT_EQ(trial.started<ReadRecords>().log_positions, std::vector<Sequence>{positions[3]}) << "the next is there";
}

TEST(Dispatcher, what_is_read_ahead_is_limited_by_what_the_cache_has_left) {
    TrialParts trial({.record_cache_bytes = 0});
    for (int i = 0; i < 3; ++i) trial.put_message(trial.now);
    trial.dispatcher.start(lease(0), 1);
    EXPECT_EQ(trial.started<ReadRecords>().log_positions.size(), 1u);
}

// A consumer that disconnected before the next iteration left the name of its queue behind, which no message ever had.
// The name counted against the limit of queues until a segment was full.
TEST(Dispatcher, a_queue_that_only_a_consumer_named_is_gone_after_it_has_left) {
    for (const bool is_served : {true, false}) {
        TrialParts trial;
        trial.dispatcher.start(lease(1'000), 1);
        EXPECT_EQ(trial.recent.queues().in_use(), 1u);
        if (is_served) trial.dispatcher.serve_queues();
        trial.dispatcher.forget(1);
        trial.dispatcher.serve_queues();
        EXPECT_EQ(trial.recent.queues().in_use(), 0u) << is_served;
        EXPECT_TRUE(trial.queues.by_name().empty());
    }
}

TEST(Dispatcher, a_paused_queue_delivers_nothing) {
    TrialParts trial;
    trial.put_message(trial.now);
    EXPECT_TRUE(trial.configure({.what = ConfigureQueueCommand::What::pause}).settings.paused);
    trial.dispatcher.start(lease(0), 2);
    EXPECT_TRUE(trial.take<LeaseAnswer>(2).messages.empty());
}

}  // namespace
}  // namespace duewheel::dispatcher_test
