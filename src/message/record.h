// The records of the log: every kind and every field, for all kinds of message, and their one byte form.
//
// A record is self-contained: a reader that has never heard of the message can apply it, because a change holds all
// changeable fields and what stood before it. docs/storage_format.md
// draws them.
//
// Frame:   length u32 | checksum u32 | sequence u64 | kind u8 | body (length bytes)
// Body:    fields in ascending tag order: tag varint (number << 1 | is_text), then a varint or a length and bytes.
//          A field that has its default is left out, so that equal values have equal bytes: the digest counts on it.
// All integers of the frame are little-endian. The checksum covers everything after itself.
//
// A field or a kind that this version does not know is an error (`newer_format`): skipping it would lose something
// silently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "message/message.h"
#include "message/repeat_rule.h"

namespace duewheel {

// The numbers stand in the log: never change or re-use one.
enum class RecordKind : std::uint8_t {
    put = 1,               // a new message with its body
    spawn = 2,             // made by a loop, schedule or watchdog: a whole put that names its parent
    change = 3,            // any move that is not an end
    attempt = 4,           // a delivery began: the change that keeps attempt counts over crashes
    end = 5,               // done, cancelled, expired, dead
    rule = 6,              // a schedule or watchdog, set, advanced or removed
    conf = 7,              // settings of a queue, namespace or target
    cursor = 8,            // the load cursor or the cursor of a queue
    relocate = 9,          // a message written again, whole, so that the front of the log can go
    relocation_done = 10,  // everything needed before a position has been relocated
    epoch = 11,            // a process took over
    outcomes = 12,         // how many messages ended whose own records leave the log (outcome_rows.h)
};
std::string_view record_kind_name(RecordKind kind);

// What stood before a change, an attempt or an end: what a segment needs to be sealed from itself alone.
struct Previous {
    State state = State::scheduled;
    std::uint32_t version = 0;  // 0: nothing stood before
    DueMs due_ms = 0;
    std::string queue;         // the namespace never changes
    std::uint64_t term = 0;    // its share of the digest; 0 where it was dead
    DueMs nominal_due_ms = 0;  // of a message with an order key, where it was another than due_ms
    DueMs ended_ms = 0;        // where it was dead: since when

    bool operator==(const Previous&) const = default;
};

// What makes a message a loop: it is delivered to nobody, and makes an occurrence, a message of its own, whenever it is
// due. What an order key and an expiry mean, they mean to each occurrence, so the loop itself has neither.
struct Repeat {
    RepeatRule rule;
    std::string_view order_key;
    std::int64_t expires_after_ms = 0;  // an occurrence's due time; 0: never

    bool operator==(const Repeat&) const = default;
};

// How a message in a transaction is settled where its producer does not say. A check message holds the rule of the half
// that it asks for, which is its parent; its occurrence is the number of the check.
struct TransactionRule {
    std::string check_queue;    // in the half's namespace; empty: nobody is asked
    std::string check_webhook;  // reserved
    std::int64_t check_after_ms = 0;
    std::uint32_t check_times = 0;
    bool otherwise_commit = false;

    bool operator==(const TransactionRule&) const = default;
};

// What a put fixes for good. The views point into the record's bytes, or into the command that is being encoded.
struct MessageContent {
    DueMs put_ms = 0;
    std::string_view content_type;  // empty: the body came as a JSON string or as raw bytes without a type
    std::string_view headers;       // message headers, encoded by the interface that took them
    std::string_view traceparent;
    std::string_view target;  // empty: the queue's
    std::optional<Repeat> repeat;
    std::optional<TransactionRule> transaction;
    MessageId parent = 0;          // of an occurrence: its loop
    std::uint64_t occurrence = 0;  // from 1; of a schedule that was fired by hand 0
    std::string_view body;
    std::string_view schedule;  // of an occurrence of a schedule: its name, which is of the same namespace
    std::string_view watchdog;  // likewise, of a message that a watchdog made; and when that was last fed before
    DueMs fed_ms = 0;

