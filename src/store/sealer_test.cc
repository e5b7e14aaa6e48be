// Each rule of sealing separately, on segments written for it.
#include "store/sealer.h"

#include "base/error_codes.h"
#include "message/records/outcome_rows.h"
#include "store/sealing_fixture.h"

namespace duewheel::sealer_test {
namespace {

TEST_F(Sealing, a_waiting_message_has_rows_by_id_by_due_and_in_its_queue) {
    const MessageId id = shard_.put("mail", kNow + 500);
    seal();
    EXPECT_EQ(find(id), shard_.rows.at(id));
    const auto due = index_->scan_due({kNow + 500, id}, kNow + 501, 10);
    ASSERT_EQ(due->rows.size(), 1u);
    EXPECT_EQ(due->rows[0], shard_.rows.at(id));
    EXPECT_TRUE(due->complete);
    const auto queue = index_->scan_queue("default", "mail", {kNow + 500, id}, kNow + 501, 10);
    ASSERT_EQ(queue->rows.size(), 1u);
    EXPECT_EQ(queue->rows[0], shard_.rows.at(id));
    EXPECT_EQ(needed(1), 1u);
    EXPECT_EQ(cursor("mail"), std::nullopt) << "a walk of due finds it";
}

TEST_F(Sealing, rows_come_in_due_order_and_in_stretches) {
    const MessageId late = shard_.put("mail", kNow + 900);
    const MessageId early = shard_.put("mail", kNow + 100);
    const MessageId other = shard_.put("post", kNow + 500);
    seal();
    EXPECT_EQ(due_ids(), (Ids{early, other, late}));
    EXPECT_EQ(queue_ids("mail"), (Ids{early, late}));
    EXPECT_EQ(queue_ids("pos"), Ids{});
    const auto stretch = index_->scan_due({}, kNever, 2);
    EXPECT_EQ(stretch->rows.size(), 2u);
    EXPECT_FALSE(stretch->complete);
    const auto rest = index_->scan_due({stretch->rows[1].state.due_ms, stretch->rows[1].id + 1}, kNever, 2);
    ASSERT_EQ(rest->rows.size(), 1u);
    EXPECT_EQ(rest->rows[0].id, late);
    EXPECT_TRUE(index_->scan_due({kNow + 900, late}, kNow + 900, 5)->rows.empty()) << "until is not included";
}

TEST_F(Sealing, what_was_due_when_it_was_committed_has_no_due_row_but_is_bounded_by_its_queue_cursor) {
    const MessageId at_once = shard_.put("mail", kNow + 10);
    const MessageId later = shard_.put("mail", kNow + 11);
    shard_.commit(kNow + 10);
    seal();
    EXPECT_EQ(due_ids(), Ids{later});
    EXPECT_EQ(queue_ids("mail"), (Ids{at_once, later}));
    EXPECT_EQ(cursor("mail"), (DuePosition{kNow + 10, at_once}));
}

TEST_F(Sealing, the_time_of_the_deciding_commit_counts) {
    const MessageId early = shard_.put("mail", kNow + 100);
    const MessageId changed = shard_.put("mail", kNow + 100);
    shard_.commit(kNow);
    shard_.reschedule(changed, kNow + 100);
    shard_.commit(kNow + 200);
    seal();
    EXPECT_EQ(due_ids(), Ids{early});
    EXPECT_EQ(queue_ids("mail"), (Ids{early, changed}));
}

TEST_F(Sealing, a_message_that_ends_in_its_own_segment_leaves_an_outcome_and_nothing_else) {
    const MessageId id = shard_.put("mail", kNow + 500);
    shard_.attempt(id);
    shard_.end(id);
    seal();
    EXPECT_EQ(due_ids(), Ids{});
    EXPECT_EQ(queue_ids("mail"), Ids{});
    EXPECT_EQ(needed(1), 0u);
    const auto row = find(id);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->state, shard_.rows.at(id).state);
    EXPECT_EQ(row->state.attempts, 1u);
    EXPECT_EQ(row->ended_ms, kNow);
    EXPECT_EQ(row->lease_attempt, 1u);
    EXPECT_EQ(row->lease_incarnation, 3u);
    EXPECT_EQ(row->record_bytes, 0u);
    EXPECT_EQ(row->log_position, 0u) << "an outcome needs no record";
}

TEST_F(Sealing, an_end_removes_the_rows_of_an_earlier_segment) {
    const MessageId id = shard_.put("mail", kNow + 500);
    const MessageId stays = shard_.put("mail", kNow + 500);
    seal();
    shard_.end(id, State::cancelled);
    seal();
    EXPECT_EQ(due_ids(), Ids{stays});
    EXPECT_EQ(queue_ids("mail"), Ids{stays});
    EXPECT_EQ(find(id)->state.state, State::cancelled);
    EXPECT_EQ(needed(1), 1u);
    EXPECT_EQ(needed(2), 0u);
}

TEST_F(Sealing, a_moved_message_has_only_its_new_rows) {
    const MessageId id = shard_.put("mail", kNow + 500);
    seal();
    shard_.reschedule(id, kNow + 300);
    shard_.reschedule(id, kNow + 700);
    MessageState state = shard_.rows.at(id).state;
    state.queue = "post";
    shard_.change(id, state);
    seal();
    EXPECT_EQ(due_ids(), Ids{id});
    EXPECT_EQ(queue_ids("mail"), Ids{});
    EXPECT_EQ(queue_ids("post"), Ids{id});
    EXPECT_EQ(find(id), shard_.rows.at(id));
    EXPECT_EQ(find(id)->log_position, 1u) << "the whole record stands where it was put";
    EXPECT_EQ(needed(1), 1u);
}

TEST_F(Sealing, a_changed_message_with_the_same_keys_has_the_new_row) {
    const MessageId id = shard_.put("mail", kNow + 500);
    seal();
    shard_.attempt(id);
    seal();
    EXPECT_EQ(index_->scan_due({}, kNever, 10)->rows.at(0).state.attempts, 1u);
    EXPECT_EQ(index_->scan_queue("default", "mail", {}, kNever, 10)->rows.at(0).state.attempts, 1u);
    EXPECT_EQ(due_ids().size(), 1u);
}

TEST_F(Sealing, a_held_message_is_not_due_and_a_prepared_one_has_a_deadline) {
    MessageState prepared = TrialShard::state_of("mail", kNow + 400);
    prepared.state = State::prepared;
    const MessageId in_transaction = shard_.put(prepared);
    const MessageId held = shard_.put("mail", kNow + 500);
    seal();
    EXPECT_EQ(due_ids(), (Ids{in_transaction, held}));
    shard_.set_state(held, State::held);
    seal();
    EXPECT_EQ(due_ids(), Ids{in_transaction});
    EXPECT_EQ(queue_ids("mail"), (Ids{in_transaction, held}));
    EXPECT_EQ(cursor("mail"), std::nullopt);
    EXPECT_EQ(needed(1), 2u);
    shard_.set_state(held, State::scheduled);
    shard_.set_state(in_transaction, State::scheduled);
    seal();
    EXPECT_EQ(due_ids(), (Ids{in_transaction, held}));
}

TEST_F(Sealing, a_dead_message_keeps_its_whole_row_and_can_be_redriven) {
    const MessageId id = shard_.put("mail", kNow + 500);
    seal();
    shard_.end(id, State::dead);
    seal();
    EXPECT_EQ(due_ids(), Ids{});
    EXPECT_EQ(queue_ids("mail"), Ids{});
    EXPECT_EQ(find(id), shard_.rows.at(id));
    EXPECT_EQ(find(id)->log_position, 1u);
    EXPECT_EQ(find(id)->reason, "reason " + std::to_string(id));
    EXPECT_EQ(dead_ids("mail"), Ids{id});
    EXPECT_EQ(needed(1), 1u) << "its body can still be asked for";
    EXPECT_TRUE(find(id, kNow + 2 * Retention::kDefaultKeepMs)) << "the dead do not expire";
    shard_.reschedule(id, kNow + 900);
    seal();
    EXPECT_EQ(due_ids(), Ids{id});
    EXPECT_EQ(queue_ids("mail"), Ids{id});
    EXPECT_EQ(dead_ids("mail"), Ids{});
    EXPECT_EQ(find(id), shard_.rows.at(id));
    EXPECT_EQ(needed(1), 1u);
    shard_.end(id, State::dead);
    seal();
    EXPECT_EQ(dead_ids("mail"), Ids{id});
    shard_.end(id, State::expired);
    seal();
    EXPECT_EQ(dead_ids("mail"), Ids{});
    EXPECT_EQ(needed(1), 0u);
    EXPECT_FALSE(find(id, kNow + 2 * Retention::kDefaultKeepMs));
}

TEST_F(Sealing, dead_letters_of_a_queue_are_sorted_by_time_of_death_in_stretches) {
    const MessageId second = shard_.put("mail", kNow + 500);
    const MessageId third = shard_.put("mail", kNow + 100);
    const MessageId first = shard_.put("mail", kNow + 900);
    const MessageId other = shard_.put("post", kNow + 900);
    shard_.end(first, State::dead);
    shard_.commit(kNow + 10);
    shard_.end(second, State::dead);
    shard_.end(third, State::dead);
    shard_.end(other, State::dead);
    seal();
    EXPECT_EQ(dead_ids("mail"), (Ids{first, second, third}));
    const auto stretch = index_->scan_dead("default", "mail", {kNow, first + 1}, kNever, 1);
    ASSERT_EQ(stretch->rows.size(), 1u);
    EXPECT_EQ(stretch->rows[0], shard_.rows.at(second));
    EXPECT_FALSE(stretch->complete);
    EXPECT_TRUE(index_->scan_dead("default", "mail", {kNow, first + 1}, kNow + 10, 5)->rows.empty());
    shard_.relocate(second);
    seal();
    EXPECT_EQ(dead_ids("mail"), (Ids{first, second, third})) << "a carry changes nothing";
}

// A message died and was returned within one segment, which takes its expiry away; the row at its expiry stayed,
// and brought it back once more after its end.
TEST_F(Sealing, a_redriven_message_has_no_row_at_its_expiry) {
    MessageState state = TrialShard::state_of("mail", kNow + 500);
    state.expires_ms = kNow + 700;
    const MessageId id = shard_.put(state);
    seal();
    EXPECT_EQ(due_ids(), (Ids{id, id}));
    shard_.end(id, State::dead);
    shard_.reschedule(id, kNow + 600);
    seal();
    EXPECT_EQ(due_ids(), Ids{id});
    shard_.end(id);
    seal();
    EXPECT_EQ(due_ids(), Ids{});
}

TEST_F(Sealing, a_lease_has_a_row_at_its_newest_end_until_it_is_over) {
    const MessageId ended = shard_.put("mail", kNow);
    const MessageId extended = shard_.put("mail", kNow);
    const MessageId lost = shard_.put("mail", kNow);
    const MessageId short_one = shard_.put("mail", kNow);
    const MessageId without = shard_.put("mail", kNow);
    const MessageId relocated = shard_.put("mail", kNow);
    shard_.attempt(ended, kNow + 500);
    shard_.attempt(extended, kNow + 600);
    shard_.attempt(lost, kNow + 700);
    shard_.attempt(short_one, kNow + 100);
    shard_.attempt(without);
    shard_.attempt(relocated, kNow + 900);
    shard_.commit(kNow + 100);
    seal();
    const auto leases = [this] { return *index_->leases(); };
    using Rows = std::vector<DuePosition>;
    EXPECT_EQ(leases(),
              (Rows{{kNow + 500, ended}, {kNow + 600, extended}, {kNow + 700, lost}, {kNow + 900, relocated}}));

    shard_.end(ended);
    shard_.attempt(extended, kNow + 800);
    shard_.relocate(relocated);
    shard_.commit(kNow + 200);
    seal();
    EXPECT_EQ(leases(), (Rows{{kNow + 700, lost}, {kNow + 800, extended}, {kNow + 900, relocated}}));

    shard_.reschedule(extended, kNow + 5000);
    shard_.commit(kNow + 700);
    seal();
    EXPECT_EQ(leases(), (Rows{{kNow + 800, extended}, {kNow + 900, relocated}})) << "no record says that it was lost";
    EXPECT_EQ(find(lost)->state.work->lease.until_ms, kNow + 700);
}

TEST_F(Sealing, outcomes_and_their_keys_expire) {
    const MessageId id = shard_.put(TrialShard::state_of("mail", kNow + 500, "order-1"));
    shard_.end(id);
    seal();
    const DueMs last = kNow + Retention::kDefaultKeepMs;
    EXPECT_TRUE(find(id, last));
    EXPECT_TRUE(find_key("mail", "order-1", last));
    EXPECT_FALSE(find(id, last + 1));
    EXPECT_FALSE(find_key("mail", "order-1", last + 1));
}

// Cleaning took the log of short-lived messages for garbage that it was not: every outcome is kept for a day.
TEST_F(Sealing, the_bytes_of_outcomes_in_the_log_are_counted_until_they_expire) {
    const MessageId first = shard_.put("mail", kNow + 500);
    const MessageId second = shard_.put("mail", kNow + 500);
    const MessageId third = shard_.put("mail", kNow + 500);
    seal();
    EXPECT_EQ(index_->outcome_bytes(), 0u);
    shard_.end(first);
    shard_.end(second, State::cancelled);
    seal();
    const std::uint64_t both = shard_.committed.at(3).frame_bytes + shard_.committed.at(4).frame_bytes;
    EXPECT_EQ(index_->outcome_bytes(), both);
    shard_.end(third, State::dead);
    seal();
    EXPECT_EQ(index_->outcome_bytes(), both) << "the dead are needed whole and counted with what is pending";
    shard_.put("mail", kNow + 500);
    shard_.commit(kNow + Retention::kDefaultKeepMs);
    seal();
    EXPECT_EQ(index_->outcome_bytes(), both);
    shard_.put("mail", kNow + 500);
    shard_.commit(kNow + Retention::kDefaultKeepMs + 1);
    seal();
    EXPECT_EQ(index_->outcome_bytes(), 0u);
}

TEST_F(Sealing, a_key_names_its_message_through_its_life) {
    const MessageId id = shard_.put(TrialShard::state_of("mail", kNow + 500, "order-1"));
    seal();
    ASSERT_TRUE(find_key("mail", "order-1"));
    EXPECT_EQ(find_key("mail", "order-1")->id, id);
    EXPECT_EQ(find_key("mail", "order-1")->request_hash, 77u);
    EXPECT_EQ(find_key("mail", "order-1")->ended_ms, 0);
    EXPECT_FALSE(find_key("post", "order-1"));
    EXPECT_FALSE(find_key("mail", "order-2"));
    shard_.end(id);
    seal();
    ASSERT_TRUE(find_key("mail", "order-1"));
    EXPECT_EQ(find_key("mail", "order-1")->ended_ms, kNow);
}

TEST_F(Sealing, a_key_moves_with_its_message) {
    const MessageId id = shard_.put(TrialShard::state_of("mail", kNow + 500, "order-1"));
    seal();
    MessageState state = shard_.rows.at(id).state;
    state.queue = "post";
    shard_.change(id, state);
    seal();
    EXPECT_FALSE(find_key("mail", "order-1"));
    ASSERT_TRUE(find_key("post", "order-1"));
    EXPECT_EQ(find_key("post", "order-1")->id, id);
}

// A repeated put has the first response, wherever the message has been moved since.
TEST_F(Sealing, a_key_keeps_the_due_time_that_its_put_was_answered) {
    const MessageId id = shard_.put(TrialShard::state_of("mail", kNow + 500, "order-1"));
    shard_.reschedule(id, kNow + 900);
    seal();
    EXPECT_EQ(find_key("mail", "order-1")->due_ms, kNow + 500);
    shard_.reschedule(id, kNow + 700);
    seal();
    EXPECT_EQ(find_key("mail", "order-1")->due_ms, kNow + 500);
    shard_.end(id);
    seal();
    EXPECT_EQ(find_key("mail", "order-1")->due_ms, kNow + 500);
}

TEST_F(Sealing, of_two_messages_with_one_key_the_younger_holds_it) {
    const MessageId dead = shard_.put(TrialShard::state_of("mail", kNow + 500, "order-1"));
    shard_.end(dead, State::dead);
    seal();
    const MessageId younger = shard_.put(TrialShard::state_of("mail", kNow + 500, "order-1"));
    seal();
    EXPECT_EQ(find_key("mail", "order-1")->id, younger);
    shard_.reschedule(dead, kNow + 900);  // redriven
    seal();
    EXPECT_EQ(find_key("mail", "order-1")->id, younger);
    shard_.end(dead, State::dead);
    seal();
    shard_.relocate(dead);
    seal();
    EXPECT_EQ(find_key("mail", "order-1")->id, younger);
    EXPECT_EQ(find_key("mail", "order-1")->ended_ms, 0);
}

TEST_F(Sealing, a_record_of_an_unknown_message_is_applied) {
    const MessageId changed = shard_.put("mail", kNow + 500);
    const MessageId begun = shard_.put("mail", kNow + 600);
    const MessageId ended = shard_.put("mail", kNow + 700);
    shard_.close_segment();
    shard_.reschedule(changed, kNow + 800);
    shard_.attempt(begun);
    shard_.end(ended);
    shard_.close_segment();
    // An index that begins with the second segment, as one does that is built from a log whose front has gone.
    shard_.drop_before(4);
    ASSERT_TRUE(seal_missing(shard_.catalog(), *index_).ok());
    EXPECT_EQ(due_ids(), (Ids{begun, changed}));
    EXPECT_EQ(queue_ids("mail"), (Ids{begun, changed}));
    EXPECT_EQ(find(changed), shard_.rows.at(changed));
    EXPECT_EQ(find(begun), shard_.rows.at(begun));
    EXPECT_EQ(find(ended)->state.state, State::done);
    EXPECT_TRUE(index_->needed_counts()->empty()) << "their whole records lie before the front";
}

TEST_F(Sealing, a_relocation_writes_all_rows_of_an_unknown_message) {
    const MessageId waiting = shard_.put(TrialShard::state_of("mail", kNow + 500, "order-1"));
    const MessageId ended = shard_.put(TrialShard::state_of("mail", kNow + 500, "order-2"));
    shard_.end(ended);
    const MessageId dead = shard_.put("mail", kNow + 500);
    shard_.end(dead, State::dead);
    shard_.close_segment();
    for (const MessageId id : {waiting, ended, dead}) shard_.relocate(id);
    shard_.close_segment();
    shard_.drop_before(6);
    ASSERT_TRUE(seal_missing(shard_.catalog(), *index_).ok());
    EXPECT_EQ(due_ids(), Ids{waiting});
    EXPECT_EQ(queue_ids("mail"), Ids{waiting});
    for (const MessageId id : {waiting, ended, dead}) EXPECT_EQ(find(id), shard_.rows.at(id)) << id;
    EXPECT_EQ(find_key("mail", "order-1")->id, waiting);
    EXPECT_EQ(find_key("mail", "order-2")->ended_ms, kNow);
    EXPECT_EQ(needed(1), 2u);
}

// For an index that contains the ends themselves the record of their relocation has nothing new; one that was started
// after they had left the log knows them only by that record.
TEST_F(Sealing, relocated_outcomes_are_added_if_their_segment_is_unknown) {
    const MessageId ended = shard_.put(TrialShard::state_of("mail", kNow + 500, "order-1"));
    shard_.end(ended);
    seal();
    const MessageRow before = *find(ended);
    std::string rows;
    append_outcome(rows, std::get<MessageRecord>(shard_.committed.back().record));
    shard_.relocate_outcomes({rows, 1, 1, 3});
    seal();
    EXPECT_EQ(find(ended), before);
    EXPECT_EQ(index_->position().outcomes_relocated_up_to, 3u);

    shard_.drop_before(3);
    MemoryRowStorage storage;
    const auto rebuilt = *Index::open(storage, retention_);
    ASSERT_TRUE(seal_missing(shard_.catalog(), *rebuilt).ok());
    ASSERT_EQ(rebuilt->position().first_segment, 2u);
    EXPECT_EQ(*rebuilt->find(ended, kNow), shard_.rows.at(ended));
    const auto holder = *rebuilt->find_key("default", "mail", "order-1", kNow);
    ASSERT_TRUE(holder);
    EXPECT_EQ(holder->id, ended);
    EXPECT_EQ(holder->ended_ms, kNow);
    EXPECT_TRUE(rebuilt->needed_counts()->empty());
}

TEST_F(Sealing, a_relocation_moves_the_needed_bytes_to_its_position) {
    const MessageId first = shard_.put("mail", kNow + 500);
    const MessageId second = shard_.put("mail", kNow + 600);
    const MessageId third = shard_.put("mail", kNow + 700);
    seal();
    shard_.relocate(first);
    shard_.attempt(second);
    shard_.relocate(second);
    shard_.attempt(third);
    seal();
    EXPECT_EQ(needed(1), 1u);
    EXPECT_EQ(needed(2), 2u);
    EXPECT_EQ(find(first), shard_.rows.at(first));
    EXPECT_EQ(due_ids(), (Ids{first, second, third}));
    shard_.relocate(third);
    shard_.relocate(third);
    shard_.end(first);
    seal();
    EXPECT_EQ(needed(1), 0u);
    EXPECT_EQ(needed(2), 1u);
    EXPECT_EQ(needed(3), 1u);
}

TEST_F(Sealing, a_relocation_that_is_followed_by_a_change_leaves_no_old_rows) {
    const MessageId moved = shard_.put("mail", kNow + 500);
    const MessageId ended = shard_.put("mail", kNow + 500);
    seal();
    shard_.relocate(moved);
    shard_.reschedule(moved, kNow + 900);
    shard_.relocate(ended);
    shard_.end(ended);
    seal();
    EXPECT_EQ(due_ids(), Ids{moved});
    EXPECT_EQ(queue_ids("mail"), Ids{moved});
    EXPECT_EQ(index_->scan_due({}, kNever, 10)->rows.at(0), shard_.rows.at(moved));
    EXPECT_EQ(needed(1), 0u);
    EXPECT_EQ(needed(2), 1u);
}

TEST_F(Sealing, the_position_is_the_segments_own_end) {
    shard_.put("mail", kNow + 500);
    shard_.commit(kNow + 1, true);
    const Totals end = shard_.totals();
    const MessageId newer = shard_.put("mail", kNow + 500);
    shard_.commit(kNow + 2);
    ASSERT_TRUE(seal_missing(shard_.catalog(), *index_).ok());
    reopen();
    EXPECT_EQ(index_->position().totals, end);
    EXPECT_EQ(index_->position().segment, 1u);
    EXPECT_FALSE(find(newer));
}

TEST_F(Sealing, without_space_nothing_changes_and_it_can_be_tried_again) {
    const MessageId id = shard_.put("mail", kNow + 500);
    shard_.close_segment();
    storage_.refuse_tables(1);
    EXPECT_EQ(seal_missing(shard_.catalog(), *index_).error().code, "no_space"_code);
    EXPECT_EQ(index_->position(), IndexPosition{});
    EXPECT_EQ(storage_.row_count(), 0u);
    ASSERT_TRUE(seal_missing(shard_.catalog(), *index_).ok());
    EXPECT_TRUE(find(id));
}

TEST_F(Sealing, only_the_next_full_segment_can_be_sealed) {
    for (int segment = 0; segment < 3; ++segment) {
        shard_.put("mail", kNow + 500);
        shard_.close_segment();
    }
    shard_.put("mail", kNow + 500);
    shard_.commit(kNow);
    const auto segments = shard_.catalog().snapshot();
    ASSERT_EQ(segments.size(), 4u);
    ASSERT_TRUE(seal_segment(*segments[0], shard_.catalog(), *index_).ok());
    EXPECT_EQ(seal_segment(*segments[2], shard_.catalog(), *index_).error().code, "damaged_index"_code);
    EXPECT_EQ(seal_segment(*segments[0], shard_.catalog(), *index_).error().code, "damaged_index"_code);
    ASSERT_TRUE(seal_missing(shard_.catalog(), *index_).ok());
    EXPECT_EQ(index_->position().segment, 3u);
    EXPECT_EQ(seal_segment(*segments[3], shard_.catalog(), *index_).error().code, "damaged_index"_code)
        << "not full yet";
}

// Minutes that are close to each other are read with one scan of the index, and others one by one.
TEST_F(Sealing, the_messages_of_each_minute_are_counted_by_queue_and_by_namespace) {
    using Minutes = std::map<DueMs, std::uint32_t>;
    constexpr DueMs kFirst = kNow / 60'000 * 60'000;
    constexpr DueMs kYear = 365LL * 24 * 3'600'000;
    const MessageId moved = shard_.put("mail", kFirst + 60'000);
    const MessageId ended = shard_.put("mail", kFirst + 119'999);
    const MessageId dead = shard_.put("mail", kFirst + 60'000);
    const MessageId far = shard_.put("mail", kFirst + kYear);
    shard_.put("post", kFirst + 60'000);
    seal();
    EXPECT_EQ(scheduled("mail"), (Minutes{{kFirst + 60'000, 3}, {kFirst + kYear, 1}}));
    EXPECT_EQ(scheduled("post"), (Minutes{{kFirst + 60'000, 1}}));
    EXPECT_EQ(scheduled(""), (Minutes{{kFirst + 60'000, 4}, {kFirst + kYear, 1}}));
    shard_.reschedule(moved, kFirst + 180'000);
    shard_.end(ended, State::cancelled);
    shard_.end(dead, State::dead);
    MessageState elsewhere = shard_.rows.at(far).state;
    elsewhere.queue = "post";
    shard_.change(far, elsewhere);
    seal();
    EXPECT_EQ(scheduled("mail"), (Minutes{{kFirst + 180'000, 1}}));
    EXPECT_EQ(scheduled("post"), (Minutes{{kFirst + 60'000, 1}, {kFirst + kYear, 1}}));
    EXPECT_EQ(scheduled(""), (Minutes{{kFirst + 60'000, 1}, {kFirst + 180'000, 1}, {kFirst + kYear, 1}}));
    shard_.reschedule(dead, kFirst + 180'000);
    shard_.set_state(moved, State::held);
    shard_.relocate(far);
    seal();
    EXPECT_EQ(scheduled("mail"), (Minutes{{kFirst + 180'000, 1}}));
    shard_.end(far, State::cancelled);
    seal();
    EXPECT_EQ(scheduled("post"), (Minutes{{kFirst + 60'000, 1}}));
}

}  // namespace
}  // namespace duewheel::sealer_test
