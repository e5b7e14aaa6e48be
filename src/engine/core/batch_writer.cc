#include "engine/core/batch_writer.h"

#include <algorithm>

#include "engine/commands/command_traits.h"
#include "message/records/past_attempts.h"
#include "message/records/subject.h"

namespace duewheel {
namespace {

// How the attempt ended whose lease a record with this cause ends.
AttemptOutcome outcome_of(Cause cause) {
    switch (cause) {
        case Cause::acknowledged:
            return AttemptOutcome::done;
        case Cause::failed:
            return AttemptOutcome::failed;
        case Cause::released:
            return AttemptOutcome::released;
        case Cause::held:
            return AttemptOutcome::held;
        case Cause::expired:
            return AttemptOutcome::expired;
        case Cause::cancelled:
            return AttemptOutcome::cancelled;
        default:
            return AttemptOutcome::lease_lost;
    }
}

}  // namespace

bool BatchWriter::has_room(std::size_t bytes) const {
    const std::size_t grown = batch().bytes() + bytes;
    if (batch().empty() && uses_.segment_.is_empty()) return true;
    if (!batch().empty() && grown > uses_.options_.batch_bytes_max) return false;
    return uses_.segment_.fits(grown);
}

std::size_t BatchWriter::work_bytes_max(const Entry& entry) const {
    const std::size_t recorded = entry.has_rare ? uses_.recent_.work_bytes_max(entry) : 0;
    std::size_t worker = 0;
    if (const auto held = uses_.leases_.find(entry.id); held != uses_.leases_.end())
        worker = held->second.worker->size();
    return recorded + worker == 0 ? 0 : recorded + worker + 2 * kPastAttemptBytesMax;
}

std::size_t BatchWriter::change_bytes_max(const Entry& entry) const {
    return kRecordOverheadMax + work_bytes_max(entry);
}

std::size_t BatchWriter::change_bytes_max(MessageId id) const {
    const EntryNumber number = uses_.recent_.find(id);
    return number == kNoEntry ? kRecordOverheadMax : change_bytes_max(uses_.recent_.entry(number));
}

bool BatchWriter::refuse_for_space(const PendingCommand& pending, Adds what) const {
    if (uses_.segment_.may_add(what)) return false;
    ++uses_.counters_.changes_refused_full;
    uses_.reply(pending.token, uses_.segment_.no_space_for(what));
    return true;
}

void BatchWriter::add(EntryNumber number, MessageRecord&& record, ReplyToken token, Reply&& with) {
    if (number != kNoEntry) {
        Entry& entry = uses_.recent_.entry(number);
        entry.in_batch = true;
        add_attempts(entry, record);
    }
    batch().add(std::move(record), number, token, std::move(with));
}

void BatchWriter::add(EntryNumber number, Record&& record, ReplyToken token, Reply&& with) {
    if (number != kNoEntry) uses_.recent_.entry(number).in_batch = true;
    batch().add(std::move(record), number, token, std::move(with));
}

// An attempt that the log knows ends with a record of its end, or with the first record after its lease was lost. The
// ack of a short attempt by a worker without a name, of which the log knows nothing, adds nothing: such are most.
void BatchWriter::add_attempts(const Entry& entry, MessageRecord& record) const {
    if (record.kind == RecordKind::relocate || record.cause == Cause::purged) return;
    const auto held = uses_.leases_.find(entry.id);
    const Lease* const lease = held == uses_.leases_.end() ? nullptr : &held->second;
    const WorkState& before = uses_.recent_.work(entry);
    const bool is_recorded = before.lease.began_ms != 0;
    const bool is_silent = !is_recorded && !record.state.work.is_set();
    if (is_silent && lease == nullptr) return;
    if (is_silent && record.cause == Cause::acknowledged && !lease->worker.is_set()) return;
    const bool lasts = lease != nullptr && record.kind == RecordKind::attempt;
    record.state.work.edit([&](WorkState& work) {
        if (is_recorded && (lease == nullptr || lease->attempt != entry.attempts)) {
            append_past_attempt(work.past_attempts, {entry.attempts,
                                                     before.lease.began_ms,
                                                     std::max(before.lease.until_ms, before.lease.began_ms),
                                                     AttemptOutcome::lease_lost,
                                                     {},
                                                     before.lease.worker,
                                                     0});
        }
        if (lease != nullptr && !lasts) {
            append_past_attempt(work.past_attempts,
                                {lease->attempt, lease->began_ms, uses_.now_, outcome_of(record.cause),
                                 std::string(record.reason), *lease->worker, lease->incarnation});
        }
        if (record.kind == RecordKind::end && record.state.state != State::dead) {
            work.progress.clear();
            work.checkpoint.clear();
        }
    });
}

void BatchWriter::add_conf(Subject subject, std::string_view name_space, std::string_view name, std::string_view value,
                           const std::optional<StoredConf>& before, ReplyToken token, Reply with) {
    ConfRecord record;
    record.time_ms = uses_.now_;
    record.subject = subject;
    record.name_space = name_space;
    record.name = name;
    record.value = value;
    if (before) {
        record.log_position = before->log_position;
        record.record_bytes = before->record_bytes;
        record.revision_before = before->revision;
        record.term_before = subject_term(subject, name_space, name, before->value);
    }
    batch().add(std::move(record), kNoEntry, token, std::move(with));
}

Previous BatchWriter::previous_of(MessageId id, const MessageState& state) {
    Previous previous{.state = state.state, .version = state.version, .due_ms = state.due_ms, .queue = state.queue};
    if (state.state != State::dead) previous.term = digest_term(id, state);
    if (!state.order_key.empty() && state.nominal_due_ms != state.due_ms) {
        previous.nominal_due_ms = state.nominal_due_ms;
    }
    return previous;
}

MessageRecord BatchWriter::changed(const Entry& entry, RecordKind kind, Cause cause) const {
    MessageRecord record;
    record.kind = kind;
    record.id = entry.id;
    record.log_position = entry.log_position;
    record.record_bytes = entry.record_bytes;
    record.time_ms = uses_.now_;
    record.cause = cause;
    record.state = uses_.recent_.durable_state(entry);
    record.previous = previous_of(entry.id, record.state);
    if (record.state.state == State::dead) record.previous.ended_ms = uses_.recent_.ended_ms(entry);
    record.state.version += 1;
    record.state.attempts = entry.begun;
    record.state.maybe_delivered |= entry.from_past;
    if (entry.forgives) record.state.attempts_forgiven += 1;
    if (kind != RecordKind::attempt && record.state.work.is_set()) {
        record.state.work.edit([](WorkState& work) {
            work.lease = {};
            work.cancel_requested = false;
        });
    }
    return record;
}

MessageRecord BatchWriter::changed_again(std::size_t operation, RecordKind kind) const {
    const Operation& before = batch().operations()[operation];
    const auto& earlier = std::get<MessageRecord>(before.record);
    MessageRecord record;
    record.kind = kind;
    record.id = earlier.id;
    record.log_position = before.sequence;
    record.record_bytes = before.frame_bytes;
    record.time_ms = uses_.now_;
    record.state = earlier.state;
    record.previous = previous_of(earlier.id, earlier.state);
    record.state.version += 1;
    return record;
}

MessageId BatchWriter::next_id() const {
    return (std::max(batch().totals().id_counter, uses_.earlier_runs_.ids_from()) + 1) * kShardsMax +
           uses_.options_.shard;
}

}  // namespace duewheel
