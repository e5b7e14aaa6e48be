#include "engine/core/batch_pipeline.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace duewheel::batch_pipeline_test {
namespace {

constexpr ReplyToken kToken = 7;

struct Trial {
    // Adds puts that are answered with these tokens.
    void add(const std::vector<ReplyToken>& tokens) {
        for (const ReplyToken token : tokens) {
            MessageRecord record;
            record.kind = RecordKind::put;
            record.id = ++id * kShardsMax;
            record.state.queue = "q";
            batches.batch().add(record, kNoEntry, token, Error{});
        }
    }

    BatchPipeline batches{Totals{.commit = 4, .sequence = 10}};
    MessageId id = 0;
};

TEST(BatchPipeline, hands_a_batch_over_as_the_next_commit) {
    Trial test;
    EXPECT_FALSE(test.batches.has_batch());
    test.batches.begin();
    test.add({kToken, kToken});
    EXPECT_FALSE(test.batches.is_in_flight());
    const char* const bytes = test.batches.batch().record_bytes().data();
    Commit commit = test.batches.submit(99, true);
    EXPECT_TRUE(test.batches.is_in_flight());
    EXPECT_EQ(commit.first_sequence, 11u);
    EXPECT_EQ(commit.count, 2u);
    EXPECT_EQ(commit.totals.commit, 5u);
    EXPECT_EQ(commit.totals.sequence, 12u);
    EXPECT_EQ(commit.totals.server_time_ms, 99);
    EXPECT_TRUE(commit.closes_segment);
    EXPECT_EQ(test.batches.totals().commit, 4u) << "it is not durable";
    EXPECT_EQ(commit.records.data(), bytes) << "they were copied";
    test.batches.committed(std::move(commit));
    EXPECT_EQ(test.batches.batch().record_bytes().data(), bytes);
}

TEST(BatchPipeline, counts_when_it_is_durable_and_applied) {
    Trial test;
    test.batches.begin();
    test.add({kToken, kToken, kToken});
    const Commit commit = test.batches.submit(99, false);
    test.batches.committed(commit);
    EXPECT_TRUE(test.batches.is_durable());
    EXPECT_EQ(test.batches.take(2).size(), 2u);
    EXPECT_FALSE(test.batches.is_taken());
    EXPECT_EQ(test.batches.totals().commit, 4u);
    EXPECT_EQ(test.batches.take(2).size(), 1u);
    EXPECT_TRUE(test.batches.is_taken());
    test.batches.finish();
    EXPECT_EQ(test.batches.totals(), commit.totals);
    EXPECT_FALSE(test.batches.is_in_flight());
    test.batches.begin();
    static_cast<void>(test.batches.submit(100, false));
    EXPECT_TRUE(test.batches.is_in_flight());
    EXPECT_FALSE(test.batches.is_durable());
}

TEST(BatchPipeline, the_puts_of_a_request_are_taken_together) {
    Trial test;
    test.batches.begin();
    test.add({1, 0, 0, 0, 2, 3});  // the request with token 2 has four puts
    test.batches.committed(test.batches.submit(99, false));
    EXPECT_EQ(test.batches.take(1).size(), 1u);
    EXPECT_EQ(test.batches.take(2).size(), 4u);
    EXPECT_EQ(test.batches.take(2).size(), 1u);
    EXPECT_TRUE(test.batches.is_taken());
}

TEST(BatchPipeline, an_empty_commit_confirms_the_one_before_it) {
    Trial test;
    EXPECT_EQ(test.batches.confirm_at_ms(), BatchPipeline::kNever);
    test.batches.confirm_at(104);
    test.batches.begin();
    test.batches.discard();
    EXPECT_FALSE(test.batches.has_batch());
    EXPECT_EQ(test.batches.confirm_at_ms(), 104);
    test.batches.begin();
    const Commit commit = test.batches.submit(104, false);
    EXPECT_EQ(commit.count, 0u);
    EXPECT_EQ(test.batches.confirm_at_ms(), BatchPipeline::kNever);
    test.batches.committed(commit);
    EXPECT_TRUE(test.batches.take(5).empty());
    EXPECT_TRUE(test.batches.is_taken());
}

}  // namespace
}  // namespace duewheel::batch_pipeline_test
