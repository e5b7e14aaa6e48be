#include "journal/recovery.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "journal/newest_mark.h"
#include "journal/trial_log.h"
#include "support/sim_disk.h"

namespace duewheel::recovery_test {
namespace {

std::string code_of_opening(FileSystem& files, const JournalOptions& options) {
    const auto journal = LocalJournal::open(files, kDirectory, options);
    return journal ? "" : std::string(name_of(journal.error().code));
}

TEST(Recovery, a_segment_of_another_log_is_refused) {
    SimDisk disk;
    Random random(17);
    TrialLog log(3, 500);
    {
        auto journal = opened(disk, trial_options());
        fill_segments(*journal, log, random, 3);
    }
    // The same commits in a log with another identity; its second segment has the same name and the same totals.
    Random again(17);
    TrialLog other_log(3, 500);
    {
        auto other = opened(disk, trial_options(16 << 10, 2), "/other");
        fill_segments(*other, other_log, again, 3);
    }
    const std::string name = segments_on(disk)[1];
    ASSERT_EQ(segments_on(disk, "/other")[1], name);
    const auto from = disk.open("/other/" + name, OpenMode::read).value();
    const auto to = disk.open(std::string(kDirectory) + "/" + name, OpenMode::read_write).value();
    std::vector<std::byte> bytes(from->size().value());
    ASSERT_TRUE(from->read_at(0, bytes).ok());
    ASSERT_TRUE(to->write_at(0, bytes).ok());
    const auto refused = LocalJournal::open(disk, kDirectory, trial_options());
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "damaged_log"_code);
    EXPECT_NE(refused.error().message.find(name), std::string::npos);
    EXPECT_NE(refused.error().message.find("another log"), std::string::npos);
}

TEST(Recovery, commits_of_another_log_under_our_header_are_refused) {
    SimDisk disk;
    for (const std::uint64_t seed : {1, 2}) {
        Random random(18);
        TrialLog log(3, 500);
        auto journal = opened(disk, trial_options(16 << 10, seed), seed == 1 ? kDirectory : "/other");
        for (int i = 0; i < 6; ++i) {
            const Commit commit = log.make(random, journal->room(), 1);
            ASSERT_TRUE(journal->commit(commit).ok());
            log.remember(commit);
        }
    }
    const std::string name = segments_on(disk)[0];
    const auto from = disk.open("/other/" + name, OpenMode::read).value();
    const auto to = disk.open(std::string(kDirectory) + "/" + name, OpenMode::read_write).value();
    std::vector<std::byte> bytes(1024);
    ASSERT_TRUE(from->read_at(kSegmentHeaderBytes + 1024, bytes).ok());
    ASSERT_TRUE(to->write_at(kSegmentHeaderBytes + 1024, bytes).ok());
    EXPECT_EQ(code_of_opening(disk, trial_options()), "damaged_log");
}

TEST(Recovery, a_segment_whose_end_is_not_the_one_the_log_goes_on_from_is_refused) {
    // Two logs with one identity take the same course but for the commit that closes the first segment.
    SimDisk disk;
    for (const char* directory : {kDirectory, "/other"}) {
        Random random(26);
        TrialLog log(3, 500);
        auto journal = opened(disk, trial_options(), directory);
        commit_some(*journal, log, random, 3);
        Commit closing = log.make(random, journal->room(), 2);
        closing.closes_segment = true;
        if (directory != kDirectory) closing.totals.digest += 1;
        ASSERT_TRUE(journal->commit(closing).ok());
        log.remember(closing);
        commit_some(*journal, log, random, 3);
    }
    const std::string name = segments_on(disk)[0];
    const auto from = disk.open("/other/" + name, OpenMode::read).value();
    const auto to = disk.open(std::string(kDirectory) + "/" + name, OpenMode::read_write).value();
    std::vector<std::byte> bytes(from->size().value());
    ASSERT_TRUE(from->read_at(0, bytes).ok());
    ASSERT_TRUE(to->write_at(0, bytes).ok());
    auto journal = opened(disk, trial_options());  // does not read older segments
    const auto ignore = [](const CommitInLog&) { return Status(); };
    EXPECT_EQ(journal->verify_all(ignore).error().code, "damaged_log"_code);
    EXPECT_EQ(journal->replay(1, ignore).error().code, "damaged_log"_code);
    EXPECT_EQ(journal->catalog().find(1).value()->read_record(1).error().code, "damaged_log"_code);
}

TEST(Recovery, a_missing_segment_in_the_middle_is_refused) {
    SimDisk disk;
    Random random(19);
    TrialLog log(3, 500);
    {
        auto journal = opened(disk, trial_options());
        fill_segments(*journal, log, random, 4);
    }
    ASSERT_TRUE(disk.remove(std::string(kDirectory) + "/" + segments_on(disk)[2]).ok());
    EXPECT_EQ(code_of_opening(disk, trial_options()), "damaged_log");
    EXPECT_EQ(segments_on(disk).size(), 3u);
}

// The file of the newest segment was taken away, and what had been acknowledged in it was gone without a word: start
// and check said that all was well. A log whose segments were all taken away was started again beside them.
TEST(Recovery, a_log_that_lost_its_newest_segments_is_refused_untouched_and_comes_back_with_them) {
    for (const std::size_t lost : {1, 2, 4}) {
        SCOPED_TRACE(lost);
        SimDisk disk;
        Random random(24);
        TrialLog log(3, 500);
        {
            auto journal = opened(disk, trial_options());
            fill_segments(*journal, log, random, 4);
            commit_some(*journal, log, random, 1);
        }
        const std::vector<std::string> all = segments_on(disk);
        ASSERT_EQ(all.size(), 4u);
        const auto move = [&](const std::string& from, const std::string& to) {
            const std::string path = std::string(kDirectory) + "/";
            for (std::size_t i = all.size() - lost; i < all.size(); ++i) {
                ASSERT_TRUE(disk.rename(path + from + all[i], path + to + all[i]).ok());
            }
        };
        move("", "away-");
        const std::vector<std::string> before = disk.list(kDirectory).value();
        const auto refused = LocalJournal::open(disk, kDirectory, trial_options());
        ASSERT_FALSE(refused.ok());
        EXPECT_EQ(refused.error().code, "damaged_log"_code);
        EXPECT_NE(refused.error().message.find("segment 4 of the log"), std::string::npos) << refused.error().message;
        EXPECT_EQ(disk.list(kDirectory).value(), before);
        EXPECT_EQ(find_log(disk, kDirectory).error().code, "damaged_log"_code) << "what `duewheel check` asks";
        move("away-", "");
        EXPECT_EQ(log.compare(*opened(disk, trial_options())), "");
    }
}

TEST(Recovery, a_log_without_a_mark_is_accepted_and_marked) {
    SimDisk disk;
    Random random(25);
    TrialLog log(3, 500);
    {
        auto journal = opened(disk, trial_options());
        fill_segments(*journal, log, random, 3);
    }
    const std::string mark = std::string(kDirectory) + "/" + NewestMark::name_of(3);
    ASSERT_TRUE(disk.remove(mark).ok());
    EXPECT_EQ(log.compare(*opened(disk, trial_options())), "");
    EXPECT_TRUE(disk.open(mark, OpenMode::read).ok());
}

TEST(Recovery, names_of_marks_are_recognized) {
    EXPECT_EQ(NewestMark::number_of(NewestMark::name_of(17)), 17u);
    for (const char* name : {"newest-", "newest-17", "newest-0000000000000000001x", "newest-000000000000000000017",
                             "newest-00000000000000000000", "seg-00000000000000000017.log"}) {
        EXPECT_EQ(NewestMark::number_of(name), 0u) << name;
    }
}

TEST(Recovery, a_renamed_segment_is_refused) {
    SimDisk disk;
    Random random(20);
    TrialLog log(3, 500);
    {
        auto journal = opened(disk, trial_options());
        fill_segments(*journal, log, random, 2);
    }
    const std::string name = segments_on(disk)[1];
    const Sequence next = sequence_of_segment_name(name) + 1;
    ASSERT_TRUE(
        disk.rename(std::string(kDirectory) + "/" + name, std::string(kDirectory) + "/" + segment_name(next)).ok());
    EXPECT_EQ(code_of_opening(disk, trial_options()), "damaged_log");
}

TEST(Recovery, a_newest_segment_without_a_header_is_refused_even_if_nothing_stands_in_it) {
    for (const std::uint64_t size : {0, 100, 4096, 16 << 10}) {
        SimDisk disk;
        Random random(21);
        TrialLog log(3, 500);
        {
            auto journal = opened(disk, trial_options());
            while (!journal->room().closed) commit_some(*journal, log, random, 1);
        }
        const std::string path = std::string(kDirectory) + "/" + segment_name(log.last_sequence() + 1);
        ASSERT_TRUE(disk.open(path, OpenMode::create).value()->truncate(size).ok());
        EXPECT_EQ(code_of_opening(disk, trial_options()), "damaged_log") << size;
        EXPECT_EQ(segments_on(disk).size(), 2u);
    }
}

TEST(Recovery, a_shortened_segment_is_refused) {
    SimDisk disk;
    Random random(23);
    TrialLog log(3, 500);
    {
        auto journal = opened(disk, trial_options());
        commit_some(*journal, log, random, 3);
    }
    // Cut where a commit ends: nothing but the size tells that there was more.
    const std::string path = std::string(kDirectory) + "/" + segments_on(disk)[0];
    ASSERT_TRUE(disk.open(path, OpenMode::read_write).value()->truncate(kSegmentHeaderBytes).ok());
    EXPECT_EQ(code_of_opening(disk, trial_options()), "damaged_log");
}

// A commit or a header as a later version might write it: the version raised, the checksum right.
void raise_version(FileSystem& files, const std::string& path, std::uint64_t offset, std::uint64_t size) {
    const auto file = files.open(path, OpenMode::read_write).value();
    std::string bytes(size, '\0');
    ASSERT_TRUE(file->read_at(offset, std::as_writable_bytes(std::span(bytes))).ok());
    bytes[16] = static_cast<char>(kLogFormatVersion + 1);
    const std::uint64_t checksum = area_hash(std::string_view(bytes).substr(16));
    bytes.replace(8, 8, reinterpret_cast<const char*>(&checksum), 8);
    ASSERT_TRUE(file->write_at(offset, std::as_bytes(std::span(bytes))).ok());
}

TEST(Recovery, a_log_of_a_newer_version_is_refused_untouched) {
    Random random(24);
    for (const bool header : {true, false}) {
        SimDisk disk;
        TrialLog log(3, 500);
        std::uint64_t end = 0;
        {
            auto journal = opened(disk, trial_options());
            commit_some(*journal, log, random, 3);
            end = journal->room().used_bytes;
        }
        const std::string path = std::string(kDirectory) + "/" + segments_on(disk)[0];
        raise_version(disk, path, header ? 0 : end - kFooterBytes, header ? kSegmentHeaderBytes : kFooterBytes);
        const std::uint64_t writes = disk.count(DiskOperation::write);
        EXPECT_EQ(code_of_opening(disk, trial_options()), "newer_format");
        EXPECT_EQ(disk.count(DiskOperation::write), writes);
    }
}

TEST(Recovery, checking_changes_nothing_and_reports_the_bytes_to_be_cut) {
    SimDisk disk;
    Random random(25);
    TrialLog log(3, 500);
    std::uint64_t end = 0;
    {
        auto journal = opened(disk, trial_options());
        commit_some(*journal, log, random, 5);
        end = journal->room().used_bytes;
    }
    const std::string path = std::string(kDirectory) + "/" + segments_on(disk)[0];
    disk.flip(path, end + 700, std::byte{'x'});
    const std::uint64_t writes = disk.count(DiskOperation::write);
    std::uint64_t commits = 0;
    const auto found = find_log(disk, kDirectory);
    ASSERT_TRUE(found.ok()) << found.error().message;
    ASSERT_TRUE(verify_log(*found, [&](const CommitInLog&) { return ++commits, Status(); }).ok());
    EXPECT_EQ(commits, log.commits().size());
    ASSERT_TRUE(found->cut);
    EXPECT_EQ(found->cut->path, path);
    EXPECT_EQ(found->cut->offset, end);
    EXPECT_EQ(found->cut->bytes, 701u);
    EXPECT_EQ(disk.count(DiskOperation::write), writes);
    EXPECT_EQ(find_log(disk, "/nowhere").error().code, "not_found"_code);
}

}  // namespace
}  // namespace duewheel::recovery_test
