// The byte format of records.
#include "message/records/record.h"

#define XXH_INLINE_ALL
#include <bit>
#include <cassert>
#include <cstring>

#include <xxhash.h>

#include "base/error_codes.h"
#include "message/records/fields.h"
#include "message/records/past_attempts.h"
#include "message/records/subject.h"
#include "message/watchdog_state.h"

namespace duewheel {
namespace {

// Field numbers, the first argument of each visit below, are in the log: never change or re-use one. 44 to 49, 57, 84
// and 85 are retired.

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

// Fields of their own, in the text of field 36.
template <class Visitor, class Work>
void work_fields(Visitor& visit, Work& work) {
    visit.signed_number(1, work.lease.until_ms);
    visit.signed_number(2, work.lease.began_ms);
    visit.number(3, work.lease.incarnation);
    visit.text(4, work.lease.worker);
    visit.boolean(5, work.cancel_requested);
    visit.text(6, work.progress);
    visit.text(7, work.checkpoint);
    visit.text(8, work.past_attempts);
    visit.text(9, work.result);
}

void work_field(FieldWriter& to, const MessageState& state) {
    if (!state.work.is_set()) return;
    std::string text;
    FieldWriter within(text);
    work_fields(within, *state.work);
    to.text(36, text);
}

void work_field(FieldsReader& from, MessageState& into) {
    std::string_view text;
    if (!from.text(36, text)) return;
    FieldsReader within(text);
    WorkState work;
    work_fields(within, work);
    into.work.set(std::move(work));
    const bool is_sound = !within.damaged() && within.end("") && into.work.is_set();
    if (!is_sound || !decode_past_attempts(into.work->past_attempts)) from.refuse();
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

// Fields of their own, in the text of field 38.
template <class Visitor, class Rows>
void previous_rows_fields(Visitor& visit, Rows& rows) {
    visit.boolean(1, rows.is_given);
    visit.signed_number(2, rows.expires_ms);
    visit.text(3, rows.order_key);
    visit.text(4, rows.group);
}

void previous_rows_field(FieldWriter& to, const Previous& previous) {
    if (!previous.rows.is_set()) return;
    std::string text;
    FieldWriter within(text);
    previous_rows_fields(within, *previous.rows);
    to.text(38, text);
}

void previous_rows_field(FieldsReader& from, Previous& into) {
    std::string_view text;
    if (!from.text(38, text)) return;
    FieldsReader within(text);
    PreviousRows rows;
    previous_rows_fields(within, rows);
    if (within.damaged() || !within.end("") || !rows.is_given) from.refuse();
    into.rows.set(std::move(rows));
}

template <class Visitor>
void first_put_field(Visitor& visit, auto& state) {
    visit.signed_number(37, state.first_put_ms);
}

template <class Visitor>
void group_field(Visitor& visit, auto& state) {
    visit.text(39, state.group);
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
    visit.retired_text(44);
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
        visit.retired_text(57);
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

// `T` or a const one.
template <class T, class Of>
concept Is = std::is_same_v<std::remove_const_t<T>, Of>;

template <class Visitor>
void name_space_field(Visitor& visit, auto& name_space) {
    visit.text(9, name_space, kDefaultNamespace);
}
template <class Visitor>
void time_field(Visitor& visit, auto& time_ms) {
    visit.signed_number(19, time_ms);
}

template <class Visitor, Is<MessageRecord> Of>
void record_fields(Visitor& visit, Of& record) {
    state_fields(visit, record.state);
    position_fields(visit, record);
    time_field(visit, record.time_ms);
    visit.newer_enumerator(20, record.cause, Cause::unanswered);
    previous_fields(visit, record.previous, record.state);
    last_state_fields(visit, record.state);
    lease_fields(visit, record);
    visit.signed_number(32, record.lateness_ms);
    visit.text(33, record.reason);
    visit.signed_number(34, record.ended_ms);
    visit.signed_number(35, record.wait_ms);
    work_field(visit, record.state);
    first_put_field(visit, record.state);
    previous_rows_field(visit, record.previous);
    group_field(visit, record.state);
    content_fields(visit, record.content);
}

// The revision before is in the form of a message's previous state, whose state is always this one.
template <class Visitor>
void before_fields(Visitor& visit, auto& record) {
    if (!Visitor::kReads && record.revision_before == 0) return;
    State state = State::scheduled;
    state_field(visit, 21, state, 0);
    visit.number(22, record.revision_before);
    visit.number(25, record.term_before);
}

template <class Visitor>
void first_subject_fields(Visitor& visit, auto& record) {
    name_space_field(visit, record.name_space);
    visit.number(17, record.log_position);
    visit.number(18, record.record_bytes);
    time_field(visit, record.time_ms);
    before_fields(visit, record);
}

template <class Visitor>
void last_subject_fields(Visitor& visit, auto& record) {
    const bool of_rule = record.kKind == RecordKind::rule;
    std::uint32_t number = number_of(record.subject);
    visit.newer_enumerator(70, number, number_of(of_rule ? kRuleSubjects.back() : kConfSubjects.back()));
    if constexpr (Visitor::kReads) record.subject = subject_of(of_rule, number).value_or(Subject::none);
    visit.text(71, record.name);
    visit.text(72, record.value);
}

template <class Visitor, Is<ConfRecord> Of>
void record_fields(Visitor& visit, Of& record) {
    first_subject_fields(visit, record);
    last_subject_fields(visit, record);
}

template <class Visitor, Is<RuleRecord> Of>
void record_fields(Visitor& visit, Of& record) {
    first_subject_fields(visit, record);
    content_fields(visit, record.content);
    last_subject_fields(visit, record);
    visit.signed_number(73, record.next_ms);
    visit.number(74, record.count);
    visit.number(75, record.skipped_from);
    visit.number(76, record.skipped_to);
}

template <class Visitor, Is<CursorRecord> Of>
void record_fields(Visitor& visit, Of& record) {
    visit.signed_number(4, record.due_ms);
    name_space_field(visit, record.name_space);
    visit.text(10, record.queue);
    visit.number(16, record.id);
    time_field(visit, record.time_ms);
    visit.boolean(77, record.removed);
}

template <class Visitor, Is<RelocationDoneRecord> Of>
void record_fields(Visitor& visit, Of& record) {
    time_field(visit, record.time_ms);
    visit.number(80, record.up_to);
    visit.number(81, record.live_count);
    visit.number(82, record.digest);
}

template <class Visitor, Is<EpochRecord> Of>
void record_fields(Visitor& visit, Of& record) {
    time_field(visit, record.time_ms);
    visit.number(83, record.incarnation);
}

template <class Visitor, Is<OutcomesRecord> Of>
void record_fields(Visitor& visit, Of& record) {
    time_field(visit, record.time_ms);
    visit.text(72, record.rows);
    visit.number(74, record.count);
    visit.number(80, record.up_to);
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
    work_field(visit, row.state);
    first_put_field(visit, row.state);
    group_field(visit, row.state);
}

Error damaged(std::string what) {
    return {"damaged_record"_code, std::move(what)};
}

// Checks the fields that each kind requires.
Status check_complete(const MessageRecord& record) {
    if (record.id == 0 || record.id > kMessageIdMax) return damaged("a record of a message without a valid id");
    if (record.state.queue.empty()) return damaged("a record of a message without a queue");
    if (!is_durable(record.state.state)) return damaged("a record holds a state that lives in memory alone");
    if ((record.kind == RecordKind::end) != is_ended(record.state.state) && record.kind != RecordKind::relocate) {
        return damaged("an end without an ended state, or an ended state without an end");
    }
    return {};
}
Status check_complete(const SubjectRecord& record) {
    if (record.name.empty() || record.subject == Subject::none) return damaged("settings or a rule of nothing");
    return {};
}
Status check_complete(const OutcomesRecord& record) {
    if (record.rows.empty() || record.segment == 0 || record.up_to == 0) {
        return damaged("outcomes without rows, or from nowhere");
    }
    return {};
}

template <class Of>
Status read_record(Of& record, std::string_view body) {
    FieldsReader from(body);
    record_fields(from, record);
    if (Status known = from.end("a record holds"); !known) return known;
    if (from.damaged()) return damaged("a record's fields cannot be read");
    if constexpr (std::is_same_v<Of, MessageRecord>) {
        if (record.previous.version != 0 && record.previous.queue.empty()) record.previous.queue = record.state.queue;
    }
    if constexpr (requires { check_complete(record); }) return check_complete(record);
    return {};
}

// Makes `into`, which is new and so of a message, an empty record of this kind.
void set_kind(Record& into, RecordKind kind) {
    switch (kind) {
        case RecordKind::put:
        case RecordKind::spawn:
        case RecordKind::change:
        case RecordKind::attempt:
        case RecordKind::end:
        case RecordKind::relocate:
        case RecordKind::replace:
            std::get<MessageRecord>(into).kind = kind;
            return;
        case RecordKind::conf:
            into.emplace<ConfRecord>();
            return;
        case RecordKind::rule:
            into.emplace<RuleRecord>();
            return;
        case RecordKind::cursor:
            into.emplace<CursorRecord>();
            return;
        case RecordKind::relocation_done:
            into.emplace<RelocationDoneRecord>();
            return;
        case RecordKind::epoch:
            into.emplace<EpochRecord>();
            return;
        case RecordKind::outcomes:
            into.emplace<OutcomesRecord>();
            return;
    }
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

RecordKind kind_of(const Record& record) {
    return std::visit(
        [](const auto& of) {
            if constexpr (requires { of.kind; }) {
                return of.kind;
            } else {
                return of.kKind;
            }
        },
        record);
}

std::size_t append_record(std::string& out, Sequence sequence, const Record& record) {
    const std::size_t start = out.size();
    out.append(kRecordFrameBytes, '\0');
    FieldWriter writer(out);
    std::visit([&](const auto& of) { record_fields(writer, of); }, record);
    const auto length = static_cast<std::uint32_t>(out.size() - start - kRecordFrameBytes);
    assert(length <= kRecordBodyBytesMax);
    char* frame = out.data() + start;
    put_integer(frame, length);
    put_integer(frame + 8, sequence);
    put_integer(frame + 16, static_cast<std::uint8_t>(kind_of(record)));
    put_integer(frame + kChecksumOffset, frame_checksum(std::string_view(out).substr(start), length));
    return out.size() - start;
}

Result<FramedRecord> read_frame(std::string_view bytes) {
    if (bytes.size() < kRecordFrameBytes) return Error{"torn_record"_code, "the log ends inside a record's frame"};
    const auto length = get_integer<std::uint32_t>(bytes.data());
    if (length > kRecordBodyBytesMax) return Error{"bad_checksum"_code, "a record's length is beyond any legal one"};
    const std::size_t size = kRecordFrameBytes + length;
    if (bytes.size() < size) return Error{"torn_record"_code, "the log ends inside a record"};
    if (get_integer<std::uint32_t>(bytes.data() + kChecksumOffset) != frame_checksum(bytes.substr(0, size), length)) {
        return Error{"bad_checksum"_code, "a record's checksum does not match its bytes"};
    }
    const auto kind = get_integer<std::uint8_t>(bytes.data() + 16);
    if (kind < 1 || kind > static_cast<std::uint8_t>(RecordKind::replace)) {
        return Error{"newer_format"_code,
                     "a record is of kind " + std::to_string(kind) +
                         ", which this version does not know: open the data with the version that wrote it"};
    }
    return FramedRecord{get_integer<std::uint64_t>(bytes.data() + 8), static_cast<RecordKind>(kind),
                        bytes.substr(kRecordFrameBytes, length), size};
}

Result<Record> decode_record(RecordKind kind, std::string_view body) {
    Result<Record> record{Record()};
    set_kind(*record, kind);
    if (Status read = std::visit([&](auto& of) { return read_record(of, body); }, *record); !read) {
        return std::move(read).error();
    }
    return record;
}

Result<MessageRecord> decode_message(RecordKind kind, std::string_view body) {
    assert(is_of_message(kind));
    MessageRecord record;
    record.kind = kind;
    if (Status read = read_record(record, body); !read) return std::move(read).error();
    return record;
}

Result<RuleRecord> decode_rule(std::string_view body) {
    RuleRecord record;
    if (Status read = read_record(record, body); !read) return std::move(read).error();
    return record;
}

std::uint64_t digest_term(MessageId id, const MessageState& state) {
    thread_local std::string bytes;
    bytes.clear();
    FieldWriter writer(bytes);
    state_fields(writer, state);
    last_state_fields(writer, state);
    work_field(writer, state);
    first_put_field(writer, state);
    group_field(writer, state);
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
