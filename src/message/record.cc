// The byte format of records. The file is long because each field of each kind is written, read and checked here side
// by side, so that no field is written and then forgotten by the reader.
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

void write_retry(FieldWriter& to, const MessageState& state) {
    if (!state.retry && state.attempts_forgiven == 0) return;
    const RetryRule rule = state.retry.value_or(RetryRule{});
    std::string text;
    FieldWriter within(text);
    within.number(kRetryAttempts, rule.attempts);
    within.signed_number(kRetryFirst, rule.first_ms);
    within.number(kRetryFactor, rule.factor_permille);
    within.signed_number(kRetryMost, rule.max_ms);
    within.number(kRetryJitter, rule.jitter_permille);
    within.number(kRetryForgiven, state.attempts_forgiven);
    to.text(kRetry, text);
}

bool read_retry_field(FieldReader& from, RetryRule& rule, std::uint32_t& forgiven) {
    switch (from.tag()) {
        case kRetryAttempts:
            from.number(rule.attempts);
            return true;
        case kRetryFirst:
            from.signed_number(rule.first_ms);
            return true;
        case kRetryFactor:
            from.number(rule.factor_permille);
            return true;
        case kRetryMost:
            from.signed_number(rule.max_ms);
            return true;
        case kRetryJitter:
            from.number(rule.jitter_permille);
            return true;
        case kRetryForgiven:
            from.number(forgiven);
            return true;
        default:
            return false;
    }
}

// A rule has at least one attempt; without one there is no rule.
void read_retry(FieldReader& from, MessageState& into) {
    std::string_view text;
    from.text(text);
    FieldReader within(text);
    RetryRule rule;
    while (within.next()) {
        if (!read_retry_field(within, rule, into.attempts_forgiven)) return from.refuse();
    }
    if (within.damaged() || text.empty()) return from.refuse();
    if (rule.attempts != 0) {
        into.retry = rule;
    } else if (rule != RetryRule{}) {
        from.refuse();
    }
}

void write_state(FieldWriter& to, const MessageState& state) {
    to.number(kState, static_cast<std::uint64_t>(state.state), static_cast<std::uint64_t>(State::scheduled));
    to.number(kVersion, state.version, 1);
    to.number(kAttempts, state.attempts);
    to.signed_number(kDue, state.due_ms);
    to.signed_number(kNominalDue, state.nominal_due_ms, state.due_ms);
    to.signed_number(kExpires, state.expires_ms);
    to.signed_number(kPriority, state.priority);
    to.number(kMaybeDelivered, state.maybe_delivered ? 1 : 0);
    to.text(kNamespace, state.name_space, kDefaultNamespace);
    to.text(kQueue, state.queue);
    to.text(kOrderKey, state.order_key);
    to.text(kKey, state.key);
    to.number(kRequestHash, state.request_hash);
    write_retry(to, state);
    to.signed_number(kFirstDue, state.first_due_ms);
}

// The remaining fields, which must come later.
void write_state_end(FieldWriter& to, const MessageState& state) {
    to.number(kNextOccurrence, state.next_occurrence);
    to.number(kTransaction, state.transaction);
}

// True when the field was one of a message's changeable ones.
bool read_state_field(FieldReader& from, MessageState& state) {
    switch (from.tag()) {
        case kState:
            from.state(state.state);
            return true;
        case kVersion:
            from.number(state.version);
            return true;
        case kAttempts:
            from.number(state.attempts);
            return true;
        case kDue:
            from.signed_number(state.due_ms);
            state.nominal_due_ms = state.due_ms;
            return true;
        case kNominalDue:
            from.signed_number(state.nominal_due_ms);
            return true;
        case kExpires:
            from.signed_number(state.expires_ms);
            return true;
        case kPriority:
            from.signed_number(state.priority);
            return true;
        case kMaybeDelivered:
            from.boolean(state.maybe_delivered);
            return true;
        case kNamespace:
            from.text(state.name_space);
            return true;
        case kQueue:
            from.text(state.queue);
            return true;
        case kOrderKey:
            from.text(state.order_key);
            return true;
        case kKey:
            from.text(state.key);
            return true;
        case kRequestHash:
            from.number(state.request_hash);
            return true;
        case kRetry:
            read_retry(from, state);
            return true;
        case kFirstDue:
            from.signed_number(state.first_due_ms);
            return true;
        case kNextOccurrence:
            from.number(state.next_occurrence);
            return true;
        case kTransaction:
            from.number(state.transaction);
            return true;
        default:
            return false;
    }
}

