// The records of the log: a type for those of messages and one for each other kind, and their only byte form.
//
// A record is self-contained: a reader can apply it without knowing the message, because a change contains all
// changeable fields and the previous state. docs/storage_format.md has drawings.
//
// Frame:   length u32 | checksum u32 | sequence u64 | kind u8 | body (length bytes)
// Body:    fields in ascending tag order: tag varint (number << 1 | is_text), then a varint or a length and bytes.
//         A field with its default is omitted, so that equal values have equal bytes, as the digest requires.
// All integers of the frame are little-endian. The checksum covers everything after itself.
//
// A field or a kind that this version does not know is an error (`newer_format`): skipping it could silently lose
// something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/boxed.h"
#include "base/status.h"
#include "message/message.h"
#include "message/records/content.h"
#include "message/records/subject.h"
#include "message/repeat_rule.h"

namespace duewheel {

// The numbers are part of the log format: never change or reuse one.
enum class RecordKind : std::uint8_t {
    put = 1,               // a new message with its body
    spawn = 2,             // created by a recurring message, schedule or watchdog: a whole put with its parent
    change = 3,            // any change of state that is not an end
    attempt = 4,           // a delivery started: the change that preserves attempt counts across crashes
    end = 5,               // done, cancelled, expired, dead
    rule = 6,              // a schedule or watchdog was set, advanced or removed
    conf = 7,              // settings of a queue, namespace or target
    cursor = 8,            // the load cursor or the cursor of a queue
    relocate = 9,          // a message written again, whole, so that the front of the log can be deleted
    relocation_done = 10,  // everything needed before a position has been relocated
    epoch = 11,            // a process started
    outcomes = 12,         // outcomes of messages whose own records leave the log (outcome_rows.h)
    replace = 13,          // an unfinished message gets other content, and with it any other members
};
// A whole record of a message contains its content.
constexpr bool is_whole(RecordKind kind) {
    return kind == RecordKind::put || kind == RecordKind::spawn || kind == RecordKind::relocate ||
           kind == RecordKind::replace;
}
constexpr bool is_new(RecordKind kind) {
    return kind == RecordKind::put || kind == RecordKind::spawn;
}
// An attempt or a relocation does not change the state of a message.
constexpr bool changes_state(RecordKind kind) {
    return is_new(kind) || kind == RecordKind::change || kind == RecordKind::end || kind == RecordKind::replace;
}
// A record that has the state of one message.
constexpr bool is_of_message(RecordKind kind) {
    return is_whole(kind) || kind == RecordKind::change || kind == RecordKind::attempt || kind == RecordKind::end;
}

// Where the index has a message by its expiry, its order key and its group, before a record that changes one of them.
struct PreviousRows {
    bool is_given = false;  // otherwise all are as in the record
    DueMs expires_ms = 0;
    std::string order_key;
    std::string group;

    bool operator==(const PreviousRows&) const = default;
};

// The state before a change, an attempt, an end or a replacement: all that a segment needs to be sealed by itself.
struct Previous {
    State state = State::scheduled;
    std::uint32_t version = 0;  // 0: there was no message
    DueMs due_ms = 0;
    std::string queue;         // the namespace never changes
    std::uint64_t term = 0;    // its part of the digest; 0 if it was a dead letter
    DueMs nominal_due_ms = 0;  // of a message with an order key, if it differs from due_ms
    DueMs ended_ms = 0;        // if it was a dead letter: since when
    Boxed<PreviousRows> rows{};

    bool operator==(const Previous&) const = default;
};

// Makes a message recurring: it is never delivered itself, and creates an occurrence, a message of its own, whenever it
// is due. Order key and expiry apply to each occurrence; the recurring message itself has neither.
struct Repeat {
    RepeatRule rule;
    std::string_view order_key;
    std::int64_t expires_after_ms = 0;  // after the due time of an occurrence; 0: never

    bool operator==(const Repeat&) const = default;
};

// How a prepared message is settled if its producer does not respond. A check message contains the rule of the prepared
// message that it asks about, which is its parent; its occurrence is the number of the check.
struct TransactionRule {
    std::string check_queue;  // in the prepared message's namespace; empty: no checks
    std::int64_t check_after_ms = 0;
    std::uint32_t check_times = 0;
    bool otherwise_commit = false;

    bool operator==(const TransactionRule&) const = default;
};

// All that a put fixes. The views point into the record's bytes, or into the command that is being encoded.
struct MessageContent : ContentView {
    DueMs put_ms = 0;
    std::optional<Repeat> repeat;
    std::optional<TransactionRule> transaction;
    MessageId parent = 0;          // of an occurrence: its recurring message
    std::uint64_t occurrence = 0;  // from 1; 0 for a schedule fired manually
    std::string_view schedule;     // of an occurrence of a schedule: its name, which is of the same namespace
    std::string_view watchdog;     // likewise, of a message of a watchdog; and its last feed before
    DueMs fed_ms = 0;

    bool operator==(const MessageContent&) const = default;
};

// Why a change or an end happened. The numbers are part of the log format.
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
    checked = 21,     // a check message was created for it
    unanswered = 22,  // committed or rolled back by its default, because the producer did not respond
};
// Why a message ended, as named in every interface: "acknowledged", "attempts_used_up", ...
std::string_view cause_name(Cause cause);

