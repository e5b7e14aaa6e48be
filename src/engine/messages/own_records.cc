#include "engine/messages/own_records.h"

#include <algorithm>
#include <cassert>

namespace duewheel {
namespace {

constexpr std::string_view kLeaseLost = "lease lost";

}  // namespace

void ExpiredMessages::add_to_batch() {
    const std::size_t share = std::max<std::size_t>(options_.batch_operations_max / 2, 1);
    for (std::size_t left = expired_.size(); left > 0 && batch().count() < share; --left) {
        const MessageId id = expired_.front();
        const EntryNumber number = recent_.find(id);
        assert(number != kNoEntry && recent_.entry(number).waits_for == WaitsFor::expired);
        const Entry& entry = recent_.entry(number);
        if (!has_room(change_bytes_max(entry))) return;
        expired_.pop_front();
        if (entry.in_batch) {
            expired_.push_back(id);
            continue;
        }
        assert(is_legal_move(entry.state(), State::expired));
        MessageRecord record = changed(entry, RecordKind::end, Cause::expired);
        record.state.state = State::expired;
        record.lateness_ms = now_ - record.state.expires_ms;
        add(number, std::move(record), 0, Error{});
    }
}

DueMs StartedAttempts::due_ms() const {
    if (attempts_.empty() || segment_.attempts_wait()) return kNever;
    return run_.stopping ? now_ : attempts_.front().began_ms + kWaitMs;
}

void StartedAttempts::add_to_batch() {
    if (segment_.attempts_wait()) return keep_waiting();
    if (!has_work()) return;
    const DueMs until_ms = run_.stopping ? now_ : now_ - kWaitMs / 2;
    std::vector<Attempt> kept;
    for (; !attempts_.empty() && attempts_.front().began_ms <= until_ms; attempts_.pop_front()) {
        const EntryNumber number = recent_.find(attempts_.front().id);
        if (number == kNoEntry) continue;
        const Entry& entry = recent_.entry(number);
        if (!is_to_be_written(entry.id)) continue;  // a record of a change contains it
        if (!has_room(change_bytes_max(entry) + kRecordedLeaseBytesMax) ||
            batch().count() >= options_.batch_operations_max)
            break;
        if (entry.in_batch) {
            kept.push_back(attempts_.front());
            continue;
        }
        add(number, record_of(entry), 0, Error{});
        if (const auto lease = leases_.find(entry.id); lease != leases_.end()) lease->second.is_extended = false;
    }
    attempts_.insert(attempts_.begin(), kept.begin(), kept.end());
}

// Attempts of messages that have ended are removed when they are the majority.
void StartedAttempts::keep_waiting() {
    if (attempts_.size() <= 2 * recent_.entry_count() + 64) return;
    std::erase_if(attempts_, [this](const Attempt& attempt) {
        return recent_.find(attempt.id) == kNoEntry || !is_to_be_written(attempt.id);
    });
}

bool StartedAttempts::is_to_be_written(MessageId id) const {
    if (recent_.entry(recent_.find(id)).has_unwritten_attempt()) return true;
    const auto lease = leases_.find(id);
    return lease != leases_.end() && lease->second.is_extended;
}

MessageRecord StartedAttempts::record_of(const Entry& entry) const {
    MessageRecord record = changed(entry, RecordKind::attempt, Cause::none);
    RecordedLease recorded;
    if (const auto lease = leases_.find(entry.id); lease != leases_.end()) {
        const Lease& held = lease->second;
        recorded.until_ms = held.ends_with_server || held.is_promised ? 0 : held.until_ms;
        recorded.began_ms = held.began_ms;
        recorded.incarnation = held.incarnation;
        recorded.worker = *held.worker;
    }
    record.state.work.edit([&](WorkState& work) { work.lease = std::move(recorded); });
    return record;
}

void ExhaustedMessages::add_to_batch() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < exhausted_.size(); ++i) {
        const EntryNumber number = recent_.find(exhausted_[i]);
        if (number == kNoEntry) continue;
        const Entry& entry = recent_.entry(number);
        const bool is_over = is_ending(entry.waits_for) && entry.waits_for != WaitsFor::expired;
        if (!is_over || entry.purging) continue;  // a command changed it, or a purge ends it
        const bool fits = has_room(end_bytes_max(entry)) && batch().count() < options_.batch_operations_max;
        if (entry.in_batch || !fits) {
            exhausted_[kept++] = exhausted_[i];
            continue;
        }
        add(number, end_of(entry), 0, Error{});
    }
    exhausted_.resize(kept);
}

MessageRecord ExhaustedMessages::end_of(const Entry& entry) const {
    const bool is_cancelled = entry.waits_for == WaitsFor::cancelled;
    MessageRecord record = changed(entry, RecordKind::end, is_cancelled ? Cause::cancelled : Cause::attempts_used_up);
    record.state.state = is_cancelled ? State::cancelled : State::dead;
    assert(is_legal_move(entry.state(), record.state.state));
    if (!is_cancelled) record.reason = reason(entry);
    return record;
}

// A message may be exhausted although its last attempt ended with a failure: its rule may allow fewer attempts now.
std::string_view ExhaustedMessages::reason(const Entry& entry) const {
    if (entry.waits_for == WaitsFor::lease_lost || entry.durable_state != State::retrying) return kLeaseLost;
    const std::string_view given = recent_.reason(entry);
    if (!given.empty()) return given;
    return entry.from_past ? kLeaseLost : kNoReason;
}

std::size_t ExhaustedMessages::next_bytes() const {
    if (exhausted_.empty()) return 0;
    const EntryNumber first = recent_.find(exhausted_.front());
    return first != kNoEntry ? end_bytes_max(recent_.entry(first)) : kRecordOverheadMax;
}

}  // namespace duewheel
