#include "replication/topic_seed.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "replication/topic_comparison.h"
#include "replication/trial_node_fixture.h"

namespace duewheel {
namespace {

class TopicSeedTest : public TrialNodes {
  protected:
    TopicSeedTest() {
        EXPECT_TRUE(first_.become_owner().ok());
        commit(first_, 200);
    }

    Result<TopicSeed> seed(TrialNode& node) { return seed_topic(node.disk(), "/data", kafka_, kTrialLog, 77, 1'000); }
};

TEST_F(TopicSeedTest, all_nodes_go_on_from_a_topic_that_was_written_anew) {
    ASSERT_TRUE(second_.stand_by().ok());
    commit(first_, 20);
    first_.end();
    second_.end();
    kafka_.remove_topic(kTrialLog.topic);
    kafka_.create_topic(kTrialLog.topic);
    const Result<TopicSeed> seeded = seed(first_);
    ASSERT_TRUE(seeded.ok()) << seeded.error().message;
    EXPECT_EQ(seeded->commits, 220u);
    EXPECT_EQ(seeded->newest_commit, 220u);
    EXPECT_EQ(compare_with_topic(first_.disk(), "/data", kafka_, kTrialLog, 1'000).value().difference, std::nullopt);

    // One that was behind follows; the one whose log it was may own it again; a new one copies it.
    ASSERT_TRUE(second_.become_owner().ok());
    EXPECT_EQ(log_.compare(second_.local()), "");
    commit(second_, 30);
    const Status again = first_.become_owner();
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(log_.compare(first_.local()), "");
    TrialNode third(kafka_, 3);
    ASSERT_TRUE(third.become_owner().ok());
    EXPECT_EQ(log_.compare(third.local()), "");
}

TEST_F(TopicSeedTest, the_first_node_takes_over_at_once) {
    first_.end();
    kafka_.remove_topic(kTrialLog.topic);
    kafka_.create_topic(kTrialLog.topic);
    ASSERT_TRUE(seed(first_).ok());
    ASSERT_TRUE(second_.stand_by().ok());
    TopicChain chain(kTrialLog);
    TopicChain::Step last = TopicChain::Step::beat;
    for (const KafkaRecord& record : kafka_.committed(kTrialLog.topic)) last = chain.append(record).value();
    EXPECT_EQ(last, TopicChain::Step::released);
    EXPECT_EQ(chain.ignored(), 0u);
}

TEST_F(TopicSeedTest, a_log_without_its_front_is_written_as_it_is) {
    const std::vector<SegmentSummary> segments = first_.local().catalog().list();
    ASSERT_TRUE(first_.local().drop_before(segments[5].first_sequence).ok());
    first_.end();
    kafka_.remove_topic(kTrialLog.topic);
    kafka_.create_topic(kTrialLog.topic);
    EXPECT_EQ(seed(first_).value().segments, segments.size() - 5);
    ASSERT_TRUE(second_.become_owner().ok());
    EXPECT_EQ(segments_on(second_.disk()), segments_on(first_.disk()));
}

TEST_F(TopicSeedTest, a_topic_with_records_is_refused_and_stays_as_it_is) {
    first_.end();
    const auto before = kafka_.committed(kTrialLog.topic).size();
    EXPECT_EQ(seed(first_).error().code, "topic_not_empty"_code);
    // Records that were deleted count: the topic is not the new one that it seems to be.
    ASSERT_TRUE(kafka_.delete_before(kTrialLog.topic, 0, static_cast<std::int64_t>(before), 1'000).ok());
    EXPECT_EQ(seed(first_).error().code, "topic_not_empty"_code);
    EXPECT_TRUE(kafka_.committed(kTrialLog.topic).empty());
}

TEST_F(TopicSeedTest, another_writer_at_the_same_time_ends_it) {
    first_.end();
    kafka_.remove_topic(kTrialLog.topic);
    kafka_.create_topic(kTrialLog.topic);
    kafka_.on_call = [&](const KafkaCall& call) {
        if (call.kind == KafkaCall::append) {
            KafkaRecord record;
            record.topic = kTrialLog.topic;
            record.partition = 0;
            record.value = "of another one";
            kafka_.append(record);
        }
        return KafkaFault::none;
    };
    EXPECT_EQ(seed(first_).error().code, "topic_not_empty"_code);
}

TEST_F(TopicSeedTest, a_damaged_log_is_not_written) {
    first_.end();
    first_.disk().flip(std::string(kDirectory) + "/" + segments_on(first_.disk())[2], kSegmentHeaderBytes + 700);
    kafka_.remove_topic(kTrialLog.topic);
    kafka_.create_topic(kTrialLog.topic);
    EXPECT_EQ(seed(first_).error().code, "damaged_log"_code);
}

}  // namespace
}  // namespace duewheel
