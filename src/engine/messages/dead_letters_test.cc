#include "engine/messages/dead_letters.h"

#include <vector>

#include <gtest/gtest.h>

#include "engine/trial/trial_context.h"

namespace duewheel::dead_letters_test {
namespace {

using What = DeadLetters::Next::What;

struct Trial {
    explicit Trial(EngineOptions options = {.dead_kept_ms = 1'000}) : trial(options) {}

    MessageId die(DueMs at_ms) {
        const MessageId id = trial.put(1);
        trial.now = at_ms;
        trial.end(id, State::dead);
        return id;
    }
    static MessageRow row(MessageId id, DueMs died_ms) {
        MessageRow row = TrialContext::row_on_disk(id, died_ms);
        row.state.state = State::dead;
        row.ended_ms = died_ms;
        return row;
    }
    DeadWalk& redrive() {
        dead.begin_redrive({std::string(kDefaultNamespace), "q"}, 7, 100);
        return dead.walks().back();
    }
    void answer(Stretch stretch) { trial.answer<DeadLookup>(dead, std::move(stretch)); }
    // The dead letters up to the next lookup, or to the end.
    std::vector<MessageId> take(DeadWalk& walk) {
        std::vector<MessageId> taken;
        for (;;) {
            const DeadLetters::Next next = dead.next(walk, 0);
            if (next.what != What::letter) return taken;
            const MessageId id = next.row != nullptr ? next.row->id : trial.recent.entry(next.entry).id;
            taken.push_back(id);
            dead.pass(walk, next);
        }
    }

    TrialContext trial;
    DeadLetters dead{trial.context};
};

// The worked example of dead_letters.h.
TEST(DeadLetters, a_walk_merges_memory_and_index_by_time_of_death) {
    Trial test;
    const MessageId recent = test.die(3);
    test.trial.now = 100;
    DeadWalk& walk = test.redrive();
    const MessageId first = 1000 * kShardsMax;
    EXPECT_EQ(test.trial.started<ScanDead>().until_ms, 101);
    test.answer({{Trial::row(first, 1), Trial::row(first + 5, 5)}, false, {}});
    EXPECT_EQ(test.take(walk), (std::vector<MessageId>{first, recent, first + 5}));
    ASSERT_TRUE(walk.lookup_open);
    EXPECT_EQ(test.trial.started<ScanDead>().from, (DuePosition{5, first + 6}));
    test.answer({{Trial::row(first + 9, 9)}, true, {}});
    EXPECT_EQ(test.take(walk), std::vector<MessageId>{first + 9});
    EXPECT_FALSE(walk.lookup_open);
    EXPECT_EQ(walk.done, 4u);
    EXPECT_EQ(test.dead.next(walk, 0).at, kNoBacklog);
}

TEST(DeadLetters, a_row_of_a_message_that_memory_knows_is_passed) {
    Trial test;
    const MessageId returned = test.trial.put(50);
    const MessageId ended = test.trial.put(50);
    test.trial.cancel(ended);
    DeadWalk& walk = test.redrive();
    test.answer({{Trial::row(returned, 1), Trial::row(ended, 2)}, true, {}});
    EXPECT_EQ(test.take(walk), std::vector<MessageId>{});
    EXPECT_EQ(test.dead.next(walk, 0).what, What::none);
}

TEST(DeadLetters, waits_for_the_record_of_the_next_one) {
    Trial test;
    const MessageId id = test.die(3);
    test.trial.now = 100;
    DeadWalk& walk = test.redrive();
    test.answer({{}, true, {}});
    Entry& entry = test.trial.recent.entry(test.trial.recent.find(id));
    entry.in_batch = true;
    EXPECT_EQ(test.dead.next(walk, 0).what, What::wait);
    EXPECT_FALSE(walk.lookup_open);
    entry.in_batch = false;
    EXPECT_EQ(test.take(walk), std::vector<MessageId>{id});
}

TEST(DeadLetters, expire_after_their_retention_one_queue_at_a_time) {
    Trial test;
    const MessageId old = test.die(10'000);
    test.die(10'500);
    const DueMs never = test.dead.next_expiry_ms();
    EXPECT_GT(never, 1'000'000'000'000'000);
    test.dead.expect(0, 10'000);
    test.dead.expect(0, 10'500);
    test.dead.expect(1, 10'800);
    EXPECT_EQ(test.dead.next_expiry_ms(), 11'000);
    test.trial.now = 11'000;
    test.dead.begin_expiry();
    EXPECT_TRUE(test.dead.is_expiring());
    EXPECT_EQ(test.dead.next_expiry_ms(), never);
    DeadWalk& walk = test.dead.walks().front();
    EXPECT_EQ(walk.expiring_queue, 0u);
    test.answer({{}, true, {}});
    EXPECT_EQ(test.take(walk), std::vector<MessageId>{old});
    const DeadLetters::Next next = test.dead.next(walk, 0);
    EXPECT_EQ(next.at.due_ms, 10'500);
    test.dead.end_expiry(walk, next.at);
    EXPECT_EQ(test.dead.next_expiry_ms(), 11'500);
    test.dead.forget(0);
    EXPECT_EQ(test.dead.next_expiry_ms(), 11'800);
}

TEST(DeadLetters, a_discard_starts_at_once_and_a_later_mark_extends_it) {
    Trial test;
    test.die(10'000);
    const MessageId second = test.die(10'500);
    test.dead.set_discard(0, 10'100);
    EXPECT_EQ(test.dead.next_expiry_ms(), test.trial.now);
    test.dead.set_discard(0, 0);
    EXPECT_GT(test.dead.next_expiry_ms(), test.trial.now) << "it was taken back";
    test.dead.set_discard(0, 10'100);
    test.dead.begin_expiry();
    DeadWalk& walk = test.dead.walks().front();
    EXPECT_EQ(walk.cause, Cause::discarded);
    test.answer({{}, true, {}});
    EXPECT_EQ(test.take(walk).size(), 1u);
    test.dead.set_discard(0, 10'501);
    EXPECT_EQ(test.take(walk), std::vector<MessageId>{second});
}

TEST(DeadLetters, an_expiry_does_not_count_as_a_redrive) {
    Trial test({.redrives_max = 1});
    test.die(10);
    test.dead.set_discard(0, 11);
    test.dead.begin_expiry();
    EXPECT_TRUE(test.dead.may_begin_redrive("default"));
    test.redrive();
    EXPECT_FALSE(test.dead.may_begin_redrive("default"));
}

}  // namespace
}  // namespace duewheel::dead_letters_test
