#include "replication/topic_front.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "replication/trial_node_fixture.h"

namespace duewheel {
namespace {

constexpr std::int64_t kTimeoutMs = 1'000;

class TopicFrontTest : public TrialNodes {
  protected:
    TopicFrontTest() { EXPECT_TRUE(first_.become_owner().ok()); }

    // Removes all but the newest `kept` segments, as cleaning does.
    static void drop(TrialNode& node, std::size_t kept) {
        const std::vector<SegmentSummary> segments = node.local().catalog().list();
        ASSERT_GE(segments.size(), kept);
        ASSERT_TRUE(node.local().drop_before(segments[segments.size() - kept].first_sequence).ok());
    }
    static SegmentHeader oldest(TrialNode& node) { return node.local().catalog().snapshot().front()->header(); }
    TopicFront front_of(TrialNode& node) { return TopicFront(kafka_, kTrialLog, PositionFile(node.disk(), "/data")); }
    std::int64_t begins_at() const { return kafka_.committed(kTrialLog.topic).front().offset; }
    std::size_t records() const { return kafka_.committed(kTrialLog.topic).size(); }
    int calls(KafkaCall::Kind kind) const { return counts_[kind]; }
    void count_calls(KafkaFault deletions = KafkaFault::none) {
        counts_.assign(32, 0);
        kafka_.on_call = [this, deletions](const KafkaCall& call) {
            ++counts_[call.kind];
            return call.kind == KafkaCall::delete_before ? deletions : KafkaFault::none;
        };
    }

