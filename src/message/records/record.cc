// The byte format of records.
#include "message/records/record.h"

#define XXH_INLINE_ALL
#include <bit>
#include <cassert>
#include <cstring>

#include <xxhash.h>

#include "message/records/fields.h"
#include "message/records/subject.h"
#include "message/watchdog_state.h"

namespace duewheel {
namespace {

// Field numbers, the first argument of each visit below, are in the log: never change or re-use one. 45 to 49, 84 and
// 85 are retired.

// Fields of their own, in the text of field 14.
template <class Visitor, class Rule>
void retry_fields(Visitor& visit, Rule& rule) {
    visit.number(1, rule.attempts);
    visit.signed_number(2, rule.first_ms);
    visit.number(3, rule.factor_permille);
    visit.signed_number(4, rule.max_ms);
    visit.number(5, rule.jitter_permille);
}

void retry_field(FieldWriter& to, const MessageState& state) {
    if (!state.retry && state.attempts_forgiven == 0) return;
    std::string text;
    FieldWriter within(text);
    retry_fields(within, state.retry ? *state.retry : RetryRule{});
    within.number(6, state.attempts_forgiven);
    to.text(14, text);
}

// A rule has at least one attempt; without one there is no rule.
void retry_field(FieldsReader& from, MessageState& into) {
    std::string_view text;
    if (!from.text(14, text)) return;
    FieldsReader within(text);
    RetryRule rule;
    retry_fields(within, rule);
    within.number(6, into.attempts_forgiven);
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
    state_field(visit, 1, state.state, static_cast<std::uint64_t>(State::scheduled));
    visit.number(2, state.version, 1);
    visit.number(3, state.attempts);
    visit.signed_number(4, state.due_ms);
    if constexpr (Visitor::kReads) state.nominal_due_ms = state.due_ms;
    visit.signed_number(5, state.nominal_due_ms, state.due_ms);
    visit.signed_number(6, state.expires_ms);
    visit.signed_number(7, state.priority);
    visit.boolean(8, state.maybe_delivered);
    visit.text(9, state.name_space, kDefaultNamespace);
    visit.text(10, state.queue);
    visit.text(11, state.order_key);
    visit.text(12, state.key);
    visit.number(13, state.request_hash);
    retry_field(visit, state);
    visit.signed_number(15, state.first_due_ms);
}

// The remaining ones, which come later.
template <class Visitor, class OfMessage>
void last_state_fields(Visitor& visit, OfMessage& state) {
    visit.number(28, state.next_occurrence);
    visit.number(29, state.transaction);
}

// Fields of a record, and of a row of the index.
template <class Visitor, class RecordOrRow>
void position_fields(Visitor& visit, RecordOrRow& record) {
    visit.number(16, record.id);
    visit.number(17, record.log_position);
    visit.number(18, record.record_bytes);
}
template <class Visitor, class RecordOrRow>
void lease_fields(Visitor& visit, RecordOrRow& record) {
    visit.number(30, record.lease_attempt);
    visit.number(31, record.lease_incarnation);
}

template <class Visitor, class Content>
void content_fields(Visitor& visit, Content& content) {
    visit.signed_number(40, content.put_ms);
    visit.text(41, content.content_type);
    visit.text(42, content.headers);
    visit.text(43, content.traceparent);
    visit.text(44, content.target);
    if (auto* repeat = visit.group(content.repeat, 50, 55)) {
        visit.signed_number(50, repeat->rule.every_ms);
        visit.number(51, repeat->rule.times);
        visit.number(52, repeat->rule.factor_permille);
        visit.signed_number(53, repeat->rule.max_ms);
        visit.signed_number(54, repeat->rule.start_ms);
        visit.signed_number(55, repeat->rule.end_ms);
    }
    if (auto* transaction = visit.group(content.transaction, 56, 60)) {
        visit.text(56, transaction->check_queue);
        visit.text(57, transaction->check_webhook);
        visit.signed_number(58, transaction->check_after_ms);
        visit.number(59, transaction->check_times);
        visit.boolean(60, transaction->otherwise_commit);
    }
    visit.number(61, content.parent);
    visit.number(62, content.occurrence);
    visit.text(63, content.body);
    if (auto* repeat = visit.group(content.repeat, 64, 65)) {
        visit.text(64, repeat->order_key);
        visit.signed_number(65, repeat->expires_after_ms);
    }
    visit.text(66, content.schedule);
    visit.text(67, content.watchdog);
    visit.signed_number(68, content.fed_ms);
}

template <class Visitor, class OfMessage>
void previous_fields(Visitor& visit, OfMessage& previous, const MessageState& now) {
    if (!Visitor::kReads && previous.version == 0) return;
    state_field(visit, 21, previous.state, 0);
    visit.number(22, previous.version);
    visit.signed_number(23, previous.due_ms);
    visit.text(24, previous.queue, now.queue);
    visit.number(25, previous.term);
    visit.signed_number(26, previous.nominal_due_ms);
    visit.signed_number(27, previous.ended_ms);
}

template <class Visitor, class OfRecord>
void subject_field(Visitor& visit, OfRecord& record) {
    const bool of_rule = record.kind == RecordKind::rule;
    std::uint32_t number = number_of(record.subject);
    visit.newer_enumerator(70, number, number_of(of_rule ? kRuleSubjects.back() : kConfSubjects.back()));
    if constexpr (Visitor::kReads) record.subject = subject_of(of_rule, number).value_or(Subject::none);
}

template <class Visitor, class OfRecord>
void record_fields(Visitor& visit, OfRecord& record) {
    state_fields(visit, record.state);
    position_fields(visit, record);
    visit.signed_number(19, record.time_ms);
    visit.newer_enumerator(20, record.cause, Cause::unanswered);
    previous_fields(visit, record.previous, record.state);
    last_state_fields(visit, record.state);
    lease_fields(visit, record);
    visit.signed_number(32, record.lateness_ms);
    visit.text(33, record.reason);
    visit.signed_number(34, record.ended_ms);
    visit.signed_number(35, record.wait_ms);
    content_fields(visit, record.content);
    subject_field(visit, record);
    visit.text(71, record.name);
    visit.text(72, record.value);
    visit.signed_number(73, record.next_ms);
    visit.number(74, record.count);
    visit.number(75, record.skipped_from);
    visit.number(76, record.skipped_to);
    visit.boolean(77, record.removed);
    visit.number(80, record.up_to);
    visit.number(81, record.live_count);
    visit.number(82, record.digest);
    visit.number(83, record.incarnation);
    visit.number(86, record.segment);
}

template <class Visitor, class Row>
void row_fields(Visitor& visit, Row& row) {
    state_fields(visit, row.state);
    position_fields(visit, row);
    last_state_fields(visit, row.state);
    lease_fields(visit, row);
    visit.text(33, row.reason);
    visit.signed_number(34, row.ended_ms);
}

Error damaged(std::string what) {
    return {"damaged_record", std::move(what)};
}

// Checks the fields that each kind requires.
Status check_complete(const Record& record) {
    if ((record.kind == RecordKind::conf || record.kind == RecordKind::rule) &&
        (record.name.empty() || record.subject == Subject::none)) {
        return damaged("settings or a rule of nothing");
    }
    if (record.kind == RecordKind::outcomes && (record.value.empty() || record.segment == 0 || record.up_to == 0)) {
        return damaged("outcomes without rows, or from nowhere");
    }
    if (!is_of_message(record.kind)) return {};
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