// A put, spawn, change, attempt, end, relocation or replacement of a message. The views point into the record's bytes,
// or into what is being encoded.
struct MessageRecord {
    RecordKind kind = RecordKind::put;  // one of those seven
    MessageId id = 0;
    // The previous whole record, and its size with its frame; 0 in a put and a spawn.
    Sequence log_position = 0;
    std::uint32_t record_bytes = 0;
    DueMs time_ms = 0;  // server time of the decision
    Cause cause = Cause::none;
    MessageState state;
    Previous previous;
    MessageContent content;  // of a whole record
    // end, and a change that ended a lease: which lease, so that the response can be repeated
    std::uint32_t lease_attempt = 0;
    std::uint64_t lease_incarnation = 0;
    std::int64_t lateness_ms = 0;  // end: of the delivery (engine/commands/lateness.h)
    std::int64_t wait_ms = 0;      // end: before that
    std::string_view reason;       // end as dead, fail, and the relocations of both
    DueMs ended_ms = 0;            // relocation of an ended message

    bool operator==(const MessageRecord&) const = default;
};

// The members of records of settings and of rules: what stands for the subject from now on.
struct SubjectRecord {
    Subject subject = Subject::none;
    std::string name_space{kDefaultNamespace};
    std::string_view name;
    std::string_view value;  // empty: it is removed
    DueMs time_ms = 0;
    // The previous whole record, and its size with its frame.
    Sequence log_position = 0;
    std::uint32_t record_bytes = 0;
    // The state before, as in Previous: its revision (0: there was none), and its part of the digest.
    std::uint32_t revision_before = 0;
    std::uint64_t term_before = 0;

    bool operator==(const SubjectRecord&) const = default;
};

// Settings of a queue or a namespace, a token, or the position of an input. A relocation repeats the same value.
struct ConfRecord : SubjectRecord {
    static constexpr RecordKind kKind = RecordKind::conf;

    static constexpr bool is_whole() { return true; }
    bool operator==(const ConfRecord&) const = default;
};

// The state of a schedule or a watchdog.
struct RuleRecord : SubjectRecord {
    static constexpr RecordKind kKind = RecordKind::rule;

    MessageContent content;  // of its messages; only in a whole record
    // For readers of the log: when it is next due, its number of runs so far, and the nominal times that this record
    // skips.
    DueMs next_ms = 0;
    std::uint64_t count = 0;
    std::uint64_t skipped_from = 0;
    std::uint64_t skipped_to = 0;

    bool is_whole() const { return !value.empty() && content.put_ms != 0; }
    bool operator==(const RuleRecord&) const = default;
};

// The load cursor, or the cursor of a queue.
struct CursorRecord {
    static constexpr RecordKind kKind = RecordKind::cursor;

    DueMs time_ms = 0;
    std::string name_space{kDefaultNamespace};
    std::string queue;  // empty: the load cursor, which has no id
    DueMs due_ms = 0;
    MessageId id = 0;
    bool removed = false;  // the queue no longer has a cursor

    bool operator==(const CursorRecord&) const = default;
};

// Everything needed before `up_to` is now at or after it.
struct RelocationDoneRecord {
    static constexpr RecordKind kKind = RecordKind::relocation_done;

    DueMs time_ms = 0;
    Sequence up_to = 0;
    std::uint64_t live_count = 0;
    std::uint64_t digest = 0;

    bool operator==(const RelocationDoneRecord&) const = default;
};

// A run begins to serve.
struct EpochRecord {
    static constexpr RecordKind kKind = RecordKind::epoch;

    DueMs time_ms = 0;
    std::uint64_t incarnation = 0;

    bool operator==(const EpochRecord&) const = default;
};

// Each outcome that was kept before `up_to` is now at or after it.
struct OutcomesRecord {
    static constexpr RecordKind kKind = RecordKind::outcomes;

    DueMs time_ms = 0;
    std::string_view rows;      // outcome_rows.h
    std::uint64_t count = 0;    // of the rows
    std::uint64_t segment = 0;  // the number of their old segment
    Sequence up_to = 0;

    bool operator==(const OutcomesRecord&) const = default;
};

// One record of any kind.
using Record = std::variant<MessageRecord, ConfRecord, RuleRecord, CursorRecord, RelocationDoneRecord, EpochRecord,
                            OutcomesRecord>;

RecordKind kind_of(const Record& record);

inline constexpr std::size_t kRecordFrameBytes = 4 + 4 + 8 + 1;
// Above any valid body with its fields; a larger length in a frame is damage.
inline constexpr std::uint32_t kRecordBodyBytesMax = 64u << 20;

// Appends the framed record to `out` and returns the frame's size in bytes. Linear in that size.
std::size_t append_record(std::string& out, Sequence sequence, const Record& record);

struct FramedRecord {
    Sequence sequence = 0;
    RecordKind kind = RecordKind::put;
    std::string_view body;
    std::size_t frame_bytes = 0;
};

// Reads the frame at the start of `bytes` and checks it; codes `torn_record` (truncated), `bad_checksum`,
// `newer_format` (unknown kind). The body is not decoded.
Result<FramedRecord> read_frame(std::string_view bytes);

// Decodes a record's body. The views of the result point into `body`. Codes `damaged_record`, `newer_format`.
Result<Record> decode_record(RecordKind kind, std::string_view body);
// The same for a kind of a message, and for `rule`.
Result<MessageRecord> decode_message(RecordKind kind, std::string_view body);
Result<RuleRecord> decode_rule(std::string_view body);

// The part of a message in the log's digest: a hash of its id and all changeable fields except the position, which
// compaction changes. About 30 ns.
std::uint64_t digest_term(MessageId id, const MessageState& state);

// The byte form of a row, for index values: the same fields and tags as in records. `encode` appends.
void encode_row(std::string& out, const MessageRow& row);
Result<MessageRow> decode_row(std::string_view bytes);

}  // namespace duewheel
