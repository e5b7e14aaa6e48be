#include "replication/topic_comparison.h"

#include <string>

#include <gtest/gtest.h>

#include "replication/trial_node_fixture.h"

namespace duewheel {
namespace {

class TopicComparisonTest : public testing::Test {
  protected:
    TopicComparisonTest() {
        kafka_.create_topic(kTrialLog.topic);
        EXPECT_TRUE(node_.become_owner().ok());
    }

    void commit(int commits) {
        for (int i = 0; i < commits; ++i) {
            const Commit next = log_.next(random_, node_.local().room());
            ASSERT_TRUE(node_.owner().commit(next).ok());
            log_.remember(next);
        }
    }
    Result<TopicComparison> compare(TrialNode& node) {
        return compare_with_topic(node.disk(), "/data", kafka_, kTrialLog, 1'000);
    }

    SimulatedKafka kafka_;
    Random random_{1};
    TrialLog log_{4, 700};
    TrialNode node_{kafka_, 1};
};

TEST_F(TopicComparisonTest, the_log_of_an_owner_is_what_the_topic_has) {
    commit(200);
    const TopicComparison same = compare(node_).value();
    EXPECT_EQ(same.difference, std::nullopt);
    EXPECT_EQ(same.segments, segments_on(node_.disk()).size());
    EXPECT_EQ(same.commits, 200u);
    EXPECT_EQ(same.local_commit, 200u);
    EXPECT_EQ(same.topic_commit, 200u);
}

TEST_F(TopicComparisonTest, a_node_that_is_behind_or_has_removed_segments_is_no_difference) {
    commit(100);
    TrialNode behind(kafka_, 2);
    ASSERT_TRUE(behind.stand_by().ok());
    commit(100);
    const TopicComparison first_half = compare(behind).value();
    EXPECT_EQ(first_half.difference, std::nullopt);
    EXPECT_EQ(first_half.commits, 100u);
    EXPECT_EQ(first_half.topic_commit, 200u);
    const std::vector<SegmentSummary> segments = node_.local().catalog().list();
    ASSERT_TRUE(node_.local().drop_before(segments[3].first_sequence).ok());
    const TopicComparison rest = compare(node_).value();
    EXPECT_EQ(rest.difference, std::nullopt);
    EXPECT_EQ(rest.segments, segments.size() - 3);
}

TEST_F(TopicComparisonTest, a_byte_that_differs_is_found) {
    commit(200);
    const std::string path = std::string(kDirectory) + "/" + segments_on(node_.disk())[2];
    node_.disk().flip(path, kSegmentHeaderBytes + 700);
    const Result<TopicComparison> compared = compare(node_);
    ASSERT_TRUE(compared.ok()) << compared.error().message;
    ASSERT_TRUE(compared->difference);
    EXPECT_NE(compared->difference->find(path), std::string::npos) << *compared->difference;
    EXPECT_NE(compared->difference->find(std::to_string(kSegmentHeaderBytes + 700)), std::string::npos)
        << *compared->difference;
}

TEST_F(TopicComparisonTest, a_topic_that_lost_its_end_or_begins_too_late_is_found) {
    commit(200);
    TrialNode behind(kafka_, 2);
    ASSERT_TRUE(behind.stand_by().ok());
    behind.end();
    commit(100);
    const auto records = kafka_.committed(kTrialLog.topic);
    std::int64_t last_segment = 0;
    for (const KafkaRecord& record : records) {
        if (decode_topic_record(*record.value).value().head.kind == TopicRecordKind::segment) {
            last_segment = record.offset;
        }
    }
    ASSERT_TRUE(kafka_.delete_before(kTrialLog.topic, 0, last_segment, 1'000).ok());
    EXPECT_NE(compare(behind).value().difference.value_or("").find("the topic begins after commit"), std::string::npos);
    EXPECT_EQ(compare(node_).value().difference, std::nullopt);
    kafka_.lose_tail(kTrialLog.topic, 0, static_cast<std::int64_t>(records.size()) - 2);
    EXPECT_NE(compare(node_).value().difference.value_or("").find("the topic has lost records"), std::string::npos);
}

}  // namespace
}  // namespace duewheel