    std::vector<int> counts_;
};

TEST_F(TopicFrontTest, the_topic_begins_where_the_log_of_the_owner_does) {
    commit(first_, 200);
    TopicFront front = front_of(first_);
    EXPECT_EQ(front.advance_to(oldest(first_), kTimeoutMs).value(), 1) << "only the claim is before the first segment";
    drop(first_, 4);
    const Result<std::int64_t> begins = front.advance_to(oldest(first_), kTimeoutMs);
    ASSERT_TRUE(begins.ok()) << begins.error().message;
    EXPECT_EQ(*begins, begins_at());
    const std::string front_bytes = *kafka_.committed(kTrialLog.topic).front().value;
    const TopicRecord record = decode_topic_record(front_bytes).value();
    EXPECT_EQ(decode_segment_header(record.payload).value(), oldest(first_));

    // A node with an empty disk has the rest of the log from it.
    ASSERT_TRUE(second_.become_owner().ok());
    EXPECT_EQ(log_.compare(second_.local()), "");
    EXPECT_EQ(segments_on(second_.disk()), segments_on(first_.disk()));
}

TEST_F(TopicFrontTest, a_log_that_is_cleaned_keeps_the_topic_small) {
    TopicFront front = front_of(first_);
    std::size_t largest = 0;
    for (int i = 0; i < 60; ++i) {
        commit(first_, 30);
        if (first_.local().catalog().list().size() > 4) drop(first_, 4);
        ASSERT_TRUE(front.advance_to(oldest(first_), kTimeoutMs).ok());
        largest = std::max(largest, records());
    }
    EXPECT_GT(first_.local().totals().commit, 1'700u);
    EXPECT_LT(largest, 150u);
    EXPECT_LT(PositionFile(first_.disk(), "/data").read().value().size(), 10u) << "positions of removed segments";
}

TEST_F(TopicFrontTest, a_node_knows_the_positions_after_a_restart_and_after_a_takeover) {
    commit(first_, 100);
    ASSERT_TRUE(second_.stand_by().ok());
    first_.end();
    ASSERT_TRUE(first_.become_owner().ok());
    commit(first_, 20);
    drop(first_, 5);
    const std::int64_t of_first = front_of(first_).advance_to(oldest(first_), kTimeoutMs).value();
    EXPECT_EQ(of_first, begins_at());
    ASSERT_TRUE(second_.catch_up().ok());
    ASSERT_TRUE(second_.take_over().ok());
    drop(second_, 3);
    EXPECT_GT(front_of(second_).advance_to(oldest(second_), kTimeoutMs).value(), of_first);
}

TEST_F(TopicFrontTest, a_deletion_that_timed_out_is_repeated_unless_it_took_place) {
    commit(first_, 200);
    drop(first_, 4);
    TopicFront front = front_of(first_);
    for (const auto& [fault, deletions] :
         {std::pair(KafkaFault::unreachable, 1), std::pair(KafkaFault::lost_answer, 0)}) {
        count_calls(fault);
        EXPECT_EQ(front.advance_to(oldest(first_), kTimeoutMs).error().code, "kafka_unavailable"_code);
        count_calls();
        const std::int64_t begins = front.advance_to(oldest(first_), kTimeoutMs).value();
        EXPECT_EQ(begins, begins_at());
        EXPECT_GT(begins, 1);
        EXPECT_EQ(calls(KafkaCall::delete_before), deletions);
        kafka_.on_call = nullptr;
        commit(first_, 60);
        drop(first_, 4);
    }
}

TEST_F(TopicFrontTest, what_brokers_forgot_to_delete_is_deleted_again) {
    commit(first_, 200);
    drop(first_, 4);
    TopicFront front = front_of(first_);
    const std::int64_t begins = front.advance_to(oldest(first_), kTimeoutMs).value();
    kafka_.restore_front(kTrialLog.topic, 0);
    ASSERT_EQ(begins_at(), 0);
    // A node that starts now has more of the log than it needs.
    ASSERT_TRUE(second_.stand_by().ok());
    EXPECT_GT(segments_on(second_.disk()).size(), segments_on(first_.disk()).size());
    EXPECT_EQ(front.advance_to(oldest(first_), kTimeoutMs).value(), begins);
    EXPECT_EQ(begins_at(), begins);
}

// An owner ran in the directory while it belonged to another topic, for example.
TEST_F(TopicFrontTest, nothing_is_deleted_where_the_topic_has_another_record) {
    commit(first_, 200);
    drop(first_, 4);
    ChainPosition wrong;
    for (const ChainPosition& each : PositionFile(first_.disk(), "/data").read().value()) {
        if (each.commit == oldest(first_).before.commit) wrong = each;
    }
    ASSERT_GT(wrong.next_offset, 0);
    wrong.next_offset += 1;
    PositionFile positions(first_.disk(), "/data");
    ASSERT_TRUE(positions.remove().ok());
    ASSERT_TRUE(positions.add(wrong, 0).ok());
    EXPECT_EQ(front_of(first_).advance_to(oldest(first_), kTimeoutMs).error().code, "damaged_topic"_code);
    EXPECT_EQ(begins_at(), 0);
    ASSERT_TRUE(positions.remove().ok());
    EXPECT_EQ(front_of(first_).advance_to(oldest(first_), kTimeoutMs).value(), 0) << "the position is not known";
}

TEST_F(TopicFrontTest, a_standby_that_reads_what_is_deleted_stops_by_name) {
    commit(first_, 20);
    ASSERT_TRUE(second_.stand_by().ok());
    commit(first_, 200);
    drop(first_, 4);
    ASSERT_TRUE(front_of(first_).advance_to(oldest(first_), kTimeoutMs).ok());
    const Status behind = second_.catch_up();
    ASSERT_FALSE(behind.ok());
    EXPECT_EQ(behind.error().code, "copy_too_old"_code);
    const Status again = second_.stand_by();
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.error().code, "copy_too_old"_code);
}

// A node that was added while the owner cleaned its log stopped with `copy_too_old`, though it had nothing to lose.
TEST_F(TopicFrontTest, a_copy_that_has_just_begun_starts_again) {
    commit(first_, 200);
    ASSERT_TRUE(second_.open_copy().ok());
    ASSERT_TRUE(second_.copy().follow(kTimeoutMs).ok());
    ASSERT_GT(second_.copy().local_commit(), 0u);
    commit(first_, 2'000);
    drop(first_, 10);
    ASSERT_TRUE(front_of(first_).advance_to(oldest(first_), kTimeoutMs).ok());
    bool has_started_again = false;
    while (second_.copy().local_commit() < first_.local().totals().commit) {
        const Result<TopicCopy::Progress> read = second_.copy().follow(kTimeoutMs);
        ASSERT_TRUE(read.ok()) << read.error().message;
        has_started_again = has_started_again || read->starts_again;
    }
    EXPECT_TRUE(has_started_again);
    ASSERT_TRUE(second_.take_over().ok());
    EXPECT_EQ(oldest(second_), oldest(first_));
    commit(second_, 5);
}

// The file had one position before it had those of all segments.
TEST(PositionFile, reads_one_position_as_it_was_written_before) {
    SimDisk disk(1);
    ASSERT_TRUE(disk.make_directories("/data").ok());
    PositionFile positions(disk, "/data");
    EXPECT_TRUE(positions.read().value().empty());
    const ChainPosition first{.next_offset = 5, .epoch = 4, .commit = 3, .link = 2};
    const ChainPosition second{.next_offset = 50, .epoch = 4, .commit = 30, .link = 20};
    ASSERT_TRUE(positions.add(first, 0).ok());
    EXPECT_EQ(disk.open("/data/topic", OpenMode::read).value()->size().value(), 48u);
    EXPECT_EQ(positions.read().value(), std::vector{first});
    ASSERT_TRUE(positions.add(second, 3).ok());
    EXPECT_EQ(positions.read().value(), (std::vector{first, second}));
    ASSERT_TRUE(positions.add(second, 30).ok());
    EXPECT_EQ(positions.read().value(), std::vector{second}) << "the segment of the first one is gone";
    ASSERT_TRUE(positions.add(first, 0).ok());
    EXPECT_EQ(positions.read().value(), std::vector{first}) << "the log was replaced";
}

TEST(PositionFile, ignores_what_follows_a_damaged_position) {
    SimDisk disk(1);
    ASSERT_TRUE(disk.make_directories("/data").ok());
    PositionFile positions(disk, "/data");
    const ChainPosition first{.next_offset = 5, .epoch = 4, .commit = 3, .link = 2};
    ASSERT_TRUE(positions.add(first, 0).ok());
    ASSERT_TRUE(positions.add({.next_offset = 50, .epoch = 4, .commit = 30, .link = 20}, 0).ok());
    disk.flip("/data/topic", 60);
    EXPECT_EQ(positions.read().value(), std::vector{first});
}

}  // namespace
}  // namespace duewheel
