// Starts after a crash in the middle of compaction, and starts on a log that has lost a segment.
#include "server/shard/shard_parts.h"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "server/node/trial_owner.h"
#include "store/key_layout.h"
#include "store/maintenance/data_check.h"
#include "store/maintenance/directory_marks.h"
#include "store/rocks_rows.h"
#include "store/sealer.h"
#include "support/memory_rows.h"
#include "support/recording_log.h"
#include "support/sim_disk.h"
#include "support/temporary_directory.h"

namespace duewheel::shard_parts_test {
namespace {

constexpr const char* kDirectory = "/data";
constexpr std::int64_t kHour = 3600 * 1000;
constexpr int kMessages = 160;
constexpr int kStays = 20;  // one message of this number stays, the others are cancelled
constexpr std::uint64_t kDropped = 2;

std::string body_of(MessageId id) {
    return std::to_string(id) + std::string(300, 'x');
}

// What clients were told.
struct Told {
    std::vector<MessageId> waiting;
    std::vector<MessageId> cancelled;
};

// More segments than are needed: most of what they hold has ended.
Told fill(TrialOwner& owner) {
    Told told;
    for (int i = 0; i < kMessages; ++i) {
        const MessageId next = (owner.engine().totals().id_counter + 1) * kShardsMax;
        const MessageId id = owner.put(kHour, body_of(next));
        EXPECT_EQ(id, next);
        if (i % kStays == 0) {
            told.waiting.push_back(id);
        } else {
            told.cancelled.push_back(id);
            EXPECT_EQ(owner.ask<ChangeAnswer>(CancelCommand{"default", id}).outcome, ChangeOutcome::cancelled);
        }
    }
    EXPECT_GT(owner.parts().journal().catalog().list().size(), LogCleaning::kSegmentsLeft + kDropped + 1);
    return told;
}

// Everything is as clients were told, with its body.
void expect_all_there(TrialOwner& owner, const Told& told) {
    EXPECT_EQ(owner.engine().totals().live_count, told.waiting.size());
    for (const MessageId id : told.waiting) {
        const auto answer = owner.ask<MessageAnswer>(GetCommand{"default", id});
        EXPECT_EQ(answer.row.state.state, State::scheduled);
        EXPECT_EQ(answer.body, body_of(id));
    }
    for (const MessageId id : told.cancelled) {
        const auto answer = owner.ask<ChangeAnswer>(CancelCommand{"default", id});
        ASSERT_EQ(answer.outcome, ChangeOutcome::cancelled) << "message " << id;
    }
}

std::vector<std::string> segment_paths(FileSystem& files, const std::string& directory) {
    std::vector<std::string> paths;
    const auto names = files.list(directory + "/journal");
    for (const std::string& name : *names) {
        if (name.starts_with("seg-")) paths.push_back(directory + "/journal/" + name);
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

void remove_segment(FileSystem& files, const std::string& directory, std::size_t which) {
    const std::vector<std::string> paths = segment_paths(files, directory);
    ASSERT_LT(which + 1, paths.size());
    ASSERT_TRUE(files.remove(paths[which]).ok());
    ASSERT_TRUE(files.sync_directory(directory + "/journal").ok());
}

// As a start leaves the index that was interrupted while it built it again.
void seal_first_segment(FileSystem& files, const TrialOwner& owner, RowStorage& rows) {
    JournalOptions journal_options;
    journal_options.segment_bytes = owner.options.engine.segment_bytes;
    const auto journal = LocalJournal::open(files, owner.directory() + "/journal", journal_options);
    ASSERT_TRUE(journal.ok()) << journal.error().message;
    const SegmentCatalog& catalog = (*journal)->catalog();
    const Retention retention;
    const auto index = *Index::open(rows, retention);
    ASSERT_TRUE(seal_segment(*catalog.snapshot().front(), catalog, *index).ok());
}

void clean(TrialOwner& owner, std::uint64_t segments = kDropped) {
    owner.cleans = true;
    int stood_still = 0;
    while (owner.cleaning().segments_dropped() < segments) {
        const auto went_on = owner.step();
        ASSERT_TRUE(went_on.ok()) << went_on.error().message;
        if (*went_on || owner.engine().next_wakeup() <= owner.now) {
            stood_still = 0;
            continue;
        }
        ASSERT_LT(++stood_still, 3) << "it stands still";
        owner.now += LogCleaning::kWaitForSegmentMs;  // what was relocated may wait for its segment to fill
    }
    owner.cleans = false;
    owner.settle();
}

// A shard on a disk and over rows in memory, with a log that was filled and not cleaned yet.
// Writes a row of an index that is not open.
void plant(RowStorage& storage, const std::string& key, const std::string& value) {
    const auto rows = *storage.open();
    const auto builder = rows->build_table();
    builder->put(key, value);
    ASSERT_TRUE(builder->take_in().ok());
}

struct Trial {
    Trial() : owner(disk, kDirectory, log) {
        open();
        told = fill(owner);
    }
    void open(bool index_is_lost = false) {
        if (index_is_lost) static_cast<void>(rows.discard());
        const Status opened = owner.open(rows);
        ASSERT_TRUE(opened.ok()) << opened.error().message;
    }
    Error refusal(bool index_is_lost) {
        if (index_is_lost) static_cast<void>(rows.discard());
        const Status opened = owner.open(rows);
        EXPECT_FALSE(opened.ok());
        return opened.ok() ? Error{} : opened.error();
    }
    // Opens once more, compares, cleans on, and does so again without the index.
    void expect_all_there_after_a_start(bool index_is_lost) {
        ASSERT_NO_FATAL_FAILURE(open(index_is_lost));
        ASSERT_NO_FATAL_FAILURE(expect_all_there(owner, told));
        ASSERT_NO_FATAL_FAILURE(clean(owner, 1));
        owner.close();
        ASSERT_NO_FATAL_FAILURE(open(true));
        ASSERT_NO_FATAL_FAILURE(expect_all_there(owner, told));
        owner.close();
    }
    SimDisk disk;
    MemoryRowStorage rows;
    RecordingLog log;
    TrialOwner owner;
    Told told;
};

TEST(ShardStart, a_compacted_log_contains_all_confirmed_changes_and_can_rebuild_its_index) {
    Trial trial;
    clean(trial.owner);
    expect_all_there(trial.owner, trial.told);
    for (const bool index_is_lost : {false, true, false}) {
        trial.owner.close();
        trial.open(index_is_lost);
        expect_all_there(trial.owner, trial.told);
        EXPECT_TRUE(trial.owner.parts().index().position().is_proven);
    }
}

// A question asks for a record by the place it had. Were its segment unlinked before the answer, the record would be
// missing, and for a delivery that is a damaged log.
TEST(ShardCleaning, a_segment_stays_until_every_earlier_lookup_has_ended) {
    Trial trial;
    TrialOwner& owner = trial.owner;
    const MessageId oldest = trial.told.waiting.front();
    owner.holds_record_reads = true;
    const ReplyToken asked = owner.submit(GetCommand{"default", oldest});
    owner.settle();

    owner.cleans = true;
    owner.settle();
    EXPECT_TRUE(owner.cleaning().waits_for_answers());
    EXPECT_EQ(owner.cleaning().segments_dropped(), 0u);
    EXPECT_EQ(owner.reply_to(asked), nullptr);

    owner.holds_record_reads = false;
    owner.settle();
    ASSERT_NE(owner.reply_to(asked), nullptr);
    const auto* answer = std::get_if<MessageAnswer>(owner.reply_to(asked));
    ASSERT_NE(answer, nullptr);
    EXPECT_EQ(answer->body, body_of(oldest));
    EXPECT_GT(owner.cleaning().segments_dropped(), 0u);
}

// After each segment of which more than half had to be relocated, compaction paused until the log had grown by a
// quarter. A front of messages that stay made it pause repeatedly, until the log was three times as large as its needed
// records.
TEST(ShardCleaning, does_not_stop_at_a_front_that_is_needed_completely) {
    SimDisk disk;
    MemoryRowStorage rows;
    RecordingLog log;
    TrialOwner owner(disk, kDirectory, log);
    ASSERT_TRUE(owner.open(rows).ok());
    for (int i = 0; i < 100; ++i) owner.put(kHour, std::string(850, 'x'));
    const std::size_t stays = owner.parts().journal().catalog().list().size();
    ASSERT_GT(stays, 3u);
    owner.cleans = true;
    for (int i = 0; i < 600; ++i) owner.ask<ChangeAnswer>(CancelCommand{"default", owner.put(kHour, "body")});
    EXPECT_GT(owner.cleaning().segments_dropped(), stays);
    const std::uint64_t needed = owner.engine().totals().needed_bytes + owner.parts().index().outcome_bytes();
    const std::uint64_t left = LogCleaning::kSegmentsLeft + 2;  // and those whose carries are in the open segment
    EXPECT_LE(owner.parts().journal().catalog().bytes(), 2 * needed + left * owner.options.engine.segment_bytes);
}

// Without traffic the log kept its size: the relocated records were in the open segment, which was not filled, and
// compaction did not check again. The log was thirty times as large as its needed records.
TEST(ShardCleaning, returns_to_its_limit_without_traffic) {
    SimDisk disk;
    MemoryRowStorage rows;
    RecordingLog log;
    TrialOwner owner(disk, kDirectory, log);
    ASSERT_TRUE(owner.open(rows).ok());
    for (int i = 0; i < 400; ++i) {
        const MessageId id = owner.put(kHour, std::string(850, 'x'));
        if (i % 4 != 0) owner.ask<ChangeAnswer>(CancelCommand{"default", id});
    }
    const auto bytes = [&] { return owner.parts().journal().catalog().bytes(); };
    const auto bound = [&] {
        const std::uint64_t needed = owner.engine().totals().needed_bytes + owner.parts().index().outcome_bytes();
        return 2 * needed + (LogCleaning::kSegmentsLeft + 2) * owner.options.engine.segment_bytes;
    };
    ASSERT_GT(bytes(), 2 * bound());
    owner.cleans = true;
    for (int tends = 0; tends < 20 && bytes() > bound(); ++tends) {
        owner.settle();
        owner.now += LogCleaning::kWaitForSegmentMs;
    }
    owner.settle();
    EXPECT_LE(bytes(), bound());
    const std::uint64_t settled = owner.engine().totals().commit;
    owner.now += 10 * LogCleaning::kWaitForSegmentMs;
    owner.settle();
    EXPECT_LE(owner.engine().totals().commit, settled + 3) << "and then it rests";
}

// Where each commit nearly fills a segment there are as many segments as commits. One segment a statement was too slow
// for that: the log grew for as long as the puts went on, to forty times what was needed of it.
TEST(ShardCleaning, several_segments_are_released_by_one_record) {
    SimDisk disk;
    MemoryRowStorage rows;
    RecordingLog log;
    TrialOwner owner(disk, kDirectory, log);
    ASSERT_TRUE(owner.open(rows).ok());
    const auto put_and_cancel = [&] {
        owner.ask<ChangeAnswer>(CancelCommand{"default", owner.put(kHour, std::string(11'000, 'x'))});
    };
    for (int i = 0; i < 40; ++i) put_and_cancel();
    owner.cleans = true;
    const std::uint64_t commits = owner.engine().totals().commit;
    for (int i = 0; i < 4; ++i) put_and_cancel();
    EXPECT_GE(owner.cleaning().segments_dropped(), 30u);
    EXPECT_LE(owner.engine().totals().commit, commits + 120) << owner.cleaning().segments_dropped();
}

// The simulator found that an index which is lost after the log's front has gone was not built again: the replay asked
// for record 1.
TEST(ShardStart, a_lost_index_of_a_log_without_its_front_is_rebuilt) {
    Trial trial;
    clean(trial.owner);
    ASSERT_GT(trial.owner.parts().journal().first_sequence(), 1u);
    trial.owner.close();
    trial.open(true);
    EXPECT_GT(trial.owner.parts().index().position().first_segment, 1u);
    expect_all_there(trial.owner, trial.told);
}

TEST(ShardStart, the_next_start_knows_the_saved_time) {
    Trial trial;
    EXPECT_EQ(trial.owner.parts().clock_mark(), ClockMark()) << "nothing is known";
    const auto start_again = [&] {
        trial.owner.close();
        Random random(7);
        trial.disk.power_off(random);  // it is durable
        trial.disk.power_on();
        trial.open();
    };
    for (const ClockMark& mark : {ClockMark{"a-run", -17, true}, ClockMark{"", 1'700'000'000'000, false}}) {
        ASSERT_TRUE(trial.owner.parts().save_clock_mark(mark).ok());
        start_again();
        EXPECT_EQ(trial.owner.parts().clock_mark(), mark);
    }
    trial.disk.flip(std::string(kDirectory) + "/" + kClockMark, 20, std::byte{1});
    start_again();
    EXPECT_TRUE(trial.log.holds("clock_state_damaged"));
    EXPECT_TRUE(trial.owner.parts().clock_mark().doubted) << "who knows less believes less";
    trial.disk.set_capacity(0);
    const Status refused = trial.owner.parts().save_clock_mark({});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "no_space"_code);
}

TEST(ShardStart, crashes_between_any_two_steps_of_compaction_lose_nothing) {
    int repeated = 0;
    for (const bool index_is_lost : {false, true}) {
        bool finished = false;
        for (int steps = 0; !finished; ++steps) {
            SCOPED_TRACE("death after " + std::to_string(steps) +
                         " steps, index lost: " + std::to_string(index_is_lost));
            Trial trial;
            trial.owner.cleans = true;
            for (int i = 0; i < steps && !finished; ++i) {
                const auto went_on = trial.owner.step();
                ASSERT_TRUE(went_on.ok()) << went_on.error().message;
                finished = trial.owner.cleaning().segments_dropped() >= kDropped;
            }
            trial.owner.close();
            ASSERT_NO_FATAL_FAILURE(trial.expect_all_there_after_a_start(index_is_lost));
            if (trial.log.holds("old_segments_removed")) ++repeated;
            ASSERT_LT(steps, 300);
        }
    }
    EXPECT_GE(repeated, 2) << "a death between carry-done and unlink, with the index and without";
}

// Each write, sync and unlink of cleaning is cut off by a power cut, before it, in it or after it.
TEST(ShardStart, power_cuts_in_any_disk_call_of_compaction_lose_nothing) {
    for (const bool index_is_lost : {false, true}) {
        bool finished = false;
        for (int calls = 1; !finished; ++calls) {
            SCOPED_TRACE("power cut in call " + std::to_string(calls) +
                         ", index lost: " + std::to_string(index_is_lost));
            Trial trial;
            Random random(static_cast<std::uint64_t>(calls));
            int left = calls;
            trial.disk.set_hook([&](DiskOperation operation, std::string_view) {
                const bool changes = operation != DiskOperation::read && operation != DiskOperation::size;
                if (changes && left > 0 && --left == 0) trial.disk.power_off(random);
            });
            trial.owner.cleans = true;
            while (left > 0 && !finished) {
                const auto went_on = trial.owner.step();
                ASSERT_TRUE(went_on.ok() || left == 0) << went_on.error().message;
                finished = trial.owner.cleaning().segments_dropped() >= kDropped;
            }
            trial.owner.close();
            trial.disk.set_hook({});
            if (left == 0) trial.disk.power_on();
            ASSERT_NO_FATAL_FAILURE(trial.expect_all_there_after_a_start(index_is_lost));
            ASSERT_LT(calls, 500);
        }
    }
}

TEST(ShardStart, what_a_relocation_done_released_is_unlinked_by_the_next_start_without_another_relocation_done) {
    Trial trial;
    trial.owner.cleans = true;
    while (trial.owner.parts().journal().first_sequence() == 1) {
        // The record that says so is durable, and the unlink is the next step.
        trial.disk.fail(DiskOperation::remove);
        const auto went_on = trial.owner.step();
        if (!went_on.ok()) break;
    }
    ASSERT_EQ(trial.owner.parts().journal().first_sequence(), 1u);
    const Sequence before = trial.owner.engine().totals().sequence;
    trial.owner.close();
    trial.disk.fail(DiskOperation::remove, 0);
    trial.open();
    EXPECT_GT(trial.owner.parts().journal().first_sequence(), 1u);
    EXPECT_EQ(trial.owner.engine().totals().sequence, before);
    EXPECT_TRUE(trial.log.holds("old_segments_removed"));
    expect_all_there(trial.owner, trial.told);
}

// The index was lost between relocation-done and unlink, and its rebuild was interrupted: its rows need the segment
// that was released, because the relocated records are not in it yet.
TEST(ShardStart, an_index_that_does_not_know_the_relocated_records_yet_keeps_what_was_released) {
    Trial trial;
    trial.owner.cleans = true;
    for (;;) {
        trial.disk.fail(DiskOperation::remove);
        if (!trial.owner.step().ok()) break;
    }
    trial.owner.close();
    trial.disk.fail(DiskOperation::remove, 0);
    ASSERT_TRUE(trial.rows.discard().ok());
    ASSERT_NO_FATAL_FAILURE(seal_first_segment(trial.disk, trial.owner, trial.rows));
    trial.owner.options.engine.unsealed_segments_max = 100;  // so that the next start serves with what there is
    trial.open();
    EXPECT_EQ(trial.owner.parts().index().position().segment, 1u);
    EXPECT_EQ(trial.owner.parts().journal().first_sequence(), 1u);
    trial.owner.close();
    trial.expect_all_there_after_a_start(false);
}

// The engine calculates with the blocks of the log that is there: the journal asserts that every commit fits.
TEST(ShardStart, a_log_with_larger_blocks_is_filled_segment_by_segment) {
    SimDisk disk;
    MemoryRowStorage rows;
    RecordingLog log;
    TrialOwner owner(disk, kDirectory, log);
    JournalOptions journal_options;
    journal_options.segment_bytes = owner.options.engine.segment_bytes = 64 << 10;
    journal_options.block_bytes = 4096;
    journal_options.spare_count = journal_options.reserve_count = 0;
    ASSERT_TRUE(LocalJournal::open(disk, std::string(kDirectory) + "/journal", journal_options).ok());
    ASSERT_TRUE(owner.open(rows).ok());
    const Told told = fill(owner);
    EXPECT_EQ(owner.parts().journal().block_bytes(), 4096u);
    for (const SegmentSummary& segment : owner.parts().journal().catalog().list()) EXPECT_EQ(segment.bytes, 64u << 10);
    owner.close();
    ASSERT_TRUE(owner.open(rows).ok());
    expect_all_there(owner, told);
}

// On a full disk whose spare segments were used up, cleaning waited until the index held the last cancels. They stood
// in the open segment, which could not be closed without another one: puts were refused forever.
TEST(ShardCleaning, unneeded_segments_are_removed_although_the_last_records_are_in_the_open_one) {
    SimDisk disk;
    MemoryRowStorage rows;
    RecordingLog log;
    TrialOwner owner(disk, kDirectory, log);
    ASSERT_TRUE(owner.open(rows).ok());
    std::vector<MessageId> ids;
    for (int i = 0; i < kMessages; ++i) ids.push_back(owner.put(kHour, std::string(300, 'x')));
    const std::size_t before = owner.parts().journal().catalog().list().size();
    for (const MessageId id : ids) {
        ASSERT_EQ(owner.ask<ChangeAnswer>(CancelCommand{"default", id}).outcome, ChangeOutcome::cancelled);
    }
    ASSERT_GT(before, LogCleaning::kSegmentsLeft + 2);
    const Sequence newest = owner.engine().totals().sequence;
    ASSERT_LT(owner.parts().index().position().totals.sequence, newest);

    owner.cleans = true;
    while (owner.cleaning().segments_dropped() < 2) {
        const auto went_on = owner.step();
        ASSERT_TRUE(went_on.ok()) << went_on.error().message;
        ASSERT_TRUE(*went_on || owner.engine().next_wakeup() <= owner.now) << "it stands still";
    }
    EXPECT_LT(owner.parts().index().position().totals.sequence, newest);
}

// ---- what a start refuses

// After damage to a log that may have been cleaned, with its index and without.
void expect_refused(bool is_cleaned, const std::function<void(SimDisk&)>& damage, std::string_view says = "") {
    for (const bool index_is_lost : {false, true}) {
        Trial trial;
        if (is_cleaned) clean(trial.owner);
        trial.owner.close();
        damage(trial.disk);
        const Error refused = trial.refusal(index_is_lost);
        EXPECT_EQ(refused.code, "damaged_log"_code);
        EXPECT_NE(refused.message.find(says), std::string::npos) << refused.message;
    }
}

TEST(ShardStart, a_log_that_lost_its_first_segment_is_refused) {
    expect_refused(
        false, [](SimDisk& disk) { remove_segment(disk, kDirectory, 0); }, "no segment was ever released");
}

TEST(ShardStart, a_cleaned_log_that_lost_its_first_segment_is_refused) {
    expect_refused(
        true, [](SimDisk& disk) { remove_segment(disk, kDirectory, 0); }, "segments are missing");
}

TEST(ShardStart, a_log_that_lost_all_but_its_newest_segment_is_refused) {
    expect_refused(false, [](SimDisk& disk) {
        while (segment_paths(disk, kDirectory).size() > 1) remove_segment(disk, kDirectory, 0);
    });
}

TEST(ShardStart, a_log_that_lost_a_segment_in_its_middle_is_refused) {
    expect_refused(true, [](SimDisk& disk) { remove_segment(disk, kDirectory, 2); });
}

TEST(ShardStart, a_needed_record_in_a_missing_segment_is_refused) {
    Trial trial;
    clean(trial.owner);
    trial.owner.close();
    std::string value;
    encode_needed(value, 1);
    plant(trial.rows, needed_key(1), value);
    const Error refused = trial.refusal(false);
    EXPECT_EQ(refused.code, "damaged_log"_code);
    EXPECT_NE(refused.message.find("1 of its records are needed"), std::string::npos) << refused.message;
    trial.open(true);  // counted again from the log
    expect_all_there(trial.owner, trial.told);
}

// An index that was begun and not proven yet, as a start leaves it that was interrupted.
TEST(ShardStart, rows_that_differ_from_the_log_are_refused) {
    Trial trial;
    IndexPosition position = trial.owner.parts().index().position();
    trial.owner.close();
    position.is_proven = false;
    std::string value;
    encode_position(value, position);
    plant(trial.rows, position_key(), value);
    encode_needed(value, 77);
    const Sequence counted = position.totals.sequence;
    plant(trial.rows, needed_key(counted), value);
    const Error refused = trial.refusal(false);
    EXPECT_EQ(refused.code, "damaged_log"_code);
    EXPECT_NE(refused.message.find("77 records are counted as needed"), std::string::npos) << refused.message;
    EXPECT_EQ(trial.refusal(false).code, "damaged_log"_code) << "and again by the next start";
    trial.open(true);
    expect_all_there(trial.owner, trial.told);
}

// ---- the offline check

class OfflineCheck : public testing::Test {
  protected:
    OfflineCheck()
        : rows_(posix_file_system(), directory_.at("index"), [](auto, auto) { return false; }),
          owner_(posix_file_system(), directory_.path(), log_) {
        const Status opened = owner_.open(rows_);
        EXPECT_TRUE(opened.ok()) << opened.error().message;
        fill(owner_);
        clean(owner_);
        owner_.close();
    }
    std::string_view code() const {
        const auto report = check_data_directory(posix_file_system(), directory_.path());
        return report ? std::string_view() : name_of(report.error().code);
    }
    void remove(std::size_t which) { remove_segment(posix_file_system(), directory_.path(), which); }

    TemporaryDirectory directory_;
    RocksRowStorage rows_;
    RecordingLog log_;
    TrialOwner owner_;
};

TEST_F(OfflineCheck, passes_a_cleaned_directory_with_its_index_and_without) {
    const auto report = check_data_directory(posix_file_system(), directory_.path());
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_TRUE(report->index_is_complete);
    EXPECT_EQ(report->pending, static_cast<std::uint64_t>(kMessages / kStays));
    ASSERT_TRUE(rows_.discard().ok());
    EXPECT_EQ(code(), "");
}

TEST_F(OfflineCheck, finds_that_the_first_segment_is_missing) {
    remove(0);
    EXPECT_EQ(code(), "damaged_log");
    ASSERT_TRUE(rows_.discard().ok());
    EXPECT_EQ(code(), "damaged_log") << "the log alone tells";
}

TEST_F(OfflineCheck, finds_that_a_segment_in_the_middle_is_missing) {
    remove(2);
    EXPECT_EQ(code(), "damaged_log");
}

TEST_F(OfflineCheck, finds_a_wrong_count_of_needed_records) {
    std::string value;
    encode_needed(value, 77);
    plant(rows_, needed_key(1), value);
    EXPECT_EQ(code(), "damaged_index");
}

TEST_F(OfflineCheck, leaves_a_partly_built_index_as_it_is_and_the_next_start_completes_it) {
    ASSERT_TRUE(rows_.discard().ok());
    ASSERT_NO_FATAL_FAILURE(seal_first_segment(posix_file_system(), owner_, rows_));
    const auto half = check_data_directory(posix_file_system(), directory_.path());
    ASSERT_TRUE(half.ok()) << half.error().message;
    EXPECT_FALSE(half->index_is_complete);
    owner_.options.engine.unsealed_segments_max = 100;  // the rest would not be sealed for its number
    ASSERT_TRUE(owner_.open(rows_).ok());
    owner_.close();
    const auto whole = check_data_directory(posix_file_system(), directory_.path());
    ASSERT_TRUE(whole.ok()) << whole.error().message;
    EXPECT_TRUE(whole->index_is_complete);
}

}  // namespace
}  // namespace duewheel::shard_parts_test
