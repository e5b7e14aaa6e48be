// The effect of sealing on cursors: the load cursor removes rows of `due`, and bounds of queues keep messages that a
// scan of `due` does not find.
#include "store/sealer.h"
#include "store/sealing_fixture.h"

namespace duewheel::sealer_cursors_test {
namespace {

TEST_F(Sealing, the_load_cursor_only_rises_and_sweeps_due_below_it) {
    const MessageId first = shard_.put("mail", kNow + 100);
    const MessageId at_cursor = shard_.put("mail", kNow + 200);
    const MessageId above = shard_.put("mail", kNow + 201);
    seal();
    EXPECT_EQ(index_->position().load_cursor_ms, 0);
    shard_.set_load_cursor(kNow + 200);
    shard_.set_load_cursor(kNow + 190);
    seal();
    EXPECT_EQ(index_->position().load_cursor_ms, kNow + 200);
    EXPECT_EQ(due_ids(), (Ids{at_cursor, above}));
    EXPECT_EQ(queue_ids("mail"), (Ids{first, at_cursor, above})) << "a queue is never swept";
    shard_.set_load_cursor(kNow + 150);
    seal();
    EXPECT_EQ(index_->position().load_cursor_ms, kNow + 200);
    EXPECT_EQ(due_ids(), (Ids{at_cursor, above}));
    shard_.reschedule(at_cursor, kNow + 300);
    seal();
    EXPECT_EQ(due_ids(), (Ids{above, at_cursor})) << "the row at the cursor itself is not swept, so it is erased";
}

TEST_F(Sealing, a_row_added_below_the_load_cursor_lowers_its_queues_cursor) {
    const MessageId moved = shard_.put("mail", kNow + 900);
    const MessageId held = shard_.put("mail", kNow + 300);
    const MessageId untouched = shard_.put("mail", kNow + 50);
    shard_.set_state(held, State::held);
    shard_.set_load_cursor(kNow + 100);
    shard_.set_queue_cursor("mail", {kNow + 80, 7});
    shard_.commit(kNow - 10);
    seal();
    EXPECT_EQ(cursor("mail"), (DuePosition{kNow + 50, untouched})) << "not what the record says: a row lies below it";
    shard_.set_queue_cursor("mail", {kNow + 80, 7});
    shard_.commit(kNow);
    shard_.reschedule(moved, kNow + 60);
    shard_.commit(kNow);
    seal();
    EXPECT_EQ(due_ids(), Ids{}) << "below the load cursor nothing looks for it in due";
    EXPECT_EQ(cursor("mail"), (DuePosition{kNow + 60, moved}));
    shard_.set_queue_cursor("mail", {kNow + 80, 7});
    seal();
    EXPECT_EQ(cursor("mail"), (DuePosition{kNow + 80, 7})) << "this segment holds no row below it";
    shard_.attempt(held);
    shard_.set_load_cursor(kNow + 400);
    seal();
    EXPECT_EQ(cursor("mail"), (DuePosition{kNow + 80, 7})) << "nobody looks for what is held";
}

// The cursor of a queue stood in a part of the log that has gone, and did not change since, because the message it
// stood at is still unfinished; that message was relocated, but into a segment that is not full yet.
TEST_F(Sealing, an_index_started_after_a_lost_cursor_still_reaches_every_message) {
    const MessageId oldest = shard_.put("mail", kNow + 10);
    shard_.set_queue_cursor("mail", {kNow + 10, oldest});
    shard_.commit(kNow + 20, true);
    const MessageId later = shard_.put("mail", kNow + 500);
    const MessageId ended = shard_.put("post", kNow + 500);
    shard_.close_segment();
    shard_.set_load_cursor(kNow + 1000);
    shard_.end(ended);
    shard_.commit(kNow + 1000, true);
    shard_.relocate(oldest);
    shard_.commit(kNow + 1000);
    shard_.drop_before(3);
    ASSERT_TRUE(seal_missing(shard_.catalog(), *index_).ok());
    EXPECT_EQ(due_ids(), Ids{});
    EXPECT_EQ(cursor("mail"), (DuePosition{kNow + 500, later}));
    EXPECT_EQ(cursor("post"), std::nullopt);
}

// A prepared message whose answer was overdue was relocated before its check was durable. Like what is ready it got no
// row in `due`, and stood behind its queue's cursor alone; that passed it as soon as it had been read into memory,
// where the half belongs to no queue. The process died, and its producer was never asked again, nor did its default
// ever hold: those behind it with its order key waited forever (simulator, seed 4320 with messages in transactions).
TEST_F(Sealing, a_prepared_message_that_is_relocated_while_overdue_stays_in_due) {
    MessageState prepared = TrialShard::state_of("mail", kNow + 40);
    prepared.state = State::prepared;
    const MessageId half = shard_.put(prepared);
    const MessageId ready = shard_.put("mail", kNow + 40);
    shard_.commit(kNow);
    seal();
    EXPECT_EQ(due_ids(), (Ids{half, ready}));
    shard_.set_load_cursor(kNow + 40);
    shard_.relocate(half);
    shard_.relocate(ready);
    shard_.commit(kNow + 50);
    seal();
    EXPECT_EQ(due_ids(), Ids{half});
    EXPECT_EQ(cursor("mail"), (DuePosition{kNow + 40, ready})) << "what is ready is found there";
}

TEST_F(Sealing, the_last_cursor_record_of_a_queue_counts_and_removal_removes) {
    shard_.set_queue_cursor("mail", {kNow, 1});
    shard_.set_queue_cursor("mail", {kNow + 5, 2});
    shard_.set_queue_cursor("post", {kNow + 6, 3});
    seal();
    EXPECT_EQ(cursor("mail"), (DuePosition{kNow + 5, 2}));
    const auto all = index_->queue_cursors();
    ASSERT_TRUE(all.ok());
    EXPECT_EQ(*all, (std::vector<Index::QueueCursor>{{{"default", "mail"}, {kNow + 5, 2}},
                                                     {{"default", "post"}, {kNow + 6, 3}}}));
    shard_.set_queue_cursor("mail", {}, true);
    seal();
    EXPECT_EQ(cursor("mail"), std::nullopt);
    EXPECT_EQ(cursor("post"), (DuePosition{kNow + 6, 3}));
}

}  // namespace
}  // namespace duewheel::sealer_cursors_test
