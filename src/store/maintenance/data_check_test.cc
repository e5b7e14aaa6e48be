#include "store/maintenance/data_check.h"

#include <fstream>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "journal/local_journal.h"
#include "store/index_recovery.h"
#include "store/key_layout.h"
#include "store/maintenance/directory_marks.h"
#include "store/rocks_rows.h"
#include "support/temporary_directory.h"

namespace duewheel::data_check_test {
namespace {

constexpr DueMs kNow = 1'700'000'000'000;
constexpr int kMessages = 200;

RocksRowStorage storage_of(const std::string& directory) {
    return RocksRowStorage(posix_file_system(), directory + "/index", [](auto, auto) { return false; });
}

MessageRow row_of(int number) {
    MessageRow row;
    row.id = static_cast<MessageId>(number + 1) * kShardsMax;
    row.state.queue = "mail";
    row.state.due_ms = row.state.nominal_due_ms = kNow + 1000 + number;
    row.state.version = 1;
    row.state.key = "key " + std::to_string(number);
    row.state.request_hash = 7;
    return row;
}

// A data directory as a server leaves it: one full segment of waiting messages that is in the index, and one begun.
class DataCheck : public testing::Test {
  protected:
    DataCheck() {
        JournalOptions options;
        options.segment_bytes = 128 << 10;
        options.spare_count = options.reserve_count = 0;
        options.identity.instance.fill(std::byte{1});
        const auto journal = *LocalJournal::open(posix_file_system(), at("journal"), options);
        Totals totals;
        totals.server_time_ms = kNow;
        for (const bool closes : {true, false}) {
            Commit commit;
            commit.first_sequence = totals.sequence + 1;
            for (int i = 0; i < kMessages; ++i) add_put(commit, totals, closes ? i : kMessages + i);
            totals.commit += 1;
            commit.totals = totals;
            commit.closes_segment = closes;
            EXPECT_TRUE(journal->commit(commit).ok());
        }
        Retention retention;
        RocksRowStorage storage = storage_of(directory_.path());
        const auto index = *Index::open(storage, retention);
        EXPECT_TRUE(seal_missing(journal->catalog(), *index).ok());
    }

    static void add_put(Commit& commit, Totals& totals, int number) {
        MessageRecord record;
        record.kind = RecordKind::put;
        record.id = row_of(number).id;
        record.state = row_of(number).state;
        record.content.body = "hello";
        const auto bytes = static_cast<std::uint32_t>(append_record(commit.records, ++totals.sequence, record));
        add_to_totals(totals, record, bytes);
        ++commit.count;
    }
    std::string at(const std::string& name) const { return directory_.at(name); }
    std::string code() const {
        const Result<DataReport> report = check_data_directory(posix_file_system(), directory_.path());
        return report ? "whole" : std::string(name_of(report.error().code));
    }
    void plant(const std::string& key, const std::optional<std::string>& value) {
        Retention retention;
        RocksRowStorage storage = storage_of(directory_.path());
        const auto index = *Index::open(storage, retention);
        const auto builder = index->rows().build_table();
        value ? builder->put(key, *value) : builder->erase(key);
        ASSERT_TRUE(builder->take_in().ok());
    }
    static void overwrite(const std::string& path, std::streamoff offset, std::string_view what) {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(offset);
        file.write(what.data(), static_cast<std::streamsize>(what.size()));
    }

