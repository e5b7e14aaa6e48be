// Settings that a version before this one had: their bytes are in logs, and in the digests of these.
#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include "message/records/subject.h"
#include "message/totals.h"
#include "resource/queue_settings.h"
#include "server/node/trial_owner.h"
#include "support/memory_rows.h"
#include "support/recording_log.h"
#include "support/sim_disk.h"

namespace duewheel::old_settings_test {
namespace {

// Appends the record as the earlier version did.
void write_settings(FileSystem& files, const TrialOwner& owner, const QueueSettings& settings) {
    JournalOptions options;
    options.segment_bytes = owner.options.engine.segment_bytes;
    options.spare_count = options.reserve_count = 0;
    const auto journal = LocalJournal::open(files, owner.directory() + "/journal", options);
    ASSERT_TRUE(journal.ok()) << journal.error().message;
    const std::string value = encode_queue_settings(settings);
    ConfRecord record;
    record.time_ms = owner.now;
    record.subject = Subject::queue;
    record.name_space = kDefaultNamespace;
    record.name = TrialOwner::kQueue;
    record.value = value;
    Commit commit;
    commit.totals = (*journal)->totals();
    commit.first_sequence = ++commit.totals.sequence;
    ++commit.totals.commit;
    commit.count = 1;
    const std::size_t bytes = append_record(commit.records, commit.first_sequence, record);
    add_to_totals(commit.totals, record, bytes);
    ASSERT_TRUE((*journal)->commit(commit).ok());
}

// Queues had `limits.per_second` before they had `rate`.
TEST(OldSettings, a_limit_per_second_is_ignored_and_reported_until_the_settings_change) {
    SimDisk disk;
    MemoryRowStorage rows;
    RecordingLog log;
    TrialOwner owner(disk, "/data", log);
    ASSERT_TRUE(owner.open(rows).ok());
    owner.put(3'600'000, "body");
    owner.close();
    write_settings(disk, owner, {.revision = 1, .pending_max = 70, .old_per_second = 1});
    std::size_t reported = 0;
    const auto start = [&](bool has_old_one) {
        owner.close();
        const Status opened = owner.open(rows);
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        reported += has_old_one ? 1 : 0;
        EXPECT_EQ(log.count("setting_removed"), reported);
        const DueMs due_ms = owner.now + 3'600'000;
        for (int i = 0; i < 2; ++i) owner.put(due_ms - owner.now, "in the same second");
        owner.settle();
        EXPECT_EQ(owner.ask<QueueAnswer>(DescribeQueueCommand{"default", TrialOwner::kQueue}).settings.pending_max, 70u);
    };
    start(true);
    start(true);
    owner.ask<QueueAnswer>(PatchQueueCommand{"default", TrialOwner::kQueue, [](QueueSettings& settings) {
                                                 settings.lease_ms = 5'000;
                                                 return Status();
                                             }});
    start(false);
    owner.close();
    ASSERT_TRUE(rows.discard().ok());
    start(false);  // the whole log is audited again
}

}  // namespace
}  // namespace duewheel::old_settings_test
