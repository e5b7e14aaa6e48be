// The byte format of records.
#include "message/record.h"

#define XXH_INLINE_ALL
#include <bit>
#include <cassert>
#include <cstring>

#include <xxhash.h>

#include "message/fields.h"
#include "message/queue_settings.h"
#include "message/watchdog_state.h"

namespace duewheel {
namespace {

// Field numbers. They are in the log: never change or re-use one.
enum Tag : std::uint32_t {
    kState = 1,
    kVersion = 2,
    kAttempts = 3,
    kDue = 4,
    kNominalDue = 5,  // omitted when it equals due
    kExpires = 6,
    kPriority = 7,
    kMaybeDelivered = 8,
    kNamespace = 9,  // omitted when "default"
    kQueue = 10,
    kOrderKey = 11,
    kKey = 12,
    kRequestHash = 13,
    kRetry = 14,  // a text of the fields below
    kFirstDue = 15,

    kId = 16,
    kPlace = 17,
    kRecordBytes = 18,
    kTime = 19,
    kCause = 20,

    kPreviousState = 21,
    kPreviousVersion = 22,
    kPreviousDue = 23,
    kPreviousQueue = 24,  // omitted when it is the same
    kPreviousTerm = 25,
    kPreviousNominalDue = 26,
    kPreviousEnded = 27,

    kNextOccurrence = 28,  // this and the next are among the changeable ones
    kTransaction = 29,

    kLeaseAttempt = 30,
    kLeaseIncarnation = 31,
    kLateness = 32,
    kReason = 33,
    kEnded = 34,

    kPutTime = 40,
    kContentType = 41,
    kHeaders = 42,
    kTraceparent = 43,
    kTarget = 44,
    // 45 to 49 are retired.
    kRepeatEvery = 50,
    kRepeatTimes = 51,
    kRepeatFactor = 52,
    kRepeatMost = 53,
    kRepeatStart = 54,
    kRepeatEnd = 55,
    kCheckQueue = 56,
    kCheckWebhook = 57,
    kCheckAfter = 58,
    kCheckTimes = 59,
    kOtherwiseCommit = 60,
    kParent = 61,
    kOccurrence = 62,
    kBody = 63,
    kRepeatOrderKey = 64,
    kRepeatExpires = 65,
    kSchedule = 66,
    kWatchdog = 67,
    kFed = 68,

    kSubject = 70,
    kName = 71,
    kValue = 72,
    kNext = 73,
    kCount = 74,
    kSkippedFrom = 75,
    kSkippedTo = 76,
    kRemoved = 77,

