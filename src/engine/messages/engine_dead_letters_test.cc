// The dead letters of a queue: their retention, and how they are listed. How messages become dead letters and are
// returned is tested in engine_retries_test.cc.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_dead_letters.h"

namespace duewheel::engine_dead_letters_test {
namespace {

constexpr std::int64_t kKept = 1'000'000;

EngineOptions options() {
    EngineOptions options;
    options.dead_kept_ms = kKept;
    options.retry.attempts = 1;
    return options;
}

std::vector<MessageId> listed(TrialEngine& shard, std::uint32_t limit = 100) {
    ListCommand list;
    list.queue = "q";
    list.states = {State::dead};
    list.limit = limit;
    std::vector<MessageId> ids;
    for (int page = 0; page < 100; ++page) {
        const auto answer = shard.ask<ListAnswer>(list);
        EXPECT_LE(answer.listed.size(), limit);
        for (const ListedMessage& message : answer.listed) {
            EXPECT_EQ(message.row.state.state, State::dead);
            EXPECT_EQ(message.row.reason, "because");
            ids.push_back(message.row.id);
        }
        if (!answer.next) return ids;
        list.from = *answer.next;
    }
    ADD_FAILURE() << "a listing without end";
    return ids;
}

TEST(DeadLettersOfAQueue, are_ended_after_their_retention) {
    TrialEngine shard(options());
    const MessageId id = put_dead(shard);
    shard.turn(kKept - 1);
    EXPECT_EQ(state_of(shard, id), State::dead);
    EXPECT_EQ(shard.engine().next_wakeup(), kStart + kKept) << "it needs nobody who calls";
    shard.turn(1);
    EXPECT_EQ(state_of(shard, id), State::expired);
    const MessageRecord last = shard.last();
    EXPECT_EQ(last.kind, RecordKind::end);
    EXPECT_EQ(last.cause, Cause::kept_long_enough);
    EXPECT_EQ(shard.engine().totals().needed_bytes, 0u) << "nobody needs its body any more";
    EXPECT_EQ(shard.engine().counters().let_go, 1u);
    EXPECT_EQ(shard.engine().counters().expired, 0u);
    EXPECT_EQ(shard.ask<QueueAnswer>(DescribeQueueCommand{"default", "q"}).counts.dead, 0u);
    EXPECT_GT(shard.engine().next_wakeup(), kStart + kKept);
}

TEST(DeadLettersOfAQueue, expire_in_the_order_of_their_death) {
    TrialEngine shard(options());
    const MessageId first = put_dead(shard);
    shard.turn(500);
    const MessageId second = put_dead(shard);
    const MessageId elsewhere = put_dead(shard, "other");
    shard.turn(kKept - 500);
    EXPECT_EQ(state_of(shard, first), State::expired);
    EXPECT_EQ(state_of(shard, second), State::dead);
    EXPECT_EQ(state_of(shard, elsewhere), State::dead);
    shard.turn(500);
    EXPECT_EQ(state_of(shard, second), State::expired);
    EXPECT_EQ(state_of(shard, elsewhere), State::expired);
}

TEST(DeadLettersOfAQueue, that_were_requeued_are_not_discarded) {
    TrialEngine shard(options());
    const MessageId id = put_dead(shard);
    EXPECT_EQ(shard.ask<ChangeAnswer>(KickCommand{"default", id}).outcome, ChangeOutcome::kicked);
    shard.turn(2 * kKept);
    EXPECT_EQ(state_of(shard, id), State::ready);
    ASSERT_EQ(shard.lease().size(), 1u);
}

TEST(DeadLettersOfAQueue, in_the_index_expire_one_chunk_per_batch) {
    EngineOptions small = options();
    small.segment_bytes = 32'768;
    small.redrive_chunk = 2;
    TrialEngine shard(small);
    std::vector<MessageId> ids;
    for (int i = 0; i < 5; ++i) ids.push_back(put_dead(shard));
    shard.turn(1000);
    const MessageId later = put_dead(shard);
    shard.move_to_index();
    const std::uint64_t commits = shard.engine().counters().commits;
    shard.turn(kKept - 1000);
    for (int i = 0; i < 5; ++i) shard.turn();
    for (const MessageId id : ids) EXPECT_EQ(state_of(shard, id), State::expired);
    EXPECT_EQ(state_of(shard, later), State::dead);
    EXPECT_GE(shard.engine().counters().commits, commits + 3);
    EXPECT_EQ(shard.engine().counters().let_go, 5u);
}

TEST(DeadLettersOfAQueue, of_an_earlier_run_are_discarded_too) {
    TrialEngine before(options());
    const MessageId id = put_dead(before);
    TrialEngine shard(options(), before);
    shard.turn(kKept - 1);
    EXPECT_EQ(state_of(shard, id), State::dead);
    shard.turn(1);
    EXPECT_EQ(state_of(shard, id), State::expired);
}

// The scan that expires a queue's dead letters ends after the queue is empty, when its name and number may already
// belong to another queue: the scan then forgot that the other one has dead letters.
TEST(DeadLettersOfAQueue, are_discarded_although_a_scan_ends_whose_queue_has_become_empty) {
    EngineOptions small = options();
    small.segment_bytes = 32'768;
    TrialEngine shard(small);
    const MessageId back = put_dead(shard);
    shard.turn(kKept - 1);
    shard.hold_lookups = true;
    shard.turn(1);  // the walk has begun, and waits for rows
    EXPECT_EQ(shard.ask<ChangeAnswer>(KickCommand{"default", back}).outcome, ChangeOutcome::kicked);
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", back}).outcome, ChangeOutcome::cancelled);
    shard.move_to_index();
    const MessageId elsewhere = put_dead(shard, "other");
    shard.hold_lookups = false;
    for (int i = 0; i < 4; ++i) {
        shard.answer_lookups();
        shard.turn();
    }
    EXPECT_EQ(state_of(shard, elsewhere), State::dead);
    shard.turn(kKept);
    EXPECT_EQ(state_of(shard, elsewhere), State::expired);
}

TEST(DeadLettersOfAQueue, are_listed_by_time_of_death_from_memory_and_index) {
    EngineOptions small = options();
    small.segment_bytes = 32'768;
    TrialEngine shard(small);
    std::vector<MessageId> ids;
    put_dead(shard, 4, 10, ids);
    shard.move_to_index();
    put_dead(shard, 3, 10, ids);
    shard.put(0);
    put_dead(shard, "other");
    EXPECT_EQ(listed(shard), ids);
    for (const std::uint32_t limit : {1u, 2u, 3u, 7u}) EXPECT_EQ(listed(shard, limit), ids) << limit;
    EXPECT_EQ(shard.ask<ChangeAnswer>(KickCommand{"default", ids[1]}).outcome, ChangeOutcome::kicked);
    ids.erase(ids.begin() + 1);
    EXPECT_EQ(listed(shard, 2), ids);
}

TEST(DeadLettersOfAQueue, are_listed_separately) {
    TrialEngine shard(options());
    ListCommand list;
    list.queue = "q";
    list.states = {State::dead, State::ready};
    EXPECT_EQ(shard.ask<Error>(list).code, "bad_state"_code);
    EXPECT_EQ(listed(shard), std::vector<MessageId>{}) << "of a queue that nobody knows";
}

}  // namespace
}  // namespace duewheel::engine_dead_letters_test
