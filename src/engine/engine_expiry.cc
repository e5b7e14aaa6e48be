// Messages that expire before they are leased. From that instant on such a message is not delivered; its end is a
// record like any other, which is part of the next batch, and is durable before it has an effect.
//
// A message that is leased when it expires can be acknowledged while its lease lasts; if the lease ends otherwise, the
// message expires then. Until an expiry that has come is on disk, the load cursor does not pass it, so that a restart
// finds its row again.
#include <algorithm>
#include <cassert>

#include "engine/engine.h"

namespace duewheel {

Error Engine::expires_too_soon(std::string field) {
    return {"expires_too_soon",
            "the message would expire before it is due and could never be delivered: choose an earlier due time, or a "
            "later expiry",
            std::move(field)};
}

// When the message expires; kNoWakeup: never, or it has ended.
DueMs Engine::expiry(EntryNumber number) const {
    const Entry& entry = recent_.entry(number);
    if (!entry.has_rare || is_ended(entry.state)) return kNoWakeup;
    const DueMs at = recent_.expires_ms(number);
    return at == 0 ? kNoWakeup : at;
}

// It has expired and is not leased.
bool Engine::has_expired(EntryNumber number) const {
    return recent_.entry(number).state != State::leased && expiry(number) <= now_;
}

// The load cursor stays below the expiry until settled_expiry().
void Engine::unsettled_expiry(EntryNumber number) {
    const DueMs at = expiry(number);
    if (at != kNoWakeup) unsettled_expiries_.insert({at, recent_.entry(number).id});
}

void Engine::settled_expiry(EntryNumber number) {
    const Entry& entry = recent_.entry(number);
    if (entry.has_rare) unsettled_expiries_.erase({recent_.expires_ms(number), entry.id});
}

// Removes the message from everything that could deliver it, and has its end written.
void Engine::begin_expiry(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    if (entry.expiring || entry.purging || entry.exhausted) return;  // these end it just as soon
    assert(!is_ended(entry.state) && entry.state != State::leased && expiry(number) <= now_);
    if (entry.state == State::ready) unready(number);
    static_cast<void>(wheel_.cancel(TimerHandle{entry.timer}));
    entry.expiring = true;
    expiries_.push_back(entry.id);
    unsettled_expiry(number);
}

// A lease that ends without an ack after the expiry of its message ends the message too.
Verdict Engine::expire(EntryNumber number, PendingCommand& pending) {
    Record record = changed(recent_.entry(number), RecordKind::end, Cause::expired);
    record.state.state = State::expired;
    record.lateness_ms = now_ - record.state.expires_ms;
    add(number, std::move(record), pending.token, LeaseEndAnswer{LeaseOutcome::expired, 0, 0});
    return Verdict::settled;
}

// At most half of a batch, so that a million that expire at one instant leave room for commands.
void Engine::add_expiries() {
    const std::size_t share = std::max<std::size_t>(options_.batch_operations_max / 2, 1);
    for (std::size_t left = expiries_.size(); left > 0 && batch().count() < share; --left) {
        if (!has_room(kRecordOverheadMax)) return;
        const MessageId id = expiries_.front();
        expiries_.pop_front();
        const EntryNumber number = recent_.find(id);
        assert(number != kNoEntry && recent_.entry(number).expiring);
        const Entry& entry = recent_.entry(number);
        if (entry.in_batch) {
            expiries_.push_back(id);
            continue;
        }
        assert(is_legal_move(entry.state, State::expired));
        Record record = changed(entry, RecordKind::end, Cause::expired);
        record.state.state = State::expired;
        record.lateness_ms = now_ - record.state.expires_ms;
        add(number, std::move(record), 0, Error{});
    }
}

// Whether the entry may leave memory: the index contains it, and no timer before the end of the window needs it.
bool Engine::may_leave(EntryNumber number) const {
    const Entry& entry = recent_.entry(number);
    return entry.segment == 0 && !entry.in_batch && !entry.attempt_queued && !entry.expiring && !entry.purging &&
           !entry.exhausted && !entry.spawning && !entry.unanswered && expiry(number) >= window_.until_ms();
}

}  // namespace duewheel
