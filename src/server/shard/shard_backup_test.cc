// Backups of a running shard, and servers on restored directories.
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "server/node/trial_owner.h"
#include "store/maintenance/backup.h"
#include "support/memory_rows.h"
#include "support/recording_log.h"
#include "support/sim_disk.h"

namespace duewheel::shard_backup_test {
namespace {

constexpr const char* kData = "/data";
constexpr const char* kBackup = "/backup";
constexpr const char* kRestored = "/restored";
constexpr std::int64_t kHour = 3600 * 1000;
constexpr std::array<std::byte, 16> kSalt{std::byte{7}};

class ShardBackup : public testing::Test {
  protected:
    ShardBackup() {
        owner.cleans = true;
        EXPECT_TRUE(owner.open(rows).ok());
    }
    std::string code_of(const Result<BackupReport>& report) {
        return report ? "done" : std::string(name_of(report.error().code));
    }
    std::string backed_up() { return code_of(make_backup(disk, kData, kBackup)); }
    std::string restored() { return code_of(restore_backup(disk, kBackup, kRestored, owner.now, kSalt)); }
    void start_restored() {
        again.now = owner.now;
        const Status opened = again.open(other_rows);
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        again.settle();
    }
    static std::vector<Delivered> lease(TrialOwner& from, std::uint32_t max = 10) {
        return from.ask<LeaseAnswer>(LeaseCommand{"default", TrialOwner::kQueue, max, 30'000, 0}).messages;
    }

    SimDisk disk;
    MemoryRowStorage rows;
    MemoryRowStorage other_rows;
    RecordingLog log;
    TrialOwner owner{disk, kData, log};
    TrialOwner again{disk, kRestored, log};
};

TEST_F(ShardBackup, of_a_running_shard_contains_all_confirmed_changes_and_can_be_started) {
    std::vector<MessageId> ids;
    for (int i = 0; i < 300; ++i) ids.push_back(owner.put(kHour, std::string(200, 'x')));
    for (int i = 0; i < 200; ++i) owner.ask<ChangeAnswer>(CancelCommand{"default", ids[static_cast<std::size_t>(i)]});
    ASSERT_GT(owner.parts().journal().first_sequence(), 1u) << "cleaning has dropped nothing";
    ASSERT_EQ(backed_up(), "done");
    owner.put(kHour, "after");
    ASSERT_EQ(restored(), "done");
    ASSERT_NO_FATAL_FAILURE(start_restored());
    EXPECT_EQ(again.engine().totals().live_count, 100u);
    EXPECT_EQ(again.ask<MessageAnswer>(GetCommand{"default", ids.back()}).row.state.state, State::scheduled);
    again.now += kHour;
    again.settle();
    EXPECT_EQ(lease(again, 1000).size(), 100u);
}

// A token of the original would have ended a lease of what was restored: the same message, attempt and incarnation.
TEST_F(ShardBackup, accepts_no_lease_of_the_original) {
    const MessageId id = owner.put(0, "body");
    owner.close();
    ASSERT_EQ(backed_up(), "done");
    ASSERT_TRUE(owner.open(rows).ok());  // its next run and the first one of what is restored have the same number
    owner.settle();
    const std::vector<Delivered> of_original = lease(owner);
    ASSERT_EQ(of_original.size(), 1u);
    ASSERT_EQ(restored(), "done");
    ASSERT_NO_FATAL_FAILURE(start_restored());
    const std::vector<Delivered> taken = lease(again);
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].id, id);
    EXPECT_EQ(taken[0].lease.attempt, of_original[0].lease.attempt);
    EXPECT_EQ(taken[0].lease.incarnation, of_original[0].lease.incarnation) << "else this test shows nothing";
    EXPECT_EQ(again.ask<Error>(AckCommand{of_original[0].lease}).code, "bad_lease_token"_code);
    EXPECT_EQ(again.ask<LeaseEndAnswer>(AckCommand{taken[0].lease}).outcome, LeaseOutcome::done);
    again.close();
    ASSERT_TRUE(again.open(other_rows).ok());
    again.settle();
    EXPECT_EQ(again.ask<LeaseEndAnswer>(AckCommand{taken[0].lease}).outcome, LeaseOutcome::done)
        << "as after any restart";
}

// A message of a kept lease would have waited for a worker that the restored server refuses.
TEST_F(ShardBackup, keeps_a_lease_that_the_backup_holds) {
    const MessageId id = owner.put(0, "body");
    const std::vector<Delivered> job = lease(owner);
    ASSERT_EQ(job.size(), 1u);
    owner.now += 200;
    owner.settle();
    ASSERT_EQ(backed_up(), "done");
    ASSERT_EQ(restored(), "done");
    ASSERT_NO_FATAL_FAILURE(start_restored());
    EXPECT_EQ(again.ask<MessageAnswer>(GetCommand{"default", id}).row.state.state, State::leased);
    EXPECT_EQ(again.ask<LeaseEndAnswer>(AckCommand{job[0].lease}).outcome, LeaseOutcome::done);
}

// An id that the original gave out after the backup would have been another message here, which its holder cancels.
TEST_F(ShardBackup, assigns_no_id_that_the_original_may_have_assigned) {
    owner.put(kHour, "before");
    ASSERT_EQ(backed_up(), "done");
    const MessageId of_original = owner.put(kHour, "after");
    ASSERT_EQ(restored(), "done");
    ASSERT_NO_FATAL_FAILURE(start_restored());
    EXPECT_EQ(again.ask<Error>(GetCommand{"default", of_original}).code, "unknown_id"_code);
    const MessageId fresh = again.put(kHour, "fresh");
    EXPECT_GT(fresh, of_original + 1'000'000 * kShardsMax);
    EXPECT_EQ(again.put(kHour, "next"), fresh + kShardsMax);
    again.close();
    ASSERT_TRUE(again.open(other_rows).ok());
    EXPECT_EQ(again.put(kHour, "next"), fresh + 2 * kShardsMax);
}

TEST_F(ShardBackup, marks_messages_that_the_original_may_have_delivered) {
    owner.put(kHour, "soon");
    owner.put(3 * kHour, "later");
    ASSERT_EQ(backed_up(), "done");
    owner.now += 2 * kHour;
    ASSERT_EQ(restored(), "done");
    ASSERT_NO_FATAL_FAILURE(start_restored());
    const std::vector<Delivered> soon = lease(again);
    ASSERT_EQ(soon.size(), 1u);
    EXPECT_TRUE(soon[0].maybe_delivered);
    again.ask<LeaseEndAnswer>(AckCommand{soon[0].lease});
    again.now += kHour;
    again.settle();
    const std::vector<Delivered> later = lease(again);
    ASSERT_EQ(later.size(), 1u);
    EXPECT_FALSE(later[0].maybe_delivered);
}

// Prepared messages that the original may have committed, and what it may have made by rules, came again as if they
// were new: by their ids they were not of before, or by their dues not of then.
TEST_F(ShardBackup, marks_messages_that_the_original_may_have_created) {
    const auto named = [](std::string body, std::int64_t delay_ms) {
        PutCommand put;
        put.queue = TrialOwner::kQueue;
        put.when.delay_ms = delay_ms;
        put.body = std::move(body);
        return put;
    };
    const auto half = [&](std::string body, std::int64_t delay_ms, std::int64_t check_after_ms) {
        PutCommand put = named(std::move(body), delay_ms);
        put.transaction = {.check_queue = TrialOwner::kQueue, .check_after_ms = check_after_ms, .check_times = 1};
        return put;
    };
    const MessageId soon = owner.ask<PutAnswer>(half("half", 0, 100 * kHour)).id;
    const MessageId later = owner.ask<PutAnswer>(half("later half", 3 * kHour, 100 * kHour)).id;
    owner.ask<PutAnswer>(half("check", 0, kHour));
    PutCommand loop = named("loop", kHour);
    loop.repeat = RepeatChoice{.every_ms = kHour, .times = 3};
    owner.ask<PutAnswer>(loop);
    ScheduleRule rule;
    rule.times = {.kind = TimesKind::every, .every_ms = kHour, .times = 3};
    rule.misfire = Misfire::all;
    rule.queue = TrialOwner::kQueue;
    PutScheduleCommand schedule{.name = "s", .rule = rule, .times = *ScheduleTimes::make(rule.times, &Zone::load)};
    schedule.body = "run";
    owner.ask<ScheduleAnswer>(schedule);
    PutWatchdogCommand watchdog{.name = "watchdog"};
    watchdog.rule.timeout_ms = kHour;
    watchdog.rule.queue = TrialOwner::kQueue;
    watchdog.body = "watchdog";
    owner.ask<WatchdogAnswer>(watchdog);
    ASSERT_EQ(backed_up(), "done");
    owner.now += 5 * kHour / 2;
    ASSERT_EQ(restored(), "done");
    ASSERT_NO_FATAL_FAILURE(start_restored());
    again.close();
    ASSERT_TRUE(again.open(other_rows).ok()) << "the mark holds for any later run too";
    again.settle();
    again.ask<SettleAnswer>(SettleCommand{"default", soon, true});
    again.ask<SettleAnswer>(SettleCommand{"default", later, true});
    again.put(0, "fresh");
    const auto handed_out = [this] {
        std::multimap<std::string, bool> maybe;
        for (const Delivered& delivered : lease(again, 100)) {
            maybe.emplace(delivered.body, delivered.maybe_delivered);
            again.ask<LeaseEndAnswer>(AckCommand{delivered.lease});
        }
        return maybe;
    };
    EXPECT_EQ(handed_out(), (std::multimap<std::string, bool>{{"check", true},
                                                              {"fresh", false},
                                                              {"half", true},
                                                              {"loop", true},
                                                              {"loop", true},
                                                              {"run", true},
                                                              {"run", true},
                                                              {"watchdog", true}}));
    again.now += kHour;
    again.settle();
    EXPECT_EQ(handed_out(), (std::multimap<std::string, bool>{{"later half", false}, {"loop", false}, {"run", false}}));
}

TEST_F(ShardBackup, cannot_be_started_and_neither_can_a_partial_restore) {
    owner.put(kHour, "body");
    ASSERT_EQ(backed_up(), "done");
    TrialOwner on_backup(disk, kBackup, log);
    MemoryRowStorage unused;
    Status started = on_backup.open(unused);
    ASSERT_FALSE(started.ok());
    EXPECT_EQ(started.error().code, "not_a_data_directory"_code);
    EXPECT_NE(started.error().message.find("duewheel restore"), std::string::npos) << started.error().message;

    disk.fail(DiskOperation::sync_data, 3);
    EXPECT_EQ(restored(), "io_error");
    started = again.open(other_rows);
    ASSERT_FALSE(started.ok());
    EXPECT_EQ(started.error().code, "not_a_data_directory"_code);
    EXPECT_EQ(restored(), "not_empty");
}

TEST_F(ShardBackup, is_refused_for_invalid_directories) {
    EXPECT_EQ(code_of(make_backup(disk, "/nowhere", kBackup)), "not_found");
    EXPECT_EQ(restored(), "not_a_backup");
    owner.put(kHour, "body");
    EXPECT_EQ(code_of(make_backup(disk, kData, kData)), "not_empty");
    ASSERT_EQ(backed_up(), "done");
    EXPECT_EQ(backed_up(), "not_empty");
    EXPECT_EQ(code_of(make_backup(disk, kBackup, "/other")), "not_a_data_directory") << "a backup of a backup";
    EXPECT_EQ(code_of(restore_backup(disk, kData, kRestored, owner.now, kSalt)), "not_a_backup");
}

TEST_F(ShardBackup, that_fails_half_way_is_no_backup) {
    for (int i = 0; i < 100; ++i) owner.put(kHour, std::string(500, 'x'));
    disk.fail(DiskOperation::sync_data, 2);
    EXPECT_EQ(backed_up(), "io_error");
    EXPECT_EQ(restored(), "not_a_backup");
    EXPECT_NE(owner.put(kHour, "goes on"), 0u);
}

TEST_F(ShardBackup, that_was_damaged_or_lost_a_file_is_not_restored) {
    for (int i = 0; i < 100; ++i) owner.put(kHour, std::string(500, 'x'));
    ASSERT_EQ(backed_up(), "done");
    std::vector<std::string> segments;
    for (const std::string& name : *disk.list(std::string(kBackup) + "/journal")) {
        if (name.starts_with("seg-")) segments.push_back(std::string(kBackup) + "/journal/" + name);
    }
    ASSERT_GT(segments.size(), 2u);
    disk.flip(segments[1], 5000);
    EXPECT_EQ(restored(), "damaged_log");
    ASSERT_TRUE(disk.remove_tree(kRestored).ok());
    disk.flip(segments[1], 5000);
    disk.flip(std::string(kBackup) + "/backup", 20);
    EXPECT_EQ(restored(), "damaged_mark");
    disk.flip(std::string(kBackup) + "/backup", 20);
    ASSERT_TRUE(disk.remove(segments.back()).ok());
    for (const std::string& name : *disk.list(std::string(kBackup) + "/journal")) {
        if (name.starts_with("newest-")) static_cast<void>(disk.remove(std::string(kBackup) + "/journal/" + name));
    }
    EXPECT_EQ(restored(), "damaged_log");
}

}  // namespace
}  // namespace duewheel::shard_backup_test
