#include "store/index_recovery.h"

#include <fstream>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "store/rocks_rows.h"
#include "store/trial_moves.h"
#include "support/memory_rows.h"
#include "support/temporary_directory.h"

namespace duewheel::index_recovery_test {
namespace {

constexpr DueMs kNow = TrialShard::kStart;

class IndexRecovery : public testing::Test {
  protected:
    // Three full segments of one message each, and a fourth that is being written.
    static void fill(TrialShard& shard, const std::string& queue) {
        for (int segment = 0; segment < 3; ++segment) {
            shard.put(queue, kNow + 500);
            shard.close_segment();
        }
        shard.put(queue, kNow + 500);
        shard.commit(kNow);
    }
    OpenedIndex open(const TrialShard& shard) {
        auto opened = open_index(storage_, retention_, shard.catalog());
        EXPECT_TRUE(opened.ok()) << opened.error().message;
        return *std::move(opened);
    }
    void build(const TrialShard& shard) {
        const OpenedIndex opened = open(shard);
        ASSERT_TRUE(seal_missing(shard.catalog(), *opened.index).ok());
    }
    static std::size_t due_count(const Index& index) { return index.scan_due({}, INT64_MAX, 1000)->rows.size(); }

    Retention retention_;
    MemoryRowStorage storage_;
};

TEST_F(IndexRecovery, a_missing_index_is_built_from_the_log) {
    TrialShard shard;
    fill(shard, "mail");
    const OpenedIndex opened = open(shard);
    EXPECT_FALSE(opened.discarded);
    ASSERT_TRUE(seal_missing(shard.catalog(), *opened.index).ok());
    EXPECT_EQ(opened.index->position().segment, 3u);
    EXPECT_EQ(due_count(*opened.index), 3u);
}

TEST_F(IndexRecovery, an_index_is_kept_and_continued) {
    TrialShard shard;
    fill(shard, "mail");
    build(shard);
    shard.close_segment();
    const OpenedIndex second = open(shard);
    EXPECT_FALSE(second.discarded);
    EXPECT_EQ(second.index->position().segment, 3u);
    ASSERT_TRUE(seal_missing(shard.catalog(), *second.index).ok());
    EXPECT_EQ(second.index->position().segment, 4u);
    const OpenedIndex at_the_end = open(shard);
    EXPECT_FALSE(at_the_end.discarded) << "the index may hold all there is";
}

TEST_F(IndexRecovery, an_index_older_than_the_logs_front_is_built_again) {
    TrialShard shard;
    shard.put("mail", kNow + 500);
    shard.close_segment();
    build(shard);
    fill(shard, "mail");
    shard.drop_before(3);
    const OpenedIndex opened = open(shard);
    ASSERT_TRUE(opened.discarded);
    EXPECT_EQ(opened.index->position(), IndexPosition{});
    EXPECT_EQ(storage_.row_count(), 0u);
    ASSERT_TRUE(seal_missing(shard.catalog(), *opened.index).ok());
    EXPECT_EQ(due_count(*opened.index), 2u);
}

TEST_F(IndexRecovery, an_index_of_another_log_is_built_again) {
    {
        TrialShard other;
        fill(other, "another queue");
        build(other);
    }
    TrialShard shard;
    fill(shard, "mail");
    const OpenedIndex opened = open(shard);
    EXPECT_TRUE(opened.discarded);
    EXPECT_EQ(storage_.row_count(), 0u);
}

TEST_F(IndexRecovery, an_index_beyond_the_logs_end_is_damage_and_stays_untouched) {
    {
        TrialShard longer;
        fill(longer, "mail");
        build(longer);
    }
    TrialShard shorter;
    shorter.put("mail", kNow + 500);
    shorter.close_segment();
    const std::size_t rows = storage_.row_count();
    const auto opened = open_index(storage_, retention_, shorter.catalog());
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, "damaged_log"_code);
    EXPECT_EQ(storage_.row_count(), rows);
}

TEST_F(IndexRecovery, an_index_of_a_newer_format_is_refused_untouched) {
    TrialShard shard;
    fill(shard, "mail");
    {
        auto rows = *storage_.open();
        auto table = rows->build_table();
        std::string value;
        encode_position(value, {});
        value[3] = 9;
        table->put(position_key(), value);
        ASSERT_TRUE(table->take_in().ok());
    }
    const auto opened = open_index(storage_, retention_, shard.catalog());
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, "newer_format"_code);
    EXPECT_EQ(storage_.row_count(), 1u);
}

