// For the tests of this folder: nodes of one replicated log, each with a disk of its own, on a simulated topic.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "journal/trial_log.h"
#include "replication/replicated_journal.h"
#include "replication/topic_copy.h"
#include "shared/random.h"
#include "support/sim_disk.h"
#include "support/simulated_kafka.h"

namespace duewheel {

inline const TopicLog kTrialLog{.topic = "duewheel.test.log", .shard = 0, .cluster = "test"};

class TrialNode {
  public:
    TrialNode(SimulatedKafka& kafka, std::uint64_t number) : kafka_(kafka), number_(number), disk_(number) {
        EXPECT_TRUE(disk_.make_directories("/data").ok());
    }

    // Becomes a standby: reads everything that the topic has.
    Status stand_by() {
        Status opened = open_copy();
        return opened ? catch_up() : opened;
    }
    Status open_copy() {
        end();
        Result<std::unique_ptr<TopicCopy>> copy = TopicCopy::open(disk_, kafka_, options());
        if (!copy) return std::move(copy).error();
        copy_ = *std::move(copy);
        return {};
    }

    Status catch_up() {
        for (;;) {
            const Result<std::int64_t> lag = copy_->lag(1'000);
            if (!lag) return lag.error();
            if (*lag == 0) return {};
            if (const Result<TopicCopy::Progress> read = copy_->follow(1'000); !read) return read.error();
        }
    }

    // A standby becomes the owner.
    Status take_over() {
        Result<TopicChain> chain = copy_->claim(number_, "http://node-" + std::to_string(number_), 1'000);
        copy_.reset();
        if (!chain) return std::move(chain).error();
        Result<std::unique_ptr<LocalJournal>> local = LocalJournal::open(disk_, kDirectory, options().journal);
        if (!local) return std::move(local).error();
        local_ = *std::move(local);
        owner_ = std::make_unique<ReplicatedJournal>(kafka_, *local_, PositionFile(disk_, "/data"), *std::move(chain),
                                                     number_, [this](std::int64_t) { return --waits_left > 0; });
        return {};
    }

    Status become_owner() {
        Status done = stand_by();
        return done ? take_over() : done;
    }

    // The process ends, the disk keeps everything that was written.
    void end() {
        owner_.reset();
        local_.reset();
        copy_.reset();
    }
    void lose_power() {
        end();
        disk_.crash(random_);
    }

    ReplicatedJournal& owner() { return *owner_; }
    LocalJournal& local() { return *local_; }
    TopicCopy& copy() { return *copy_; }
    SimDisk& disk() { return disk_; }
    bool is_owner() const { return owner_ != nullptr; }

    int waits_left = 1'000'000;  // the process ends while it waits for brokers for the last time

  private:
    TopicCopyOptions options() const {
        return {.log = kTrialLog, .directory = "/data", .journal = trial_options(16 << 10, number_)};
    }

    SimulatedKafka& kafka_;
    const std::uint64_t number_;
    SimDisk disk_;
    Random random_{number_};
    std::unique_ptr<TopicCopy> copy_;
    std::unique_ptr<LocalJournal> local_;
    std::unique_ptr<ReplicatedJournal> owner_;
};

// Two nodes of a log, whose commits are remembered.
class TrialNodes : public testing::Test {
  protected:
    TrialNodes() { kafka_.create_topic(kTrialLog.topic); }

    void commit(TrialNode& node, int commits) {
        for (int i = 0; i < commits; ++i) {
            const Commit next = log_.next(random_, node.local().room());
            const Status done = node.owner().commit(next);
            ASSERT_TRUE(done.ok()) << done.error().message;
            log_.remember(next);
        }
    }

    SimulatedKafka kafka_;
    Random random_{1};
    TrialLog log_{4, 700};
    TrialNode first_{kafka_, 1};
    TrialNode second_{kafka_, 2};
};

}  // namespace duewheel
