#include "engine/messages/lifecycle.h"

#include <gtest/gtest.h>

#include "engine/trial/trial_parts.h"

namespace duewheel::lifecycle_test {
namespace {

TEST(Lifecycle, a_message_becomes_ready_when_its_timer_fires) {
    TrialParts trial;
    const EntryNumber number = trial.put_message(trial.now + 500);
    EXPECT_EQ(trial.recent.entry(number).state(), State::scheduled);
    trial.advance_to(trial.now + 499);
    EXPECT_EQ(trial.lifecycle.ready_count(), 0u);
    trial.advance_to(trial.now + 1);
    EXPECT_EQ(trial.recent.entry(number).state(), State::ready);
    EXPECT_EQ(trial.lifecycle.ready_count(), 1u);
    trial.lifecycle.check();
}

TEST(Lifecycle, a_message_that_the_index_contains_leaves_memory_unless_it_is_due_soon) {
    TrialParts trial;
    MessageRow row = TrialParts::row_on_disk(7 * kShardsMax, trial.lifecycle.window().until_ms());
    trial.lifecycle.place(trial.lifecycle.admit(row));
    EXPECT_EQ(trial.recent.find(row.id), kNoEntry);
    row.state.due_ms = row.state.nominal_due_ms = row.state.due_ms - 1;
    trial.lifecycle.place(trial.lifecycle.admit(row));
    EXPECT_NE(trial.recent.find(row.id), kNoEntry);
    trial.lifecycle.check();
}

TEST(Lifecycle, a_lost_lease_makes_a_message_ready_again_until_its_attempts_are_used_up) {
    EngineOptions options;
    options.retry.attempts = 2;
    TrialParts trial(options);
    const EntryNumber number = trial.put_message(trial.now);
    for (int attempt = 1; attempt <= 2; ++attempt) {
        ASSERT_EQ(trial.recent.entry(number).state(), State::ready);
        trial.queues[0].ready.pop_first();
        trial.lifecycle.dequeue(number);
        trial.lifecycle.start_attempt(number, {100}, trial.now);
        EXPECT_EQ(trial.recent.entry(number).state(), State::leased);
        trial.lifecycle.check();
        trial.advance_to(trial.now + 100);
    }
    EXPECT_EQ(trial.lifecycle.ready_count(), 0u);
    const auto ends = trial.batch([&] { trial.lifecycle.own_records().exhausted.add_to_batch(); });
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(as_message(ends[0]).state.state, State::dead);
    EXPECT_EQ(as_message(ends[0]).state.attempts, 2u);
    trial.lifecycle.check();
}

TEST(Lifecycle, an_expired_message_is_not_ready_and_its_end_is_written) {
    TrialParts trial;
    const EntryNumber number = trial.put_message(trial.now, trial.now + 50);
    EXPECT_EQ(trial.lifecycle.ready_count(), 1u);
    trial.advance_to(trial.now + 50);
    EXPECT_EQ(trial.lifecycle.ready_count(), 0u);
    EXPECT_EQ(trial.lifecycle.unsettled_from_ms(), trial.now);
    const MessageId id = trial.recent.entry(number).id;
    const auto ends = trial.batch([&] { trial.lifecycle.own_records().expired.add_to_batch(); });
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(as_message(ends[0]).id, id);
    EXPECT_EQ(as_message(ends[0]).state.state, State::expired);
    EXPECT_EQ(trial.lifecycle.unsettled_from_ms(), Lifecycle::kNever);
    trial.lifecycle.check();
}

// Two records of one message in a batch would not know of each other: the timer that fires meanwhile takes effect when
// the batch is applied.
TEST(Lifecycle, a_timer_that_fires_while_a_record_is_written_takes_effect_afterwards) {
    TrialParts trial;
    const EntryNumber number = trial.put_message(trial.now);
    trial.queues[0].ready.pop_first();
    trial.lifecycle.dequeue(number);
    trial.lifecycle.start_attempt(number, {1'000}, trial.now);
    trial.advance_to(trial.now + 999);
    trial.batch([&] {
        trial.lifecycle.own_records().attempts.add_to_batch();
        trial.advance_to(trial.now + 1);
        EXPECT_EQ(trial.recent.entry(number).state(), State::leased);
    });
    EXPECT_EQ(trial.recent.entry(number).state(), State::ready);
    trial.lifecycle.check();
}

// The rule of a queue can come to allow fewer attempts while a message waits for its turn. Its line delivered the
// message although its end was being written.
TEST(Lifecycle, a_message_without_attempts_left_is_not_delivered_by_its_line) {
    EngineOptions options;
    options.retry.attempts = 2;
    TrialParts trial(options);
    MessageRecord keyed;
    keyed.state.order_key = "k";
    const EntryNumber late = trial.put_record(keyed, trial.now);
    trial.answer<OrderLookup>(trial.lifecycle, Stretch{{}, true, {}});
    trial.queues[0].ready.pop_first();
    trial.lifecycle.dequeue(late);
    trial.lifecycle.start_attempt(late, {100}, trial.now);
    const EntryNumber early = trial.put_record(keyed, trial.now - 5);
    trial.advance_to(trial.now + 100);
    EXPECT_EQ(trial.recent.entry(early).waits_for, WaitsFor::consumer);
    EXPECT_EQ(trial.recent.entry(late).waits_for, WaitsFor::turn);
    ConfigureQueueCommand fewer{.what = ConfigureQueueCommand::What::set};
    fewer.settings.retry.attempts = 1;
    trial.configure(fewer);
    trial.advance_to(trial.now + 100);
    trial.batch([&] { trial.lifecycle.own_records().attempts.add_to_batch(); });
    EXPECT_EQ(trial.recent.entry(late).waits_for, WaitsFor::used_up);
    trial.batch([&] { trial.lifecycle.purge(early, 0, Error{}); });
    EXPECT_EQ(trial.recent.entry(late).waits_for, WaitsFor::used_up);
    EXPECT_EQ(trial.lifecycle.ready_count(), 0u);
    trial.lifecycle.check();
}

TEST(Lifecycle, a_message_of_a_purge_waits_only_for_its_end) {
    TrialParts trial;
    const EntryNumber number = trial.put_message(trial.now);
    trial.queues[0].purge_through = trial.recent.entry(number).id;
    EXPECT_TRUE(trial.lifecycle.take_for_purge(number));
    EXPECT_EQ(trial.lifecycle.to_purge().size(), 1u);
    const EntryNumber later = trial.put_message(trial.now);
    EXPECT_FALSE(trial.lifecycle.take_for_purge(later));
}

}  // namespace
}  // namespace duewheel::lifecycle_test
