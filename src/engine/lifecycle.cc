#include "engine/lifecycle.h"

#include <algorithm>
#include <cassert>
#include <unordered_map>

#include "base/invariant.h"
#include "engine/lateness.h"

namespace duewheel {

// ---- memory

void Lifecycle::start() {
    window_.start();
    for (EntryNumber number = 0; number < recent_.entry_limit(); ++number) {
        Entry& entry = recent_.entry(number);
        if (entry.id == 0) continue;
        entry.from_past =
            !recent_.is_recurring(entry) &&
            earlier_runs_.may_have_delivered(entry.id, entry.durable_state, entry.due_ms, entry.nominal_due_ms);
        join_line(number);
    }
    for (EntryNumber number = 0; number < recent_.entry_limit(); ++number) {
        if (recent_.entry(number).id != 0) settle(number);
    }
}

EntryNumber Lifecycle::admit(const MessageRow& row) {
    const EntryNumber number = recent_.admit(row);
    recent_.entry(number).from_past = earlier_runs_.may_have_delivered(row.id, row.state);
    join_line(number);
    return number;
}

void Lifecycle::drop(EntryNumber number, Leaving leaving) {
    disarm(number);
    forget_held_back(recent_.entry(number).id);
    order_lines_.leave(number, leaving);
    recent_.drop(number);
}

bool Lifecycle::may_leave(EntryNumber number) const {
    const Entry& entry = recent_.entry(number);
    return entry.segment == 0 && !entry.in_batch && !entry.has_unwritten_attempt() && !entry.expiring &&
           !entry.purging && !entry.exhausted && !entry.spawning && !entry.unanswered &&
           expiry(number) >= window_.until_ms();
}

void Lifecycle::sweep(EntryNumber number) {
    const Entry& entry = recent_.entry(number);
    if (!may_leave(number)) return;  // an entry that is in a batch or expires is dropped later
    if (is_timed(entry.state)) {
        if (entry.blocked || entry.due_ms >= window_.until_ms()) drop(number);
    } else if (entry.state == State::ready) {
        Queue& at = queues_.at(entry.queue);
        if (at.ready_count <= ready_max_for(entry)) return;
        --at.ready_count;
        --ready_count_;
        evict(number);
    } else if (entry.state != State::leased) {
        drop(number);
    }
}

// ---- changes

void Lifecycle::wake(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    if (entry.in_batch) return note_fired(entry);
    if (entry.state == State::leased) {
        const DueMs until = leases_.at(entry.id).until_ms;
        if (until > now_) return arm(number, until);
        queues_.count_in(entry.queue, &QueueTotals::leases_expired);
        return end_lease(number);
    }
    if (entry.spawning) return requeue_spawn(number);
    if (entry.unanswered) return recheck_prepared(number);
    settle(number);
}

void Lifecycle::settle(EntryNumber number) {
    if (take_for_purge(number) || recent_.entry(number).exhausted || recent_.entry(number).spawning) return;
    Entry& entry = recent_.entry(number);
    if (has_expired(number)) return begin_expiry(number);
    if (entry.state == State::ready) return;
    if (entry.state == State::prepared) return settle_prepared(number);
    if (!waits_for_due(entry.state)) {
        may_leave(number) ? drop(number) : arm_expiry(number);
    } else if (entry.due_ms <= now_ && recent_.is_recurring(entry)) {
        begin_spawn(number);
    } else if (entry.due_ms <= now_) {
        make_ready(number);
    } else if (may_leave(number) && entry.due_ms >= window_.until_ms()) {
        drop(number);
    } else {
        arm(number, std::min(entry.due_ms, expiry(number)));
    }
}

void Lifecycle::arm(EntryNumber number, DueMs at) {
    Entry& entry = recent_.entry(number);
    if (!wheel_.reschedule(TimerHandle{entry.timer}, static_cast<Tick>(at))) {
        entry.timer = wheel_.schedule(static_cast<Tick>(at), number, queues_.at(entry.queue).counts.pending).bits;
    }
}

void Lifecycle::disarm(EntryNumber number) {
    static_cast<void>(wheel_.cancel(TimerHandle{recent_.entry(number).timer}));
}

// While the message waits only for a consumer, or for earlier messages of its order key.
void Lifecycle::arm_expiry(EntryNumber number) {
    const DueMs at = expiry(number);
    if (at != kNever) return arm(number, at);
    disarm(number);
}

QueueNumber Lifecycle::apply(Operation& operation) {
    const Record& record = operation.record;
    bool keeps_live = record.kind == RecordKind::attempt || record.kind == RecordKind::relocate;
    bool woken = false;
    QueueNumber in_queue = kNoQueue;
    if (operation.entry != kNoEntry) {
        Entry& entry = recent_.entry(operation.entry);
        in_queue = entry.queue;
        assert(entry.id == record.id && entry.in_batch);
        entry.in_batch = false;
        woken = entry.timer == kFired;
        if (woken) entry.timer = 0;
        if (!keeps_live) {
            Queue& at = queues_.at(entry.queue);
            queues_.count_out_of_queue(at, entry.durable_state, entry.record_bytes);
            at.last_segment = segment_.number();
            if (entry.purging && record.kind == RecordKind::end) {
                entry.purging = false;
                --at.purging;
                ++at.purged;
            }
            if (record.cause == Cause::discarded && record.previous.ended_ms < at.discard_before_ms) ++at.discarded;
            if (record.kind == RecordKind::end) cache_.erase(entry.log_position);
            order_lines_.leave(operation.entry, Leaving::changes);
            unlist(operation.entry);
        }
    } else {
        assert(record.previous.version == 0);  // a changed message is in memory
        keeps_live = false;
    }
    const EntryNumber number = recent_.apply(record, operation.sequence, segment_.number(), operation.frame_bytes);
    if (in_queue == kNoQueue && number != kNoEntry) {
        in_queue = recent_.entry(number).queue;
        static_cast<void>(queues_.at(in_queue));  // it exists from now on
    }
    if (number != kNoEntry) {
        if (!keeps_live) {
            const Entry& entry = recent_.entry(number);
            Queue& at = queues_.at(entry.queue);
            queues_.count_into_queue(at, entry.durable_state, entry.record_bytes);
            at.last_segment = segment_.number();
            at.only_waited_for = false;
            join_line(number);
        }
        place_applied(number, keeps_live, woken);
        const DueMs at_ms = std::max(record.time_ms, record.content.put_ms);  // a put has only that
        if (!keeps_live) note_held_back(number, record.id, counts_from(record.state.due_ms, at_ms, record.content));
    }
    if (!record.state.order_key.empty()) {
        const QueueNumber of_line = recent_.queues().number(record.state.name_space, record.state.queue);
        advance_line(OrderLines::name(of_line, record.state.order_key));
    }
    return in_queue;
}

// Puts an entry whose record was just applied where it belongs. `woken`: its timer fired meanwhile.
void Lifecycle::place_applied(EntryNumber number, bool keeps_live, bool woken) {
    const Entry& entry = recent_.entry(number);
    if (entry.spawning && woken) return requeue_spawn(number);
    if (entry.unanswered && woken) return recheck_prepared(number);
    const bool is_live = entry.state == State::ready || entry.state == State::leased;
    if (!keeps_live || !is_live) return settle(number);
    if (woken) return wake(number);
    if (entry.state == State::ready) {  // its key may have been skipped while the message was in the batch
        queues_.at(entry.queue).ready.push({entry.priority, {entry.due_ms, entry.id}, number});
        queues_.mark(entry.queue);
    }
}

// Removes an entry from the wheel, the ready list and the leases; the next record determines where it goes.
void Lifecycle::unlist(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    disarm(number);
    entry.exhausted = false;
    if (entry.spawning) --recurring_due_;
    entry.spawning = false;
    if (entry.unanswered) unsettled_deadlines_.erase({entry.due_ms, entry.id});
    entry.unanswered = false;
    entry.in_fired = false;  // its key there is stale from now on
    entry.expiring = false;
    entry.lease_lost = false;
    settled_expiry(number);
    forget_held_back(entry.id);
    Queue& at = queues_.at(entry.queue);
    if (entry.state == State::ready) {
        --at.ready_count;
        --ready_count_;
        queues_.mark(entry.queue);
    } else if (entry.state == State::leased) {
        leases_.erase(entry.id);
        queues_.count_lease(at, -1);
    }
}

// ---- ready messages

// Overdue messages leave capacity for messages that become due meanwhile, which need not wait on disk behind the
// backlog.
std::uint32_t Lifecycle::ready_max_for(const Entry& entry) const {
    return entry.due_ms >= now_ - options_.fresh_ms ? 2 * options_.ready_max : options_.ready_max;
}

// A message that expires soon stays in memory beyond the queue's limit: it is on the wheel anyway.
void Lifecycle::make_ready(EntryNumber number) {
    if (take_for_purge(number)) return;
    Entry& entry = recent_.entry(number);
    assert(is_legal_move(entry.state, State::ready));
    if (is_used_up(entry) && !queues_.outlasts_lost_leases(entry.queue)) return mark_exhausted(number);
    queues_.mark(entry.queue);
    if (queues_.at(entry.queue).ready_count >= ready_max_for(entry) && may_leave(number)) return evict(number);
    if (entry.has_rare && wait_in_line(number)) return;
    list_ready(number);
}

void Lifecycle::list_ready(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    Queue& at = queues_.at(entry.queue);
    queues_.mark(entry.queue);
    arm_expiry(number);
    entry.state = State::ready;
    ++at.ready_count;
    ++ready_count_;
    ++counters_.fired;
    at.ready.push({entry.priority, {entry.due_ms, entry.id}, number});
    if (!entry.in_fired) at.fired.push({{entry.due_ms, entry.id}, number});
    entry.in_fired = true;
}

// Removes a message from the ready list; its state is again the one in the log.
void Lifecycle::unready(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    assert(entry.state == State::ready);
    order_lines_.take_back(number);
    forget_held_back(entry.id);
    entry.state = entry.durable_state;
    entry.in_fired = false;
    --queues_.at(entry.queue).ready_count;
    --ready_count_;
}

// Drops a due message that the index contains; it waits behind its queue's cursor.
void Lifecycle::evict(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    ++counters_.evicted;
    queues_.at(entry.queue).lower_cursor({entry.due_ms, entry.id});
    drop(number, Leaving::to_queue);
}

// ---- leases

void Lifecycle::take(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    assert(is_legal_move(entry.state, State::leased));
    entry.state = State::leased;
    Queue& at = queues_.at(entry.queue);
    --at.ready_count;
    --ready_count_;
    queues_.count_lease(at, 1);
}

void Lifecycle::start_attempt(EntryNumber number, DueMs until_ms, DueMs late_from_ms) {
    Entry& entry = recent_.entry(number);
    const bool has_earlier = entry.has_unwritten_attempt();
    entry.begun += 1;
    forget_held_back(entry.id);
    const auto late_ms = static_cast<std::uint32_t>(std::clamp<DueMs>(now_ - late_from_ms, 0, UINT32_MAX));
    leases_[entry.id] = {entry.begun, late_ms, until_ms, late_from_ms - entry.nominal_due_ms};
    unsettled_expiry(number);
    arm(number, until_ms);
    if (!has_earlier) own_.note_attempt(entry.id);
}

void Lifecycle::end_lease(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    assert(entry.state == State::leased);
    const MessageId id = entry.id;
    const DueMs until = leases_.at(id).until_ms;
    leases_.erase(id);
    queues_.count_lease(queues_.at(entry.queue), -1);
    disarm(number);
    entry.state = entry.durable_state;
    entry.lease_lost = true;
    settled_expiry(number);
    const bool purged = is_purged(entry);
    if (purged || has_expired(number)) {
        // Its line delivers no other message before the end of this one is on disk.
        order_lines_.take_back(number);
        if (!purged) return begin_expiry(number);
        if (entry.purging) to_purge_.push_back(entry.id);  // the scan found it while it was leased
        static_cast<void>(take_for_purge(number));
        return;
    }
    make_ready(number);
    note_held_back(number, id, std::min(until, now_));
}

void Lifecycle::give_up_lease(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    if (!entry.in_batch) return end_lease(number);
    leases_.at(entry.id).until_ms = now_;
    disarm(number);
    note_fired(entry);
}

// ---- attempts

const RetryRule& Lifecycle::retry_rule(const Entry& entry) const {
    const RetryRule* own = recent_.retry_rule(entry);
    return own != nullptr ? *own : queues_.retry_rule(entry.queue);
}

std::uint32_t Lifecycle::attempts_counted(const Entry& entry) const {
    const std::uint32_t forgiven = recent_.attempts_forgiven(entry);
    return entry.begun > forgiven ? entry.begun - forgiven : 0;
}

bool Lifecycle::is_used_up(const Entry& entry) const {
    return entry.begun > 0 && attempts_counted(entry) >= retry_rule(entry).attempts;
}

void Lifecycle::mark_exhausted(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    if (entry.exhausted) return;
    disarm(number);
    // Its line delivers no other message before the end of this one is on disk.
    order_lines_.take_back(number);
    entry.exhausted = true;
    own_.note_exhausted(entry.id);
    // A restart before its end is durable must find it again: it bounds its queue's cursor like a ready message.
    if (!entry.in_fired) queues_.at(entry.queue).fired.push({{entry.due_ms, entry.id}, number});
    entry.in_fired = true;
}

// ---- expiry

DueMs Lifecycle::expiry(EntryNumber number) const {
    const Entry& entry = recent_.entry(number);
    if (!entry.has_rare || is_ended(entry.state)) return kNever;
    const DueMs at = recent_.expires_ms(number);
    return at == 0 ? kNever : at;
}

bool Lifecycle::has_expired(EntryNumber number) const {
    return recent_.entry(number).state != State::leased && expiry(number) <= now_;
}

// The load cursor stays below the expiry until settled_expiry().
void Lifecycle::unsettled_expiry(EntryNumber number) {
    const DueMs at = expiry(number);
    if (at != kNever) unsettled_expiries_.insert({at, recent_.entry(number).id});
}

void Lifecycle::settled_expiry(EntryNumber number) {
    const Entry& entry = recent_.entry(number);
    if (entry.has_rare) unsettled_expiries_.erase({recent_.expires_ms(number), entry.id});
}

void Lifecycle::begin_expiry(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    if (entry.expiring || entry.purging || entry.exhausted) return;  // these end it just as soon
    assert(!is_ended(entry.state) && entry.state != State::leased && expiry(number) <= now_);
    if (entry.state == State::ready) unready(number);
    disarm(number);
    entry.expiring = true;
    own_.note_expired(entry.id);
    unsettled_expiry(number);
}

DueMs Lifecycle::unsettled_from_ms() const {
    DueMs first = kNever;
    if (!unsettled_expiries_.empty()) first = unsettled_expiries_.begin()->due_ms;
    if (!unsettled_deadlines_.empty()) first = std::min(first, unsettled_deadlines_.begin()->due_ms);
    return first;
}

// ---- purges

bool Lifecycle::is_purged(const Entry& entry) const {
    return entry.queue < queues_.size() && entry.id <= queues_[entry.queue].purge_through &&
           !is_ended(entry.durable_state);
}

bool Lifecycle::take_for_purge(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    if (!is_purged(entry)) return false;
    if (entry.purging || entry.expiring) return true;  // an expiry ends it just as soon
    entry.purging = true;
    ++queues_.at(entry.queue).purging;
    if (entry.state != State::leased) to_purge_.push_back(entry.id);
    return true;
}

void Lifecycle::purge(EntryNumber number, ReplyToken token, Reply with) {
    Record record = changed(recent_.entry(number), RecordKind::end, Cause::purged);
    record.state.state = State::cancelled;
    add(number, record, token, std::move(with));
}

// ---- due work whose content must be read

// The recurring message is due: its occurrences are written with one of the next batches.
void Lifecycle::begin_spawn(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    assert(recent_.is_recurring(entry) && waits_for_due(entry.state) && entry.due_ms <= now_);
    disarm(number);
    entry.spawning = true;
    ++recurring_due_;
    if (!entry.in_fired) queues_.at(entry.queue).fired.push({{entry.due_ms, entry.id}, number});
    entry.in_fired = true;
    due_recurring_.add(entry.id);
}

// Tries again after it had no capacity.
void Lifecycle::requeue_spawn(EntryNumber number) {
    if (!take_for_purge(number)) due_recurring_.add(recent_.entry(number).id);
}

// Puts a new or changed prepared message where it belongs: on the wheel, among the overdue ones, or out of memory.
void Lifecycle::settle_prepared(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    if (entry.unanswered) return;
    if (entry.due_ms <= now_) {
        disarm(number);
        entry.unanswered = true;
        unsettled_deadlines_.insert({entry.due_ms, entry.id});
        due_prepared_.add(entry.id);
    } else if (may_leave(number) && entry.due_ms >= window_.until_ms()) {
        drop(number);
    } else {
        arm(number, std::min(entry.due_ms, expiry(number)));
    }
}

// Tries again after it had no capacity.
void Lifecycle::recheck_prepared(EntryNumber number) {
    if (take_for_purge(number)) return;
    if (has_expired(number)) return begin_expiry(number);
    due_prepared_.add(recent_.entry(number).id);
}

// ---- order keys

void Lifecycle::join_line(EntryNumber number) {
    if (order_lines_.join(number)) static_cast<void>(queues_.at(recent_.entry(number).queue));  // it exists from now on
}

// Adds a due message to its line; false if it has no order key and becomes ready at once.
bool Lifecycle::wait_in_line(EntryNumber number) {
    const std::string name = order_lines_.name_of(number);
    if (name.empty()) return false;
    if (order_lines_.block(number)) arm_expiry(number);
    advance_line(name);
    Entry& entry = recent_.entry(number);
    if (!entry.blocked) return true;
    entry.in_fired = false;
    if (may_leave(number)) drop(number);
    return true;
}

// Makes the first message of the key ready, if it is due; looks the index up if that may contain an earlier one.
void Lifecycle::advance_line(const std::string& name) {
    using What = OrderLines::Step::What;
    for (;;) {
        const OrderLines::Step step = order_lines_.next(name);
        switch (step.what) {
            case What::none:
                return;
            case What::overtaken:
                unready(step.entry);
                static_cast<void>(order_lines_.block(step.entry));
                if (may_leave(step.entry)) drop(step.entry);
                break;
            case What::deliver:
                list_ready(step.entry);
                return note_held_back(step.entry, recent_.entry(step.entry).id, step.freed_ms);
            case What::look_up:
                ++queues_.at(order_lines_.queue_of(name)).line_lookups;
                return order_lines_.look_up(name);
        }
    }
}

void Lifecycle::end_line_lookup(const std::string& name) {
    const QueueNumber number = order_lines_.queue_of(name);
    --queues_.at(number).line_lookups;
    queues_.mark(number);
}

void Lifecycle::finish(const OrderLookup& lookup, const Stretch& stretch, Generation generation) {
    end_line_lookup(lookup.line);
    if (const MessageRow* first = order_lines_.take(lookup, stretch, generation)) {
        ++counters_.loaded;
        settle(admit(*first));
    }
    advance_line(lookup.line);
    while (const std::optional<std::string> waiting = order_lines_.take_waiting()) {
        end_line_lookup(*waiting);
        advance_line(*waiting);
    }
}

void Lifecycle::check() const {
    const bool started = context_.started;
    std::vector<std::uint32_t> ready(queues_.size());
    std::vector<std::uint32_t> leased(queues_.size());
    std::vector<std::uint64_t> purging(queues_.size());
    std::size_t expiring = 0;
    std::size_t recurring_due = 0;
    recent_.for_each_entry([&](EntryNumber number, const Entry& entry) {
        const std::optional<Tick> deadline = wheel_.deadline_of(TimerHandle{entry.timer});
        if (entry.purging) ++purging[entry.queue];
        if (entry.spawning) ++recurring_due;
        const DueMs expires = expiry(number);
        const bool expires_on_wheel =
            expires == kNever ? !deadline.has_value() : deadline && *deadline == static_cast<Tick>(expires);
        if (entry.expiring) {
            if (!entry.in_batch) ++expiring;
            require(expires <= now_ && !deadline.has_value(), "a message expires before its time, or twice");
            require(unsettled_expiries_.contains({expires, entry.id}), "an expiry that the load cursor may pass");
            return;
        }
        switch (entry.state) {
            case State::ready:
                ++ready[entry.queue];
                require(entry.due_ms <= now_, "a message is ready before it is due");
                require(entry.in_batch || entry.purging || expires_on_wheel,
                        "a ready message is not on the wheel at its expiry");
                break;
            case State::leased:
                ++leased[entry.queue];
                require(leases_.contains(entry.id), "a leased message without a lease");
                require(expires == kNever || unsettled_expiries_.contains({expires, entry.id}),
                        "the expiry of a leased message that the load cursor may pass");
                require(entry.in_batch || deadline.has_value(), "a lease without its timer");
                break;
            case State::scheduled:
            case State::retrying:
                if (!started || entry.in_batch || entry.purging || entry.exhausted || entry.spawning) break;
                require(entry.blocked ? expires_on_wheel
                                      : deadline && *deadline == static_cast<Tick>(std::min(entry.due_ms, expires)),
                        "a waiting message is not on the wheel at what comes next");
                break;
            case State::prepared:
                require(!entry.unanswered || unsettled_deadlines_.contains({entry.due_ms, entry.id}),
                        "a prepared message is overdue that the load cursor may pass");
                if (!started || entry.in_batch || entry.purging || entry.unanswered) break;
                require(deadline && *deadline == static_cast<Tick>(std::min(entry.due_ms, expires)),
                        "a prepared message is not on the wheel at its next deadline");
                break;
            default:
                require(!started || entry.in_batch || entry.purging || expires_on_wheel,
                        "a message that waits is not on the wheel at its expiry");
                break;
        }
        require(entry.in_batch <= batches_.has_batch(), "a message is in a batch that does not exist");
        require(!entry.exhausted || waits_for_due(entry.state), "a message is both exhausted and leased");
        require(!recent_.is_recurring(entry) || (entry.state != State::ready && entry.state != State::leased),
                "a recurring message is ready or leased itself");
        require(!entry.unanswered || entry.state == State::prepared,
                "a message that is not prepared waits for an outcome");
        require(!entry.spawning || (recent_.is_recurring(entry) && waits_for_due(entry.state)),
                "a message that is not recurring creates occurrences");
    });
    require(recurring_due == recurring_due_, "the count of due recurring messages is wrong");
    require(expiring <= own_.expired(), "a message expires whose record is not queued");
    order_lines_.check(started);
    const std::vector<std::uint32_t> lookups = order_lines_.open_lookups(queues_.size());
    std::size_t leased_in_all = 0;
    std::unordered_map<const Namespace*, std::uint64_t> leased_in_space;
    std::size_t ready_in_all = 0;
    for (QueueNumber number = 0; number < queues_.size(); ++number) {
        require(queues_[number].ready_count == ready[number], "a queue's count of ready messages is off");
        require(queues_[number].leased_count == leased[number], "a queue's count of leased messages is off");
        require(queues_[number].purging == purging[number], "a queue's count of messages to purge is off");
        require(queues_[number].line_lookups == lookups[number], "a queue's count of open line lookups is wrong");
        leased_in_all += leased[number];
        if (leased[number] > 0) leased_in_space[queues_[number].space] += leased[number];
        ready_in_all += ready[number];
    }
    require(leases_.size() == leased_in_all, "a lease without its message");
    queues_.namespaces().for_each([&](const Namespace& space) {
        require(space.leased == leased_in_space[&space], "a namespace's count of leased messages is off");
    });
    for (const auto& [id, until] : held_back_) {
        require(recent_.find(id) != kNoEntry && recent_.entry(recent_.find(id)).state == State::ready,
                "a message was held back that is not ready");
    }
    require(ready_count_ == ready_in_all, "the count of ready messages is off");
}

}  // namespace duewheel
