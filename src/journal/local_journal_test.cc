#include "journal/local_journal.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "journal/trial_log.h"
#include "support/sim_disk.h"
#include "support/temporary_directory.h"

namespace duewheel::local_journal_test {
namespace {

TEST(LocalJournal, replays_all_commits_over_many_segments) {
    SimDisk disk;
    Random random(1);
    TrialLog log(4, 700);
    auto journal = opened(disk, trial_options());
    commit_some(*journal, log, random, 300);
    EXPECT_EQ(log.compare(*journal), "");
    EXPECT_EQ(journal->totals(), log.totals());
    EXPECT_GT(segments_on(disk).size(), 10u);
}

TEST(LocalJournal, works_on_blocks_of_4096_bytes_and_keeps_the_block_size_of_the_log) {
    SimDisk disk;
    Random random(2);
    TrialLog log(4, 700, 4096);
    JournalOptions options = trial_options(64 << 10);
    options.block_bytes = 4096;
    commit_some(*opened(disk, options), log, random, 40);
    options.block_bytes = 512;
    auto journal = opened(disk, options);
    EXPECT_EQ(journal->block_bytes(), 4096u);
    EXPECT_EQ(journal->room().used_bytes % 4096, 0u);
    commit_some(*journal, log, random, 40);
    EXPECT_EQ(log.compare(*journal), "");
}

TEST(LocalJournal, continues_after_a_restart_at_every_commit) {
    SimDisk disk;
    Random random(3);
    TrialLog log(3, 500);
    for (int i = 0; i < 120; ++i) {
        auto journal = opened(disk, trial_options());
        ASSERT_EQ(log.compare(*journal), "") << i;
        EXPECT_FALSE(journal->cut()) << i;
        commit_some(*journal, log, random, 1);
    }
}

TEST(LocalJournal, keeps_the_identity_it_was_created_with) {
    SimDisk disk;
    EXPECT_EQ(opened(disk, trial_options(16 << 10, 5))->identity(), trial_identity(5));
    EXPECT_EQ(opened(disk, trial_options(16 << 10, 6))->identity(), trial_identity(5));
}

TEST(LocalJournal, a_commit_larger_than_a_fresh_segment_gets_one_of_its_size) {
    SimDisk disk;
    Random random(4);
    TrialLog log(3, 500);
    JournalOptions options = trial_options();
    auto journal = opened(disk, options);
    Commit first = log.make(random, journal->room(), 1);
    first.closes_segment = true;
    ASSERT_TRUE(journal->commit(first).ok());
    log.remember(first);
    const Commit large = log.make(random, journal->room(), 200);
    ASSERT_GT(large.records.size(), 2 * options.segment_bytes);
    ASSERT_TRUE(large.closes_segment);
    ASSERT_TRUE(journal->commit(large).ok());
    log.remember(large);
    commit_some(*journal, log, random, 30);
    EXPECT_EQ(log.compare(*journal), "");
    EXPECT_EQ(log.compare(*opened(disk, options)), "");
}

// A segment that was exactly as large as its first commit could never be closed: the simulator found the commit that
// was to close it written past the segment's end.
TEST(LocalJournal, a_segment_made_for_a_large_commit_has_room_for_one_that_closes_it) {
    SimDisk disk;
    Random random(4);
    TrialLog log(3, 500);
    const JournalOptions options = trial_options();
    auto journal = opened(disk, options);
    Commit first = log.make(random, journal->room(), 1);
    first.closes_segment = true;
    ASSERT_TRUE(journal->commit(first).ok());
    log.remember(first);
    Commit large = log.make(random, journal->room(), 200);
    large.closes_segment = false;
    ASSERT_TRUE(journal->commit(large).ok());
    log.remember(large);
    EXPECT_GE(journal->room().segment_bytes - journal->room().used_bytes, kClosingRoomBytes);
    Commit closing = log.make(random, journal->room(), 1);
    closing.closes_segment = true;
    ASSERT_TRUE(journal->commit(closing).ok());
    log.remember(closing);
    EXPECT_EQ(log.compare(*opened(disk, options)), "");
}

TEST(LocalJournal, every_position_is_readable_written_now_or_found_at_the_start) {
    SimDisk disk;
    Random random(5);
    TrialLog log(90, 30);  // more than one listed offset in a commit
    JournalOptions options = trial_options(64 << 10);
    auto journal = opened(disk, options);
    commit_some(*journal, log, random, 100);
    for (int life = 0; life < 2; ++life) {
        for (const TrialCommit& commit : log.commits()) {
            for (const OwnedRecord& record : commit.records) {
                const auto segment = journal->catalog().find(record.sequence);
                ASSERT_TRUE(segment.ok()) << segment.error().message;
                const Result<OwnedRecord> read = (*segment)->read_record(record.sequence);
                ASSERT_TRUE(read.ok()) << read.error().message;
                ASSERT_EQ(*read, record);
            }
        }
        journal = opened(disk, options);
    }
    EXPECT_EQ(journal->catalog().find(0).error().code, "not_found"_code);
    EXPECT_EQ(journal->catalog().find(log.last_sequence() + 1).error().code, "not_found"_code);
}

TEST(LocalJournal, reads_many_positions_in_one_call) {
    SimDisk disk;
    Random random(6);
    TrialLog log(90, 30);
    auto journal = opened(disk, trial_options(64 << 10));
    commit_some(*journal, log, random, 100);
    std::vector<OwnedRecord> wanted;
    std::vector<Sequence> log_positions;
    for (const TrialCommit& commit : log.commits()) {
        for (const OwnedRecord& record : commit.records) {
            if (!random.chance(100'000)) continue;
            wanted.push_back(record);
            log_positions.push_back(record.sequence);
        }
    }
    ASSERT_GT(log_positions.size(), 100u);
    const auto read = journal->catalog().read_records(log_positions);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, wanted);
    log_positions.push_back(log.last_sequence() + 1);
    EXPECT_EQ(journal->catalog().read_records(log_positions).error().code, "not_found"_code);
}

TEST(LocalJournal, replay_starts_with_the_commit_of_the_position_and_reads_no_older_segment) {
    SimDisk disk;
    Random random(7);
    TrialLog log(3, 500);
    auto journal = opened(disk, trial_options());
    fill_segments(*journal, log, random, 5);
    for (Sequence from = 1; from <= log.last_sequence() + 1; ++from) {
        std::vector<std::uint64_t> played;
        std::uint64_t first_segment = 0;
        const Status read = journal->replay(from, [&](const CommitInLog& commit) {
            if (played.empty()) first_segment = commit.segment_number;
            played.push_back(commit.totals.commit);
            return Status();
        });
        ASSERT_TRUE(read.ok()) << read.error().message;
        std::vector<std::uint64_t> wanted;
        for (const TrialCommit& commit : log.commits()) {
            if (commit.totals.sequence >= from) wanted.push_back(commit.totals.commit);
        }
        ASSERT_EQ(played, wanted) << from;
    }
    EXPECT_EQ(journal->replay(0, [](const CommitInLog&) { return Status(); }).error().code, "not_found"_code);
    EXPECT_EQ(journal->replay(log.last_sequence() + 2, [](const CommitInLog&) { return Status(); }).error().code,
              "not_found"_code);
    const std::vector<std::string> names = segments_on(disk);
    disk.flip(std::string(kDirectory) + "/" + names[0], kSegmentHeaderBytes + 3);
    const Sequence second = sequence_of_segment_name(names[1]);
    journal = opened(disk, trial_options());
    EXPECT_TRUE(journal->replay(second, [](const CommitInLog&) { return Status(); }).ok());
    EXPECT_EQ(journal->verify_all([](const CommitInLog&) { return Status(); }).error().code, "damaged_log"_code);
}

TEST(LocalJournal, an_error_of_the_visitor_ends_the_replay_and_is_returned) {
    SimDisk disk;
    Random random(8);
    TrialLog log(3, 500);
    auto journal = opened(disk, trial_options());
    commit_some(*journal, log, random, 20);
    int seen = 0;
    const Status read =
        journal->replay(1, [&](const CommitInLog&) { return ++seen == 3 ? Status(Error{"refused"_code}) : Status(); });
    EXPECT_EQ(read.error().code, "refused"_code);
    EXPECT_EQ(seen, 3);
}

TEST(LocalJournal, drops_only_what_lies_wholly_below_and_a_restart_finds_the_rest) {
    SimDisk disk;
    Random random(9);
    TrialLog log(3, 500);
    auto journal = opened(disk, trial_options());
    fill_segments(*journal, log, random, 6);
    const std::vector<std::string> names = segments_on(disk);
    const Sequence third = sequence_of_segment_name(names[2]);
    ASSERT_TRUE(journal->drop_before(third - 1).ok());
    EXPECT_EQ(segments_on(disk).size(), 5u);
    ASSERT_TRUE(journal->drop_before(third).ok());
    EXPECT_EQ(segments_on(disk).front(), names[2]);
    EXPECT_EQ(journal->first_sequence(), third);
    EXPECT_EQ(journal->catalog().find(third - 1).error().code, "not_found"_code);
    EXPECT_EQ(log.compare(*journal), "");
    journal = opened(disk, trial_options());
    EXPECT_EQ(journal->first_sequence(), third);
    EXPECT_EQ(log.compare(*journal), "");
    ASSERT_TRUE(journal->drop_before(~Sequence{0}).ok());
    EXPECT_EQ(segments_on(disk).size(), 1u);
    EXPECT_EQ(opened(disk, trial_options())->totals(), log.totals());
}

TEST(LocalJournal, a_reader_that_holds_a_segment_reads_on_after_it_was_dropped) {
    TemporaryDirectory directory;
    Random random(10);
    TrialLog log(3, 500);
    auto journal = opened(posix_file_system(), trial_options(), directory.at("journal"));
    fill_segments(*journal, log, random, 3);
    const auto pinned = journal->catalog().find(1).value();
    ASSERT_TRUE(journal->drop_before(~Sequence{0}).ok());
    ASSERT_EQ(segments_on(posix_file_system(), directory.at("journal")).size(), 1u);
    const Sequence last = pinned->end().totals.sequence;
    for (Sequence sequence = 1; sequence <= last; ++sequence) {
        EXPECT_EQ(pinned->read_record(sequence).value().sequence, sequence);
    }
    std::uint64_t commits = 0;
    ASSERT_TRUE(pinned->scan([&](const CommitInLog&) { return ++commits, Status(); }).ok());
    EXPECT_GT(commits, 0u);
}

TEST(LocalJournal, fills_spares_ahead_and_uses_them) {
    SimDisk disk;
    Random random(11);
    TrialLog log(3, 500);
    JournalOptions options = trial_options();
    options.spare_count = 1;
    options.reserve_count = 2;
    auto journal = opened(disk, options);
    ASSERT_TRUE(journal->prepare_spares().ok());
    EXPECT_EQ(journal->ready_spares(), 3u);
    EXPECT_EQ(journal->bytes_on_disk(), disk.used_bytes());
    const std::uint64_t used = disk.used_bytes();
    fill_segments(*journal, log, random, 3);
    EXPECT_EQ(journal->ready_spares(), 1u);
    EXPECT_EQ(disk.used_bytes(), used);
    journal = opened(disk, options);
    EXPECT_EQ(journal->ready_spares(), 0u);  // found, but not verified yet
    const std::uint64_t writes = disk.count(DiskOperation::write);
    ASSERT_TRUE(journal->prepare_spares().ok());
    EXPECT_EQ(journal->ready_spares(), 3u);
    EXPECT_EQ(disk.count(DiskOperation::write) - writes, 2u);  // the one that was there is taken as it is
    fill_segments(*journal, log, random, 7);
    EXPECT_EQ(log.compare(*journal), "");
}

TEST(LocalJournal, the_content_of_a_spare_does_no_harm) {
    SimDisk disk;
    Random random(12);
    TrialLog log(3, 500);
    JournalOptions options = trial_options();
    options.spare_count = 3;
    {
        auto journal = opened(disk, options);
        ASSERT_TRUE(journal->prepare_spares().ok());
        commit_some(*journal, log, random, 3);
    }
    disk.flip(std::string(kDirectory) + "/spare-2", 0);
    disk.flip(std::string(kDirectory) + "/spare-3", options.segment_bytes - 1);
    ASSERT_TRUE(disk.open(std::string(kDirectory) + "/spare-10.filling", OpenMode::create).ok());
    ASSERT_TRUE(disk.open(std::string(kDirectory) + "/spare-4", OpenMode::read_write).value()->truncate(100).ok());
    auto journal = opened(disk, options);
    EXPECT_EQ(disk.open(std::string(kDirectory) + "/spare-10.filling", OpenMode::read).error().code, "not_found"_code);
    fill_segments(*journal, log, random, 5);
    for (const auto& segment : journal->catalog().snapshot()) {
        const std::uint64_t end = segment->end().offset;
        std::string rest(options.segment_bytes - end, 'x');
        const auto file = disk.open(segment->path(), OpenMode::read).value();
        ASSERT_EQ(file->read_at(end, std::as_writable_bytes(std::span(rest))).value(), rest.size());
        EXPECT_EQ(rest.find_first_not_of('\0'), std::string::npos) << segment->path();
    }
    EXPECT_EQ(log.compare(*opened(disk, options)), "");
}

TEST(LocalJournal, a_full_disk_is_an_error_that_may_be_retried) {
    SimDisk disk;
    Random random(13);
    TrialLog log(3, 500);
    JournalOptions options = trial_options();
    options.spare_count = 1;
    auto journal = opened(disk, options);
    disk.set_capacity(disk.used_bytes() + 1000);
    EXPECT_EQ(journal->prepare_spares().error().code, "no_space"_code);
    Commit refused;
    for (;;) {
        refused = log.next(random, journal->room());
        const Status done = journal->commit(refused);
        if (!done) {
            ASSERT_EQ(done.error().code, "no_space"_code) << done.error().message;
            break;
        }
        log.remember(refused);
    }
    EXPECT_TRUE(journal->room().closed);
    EXPECT_EQ(log.compare(*journal), "");
    EXPECT_EQ(journal->commit(refused).error().code, "no_space"_code);
    disk.set_capacity(SimDisk::kDefaultCapacityBytes);
    ASSERT_TRUE(journal->commit(refused).ok());
    log.remember(refused);
    commit_some(*journal, log, random, 30);
    EXPECT_EQ(log.compare(*opened(disk, options)), "");
}

// The rest of a full disk was filled with zeros and freed every second, and was not available to other programs
// meanwhile.
TEST(LocalJournal, a_spare_is_not_started_if_it_does_not_fit) {
    SimDisk disk;
    JournalOptions options = trial_options();
    options.spare_count = 1;
    auto journal = opened(disk, options);
    disk.set_capacity(disk.used_bytes() + options.segment_bytes - 1);
    const std::uint64_t written = disk.count(DiskOperation::write);
    EXPECT_EQ(journal->prepare_spares().error().code, "no_space"_code);
    EXPECT_EQ(disk.count(DiskOperation::write), written);
    disk.set_capacity(disk.used_bytes() + options.segment_bytes);
    EXPECT_TRUE(journal->prepare_spares().ok());
    EXPECT_EQ(journal->ready_spares(), 1u);
}

TEST(LocalJournal, a_spare_is_given_up_unless_it_is_to_be_kept) {
    SimDisk disk;
    JournalOptions options = trial_options();
    options.spare_count = 1;
    options.reserve_count = 1;
    auto journal = opened(disk, options);
    ASSERT_TRUE(journal->prepare_spares().ok());
    disk.set_capacity(disk.used_bytes());
    EXPECT_EQ(journal->give_up_spare(2).value(), false);
    EXPECT_EQ(journal->give_up_spare(1).value(), true);
    EXPECT_EQ(journal->ready_spares(), 1u);
    EXPECT_EQ(disk.free_bytes("/").value(), options.segment_bytes);
    EXPECT_EQ(journal->give_up_spare(1).value(), false);
    journal.reset();
    EXPECT_EQ(opened(disk, options)->give_up_spare(0).value(), true) << "one found at the start too";
}

// A spare that bore the header of a segment that was never born was cut to nothing before it was filled again: on a
// full disk another program could take its space.
TEST(LocalJournal, a_spare_found_with_something_in_it_is_cleaned_on_a_full_disk) {
    SimDisk disk;
    JournalOptions options = trial_options();
    options.spare_count = 1;
    ASSERT_TRUE(opened(disk, options)->prepare_spares().ok());
    std::string spare;
    for (const std::string& name : disk.list(kDirectory).value()) {
        if (name.starts_with("spare-")) spare = std::string(kDirectory) + "/" + name;
    }
    {
        const auto file = disk.open(spare, OpenMode::read_write).value();
        ASSERT_TRUE(file->write_at(0, std::as_bytes(std::span("a header"))).ok());
        ASSERT_TRUE(file->truncate(options.segment_bytes + 700).ok());
    }
    auto journal = opened(disk, options);
    disk.set_capacity(0);
    ASSERT_TRUE(journal->prepare_spares().ok());
    EXPECT_EQ(journal->ready_spares(), 1u);
    const auto file = disk.open(spare, OpenMode::read).value();
    EXPECT_EQ(file->size().value(), options.segment_bytes);
}

TEST(LocalJournal, a_full_disk_while_a_spare_is_enlarged_may_be_retried_too) {
    SimDisk disk;
    Random random(14);
    TrialLog log(3, 500);
    JournalOptions options = trial_options();
    options.spare_count = 1;
    auto journal = opened(disk, options);
    Commit closing = log.make(random, journal->room(), 1);
    closing.closes_segment = true;
    ASSERT_TRUE(journal->commit(closing).ok());
    log.remember(closing);
    ASSERT_TRUE(journal->prepare_spares().ok());
    disk.set_capacity(disk.used_bytes() + 5000);
    const Commit large = log.make(random, journal->room(), 200);
    EXPECT_EQ(journal->commit(large).error().code, "no_space"_code);
    disk.set_capacity(SimDisk::kDefaultCapacityBytes);
    ASSERT_TRUE(journal->commit(large).ok());
    log.remember(large);
    EXPECT_EQ(log.compare(*opened(disk, options)), "");
}

TEST(LocalJournal, after_a_failed_write_or_sync_everything_is_refused_with_the_same_error) {
    for (const DiskOperation operation : {DiskOperation::write, DiskOperation::sync_data}) {
        SimDisk disk;
        Random random(15);
        TrialLog log(3, 500);
        auto journal = opened(disk, trial_options());
        commit_some(*journal, log, random, 3);
        const std::string segment = std::string(kDirectory) + "/" + segments_on(disk).front();
        const std::uint64_t offset = journal->room().used_bytes;
        disk.fail(operation);
        const Commit commit = log.make(random, journal->room(), 1);
        const Status failed = journal->commit(commit);
        ASSERT_FALSE(failed.ok());
        EXPECT_EQ(failed.error().code, "log_failed"_code);
        EXPECT_NE(failed.error().message.find(segment), std::string::npos) << failed.error().message;
        EXPECT_NE(failed.error().message.find("offset " + std::to_string(offset)), std::string::npos);
        EXPECT_EQ(journal->commit(commit).error().message, failed.error().message);
        EXPECT_EQ(journal->prepare_spares().error().message, failed.error().message);
        EXPECT_EQ(journal->drop_before(5).error().message, failed.error().message);
        EXPECT_EQ(journal->replay(1, {}).error().message, failed.error().message);
        EXPECT_EQ(journal->catalog().find(1).error().message, failed.error().message);
        EXPECT_EQ(journal->totals(), log.totals());
    }
}

// Its records are written from the commit itself, and the footer in a second call.
TEST(LocalJournal, a_large_commit_is_there_whole_or_not_at_all) {
    for (const std::uint32_t block_bytes : {512u, 4096u}) {
        SimDisk disk;
        Random random(27);
        TrialLog log(80, 4'000, block_bytes);
        JournalOptions options = trial_options(2 << 20);
        options.block_bytes = block_bytes;
        auto journal = opened(disk, options);
        commit_some(*journal, log, random, 2);
        const Commit commit = log.make(random, journal->room(), 80);
        ASSERT_GT(commit.records.size(), 64u << 10);
        disk.fail(DiskOperation::write, 2);
        EXPECT_EQ(journal->commit(commit).error().code, "log_failed"_code);
        journal.reset();
        journal = opened(disk, options);
        EXPECT_EQ(log.compare(*journal), "");
        ASSERT_TRUE(journal->commit(commit).ok());
        log.remember(commit);
        commit_some(*journal, log, random, 5);
        EXPECT_EQ(log.compare(*opened(disk, options)), "");
    }
}

// A disk that failed while a spare was filled ended the server with "Input/output error" and no word of what to do.
TEST(LocalJournal, a_failed_sync_of_a_spare_is_reported_like_that_of_a_commit) {
    SimDisk disk;
    Random random(16);
    TrialLog log(3, 500);
    JournalOptions options = trial_options();
    options.spare_count = 1;
    auto journal = opened(disk, options);
    disk.fail(DiskOperation::sync_data);
    const Status failed = journal->prepare_spares();
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code, "log_failed"_code);
    EXPECT_NE(failed.error().message.find("fill a spare segment"), std::string::npos) << failed.error().message;
    EXPECT_EQ(journal->commit(log.make(random, journal->room(), 1)).error().message, failed.error().message);
}

TEST(LocalJournal, a_failed_step_of_a_roll_stops_it_too) {
    for (const DiskOperation operation : {DiskOperation::open, DiskOperation::write, DiskOperation::sync_data,
                                          DiskOperation::rename, DiskOperation::sync_directory}) {
        for (std::uint64_t nth = 1; nth <= 2; ++nth) {
            SimDisk disk;
            Random random(16);
            TrialLog log(3, 500);
            auto journal = opened(disk, trial_options());
            while (!journal->room().closed) commit_some(*journal, log, random, 1);
            if (nth == 2 && (operation == DiskOperation::open || operation == DiskOperation::sync_directory)) continue;
            disk.fail(operation, nth);
            const Commit commit = log.make(random, journal->room(), 1);
            EXPECT_EQ(journal->commit(commit).error().code, "log_failed"_code) << static_cast<int>(operation) << nth;
            EXPECT_EQ(journal->commit(commit).error().code, "log_failed"_code);
            journal.reset();
            journal = opened(disk, trial_options());
            EXPECT_EQ(log.compare(*journal), "");
            ASSERT_TRUE(journal->commit(commit).ok());
        }
    }
}

// The mark of the newest segment costs one sync more at a roll, and none between two of them.
TEST(LocalJournal, a_commit_syncs_once_and_a_roll_names_and_marks_its_segment) {
    SimDisk disk;
    Random random(26);
    TrialLog log(3, 500);
    JournalOptions options = trial_options();
    options.spare_count = 2;
    auto journal = opened(disk, options);
    ASSERT_TRUE(journal->prepare_spares().ok());
    const auto syncs = [&disk] {
        return std::pair(disk.count(DiskOperation::sync_data), disk.count(DiskOperation::sync_directory));
    };
    for (int commits = 0; commits < 30; ++commits) {
        const bool rolls = journal->room().closed;
        const auto before = syncs();
        commit_some(*journal, log, random, 1);
        EXPECT_EQ(syncs(), std::pair(before.first + (rolls ? 2 : 1), before.second + (rolls ? 2 : 0)));
        if (rolls) break;
    }
    EXPECT_EQ(journal->room().number, 2u);
}

TEST(LocalJournal, positions_are_read_during_commits_and_removals_of_segments) {
    TemporaryDirectory directory;
    JournalOptions options = trial_options(32 << 10);
    options.spare_count = 2;
    auto journal = opened(posix_file_system(), options, directory.at("journal"));
    std::atomic<Sequence> committed{0};
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> read{0};
    const auto reader = [&](std::uint64_t seed) {
        Random random(seed);
        while (!stop) {
            const Sequence last = committed;
            if (last == 0) continue;
            const Sequence log_position = 1 + random.below(last);
            const auto segment = journal->catalog().find(log_position);
            if (!segment && segment.error().code == "not_found"_code && log_position < journal->first_sequence())
                continue;
            ASSERT_TRUE(segment.ok()) << segment.error().message;
            const Result<OwnedRecord> record = (*segment)->read_record(log_position);
            ASSERT_TRUE(record.ok()) << record.error().message;
            ASSERT_EQ(decode_message(record->kind, record->body).value().id, 1024 * log_position);
            ++read;
            if (random.chance(20'000)) {
                ASSERT_TRUE((*segment)->scan([](const CommitInLog&) { return Status(); }).ok());
            }
        }
    };
    std::thread one(reader, 1);
    std::thread two(reader, 2);
    std::thread spares([&] {
        while (!stop) {
            ASSERT_TRUE(journal->prepare_spares().ok());
            const Sequence last = committed;
            if (last > 300) {
                ASSERT_TRUE(journal->drop_before(last - 300).ok());
            }
        }
    });
    Random random(3);
    TrialLog log(8, 200);
    for (int i = 0; i < 400 || read < 2000; ++i) {
        const Commit commit = log.next(random, journal->room());
        const Status done = journal->commit(commit);
        ASSERT_TRUE(done.ok()) << done.error().message;
        log.remember(commit);
        committed = commit.totals.sequence;
    }
    stop = true;
    one.join();
    two.join();
    spares.join();
    EXPECT_EQ(log.compare(*journal), "");
}

}  // namespace
}  // namespace duewheel::local_journal_test
