#include "store/cleaner.h"

#include <set>

#include <gtest/gtest.h>

#include "store/index_recovery.h"
#include "store/memory_rows.h"
#include "store/trial_moves.h"

namespace duewheel {
namespace {

constexpr DueMs kNow = TrialShard::kStart;

class Cleaning : public testing::Test {
  protected:
    explicit Cleaning(std::uint64_t segment_bytes = 64 << 10) : shard_(segment_bytes) {
        index_ = *Index::open(storage_, retention_);
    }
    void seal() {
        shard_.close_segment();
        ASSERT_TRUE(seal_missing(shard_.catalog(), *index_).ok());
    }
    // All candidates of the oldest segment; each call's bodies are checked to be within bounds.
    std::vector<CarryCandidate> candidates() {
        Cleaner cleaner(shard_.catalog().snapshot().front(), *index_);
        std::vector<CarryCandidate> all;
        while (!cleaner.finished()) {
            auto chunk = cleaner.next();
            EXPECT_TRUE(chunk.ok());
            if (!chunk.ok()) break;
            std::size_t bytes = 0;
            for (const CarryCandidate& candidate : *chunk) bytes += candidate.body.size();
            EXPECT_TRUE(bytes <= Cleaner::kChunkBytes || chunk->size() == 1);
            std::move(chunk->begin(), chunk->end(), std::back_inserter(all));
            ++calls_;
        }
        return all;
    }

    TrialShard shard_;
    Retention retention_;
    MemoryRowStorage storage_;
    std::unique_ptr<Index> index_;
    int calls_ = 0;
};

TEST_F(Cleaning, finds_unfinished_and_dead_messages_with_their_bodies) {
    const MessageId waiting = shard_.put(TrialShard::state_of("mail", kNow + 500), "first body");
    const MessageId done = shard_.put("mail", kNow + 500);
    const MessageId dead = shard_.put(TrialShard::state_of("mail", kNow + 500), "second body");
    shard_.end(dead, State::dead);
    seal();
    shard_.end(done);
    seal();
    const auto found = candidates();
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].row, shard_.rows.at(waiting));
    EXPECT_EQ(found[1].row, shard_.rows.at(dead));
    EXPECT_FALSE(found[0].is_outcome());
    const auto first = decode_record(found[0].kind, found[0].body);
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(first->content.body, "first body");
    EXPECT_EQ(decode_record(found[1].kind, found[1].body)->content.body, "second body");
}

TEST_F(Cleaning, finds_outcomes_until_they_expire) {
    const MessageId here = shard_.put(TrialShard::state_of("mail", kNow + 500, "order-1"));
    shard_.end(here);
    const MessageId ends_later = shard_.put("mail", kNow + 500);
    seal();
    shard_.end(ends_later);
    seal();
    retention_.set_now(kNow + Retention::kDefaultKeepMs);
    const auto found = candidates();
    ASSERT_EQ(found.size(), 1u) << "the other outcome stands in the next segment";
    EXPECT_TRUE(found[0].is_outcome());
    EXPECT_EQ(found[0].row.id, here);
    EXPECT_EQ(found[0].row.state.key, "order-1");
    EXPECT_EQ(found[0].row.ended_ms, kNow);
    EXPECT_TRUE(found[0].body.empty());
    retention_.set_now(kNow + Retention::kDefaultKeepMs + 1);
    EXPECT_TRUE(candidates().empty());
}

TEST_F(Cleaning, nothing_is_left_once_everything_was_carried) {
    const MessageId waiting = shard_.put("mail", kNow + 500);
    const MessageId done = shard_.put("mail", kNow + 500);
    shard_.end(done);
    seal();
    EXPECT_EQ(candidates().size(), 2u);
    shard_.carry(waiting);
    shard_.carry(done);
    seal();
    EXPECT_TRUE(candidates().empty());
    EXPECT_FALSE(index_->needed_counts()->contains(1));
    shard_.drop_before(4);
    const auto carried = candidates();
    ASSERT_EQ(carried.size(), 2u) << "they are needed in their new segment";
    EXPECT_EQ(carried[0].kind, RecordKind::carry);
}

// After carrying what is found, no row refers to the segment any more, and the log without it builds the same rows.
TEST_F(Cleaning, a_log_whose_front_was_carried_away_builds_the_same_rows) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        TrialShard shard;
        TrialMoves moves(shard, seed);
        MemoryRowStorage storage;
        auto index = *Index::open(storage, retention_);
        for (int segment = 0; segment < 6; ++segment) {
            for (int commits = 0; commits < 6; ++commits) moves.commit();
            moves.close_segment();
        }
        ASSERT_TRUE(seal_missing(shard.catalog(), *index).ok());
        const auto front = shard.catalog().snapshot().front();
        Cleaner cleaner(front, *index);
        std::set<MessageId> carried;
        while (!cleaner.finished()) {
            for (const CarryCandidate& candidate : *cleaner.next()) carried.insert(candidate.row.id);
        }
        for (const MessageId id : carried) shard.carry(id);
        moves.close_segment();
        ASSERT_TRUE(seal_missing(shard.catalog(), *index).ok());
        EXPECT_FALSE(index->needed_counts()->contains(front->first_sequence())) << "carried " << carried.size();
        shard.drop_before(front->end().totals.sequence + 1);

        MemoryRowStorage empty;
        auto rebuilt = *Index::open(empty, retention_);
        ASSERT_TRUE(seal_missing(shard.catalog(), *rebuilt).ok());
        EXPECT_EQ(rebuilt->position().first_segment, 2u);
        auto without_position = [](const Index& of) {
            auto rows = all_rows(of.rows());
            rows.erase(position_key());
            // The history before the front is gone with it.
            rows.erase(rows.lower_bound(history_bound(0)), rows.lower_bound(history_bound(~Era{0})));
            rows.erase(history_ledger_key());
            rows.erase(outcome_ledger_key());
            return rows;
        };
        EXPECT_EQ(without_position(*rebuilt), without_position(*index));
    }
}

class CleaningMuch : public Cleaning {
  protected:
    CleaningMuch() : Cleaning(4 << 20) {}
};

TEST_F(CleaningMuch, comes_in_chunks_and_a_large_body_by_itself) {
    const std::string body(60 << 10, 'x');
    for (int message = 0; message < 10; ++message) shard_.put(TrialShard::state_of("mail", kNow + 500), body);
    shard_.put(TrialShard::state_of("mail", kNow + 500), std::string(Cleaner::kChunkBytes + 1000, 'y'));
    shard_.put(TrialShard::state_of("mail", kNow + 500), body);
    seal();
    EXPECT_EQ(candidates().size(), 12u);
    EXPECT_EQ(calls_, 5) << "4 + 4 + 2, the large one, and the last one";
}

TEST_F(CleaningMuch, looks_at_a_bounded_number_of_records_in_a_call) {
    for (std::size_t message = 0; message < Cleaner::kLookUpsPerCall / 2 + 10; ++message) {
        shard_.end(shard_.put("mail", kNow + 500));
    }
    shard_.put("mail", kNow + 500);
    seal();
    retention_.set_now(kNow + Retention::kDefaultKeepMs + 1);
    Cleaner cleaner(shard_.catalog().snapshot().front(), *index_);
    EXPECT_TRUE(cleaner.next()->empty());
    EXPECT_FALSE(cleaner.finished());
    EXPECT_EQ(cleaner.next()->size(), 1u);
    EXPECT_TRUE(cleaner.finished());
}

}  // namespace
}  // namespace duewheel
