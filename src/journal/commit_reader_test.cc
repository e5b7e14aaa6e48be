#include "journal/commit_reader.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "journal/trial_log.h"
#include "support/sim_disk.h"

namespace duewheel::commit_reader_test {
namespace {

constexpr const char* kPath = "/segment";

SegmentHeader header_of_trial() {
    SegmentHeader header;
    header.number = 4;
    header.before = {10, 100, 1, 2, 3, 4, 5};
    header.link = 77;
    header.identity = trial_identity(9);
    header.segment_bytes = 16 << 10;
    return header;
}

std::string three_records() {
    std::string records;
    MessageRecord record;
    record.id = 1024;
    record.state.queue = "q";
    for (Sequence sequence = 101; sequence <= 103; ++sequence) append_record(records, sequence, record);
    return records;
}

// The footer that fits.
CommitFooter right_footer(const std::string& area, std::uint64_t record_bytes) {
    CommitFooter footer;
    footer.first_sequence = 101;
    footer.count = 3;
    footer.record_bytes = record_bytes;
    footer.area_hash = area_hash(area);
    footer.totals = {11, 103, 6, 7, 8, 9, 10};
    footer.identity_hash = trial_identity(9).hash();
    footer.link = 77;
    return footer;
}

// Writes one commit of three records whose footer was changed, and reads it. The code, or empty.
std::string code_of_reading(const std::function<void(CommitFooter&)>& change, std::string* message = nullptr) {
    SimDisk disk;
    const auto file = disk.open(kPath, OpenMode::create).value();
    std::string bytes = three_records();
    const std::uint64_t record_bytes = bytes.size();
    bytes.resize(commit_end(bytes.size(), 512) - kFooterBytes);
    CommitFooter footer = right_footer(bytes, record_bytes);
    change(footer);
    append_footer(bytes, footer);
    EXPECT_TRUE(file->write_at(kSegmentHeaderBytes, std::as_bytes(std::span(bytes))).ok());
    EXPECT_TRUE(file->truncate(16 << 10).ok());
    const SegmentHeader header = header_of_trial();
    const std::string path = kPath;
    CommitReader reader(*file, path, header, 16 << 10);
    const Result<CommitInLog> commit = reader.next();
    EXPECT_EQ(reader.position(), commit ? kSegmentHeaderBytes + bytes.size() : kSegmentHeaderBytes);
    EXPECT_EQ(reader.totals().commit, commit ? 11u : 10u);
    if (commit) return "";
    if (message != nullptr) *message = commit.error().message;
    return std::string(name_of(commit.error().code));
}

TEST(CommitReader, takes_a_commit_whose_footer_fits) {
    EXPECT_EQ(code_of_reading([](CommitFooter&) {}), "");
}

TEST(CommitReader, refuses_a_footer_that_is_whole_but_does_not_fit) {
    const std::vector<std::function<void(CommitFooter&)>> changes = {
        [](CommitFooter& footer) { footer.first_sequence = 100; },
        [](CommitFooter& footer) { footer.count = 2, footer.totals.sequence = 102; },
        [](CommitFooter& footer) { footer.count = 4, footer.totals.sequence = 104; },
        [](CommitFooter& footer) { footer.record_bytes -= 1; },
        [](CommitFooter& footer) { footer.area_hash ^= 1; },
        [](CommitFooter& footer) { footer.totals.commit = 12; },
        [](CommitFooter& footer) { footer.totals.commit = 10; },
        [](CommitFooter& footer) { footer.totals.sequence = 104; },
        [](CommitFooter& footer) { footer.identity_hash ^= 1; },
        [](CommitFooter& footer) { footer.link = 78; },
    };
    for (std::size_t i = 0; i < changes.size(); ++i) {
        std::string message;
        EXPECT_EQ(code_of_reading(changes[i], &message), "damaged_log") << i;
        EXPECT_NE(message.find(kPath), std::string::npos);
        EXPECT_NE(message.find("offset 4096"), std::string::npos);
    }
}

TEST(CommitReader, reads_a_commit_that_is_larger_than_what_it_reads_at_a_time) {
    SimDisk disk;
    JournalOptions options = trial_options(16 << 20);
    auto journal = opened(disk, options);
    Random random(1);
    TrialLog log(1, 500'000);
    for (const std::uint64_t records : {1, 12, 3}) {
        const Commit commit = log.make(random, journal->room(), records);
        ASSERT_TRUE(journal->commit(commit).ok());
        log.remember(commit);
    }
    EXPECT_EQ(log.compare(*journal), "");
    EXPECT_EQ(log.compare(*opened(disk, options)), "");
}

}  // namespace
}  // namespace duewheel::commit_reader_test
