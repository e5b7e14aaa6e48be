#include "message/totals.h"

#include <gtest/gtest.h>

namespace duewheel::totals_test {
namespace {

MessageState scheduled_at(DueMs due_ms) {
    MessageState state;
    state.queue = "q";
    state.due_ms = state.nominal_due_ms = due_ms;
    return state;
}

MessageRecord next(RecordKind kind, MessageId id, const MessageState& before, MessageState after) {
    MessageRecord record;
    record.kind = kind;
    record.id = id;
    record.state = std::move(after);
    record.record_bytes = 100;
    if (kind != RecordKind::put) {
        const bool counted = before.state != State::dead;
        record.previous = {before.state, before.version, before.due_ms, before.queue,
                           counted ? digest_term(id, before) : 0};
    }
    return record;
}

TEST(Totals, of_a_complete_life_are_zero) {
    Totals totals;
    const MessageState born = scheduled_at(5);
    add_to_totals(totals, next(RecordKind::put, 7 * kShardsMax, {}, born), 100);
    EXPECT_EQ(totals.live_count, 1u);
    EXPECT_EQ(totals.needed_bytes, 100u);
    EXPECT_EQ(totals.id_counter, 7u);
    EXPECT_EQ(totals.digest, digest_term(7 * kShardsMax, born));

    MessageState moved = scheduled_at(9);
    moved.version = 2;
    add_to_totals(totals, next(RecordKind::change, 7 * kShardsMax, born, moved), 40);
    EXPECT_EQ(totals.digest, digest_term(7 * kShardsMax, moved));

    MessageState dead = moved;
    dead.version = 3;
    dead.state = State::dead;
    add_to_totals(totals, next(RecordKind::end, 7 * kShardsMax, moved, dead), 40);
    EXPECT_EQ(totals.live_count, 0u);
    EXPECT_EQ(totals.needed_bytes, 100u) << "a dead letter needs its body";
    EXPECT_EQ(totals.digest, 0u);

    MessageState redriven = scheduled_at(20);
    redriven.version = 4;
    add_to_totals(totals, next(RecordKind::change, 7 * kShardsMax, dead, redriven), 40);
    EXPECT_EQ(totals.live_count, 1u);

    MessageState done = redriven;
    done.version = 5;
    done.state = State::done;
    add_to_totals(totals, next(RecordKind::end, 7 * kShardsMax, redriven, done), 40);
    EXPECT_EQ(totals.digest, 0u);
    EXPECT_EQ(totals.live_count, 0u);
    EXPECT_EQ(totals.needed_bytes, 0u);
}

TEST(Totals, a_dead_message_that_ends_does_not_need_its_record_any_more) {
    Totals totals;
    const MessageState born = scheduled_at(5);
    add_to_totals(totals, next(RecordKind::put, 7 * kShardsMax, {}, born), 100);
    MessageState dead = born;
    dead.version = 2;
    dead.state = State::dead;
    add_to_totals(totals, next(RecordKind::end, 7 * kShardsMax, born, dead), 40);
    MessageState expired = dead;
    expired.version = 3;
    expired.state = State::expired;
    add_to_totals(totals, next(RecordKind::end, 7 * kShardsMax, dead, expired), 40);
    EXPECT_EQ(totals.digest, 0u);
    EXPECT_EQ(totals.live_count, 0u);
    EXPECT_EQ(totals.needed_bytes, 0u);
}

TEST(Totals, a_relocation_moves_needed_bytes_and_changes_nothing_else) {
    Totals totals;
    const MessageState born = scheduled_at(5);
    add_to_totals(totals, next(RecordKind::put, 7 * kShardsMax, {}, born), 100);
    const Totals before = totals;
    MessageRecord relocate = next(RecordKind::relocate, 7 * kShardsMax, {}, born);
    relocate.previous = {};
    add_to_totals(totals, relocate, 130);
    EXPECT_EQ(totals.needed_bytes, 130u);
    EXPECT_EQ(totals.digest, before.digest);
    EXPECT_EQ(totals.live_count, 1u);
}

}  // namespace
}  // namespace duewheel::totals_test
