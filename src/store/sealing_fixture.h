// For the tests of sealing: a log that is written record by record, and the index that its segments are sealed into.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/index_recovery.h"
#include "store/trial_shard.h"
#include "support/memory_rows.h"

namespace duewheel {

inline constexpr DueMs kNow = TrialShard::kStart;
inline constexpr DueMs kNever = INT64_MAX;

class Sealing : public testing::Test {
  protected:
    Sealing() { reopen(); }

    void reopen() {
        index_.reset();
        auto opened = Index::open(storage_, retention_);
        EXPECT_TRUE(opened.ok());
        index_ = *std::move(opened);
    }
    // Closes the segment that is being written and seals it.
    void seal() {
        shard_.close_segment();
        const Status sealed = seal_missing(shard_.catalog(), *index_);
        ASSERT_TRUE(sealed.ok()) << sealed.error().message;
        reopen();  // nothing may hang on memory
    }

    std::vector<MessageId> due_ids(DueMs from_ms = 0) { return ids(index_->scan_due({from_ms, 0}, kNever, 1000)); }
    std::vector<MessageId> queue_ids(const std::string& queue) {
        return ids(index_->scan_queue("default", queue, {}, kNever, 1000));
    }
    std::vector<MessageId> dead_ids(const std::string& queue) {
        return ids(index_->scan_dead("default", queue, {}, kNever, 1000));
    }
    std::optional<MessageRow> find(MessageId id, DueMs now_ms = 0) {
        auto found = index_->find(id, now_ms);
        EXPECT_TRUE(found.ok());
        return *std::move(found);
    }
    std::optional<KeyHolder> find_key(const std::string& queue, const std::string& key, DueMs now_ms = 0) {
        auto found = index_->find_key("default", queue, key, now_ms);
        EXPECT_TRUE(found.ok());
        return *found;
    }
    std::optional<DuePosition> cursor(const std::string& queue) {
        auto found = index_->queue_cursor("default", queue);
        EXPECT_TRUE(found.ok());
        return *found;
    }
    // {start of a minute: messages that become due in it for the first time}, after kNow.
    std::map<DueMs, std::uint32_t> scheduled(const std::string& queue) {
        const auto due = index_->count_due({"default", queue, kNow / DueMinute::kMs * DueMinute::kMs, kNever, 1000});
        EXPECT_TRUE(due.ok() && !due->next);
        EXPECT_EQ(due->segment, index_->position().segment);
        std::map<DueMs, std::uint32_t> scheduled;
        for (DueMinutes::Row row : due->rows) scheduled[row.start_ms] = row.counts.of(FallsDue::scheduled);
        return scheduled;
    }
    // How many records of the nth segment are needed.
    std::uint64_t needed(std::size_t segment) {
        const auto counts = index_->needed_counts();
        EXPECT_TRUE(counts.ok());
        const auto found = counts->find(shard_.catalog().list().at(segment - 1).first_sequence);
        return found == counts->end() ? 0 : found->second;
    }

    TrialShard shard_;
    Retention retention_;
    MemoryRowStorage storage_;
    std::unique_ptr<Index> index_;

  private:
    static std::vector<MessageId> ids(const Result<Stretch>& stretch) {
        EXPECT_TRUE(stretch.ok());
        std::vector<MessageId> ids;
        for (const MessageRow& row : stretch->rows) ids.push_back(row.id);
        return ids;
    }
};

using Ids = std::vector<MessageId>;

}  // namespace duewheel
