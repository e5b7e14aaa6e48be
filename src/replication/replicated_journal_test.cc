#include "replication/replicated_journal.h"

#include <array>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "replication/trial_node_fixture.h"

namespace duewheel {
namespace {

class ReplicatedJournalTest : public TrialNodes {
  protected:
    // The names and bytes of the segments of a node.
    static std::vector<std::pair<std::string, std::string>> segments_of(TrialNode& node) {
        std::vector<std::pair<std::string, std::string>> segments;
        for (const std::string& name : segments_on(node.disk())) {
            const auto file = node.disk().open(std::string(kDirectory) + "/" + name, OpenMode::read).value();
            std::string bytes(file->size().value(), '\0');
            EXPECT_TRUE(file->read_at(0, std::as_writable_bytes(std::span(bytes))).ok());
            segments.emplace_back(name, std::move(bytes));
        }
        return segments;
    }
};

TEST_F(ReplicatedJournalTest, a_standby_takes_over_with_every_commit_and_the_same_bytes) {
    ASSERT_TRUE(first_.become_owner().ok());
    commit(first_, 200);
    EXPECT_GT(segments_on(first_.disk()).size(), 5u);
    ASSERT_TRUE(second_.become_owner().ok());
    EXPECT_EQ(log_.compare(second_.local()), "");
    EXPECT_EQ(segments_of(second_), segments_of(first_));
    commit(second_, 50);
    first_.end();
    ASSERT_TRUE(first_.become_owner().ok());
    EXPECT_EQ(log_.compare(first_.local()), "");
    EXPECT_EQ(segments_of(second_), segments_of(first_));
}

TEST_F(ReplicatedJournalTest, an_owner_that_was_replaced_is_fenced_at_its_next_commit) {
    ASSERT_TRUE(first_.become_owner().ok());
    commit(first_, 10);
    ASSERT_TRUE(second_.become_owner().ok());
    const Commit late = log_.next(random_, first_.local().room());
    const Status done = first_.owner().commit(late);
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().code, "log_fenced"_code);
    EXPECT_NE(done.error().message.find("http://node-2"), std::string::npos) << done.error().message;
    EXPECT_EQ(first_.local().totals(), log_.totals()) << "it wrote what does not count";
    EXPECT_EQ(first_.owner().commit(late).error().code, "log_fenced"_code);
    EXPECT_EQ(first_.owner().beat().error().code, "log_fenced"_code);
    // What it sent is in the topic, and does not count.
    commit(second_, 10);
    ASSERT_TRUE(first_.become_owner().ok());
    EXPECT_EQ(log_.compare(first_.local()), "");
}

TEST_F(ReplicatedJournalTest, a_beat_learns_of_the_new_owner_too) {
    ASSERT_TRUE(first_.become_owner().ok());
    ASSERT_TRUE(first_.owner().beat().ok());
    ASSERT_TRUE(second_.become_owner().ok());
    EXPECT_EQ(first_.owner().beat().error().code, "log_fenced"_code);
}

TEST_F(ReplicatedJournalTest, nothing_is_committed_after_a_release_and_the_standby_sees_it) {
    ASSERT_TRUE(first_.become_owner().ok());
    commit(first_, 3);
    ASSERT_TRUE(second_.stand_by().ok());
    ASSERT_TRUE(first_.owner().release().ok());
    EXPECT_EQ(first_.owner().commit(log_.next(random_, first_.local().room())).error().code, "log_released"_code);
    const Result<TopicCopy::Progress> read = second_.copy().follow(1'000);
    ASSERT_TRUE(read.ok());
    EXPECT_TRUE(read->is_released);
}

TEST_F(ReplicatedJournalTest, a_commit_that_died_between_topic_and_disk_is_there_after_the_next_start) {
    ASSERT_TRUE(first_.become_owner().ok());
    commit(first_, 10);
    const Commit next = log_.next(random_, first_.local().room());
    first_.disk().fail(DiskOperation::write);
    EXPECT_EQ(first_.owner().commit(next).error().code, "log_failed"_code);
    first_.lose_power();
    log_.remember(next);
    ASSERT_TRUE(first_.become_owner().ok());
    EXPECT_EQ(log_.compare(first_.local()), "");
}

TEST_F(ReplicatedJournalTest, a_lost_answer_is_no_second_commit) {
    ASSERT_TRUE(first_.become_owner().ok());
    for (const KafkaFault fault : {KafkaFault::lost_answer, KafkaFault::unreachable, KafkaFault::delayed}) {
        int calls = 0;
        kafka_.on_call = [&](const KafkaCall& call) {
            return call.kind == KafkaCall::append && calls++ < 2 ? fault : KafkaFault::none;
        };
        commit(first_, 3);
        kafka_.on_call = nullptr;
    }
    EXPECT_EQ(first_.owner().counters().appenders_recreated, 6u);
    EXPECT_GT(first_.owner().counters().gaps_read, 0u);
    ASSERT_TRUE(second_.become_owner().ok());
    EXPECT_EQ(log_.compare(second_.local()), "");
}

TEST_F(ReplicatedJournalTest, waits_for_brokers_until_the_process_ends) {
    ASSERT_TRUE(first_.become_owner().ok());
    kafka_.is_up = false;
    first_.waits_left = 20;
    EXPECT_EQ(first_.owner().commit(log_.next(random_, first_.local().room())).error().code, "log_unavailable"_code);
    EXPECT_EQ(first_.waits_left, 0);
    EXPECT_EQ(first_.local().totals().commit, 0u);
}

TEST_F(ReplicatedJournalTest, a_topic_that_lost_its_end_stops_a_standby_that_is_ahead_and_the_owner) {
    ASSERT_TRUE(first_.become_owner().ok());
    commit(first_, 20);
    ASSERT_TRUE(second_.stand_by().ok());
    kafka_.lose_tail(kTrialLog.topic, 0, static_cast<std::int64_t>(kafka_.committed(kTrialLog.topic).size()) - 3);
    EXPECT_EQ(second_.become_owner().error().code, "log_went_back"_code);
    EXPECT_EQ(first_.owner().commit(log_.next(random_, first_.local().room())).error().code, "log_went_back"_code);
}

TEST_F(ReplicatedJournalTest, what_an_owner_adds_behind_a_lost_end_stops_the_standby) {
    ASSERT_TRUE(first_.become_owner().ok());
    commit(first_, 20);
    kafka_.lose_tail(kTrialLog.topic, 0, static_cast<std::int64_t>(kafka_.committed(kTrialLog.topic).size()) - 3);
    EXPECT_EQ(first_.owner().commit(log_.next(random_, first_.local().room())).error().code, "log_went_back"_code);
    EXPECT_EQ(second_.become_owner().error().code, "damaged_topic"_code);
}

TEST_F(ReplicatedJournalTest, a_probe_of_a_standby_shows_the_owner_and_changes_nothing) {
    ASSERT_TRUE(first_.become_owner().ok());
    commit(first_, 20);
    ASSERT_TRUE(second_.stand_by().ok());
    EXPECT_FALSE(second_.copy().probe(2, 1'000).value().is_alive);
    commit(first_, 1);
    EXPECT_TRUE(second_.copy().probe(2, 1'000).value().is_alive);
    EXPECT_EQ(second_.copy().chain().position().epoch, first_.owner().epoch());
    commit(first_, 20);
    EXPECT_EQ(first_.owner().counters().ignored, 2u);
    ASSERT_TRUE(second_.catch_up().ok());
    ASSERT_TRUE(second_.take_over().ok());
    EXPECT_EQ(log_.compare(second_.local()), "");
}

TEST_F(ReplicatedJournalTest, a_topic_that_was_deleted_stops_the_owner) {
    ASSERT_TRUE(first_.become_owner().ok());
    commit(first_, 5);
    kafka_.remove_topic(kTrialLog.topic);
    EXPECT_EQ(first_.owner().commit(log_.next(random_, first_.local().room())).error().code, "log_went_back"_code);
}

// The consumer does not read a partition any more that was missing once. The standby node then had no error and no
// record, and never took over, because the topic had records that it had not read.
TEST_F(ReplicatedJournalTest, a_standby_reads_on_when_its_topic_is_found_again) {
    ASSERT_TRUE(first_.become_owner().ok());
    commit(first_, 20);
    ASSERT_TRUE(second_.stand_by().ok());
    const std::vector<KafkaRecord> records = kafka_.committed(kTrialLog.topic);
    kafka_.remove_topic(kTrialLog.topic);
    EXPECT_EQ(second_.copy().follow(1'000).error().code, "unknown_topic"_code);
    EXPECT_EQ(second_.copy().follow(1'000).error().code, "unknown_topic"_code);
    kafka_.create_topic(kTrialLog.topic);
    for (const KafkaRecord& record : records) kafka_.append(record);
    commit(first_, 20);
    ASSERT_TRUE(second_.catch_up().ok());
    ASSERT_TRUE(second_.take_over().ok());
    EXPECT_EQ(log_.compare(second_.local()), "");
}

// It appended a claim every few seconds, and took its own claims for those of a quicker node.
TEST_F(ReplicatedJournalTest, a_topic_that_was_created_again_stops_a_standby) {
    ASSERT_TRUE(first_.become_owner().ok());
    commit(first_, 20);
    ASSERT_TRUE(second_.stand_by().ok());
    kafka_.remove_topic(kTrialLog.topic);
    EXPECT_EQ(second_.copy().follow(1'000).error().code, "unknown_topic"_code);
    kafka_.create_topic(kTrialLog.topic);
    const Error error = second_.copy().explain(second_.copy().follow(1'000).error());
    EXPECT_EQ(error.code, "log_went_back"_code);
    EXPECT_NE(error.message.find("the topic was created again"), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("duewheel kafka reseed"), std::string::npos) << error.message;
    EXPECT_TRUE(kafka_.committed(kTrialLog.topic).empty());
    EXPECT_EQ(second_.take_over().error().code, "log_went_back"_code);
}

// The claim made the topic one that had records, which `duewheel kafka reseed` refuses.
TEST_F(ReplicatedJournalTest, a_log_that_a_new_topic_lacks_is_refused_and_nothing_appended) {
    ASSERT_TRUE(first_.become_owner().ok());
    commit(first_, 20);
    first_.end();
    kafka_.remove_topic(kTrialLog.topic);
    kafka_.create_topic(kTrialLog.topic);
    const Error error = first_.become_owner().error();
    EXPECT_EQ(error.code, "log_went_back"_code);
    EXPECT_NE(error.message.find("the topic is new, or was deleted"), std::string::npos) << error.message;
    EXPECT_TRUE(kafka_.committed(kTrialLog.topic).empty());
}

TEST_F(ReplicatedJournalTest, a_node_whose_commits_the_topic_has_otherwise_is_refused) {
    ASSERT_TRUE(first_.become_owner().ok());
    commit(first_, 20);
    // Unclean election: the last three are gone, and another node writes others.
    const auto end = static_cast<std::int64_t>(kafka_.committed(kTrialLog.topic).size());
    kafka_.lose_tail(kTrialLog.topic, 0, end - 3);
    ASSERT_TRUE(second_.become_owner().ok());
    for (int i = 0; i < 6; ++i) {
        TrialLog others(4, 700);
        Commit next = others.make(random_, second_.local().room(), 0);
        next.totals = second_.local().totals();
        next.first_sequence = next.totals.sequence + 1;
        next.totals.commit += 1;
        ASSERT_TRUE(second_.owner().commit(next).ok());
    }
    const Status done = first_.become_owner();
    EXPECT_EQ(done.error().code, "log_forked"_code) << done.error().message;
}

TEST_F(ReplicatedJournalTest, a_full_disk_is_waited_out_and_the_commit_sent_once) {
    ASSERT_TRUE(first_.become_owner().ok());
    commit(first_, 30);
    const auto sent_before = first_.owner().counters().commits;
    // The next segment does not fit.
    while (!first_.local().room().closed) commit(first_, 1);
    first_.disk().set_capacity(first_.disk().used_bytes());
    const Commit next = log_.next(random_, first_.local().room());
    const auto records = kafka_.committed(kTrialLog.topic).size();
    EXPECT_EQ(first_.owner().commit(next).error().code, "no_space"_code);
    EXPECT_EQ(kafka_.committed(kTrialLog.topic).size(), records) << "sent, though the disk has no space for it";
    first_.disk().set_capacity(SimDisk::kDefaultCapacityBytes);
    ASSERT_TRUE(first_.owner().commit(next).ok());
    log_.remember(next);
    EXPECT_GT(first_.owner().counters().commits, sent_before);
    ASSERT_TRUE(second_.become_owner().ok());
    EXPECT_EQ(log_.compare(second_.local()), "");
}

TEST_F(ReplicatedJournalTest, two_new_nodes_that_claim_at_once_agree_on_one_log) {
    ASSERT_TRUE(first_.stand_by().ok());
    ASSERT_TRUE(second_.stand_by().ok());
    ASSERT_TRUE(first_.take_over().ok());
    ASSERT_TRUE(second_.take_over().ok());
    EXPECT_EQ(first_.owner().commit(TrialLog(4, 700).next(random_, first_.local().room())).error().code,
              "log_fenced"_code);
    commit(second_, 30);
    ASSERT_TRUE(first_.become_owner().ok()) << "its own log was empty";
    EXPECT_EQ(log_.compare(first_.local()), "");
    EXPECT_EQ(segments_of(first_), segments_of(second_));
}

TEST_F(ReplicatedJournalTest, a_start_reads_on_where_it_was_and_from_the_front_without_its_position) {
    ASSERT_TRUE(first_.become_owner().ok());
    commit(first_, 200);
    first_.end();
    int polls = 0;
    kafka_.on_call = [&](const KafkaCall& call) {
        polls += call.kind == KafkaCall::poll;
        return KafkaFault::none;
    };
    const PositionFile position(first_.disk(), "/data");
    ASSERT_FALSE(position.read().value().empty());
    EXPECT_GT(position.read().value().back().commit, 150u);
    EXPECT_EQ(position.read().value().size(), segments_on(first_.disk()).size());
    ASSERT_TRUE(first_.stand_by().ok());
    first_.disk().flip("/data/topic", 10);
    EXPECT_TRUE(position.read().value().empty());
    ASSERT_TRUE(first_.become_owner().ok());
    EXPECT_EQ(log_.compare(first_.local()), "");
    EXPECT_GT(polls, 0);
}

TEST_F(ReplicatedJournalTest, a_topic_whose_front_was_deleted_begins_with_a_segment) {
    ASSERT_TRUE(first_.become_owner().ok());
    commit(first_, 200);
    std::vector<std::int64_t> segments;
    for (const KafkaRecord& record : kafka_.committed(kTrialLog.topic)) {
        const bool is_segment = decode_topic_record(*record.value).value().head.kind == TopicRecordKind::segment;
        if (is_segment) segments.push_back(record.offset);
    }
    ASSERT_GT(segments.size(), 4u);
    ASSERT_TRUE(kafka_.delete_before(kTrialLog.topic, 0, segments[3], 1'000).ok());
    ASSERT_TRUE(second_.become_owner().ok());
    EXPECT_EQ(log_.compare(second_.local()), "");
    EXPECT_EQ(segments_on(second_.disk()).size() + 3, segments_on(first_.disk()).size());
    commit(second_, 5);
}

TEST_F(ReplicatedJournalTest, a_copy_that_is_too_old_is_refused) {
    ASSERT_TRUE(first_.become_owner().ok());
    commit(first_, 20);
    ASSERT_TRUE(second_.stand_by().ok());
    second_.end();
    commit(first_, 200);
    std::int64_t last_segment = 0;
    for (const KafkaRecord& record : kafka_.committed(kTrialLog.topic)) {
        const bool is_segment = decode_topic_record(*record.value).value().head.kind == TopicRecordKind::segment;
        if (is_segment) last_segment = record.offset;
    }
    ASSERT_TRUE(kafka_.delete_before(kTrialLog.topic, 0, last_segment, 1'000).ok());
    EXPECT_EQ(second_.become_owner().error().code, "copy_too_old"_code);
}

// Its commits have the same numbers, so that only the last one showed that the log is another one.
TEST_F(ReplicatedJournalTest, the_directory_of_another_log_is_refused) {
    ASSERT_TRUE(first_.become_owner().ok());
    commit(first_, 20);
    first_.end();
    kafka_.remove_topic(kTrialLog.topic);
    kafka_.create_topic(kTrialLog.topic);
    ASSERT_TRUE(second_.become_owner().ok());
    TrialLog others(4, 700);
    ASSERT_TRUE(second_.owner().commit(others.next(random_, second_.local().room())).ok());
    const Status refused = first_.stand_by();
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "log_forked"_code);
    EXPECT_NE(refused.error().message.find("kafka.cluster"), std::string::npos) << refused.error().message;
}

// Three nodes take over from each other while the former owners go on, answers are lost and copies come late; power is
// cut between and in commits. What was acknowledged is in the log of every later owner, and only one more commit may
// be: the one that its owner did not live to acknowledge.
TEST_F(ReplicatedJournalTest, keeps_what_was_acknowledged_whatever_brokers_and_nodes_do) {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        SimulatedKafka kafka;
        kafka.create_topic(kTrialLog.topic);
        std::vector<std::unique_ptr<TrialNode>> nodes;
        for (std::uint64_t i = 1; i <= 3; ++i) nodes.push_back(std::make_unique<TrialNode>(kafka, seed * 10 + i));
        TrialLog log(4, 700);
        std::vector<Commit> unsure;  // sent and not acknowledged since the last takeover
        TrialNode* owner = nullptr;
        bool has_faults = false;
        kafka.on_call = [&](const KafkaCall& call) {
            if (!has_faults || call.kind != KafkaCall::append || random.below(6) != 0) return KafkaFault::none;
            constexpr std::array kFaults{KafkaFault::lost_answer, KafkaFault::unreachable, KafkaFault::delayed};
            return kFaults[random.below(kFaults.size())];
        };
        for (int step = 0; step < 120; ++step) {
            const std::uint64_t choice = random.below(20);
            if (owner == nullptr || choice == 0) {
                has_faults = false;
                TrialNode& next = *nodes[random.below(nodes.size())];
                if (random.below(2) == 0) next.lose_power();
                const Status done = next.become_owner();
                ASSERT_TRUE(done.ok()) << done.error().message;
                owner = &next;
                const std::uint64_t has = owner->local().totals().commit;
                for (const Commit& each : unsure) {
                    if (each.totals.commit == has && has == log.totals().commit + 1 &&
                        each.totals == owner->local().totals()) {
                        log.remember(each);
                    }
                }
                unsure.clear();
                ASSERT_EQ(log.compare(owner->local()), "");
                has_faults = true;
                continue;
            }
            TrialNode& node = choice == 1 ? *nodes[random.below(nodes.size())] : *owner;
            if (!node.is_owner()) continue;
            if (choice == 2) {
                static_cast<void>(node.owner().beat());
                continue;
            }
            if (choice == 3) {
                const auto operation = random.below(2) == 0 ? DiskOperation::write : DiskOperation::sync_data;
                node.disk().fail(operation);
            }
            const bool is_current = &node == owner;
            TrialLog own(4, 700);
            Commit commit = log.next(random, node.local().room());
            if (!is_current) {
                commit = own.make(random, node.local().room(), 0);
                commit.totals = node.local().totals();
                commit.totals.commit += 1;
                commit.first_sequence = commit.totals.sequence + 1;
                commit.closes_segment = false;
            }
            const Status done = node.owner().commit(commit);
            if (done) {
                ASSERT_TRUE(is_current) << "a former owner acknowledged commit " << commit.totals.commit;
                log.remember(commit);
                continue;
            }
            node.disk().fail(DiskOperation::write, 0);
            node.disk().fail(DiskOperation::sync_data, 0);
            if (is_current) unsure.push_back(commit);
            node.lose_power();
            if (is_current) owner = nullptr;
        }
    }
}

}  // namespace
}  // namespace duewheel