    bool operator==(const MessageContent&) const = default;
};

// Why a change or an end happened. The numbers stand in the log.
enum class Cause : std::uint8_t {
    none = 0,
    rescheduled = 1,
    fired_now = 2,
    failed = 3,
    released = 4,
    held = 5,
    kicked = 6,
    redriven = 7,
    committed = 8,
    rolled_back = 9,
    acknowledged = 10,
    cancelled = 11,
    expired = 12,
    attempts_used_up = 13,
    purged = 14,
    skipped = 15,
    merged = 16,
    spawned = 17,
    lease_lost = 18,
    kept_long_enough = 19,
    discarded = 20,
    checked = 21,     // its producer was asked what becomes of it
    unanswered = 22,  // committed or rolled back as its transaction says, because nobody answered
};

// One record, of any kind; which members mean something depends on the kind. Members of other kinds keep their default.
struct Record {
    RecordKind kind = RecordKind::put;
    // Of a message: put, spawn, change, attempt, end, carry.
    MessageId id = 0;
    // The newest whole record (put, spawn, carry) before this one, and its size with its frame; 0 in a put and a spawn.
    Sequence log_position = 0;
    std::uint32_t record_bytes = 0;
    DueMs time_ms = 0;  // server time of the decision
    Cause cause = Cause::none;
    MessageState state;
    Previous previous;
    MessageContent content;  // put, spawn, carry
    // end, and a change that ended a lease: which lease, so that its answer can be repeated
    std::uint32_t lease_attempt = 0;
    std::uint64_t lease_incarnation = 0;
    std::int64_t lateness_ms = 0;  // end: delivery against nominal due
    std::string_view reason;       // end as dead, fail, and the carries of both
    DueMs ended_ms = 0;            // carry of an ended message

    // rule, conf: what kind of thing (1 schedule, 2 watchdog; 1 queue, 2 namespace, 3 target), its name in
    // state.name_space, and its value; an empty value removes it. conf: `place` and `record_bytes` are those of the
    // conf record before it, `previous` its revision and term; a conf that says the same again carries it. rule: as of
    // a conf, but `content` is what its messages hold, and stands in whole records alone; `place` and `record_bytes`
    // are those of the whole record before it, as of a change. For who reads the log: when it is next due, how many
    // runs it has made, and the nominal times that this record passes over.
    std::uint32_t subject = 0;
    std::string_view name;
    std::string_view value;
    DueMs next_ms = 0;
    std::uint64_t count = 0;
    std::uint64_t skipped_from = 0;
    std::uint64_t skipped_to = 0;

    // cursor: of a queue (state.name_space, state.queue) at (state.due_ms, id); of the load when the queue is empty.
    bool removed = false;  // the queue has no cursor any more

    // relocation_done: everything needed before this position now stands at or after it. outcomes: so does each outcome
    // that was kept; `value` has the rows, `count` says how many, `segment` the number of the segment they stood in.
    Sequence up_to = 0;
    std::uint64_t segment = 0;
    std::uint64_t live_count = 0;
    std::uint64_t digest = 0;

    // epoch
    std::uint64_t incarnation = 0;

    bool operator==(const Record&) const = default;
};

// Whether a `rule` record holds the content of its messages: then it is the place of its schedule or watchdog.
inline bool is_whole_rule(const Record& record) {
    return record.kind == RecordKind::rule && !record.value.empty() && record.content.put_ms != 0;
}

inline constexpr std::size_t kRecordFrameBytes = 4 + 4 + 8 + 1;
// Above any legal body with its fields; a larger length in a frame is damage.
inline constexpr std::uint32_t kRecordBodyBytesMax = 64u << 20;

// Appends the framed record to `out` and returns the frame's size in bytes. Linear in that size.
std::size_t append_record(std::string& out, Sequence sequence, const Record& record);

struct FramedRecord {
    Sequence sequence = 0;
    RecordKind kind = RecordKind::put;
    std::string_view body;
    std::size_t frame_bytes = 0;
};

// Reads the frame at the head of `bytes` and checks it; codes `torn_record` (ends inside), `bad_checksum`,
// `newer_format` (unknown kind). The body is not decoded.
Result<FramedRecord> read_frame(std::string_view bytes);

// Decodes a record's body. The views of the result point into `body`. Codes `damaged_record`, `newer_format`.
Result<Record> decode_record(RecordKind kind, std::string_view body);

// A message's share of the log's digest: a hash of its id and all changeable fields, the place left out (cleaning moves
// it). About 30 ns.
std::uint64_t digest_term(MessageId id, const MessageState& state);

// The byte form of a row, for index values: the same fields and tags as in records. `encode` appends.
void encode_row(std::string& out, const MessageRow& row);
Result<MessageRow> decode_row(std::string_view bytes);

}  // namespace duewheel