void write_content(FieldWriter& to, const MessageContent& content) {
    to.signed_number(kPutTime, content.put_ms);
    to.text(kContentType, content.content_type);
    to.text(kHeaders, content.headers);
    to.text(kTraceparent, content.traceparent);
    to.text(kTarget, content.target);
    if (content.repeat) {
        const RepeatRule& rule = content.repeat->rule;
        to.signed_number(kRepeatEvery, rule.every_ms);
        to.number(kRepeatTimes, rule.times);
        to.number(kRepeatFactor, rule.factor_permille);
        to.signed_number(kRepeatMost, rule.max_ms);
        to.signed_number(kRepeatStart, rule.start_ms);
        to.signed_number(kRepeatEnd, rule.end_ms);
    }
    if (content.transaction) {
        to.text(kCheckQueue, content.transaction->check_queue);
        to.text(kCheckWebhook, content.transaction->check_webhook);
        to.signed_number(kCheckAfter, content.transaction->check_after_ms);
        to.number(kCheckTimes, content.transaction->check_times);
        to.number(kOtherwiseCommit, content.transaction->otherwise_commit ? 1 : 0);
    }
    to.number(kParent, content.parent);
    to.number(kOccurrence, content.occurrence);
    to.text(kBody, content.body);
    if (content.repeat) {
        to.text(kRepeatOrderKey, content.repeat->order_key);
        to.signed_number(kRepeatExpires, content.repeat->expires_after_ms);
    }
    to.text(kSchedule, content.schedule);
    to.text(kWatchdog, content.watchdog);
    to.signed_number(kFed, content.fed_ms);
}

template <class T>
T& present(std::optional<T>& group) {
    return group ? *group : group.emplace();
}

bool read_content_field(FieldReader& from, MessageContent& content) {
    switch (from.tag()) {
        case kPutTime:
            from.signed_number(content.put_ms);
            return true;
        case kContentType:
            from.text(content.content_type);
            return true;
        case kHeaders:
            from.text(content.headers);
            return true;
        case kTraceparent:
            from.text(content.traceparent);
            return true;
        case kTarget:
            from.text(content.target);
            return true;
        case kRepeatEvery:
            from.signed_number(present(content.repeat).rule.every_ms);
            return true;
        case kRepeatTimes:
            from.number(present(content.repeat).rule.times);
            return true;
        case kRepeatFactor:
            from.number(present(content.repeat).rule.factor_permille);
            return true;
        case kRepeatMost:
            from.signed_number(present(content.repeat).rule.max_ms);
            return true;
        case kRepeatStart:
            from.signed_number(present(content.repeat).rule.start_ms);
            return true;
        case kRepeatEnd:
            from.signed_number(present(content.repeat).rule.end_ms);
            return true;
        case kCheckQueue:
            from.text(present(content.transaction).check_queue);
            return true;
        case kCheckWebhook:
            from.text(present(content.transaction).check_webhook);
            return true;
        case kCheckAfter:
            from.signed_number(present(content.transaction).check_after_ms);
            return true;
        case kCheckTimes:
            from.number(present(content.transaction).check_times);
            return true;
        case kOtherwiseCommit:
            from.boolean(present(content.transaction).otherwise_commit);
            return true;
        case kParent:
            from.number(content.parent);
            return true;
        case kOccurrence:
            from.number(content.occurrence);
            return true;
        case kBody:
            from.text(content.body);
            return true;
        case kRepeatOrderKey:
            from.text(present(content.repeat).order_key);
            return true;
        case kRepeatExpires:
            from.signed_number(present(content.repeat).expires_after_ms);
            return true;
        case kSchedule:
            from.text(content.schedule);
            return true;
        case kWatchdog:
            from.text(content.watchdog);
            return true;
        case kFed:
            from.signed_number(content.fed_ms);
            return true;
        default:
            return false;
    }
}

