// Each byte of a small log is changed, truncated or zeroed, one at a time. There are two valid results: the log is
// refused and left unchanged, or everything acknowledged is there. A silent gap is a failure. Of a damaged log, every
// record that is whole can be saved.
#include <map>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "journal/log_salvage.h"
#include "journal/trial_log.h"
#include "support/sim_disk.h"

namespace duewheel::damage_test {
namespace {

constexpr std::uint64_t kSegmentBytes = 8 << 10;

// The bytes of all files in the log's directory by their path.
using Image = std::map<std::string, std::string>;

Image image_of(FileSystem& files) {
    Image image;
    for (const std::string& name : files.list(kDirectory).value()) {
        const std::string path = std::string(kDirectory) + "/" + name;
        const auto file = files.open(path, OpenMode::read).value();
        std::string& bytes = image[path];
        bytes.resize(file->size().value());
        EXPECT_TRUE(file->read_at(0, std::as_writable_bytes(std::span(bytes))).ok());
    }
    return image;
}

void put_image(FileSystem& files, const Image& image) {
    ASSERT_TRUE(files.make_directories(kDirectory).ok());
    for (const auto& [path, bytes] : image) {
        const auto file = files.open(path, OpenMode::create).value();
        ASSERT_TRUE(file->write_at(0, std::as_bytes(std::span(bytes))).ok());
        ASSERT_TRUE(file->sync_data().ok());
    }
}

struct Outcome {
    std::string refused;      // the code; empty: it was opened and read
    std::string wrong;        // what is not as it was
    std::optional<Cut> cut;   // what opening cut off
    std::size_t commits = 0;  // that are there
};

// Opens a damaged image and reads all of it. `may_miss`: the number of newest commits that may be missing.
Outcome open_image(const Image& image, const TrialLog& log, std::size_t may_miss = 0) {
    SimDisk disk;
    put_image(disk, image);
    Outcome outcome;
    auto journal = LocalJournal::open(disk, kDirectory, trial_options(kSegmentBytes));
    if (!journal) {
        outcome.refused = name_of(journal.error().code);
        // The sentence about damage before a later commit contained itself a second time.
        const std::string& told = journal.error().message;
        EXPECT_EQ(told.find(" is damaged in "), told.rfind(" is damaged in ")) << told;
        if (image_of(disk) != image) outcome.wrong = "refused, but changed";
        return outcome;
    }
    const Status read = (*journal)->verify_all([&](const CommitInLog&) { return ++outcome.commits, Status(); });
    if (!read) {
        outcome.refused = name_of(read.error().code);
        return outcome;
    }
    outcome.cut = (*journal)->cut();
    outcome.wrong = log.compare(**journal, may_miss);
    if ((*journal)->totals().commit != outcome.commits) outcome.wrong = "totals and commits disagree";
    return outcome;
}

bool refused_as_it_should(const Outcome& outcome) {
    return outcome.refused == "damaged_log" || outcome.refused == "newer_format";
}

class Damage : public ::testing::Test {
  protected:
    // Three segments; the newest ends with a commit of three blocks, and with an empty one after it if `confirmed`.
    void make_log(bool confirmed) {
        SimDisk disk;
        auto journal = opened(disk, trial_options(kSegmentBytes));
        fill_segments(*journal, log_, random_, 3);
        commit(*journal, last_records());
        last_begins_ = journal->room().used_bytes - 1536;
        if (confirmed) commit(*journal, log_.empty(journal->room()));
        newest_ = journal->catalog().snapshot().back()->path();
        end_ = journal->room().used_bytes;
        journal.reset();
        image_ = image_of(disk);
    }

    std::string& newest() { return image_[newest_]; }

    TrialLog log_{2, 200};
    Image image_;
    std::string newest_;             // path
    std::uint64_t last_begins_ = 0;  // offset of the last commit that holds records
    std::uint64_t end_ = 0;
    Random random_{11};