    TemporaryDirectory directory_;
};

TEST_F(DataCheck, a_whole_directory_is_whole_and_counted) {
    const Result<DataReport> report = check_data_directory(posix_file_system(), directory_.path());
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_EQ(report->segments, 2u);
    EXPECT_EQ(report->commits, 2u);
    EXPECT_EQ(report->records, 2u * kMessages);
    EXPECT_EQ(report->pending, 2u * kMessages);
    EXPECT_EQ(report->sequence, 2u * kMessages);
    EXPECT_TRUE(report->has_index);
    EXPECT_EQ(report->index_sequence, static_cast<std::uint64_t>(kMessages));
    EXPECT_EQ(report->index_messages, static_cast<std::uint64_t>(kMessages));
}

// Seven bytes of each table were overwritten, and the directory was called whole: only the rows by id had been read.
TEST_F(DataCheck, a_damaged_byte_is_found_in_whatever_table_it_stands) {
    int tables = 0;
    for (const std::string& name : posix_file_system().list(at("index")).value()) {
        if (!name.ends_with(".sst")) continue;
        const std::string path = at("index/" + name);
        std::ifstream file(path, std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(file)), {});
        for (std::size_t offset = 10; offset < bytes.size() / 2; offset += bytes.size() / 10) {
            overwrite(path, static_cast<std::streamoff>(offset), std::string(1, static_cast<char>(bytes[offset] ^ 4)));
            EXPECT_EQ(code(), "damaged_index") << offset << " of " << bytes.size();
            overwrite(path, static_cast<std::streamoff>(offset), std::string(1, bytes[offset]));
        }
        ++tables;
    }
    EXPECT_GT(tables, 0);
    EXPECT_EQ(code(), "whole");
}

TEST_F(DataCheck, rows_that_disagree_are_found) {
    const MessageRow row = row_of(3);
    const DuePosition position{row.state.due_ms, row.id};
    for (const std::string& key : {queue_key("default", "mail", position), due_key(position), id_key(row.id),
                                   key_key("default", "mail", row.state.key)}) {
        std::optional<std::string> value;
        {
            RocksRowStorage storage = storage_of(directory_.path());
            value = *(*storage.open())->get(key);
        }
        ASSERT_TRUE(value) << key.substr(0, 1);
        plant(key, std::nullopt);
        EXPECT_EQ(code(), "damaged_index") << "without its row in " << key.substr(0, 1);
        plant(key, value);
        EXPECT_EQ(code(), "whole") << key.substr(0, 1);
    }
}

TEST_F(DataCheck, an_index_marked_as_damaged_is_not_whole) {
    RocksRowStorage storage = storage_of(directory_.path());
    ASSERT_TRUE(storage.condemn().ok());
    EXPECT_EQ(code(), "damaged_index");
}

TEST_F(DataCheck, an_index_that_knows_more_than_the_log_is_damage_of_the_log) {
    for (const std::string& name : posix_file_system().list(at("journal")).value()) {
        ASSERT_TRUE(posix_file_system().remove(at("journal/" + name)).ok());
    }
    EXPECT_EQ(code(), "damaged_log");
}

TEST_F(DataCheck, a_damaged_record_is_found_in_an_older_segment_too) {
    overwrite(at("journal/" + segment_name(1)), 4096 + 60, "x");
    EXPECT_EQ(code(), "damaged_log");
}

TEST_F(DataCheck, a_torn_end_is_reported_and_is_not_damage) {
    const std::string newest = at("journal/" + segment_name(kMessages + 1));
    overwrite(newest, 100 << 10, "torn");
    const Result<DataReport> report = check_data_directory(posix_file_system(), directory_.path());
    ASSERT_TRUE(report.ok()) << report.error().message;
    ASSERT_TRUE(report->torn_end);
    EXPECT_EQ(report->torn_end->path, newest);
}

TEST_F(DataCheck, a_directory_in_use_or_of_something_else_is_refused) {
    EXPECT_EQ(check_data_directory(posix_file_system(), at("nowhere")).error().code, "not_found"_code);
    const auto lock = posix_file_system().lock(directory_.path());
    EXPECT_EQ(code(), "in_use");
}

TEST_F(DataCheck, a_mark_that_was_changed_is_found) {
    ASSERT_TRUE(write_mark(posix_file_system(), directory_.path(), ClockMark{"a-run", 17, true}).ok());
    EXPECT_EQ(code(), "whole");
    overwrite(at(kClockMark), 14, "x");
    EXPECT_EQ(code(), "damaged_mark");
}

TEST_F(DataCheck, without_an_index_the_log_alone_is_checked) {
    RocksRowStorage storage = storage_of(directory_.path());
    ASSERT_TRUE(storage.discard().ok());
    const Result<DataReport> report = check_data_directory(posix_file_system(), directory_.path());
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_FALSE(report->has_index);
}

}  // namespace
}  // namespace duewheel::data_check_test
