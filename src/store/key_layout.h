// The keys and values of the index, but not the rules of their changes.
//
// A key starts with one byte for its table, and keys sort like their fields (index_bytes.h): texts by length first,
// which serves for grouping.
//
//   table        key after its byte                              value
//   c  settings  kind (1: queue, 2: namespace, 4: token),        position and size of the record, settings
//                namespace, name
//   d  due       instant, id, kind (1: fire; 2: expire)          row without id and due; of kind 2 without id, expiry
//   f  forecast  namespace, queue (empty: all of them),          how many messages become due in that
//                start of a minute                               minute: scheduled, retrying, recurring
//   q  queue     namespace, queue, instant, id                   row without id, due, namespace and queue
//   i  id        id                                              0, row without id; or
//                                                                1, ended instant, row without id and ended
//   k  key       namespace, queue, key                           ended instant, id, request hash, due instant
//   l  lease     instant at which it ends, id                    empty: the row by id has the lease
//   o  order     namespace, queue, order key, nominal due, id    row without those; due as distance from nominal
//   x  dead      namespace, queue, instant of its death, id      row without id, ended, namespace and queue
//   m  meta      p                                               position: see encode_position()
//                n, first sequence of a segment                  number of needed whole records in it
//                q, namespace, queue                             cursor of the queue: instant, id
//                u, namespace, queue                             counts of the queue's messages
//                e                                               ledger of the kept outcomes, in bytes of the log
//                h                                               ledger of the history
//   g  group     namespace, queue, group, instant, id            row without those
//   h  history  era, namespace, queue, instant, id              see store/history.h
//   s  rules     kind (1: schedule, 2: watchdog), namespace,     position and size of the whole record, its state
//                name
//   reserved     t transactions
//
// A row has the tagged form of message/records/record.h, without the fields of the key, and with the nominal due time
// as its distance from the due time, which is usually 0. `due` and `queue` contain whole rows, so that due messages are
// read with one scan and no lookup. An id value that starts with 1 is an outcome: it expires. Dead letters are rows of
// the other form: their body is still needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "message/message.h"
#include "message/queue_counts.h"
#include "message/totals.h"
#include "store/store.h"

namespace duewheel {

// An index of an older format is discarded and rebuilt.
inline constexpr std::uint32_t kIndexFormatVersion = 4;

enum class IndexTable : char {
    settings = 'c',
    due = 'd',
    forecast = 'f',
    group = 'g',
    history = 'h',
    id = 'i',
    key = 'k',
    lease = 'l',
    meta = 'm',
    order = 'o',
    queue = 'q',
    rule = 's',
    transaction = 't',
    dead = 'x',
};

// The state of the index: exactly the log up to the end of the last segment that was added.
struct IndexPosition {
    std::uint64_t segment = 0;        // its number; 0: none was added yet
    std::uint64_t first_segment = 0;  // number of the first one that was added; above 1: the front of the log was gone
    Totals totals;                    // at its end
    DueMs load_cursor_ms = 0;         // every row of `due` is at or above it
    Sequence relocated_up_to = 0;     // the greatest of all relocation-done records; 0: none
    Sequence outcomes_relocated_up_to = 0;  // likewise, of outcome records
    bool is_proven = false;  // the rows were once compared with the log's totals, since the index was started

    bool operator==(const IndexPosition&) const = default;
};

// The settings of a queue or namespace as a row holds them: the value of its newest `conf` record, and where that
// stands. Likewise a schedule or a watchdog: the value of its newest `rule` record, and where the newest whole one
// stands.
struct SettingsRow {
    Sequence log_position = 0;
    std::uint32_t record_bytes = 0;
    std::string value;