  private:
    void commit(LocalJournal& journal, const Commit& commit) {
        const Status done = journal.commit(commit);
        ASSERT_TRUE(done.ok()) << done.error().message;
        log_.remember(commit);
    }
    // Drawn until it takes three blocks.
    Commit last_records() {
        for (;;) {
            Commit commit = TrialLog(log_).make(random_, {}, 8);
            if (commit_size_in_segment(commit.records.size()) != 1536) continue;
            commit.closes_segment = false;
            return commit;
        }
    }
};

TEST_F(Damage, every_flipped_byte_of_a_confirmed_log_is_refused_or_harmless) {
    make_log(true);
    std::uint64_t refused = 0;
    std::uint64_t harmless = 0;
    for (auto& [path, bytes] : image_) {
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            for (const int mask : {1 << (at % 8), 0xff}) {
                const char before = bytes[at];
                bytes[at] = static_cast<char>(before ^ mask);
                // The confirmation is the newest commit: damaged it is cut, and nothing goes with it.
                const bool in_confirmation = path == newest_ && at >= end_ - 512 && at < end_;
                const Outcome outcome = open_image(image_, log_, in_confirmation ? 1 : 0);
                ASSERT_EQ(outcome.wrong, "") << path << " at " << at << " mask " << mask;
                if (outcome.refused.empty()) {
                    ++harmless;
                } else {
                    ASSERT_TRUE(refused_as_it_should(outcome)) << outcome.refused << path << " at " << at;
                    ++refused;
                }
                // Where a record, a footer or a header stands nothing is harmless, but for the confirmation itself.
                const bool holds_data = before != 0 && !in_confirmation;
                if (holds_data) {
                    ASSERT_NE(outcome.refused, "") << path << " at " << at;
                }
                bytes[at] = before;
            }
        }
    }
    EXPECT_GT(refused, 20'000u);
    EXPECT_GT(harmless, 1000u);
}

TEST_F(Damage, a_flipped_byte_in_the_last_unconfirmed_commit_cuts_and_reports_only_that_commit) {
    make_log(false);
    for (std::size_t at = last_begins_; at < end_; ++at) {
        newest()[at] = static_cast<char>(newest()[at] ^ 0x10);
        const Outcome outcome = open_image(image_, log_, 1);
        ASSERT_EQ(outcome.refused, "") << at;
        ASSERT_EQ(outcome.wrong, "") << at;
        ASSERT_EQ(outcome.commits, log_.commits().size() - 1) << at;
        ASSERT_TRUE(outcome.cut) << at;
        EXPECT_EQ(outcome.cut->offset, last_begins_);
        EXPECT_EQ(outcome.cut->path, newest_);
        newest()[at] = static_cast<char>(newest()[at] ^ 0x10);
    }
}

TEST_F(Damage, a_commit_torn_at_any_byte_is_cut_and_the_log_continues) {
    make_log(false);
    const std::string whole = newest();
    const TrialLog complete = log_;
    for (std::size_t torn = last_begins_; torn <= end_; ++torn) {
        newest() = whole.substr(0, torn) + std::string(whole.size() - torn, '\0');
        const bool changed = newest() != whole;
        SimDisk disk;
        put_image(disk, image_);
        TrialLog log = complete;
        if (changed) log.forget_last();
        auto journal = opened(disk, trial_options(kSegmentBytes));
        ASSERT_EQ(log.compare(*journal), "") << torn;
        ASSERT_EQ(journal->cut().has_value(), changed && torn > last_begins_) << torn;
        ASSERT_EQ(image_of(disk)[newest_].find_first_not_of('\0', changed ? last_begins_ : end_), std::string::npos);
        Random random(torn);
        while (journal->room().number < 4) commit_some(*journal, log, random, 1);
        journal = opened(disk, trial_options(kSegmentBytes));
        ASSERT_EQ(log.compare(*journal), "") << torn;
        ASSERT_FALSE(journal->cut()) << torn;
    }
}

TEST_F(Damage, a_file_cut_off_at_any_byte_is_refused) {
    make_log(true);
    for (auto& [path, bytes] : image_) {
        const std::string whole = bytes;
        for (std::size_t size = 0; size < whole.size(); size += size < kSegmentHeaderBytes ? 97 : 1) {
            bytes.resize(size);
            const Outcome outcome = open_image(image_, log_);
            ASSERT_EQ(outcome.wrong, "") << path << " cut to " << size;
            ASSERT_EQ(outcome.refused, "damaged_log") << path << " cut to " << size;
            bytes = whole;
        }
    }
}

TEST_F(Damage, sectors_lost_in_any_combination_from_the_last_commit_are_cut_and_from_a_confirmed_one_refused) {
    for (const bool confirmed : {false, true}) {
        log_ = TrialLog(2, 200);
        random_ = Random(12);
        make_log(confirmed);
        const std::string whole = newest();
        for (unsigned lost = 0; lost < 8; ++lost) {
            for (const char filling : {'\0', '\xff', 'q'}) {
                newest() = whole;
                for (unsigned sector = 0; sector < 3; ++sector) {
                    if ((lost >> sector & 1) != 0) {
                        newest().replace(last_begins_ + sector * 512, 512, 512, filling);
                    }
                }
                const Outcome outcome = open_image(image_, log_, 1);
                ASSERT_EQ(outcome.wrong, "") << lost;
                if (lost == 0) {
                    ASSERT_EQ(outcome.commits, log_.commits().size());
                } else if (confirmed) {
                    ASSERT_EQ(outcome.refused, "damaged_log") << lost;
                } else {
                    ASSERT_EQ(outcome.refused, "") << lost;
                    ASSERT_EQ(outcome.commits, log_.commits().size() - 1) << lost;
                }
            }
        }
    }
}

TEST_F(Damage, a_zeroed_block_anywhere_is_refused_or_harmless) {
    make_log(true);
    for (auto& [path, bytes] : image_) {
        const std::string whole = bytes;
        for (std::size_t at = 0; at < bytes.size(); at += 512) {
            bytes.replace(at, 512, 512, '\0');
            const bool confirmation = path == newest_ && at == end_ - 512;
            const Outcome outcome = open_image(image_, log_, confirmation ? 1 : 0);
            ASSERT_EQ(outcome.wrong, "") << path << " at " << at;
            if (bytes != whole && !confirmation) {
                ASSERT_EQ(outcome.refused, "damaged_log") << path << " at " << at;
            }
            bytes = whole;
        }
    }
}

TEST_F(Damage, blocks_that_changed_places_are_refused) {
    make_log(true);
    for (auto& [path, bytes] : image_) {
        const std::string whole = bytes;
        for (std::size_t one = kSegmentHeaderBytes; one < bytes.size(); one += 512) {
            for (std::size_t other = kSegmentHeaderBytes; other < bytes.size(); other += 512) {
                bytes.replace(one, 512, whole, other, 512);
                const Outcome outcome = open_image(image_, log_, 1);
                ASSERT_EQ(outcome.wrong, "") << path << " block " << other << " at " << one;
                const bool data_gone = bytes != whole && (path != newest_ || one < end_ - 512) &&
                                       whole.find_first_not_of('\0', one) < one + 512;
                if (data_gone) {
                    ASSERT_EQ(outcome.refused, "damaged_log") << path << " block " << other << " at " << one;
                }
                bytes = whole;
            }
        }
    }
}

// Reads what can be read of an image: how many records are missing. What is read must be as it was, and what is missing
// must be listed. `cut`: the newest commits may be cut off without that.
std::uint64_t salvaged_without(const Image& image, const TrialLog& log, Sequence kept_up_to) {
    SimDisk disk;
    put_image(disk, image);
    std::map<Sequence, OwnedRecord> records;
    for (const TrialCommit& commit : log.commits()) {
        for (const OwnedRecord& record : commit.records) records[record.sequence] = record;
    }
    Sequence newest = 0;
    const Result<SalvagedLog> read = salvage_log(disk, kDirectory, [&](const FramedRecord& frame) {
        EXPECT_GT(frame.sequence, newest);
        newest = frame.sequence;
        EXPECT_EQ(records[frame.sequence], (OwnedRecord{frame.sequence, frame.kind, std::string(frame.body)}));
        records.erase(frame.sequence);
        return Status();
    });
    EXPECT_TRUE(read.ok()) << read.error().message;
    if (!read) return 0;
    std::uint64_t listed = 0;
    for (const Omitted& part : read->omitted) {
        listed += part.records();
        for (Sequence sequence = part.first; sequence <= part.last; ++sequence) {
            EXPECT_EQ(records.erase(sequence), 1u) << sequence << " is listed, but was read or does not exist";
        }
    }
    for (const auto& [sequence, record] : records) EXPECT_GT(sequence, kept_up_to) << "neither read nor listed";
    return listed;
}

// Such a log was refused by everything, and what a backup did not have was lost.
TEST_F(Damage, of_a_log_with_a_flipped_byte_all_records_but_one_are_saved) {
    log_ = TrialLog(6, 100);
    make_log(true);
    std::uint64_t lost = 0;
    for (auto& [path, bytes] : image_) {
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            if (bytes[at] == 0 && at % 64 != 0) continue;
            const char before = bytes[at];
            bytes[at] = static_cast<char>(before ^ 0xff);
            const std::uint64_t missing = salvaged_without(image_, log_, log_.last_sequence());
            ASSERT_LE(missing, 1u) << path << " at " << at;
            ASSERT_FALSE(HasFailure()) << path << " at " << at;
            lost += missing;
            bytes[at] = before;
        }
    }
    EXPECT_GT(lost, 1000u);
}

TEST_F(Damage, whatever_blocks_or_files_are_gone_the_other_records_are_saved_and_these_are_listed) {
    log_ = TrialLog(6, 100);
    make_log(true);
    EXPECT_EQ(salvaged_without(image_, log_, log_.last_sequence()), 0u);
    for (auto& [path, bytes] : image_) {
        const std::string whole = bytes;
        for (std::size_t at = 0; at < bytes.size(); at += 512) {
            for (const std::size_t size : {512u, 4096u}) {
                for (const char filling : {'\0', 'q'}) {
                    bytes.replace(at, std::min(size, bytes.size() - at), std::min(size, whole.size() - at), filling);
                    // What follows the last footer that is left was never confirmed.
                    const Sequence known = path == newest_
                                               ? sequence_of_segment_name(path.substr(path.rfind('/') + 1)) - 1
                                               : log_.last_sequence();
                    salvaged_without(image_, log_, known);
                    ASSERT_FALSE(HasFailure()) << path << " at " << at << " size " << size;
                    bytes = whole;
                }
            }
        }
    }
    const auto middle = std::next(std::find_if(
        image_.begin(), image_.end(), [](const auto& file) { return file.first.find("seg-") != std::string::npos; }));
    image_.erase(middle);
    EXPECT_GT(salvaged_without(image_, log_, log_.last_sequence()), 0u);
}

}  // namespace
}  // namespace duewheel::damage_test