    kUpTo = 80,
    kLiveCount = 81,
    kDigest = 82,
    kIncarnation = 83,
    // 84 and 85 are retired: no record contains them.
    kSegment = 86,
};

// Within the text of kRetry.
enum RetryTag : std::uint32_t {
    kRetryAttempts = 1,
    kRetryFirst = 2,
    kRetryFactor = 3,
    kRetryMost = 4,
    kRetryJitter = 5,
    kRetryForgiven = 6,
};

template <class Visitor, class Rule>
void retry_fields(Visitor& visit, Rule& rule) {
    visit.number(kRetryAttempts, rule.attempts);
    visit.signed_number(kRetryFirst, rule.first_ms);
    visit.number(kRetryFactor, rule.factor_permille);
    visit.signed_number(kRetryMost, rule.max_ms);
    visit.number(kRetryJitter, rule.jitter_permille);
}

void retry_field(FieldWriter& to, const MessageState& state) {
    if (!state.retry && state.attempts_forgiven == 0) return;
    std::string text;
    FieldWriter within(text);
    retry_fields(within, state.retry ? *state.retry : RetryRule{});
    within.number(kRetryForgiven, state.attempts_forgiven);
    to.text(kRetry, text);
}

// A rule has at least one attempt; without one there is no rule.
void retry_field(FieldsReader& from, MessageState& into) {
    std::string_view text;
    if (!from.text(kRetry, text)) return;
    FieldsReader within(text);
    RetryRule rule;
    retry_fields(within, rule);
    within.number(kRetryForgiven, into.attempts_forgiven);
    if (within.damaged() || text.empty() || !within.end("")) return from.refuse();
    if (rule.attempts != 0) {
        into.retry = rule;
    } else if (rule != RetryRule{}) {
        from.refuse();
    }
}

template <class Visitor>
void state_field(Visitor& visit, std::uint32_t tag, auto& state, std::uint64_t left_out) {
    visit.enumerator(tag, state, static_cast<State>(1), static_cast<State>(kStateCount), left_out);
}

// The changeable ones of a message.
template <class Visitor, class OfMessage>
void state_fields(Visitor& visit, OfMessage& state) {
    state_field(visit, kState, state.state, static_cast<std::uint64_t>(State::scheduled));
    visit.number(kVersion, state.version, 1);
    visit.number(kAttempts, state.attempts);
    visit.signed_number(kDue, state.due_ms);
    if constexpr (Visitor::kReads) state.nominal_due_ms = state.due_ms;
    visit.signed_number(kNominalDue, state.nominal_due_ms, state.due_ms);
    visit.signed_number(kExpires, state.expires_ms);
    visit.signed_number(kPriority, state.priority);
    visit.boolean(kMaybeDelivered, state.maybe_delivered);
    visit.text(kNamespace, state.name_space, kDefaultNamespace);
    visit.text(kQueue, state.queue);
    visit.text(kOrderKey, state.order_key);
    visit.text(kKey, state.key);
    visit.number(kRequestHash, state.request_hash);
    retry_field(visit, state);
    visit.signed_number(kFirstDue, state.first_due_ms);
}

// The remaining ones, which come later.
template <class Visitor, class OfMessage>
void last_state_fields(Visitor& visit, OfMessage& state) {
    visit.number(kNextOccurrence, state.next_occurrence);
    visit.number(kTransaction, state.transaction);
}

// Of a record, and of a row of the index.
template <class Visitor, class RecordOrRow>
void position_fields(Visitor& visit, RecordOrRow& record) {
    visit.number(kId, record.id);
    visit.number(kPlace, record.log_position);
    visit.number(kRecordBytes, record.record_bytes);
}
template <class Visitor, class RecordOrRow>
void lease_fields(Visitor& visit, RecordOrRow& record) {
    visit.number(kLeaseAttempt, record.lease_attempt);
    visit.number(kLeaseIncarnation, record.lease_incarnation);
}

template <class Visitor, class Content>
void content_fields(Visitor& visit, Content& content) {
    visit.signed_number(kPutTime, content.put_ms);
    visit.text(kContentType, content.content_type);
    visit.text(kHeaders, content.headers);
    visit.text(kTraceparent, content.traceparent);
    visit.text(kTarget, content.target);
    if (auto* repeat = visit.group(content.repeat, kRepeatEvery, kRepeatEnd)) {
        visit.signed_number(kRepeatEvery, repeat->rule.every_ms);
        visit.number(kRepeatTimes, repeat->rule.times);
        visit.number(kRepeatFactor, repeat->rule.factor_permille);
        visit.signed_number(kRepeatMost, repeat->rule.max_ms);
        visit.signed_number(kRepeatStart, repeat->rule.start_ms);
        visit.signed_number(kRepeatEnd, repeat->rule.end_ms);
    }
    if (auto* transaction = visit.group(content.transaction, kCheckQueue, kOtherwiseCommit)) {
        visit.text(kCheckQueue, transaction->check_queue);
        visit.text(kCheckWebhook, transaction->check_webhook);
        visit.signed_number(kCheckAfter, transaction->check_after_ms);
        visit.number(kCheckTimes, transaction->check_times);
        visit.boolean(kOtherwiseCommit, transaction->otherwise_commit);
    }
    visit.number(kParent, content.parent);
    visit.number(kOccurrence, content.occurrence);
    visit.text(kBody, content.body);
    if (auto* repeat = visit.group(content.repeat, kRepeatOrderKey, kRepeatExpires)) {
        visit.text(kRepeatOrderKey, repeat->order_key);
        visit.signed_number(kRepeatExpires, repeat->expires_after_ms);
    }
    visit.text(kSchedule, content.schedule);
    visit.text(kWatchdog, content.watchdog);
    visit.signed_number(kFed, content.fed_ms);
}

template <class Visitor, class OfMessage>
void previous_fields(Visitor& visit, OfMessage& previous, const MessageState& now) {
    if (!Visitor::kReads && previous.version == 0) return;
    state_field(visit, kPreviousState, previous.state, 0);
    visit.number(kPreviousVersion, previous.version);
    visit.signed_number(kPreviousDue, previous.due_ms);
    visit.text(kPreviousQueue, previous.queue, now.queue);
    visit.number(kPreviousTerm, previous.term);
    visit.signed_number(kPreviousNominalDue, previous.nominal_due_ms);
    visit.signed_number(kPreviousEnded, previous.ended_ms);
}

template <class Visitor, class OfRecord>
void record_fields(Visitor& visit, OfRecord& record) {
    state_fields(visit, record.state);
    position_fields(visit, record);
    visit.signed_number(kTime, record.time_ms);
    visit.newer_enumerator(kCause, record.cause, Cause::unanswered);
    previous_fields(visit, record.previous, record.state);
    last_state_fields(visit, record.state);
    lease_fields(visit, record);
    visit.signed_number(kLateness, record.lateness_ms);
    visit.text(kReason, record.reason);
    visit.signed_number(kEnded, record.ended_ms);
    content_fields(visit, record.content);
    visit.number(kSubject, record.subject);
    visit.text(kName, record.name);
    visit.text(kValue, record.value);
    visit.signed_number(kNext, record.next_ms);
    visit.number(kCount, record.count);
    visit.number(kSkippedFrom, record.skipped_from);
    visit.number(kSkippedTo, record.skipped_to);
    visit.boolean(kRemoved, record.removed);
    visit.number(kUpTo, record.up_to);
    visit.number(kLiveCount, record.live_count);
    visit.number(kDigest, record.digest);
    visit.number(kIncarnation, record.incarnation);
    visit.number(kSegment, record.segment);
}

template <class Visitor, class Row>
void row_fields(Visitor& visit, Row& row) {
    state_fields(visit, row.state);
    position_fields(visit, row);
    last_state_fields(visit, row.state);
    lease_fields(visit, row);
    visit.text(kReason, row.reason);
    visit.signed_number(kEnded, row.ended_ms);
}

Error damaged(std::string what) {
    return {"damaged_record", std::move(what)};
}

// Checks the fields that each kind requires.
Status check_complete(const Record& record) {
    if (record.kind == RecordKind::conf && (record.name.empty() || record.subject == 0)) {
        return damaged("settings of nothing");
    }
    if (record.kind == RecordKind::conf && !is_subject_of_conf(record.subject)) {
        return Error{"newer_format", "settings are of kind " + std::to_string(record.subject) +
                                         ", which this version does not know: open the data with the version that "
                                         "wrote it"};
    }
    if (record.kind == RecordKind::outcomes && (record.value.empty() || record.segment == 0 || record.up_to == 0)) {
        return damaged("outcomes without rows, or from nowhere");
    }
    if (record.kind == RecordKind::rule && (record.name.empty() || record.subject == 0)) {
        return damaged("a rule of nothing");
    }
    if (record.kind == RecordKind::rule && record.subject > kSubjectWatchdog) {
        return Error{"newer_format", "a rule is of kind " + std::to_string(record.subject) +
                                         ", which this version does not know: open the data with the version that "
                                         "wrote it"};
    }
    const bool of_message = record.kind == RecordKind::put || record.kind == RecordKind::spawn ||
                            record.kind == RecordKind::change || record.kind == RecordKind::attempt ||
                            record.kind == RecordKind::end || record.kind == RecordKind::relocate;
    if (!of_message) return {};
    if (record.id == 0 || record.id > kMessageIdMax) return damaged("a record of a message without a valid id");
    if (record.state.queue.empty()) return damaged("a record of a message without a queue");
    if (!is_durable(record.state.state)) return damaged("a record holds a state that lives in memory alone");
    if ((record.kind == RecordKind::end) != is_ended(record.state.state) && record.kind != RecordKind::relocate) {
        return damaged("an end without an ended state, or an ended state without an end");
    }
    return {};
}

template <class T>
void put_integer(char* to, T value) {
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(to, &value, sizeof value);
}
template <class T>
T get_integer(const char* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

constexpr std::size_t kChecksumOffset = 4;
constexpr std::size_t kCheckedOffset = 8;

std::uint32_t frame_checksum(std::string_view frame, std::uint32_t length) {
    return static_cast<std::uint32_t>(
        XXH3_64bits_withSeed(frame.data() + kCheckedOffset, frame.size() - kCheckedOffset, length));
}

}  // namespace

std::string_view cause_name(Cause cause) {
    switch (cause) {
        case Cause::acknowledged:
            return "acknowledged";
        case Cause::cancelled:
            return "cancelled";
        case Cause::expired:
            return "expired";
        case Cause::attempts_used_up:
            return "attempts_used_up";
        case Cause::purged:
            return "purged";
        case Cause::rolled_back:
            return "rolled_back";
        case Cause::skipped:
            return "skipped";
        case Cause::merged:
            return "merged";
        case Cause::failed:
            return "failed";
        case Cause::spawned:
            return "spawned";
        case Cause::kept_long_enough:
            return "kept_long_enough";
        case Cause::discarded:
            return "discarded";
        case Cause::lease_lost:
            return "lease_lost";
        case Cause::unanswered:
            return "unanswered";
        default:
            return "other";
    }
}

std::size_t append_record(std::string& out, Sequence sequence, const Record& record) {
    const std::size_t start = out.size();
    out.append(kRecordFrameBytes, '\0');
    FieldWriter writer(out);
    record_fields(writer, record);
    const auto length = static_cast<std::uint32_t>(out.size() - start - kRecordFrameBytes);
    assert(length <= kRecordBodyBytesMax);
    char* frame = out.data() + start;
    put_integer(frame, length);
    put_integer(frame + 8, sequence);
    put_integer(frame + 16, static_cast<std::uint8_t>(record.kind));
    put_integer(frame + kChecksumOffset, frame_checksum(std::string_view(out).substr(start), length));
    return out.size() - start;
}

Result<FramedRecord> read_frame(std::string_view bytes) {
    if (bytes.size() < kRecordFrameBytes) return Error{"torn_record", "the log ends inside a record's frame"};
    const auto length = get_integer<std::uint32_t>(bytes.data());
    if (length > kRecordBodyBytesMax) return Error{"bad_checksum", "a record's length is beyond any legal one"};
    const std::size_t size = kRecordFrameBytes + length;
    if (bytes.size() < size) return Error{"torn_record", "the log ends inside a record"};
    if (get_integer<std::uint32_t>(bytes.data() + kChecksumOffset) != frame_checksum(bytes.substr(0, size), length)) {
        return Error{"bad_checksum", "a record's checksum does not match its bytes"};
    }
    const auto kind = get_integer<std::uint8_t>(bytes.data() + 16);
    if (kind < 1 || kind > static_cast<std::uint8_t>(RecordKind::outcomes)) {
        return Error{"newer_format",
                     "a record is of kind " + std::to_string(kind) +
                         ", which this version does not know: open the data with the version that wrote it"};
    }
    return FramedRecord{get_integer<std::uint64_t>(bytes.data() + 8), static_cast<RecordKind>(kind),
                        bytes.substr(kRecordFrameBytes, length), size};
}

Result<Record> decode_record(RecordKind kind, std::string_view body) {
    Record record;
    record.kind = kind;
    FieldsReader from(body);
    record_fields(from, record);
    if (Status known = from.end("a record holds"); !known) return std::move(known).error();
    if (from.damaged()) return damaged("a record's fields cannot be read");
    if (record.previous.version != 0 && record.previous.queue.empty()) record.previous.queue = record.state.queue;
    if (Status complete = check_complete(record); !complete) return std::move(complete).error();
    return record;
}

std::uint64_t digest_term(MessageId id, const MessageState& state) {
    thread_local std::string bytes;
    bytes.clear();
    FieldWriter writer(bytes);
    state_fields(writer, state);
    last_state_fields(writer, state);
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), id);
}

void encode_row(std::string& out, const MessageRow& row) {
    FieldWriter writer(out);
    row_fields(writer, row);
}

Result<MessageRow> decode_row(std::string_view bytes) {
    MessageRow row;
    FieldsReader from(bytes);
    row_fields(from, row);
    if (Status known = from.end("a record holds"); !known) return std::move(known).error();
    if (from.damaged()) return damaged("a row of the index cannot be read");
    return row;
}

}  // namespace duewheel