void write_previous(FieldWriter& to, const Previous& previous, const MessageState& now) {
    if (previous.version == 0) return;
    to.number(kPreviousState, static_cast<std::uint64_t>(previous.state));
    to.number(kPreviousVersion, previous.version);
    to.signed_number(kPreviousDue, previous.due_ms);
    to.text(kPreviousQueue, previous.queue, now.queue);
    to.number(kPreviousTerm, previous.term);
    to.signed_number(kPreviousNominalDue, previous.nominal_due_ms);
    to.signed_number(kPreviousEnded, previous.ended_ms);
}

bool read_previous_field(FieldReader& from, Previous& previous) {
    switch (from.tag()) {
        case kPreviousState:
            from.state(previous.state);
            return true;
        case kPreviousVersion:
            from.number(previous.version);
            return true;
        case kPreviousDue:
            from.signed_number(previous.due_ms);
            return true;
        case kPreviousQueue:
            from.text(previous.queue);
            return true;
        case kPreviousTerm:
            from.number(previous.term);
            return true;
        case kPreviousEnded:
            from.signed_number(previous.ended_ms);
            return true;
        case kPreviousNominalDue:
            from.signed_number(previous.nominal_due_ms);
            return true;
        default:
            return false;
    }
}

void write_body(FieldWriter& to, const Record& record) {
    write_state(to, record.state);
    to.number(kId, record.id);
    to.number(kPlace, record.log_position);
    to.number(kRecordBytes, record.record_bytes);
    to.signed_number(kTime, record.time_ms);
    to.number(kCause, static_cast<std::uint64_t>(record.cause));
    write_previous(to, record.previous, record.state);
    write_state_end(to, record.state);
    to.number(kLeaseAttempt, record.lease_attempt);
    to.number(kLeaseIncarnation, record.lease_incarnation);
    to.signed_number(kLateness, record.lateness_ms);
    to.text(kReason, record.reason);
    to.signed_number(kEnded, record.ended_ms);
    write_content(to, record.content);
    to.number(kSubject, record.subject);
    to.text(kName, record.name);
    to.text(kValue, record.value);
    to.signed_number(kNext, record.next_ms);
    to.number(kCount, record.count);
    to.number(kSkippedFrom, record.skipped_from);
    to.number(kSkippedTo, record.skipped_to);
    to.number(kRemoved, record.removed ? 1 : 0);
    to.number(kUpTo, record.up_to);
    to.number(kLiveCount, record.live_count);
    to.number(kDigest, record.digest);
    to.number(kIncarnation, record.incarnation);
    to.number(kSegment, record.segment);
}

bool read_other_field(FieldReader& from, Record& record) {
    switch (from.tag()) {
        case kId:
            from.number(record.id);
            return true;
        case kPlace:
            from.number(record.log_position);
            return true;
        case kRecordBytes:
            from.number(record.record_bytes);
            return true;
        case kTime:
            from.signed_number(record.time_ms);
            return true;
        case kCause: {
            std::uint8_t cause = 0;
            from.number(cause);
            record.cause = static_cast<Cause>(cause);
            return cause <= static_cast<std::uint8_t>(Cause::unanswered);
        }
        case kLeaseAttempt:
            from.number(record.lease_attempt);
            return true;
        case kLeaseIncarnation:
            from.number(record.lease_incarnation);
            return true;
        case kLateness:
            from.signed_number(record.lateness_ms);
            return true;
        case kReason:
            from.text(record.reason);
            return true;
        case kEnded:
            from.signed_number(record.ended_ms);
            return true;
        case kSubject:
            from.number(record.subject);
            return true;
        case kName:
            from.text(record.name);
            return true;
        case kValue:
            from.text(record.value);
            return true;
        case kNext:
            from.signed_number(record.next_ms);
            return true;
        case kCount:
            from.number(record.count);
            return true;
        case kSkippedFrom:
            from.number(record.skipped_from);
            return true;
        case kSkippedTo:
            from.number(record.skipped_to);
            return true;
        case kRemoved:
            from.boolean(record.removed);
            return true;
        case kUpTo:
            from.number(record.up_to);
            return true;
        case kLiveCount:
            from.number(record.live_count);
            return true;
        case kDigest:
            from.number(record.digest);
            return true;
        case kIncarnation:
            from.number(record.incarnation);
            return true;
        case kSegment:
            from.number(record.segment);
            return true;
        default:
            return false;
    }
}

