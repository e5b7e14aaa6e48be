// What the sealed part of the log adds up to: rows by id, by key, in due order and in each queue's order, and how far
// it has come. It is built from full segments only, one table for each, and can be thrown away and built again.
//
// It knows what was true at the end of its last segment. What is newer stands in the recent tier, which wins.
//
// Any number of readers beside one thread that takes tables in; each answer is of one moment, before or after a table.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "store/key_layout.h"
#include "store/retention.h"
#include "store/segment_table.h"
#include "store/sorted_rows.h"
#include "store/store.h"

namespace duewheel {

class Index {
  public:
    struct QueueCursor {
        QueueName queue;
        DuePosition position;

        bool operator==(const QueueCursor&) const = default;
    };
    struct Counts {
        QueueName queue;
        QueueCounts counts;
    };
    struct Settings {
        QueueName queue;  // of a schedule or a watchdog: its namespace and its name
        SettingsRow row;
        RecordKind kind = RecordKind::conf;  // or `rule`
        std::uint32_t subject = 0;           // of those records
    };

    // Codes: `damaged_index` (discard the storage and build it again), `newer_format`, `no_space`, `io_error`. The
    // arguments outlive the index.
    static Result<std::unique_ptr<Index>> open(RowStorage& storage, const Retention& retention);

    // In memory.
    IndexPosition position() const;
    const Retention& retention() const { return retention_; }

    // Nothing where the id is unknown, or ended longer ago than outcomes are kept. `now_ms` 0: whatever is there.
    Result<std::optional<MessageRow>> find(MessageId id, DueMs now_ms) const;
    Result<std::optional<KeyHolder>> find_key(std::string_view name_space, std::string_view queue, std::string_view key,
                                              DueMs now_ms) const;
    // As asked for by ScanDue, ScanQueue and ScanOrder (store.h); `limit` is above 0.
    Result<Stretch> scan_due(DuePosition from, DueMs until_ms, std::uint32_t limit) const;
    Result<Stretch> scan_queue(std::string_view name_space, std::string_view queue, DuePosition from, DueMs until_ms,
                               std::uint32_t limit) const;
    Result<Stretch> scan_order(std::string_view name_space, std::string_view queue, std::string_view order_key,
                               DuePosition from, std::uint32_t limit) const;

    // Unfinished messages of a queue that have an order key, grouped by it, then by (nominal due, id): at most `limit`
    // behind the row whose key is `after`, which is then that of the last; empty: from the first on.
    Result<std::vector<MessageRow>> scan_orders(std::string_view name_space, std::string_view queue,
                                                std::uint32_t limit, std::string& after) const;

    Result<ListedRows> list_queue(const ListQueue& list) const;
    // As asked for by CountSeconds (store.h).
    Result<SecondCounts> count_seconds(const CountSeconds& wanted) const;
    // index_forecast.cc
    Result<DueRows> list_due(const ListDue& list) const;
    // Dead messages that died at or after `from` and before `until_ms`, by (time of death, id), at most `limit`.
    Result<Stretch> scan_dead(std::string_view name_space, std::string_view queue, DuePosition from, DueMs until_ms,
                              std::uint32_t limit) const;
    // `now_ms` as for find().
    Result<HistoryRows> list_history(const ListHistory& list, DueMs now_ms) const;
    Result<EraLedger> history_ledger() const;
    Result<EraLedger> outcome_ledger() const;
    // What the records of outcomes that are kept take in the log, as of the newest table; those that were relocated by
    // an index before this one are left out. In memory.
    std::uint64_t outcome_bytes() const;

    Result<std::optional<DuePosition>> queue_cursor(std::string_view name_space, std::string_view queue) const;
    Result<std::vector<QueueCursor>> queue_cursors() const;
    // Nothing of a queue that is not known is counted.
    Result<QueueCounts> queue_counts(std::string_view name_space, std::string_view queue) const;
    Result<std::vector<Counts>> queue_counts() const;
    Result<std::optional<SettingsRow>> settings(std::uint32_t subject, std::string_view name_space,
                                                std::string_view name) const;
    Result<std::vector<Settings>> settings() const;
    // Of schedules and watchdogs; `subject` is that of their records.
    Result<std::optional<SettingsRow>> rule(std::uint32_t subject, std::string_view name_space,
                                            std::string_view name) const;
    Result<std::vector<Settings>> rules() const;
    // Both: all that needs a record of the log and is no message.
    Result<std::vector<Settings>> settings_and_rules() const;
    // Segments (by first sequence) that hold whole records or settings which are needed, and how many.
    Result<std::map<Sequence, std::uint64_t>> needed_counts() const;

    // All of it, durably, or nothing. Code `no_space` may be tried again with the same table.
    Status take_in(const SegmentTable& table);
    // Notes that the rows were compared with the log's totals: they need not be again while this index lasts, because
    // whatever is taken in from now on goes on from there. Code `no_space` as above.
    Status mark_proven();

    std::uint64_t bytes() const { return rows_->bytes(); }
    SortedRows& rows() const { return *rows_; }

  private:
    Index(std::unique_ptr<SortedRows> rows, const Retention& retention)
        : rows_(std::move(rows)), retention_(retention) {}

    Result<EraLedger> ledger(const std::string& key) const;
    Result<SecondCounts> walk_seconds(const CountSeconds& wanted) const;

    const std::unique_ptr<SortedRows> rows_;
    const Retention& retention_;
    mutable std::mutex mutex_;
    IndexPosition position_;           // guarded by mutex_
    std::uint64_t outcome_bytes_ = 0;  // likewise
};

// For the storage on disk: whether a row has expired at the time that the retention was told last.
bool has_row_expired(const Retention& retention, std::string_view key, std::string_view value);

}  // namespace duewheel