TEST_F(IndexRecovery, sealing_continues_after_the_disk_was_full) {
    TrialShard shard;
    fill(shard, "mail");
    const OpenedIndex opened = open(shard);
    ASSERT_TRUE(seal_missing(shard.catalog(), *opened.index).ok());
    for (int segment = 0; segment < 2; ++segment) {
        shard.put("mail", kNow + 500);
        shard.close_segment();
    }
    storage_.refuse_tables(1);
    EXPECT_EQ(seal_missing(shard.catalog(), *opened.index).error().code, "no_space"_code);
    ASSERT_TRUE(seal_missing(shard.catalog(), *opened.index).ok());
    EXPECT_EQ(opened.index->position().segment, 5u);
}

TEST_F(IndexRecovery, a_damaged_index_on_disk_is_discarded_and_rebuilt) {
    TrialShard shard;
    fill(shard, "mail");
    TemporaryDirectory directory;
    RocksRowStorage storage(posix_file_system(), directory.at("index"), [](auto, auto) { return false; });
    {
        const auto first = open_index(storage, retention_, shard.catalog());
        ASSERT_TRUE(first.ok());
        ASSERT_TRUE(seal_missing(shard.catalog(), *first->index).ok());
    }
    for (const std::string& name : *posix_file_system().list(directory.at("index"))) {
        if (name.starts_with("MANIFEST")) std::ofstream(directory.at("index/" + name)) << "not a manifest";
    }
    const auto opened = open_index(storage, retention_, shard.catalog());
    ASSERT_TRUE(opened.ok());
    ASSERT_TRUE(opened->discarded);
    ASSERT_TRUE(seal_missing(shard.catalog(), *opened->index).ok());
    EXPECT_EQ(due_count(*opened->index), 3u);
}

TEST_F(IndexRecovery, expired_rows_leave_the_disk_with_a_compaction) {
    TrialShard shard;
    const MessageId ended = shard.put(TrialShard::state_of("mail", kNow + 500, "order-1"));
    shard.end(ended);
    const MessageId dead = shard.put("mail", kNow + 500);
    shard.end(dead, State::dead);
    shard.close_segment();
    TemporaryDirectory directory;
    RocksRowStorage storage(posix_file_system(), directory.at("index"),
                            [this](auto key, auto value) { return has_row_expired(retention_, key, value); });
    const auto opened = open_index(storage, retention_, shard.catalog());
    ASSERT_TRUE(opened.ok());
    ASSERT_TRUE(seal_missing(shard.catalog(), *opened->index).ok());
    retention_.set_now(kNow + Retention::kDefaultKeepMs);
    ASSERT_TRUE(compact_rows(opened->index->rows()).ok());
    EXPECT_EQ(all_rows(opened->index->rows()).size(), 11u) << "two ids, a key, a dead one, a count, the counts of the "
                                                              "queue, the position, the ledger of outcomes, and the "
                                                              "history of both with its ledger";
    retention_.set_now(kNow + Retention::kDefaultKeepMs + 1);
    ASSERT_TRUE(compact_rows(opened->index->rows()).ok());
    EXPECT_EQ(all_rows(opened->index->rows()).size(), 9u);
    EXPECT_TRUE(opened->index->find(dead, 0)->has_value());
}

}  // namespace
}  // namespace duewheel::index_recovery_test
