// Leases of messages: how they begin, are extended and end, and which of an earlier run this one keeps.
#include <algorithm>
#include <vector>

#include "engine/messages/lifecycle.h"

namespace duewheel {

void Lifecycle::dequeue(EntryNumber number) {
    become(number, WaitsFor::lease);
}

void Lifecycle::untake(EntryNumber number) {
    become(number, WaitsFor::consumer);
}

void Lifecycle::start_attempt(EntryNumber number, const LeaseTerms& terms, DueMs late_from_ms) {
    Entry& entry = recent_.entry(number);
    const bool has_earlier = entry.has_unwritten_attempt();
    entry.begun += 1;
    forget_held_back(entry.id);
    const auto late_ms = static_cast<std::uint32_t>(std::clamp<DueMs>(now_ - late_from_ms, 0, UINT32_MAX));
    const DueMs until_ms = now_ + terms.lease_ms;
    leases_[entry.id] = {.attempt = entry.begun,
                         .lateness_ms = late_ms,
                         .until_ms = until_ms,
                         .wait_ms = late_from_ms - entry.nominal_due_ms,
                         .began_ms = now_,
                         .incarnation = run_.incarnation,
                         .ends_with_server = terms.ends_with_server,
                         .worker = terms.worker};
    unsettled_expiry(number);
    arm(number, until_ms);
    if (!has_earlier) own_.attempts.note(entry.id);
}

DueMs Lifecycle::kept_until(const RecordedLease& recorded) const {
    const bool is_of_earlier_run = recorded.until_ms != 0 && recorded.incarnation != run_.incarnation;
    if (!is_of_earlier_run || earlier_runs_.saw_end_of(recorded.until_ms)) return 0;
    const DueMs until_ms = std::max(recorded.until_ms, grace_until_ms_);
    return until_ms > now_ ? until_ms : 0;
}

// Leases the message as an earlier run did, if a record says so. `forgives`: otherwise its last attempt ended with that
// run, or in the grace of this one.
void Lifecycle::resume_lease(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    const RecordedLease& recorded = recent_.work(entry).lease;
    if (recorded.incarnation == 0 || recorded.incarnation == run_.incarnation) return;
    const DueMs until_ms = kept_until(recorded);
    const bool is_in_grace = recorded.until_ms < grace_until_ms_;
    if (until_ms == 0) {
        entry.forgives = is_in_grace;
        return;
    }
    entry.from_past = earlier_runs_.may_have_ended(recorded.began_ms);
    leases_[entry.id] = {.attempt = entry.begun,
                         .until_ms = until_ms,
                         .wait_ms = std::max<DueMs>(recorded.began_ms - entry.nominal_due_ms, 0),
                         .began_ms = recorded.began_ms,
                         .incarnation = recorded.incarnation,
                         .is_in_grace = is_in_grace,
                         .worker = recorded.worker};
    become(number, WaitsFor::lease);
    order_lines_.hold(number);
    unsettled_expiry(number);
    arm(number, until_ms);
    if (is_in_grace && run_.serving) note_lease(number);  // else begin_grace() does it
}

void Lifecycle::begin_grace() {
    grace_until_ms_ = now_ + options_.lease_grace_ms;
    std::vector<MessageId> in_grace;  // all leases are of earlier runs so far
    for (const auto& [id, lease] : leases_) {
        if (lease.is_in_grace || lease.until_ms < grace_until_ms_) in_grace.push_back(id);
    }
    std::sort(in_grace.begin(), in_grace.end());  // the order of a hash table must not be visible
    for (const MessageId id : in_grace) {
        Lease& lease = leases_.at(id);
        lease.until_ms = grace_until_ms_;
        lease.is_in_grace = true;
        const EntryNumber number = recent_.find(id);
        arm(number, grace_until_ms_);
        note_lease(number);
    }
}

void Lifecycle::extend_lease(EntryNumber number, DueMs until_ms) {
    Lease& lease = leases_.at(recent_.entry(number).id);
    lease.until_ms = std::max(lease.until_ms, until_ms);
    lease.is_in_grace = false;
    arm(number, lease.until_ms);
    note_lease(number);
}

// An attempt without a record waits for one anyway.
void Lifecycle::note_lease(EntryNumber number) {
    const Entry& entry = recent_.entry(number);
    Lease& lease = leases_.at(entry.id);
    const bool will_be_written = entry.has_unwritten_attempt() && !entry.in_batch;
    if (lease.ends_with_server || lease.is_extended || will_be_written) return;
    lease.is_extended = true;
    own_.attempts.note(entry.id);
}

bool Lifecycle::was_lost_by_restart(EntryNumber number, const LeaseToken& lease) const {
    const Entry& entry = recent_.entry(number);
    if (lease.incarnation == run_.incarnation) return false;
    if (lease.attempt > entry.attempts) return true;  // a crash has forgotten it
    const RecordedLease& recorded = recent_.work(entry).lease;
    if (lease.attempt < entry.attempts || recorded.incarnation == 0) return false;
    return recorded.incarnation != lease.incarnation || recorded.until_ms == 0;
}

void Lifecycle::end_lease(EntryNumber number) {
    const Entry& entry = recent_.entry(number);
    assert(entry.waits_for == WaitsFor::lease);
    const MessageId id = entry.id;
    const DueMs until = leases_.at(id).until_ms;
    if (leases_.at(id).is_in_grace) recent_.entry(number).forgives = true;
    disarm(number);
    settled_expiry(number);
    if (is_purged(entry)) {
        // Its line delivers no other message before the end of this one is on disk.
        order_lines_.take_back(number);
        become(number, WaitsFor::none);
        if (entry.purging) to_purge_.push_back(id);  // the scan found it while it was leased
        static_cast<void>(take_for_purge(number));
        return;
    }
    place(number);
    note_held_back(number, id, std::min(until, now_));
}

void Lifecycle::give_up_lease(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    if (!entry.in_batch) return end_lease(number);
    leases_.at(entry.id).until_ms = now_;
    disarm(number);
    note_fired(entry);
}

}  // namespace duewheel
