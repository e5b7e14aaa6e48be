#include "engine/messages/lifecycle.h"

#include <algorithm>
#include <cassert>
#include <unordered_map>
#include <utility>

#include "base/invariant.h"
#include "engine/commands/lateness.h"

namespace duewheel {

// ---- memory

void Lifecycle::start() {
    window_.start();
    // The log does not know the last deliveries of an earlier run.
    turns_.start(batches_.totals().commit == 0 ? 0 : now_);
    grace_until_ms_ = now_ + options_.lease_grace_ms;
    for (EntryNumber number = 0; number < recent_.entry_limit(); ++number) {
        Entry& entry = recent_.entry(number);
        if (entry.id == 0) continue;
        entry.from_past =
            !recent_.is_recurring(entry) &&
            earlier_runs_.may_have_delivered(entry.id, entry.durable_state, entry.due_ms, entry.nominal_due_ms);
        join_line(number);
        resume_lease(number);
    }
    for (EntryNumber number = 0; number < recent_.entry_limit(); ++number) {
        const Entry& entry = recent_.entry(number);
        if (entry.id != 0 && entry.waits_for != WaitsFor::lease) place(number);
    }
}

EntryNumber Lifecycle::admit(const MessageRow& row) {
    const EntryNumber number = recent_.admit(row);
    recent_.entry(number).from_past = earlier_runs_.may_have_delivered(row.id, row.state);
    join_line(number);
    resume_lease(number);
    return number;
}

void Lifecycle::load(const MessageRow& row) {
    const EntryNumber number = admit(row);
    if (recent_.entry(number).waits_for != WaitsFor::lease) place(number);
}

void Lifecycle::drop(EntryNumber number, Leaving leaving) {
    disarm(number);
    forget_held_back(recent_.entry(number).id);
    order_lines_.leave(number, leaving);
    become(number, WaitsFor::none);
    recent_.drop(number);
}

// The index contains it, and no timer before the end of the window needs it.
bool Lifecycle::may_leave(EntryNumber number) const {
    const Entry& entry = recent_.entry(number);
    return entry.segment == 0 && !entry.in_batch && !entry.has_unwritten_attempt() && !entry.purging &&
           !is_to_be_written(entry.waits_for) && expiry(number) >= window_.until_ms();
}

void Lifecycle::sweep(EntryNumber number) {
    const Entry& entry = recent_.entry(number);
    if (!may_leave(number)) return;  // an entry that is in a batch or expires is dropped later
    switch (entry.waits_for) {
        case WaitsFor::command:
        case WaitsFor::turn:
            return drop(number);
        case WaitsFor::due:
            if (entry.due_ms >= window_.until_ms()) drop(number);
            return;
        case WaitsFor::consumer:
            if (!turns_.has_room(number)) evict(number);
            return;
        default:  // it is leased
            return;
    }
}

// ---- changes

// Changes what the message waits for, and what is counted by that.
void Lifecycle::become(EntryNumber number, WaitsFor next) {
    Entry& entry = recent_.entry(number);
    const WaitsFor before = std::exchange(entry.waits_for, next);
    assert(is_legal_move(before, next));
    if (before == WaitsFor::consumer) {
        --queues_.at(entry.queue).ready_count;
        --ready_count_;
    } else if (before == WaitsFor::lease) {
        leases_.erase(entry.id);
        queues_.count_lease(queues_.at(entry.queue), -1);
    } else if (before == WaitsFor::occurrence) {
        --recurring_due_;
    }
    if (next == WaitsFor::consumer) {
        ++queues_.at(entry.queue).ready_count;
        ++ready_count_;
    } else if (next == WaitsFor::lease) {
        queues_.count_lease(queues_.at(entry.queue), 1);
    } else if (next == WaitsFor::occurrence) {
        ++recurring_due_;
    }
    turns_.change(number, before, next);
    if (bounds_cursor(next) && !bounds_cursor(before)) {
        queues_.at(entry.queue).fired.push({{entry.due_ms, entry.id}, number});
    }
}

void Lifecycle::wake(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    if (entry.in_batch) return note_fired(entry);
    switch (entry.waits_for) {
        case WaitsFor::lease: {
            const DueMs until = leases_.at(entry.id).until_ms;
            if (until > now_) return arm(number, until);
            queues_.count_in(entry.queue, &QueueTotals::leases_expired);
            return end_lease(number);
        }
        case WaitsFor::occurrence:  // tries again after it had no capacity
            if (!take_for_purge(number)) due_recurring_.add(entry.id);
            return;
        case WaitsFor::outcome:  // the same
            if (take_for_purge(number)) return;
            return has_expired(number) ? begin_expiry(number) : due_prepared_.add(entry.id);
        default:
            return place(number);
    }
}

// What the message waits for from now on, if its queue has room and its line lets it pass.
WaitsFor Lifecycle::next_wait(EntryNumber number) const {
    const Entry& entry = recent_.entry(number);
    if (is_ending(entry.waits_for) || entry.waits_for == WaitsFor::occurrence) return entry.waits_for;
    if (recent_.work(entry).cancel_requested) return WaitsFor::cancelled;
    if (expiry(number) <= now_) return WaitsFor::expired;
    if (!is_timed(entry.durable_state)) return WaitsFor::command;
    if (entry.due_ms > now_) return WaitsFor::due;
    if (entry.durable_state == State::prepared) return WaitsFor::outcome;
    if (recent_.is_recurring(entry)) return WaitsFor::occurrence;
    if (entry.waits_for == WaitsFor::consumer || !is_used_up(entry) || queues_.outlasts_lost_leases(entry.queue)) {
        return WaitsFor::consumer;
    }
    return entry.waits_for == WaitsFor::lease ? WaitsFor::lease_lost : WaitsFor::used_up;
}

void Lifecycle::place(EntryNumber number) {
    if (take_for_purge(number)) return;
    const Entry& entry = recent_.entry(number);
    const WaitsFor next = next_wait(number);
    switch (next) {
        case WaitsFor::command:
            return rest(number, next, kNever);
        case WaitsFor::due:
            return rest(number, next, entry.due_ms);
        case WaitsFor::consumer:
            if (entry.waits_for != next) make_ready(number);
            return;
        case WaitsFor::expired:
            return begin_expiry(number);
        default:
            if (entry.waits_for != next) begin_writing(number, next);
            return;
    }
}

// It has time until then: it leaves memory, or waits on the wheel.
void Lifecycle::rest(EntryNumber number, WaitsFor next, DueMs until_ms) {
    if (may_leave(number) && until_ms >= window_.until_ms()) return drop(number);
    become(number, next);
    arm_next(number, until_ms);
}

// The next record about the message is the engine's.
void Lifecycle::begin_writing(EntryNumber number, WaitsFor next) {
    const Entry& entry = recent_.entry(number);
    disarm(number);
    become(number, next);
    if (next == WaitsFor::occurrence) {
        due_recurring_.add(entry.id);
    } else if (next == WaitsFor::outcome) {
        unsettled_deadlines_.insert({entry.due_ms, entry.id});
        due_prepared_.add(entry.id);
    } else {
        // Its line delivers no other message before the end of this one is on disk.
        order_lines_.take_back(number);
        own_.exhausted.note(entry.id);
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

// For what comes first of that time and its expiry.
void Lifecycle::arm_next(EntryNumber number, DueMs at_ms) {
    const DueMs at = std::min(at_ms, expiry(number));
    at == kNever ? disarm(number) : arm(number, at);
}

QueueNumber Lifecycle::apply(const Operation& operation, const MessageRecord& record) {
    bool keeps_live = record.kind == RecordKind::attempt || record.kind == RecordKind::relocate;
    const bool replaces = record.kind == RecordKind::replace;
    // The message had no entry when an earlier record of the same command was to create it.
    const EntryNumber known = operation.entry == kNoEntry && replaces ? recent_.find(record.id) : operation.entry;
    bool woken = false;
    std::string left_line;
    QueueNumber in_queue = kNoQueue;
    if (known != kNoEntry) {
        Entry& entry = recent_.entry(known);
        in_queue = entry.queue;
        assert(entry.id == record.id && (entry.in_batch || replaces));
        entry.in_batch = false;
        if (record.kind != RecordKind::relocate) entry.forgives = false;  // the record says so
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
            if (record.kind == RecordKind::end || replaces) cache_.erase(entry.log_position);
            if (replaces) left_line = order_lines_.name_of(known);
            order_lines_.leave(known, Leaving::changes);
            unlist(known);
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
    if (!left_line.empty()) advance_line(left_line);
    if (!record.state.order_key.empty()) {
        const QueueNumber of_line = recent_.queues().number(record.state.name_space, record.state.queue);
        advance_line(OrderLines::name(of_line, record.state.order_key));
    }
    return in_queue;
}

// Puts an entry whose record was just applied where it belongs. `woken`: its timer fired meanwhile.
void Lifecycle::place_applied(EntryNumber number, bool keeps_live, bool woken) {
    const Entry& entry = recent_.entry(number);
    if (keeps_live && woken) return wake(number);
    if (entry.waits_for == WaitsFor::lease) return;
    if (entry.waits_for != WaitsFor::consumer) return place(number);
    // Its key may have been skipped while the message was in the batch.
    turns_.push(number);
    queues_.mark(entry.queue);
}

// Removes an entry from the wheel, the ready list and the leases; the next record determines where it goes.
void Lifecycle::unlist(EntryNumber number) {
    const Entry& entry = recent_.entry(number);
    disarm(number);
    if (entry.durable_state == State::prepared) unsettled_deadlines_.erase({entry.due_ms, entry.id});
    settled_expiry(number);
    forget_held_back(entry.id);
    if (entry.waits_for == WaitsFor::consumer) queues_.mark(entry.queue);
    become(number, WaitsFor::none);
}

// ---- ready messages

// A message that expires soon stays in memory beyond the queue's limit: it is on the wheel anyway.
void Lifecycle::make_ready(EntryNumber number) {
    const Entry& entry = recent_.entry(number);
    assert(is_legal_move(entry.state(), State::ready));
    queues_.mark(entry.queue);
    if (!turns_.has_room(number) && may_leave(number)) return evict(number);
    if (entry.has_rare && wait_in_line(number)) return;
    list_ready(number);
}

void Lifecycle::list_ready(EntryNumber number) {
    const Entry& entry = recent_.entry(number);
    queues_.mark(entry.queue);
    arm_next(number, kNever);
    become(number, WaitsFor::consumer);
    ++counters_.fired;
    turns_.push(number);
}

// Drops a due message that the index contains; it waits behind the cursor of its queue or its group.
void Lifecycle::evict(EntryNumber number) {
    ++counters_.evicted;
    turns_.note_on_disk(number);
    drop(number, Leaving::to_queue);
}

// ---- attempts

const RetryRule& Lifecycle::retry_rule(const Entry& entry) const {
    const RetryRule* own = recent_.retry_rule(entry);
    return own != nullptr ? *own : queues_.retry_rule(entry.queue);
}

std::uint32_t Lifecycle::attempts_counted(const Entry& entry) const {
    const std::uint32_t forgiven = recent_.attempts_forgiven(entry) + (entry.forgives ? 1 : 0);
    return entry.begun > forgiven ? entry.begun - forgiven : 0;
}

bool Lifecycle::is_used_up(const Entry& entry) const {
    return entry.begun > 0 && attempts_counted(entry) >= retry_rule(entry).attempts;
}

// ---- expiry

DueMs Lifecycle::expiry(EntryNumber number) const {
    const Entry& entry = recent_.entry(number);
    if (!entry.has_rare || is_ended(entry.durable_state)) return kNever;
    const DueMs at = recent_.expires_ms(number);
    return at == 0 ? kNever : at;
}

bool Lifecycle::has_expired(EntryNumber number) const {
    return recent_.entry(number).waits_for != WaitsFor::lease && expiry(number) <= now_;
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
    const Entry& entry = recent_.entry(number);
    if (entry.purging || is_ending(entry.waits_for)) return;  // these end it just as soon
    assert(expiry(number) <= now_);
    order_lines_.take_back(number);
    forget_held_back(entry.id);
    disarm(number);
    become(number, WaitsFor::expired);
    own_.expired.note(entry.id);
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
    if (entry.purging || entry.waits_for == WaitsFor::expired) return true;  // an expiry ends it just as soon
    entry.purging = true;
    ++queues_.at(entry.queue).purging;
    if (entry.waits_for != WaitsFor::lease) to_purge_.push_back(entry.id);
    return true;
}

void Lifecycle::purge(EntryNumber number, ReplyToken token, Reply with) {
    MessageRecord record = changed(recent_.entry(number), RecordKind::end, Cause::purged);
    record.state.state = State::cancelled;
    record.state.work.clear();
    add(number, std::move(record), token, std::move(with));
}

// ---- order keys

void Lifecycle::join_line(EntryNumber number) {
    if (order_lines_.join(number)) static_cast<void>(queues_.at(recent_.entry(number).queue));  // it exists from now on
}

// Adds a due message to its line; false if it has no order key and becomes ready at once.
bool Lifecycle::wait_in_line(EntryNumber number) {
    const std::string name = order_lines_.name_of(number);
    if (name.empty()) return false;
    if (order_lines_.block(number)) arm_next(number, kNever);
    advance_line(name);
    if (recent_.entry(number).waits_for == WaitsFor::consumer) return true;
    become(number, WaitsFor::turn);
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
                forget_held_back(recent_.entry(step.entry).id);
                static_cast<void>(order_lines_.block(step.entry));
                become(step.entry, WaitsFor::turn);
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
    if (const MessageRow* first = order_lines_.accept(lookup, stretch, generation)) {
        ++counters_.loaded;
        load(*first);
    }
    advance_line(lookup.line);
    while (const std::optional<std::string> waiting = order_lines_.take_waiting()) {
        end_line_lookup(*waiting);
        advance_line(*waiting);
    }
}

void Lifecycle::check() const {
    const bool started = run_.started;
    std::vector<std::uint32_t> ready(queues_.size());
    std::vector<std::uint32_t> leased(queues_.size());
    std::vector<std::uint64_t> purging(queues_.size());
    std::size_t expired = 0;
    std::size_t recurring_due = 0;
    recent_.for_each_entry([&](EntryNumber number, const Entry& entry) {
        const std::optional<Tick> deadline = wheel_.deadline_of(TimerHandle{entry.timer});
        const DueMs expires = expiry(number);
        const bool may_differ = entry.in_batch || entry.purging;
        const bool is_deliverable = waits_for_due(entry.durable_state) && !recent_.is_recurring(entry);
        DueMs next = kNever;  // when its timer fires
        if (entry.purging) ++purging[entry.queue];
        require(entry.in_batch <= batches_.has_batch(), "a message is in a batch that does not exist");
        switch (entry.waits_for) {
            case WaitsFor::none:
                return require(!started || may_differ, "a message that waits for nothing");
            case WaitsFor::command:
                require(!is_timed(entry.durable_state), "a message waits for a command, and will become due");
                next = expires;
                break;
            case WaitsFor::due:
                require(is_timed(entry.durable_state), "a message waits to become due that has no due time");
                next = std::min(entry.due_ms, expires);
                break;
            case WaitsFor::consumer:
                ++ready[entry.queue];
                [[fallthrough]];
            case WaitsFor::turn:
                require(is_deliverable && entry.due_ms <= now_, "a message is ready or in a line that is not due");
                next = expires;
                break;
            case WaitsFor::lease:
                ++leased[entry.queue];
                require(is_deliverable && leases_.contains(entry.id), "a leased message without a lease");
                require(expires == kNever || unsettled_expiries_.contains({expires, entry.id}),
                        "the expiry of a leased message that the load cursor may pass");
                return require(entry.in_batch || deadline.has_value(), "a lease without its timer");
            case WaitsFor::occurrence:
                ++recurring_due;
                return require(recent_.is_recurring(entry) && waits_for_due(entry.durable_state),
                               "a message that is not recurring creates occurrences");
            case WaitsFor::outcome:
                return require(
                    entry.durable_state == State::prepared && unsettled_deadlines_.contains({entry.due_ms, entry.id}),
                    "a message is not prepared, or its deadline is one that the load cursor may pass");
            case WaitsFor::used_up:
            case WaitsFor::lease_lost:
                require(is_deliverable, "a message has no attempts left that has none");
                break;
            case WaitsFor::cancelled:
                require(is_deliverable && recent_.work(entry).cancel_requested,
                        "a message is about to be cancelled without a request");
                break;
            case WaitsFor::expired:
                if (!entry.in_batch) ++expired;
                require(expires <= now_ && unsettled_expiries_.contains({expires, entry.id}),
                        "a message expires before its time, or the load cursor may pass its expiry");
                break;
        }
        require(may_differ || (next == kNever ? !deadline : deadline == static_cast<Tick>(next)),
                "a message is not on the wheel at what it waits for");
    });
    require(recurring_due == recurring_due_, "the count of due recurring messages is wrong");
    require(expired <= own_.expired.count(), "a message expires whose record is not queued");
    order_lines_.check(started);
    turns_.check();
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
        require(recent_.find(id) != kNoEntry && recent_.entry(recent_.find(id)).waits_for == WaitsFor::consumer,
                "a message was held back that is not ready");
    }
    require(ready_count_ == ready_in_all, "the count of ready messages is off");
}

}  // namespace duewheel