Error newer_field(std::uint32_t tag) {
    return {"newer_format", "a record holds field " + std::to_string(tag) +
                                ", which this version does not know: open the data with the version that wrote it"};
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

std::string_view record_kind_name(RecordKind kind) {
    switch (kind) {
        case RecordKind::put:
            return "put";
        case RecordKind::spawn:
            return "spawn";
        case RecordKind::change:
            return "change";
        case RecordKind::attempt:
            return "attempt";
        case RecordKind::end:
            return "end";
        case RecordKind::rule:
            return "rule";
        case RecordKind::conf:
            return "conf";
        case RecordKind::cursor:
            return "cursor";
        case RecordKind::relocate:
            return "relocate";
        case RecordKind::relocation_done:
            return "relocation_done";
        case RecordKind::epoch:
            return "epoch";
        case RecordKind::outcomes:
            return "outcomes";
    }
    return "unknown";
}

std::size_t append_record(std::string& out, Sequence sequence, const Record& record) {
    const std::size_t start = out.size();
    out.append(kRecordFrameBytes, '\0');
    FieldWriter writer(out);
    write_body(writer, record);
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
    FieldReader reader(body);
    while (reader.next()) {
        if (!read_state_field(reader, record.state) && !read_content_field(reader, record.content) &&
            !read_previous_field(reader, record.previous) && !read_other_field(reader, record)) {
            return newer_field(reader.tag());
        }
    }
    if (reader.damaged()) return damaged("a record's fields cannot be read");
    if (record.previous.version != 0 && record.previous.queue.empty()) record.previous.queue = record.state.queue;
    if (Status complete = check_complete(record); !complete) return std::move(complete).error();
    return record;
}

std::uint64_t digest_term(MessageId id, const MessageState& state) {
    thread_local std::string bytes;
    bytes.clear();
    FieldWriter writer(bytes);
    write_state(writer, state);
    write_state_end(writer, state);
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), id);
}

void encode_row(std::string& out, const MessageRow& row) {
    FieldWriter writer(out);
    write_state(writer, row.state);
    writer.number(kId, row.id);
    writer.number(kPlace, row.log_position);
    writer.number(kRecordBytes, row.record_bytes);
    write_state_end(writer, row.state);
    writer.number(kLeaseAttempt, row.lease_attempt);
    writer.number(kLeaseIncarnation, row.lease_incarnation);
    writer.text(kReason, row.reason);
    writer.signed_number(kEnded, row.ended_ms);
}

Result<MessageRow> decode_row(std::string_view bytes) {
    MessageRow row;
    FieldReader reader(bytes);
    while (reader.next()) {
        if (read_state_field(reader, row.state)) continue;
        switch (reader.tag()) {
            case kId:
                reader.number(row.id);
                break;
            case kPlace:
                reader.number(row.log_position);
                break;
            case kRecordBytes:
                reader.number(row.record_bytes);
                break;
            case kLeaseAttempt:
                reader.number(row.lease_attempt);
                break;
            case kLeaseIncarnation:
                reader.number(row.lease_incarnation);
                break;
            case kReason:
                reader.text(row.reason);
                break;
            case kEnded:
                reader.signed_number(row.ended_ms);
                break;
            default:
                return newer_field(reader.tag());
        }
    }
    if (reader.damaged()) return damaged("a row of the index cannot be read");
    return row;
}

}  // namespace duewheel
