// A standby node beside an owner that cleans its log, on a simulated topic: their disks and indexes agree, and a
// takeover has little to read.
#include "server/shard/standby_index.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "replication/replicated_journal.h"
#include "replication/topic_copy.h"
#include "replication/topic_front.h"
#include "server/node/trial_owner.h"
#include "store/key_layout.h"
#include "store/maintenance/directory_marks.h"
#include "support/memory_rows.h"
#include "support/recording_log.h"
#include "support/sim_disk.h"
#include "support/simulated_kafka.h"

namespace duewheel::standby_index_test {
namespace {

constexpr const char* kDirectory = "/data";
constexpr std::int64_t kHour = 3'600'000;
constexpr std::int64_t kTimeoutMs = 1'000;

const TopicLog kLog{.topic = "duewheel.test.log", .shard = 0, .cluster = "test"};

std::vector<std::string> segments_on(SimDisk& disk) {
    std::vector<std::string> names;
    const auto found = disk.list(std::string(kDirectory) + "/journal");
    if (!found) return names;
    for (const std::string& name : *found) {
        if (name.starts_with("seg-")) names.push_back(name);
    }
    return names;
}

std::map<std::string, std::string> rows_of(const Index& index) {
    std::map<std::string, std::string> rows;
    EXPECT_TRUE(index.rows()
                    .scan(std::string(1, '\0'), std::string(8, '\xFF'), ~std::size_t{0},
                          [&](std::string_view key, std::string_view value) {
                              rows.emplace(key, value);
                              return true;
                          })
                    .ok());
    return rows;
}

// A node that is a standby, or the owner.
struct Node {
    Node(SimulatedKafka& brokers, std::uint64_t node_number)
        : kafka(brokers), number(node_number), disk(node_number), owner(disk, kDirectory, log) {
        EXPECT_TRUE(disk.make_directories(kDirectory).ok());
    }

    void stand_by() {
        TopicCopyOptions copy_options;
        copy_options.log = kLog;
        copy_options.directory = kDirectory;
        copy_options.journal.segment_bytes = owner.options.engine.segment_bytes;
        copy_options.journal.spare_count = 0;
        copy_options.journal.reserve_count = 0;
        Result<std::unique_ptr<TopicCopy>> opened = TopicCopy::open(disk, kafka, copy_options);
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        copy = *std::move(opened);
        index = std::make_unique<StandbyIndex>(rows, retention, log);
        follow();
    }
    // Reads everything, and does what there is to do with the index.
    void follow() {
        while (copy->lag(kTimeoutMs).value() > 0) {
            const auto read = copy->follow(kTimeoutMs);
            ASSERT_TRUE(read.ok()) << read.error().message;
        }
        while (copy->local() != nullptr) {
            const Result<bool> stepped = index->step(*copy->local(), true);
            ASSERT_TRUE(stepped.ok()) << stepped.error().message;
            if (!*stepped) break;
        }
    }
    void take_over() {
        Result<TopicChain> chain = copy->claim(number, "http://node", kTimeoutMs);
        ASSERT_TRUE(chain.ok()) << chain.error().message;
        copy.reset();
        index.reset();
        owner.options.replicate = [this, claimed = *chain](LocalJournal& local) {
            return std::make_unique<ReplicatedJournal>(kafka, local, PositionFile(disk, kDirectory), claimed, number,
                                                       [](std::int64_t) { return false; });
        };
        const Status opened = owner.open(rows);
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        owner.settle();
    }
    void trim_topic() {
        TopicFront front(kafka, kLog, PositionFile(disk, kDirectory));
        const auto advanced =
            front.advance_to(owner.parts().journal().catalog().snapshot().front()->header(), kTimeoutMs);
        ASSERT_TRUE(advanced.ok()) << advanced.error().message;
    }

    SimulatedKafka& kafka;
    std::uint64_t number;
    SimDisk disk;
    RecordingLog log;
    MemoryRowStorage rows;
    Retention retention;
    TrialOwner owner;
    std::unique_ptr<TopicCopy> copy;
    std::unique_ptr<StandbyIndex> index;
};

class StandbyIndexTest : public testing::Test {
  protected:
    StandbyIndexTest() {
        kafka_.create_topic(kLog.topic);
        first_.stand_by();
        first_.take_over();
        first_.owner.cleans = true;
    }

    // Messages that are cancelled at once, except each twentieth.
    void work(TrialOwner& owner, int messages) {
        for (int i = 0; i < messages; ++i) {
            const MessageId id = owner.put(kHour, std::string(700, 'x'));
            if (i % 20 == 0) {
                kept_.push_back(id);
            } else {
                ASSERT_EQ(owner.ask<ChangeAnswer>(CancelCommand{"default", id}).outcome, ChangeOutcome::cancelled);
            }
        }
        for (int i = 0; i < 4; ++i) {
            owner.now += LogCleaning::kWaitForSegmentMs;
            owner.settle();
        }
    }

    // The index was not compared with the log yet, and counts records as needed that do not exist.
    static void plant_needed(Node& node) {
        IndexPosition position = Index::open(node.rows, node.retention).value()->position();
        ASSERT_GT(position.segment, 0u);
        position.is_proven = false;
        std::string planted_position;
        encode_position(planted_position, position);
        std::string planted_count;
        encode_needed(planted_count, 77);
        const std::unique_ptr<SortedRows> rows = node.rows.open().value();
        const auto builder = rows->build_table();
        const std::map<std::string, std::string> planted{{position_key(), planted_position},
                                                         {needed_key(position.totals.sequence), planted_count}};
        for (const auto& [key, value] : planted) builder->put(key, value);
        ASSERT_TRUE(builder->take_in().ok());
    }