    bool operator==(const SettingsRow&) const = default;
};

// The last byte of the keys of `due`.
inline constexpr char kDueKeyFires = 1;
inline constexpr char kDueKeyExpires = 2;

// Keys; each has its bound, the smallest key that is not below it, where a scan starts or ends.
std::string due_key(DuePosition at);
std::string expire_key(DuePosition at);  // in the table `due`, at its expiry
// Whether a key of that table is one of those.
bool is_expire_key(std::string_view key);
std::string due_bound(DuePosition at);
std::string queue_key(std::string_view name_space, std::string_view queue, DuePosition at);
std::string dead_key(std::string_view name_space, std::string_view queue, DuePosition at);
std::string id_key(MessageId id);
// `at`: nominal due and id.
std::string order_row_key(std::string_view name_space, std::string_view queue, std::string_view order_key,
                          DuePosition at);
// The key of an unfinished message that has a group, and the end of all keys of that group.
std::string group_row_key(std::string_view name_space, std::string_view queue, std::string_view group, DuePosition at);
std::string group_end(std::string_view name_space, std::string_view queue, std::string_view group);
// The first key and the end of all keys of a queue by group.
std::string group_bound(std::string_view name_space, std::string_view queue, bool end);
// The first key and the end of all keys of a queue by order key.
std::string order_bound(std::string_view name_space, std::string_view queue, bool end);
std::string key_key(std::string_view name_space, std::string_view queue, std::string_view key);
// The key of a lease that outlives the process: `at` is its end, and the id of its message.
std::string lease_key(DuePosition at);
std::string position_key();
std::string needed_key(Sequence first_sequence);
std::string queue_cursor_key(std::string_view name_space, std::string_view queue);
std::string due_counts_key(std::string_view name_space, std::string_view queue, DueMs minute_ms);
std::string queue_counts_key(std::string_view name_space, std::string_view queue);
// The row of what a `conf` or a `rule` record is about.
std::string settings_key(Subject subject, std::string_view name_space, std::string_view name);
// The first key and the end of all leases, of all `needed` rows, queue cursors, counts and settings.
std::string lease_bound(bool end);
std::string needed_bound(bool end);
std::string queue_cursor_bound(bool end);
std::string queue_counts_bound(bool end);
std::string conf_bound(bool end);
std::string rule_bound(bool end);

// Values; each replaces `out`.
void encode_due_value(std::string& out, const MessageRow& row);
void encode_expire_value(std::string& out, const MessageRow& row);
void encode_order_value(std::string& out, const MessageRow& row);
void encode_queue_value(std::string& out, const MessageRow& row);
void encode_group_value(std::string& out, const MessageRow& row);
void encode_dead_value(std::string& out, const MessageRow& row);
// The outcome of an ended message that is not a dead letter.
void encode_id_value(std::string& out, const MessageRow& row);
void encode_key_value(std::string& out, const KeyHolder& holder);
void encode_position(std::string& out, const IndexPosition& position);
void encode_needed(std::string& out, std::uint64_t count);
void encode_queue_cursor(std::string& out, DuePosition at);
void encode_due_counts(std::string& out, const DueCounts& counts);
void encode_queue_counts(std::string& out, const QueueCounts& counts);
void encode_settings(std::string& out, const SettingsRow& row);

// The reverse; `damaged_index` if the bytes are not a valid encoding, `newer_format` from a later version.
// A row and its key in its table.
struct PlacedRow {
    DuePosition at;
    MessageRow row;
};
Result<PlacedRow> decode_due_row(std::string_view key, std::string_view value);
Result<PlacedRow> decode_queue_row(std::string_view key, std::string_view value);
Result<PlacedRow> decode_group_row(std::string_view key, std::string_view value);
Result<PlacedRow> decode_order_row(std::string_view key, std::string_view value);
Result<PlacedRow> decode_dead_row(std::string_view key, std::string_view value);
Result<MessageRow> decode_id_row(std::string_view key, std::string_view value);
Result<DuePosition> decode_lease_key(std::string_view key);
Result<KeyHolder> decode_key_value(std::string_view value);
Result<IndexPosition> decode_position(std::string_view value);
Result<std::uint64_t> decode_needed(std::string_view value);
Result<Sequence> decode_needed_key(std::string_view key);
Result<DuePosition> decode_queue_cursor(std::string_view value);
Result<DueCounts> decode_due_counts(std::string_view value);
Result<QueueCounts> decode_queue_counts(std::string_view value);
Result<SettingsRow> decode_settings(std::string_view value);

struct QueueOfKey {
    std::string_view name_space;
    std::string_view queue;
};
Result<QueueOfKey> decode_queue_cursor_key(std::string_view key);
Result<QueueOfKey> decode_queue_counts_key(std::string_view key);
Result<DueMs> decode_due_counts_key(std::string_view key);

struct SubjectOfKey {
    Subject subject = Subject::none;
    std::string_view name_space;
    std::string_view name;
};
Result<SubjectOfKey> decode_settings_key(std::string_view key);

// When the message of an outcome or of an idempotency key ended; 0 for every row that does not expire. Fast: it is
// called for every row during a compaction of RocksDB.
DueMs ended_ms_of_row(std::string_view key, std::string_view value);

}  // namespace duewheel
