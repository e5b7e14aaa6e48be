// Reading the files of a running shard: the log view of an export.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "server/node/trial_owner.h"
#include "shared/random.h"
#include "store/log_view.h"
#include "store/maintenance/backup.h"
#include "support/memory_rows.h"
#include "support/recording_log.h"
#include "support/sim_disk.h"

namespace duewheel::shard_view_test {
namespace {

constexpr const char* kData = "/data";
constexpr std::int64_t kHour = 3600 * 1000;

class ShardView : public testing::Test {
  protected:
    ShardView() {
        owner.cleans = true;
        EXPECT_TRUE(owner.open(rows).ok());
        owner.settle();
    }
    Result<std::unique_ptr<LogView>> view(const std::string& directory = kData) {
        return LogView::open(disk, directory, scratch);
    }
    std::string code_of(const std::string& directory = kData) {
        const Result<std::unique_ptr<LogView>> opened = view(directory);
        return opened ? "open" : std::string(name_of(opened.error().code));
    }
    // One of the oldest segments but the front's, and its path.
    std::string old_segment() { return owner.parts().journal().catalog().snapshot().at(1)->path(); }

    SimDisk disk;
    MemoryRowStorage rows;
    MemoryRowStorage scratch;
    RecordingLog log;
    TrialOwner owner{disk, kData, log};
};

TEST_F(ShardView, contains_each_message_as_confirmed) {
    Random random(7);
    std::map<MessageId, bool> is_waiting;
    for (int round = 0; round < 30; ++round) {
        for (int i = 0; i < 30; ++i) {
            is_waiting[owner.put(kHour + static_cast<std::int64_t>(random.below(kHour)), std::string(200, 'x'))] = true;
        }
        for (auto& [id, waits] : is_waiting) {
            if (!waits || !random.chance(400'000)) continue;
            owner.ask<ChangeAnswer>(CancelCommand{"default", id});
            waits = false;
        }
        const auto opened = view();
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        ASSERT_EQ((*opened)->totals().live_count, owner.engine().totals().live_count);
        ASSERT_EQ((*opened)->totals().digest, owner.engine().totals().digest);
        for (const auto& [id, waits] : is_waiting) {
            const Result<std::optional<MessageRow>> row = (*opened)->index().find(id, 0);
            ASSERT_TRUE(row.ok());
            ASSERT_EQ(*row && (*row)->state.state == State::scheduled, waits) << "message " << id;
            if (!waits) continue;
            ASSERT_TRUE((*opened)->segments().read_records({&(*row)->log_position, 1}).ok());
        }
    }
    EXPECT_GT(owner.parts().journal().first_sequence(), 1u) << "cleaning has dropped nothing";
}

// The shard goes on between any two of its reads: it puts, rolls, seals and cleans, and its front moves.
TEST_F(ShardView, is_consistent_on_a_busy_shard) {
    Random random(11);
    std::vector<MessageId> ids;
    std::uint64_t moved = 0;
    const auto go_on = [&] {
        ids.push_back(owner.put(kHour, std::string(1 + random.below(900), 'x')));
        if (ids.size() < 40) return;
        const std::size_t index = random.below(ids.size());
        owner.ask<ChangeAnswer>(CancelCommand{"default", ids[index]});
    };
    for (int i = 0; i < 200; ++i) go_on();
    for (int round = 0; round < 40; ++round) {
        const std::uint64_t sequence = owner.engine().totals().sequence;
        bool is_inside = false;
        disk.set_hook([&](DiskOperation, std::string_view) {
            if (is_inside) return;
            is_inside = true;
            const Sequence front = owner.parts().journal().first_sequence();
            while (random.chance(200'000)) go_on();
            moved += owner.parts().journal().first_sequence() != front;
            is_inside = false;
        });
        const auto opened = view();  // proves itself
        disk.set_hook({});
        ASSERT_TRUE(opened.ok()) << "round " << round << ": " << opened.error().message;
        ASSERT_GE((*opened)->totals().sequence, sequence);
    }
    EXPECT_GT(moved, 20u) << "the front did not move in this test";
}

TEST_F(ShardView, changes_nothing_in_the_directory) {
    for (int i = 0; i < 100; ++i) owner.put(kHour, std::string(300, 'x'));
    const std::uint64_t writes = disk.count(DiskOperation::write);
    ASSERT_EQ(code_of(), "open");
    EXPECT_EQ(disk.count(DiskOperation::write), writes);
}

TEST_F(ShardView, of_an_empty_log_has_nothing) {
    owner.close();
    const auto opened = view();
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_EQ((*opened)->totals().live_count, 0u);
}

TEST_F(ShardView, of_a_damaged_byte_or_a_missing_segment_is_refused) {
    for (int i = 0; i < 300; ++i) owner.put(kHour, std::string(300, 'x'));
    ASSERT_EQ(code_of(), "open");
    disk.flip(old_segment(), kSegmentHeaderBytes + 100);
    EXPECT_EQ(code_of(), "damaged_log");
    disk.flip(old_segment(), kSegmentHeaderBytes + 100);
    ASSERT_EQ(code_of(), "open");
    const std::string gone = old_segment();
    owner.close();
    ASSERT_TRUE(disk.remove(gone).ok());
    EXPECT_EQ(code_of(), "damaged_log");
}

TEST_F(ShardView, of_a_backup_equals_the_original_and_of_a_partial_restore_is_refused) {
    for (int i = 0; i < 100; ++i) owner.put(kHour, std::string(300, 'x'));
    ASSERT_TRUE(make_backup(disk, kData, "/backup").ok());
    const auto opened = view("/backup");
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_EQ((*opened)->totals().digest, owner.engine().totals().digest);
    ASSERT_TRUE(write_restoring_mark(disk, "/backup").ok());
    EXPECT_EQ(code_of("/backup"), "not_a_data_directory");
    EXPECT_EQ(code_of("/nowhere"), "not_found");
}

}  // namespace
}  // namespace duewheel::shard_view_test
