#include "store/maintenance/cleaner.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "message/records/outcome_rows.h"
#include "store/history_fixture.h"
#include "store/index_recovery.h"
#include "support/memory_rows.h"

namespace duewheel::cleaner_test {
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
    // All that is found in the oldest segment; each call's bytes are checked to be within bounds.
    Cleanings all(Sequence outcomes_from = 0) {
        Cleaner cleaner(shard_.catalog().snapshot().front(), *index_, outcomes_from);
        Cleanings all;
        while (!cleaner.finished()) {
            auto found = cleaner.next();
            EXPECT_TRUE(found.ok());
            if (!found.ok()) break;
            std::size_t bytes = found->outcomes.rows.size();
            for (const RelocationCandidate& candidate : found->candidates) bytes += candidate.body.size();
            EXPECT_TRUE(bytes <= Cleaner::kChunkBytes || found->candidates.size() == 1);
            std::move(found->candidates.begin(), found->candidates.end(), std::back_inserter(all.candidates));
            all.outcomes.rows += found->outcomes.rows;
            all.outcomes.count += found->outcomes.count;
            if (found->outcomes.count > 0) all.outcomes.segment = found->outcomes.segment;
            all.outcomes.up_to = std::max(all.outcomes.up_to, found->outcomes.up_to);
            ++calls_;
        }
        return all;
    }
    std::vector<RelocationCandidate> candidates() { return all().candidates; }
    static std::vector<MessageRecord> records(const OutcomesToRelocate& outcomes) {
        std::vector<MessageRecord> records;
        const Status read = for_each_outcome(outcomes.rows, [&](const MessageRecord& record) {
            records.push_back(record);
            return Status();
        });
        EXPECT_TRUE(read.ok());
        EXPECT_EQ(records.size(), outcomes.count);
        return records;
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
    const auto first = decode_message(found[0].kind, found[0].body);
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(first->content.body, "first body");
    EXPECT_EQ(decode_message(found[1].kind, found[1].body)->content.body, "second body");
}

TEST_F(Cleaning, finds_outcomes_until_they_expire) {
    const MessageId here = shard_.put(TrialShard::state_of("mail", kNow + 500, "order-1"));
    shard_.end(here);
    const MessageId ends_later = shard_.put("mail", kNow + 500);
    seal();
    shard_.end(ends_later);
    seal();
    retention_.set_now(kNow + Retention::kDefaultKeepMs);
    const auto found = records(all().outcomes);
    ASSERT_EQ(found.size(), 1u) << "the other outcome stands in the next segment";
    EXPECT_EQ(found[0].id, here);
    EXPECT_EQ(found[0].state.key, "order-1");
    EXPECT_EQ(found[0].ended_ms, kNow);
    retention_.set_now(kNow + Retention::kDefaultKeepMs + 1);
    EXPECT_TRUE(all().empty());
}

// A dead letter keeps its whole record, and how it died stands there too.
TEST_F(Cleaning, the_end_of_a_dead_message_is_not_an_outcome) {
    shard_.end(shard_.put("mail", kNow + 500), State::dead);
    seal();
    EXPECT_EQ(all().outcomes.count, 0u);
    EXPECT_EQ(all().candidates.size(), 1u);
}

// A process that ends while it cleans goes over the segment again at its next start.
TEST_F(Cleaning, continues_after_the_outcomes_relocated_before) {
    std::vector<MessageId> ids;
    for (int message = 0; message < 4; ++message) {
        ids.push_back(shard_.put("mail", kNow + 500));
        shard_.end(ids.back());
    }
    seal();
    EXPECT_EQ(all().outcomes.up_to, 9u);
    EXPECT_EQ(all().outcomes.segment, 1u);
    EXPECT_EQ(records(all(4).outcomes).size(), 3u) << "the end at place 4 is not before place 4";
    const auto rest = records(all(5).outcomes);
    ASSERT_EQ(rest.size(), 2u);
    EXPECT_EQ(rest[0].id, ids[2]);
    EXPECT_EQ(all(9).outcomes.count, 0u);
    EXPECT_EQ(index_->position().outcomes_relocated_up_to, 0u);
    shard_.relocate_outcomes(all().outcomes);
    seal();
    EXPECT_EQ(index_->position().outcomes_relocated_up_to, 9u) << "a restart asks the index";
}

// What was relocated once is relocated on from the record that holds it now.
TEST_F(Cleaning, outcomes_are_copied_on_until_they_expire) {
    const MessageId first = shard_.put("mail", kNow + 500);
    shard_.end(first);
    seal();
    shard_.commit(kNow + 1000);
    const MessageId second = shard_.put("mail", kNow + 500);
    shard_.end(second);
    shard_.relocate_outcomes(all().outcomes);
    seal();
    shard_.drop_before(shard_.catalog().snapshot().front()->end().totals.sequence + 1);
    const auto both = records(all(3).outcomes);
    ASSERT_EQ(both.size(), 2u);
    EXPECT_EQ(both[0].id, second);
    EXPECT_EQ(both[1].id, first);
    EXPECT_EQ(both[1].ended_ms, kNow);
    retention_.set_now(kNow + Retention::kDefaultKeepMs + 1);
    const auto one = records(all(3).outcomes);
    ASSERT_EQ(one.size(), 1u);
    EXPECT_EQ(one[0].id, second);
}

TEST_F(Cleaning, nothing_is_found_after_everything_was_relocated) {
    const MessageId waiting = shard_.put("mail", kNow + 500);
    const MessageId done = shard_.put("mail", kNow + 500);
    shard_.end(done);
    seal();
    const Cleanings found = all();
    EXPECT_EQ(found.candidates.size(), 1u);
    EXPECT_EQ(found.outcomes.count, 1u);
    shard_.relocate(waiting);
    shard_.relocate_outcomes(found.outcomes);
    seal();
    EXPECT_TRUE(all(found.outcomes.up_to).empty());
    EXPECT_FALSE(index_->needed_counts()->contains(1));
    shard_.drop_before(4);
    const Cleanings relocated = all(found.outcomes.up_to);
    ASSERT_EQ(relocated.candidates.size(), 1u) << "it is needed in its new segment";
    EXPECT_EQ(relocated.candidates[0].kind, RecordKind::relocate);
    EXPECT_EQ(relocated.outcomes.rows, found.outcomes.rows);
}

// After carrying what is found, no row refers to the segment any more, and the log without it builds the same rows.
TEST_F(Cleaning, a_log_whose_front_was_relocated_away_builds_the_same_rows) {
    for_each_history(10, [](TrialHistory& history) {
        TrialShard& shard = history.shard;
        const auto& index = history.index;
        for (int segment = 0; segment < 6; ++segment) history.write_segment(6);
        history.seal();
        const auto front = shard.catalog().snapshot().front();
        Cleaner cleaner(front, *index);
        std::size_t relocated = 0;
        while (!cleaner.finished()) {
            const Cleanings found = *cleaner.next();
            for (const RelocationCandidate& candidate : found.candidates) shard.relocate(candidate.row.id);
            if (found.outcomes.count > 0) shard.relocate_outcomes(found.outcomes);
            relocated += found.candidates.size() + found.outcomes.count;
        }
        history.write_segment(0);
        history.seal();
        EXPECT_FALSE(index->needed_counts()->contains(front->first_sequence())) << "carried " << relocated;
        shard.drop_before(front->end().totals.sequence + 1);

        MemoryRowStorage empty;
        auto rebuilt = *Index::open(empty, history.retention);
        ASSERT_TRUE(seal_missing(shard.catalog(), *rebuilt).ok());
        EXPECT_EQ(rebuilt->position().first_segment, 2u);
        auto without_position = [](const Index& of) {
            auto rows = all_rows(of.rows());
            rows.erase(position_key());  // where the index began differs
            // The history before the front is gone with it.
            rows.erase(rows.lower_bound(history_bound(0)), rows.lower_bound(history_bound(~Era{0})));
            rows.erase(history_ledger_key());
            rows.erase(outcome_ledger_key());
            return rows;
        };
        EXPECT_EQ(without_position(*rebuilt), without_position(*index));
    });
}

class CleaningMuch : public Cleaning {
  protected:
    CleaningMuch() : Cleaning(4 << 20) {}
};

TEST_F(CleaningMuch, comes_in_chunks_with_a_large_body_in_its_own) {
    const std::string body(60 << 10, 'x');
    for (int message = 0; message < 10; ++message) shard_.put(TrialShard::state_of("mail", kNow + 500), body);
    shard_.put(TrialShard::state_of("mail", kNow + 500), std::string(Cleaner::kChunkBytes + 1000, 'y'));
    shard_.put(TrialShard::state_of("mail", kNow + 500), body);
    seal();
    EXPECT_EQ(candidates().size(), 12u);
    EXPECT_EQ(calls_, 5) << "4 + 4 + 2, the large one, and the last one";
}

TEST_F(CleaningMuch, looks_a_bounded_number_of_records_up_in_a_call) {
    std::vector<MessageId> ids;
    for (std::size_t message = 0; message < Cleaner::kLookupsPerCall + 10; ++message) {
        ids.push_back(shard_.put("mail", kNow + 500));
    }
    const MessageId stays = shard_.put("mail", kNow + 500);
    seal();
    for (const MessageId id : ids) shard_.end(id);
    seal();
    Cleaner cleaner(shard_.catalog().snapshot().front(), *index_);
    EXPECT_TRUE(cleaner.next()->empty());
    EXPECT_FALSE(cleaner.finished());
    const auto found = cleaner.next();
    ASSERT_EQ(found->candidates.size(), 1u);
    EXPECT_EQ(found->candidates[0].row.id, stays);
    EXPECT_TRUE(cleaner.finished());
}

// Most segments at the front of a busy log hold nothing but what is over: that must not cost a look for each record.
TEST_F(CleaningMuch, looks_nothing_up_if_the_index_needs_nothing) {
    for (std::size_t message = 0; message < 2 * Cleaner::kLookupsPerCall; ++message) {
        shard_.end(shard_.put("mail", kNow + 500));
    }
    seal();
    retention_.set_now(kNow + Retention::kDefaultKeepMs + 1);
    std::size_t calls = 0;
    Cleaner cleaner(shard_.catalog().snapshot().front(), *index_);
    while (!cleaner.finished()) {
        EXPECT_TRUE(cleaner.next()->empty());
        ++calls;
    }
    const std::size_t bytes = 2 * Cleaner::kLookupsPerCall * 128;
    EXPECT_LE(calls, bytes / Cleaner::kChunkBytes + 1) << "the bytes of the ends alone bound a call";
}

}  // namespace
}  // namespace duewheel::cleaner_test