    // The record that releases segments counts when its own segment is sealed, so a standby node has a few more.
    void expect_segments_of_owner(Node& node) {
        const std::vector<std::string> of_owner = segments_on(first_.disk);
        const std::vector<std::string> of_node = segments_on(node.disk);
        ASSERT_GE(of_node.size(), of_owner.size());
        EXPECT_LE(of_node.size(), of_owner.size() + 3);
        EXPECT_TRUE(std::equal(of_owner.rbegin(), of_owner.rend(), of_node.rbegin()));
    }

    void expect_all_there(TrialOwner& owner) {
        EXPECT_EQ(owner.engine().totals().live_count, kept_.size());
        for (const MessageId id : kept_) {
            const auto answer = owner.ask<MessageAnswer>(GetCommand{"default", id});
            EXPECT_EQ(answer.row.state.state, State::scheduled);
            EXPECT_EQ(answer.body.size(), 700u);
        }
    }

    SimulatedKafka kafka_;
    std::vector<MessageId> kept_;
    Node first_{kafka_, 1};
    Node second_{kafka_, 2};
};

TEST_F(StandbyIndexTest, a_standby_seals_and_removes_the_segments_that_its_owner_does) {
    std::size_t most_segments = 0;
    second_.stand_by();
    for (int i = 0; i < 20; ++i) {
        work(first_.owner, 60);
        second_.follow();
        most_segments = std::max(most_segments, segments_on(second_.disk).size());
    }
    ASSERT_GT(first_.owner.cleaning().segments_dropped(), 30u);
    EXPECT_LT(most_segments, 25u) << "its disk grows";
    expect_segments_of_owner(second_);
    EXPECT_GT(second_.index->segments_sealed(), 30u);

    second_.take_over();
    const ShardParts& parts = second_.owner.parts();
    EXPECT_FALSE(parts.recovery().index_rebuilt);
    EXPECT_LT(parts.recovery().replayed_bytes, 3 * second_.owner.options.engine.segment_bytes);
    EXPECT_TRUE(parts.index().position().is_proven);
    expect_all_there(second_.owner);
    work(second_.owner, 60);
    expect_all_there(second_.owner);
}

TEST_F(StandbyIndexTest, its_index_has_the_rows_that_the_owner_has) {
    second_.stand_by();
    work(first_.owner, 400);
    second_.follow();
    const Index& of_owner = first_.owner.parts().index();
    const auto of_standby = Index::open(second_.rows, second_.retention).value();
    EXPECT_EQ(of_standby->position(), of_owner.position());
    EXPECT_EQ(rows_of(*of_standby), rows_of(of_owner));
}

TEST_F(StandbyIndexTest, a_node_with_an_empty_disk_builds_its_index_from_a_topic_without_its_front) {
    work(first_.owner, 600);
    first_.trim_topic();
    ASSERT_GT(kafka_.committed(kLog.topic).front().offset, 50);
    second_.stand_by();
    expect_segments_of_owner(second_);
    second_.take_over();
    EXPECT_FALSE(second_.owner.parts().recovery().index_rebuilt);
    EXPECT_TRUE(second_.owner.parts().index().position().is_proven);
    expect_all_there(second_.owner);
}

// It says what the wall clock of one machine is worth.
TEST_F(StandbyIndexTest, the_clock_state_of_the_owner_stays_on_its_machine) {
    work(first_.owner, 100);
    second_.stand_by();
    const auto has_clock_state = [](SimDisk& disk) {
        const std::vector<std::string> names = disk.list(kDirectory).value();
        return std::ranges::count(names, kClockMark) == 1;
    };
    EXPECT_TRUE(has_clock_state(first_.disk));
    EXPECT_FALSE(has_clock_state(second_.disk));
}

// Nothing is removed because of the topic alone: the index must confirm it.
TEST_F(StandbyIndexTest, removes_nothing_before_its_index_has_the_relocations) {
    work(first_.owner, 600);
    ASSERT_GT(first_.owner.cleaning().segments_dropped(), 5u);
    second_.rows.refuse_tables(1'000'000);
    second_.stand_by();
    EXPECT_GT(segments_on(second_.disk).size(), segments_on(first_.disk).size() + 5);
    second_.rows.refuse_tables(0);
    second_.follow();
    expect_segments_of_owner(second_);
}

TEST_F(StandbyIndexTest, an_index_beside_a_lost_log_is_built_again) {
    second_.stand_by();
    work(first_.owner, 300);
    second_.follow();
    second_.copy.reset();
    second_.index.reset();
    ASSERT_TRUE(second_.disk.remove_tree(std::string(kDirectory) + "/journal").ok());
    second_.stand_by();
    expect_segments_of_owner(second_);
    second_.take_over();
    expect_all_there(second_.owner);
}

TEST_F(StandbyIndexTest, a_damaged_index_is_built_again_once) {
    work(first_.owner, 100);
    second_.stand_by();
    second_.copy.reset();
    second_.index.reset();
    plant_needed(second_);
    second_.stand_by();
    EXPECT_EQ(second_.log.count("index_rebuild"), 1u);
    second_.take_over();
    EXPECT_FALSE(second_.owner.parts().recovery().index_rebuilt);
    expect_all_there(second_.owner);
}

}  // namespace
}  // namespace duewheel::standby_index_test
