#include "store/maintenance/index_proof.h"

#include <gtest/gtest.h>

#include "store/history_fixture.h"
#include "store/index_recovery.h"
#include "store/sealer.h"
#include "support/memory_rows.h"

namespace duewheel::index_proof_test {
namespace {

constexpr DueMs kNow = TrialShard::kStart;

std::vector<Sequence> first_sequences_of(const TrialShard& shard) {
    std::vector<Sequence> first_sequences;
    for (const SegmentSummary& segment : shard.catalog().list()) first_sequences.push_back(segment.first_sequence);
    return first_sequences;
}

// The difference to what the log says at its end, with a replay of what is newer than the index.
std::optional<std::string> difference_of(const TrialShard& shard, const Index& index) {
    RecentTier recent;
    for (const TrialRecord& record : shard.committed) {
        if (record.segment <= index.position().segment) continue;
        recent.apply(record.record, record.sequence, record.segment, record.frame_bytes);
    }
    const auto found = find_difference(index, recent, {}, shard.totals(), first_sequences_of(shard));
    EXPECT_TRUE(found.ok());
    return *found;
}

class IndexProof : public testing::Test {
  protected:
    IndexProof() { index_ = *Index::open(storage_, retention_); }

    // Two messages that wait in segment 1, one of them relocated to segment 2, and one dead; an end in segment 3 is not
    // sealed yet.
    void fill() {
        stays_ = shard_.put("mail", kNow + 500);
        relocated_ = shard_.put("mail", kNow + 500);
        dead_ = shard_.put("mail", kNow + 500);
        shard_.close_segment();
        shard_.relocate(relocated_);
        shard_.end(dead_, State::dead);
        shard_.close_segment();
        ASSERT_TRUE(seal_missing(shard_.catalog(), *index_).ok());
        ends_ = shard_.put("mail", kNow + 500);
        shard_.end(ends_);
        shard_.reschedule(relocated_, kNow + 700);
        shard_.commit(kNow + 1);
    }
    std::optional<std::string> difference() { return difference_of(shard_, *index_); }
    void plant(const std::string& key, const std::optional<std::string>& value) {
        const auto builder = index_->rows().build_table();
        value ? builder->put(key, *value) : builder->erase(key);
        ASSERT_TRUE(builder->take_in().ok());
    }
    void plant(const MessageRow& row) {
        std::string value;
        encode_id_value(value, row);
        plant(id_key(row.id), value);
    }

    TrialShard shard_;
    Retention retention_;
    MemoryRowStorage storage_;
    std::unique_ptr<Index> index_;
    MessageId stays_ = 0;
    MessageId relocated_ = 0;
    MessageId dead_ = 0;
    MessageId ends_ = 0;
};

TEST_F(IndexProof, rows_that_agree_with_the_log_have_no_differences) {
    fill();
    EXPECT_EQ(difference(), std::nullopt);
}

TEST_F(IndexProof, a_lost_row_is_found) {
    fill();
    plant(id_key(stays_), std::nullopt);
    ASSERT_TRUE(difference());
    EXPECT_NE(difference()->find("2 messages are unfinished, and the rows hold 1"), std::string::npos) << *difference();
}

TEST_F(IndexProof, a_message_that_is_another_one_is_found) {
    fill();
    MessageRow row = shard_.rows.at(stays_);
    row.state.priority += 1;
    plant(row);
    ASSERT_TRUE(difference());
    EXPECT_NE(difference()->find("are not those of the log"), std::string::npos) << *difference();
}

TEST_F(IndexProof, wrong_needed_bytes_of_a_dead_message_are_found) {
    fill();
    MessageRow row = shard_.rows.at(dead_);
    row.record_bytes += 1;
    plant(row);
    ASSERT_TRUE(difference());
    EXPECT_NE(difference()->find("bytes of it are needed"), std::string::npos) << *difference();
}

TEST_F(IndexProof, a_wrong_count_of_needed_records_is_found) {
    fill();
    std::string value;
    encode_needed(value, 3);
    plant(needed_key(1), value);
    ASSERT_TRUE(difference());
    EXPECT_NE(difference()->find("3 records are counted as needed, and the rows need 2"), std::string::npos)
        << *difference();
    plant(needed_key(1), std::nullopt);
    EXPECT_TRUE(difference()) << "a count that is missing is 0";
}

TEST_F(IndexProof, a_count_of_a_segment_that_the_log_does_not_have_is_found) {
    fill();
    std::string value;
    encode_needed(value, 1);
    plant(needed_key(2), value);
    EXPECT_TRUE(difference());
}

TEST_F(IndexProof, a_message_before_the_logs_front_is_found_unless_it_was_relocated_since) {
    fill();
    shard_.drop_before(4);
    ASSERT_TRUE(difference());
    EXPECT_NE(difference()->find("before the log's front"), std::string::npos) << *difference();
    shard_.relocate(stays_);
    shard_.relocate(dead_);
    shard_.commit(kNow + 2);
    ASSERT_TRUE(difference()) << "the counts still tell that the segment was needed when it went";
    plant(needed_key(1), std::nullopt);
    EXPECT_EQ(difference(), std::nullopt) << "the recent tier knows where they stand";
}

TEST_F(IndexProof, a_missing_needed_record_is_detected_by_the_counts) {
    fill();
    EXPECT_EQ(*find_lost_need(*index_, 1), std::nullopt);
    ASSERT_TRUE(*find_lost_need(*index_, 4));
}

// Whatever happens to messages, and however far the index has come: rows and log agree.
TEST_F(IndexProof, holds_for_any_history_and_any_position_of_the_index) {
    for_each_history(20, [&](TrialHistory& history) {
        TrialShard& shard = history.shard;
        TrialMoves& moves = history.moves;
        const auto& index = history.index;
        for (int segment = 0; segment < 8; ++segment) {
            for (int commits = 0; commits < 6; ++commits) moves.commit();
            ASSERT_EQ(difference_of(shard, *index), std::nullopt) << "index at segment " << index->position().segment;
            moves.close_segment();
            if (!moves.random().chance(600'000)) continue;
            for (const auto& full : shard.catalog().snapshot()) {
                if (full->header().number <= index->position().segment || moves.random().chance(300'000)) continue;
                if (full->header().number != index->position().segment + 1) break;
                ASSERT_TRUE(seal_segment(*full, shard.catalog(), *index).ok());
            }
        }
        history.seal();
        EXPECT_EQ(*find_difference(*index, RecentTier(), {}, index->position().totals, first_sequences_of(shard)),
                  std::nullopt);
    });
}

}  // namespace
}  // namespace duewheel::index_proof_test
