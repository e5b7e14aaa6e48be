// What every journal does, the local one and the one that writes a topic first: one suite for both.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "replication/trial_node_fixture.h"

namespace duewheel {
namespace {

class LocalCarrier {
  public:
    LocalCarrier() { EXPECT_TRUE(disk_.make_directories("/data").ok()); }

    Status start() {
        end();
        Result<std::unique_ptr<LocalJournal>> opened = LocalJournal::open(disk_, kDirectory, trial_options());
        if (!opened) return std::move(opened).error();
        local_ = *std::move(opened);
        return {};
    }
    void end() { local_.reset(); }
    void lose_power(Random& random) {
        end();
        disk_.crash(random);
    }
    Journal& journal() { return *local_; }
    LocalJournal& local() { return *local_; }
    SimDisk& disk() { return disk_; }

  private:
    SimDisk disk_;
    std::unique_ptr<LocalJournal> local_;
};

class ReplicatedCarrier {
  public:
    ReplicatedCarrier() { kafka_.create_topic(kTrialLog.topic); }

    Status start() { return node_.become_owner(); }
    void end() { node_.end(); }
    void lose_power(Random&) { node_.lose_power(); }
    Journal& journal() { return node_.owner(); }
    LocalJournal& local() { return node_.local(); }
    SimDisk& disk() { return node_.disk(); }

  private:
    SimulatedKafka kafka_;
    TrialNode node_{kafka_, 1};
};

template <class Carrier>
class JournalConformance : public testing::Test {
  protected:
    void SetUp() override { start(); }

    void start() {
        const Status started = carrier.start();
        ASSERT_TRUE(started.ok()) << started.error().message;
    }
    void commit(const Commit& next) {
        const Status done = carrier.journal().commit(next);
        ASSERT_TRUE(done.ok()) << done.error().message;
        log.remember(next);
    }
    void commit_some(int commits) {
        for (int i = 0; i < commits; ++i) commit(log.next(random, carrier.local().room()));
    }
    void expect_all(std::size_t may_miss = 0) { EXPECT_EQ(log.compare(carrier.local(), may_miss), ""); }

    Random random{7};
    TrialLog log{4, 700};
    Carrier carrier;
};

using Carriers = testing::Types<LocalCarrier, ReplicatedCarrier>;
TYPED_TEST_SUITE(JournalConformance, Carriers);

TYPED_TEST(JournalConformance, replays_all_commits_over_many_segments) {
    this->commit_some(200);
    EXPECT_GT(this->carrier.local().catalog().list().size(), 5u);
    this->expect_all();
    EXPECT_EQ(this->carrier.local().totals(), this->log.totals());
}

TYPED_TEST(JournalConformance, continues_after_a_restart_at_every_commit) {
    for (int i = 0; i < 80; ++i) {
        this->commit_some(1);
        this->start();
        this->expect_all();
    }
}

TYPED_TEST(JournalConformance, commits_without_records_are_kept) {
    this->commit_some(5);
    for (int i = 0; i < 5; ++i) this->commit(this->log.empty(this->carrier.local().room()));
    this->start();
    this->expect_all();
    this->commit_some(5);
}

TYPED_TEST(JournalConformance, a_commit_larger_than_a_fresh_segment_gets_one_of_its_size) {
    Commit first = this->log.make(this->random, this->carrier.local().room(), 1);
    first.closes_segment = true;
    this->commit(first);
    const Commit large = this->log.make(this->random, this->carrier.local().room(), 2'000);
    ASSERT_GT(large.records.size(), kTopicPartBytes);
    this->commit(large);
    this->commit_some(30);
    this->expect_all();
    this->start();
    this->expect_all();
}

TYPED_TEST(JournalConformance, a_full_disk_is_an_error_that_may_be_retried) {
    while (!this->carrier.local().room().closed) this->commit_some(1);
    SimDisk& disk = this->carrier.disk();
    disk.set_capacity(disk.used_bytes() + 1'000);
    const Commit refused = this->log.next(this->random, this->carrier.local().room());
    for (int i = 0; i < 3; ++i) EXPECT_EQ(this->carrier.journal().commit(refused).error().code, "no_space"_code);
    this->expect_all();
    disk.set_capacity(SimDisk::kDefaultCapacityBytes);
    this->commit(refused);
    this->commit_some(30);
    this->start();
    this->expect_all();
}

TYPED_TEST(JournalConformance, after_a_failed_write_or_sync_everything_is_refused_with_the_same_error) {
    for (const DiskOperation operation : {DiskOperation::write, DiskOperation::sync_data}) {
        this->commit_some(3);
        this->carrier.disk().fail(operation);
        Commit next = this->log.make(this->random, this->carrier.local().room(), 1);
        next.closes_segment = false;
        const Status failed = this->carrier.journal().commit(next);
        ASSERT_FALSE(failed.ok());
        EXPECT_EQ(failed.error().code, "log_failed"_code);
        EXPECT_EQ(this->carrier.journal().commit(next).error().message, failed.error().message);
        EXPECT_EQ(this->carrier.local().totals(), this->log.totals());
        // What was not acknowledged may be there after the next start, or not.
        this->carrier.lose_power(this->random);
        this->start();
        if (this->carrier.local().totals().commit == next.totals.commit) this->log.remember(next);
        this->expect_all();
    }
}

TYPED_TEST(JournalConformance, removes_only_what_lies_wholly_below_and_a_restart_finds_the_rest) {
    this->commit_some(200);
    const std::vector<SegmentSummary> segments = this->carrier.local().catalog().list();
    ASSERT_TRUE(this->carrier.local().drop_before(segments[3].first_sequence + 1).ok());
    EXPECT_EQ(this->carrier.local().first_sequence(), segments[3].first_sequence);
    this->expect_all();
    this->commit_some(20);
    this->start();
    EXPECT_EQ(this->carrier.local().first_sequence(), segments[3].first_sequence);
    this->expect_all();
}

TYPED_TEST(JournalConformance, loses_nothing_acknowledged_when_the_power_is_cut_after_any_commit) {
    for (int i = 0; i < 60; ++i) {
        this->commit_some(1 + static_cast<int>(this->random.below(4)));
        this->carrier.lose_power(this->random);
        this->start();
        this->expect_all();
    }
}

}  // namespace
}  // namespace duewheel
