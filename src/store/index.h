// The state of the sealed part of the log: rows by id, by key, in due order and in the order of each queue, and its
// position. It is built from full segments only, one table for each, and can be discarded and rebuilt.
//
// It has the state at the end of its last segment. Newer changes are in the recent tier, which wins.
//
// Any number of readers beside one thread that adds tables; each result is of one moment, before or after a table.
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
#include "store/maintenance/retention.h"
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
        QueueName queue;  // of another subject: its namespace and its name
        SettingsRow row;
        Subject subject = Subject::none;
    };

    // Codes: `damaged_index` (discard the storage and build it again), `newer_format`, `no_space`, `io_error`. The
    // arguments outlive the index.
    static Result<std::unique_ptr<Index>> open(RowStorage& storage, const Retention& retention);

    // In memory.
    IndexPosition position() const;
    const Retention& retention() const { return retention_; }

    // Nothing if the id is unknown, or ended longer ago than outcomes are kept. `now_ms` 0: regardless of time.
    Result<std::optional<MessageRow>> find(MessageId id, DueMs now_ms) const;
    Result<std::optional<KeyHolder>> find_key(std::string_view name_space, std::string_view queue, std::string_view key,
                                              DueMs now_ms) const;
    // The ends and messages of leases that outlive the process, as of their newest sealed records, in the order of
    // their ends. A lease that has no row in `id` with the same end is over: an earlier version may have sealed that.
    Result<std::vector<DuePosition>> leases() const;
    // As specified by ScanDue, ScanQueue and ScanOrder (store.h); `limit` is above 0.
    Result<Stretch> scan_due(DuePosition from, DueMs until_ms, std::uint32_t limit) const;
    Result<Stretch> scan_queue(std::string_view name_space, std::string_view queue, DuePosition from, DueMs until_ms,
                               std::uint32_t limit) const;
    Result<Stretch> scan_order(std::string_view name_space, std::string_view queue, std::string_view order_key,
                               DuePosition from, std::uint32_t limit) const;

    // As specified by ScanGroup and ScanGroups (store.h).
    Result<Stretch> scan_group(const ScanGroup& scan) const;
    Result<GroupStarts> scan_groups(const ScanGroups& scan) const;

    // Unfinished messages of a queue with an order key, grouped by it, then by (nominal due, id): at most `limit` after
    // the row with the key `after`, which is then set to the last one; empty: from the first.
    Result<std::vector<MessageRow>> scan_orders(std::string_view name_space, std::string_view queue,
                                                std::uint32_t limit, std::string& after) const;

    Result<ListedRows> list_queue(const ListQueue& list) const;
    // index_forecast.cc
    Result<DueRows> list_due(const ListDue& list) const;
    Result<DueMinutes> count_due(const CountDue& count) const;
    Result<DueCounts> due_counts(std::string_view name_space, std::string_view queue, DueMs minute_ms) const;
    // Messages that became dead letters from `from` to before `until_ms`, by (time of death, id), at most `limit`.
    Result<Stretch> scan_dead(std::string_view name_space, std::string_view queue, DuePosition from, DueMs until_ms,
                              std::uint32_t limit) const;
    // `now_ms` as for find().
    Result<HistoryRows> list_history(const ListHistory& list, DueMs now_ms) const;
    Result<EraLedger> history_ledger() const;
    Result<EraLedger> outcome_ledger() const;
    // The size in the log of the outcome records that are kept, as of the newest table; without those that were
    // relocated by an earlier index. In memory.
    std::uint64_t outcome_bytes() const;

    Result<std::optional<DuePosition>> queue_cursor(std::string_view name_space, std::string_view queue) const;
    Result<std::vector<QueueCursor>> queue_cursors() const;
    // For an unknown queue the counts are 0.
    Result<QueueCounts> queue_counts(std::string_view name_space, std::string_view queue) const;
    Result<std::vector<Counts>> queue_counts() const;
    // Everything that needs a record of the log and is not a message.
    Result<std::optional<SettingsRow>> settings(Subject subject, std::string_view name_space,
                                                std::string_view name) const;
    Result<std::vector<Settings>> settings() const;
    // Those of schedules and watchdogs.
    Result<std::vector<Settings>> rules() const;
    // Segments (by first sequence) with whole records or settings that are needed, and their number.
    Result<std::map<Sequence, std::uint64_t>> needed_counts() const;

    // All of it, durably, or nothing. After the code `no_space` the same table may be tried again.
    Status take_in(const SegmentTable& table);
    // Records that the rows were compared with the log's totals. This holds as long as this index exists, because every
    // later table continues from there. Code `no_space` as above.
    Status mark_proven();

    std::uint64_t bytes() const { return rows_->bytes(); }
    SortedRows& rows() const { return *rows_; }

  private:
    Index(std::unique_ptr<SortedRows> rows, const Retention& retention)
        : rows_(std::move(rows)), retention_(retention) {}

    Result<EraLedger> ledger(const std::string& key) const;

    const std::unique_ptr<SortedRows> rows_;
    const Retention& retention_;
    mutable std::mutex mutex_;
    IndexPosition position_;           // guarded by mutex_
    std::uint64_t outcome_bytes_ = 0;  // likewise
};

// For the storage on disk: whether a row has expired, by the time last set in the retention.
bool has_row_expired(const Retention& retention, std::string_view key, std::string_view value);

}  // namespace duewheel
