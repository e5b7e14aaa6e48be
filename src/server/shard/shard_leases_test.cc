// Kept leases of messages that only the index has. They did not count against any limit until something loaded their
// messages. No record said that they lasted for the grace, so a second restart within it ended them.
#include <vector>

#include <gtest/gtest.h>

#include "server/node/trial_owner.h"
#include "support/memory_rows.h"
#include "support/recording_log.h"
#include "support/sim_disk.h"

namespace duewheel::shard_leases_test {
namespace {

TEST(LeasesInTheIndex, count_at_once_and_outlive_a_second_restart) {
    SimDisk disk;
    MemoryRowStorage rows;
    RecordingLog log;
    TrialOwner owner(disk, "/data", log);
    owner.options.engine.ready_max = owner.options.engine.idle_backlog = 4;  // a backlog that stays on disk
    ASSERT_TRUE(owner.open(rows).ok());
    std::vector<MessageId> ids;
    for (int i = 0; i < 60; ++i) ids.push_back(owner.put(0, std::string(300, 'x')));
    std::vector<LeaseToken> tokens;
    for (const MessageId id : std::vector<MessageId>(ids.end() - 3, ids.end())) {
        LeaseMessageCommand command;
        command.id = id;
        command.lease_ms = 5'000;
        tokens.push_back(owner.ask<LeaseAnswer>(command).messages.at(0).lease);
    }
    const auto seal_all = [&owner] {
        owner.now += StartedAttempts::kWaitMs;
        owner.settle();
        for (int i = 0; i < 120; ++i) owner.put(3'600'000, std::string(300, 'x'));
    };
    const auto restart = [&](DueMs away_ms) {
        owner.close();
        owner.now += away_ms;
        ASSERT_TRUE(owner.open(rows).ok());
        EXPECT_EQ(owner.parts().recovery().loaded_leases, tokens.size()) << "the log behind the index has none of them";
        owner.settle();
        EXPECT_EQ(owner.engine().counters().leased, tokens.size());
        owner.engine().check();
    };
    seal_all();
    ASSERT_NO_FATAL_FAILURE(restart(6'000));
    seal_all();
    ASSERT_NO_FATAL_FAILURE(restart(6'000));
    EXPECT_EQ(owner.ask<LeaseEndAnswer>(AckCommand{tokens.front()}).outcome, LeaseOutcome::done);
    ReleaseCommand release;
    release.lease = tokens[1];
    EXPECT_EQ(owner.ask<LeaseEndAnswer>(release).outcome, LeaseOutcome::released);
    tokens.erase(tokens.begin(), tokens.begin() + 2);
    seal_all();
    ASSERT_NO_FATAL_FAILURE(restart(0));
    EXPECT_EQ(owner.ask<LeaseEndAnswer>(AckCommand{tokens.front()}).outcome, LeaseOutcome::done);
}

}  // namespace
}  // namespace duewheel::shard_leases_test
