#include "replication/topic_chain.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "replication/trial_node_fixture.h"

namespace duewheel {
namespace {

using Step = TopicChain::Step;

// A topic that one owner has written, for changes by hand.
class TopicChainTest : public testing::Test {
  protected:
    void write(int commits, std::uint64_t records_max = 3) {
        kafka_.create_topic(kTrialLog.topic);
        TrialNode node(kafka_, 1);
        ASSERT_TRUE(node.become_owner().ok());
        Random random(7);
        TrialLog log(records_max, 300);
        for (int i = 0; i < commits; ++i) {
            const Commit commit = log.next(random, node.local().room());
            ASSERT_TRUE(node.owner().commit(commit).ok());
            log.remember(commit);
        }
        records_ = kafka_.committed(kTrialLog.topic);
    }

    // Takes all records; the error that ends it, or nothing.
    Status take_all(TopicChain& chain) const {
        std::int64_t offset = 0;
        for (KafkaRecord record : records_) {
            record.offset = offset++;
            if (const Result<Step> step = chain.append(record); !step) return step.error();
        }
        return {};
    }

    SimulatedKafka kafka_;
    std::vector<KafkaRecord> records_;
};

TEST_F(TopicChainTest, all_records_of_one_owner_count) {
    write(60);
    TopicChain chain(kTrialLog);
    ASSERT_TRUE(take_all(chain).ok());
    EXPECT_EQ(chain.position().commit, 60u);
    EXPECT_EQ(chain.position().epoch, 0);
    EXPECT_EQ(chain.ignored(), 0u);
    EXPECT_EQ(chain.claim()->url, "http://node-1");
    EXPECT_GT(chain.segment().number, 3u);
}

TEST_F(TopicChainTest, copies_are_ignored) {
    write(40);
    std::vector<KafkaRecord> doubled;
    for (const KafkaRecord& record : records_) {
        doubled.push_back(record);
        if (doubled.size() > 1) doubled.push_back(record);
    }
    records_ = doubled;
    TopicChain chain(kTrialLog);
    const Status taken = take_all(chain);
    ASSERT_TRUE(taken.ok()) << taken.error().message;
    EXPECT_EQ(chain.position().commit, 40u);
    EXPECT_EQ(chain.ignored(), records_.size() / 2);
}

TEST_F(TopicChainTest, the_records_of_an_older_owner_are_ignored) {
    write(10);
    const KafkaRecord last = records_.back();
    records_.pop_back();
    KafkaRecord claim = last;
    claim.value = encode_topic_record({.kind = TopicRecordKind::claim,
                                       .shard = 0,
                                       .cluster = hash_of_cluster("test"),
                                       .epoch = 0,
                                       .node = 2,
                                       .commit = 9,
                                       .part = 0,
                                       .parts = 1},
                                      encode_claim({.link = 0, .url = "http://node-2"}));
    records_.push_back(claim);
    records_.push_back(last);
    TopicChain chain(kTrialLog);
    ASSERT_TRUE(take_all(chain).ok());
    EXPECT_EQ(chain.position().commit, 9u);
    EXPECT_EQ(chain.ignored(), 1u);
}

TEST_F(TopicChainTest, an_owner_whose_claim_is_missing_stops) {
    write(10);
    std::string& value = *records_.back().value;
    const TopicRecord last = decode_topic_record(value).value();
    TopicRecordHead head = last.head;
    head.epoch += 5;
    value = encode_topic_record(head, std::string(last.payload));
    TopicChain chain(kTrialLog);
    const Status taken = take_all(chain);
    ASSERT_FALSE(taken.ok());
    EXPECT_NE(taken.error().message.find("claim"), std::string::npos) << taken.error().message;
}

TEST_F(TopicChainTest, a_missing_commit_stops) {
    write(20);
    records_.erase(records_.begin() + 9);
    TopicChain chain(kTrialLog);
    const Status taken = take_all(chain);
    ASSERT_FALSE(taken.ok());
    EXPECT_EQ(taken.error().code, "damaged_topic"_code);
    EXPECT_NE(taken.error().message.find("offset 9"), std::string::npos) << taken.error().message;
}

TEST_F(TopicChainTest, a_changed_commit_with_a_right_checksum_stops) {
    write(20);
    std::string& value = *records_[5].value;
    const TopicRecord record = decode_topic_record(value).value();
    ASSERT_EQ(record.head.kind, TopicRecordKind::commit);
    std::string payload(record.payload);
    payload[0] = static_cast<char>(payload[0] ^ 1);
    value = encode_topic_record(record.head, payload);
    TopicChain chain(kTrialLog);
    const Status taken = take_all(chain);
    ASSERT_FALSE(taken.ok());
    EXPECT_EQ(taken.error().code, "damaged_topic"_code);
}

TEST_F(TopicChainTest, the_topic_of_another_cluster_stops) {
    write(5);
    TopicLog other = kTrialLog;
    other.cluster = "production";
    TopicChain chain(other);
    const Status taken = take_all(chain);
    ASSERT_FALSE(taken.ok());
    EXPECT_NE(taken.error().message.find("another cluster"), std::string::npos);
}

TEST_F(TopicChainTest, a_large_commit_comes_in_parts_which_may_be_sent_twice) {
    kafka_.create_topic(kTrialLog.topic);
    TrialNode node(kafka_, 1);
    ASSERT_TRUE(node.become_owner().ok());
    // A segment takes a commit that is larger if it is its first, so one with a record closes the open one.
    Random random(1);
    TrialLog log(4'000, 500);
    Commit small = log.make(random, node.local().room(), 1);
    small.closes_segment = true;
    ASSERT_TRUE(node.owner().commit(small).ok());
    log.remember(small);
    const Commit large = log.make(random, node.local().room(), 4'000);
    ASSERT_GT(large.records.size(), kTopicPartBytes);
    ASSERT_TRUE(node.owner().commit(large).ok());
    log.remember(large);
    records_ = kafka_.committed(kTrialLog.topic);
    std::vector<KafkaRecord> parts;
    for (const KafkaRecord& record : records_) {
        if (decode_topic_record(*record.value).value().head.parts > 1) parts.push_back(record);
    }
    ASSERT_GE(parts.size(), 2u);
    // All but the last once more, in another order, before the last.
    records_.insert(records_.end() - 1, parts.rbegin() + 1, parts.rend());
    TopicChain chain(kTrialLog);
    const Status taken = take_all(chain);
    ASSERT_TRUE(taken.ok()) << taken.error().message;
    EXPECT_EQ(chain.position().commit, 2u);
    EXPECT_EQ(chain.committed().records, large.records);
    EXPECT_EQ(chain.ignored(), parts.size() - 1);
}

}  // namespace
}  // namespace duewheel
