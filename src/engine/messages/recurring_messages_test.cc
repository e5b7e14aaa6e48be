#include "engine/messages/recurring_messages.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_parts.h"

namespace duewheel::recurring_messages_test {
namespace {

struct Trial : TrialParts {
    explicit Trial(const EngineOptions& with = {}) : TrialParts(with) {}

    // One that is due now, and then each second.
    EntryNumber put(std::uint64_t times = 0) {
        MessageRecord record;
        record.state.next_occurrence = 1;
        record.content.repeat = Repeat{
            .rule = {.every_ms = 1'000, .times = times, .factor_permille = 1'000, .max_ms = 1'000, .start_ms = now},
            .order_key = "k",
            .expires_after_ms = 50};
        return put_record(std::move(record), now);
    }
    std::vector<MessageRecord> write() {
        return records_of<MessageRecord>(batch([this] { recurring.add_to_batch(); }));
    }
    std::string body_of(EntryNumber number) const { return *context.cache.find(recent.entry(number).log_position); }

    RecurringMessages recurring{context, queues, lifecycle};
};

TEST(RecurringMessages, an_occurrence_and_the_next_due_time_are_in_one_batch) {
    Trial trial;
    const EntryNumber number = trial.put();
    const DueMs due = trial.now;
    EXPECT_EQ(trial.lifecycle.ready_count(), 0u);
    trial.advance_to(due + 20);
    const std::vector<MessageRecord> records = trial.write();
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[0].kind, RecordKind::spawn);
    EXPECT_EQ(records[0].state.due_ms, due);
    EXPECT_EQ(records[0].state.expires_ms, due + 50);
    EXPECT_EQ(records[0].state.order_key, "k");
    EXPECT_EQ(records[1].kind, RecordKind::change);
    EXPECT_EQ(records[1].state.due_ms, due + 1'000);
    EXPECT_EQ(records[1].state.next_occurrence, 2u);
    const std::string body = trial.body_of(trial.recent.find(records[0].id));
    const MessageRecord occurrence = *decode_message(RecordKind::spawn, body);
    EXPECT_EQ(occurrence.content.parent, trial.recent.entry(number).id);
    EXPECT_EQ(occurrence.content.occurrence, 1u);
    EXPECT_EQ(occurrence.content.body, "body");
    EXPECT_FALSE(occurrence.content.repeat);
    EXPECT_TRUE(trial.recurring.is_idle());
    trial.lifecycle.check();
}

TEST(RecurringMessages, the_last_occurrence_ends_the_recurring_message) {
    Trial trial;
    const EntryNumber number = trial.put(1);
    const MessageId id = trial.recent.entry(number).id;
    EXPECT_EQ(trial.write().at(1).state.state, State::done);
    EXPECT_EQ(trial.recent.find(id), kNoEntry);
    trial.lifecycle.check();
}

TEST(RecurringMessages, missed_occurrences_are_made_up_for_a_part_in_each_batch) {
    Trial trial({.spawn_chunk = 2});
    trial.put();
    const DueMs due = trial.now;
    trial.advance_to(due + 2'500);
    const std::vector<MessageRecord> first = trial.write();
    ASSERT_EQ(first.size(), 3u);
    EXPECT_EQ(first[1].state.due_ms, due + 1'000);
    EXPECT_TRUE(trial.recurring.has_work());
    const std::vector<MessageRecord> second = trial.write();
    ASSERT_EQ(second.size(), 2u);
    EXPECT_EQ(second[0].state.due_ms, due + 2'000);
    EXPECT_FALSE(trial.recurring.has_work());
}

TEST(RecurringMessages, a_content_that_is_not_in_memory_is_read_first) {
    Trial trial;
    const EntryNumber number = trial.put();
    const Sequence log_position = trial.recent.entry(number).log_position;
    const std::string body = trial.body_of(number);
    trial.context.cache.erase(log_position);
    EXPECT_TRUE(trial.write().empty());
    EXPECT_EQ(trial.started<ReadRecords>().log_positions, std::vector<Sequence>{log_position});
    EXPECT_EQ(trial.recurring.next_bytes(), 0u);
    trial.answer<SpawnLookup>(trial.recurring, {{log_position, body}});
    EXPECT_GT(trial.recurring.next_bytes(), body.size());
    EXPECT_EQ(trial.write().size(), 2u);
}

TEST(RecurringMessages, one_that_ended_while_its_content_was_read_creates_nothing) {
    Trial trial;
    const EntryNumber number = trial.put();
    const Sequence log_position = trial.recent.entry(number).log_position;
    const std::string body = trial.body_of(number);
    trial.context.cache.erase(log_position);
    trial.write();
    trial.batch([&] { trial.lifecycle.purge(number, 0, Error{}); });
    trial.answer<SpawnLookup>(trial.recurring, {{log_position, body}});
    EXPECT_TRUE(trial.write().empty());
    EXPECT_TRUE(trial.recurring.is_idle());
}

TEST(RecurringMessages, a_record_without_a_rule_is_a_fatal_error) {
    Trial trial;
    const Sequence log_position = trial.recent.entry(trial.put()).log_position;
    const std::string other = trial.body_of(trial.put_message(trial.now));
    trial.context.cache.erase(log_position);
    trial.write();
    trial.answer<SpawnLookup>(trial.recurring, {{log_position, other}});
    trial.write();
    ASSERT_TRUE(trial.effects.fatal_error);
    EXPECT_EQ(trial.effects.fatal_error->code, "damaged_log"_code);
}

TEST(RecurringMessages, while_there_is_no_space_nothing_is_read_and_it_tries_again_later) {
    Trial trial;
    trial.context.segment.set_space(LogSpace::scarce);
    const EntryNumber number = trial.put();
    trial.context.cache.erase(trial.recent.entry(number).log_position);
    EXPECT_EQ(trial.recurring.why_waits(number), "store_full"_code);
    EXPECT_TRUE(trial.write().empty());
    EXPECT_FALSE(trial.lookups.has_started());
    trial.context.segment.set_space(LogSpace::enough);
    EXPECT_FALSE(trial.recurring.has_work());
    trial.advance_to(trial.now + trial.options.spawn_again_ms);
    EXPECT_TRUE(trial.recurring.has_work());
    EXPECT_EQ(trial.recurring.why_waits(number), ErrorCode::none);
    trial.lifecycle.check();
}

TEST(RecurringMessages, a_full_queue_takes_no_more_occurrences_than_it_has_room_for) {
    Trial trial;
    ConfigureQueueCommand limit;
    limit.settings.pending_max = 2;
    trial.configure(limit);
    const EntryNumber number = trial.put();
    trial.advance_to(trial.now + 5'000);
    const std::vector<MessageRecord> records = trial.write();
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[1].state.next_occurrence, 2u) << "the other five are still to come";
    EXPECT_EQ(trial.recurring.why_waits(number), "queue_full"_code);
    EXPECT_TRUE(trial.write().empty());
}

// Settings on their way to the disk may be a purge, whose mark does not include occurrences that are created now.
TEST(RecurringMessages, waits_for_settings_and_changes_that_are_being_written) {
    Trial trial;
    const EntryNumber number = trial.put();
    trial.queues[0].next_settings = std::make_unique<QueueSettings>();
    EXPECT_TRUE(trial.write().empty());
    trial.queues[0].next_settings = nullptr;
    trial.recent.entry(number).in_batch = true;
    EXPECT_TRUE(trial.write().empty());
    trial.recent.entry(number).in_batch = false;
    EXPECT_EQ(trial.write().size(), 2u);
}

TEST(RecurringMessages, leave_half_of_a_batch_to_others) {
    Trial trial({.batch_operations_max = 8});
    for (int i = 0; i < 5; ++i) trial.put();
    EXPECT_EQ(trial.write().size(), 4u);
    EXPECT_EQ(trial.write().size(), 4u);
    EXPECT_EQ(trial.write().size(), 2u);
}

}  // namespace
}  // namespace duewheel::recurring_messages_test
