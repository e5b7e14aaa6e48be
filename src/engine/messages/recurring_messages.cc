#include "engine/messages/recurring_messages.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/error_codes.h"

namespace duewheel {

ErrorCode RecurringMessages::why_waits(EntryNumber number) {
    const Entry& entry = recent_.entry(number);
    if (segment_.refuses_puts()) return "store_full"_code;
    return queues_.why_not_created(entry.queue, recent_.queues().name(entry.queue).name_space, entry.due_ms);
}

// Tries again later; until then its content is not read.
void RecurringMessages::try_again_later(EntryNumber number) {
    lifecycle_.arm(number, now_ + options_.spawn_again_ms);
}

// Takes the next due recurring messages, and reads the contents that are not in memory.
void RecurringMessages::read() {
    if (!due_.has_to_read()) return;
    for (std::size_t taken = 0; taken < options_.spawn_recurring && due_.has_due(); ++taken) {
        const MessageId id = due_.first_due();
        const EntryNumber number = recent_.find(id);
        const bool spawns = number != kNoEntry && recent_.entry(number).waits_for == WaitsFor::occurrence;
        if (spawns && !due_.fits(recent_.entry(number).record_bytes, options_.batch_bytes_max)) break;
        due_.pop_due();
        if (!spawns) continue;
        if (why_waits(number) != ErrorCode::none) {
            try_again_later(number);
            continue;
        }
        const Entry& entry = recent_.entry(number);
        due_.prepare(id, entry.log_position, entry.record_bytes, cache_);
    }
    if (auto wanted = due_.start_reading()) lookups_.start(*std::move(wanted), SpawnLookup{});
}

void RecurringMessages::finish(const SpawnLookup&, const FoundRecords& records, Generation) {
    if (Status read = due_.take_records(records, "due recurring message"); !read) fail(std::move(read).error());
}

std::size_t RecurringMessages::next_bytes() const {
    return !has_to_add() ? 0 : due_.first_ready().record_body.size() + 2 * kRecordOverheadMax;
}

// At most half of a batch, so that recurring messages that have fallen far behind leave room for commands.
void RecurringMessages::add_to_batch() {
    read();
    const std::size_t share = std::max<std::size_t>(options_.batch_operations_max / 2, 2);
    for (std::size_t left = due_.prepared_count(); left > 0 && has_to_add(); --left) {
        if (batch().count() + 2 > share || !has_room(next_bytes())) return;
        DueMessages::Item due = due_.take_ready();
        const EntryNumber number = recent_.find(due.id);
        if (number == kNoEntry || recent_.entry(number).waits_for != WaitsFor::occurrence)
            continue;  // a command ended it
        if (must_wait(number)) {
            due_.put_back(std::move(due));
            continue;
        }
        if (lifecycle_.take_for_purge(number)) continue;
        if (why_waits(number) != ErrorCode::none) {
            try_again_later(number);
            continue;
        }
        make_occurrences(number, std::move(due), share);
    }
}

// Until a batch is durable that changes the recurring message, or the settings of its queue: that may be a purge, which
// would miss occurrences that are created now.
bool RecurringMessages::must_wait(EntryNumber number) {
    const Entry& entry = recent_.entry(number);
    return entry.in_batch || queues_.at(entry.queue).next_settings;
}

// Decodes the record of the recurring message; a record that cannot be decoded is a fatal error.
std::optional<MessageRecord> RecurringMessages::whole_record(const DueMessages::Item& due) {
    Result<MessageRecord> whole = decode_message(RecordKind::relocate, due.record_body);
    if (whole && whole->content.repeat) return *std::move(whole);
    effects_.fatal_error = !whole
                               ? whole.error()
                               : Error{"damaged_log"_code, "the record of recurring message " + std::to_string(due.id) +
                                                               " has no rule: run `duewheel check`"};
    return std::nullopt;
}

// The next occurrence of a recurring message with the state `recurring`, and the record `whole` in the log.
MessageRecord RecurringMessages::occurrence_record(MessageId id, const MessageState& recurring,
                                                   const MessageRecord& whole, DueMs due) const {
    const Repeat& repeat = *whole.content.repeat;
    MessageRecord record;
    record.kind = RecordKind::spawn;
    record.id = next_id();
    record.state.due_ms = record.state.nominal_due_ms = due;
    if (repeat.expires_after_ms != 0) record.state.expires_ms = due + repeat.expires_after_ms;
    record.state.maybe_delivered = earlier_runs_.may_have_created(id, due);
    record.state.priority = recurring.priority;
    record.state.retry = recurring.retry;
    record.state.name_space = recurring.name_space;
    record.state.queue = recurring.queue;
    record.state.order_key = repeat.order_key;
    record.state.group = recurring.group;
    record.content = whole.content;
    record.content.repeat.reset();
    record.content.put_ms = now_;
    record.content.parent = id;
    record.content.occurrence = recurring.next_occurrence;
    return record;
}

// Writes the due occurrences of the recurring message, as many as fit, and its new state.
void RecurringMessages::make_occurrences(EntryNumber number, DueMessages::Item due, std::size_t share) {
    const std::optional<MessageRecord> whole = whole_record(due);
    if (!whole) return;
    const Entry& entry = recent_.entry(number);
    const RepeatRule& rule = whole->content.repeat->rule;
    MessageRecord recurring = changed(entry, RecordKind::change, Cause::spawned);
    if (!recurring.state.key.empty() && recurring.state.first_due_ms == 0)
        recurring.state.first_due_ms = recurring.state.nominal_due_ms;
    std::optional<DueMs> next = entry.due_ms;
    for (std::uint32_t made = 0; next && *next <= now_ && made < options_.spawn_chunk; ++made) {
        if (made > 0 && (batch().count() + 2 > share || !has_room(due.record_body.size() + 2 * kRecordOverheadMax)))
            break;
        if (!queues_.take_room_to_create(entry.queue, recurring.state.name_space, recurring.state.queue, *next)) break;
        add(kNoEntry, occurrence_record(entry.id, recurring.state, *whole, *next), 0, Error{});
        next = next_occurrence_ms(rule, recurring.state.next_occurrence, *next);
        recurring.state.next_occurrence += 1;
    }
    if (next) {
        recurring.state.due_ms = recurring.state.nominal_due_ms = *next;
    } else {
        assert(is_legal_move(entry.state(), State::done));
        recurring.kind = RecordKind::end;
        recurring.state.state = State::done;
    }
    add(number, std::move(recurring), 0, Error{});
}

}  // namespace duewheel
