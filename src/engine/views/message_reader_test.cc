#include "engine/views/message_reader.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_parts.h"

namespace duewheel::message_reader_test {
namespace {

constexpr MessageId kOnDisk = 9 * kShardsMax;

struct Trial : TrialParts {
    explicit Trial(const EngineOptions& with = {}) : TrialParts(with) {
        context.batches.raise_id_counter(kOnDisk / kShardsMax);
    }
    void get(MessageId id, SharedLimits limits = nullptr) { reader.read(GetCommand{.id = id}, 1, limits); }
    // The message of a reply whose content is being read.
    MessageAnswer shown() {
        const Sequence log_position = started<ReadRecords>().log_positions.at(0);
        answer<MessageLookup>(reader, {{log_position, *context.cache.find(log_position)}});
        return take<MessageAnswer>(1);
    }

    MessageFinder finder{context, lifecycle};
    Transactions transactions{context, queues, lifecycle, finder};
    RecurringMessages recurring{context, queues, lifecycle};
    MessageReader reader{context, lifecycle, finder, commands, recurring, transactions};
};

TEST(MessageReader, shows_the_live_state_and_the_content_from_the_log) {
    Trial trial;
    const EntryNumber number = trial.put_message(trial.now + 10);
    const MessageId id = trial.recent.entry(number).id;
    const DueMs put_ms = trial.now;
    trial.get(id);
    MessageAnswer message = trial.shown();
    EXPECT_TRUE(message.has_content);
    EXPECT_EQ(message.body, "body");
    EXPECT_EQ(message.put_ms, put_ms);
    EXPECT_EQ(message.row.state.state, State::scheduled);
    trial.advance_to(trial.now + 10);
    trial.queues[0].ready.pop_first();
    trial.lifecycle.dequeue(number);
    trial.lifecycle.start_attempt(number, {100}, trial.now);
    trial.get(id);
    message = trial.shown();
    EXPECT_EQ(message.row.state.state, State::leased);
    EXPECT_EQ(message.row.state.attempts, 1u) << "before it is written";
    EXPECT_EQ(message.lease_until_ms, trial.now + 100);
}

TEST(MessageReader, an_ended_message_has_no_content_and_is_gone_after_its_retention) {
    Trial trial;
    const EntryNumber number = trial.put_message(trial.now);
    const MessageId id = trial.recent.entry(number).id;
    trial.batch([&] { trial.lifecycle.purge(number, 0, Error{}); });
    trial.now += trial.options.keys_kept_ms;
    trial.get(id);
    const MessageAnswer ended = trial.take<MessageAnswer>(1);
    EXPECT_EQ(ended.row.state.state, State::cancelled);
    EXPECT_FALSE(ended.has_content);
    EXPECT_FALSE(trial.lookups.has_started());
    trial.now += 1;
    trial.get(id);
    EXPECT_EQ(trial.take<Error>(1).code, "gone"_code);
}

TEST(MessageReader, a_message_of_the_index_is_looked_up_and_is_shown_as_due) {
    Trial trial;
    trial.get(kOnDisk);
    EXPECT_EQ(trial.started<FindMessage>().id, kOnDisk);
    MessageRow row = Trial::row_on_disk(kOnDisk, trial.now);
    row.log_position = trial.recent.entry(trial.put_message(trial.now)).log_position;
    trial.answer<FactsLookup>(trial.reader, row);
    EXPECT_EQ(trial.shown().row.state.state, State::ready);
    trial.get(kOnDisk);
    trial.answer<FactsLookup>(trial.reader, std::nullopt);
    EXPECT_EQ(trial.take<Error>(1).code, "gone"_code);
    for (const MessageId id : {MessageId{0}, kOnDisk + 1, kOnDisk + 9 * kShardsMax}) {
        trial.get(id);
        EXPECT_EQ(trial.take<Error>(1).code, "unknown_id"_code) << "it was not assigned by this shard";
    }
}

// A look at a message that only the index knew did not ask for its namespace, so anyone who counted ids up could read
// the messages of others.
TEST(MessageReader, what_a_caller_may_not_see_is_unknown_wherever_it_is) {
    Trial trial;
    const EntryNumber number = trial.put_message(trial.now);
    const MessageId here = trial.recent.entry(number).id;
    const SharedLimits others = std::make_shared<AccessLimits>(AccessLimits{.queue_prefix = "other"});
    const GetCommand foreign{.name_space = "team", .id = here};
    for (int ended = 0; ended < 2; ++ended) {
        trial.get(here, others);
        EXPECT_EQ(trial.take<Error>(1).code, "unknown_id"_code);
        trial.reader.read(foreign, 1, nullptr);
        EXPECT_EQ(trial.take<Error>(1).code, "unknown_id"_code);
        if (ended == 0) trial.batch([&] { trial.lifecycle.purge(number, 0, Error{}); });
    }
    const MessageRow row = Trial::row_on_disk(kOnDisk, trial.now);
    for (const std::optional<MessageRow>& found : {std::optional(row), std::optional<MessageRow>()}) {
        trial.get(kOnDisk, others);
        trial.answer<FactsLookup>(trial.reader, found);
        EXPECT_EQ(trial.take<Error>(1).code, "unknown_id"_code);
    }
    trial.reader.read(GetCommand{.name_space = "team", .id = kOnDisk}, 1, nullptr);
    trial.answer<FactsLookup>(trial.reader, row);
    EXPECT_EQ(trial.take<Error>(1).code, "unknown_id"_code);
}

TEST(MessageReader, a_result_older_than_the_newest_table_is_looked_up_again) {
    Trial trial;
    trial.get(kOnDisk);
    trial.started<FindMessage>();
    const Generation old = trial.lookups.newest();
    trial.lookups.table_taken(1);
    trial.answer<FactsLookup>(trial.reader, Trial::row_on_disk(kOnDisk, trial.now), old);
    EXPECT_TRUE(trial.effects.replies.empty());
    EXPECT_EQ(trial.started<FindMessage>().id, kOnDisk);
}

TEST(MessageReader, contents_that_are_being_read_are_bounded) {
    Trial trial({.reading_bytes_max = 1});
    const MessageId id = trial.recent.entry(trial.put_message(trial.now)).id;
    trial.get(id);
    trial.reader.read(GetCommand{.id = id}, 2, nullptr);
    EXPECT_EQ(trial.take<Error>(2).code, "too_busy"_code);
    trial.shown();
    trial.get(id);
    EXPECT_EQ(trial.shown().row.id, id);
}

TEST(MessageReader, a_key_finds_its_message_in_memory_or_in_the_index) {
    Trial trial;
    MessageRecord record;
    record.state.key = "k";
    record.state.request_hash = 1;
    const MessageId id = trial.recent.entry(trial.put_record(std::move(record), trial.now)).id;
    trial.reader.read(GetCommand{.by_key = {"q", "k"}}, 1, nullptr);
    EXPECT_EQ(trial.shown().row.id, id);
    trial.reader.read(GetCommand{.by_key = {"q", "other"}}, 1, nullptr);
    trial.started<FindKeys>();
    trial.answer<KeysLookup>(trial.reader, {std::nullopt});
    EXPECT_EQ(trial.take<Error>(1).code, "unknown_key"_code);
    trial.reader.read(GetCommand{.by_key = {"q", "other"}}, 1, nullptr);
    trial.started<FindKeys>();
    trial.answer<KeysLookup>(trial.reader, {KeyFacts{{.id = kOnDisk}, State::scheduled, false}});
    EXPECT_EQ(trial.started<FindMessage>().id, kOnDisk);
}

TEST(MessageReader, says_why_the_occurrence_of_a_due_recurring_message_waits) {
    Trial trial;
    trial.context.segment.set_space(LogSpace::scarce);
    MessageRecord record;
    record.state.next_occurrence = 1;
    record.content.repeat = Repeat{.rule = {.every_ms = 5, .start_ms = trial.now}, .order_key = "o"};
    const MessageId id = trial.recent.entry(trial.put_record(std::move(record), trial.now)).id;
    trial.get(id);
    const MessageAnswer message = trial.shown();
    EXPECT_EQ(message.blocked_by, "store_full"_code);
    EXPECT_EQ(message.repeat->every_ms, 5);
    EXPECT_EQ(message.row.state.order_key, "o") << "of its occurrences";
    EXPECT_EQ(message.row.state.state, State::scheduled) << "it is never ready itself";
}

TEST(MessageReader, a_record_that_cannot_be_decoded_is_a_fatal_error) {
    Trial trial;
    trial.get(trial.recent.entry(trial.put_message(trial.now)).id);
    trial.answer<MessageLookup>(trial.reader, {{1, "not a record"}});
    EXPECT_TRUE(trial.effects.fatal_error);
    EXPECT_TRUE(trial.effects.replies.empty());
}

TEST(MessageReader, other_commands_wait_for_a_batch_again_with_their_results) {
    Trial trial;
    const auto waits = [&](Command command) {
        PendingCommand pending = trial.pending(1);
        pending.command = std::move(command);
        return pending;
    };
    const CancelCommand cancel{.id = kOnDisk};
    const Generation old = trial.lookups.newest();
    trial.lookups.start(FindMessage{kOnDisk}, FactsLookup{waits(cancel)});
    trial.lookups.table_taken(1);
    trial.answer<FactsLookup>(trial.reader, Trial::row_on_disk(kOnDisk, trial.now), old);
    PendingPtr taken = trial.commands.looked_up().take(1);
    EXPECT_EQ(taken->facts->value().id, kOnDisk);
    EXPECT_EQ(taken->facts_generation, old) << "so that it is looked up again";
    trial.lookups.start(FindKeys{}, KeysLookup{waits(cancel)});
    trial.answer<KeysLookup>(trial.reader, {KeyFacts{{.id = kOnDisk}, State::done, false}});
    taken = trial.commands.looked_up().take(1);
    EXPECT_EQ(taken->key_facts->front()->holder.id, kOnDisk);
    const ControlScheduleCommand fire{.name = "s", .what = ControlScheduleCommand::What::fire};
    trial.lookups.start(ReadRecords{}, WholeRuleLookup{waits(fire)});
    trial.answer<WholeRuleLookup>(trial.reader, {{5, "its whole record"}});
    taken = trial.commands.looked_up().take(1);
    EXPECT_EQ(std::get<ControlScheduleCommand>(taken->command).record_body, "its whole record");
}

}  // namespace
}  // namespace duewheel::message_reader_test
