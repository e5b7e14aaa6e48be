#include "engine/messages/transactions.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/error_codes.h"
#include "engine/commands/refusals.h"

namespace duewheel {
namespace {

Error not_transactional() {
    return {"not_transactional"_code,
            "this message was put without `transaction`, so it cannot be committed or rolled back: check the id; to "
            "end a waiting message, cancel it"};
}

Error already_committed() {
    return {"already_committed"_code,
            "the message was already committed, by a call or by its default, so it cannot be rolled back: cancel it if "
            "it still waits"};
}

Error already_rolled_back(State state) {
    std::string how = "was rolled back, by a call or by its default, or cancelled";
    if (state == State::expired) how = "has expired";
    return {"already_rolled_back"_code,
            "the message " + how + ", so it cannot be committed: put it again if it is still needed"};
}

}  // namespace

Status Transactions::check_rule(const PutCommand& command) const {
    const TransactionRule& rule = *command.transaction;
    if (command.repeat) {
        return Error{"conflicting_members"_code,
                     "a recurring message cannot be put in a transaction: put it after the transaction, or let the "
                     "consumer of a message in the transaction put it",
                     "transaction"};
    }
    if (rule.check_queue.empty() && rule.check_times != 0) {
        return Error{"missing_member"_code,
                     "`times` needs a `queue` for the check messages; without checks, omit it: `otherwise` then "
                     "applies after `after`",
                     "transaction.check_back.queue"};
    }
    if (rule.check_after_ms < 1) {
        return Error{"out_of_range"_code, "`after` must be at least 1 ms", "transaction.check_back.after"};
    }
    const Result<DueMs> answered = resolve({std::nullopt, rule.check_after_ms}, "transaction.check_back.after");
    if (!answered) return answered.error();
    const bool in_range = rule.check_times >= 1 && rule.check_times <= options_.check_times_max;
    if (!rule.check_queue.empty() && !in_range) {
        return Error{"out_of_range"_code,
                     "the number of checks must be from 1 to " + std::to_string(options_.check_times_max) + " times",
                     "transaction.check_back.times"};
    }
    return {};
}

Status Transactions::check_queue(const PutCommand& command) {
    const std::string& check_queue = command.transaction->check_queue;
    const auto is_there = [&](const std::string& queue) {
        return recent_.queues().find(command.name_space, queue) != kNoQueue;
    };
    if (check_queue.empty() || check_queue == command.queue || is_there(check_queue)) return {};
    const bool begins_both = !is_there(command.queue);
    if (begins_both) {
        if (Status free = queues_.check_new_queue(command.name_space, command.queue); !free) return free;
    }
    Status free = queues_.check_new_queue(command.name_space, check_queue, begins_both ? &command.queue : nullptr);
    if (free) return free;
    Error error = std::move(free).error();
    error.field = "transaction.check_back.queue";
    error.message = "there is no queue `" + check_queue + "` for the check messages: " + error.message;
    return error;
}

Verdict Transactions::decide(PendingCommand& pending, const SettleCommand& command) {
    using What = Known::What;
    const Known known = finder_.find(pending, command.id, &command.name_space);
    const bool is_over = known.what == What::ended;
    if (known.what == What::gone || (is_over && is_forgotten(known.ended.ended_ms))) return replied(pending, gone());
    if (const auto verdict = finder_.answer_unless_here(known, pending, command.id)) return *verdict;
    const std::uint32_t step =
        is_over ? known.ended.state.transaction : recent_.transaction(recent_.entry(known.entry));
    const bool was_committed = step == MessageState::kCommitted;
    Reply answer = SettleAnswer{command.id, command.commits};
    if (step == 0) answer = not_transactional();
    if (was_committed && !command.commits) answer = already_committed();
    const bool is_prepared = step >= MessageState::kOpen;
    if (is_over && is_prepared && command.commits) answer = already_rolled_back(known.ended.state.state);
    if (is_over || !is_prepared) {
        return finder_.replied_unchanged(known, pending, std::move(answer));
    }
    const Entry& entry = recent_.entry(known.entry);
    assert(entry.state() == State::prepared);
    if (lifecycle_.is_purged(entry)) {
        if (command.commits) answer = already_rolled_back(State::cancelled);
        return finder_.purge(known, pending, std::move(answer));
    }
    // A message has at most one, and is not delivered before it: it is accepted as long as ends are.
    if (refuse_for_space(pending, Adds::end)) return finder_.withdraw(known), Verdict::settled;
    add(known.entry,
        command.commits ? commit_record(entry, Cause::committed) : rollback_record(entry, Cause::rolled_back),
        pending.token, std::move(answer));
    return Verdict::settled;
}

MessageRecord Transactions::commit_record(const Entry& entry, Cause cause) const {
    assert(is_legal_move(entry.state(), State::scheduled));
    MessageRecord record = changed(entry, RecordKind::change, cause);
    record.state.state = State::scheduled;
    record.state.transaction = MessageState::kCommitted;
    record.state.due_ms = std::max(entry.nominal_due_ms, now_);
    return record;
}

MessageRecord Transactions::rollback_record(const Entry& entry, Cause cause) const {
    assert(is_legal_move(entry.state(), State::cancelled));
    MessageRecord record = changed(entry, RecordKind::end, cause);
    record.state.state = State::cancelled;
    return record;
}

// ---- checks and defaults

// Takes the next overdue prepared messages, and reads the contents that are not in memory.
void Transactions::read_prepared() {
    if (!due_prepared_.has_to_read()) return;
    for (std::size_t taken = 0; taken < options_.overdue_prepared_max && due_prepared_.has_due(); ++taken) {
        const MessageId id = due_prepared_.first_due();
        const EntryNumber number = recent_.find(id);
        const bool is_overdue = number != kNoEntry && recent_.entry(number).waits_for == WaitsFor::outcome;
        if (is_overdue && !due_prepared_.fits(recent_.entry(number).record_bytes, options_.batch_bytes_max)) break;
        due_prepared_.pop_due();
        if (!is_overdue) continue;
        const Entry& entry = recent_.entry(number);
        due_prepared_.prepare(id, entry.log_position, entry.record_bytes, cache_);
    }
    if (auto wanted = due_prepared_.start_reading()) lookups_.start(*std::move(wanted), PreparedLookup{});
}

void Transactions::finish(const PreparedLookup&, const FoundRecords& records, Generation) {
    if (Status read = due_prepared_.take_records(records, "due prepared message"); !read) fail(std::move(read).error());
}

std::size_t Transactions::next_bytes() const {
    return !has_to_add() ? 0 : due_prepared_.first_ready().record_body.size() + 2 * kRecordOverheadMax;
}

// At most half of a batch, so that a million messages of a failed producer leave room for commands.
void Transactions::add_to_batch() {
    read_prepared();
    const std::size_t share = std::max<std::size_t>(options_.batch_operations_max / 2, 2);
    for (std::size_t left = due_prepared_.prepared_count(); left > 0 && has_to_add(); --left) {
        if (batch().count() + 2 > share || !has_room(next_bytes())) return;
        DueMessages::Item prepared = due_prepared_.take_ready();
        const EntryNumber number = recent_.find(prepared.id);
        if (number == kNoEntry || recent_.entry(number).waits_for != WaitsFor::outcome) continue;  // answered meanwhile
        if (recent_.entry(number).in_batch) {
            due_prepared_.put_back(std::move(prepared));
            continue;
        }
        if (lifecycle_.take_for_purge(number)) continue;
        if (lifecycle_.has_expired(number)) {
            lifecycle_.begin_expiry(number);
            continue;
        }
        add_overdue(number, prepared);
    }
}

// Sends a check to the producer of the prepared message, or settles it after the last check.
void Transactions::add_overdue(EntryNumber number, const DueMessages::Item& prepared) {
    const Result<MessageRecord> whole = decode_message(RecordKind::relocate, prepared.record_body);
    if (!whole || !whole->content.transaction) {
        effects_.fatal_error =
            !whole ? whole.error()
                   : Error{"damaged_log"_code, "the record of prepared message " + std::to_string(prepared.id) +
                                                   " has no transaction: run `duewheel check`"};
        return;
    }
    const Entry& entry = recent_.entry(number);
    const TransactionRule& rule = *whole->content.transaction;
    MessageRecord next = changed(entry, RecordKind::change, Cause::checked);
    if (next.state.checks() >= rule.check_times) {
        return add(
            number,
            rule.otherwise_commit ? commit_record(entry, Cause::unanswered) : rollback_record(entry, Cause::unanswered),
            0, Error{});
    }
    if (segment_.refuses_puts())
        return lifecycle_.arm(number, std::min(now_ + options_.spawn_again_ms, lifecycle_.expiry(number)));
    assert(is_legal_move(entry.state(), State::prepared));
    next.state.transaction += 1;
    next.state.due_ms = now_ + rule.check_after_ms;
    if (can_be_checked(next.state.name_space, rule.check_queue)) {
        add(kNoEntry, check_record(entry, next.state, whole->content), 0, Error{});
    }
    add(number, std::move(next), 0, Error{});
}

// Which limit prevents the creation of a check queue that does not exist.
Queues::NameLimit Transactions::limit_of_check(const std::string& name_space, const std::string& queue) {
    const bool is_there = recent_.queues().find(name_space, queue) != kNoQueue;
    return is_there ? Queues::NameLimit::none : queues_.limit_of_names(name_space, queue);
}

// Whether the check queue exists or may be created; counts the check if so.
bool Transactions::can_be_checked(const std::string& name_space, const std::string& queue) {
    const Queues::NameLimit limit = limit_of_check(name_space, queue);
    if (limit == Queues::NameLimit::of_server) queues_.have_names_released();
    if (limit != Queues::NameLimit::none) return false;
    queues_.count_put(recent_.queues().find(name_space, queue), name_space, queue);
    return true;
}

ErrorCode Transactions::why_check_waits(const MessageState& prepared, const TransactionRule& rule) {
    const bool has_checks_left = !rule.check_queue.empty() && prepared.checks() < rule.check_times;
    if (!has_checks_left || (prepared.expires_ms != 0 && prepared.expires_ms <= prepared.due_ms))
        return ErrorCode::none;
    if (prepared.due_ms <= now_ && segment_.refuses_puts()) return "store_full"_code;
    return limit_of_check(prepared.name_space, rule.check_queue) == Queues::NameLimit::none ? ErrorCode::none
                                                                                            : "queue_limit"_code;
}

// The check message about `entry`, whose new state is `prepared`. It contains the content of the prepared message, so
// that the producer recognizes its transaction by its own body and headers.
MessageRecord Transactions::check_record(const Entry& entry, const MessageState& prepared,
                                         const MessageContent& content) const {
    MessageRecord record;
    record.kind = RecordKind::spawn;
    record.cause = Cause::checked;
    record.id = next_id();
    record.state.due_ms = record.state.nominal_due_ms = now_;
    record.state.expires_ms = prepared.due_ms;
    record.state.maybe_delivered = earlier_runs_.may_have_created(entry.id, entry.due_ms);
    record.state.priority = prepared.priority;
    record.state.name_space = prepared.name_space;
    record.state.queue = content.transaction->check_queue;
    record.content = content;
    record.content.put_ms = now_;
    record.content.parent = entry.id;
    record.content.occurrence = prepared.checks();
    return record;
}

}  // namespace duewheel
