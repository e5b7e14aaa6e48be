#include "engine/messages/dead_letter_writer.h"

#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_parts.h"

namespace duewheel::dead_letter_writer_test {
namespace {

using What = ConfigureQueueCommand::What;

EngineOptions one_attempt() {
    EngineOptions options;
    options.retry.attempts = 1;
    options.dead_kept_ms = 1'000;
    return options;
}

struct Trial : TrialParts {
    explicit Trial(const EngineOptions& with = one_attempt()) : TrialParts(with) {}

    // A message whose only lease is lost, a millisecond from now.
    MessageId die() {
        const EntryNumber number = put_message(now);
        queues[0].ready.pop_first();
        lifecycle.dequeue(number);
        lifecycle.start_attempt(number, {1}, now);
        advance_to(now + 1);
        batch([this] { lifecycle.own_records().exhausted.add_to_batch(); });
        dead_letters.expect(0, now);
        return recent.entry(number).id;
    }
    // Adds to a batch what the walk reaches; the index has none.
    std::vector<Record> write() {
        if (lookups.has_started()) {
            started<ScanDead>();
            answer<DeadLookup>(dead_letters, {});
        }
        return batch([this] { dead_writer.add_to_batch(); });
    }
    std::string_view refusal(const RedriveCommand& command) {
        dead_writer.start(command, 1);
        return name_of(take<Error>(1).code);
    }
};

std::vector<MessageId> ids_of(const std::vector<Record>& records) {
    std::vector<MessageId> ids;
    for (const Record& record : records) ids.push_back(as_message(record).id);
    return ids;
}

TEST(DeadLetterWriter, a_redrive_returns_the_oldest_with_all_their_attempts_up_to_its_maximum) {
    Trial trial;
    const MessageId first = trial.die();
    const MessageId second = trial.die();
    trial.die();
    trial.dead_writer.start({.queue = "q", .max = 2}, 1);
    EXPECT_FALSE(trial.dead_writer.has_work()) << "the index is looked up first";
    const std::vector<Record> records = trial.write();
    EXPECT_EQ(ids_of(records), (std::vector<MessageId>{first, second}));
    EXPECT_EQ(as_message(records[0]).cause, Cause::redriven);
    EXPECT_EQ(as_message(records[0]).state.attempts_forgiven, 1u);
    const RedriveAnswer answer = trial.take<RedriveAnswer>(1);
    EXPECT_EQ(answer.redriven, 2u);
    EXPECT_TRUE(answer.more);
    EXPECT_EQ(trial.lifecycle.ready_count(), 2u);
    EXPECT_FALSE(trial.dead_writer.has_work());
    trial.lifecycle.check();
}

TEST(DeadLetterWriter, a_redrive_is_answered_with_its_last_part) {
    EngineOptions options = one_attempt();
    options.redrive_chunk = 2;
    Trial trial(options);
    for (int i = 0; i < 3; ++i) trial.die();
    trial.dead_writer.start({.queue = "q"}, 1);
    EXPECT_EQ(trial.write().size(), 2u);
    EXPECT_TRUE(trial.effects.replies.empty());
    EXPECT_EQ(trial.write().size(), 1u);
    EXPECT_EQ(trial.take<RedriveAnswer>(1).redriven, 3u);
}

TEST(DeadLetterWriter, a_redrive_fills_its_queue_and_no_more) {
    Trial trial;
    trial.die();
    trial.die();
    ConfigureQueueCommand limit;
    limit.settings.pending_max = 1;
    trial.configure(limit);
    trial.dead_writer.start({.queue = "q"}, 1);
    EXPECT_EQ(trial.write().size(), 1u);
    EXPECT_TRUE(trial.take<RedriveAnswer>(1).more);
    trial.dead_writer.start({.queue = "q"}, 1);
    EXPECT_TRUE(trial.write().empty());
    EXPECT_EQ(trial.take<Error>(1).code, "queue_full"_code);
}

TEST(DeadLetterWriter, a_redrive_that_cannot_begin_is_refused) {
    Trial trial;
    trial.die();
    EXPECT_EQ(trial.refusal({.queue = "q", .max = 0}), "bad_max");
    EXPECT_EQ(trial.refusal({.queue = "q", .max = trial.options.redrive_max + 1}), "bad_max");
    EXPECT_EQ(trial.refusal({.queue = "other"}), "unknown_queue");
    trial.context.segment.set_space(LogSpace::reserve);
    EXPECT_EQ(trial.refusal({.queue = "q"}), "store_full");
}

TEST(DeadLetterWriter, without_space_a_redrive_ends_with_what_it_has_returned) {
    EngineOptions options = one_attempt();
    options.redrive_chunk = 1;
    Trial trial(options);
    trial.die();
    trial.die();
    trial.dead_writer.start({.queue = "q"}, 1);
    EXPECT_EQ(trial.write().size(), 1u);
    trial.context.segment.set_space(LogSpace::reserve);
    EXPECT_TRUE(trial.write().empty());
    const RedriveAnswer answer = trial.take<RedriveAnswer>(1);
    EXPECT_EQ(answer.redriven, 1u);
    EXPECT_TRUE(answer.more);
}

TEST(DeadLetterWriter, a_dead_letter_expires_after_its_retention) {
    Trial trial;
    const MessageId id = trial.die();
    trial.now += trial.options.dead_kept_ms - 1;
    EXPECT_FALSE(trial.dead_writer.has_to_expire());
    trial.now += 1;
    EXPECT_TRUE(trial.dead_writer.has_to_expire());
    EXPECT_TRUE(trial.write().empty()) << "the index is looked up first";
    const std::vector<Record> records = trial.write();
    EXPECT_EQ(ids_of(records), std::vector<MessageId>{id});
    EXPECT_EQ(as_message(records[0]).cause, Cause::kept_long_enough);
    EXPECT_EQ(as_message(records[0]).state.state, State::expired);
    EXPECT_FALSE(trial.dead_writer.has_to_expire());
}

TEST(DeadLetterWriter, a_discard_ends_what_it_marked_and_removes_its_mark) {
    Trial trial;
    const MessageId id = trial.die();
    trial.now += 1;
    trial.configure({.what = What::discard});
    EXPECT_TRUE(trial.dead_writer.is_discarded(trial.recent.entry(trial.recent.find(id))));
    const MessageId later = trial.die();
    EXPECT_FALSE(trial.dead_writer.is_discarded(trial.recent.entry(trial.recent.find(later))));
    EXPECT_TRUE(trial.write().empty());
    const std::vector<Record> records = trial.write();
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(as_message(records[0]).id, id);
    EXPECT_EQ(as_message(records[0]).cause, Cause::discarded);
    EXPECT_EQ(as_message(records[0]).state.state, State::cancelled);
    EXPECT_EQ(kind_of(records[1]), RecordKind::conf);
    EXPECT_EQ(trial.queues[0].discard_before_ms, 0);
    EXPECT_EQ(trial.recent.entry(trial.recent.find(later)).state(), State::dead);
}

TEST(DeadLetterWriter, a_redrive_skips_what_is_being_discarded) {
    Trial trial;
    trial.die();
    trial.now += 1;
    trial.configure({.what = What::discard});
    const MessageId later = trial.die();
    trial.dead_writer.start({.queue = "q"}, 1);
    EXPECT_EQ(ids_of(trial.write()), std::vector<MessageId>{later});
    EXPECT_EQ(trial.take<RedriveAnswer>(1).redriven, 1u);
}

}  // namespace
}  // namespace duewheel::dead_letter_writer_test
