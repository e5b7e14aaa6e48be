// The keys and values of the index, and nothing about when they change.
//
// A key begins with one byte that says which table it belongs to. Numbers are big-endian, instants have their sign bit
// turned, and each text has its length (two bytes) before it, so that the bytes of keys sort as their fields do: texts
// by length first, which is as good an order as any for grouping.
//
//   table        key after its byte                              value
//   c  settings  kind (1: queue, 2: namespace), namespace, name  place and size of the record, settings
//   d  due       instant, id, kind (1: fire; 2: expire)          row without id and due; of kind 2 without id, expiry
//   q  queue     namespace, queue, instant, id                   row without id, due, namespace and queue
//   i  id        id                                              0, row without id; or
//                                                                1, ended instant, row without id and ended
//   k  key       namespace, queue, key                           ended instant, id, request hash, due instant
//   o  order     namespace, queue, order key, nominal due, id    row without those; due as distance from nominal
//   x  dead      namespace, queue, instant of its death, id      row without id, ended, namespace and queue
//   m  meta      p                                               position: see encode_position()
//                n, first sequence of a segment                  how many whole records in it are needed
//                q, namespace, queue                             cursor of the queue: instant, id
//                u, namespace, queue                             counts of the queue's messages
//                e                                               ledger of the kept outcomes, in bytes of the log
//                h                                               ledger of the history
//   h  history  era, namespace, queue, instant, id              see store/history.h
//   s  rules     kind (1: schedule, 2: watchdog), namespace,     place and size of the whole record, its state
//                name
//   reserved     t transactions
//
// A row has the tagged form of message/record.h, with what the key says left out, and the nominal due as its distance
// from due, which is 0 for most. `due` and `queue` hold whole rows, so that a message that falls due is read with one
// walk and no look-up. An id value that begins with 1 is an outcome: it expires. Dead messages are rows of the other
// form: their body stays needed.
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

// An index of an older format is thrown away and built again.
inline constexpr std::uint32_t kIndexFormatVersion = 3;

enum class IndexTable : char {
    settings = 'c',
    due = 'd',
    history = 'h',
    id = 'i',
    key = 'k',
    meta = 'm',
    order = 'o',
    queue = 'q',
    rule = 's',
    transaction = 't',
    dead = 'x',
};

// What the index adds up to: exactly the log up to the end of the last segment that was taken in.
struct IndexPosition {
    std::uint64_t segment = 0;        // its number; 0: nothing was taken in yet
    std::uint64_t first_segment = 0;  // number of the first one that was taken in; above 1: the log's front was gone
    Totals totals;                    // at its end
    DueMs load_cursor_ms = 0;         // every row of `due` lies at or above it
    Sequence relocated_up_to = 0;     // the greatest that a relocation-done record said; 0: there was none
    Sequence outcomes_relocated_up_to = 0;  // likewise, of a record of outcomes
    bool is_proven = false;  // the rows were once compared with the log's totals, since the index was begun

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

// Keys; each has its bound, the least key that is not below it, where a walk begins or ends.
std::string due_key(DuePosition at);
std::string expire_key(DuePosition at);  // in the table of what is due, at its expiry
// Of a key of that table: whether it is one of those.
bool is_expire_key(std::string_view key);
std::string due_bound(DuePosition at);
std::string queue_key(std::string_view name_space, std::string_view queue, DuePosition at);
std::string dead_key(std::string_view name_space, std::string_view queue, DuePosition at);
std::string id_key(MessageId id);
// `at`: nominal due and id.
std::string order_row_key(std::string_view name_space, std::string_view queue, std::string_view order_key,
                          DuePosition at);
// The first and the first-after-last key of all of a queue.
std::string order_bound(std::string_view name_space, std::string_view queue, bool end);
std::string key_key(std::string_view name_space, std::string_view queue, std::string_view key);
std::string position_key();
std::string needed_key(Sequence first_sequence);
std::string queue_cursor_key(std::string_view name_space, std::string_view queue);
std::string queue_counts_key(std::string_view name_space, std::string_view queue);
// `subject` is that of their `conf` records; of a namespace `name` is its own.
std::string settings_key(std::uint32_t subject, std::string_view name_space, std::string_view name);
// The first and the first-after-last key of all `needed` rows, of all queue cursors, counts and settings.
std::string needed_bound(bool end);
std::string queue_cursor_bound(bool end);
std::string queue_counts_bound(bool end);
std::string settings_bound(bool end);
// Of schedules and watchdogs, whose rows have the form of settings; `subject` is that of their `rule` records.
std::string rule_key(std::uint32_t subject, std::string_view name_space, std::string_view name);
std::string rule_bound(bool end);

// Values; each replaces `out`.
void encode_due_value(std::string& out, const MessageRow& row);
void encode_expire_value(std::string& out, const MessageRow& row);
void encode_order_value(std::string& out, const MessageRow& row);
void encode_queue_value(std::string& out, const MessageRow& row);
void encode_dead_value(std::string& out, const MessageRow& row);
// Of an ended message that is not dead: an outcome.
void encode_id_value(std::string& out, const MessageRow& row);
void encode_key_value(std::string& out, const KeyHolder& holder);
void encode_position(std::string& out, const IndexPosition& position);
void encode_needed(std::string& out, std::uint64_t count);
void encode_queue_cursor(std::string& out, DuePosition at);
void encode_queue_counts(std::string& out, const QueueCounts& counts);
void encode_settings(std::string& out, const SettingsRow& row);

// The other way; `damaged_index` where the bytes are not what was encoded, `newer_format` from a later version.
// A row and where it stands in its table.
struct PlacedRow {
    DuePosition at;
    MessageRow row;
};
Result<PlacedRow> decode_due_row(std::string_view key, std::string_view value);
Result<PlacedRow> decode_queue_row(std::string_view key, std::string_view value);
Result<PlacedRow> decode_order_row(std::string_view key, std::string_view value);
Result<PlacedRow> decode_dead_row(std::string_view key, std::string_view value);
Result<MessageRow> decode_id_row(std::string_view key, std::string_view value);
Result<KeyHolder> decode_key_value(std::string_view value);
Result<IndexPosition> decode_position(std::string_view value);
Result<std::uint64_t> decode_needed(std::string_view value);
Result<Sequence> decode_needed_key(std::string_view key);
Result<DuePosition> decode_queue_cursor(std::string_view value);
Result<QueueCounts> decode_queue_counts(std::string_view value);
Result<SettingsRow> decode_settings(std::string_view value);

struct QueueOfKey {
    std::string_view name_space;
    std::string_view queue;
};
Result<QueueOfKey> decode_queue_cursor_key(std::string_view key);
Result<QueueOfKey> decode_queue_counts_key(std::string_view key);

struct RuleOfKey {
    std::uint32_t subject = 0;
    std::string_view name_space;
    std::string_view name;
};
Result<RuleOfKey> decode_settings_key(std::string_view key);
Result<RuleOfKey> decode_rule_key(std::string_view key);

// When the message of an outcome or of an idempotency key ended; 0 for every row that time does not remove. Quick: it
// is asked for every row that is compacted.
DueMs ended_ms_of_row(std::string_view key, std::string_view value);

}  // namespace duewheel
