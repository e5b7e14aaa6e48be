// Due messages and their delivery: the wheel, ready lists, leases, and waiting consumers.
#include <algorithm>
#include <cassert>

#include "engine/copy_content.h"
#include "engine/engine.h"
#include "engine/lateness.h"

namespace duewheel {

void Engine::fire_due() {
    wheel_.advance_to(
        static_cast<Tick>(now_),
        [this](std::uint64_t cookie, Tick) {
            if ((cookie & kWaiterCookie) != 0) {
                end_wait(cookie & ~kWaiterCookie);
            } else if ((cookie & kScheduleCookie) != 0) {
                wake_schedule(cookie & ~kScheduleCookie);
            } else if ((cookie & kWatchdogCookie) != 0) {
                wake_watchdog(cookie & ~kWatchdogCookie);
            } else {
                wake(static_cast<EntryNumber>(cookie));
            }
        },
        options_.fire_chunk);
}

// The timer of the entry fired.
void Engine::wake(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    if (entry.in_batch) {
        entry.woken = true;
        return;
    }
    if (entry.state == State::leased) {
        const DueMs until = leases_.at(entry.id).until_ms;
        if (until > now_) return arm(number, until);
        ++counters_.leases_lost;
        queues_.count_in(entry.queue, &QueueTotals::leases_expired);
        return end_lease(number);
    }
    if (entry.spawning) return requeue_spawn(number);
    if (entry.unanswered) return recheck_prepared(number);
    settle(number);
}

// Puts an entry whose state has just become durable where it belongs.
void Engine::settle(EntryNumber number) {
    if (take_for_purge(number) || recent_.entry(number).exhausted || recent_.entry(number).spawning) return;
    Entry& entry = recent_.entry(number);
    if (has_expired(number)) return begin_expiry(number);
    if (entry.state == State::ready) return;
    if (entry.state == State::prepared) return settle_prepared(number);
    if (!waits_for_due(entry.state)) {
        may_leave(number) ? drop(number) : arm_expiry(number);
    } else if (entry.due_ms <= now_ && entry.is_recurring) {
        begin_spawn(number);
    } else if (entry.due_ms <= now_) {
        make_ready(number);
    } else if (may_leave(number) && entry.due_ms >= window_.until_ms()) {
        drop(number);
    } else {
        arm(number, std::min(entry.due_ms, expiry(number)));
    }
}

void Engine::arm(EntryNumber number, DueMs at) {
    Entry& entry = recent_.entry(number);
    if (!wheel_.reschedule(TimerHandle{entry.timer}, static_cast<Tick>(at))) {
        entry.timer = wheel_.schedule(static_cast<Tick>(at), number, queues_.at(entry.queue).counts.pending).bits;
    }
}

// While the message waits only for a consumer, or for earlier messages of its order key.
void Engine::arm_expiry(EntryNumber number) {
    const DueMs at = expiry(number);
    if (at != kNoWakeup) return arm(number, at);
    static_cast<void>(wheel_.cancel(TimerHandle{recent_.entry(number).timer}));
}

// Overdue messages leave capacity for messages that become due meanwhile, which need not wait on disk behind the
// backlog.
std::uint32_t Engine::ready_max_for(const Entry& entry) const {
    return entry.due_ms >= now_ - options_.fresh_ms ? 2 * options_.ready_max : options_.ready_max;
}

// A message that expires soon stays in memory beyond the queue's limit: it is on the wheel anyway.
void Engine::make_ready(EntryNumber number) {
    if (take_for_purge(number)) return;
    Entry& entry = recent_.entry(number);
    assert(is_legal_move(entry.state, State::ready));
    if (is_used_up(entry) && !queues_.outlasts_lost_leases(entry.queue)) return mark_exhausted(number);
    queues_.mark(entry.queue);
    if (queues_.at(entry.queue).ready_count >= ready_max_for(entry) && may_leave(number)) return evict(number);
    if (entry.has_rare && wait_in_line(number)) return;
    list_ready(number);
}

void Engine::list_ready(EntryNumber number) {
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

// Drops a due message that the index contains; it waits behind its queue's cursor.
void Engine::evict(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    ++counters_.evicted;
    queues_.at(entry.queue).lower_cursor({entry.due_ms, entry.id});
    drop(number, Leaving::to_queue);
}

// The lease was lost or released: the message is due as before.
void Engine::end_lease(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    assert(entry.state == State::leased);
    leases_.erase(entry.id);
    --queues_.at(entry.queue).leased_count;
    static_cast<void>(wheel_.cancel(TimerHandle{entry.timer}));
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
}

// Removes an entry from the wheel, the ready list and the leases; the next record determines where it goes.
void Engine::unlist(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    static_cast<void>(wheel_.cancel(TimerHandle{entry.timer}));
    entry.attempt_queued = false;
    entry.exhausted = false;
    if (entry.spawning) --recurring_due_;
    entry.spawning = false;
    if (entry.unanswered) unsettled_deadlines_.erase({entry.due_ms, entry.id});
    entry.unanswered = false;
    entry.in_fired = false;  // its key there is stale from now on
    entry.expiring = false;
    entry.lease_lost = false;
    settled_expiry(number);
    Queue& at = queues_.at(entry.queue);
    if (entry.state == State::ready) {
        --at.ready_count;
        --ready_count_;
        queues_.mark(entry.queue);
    } else if (entry.state == State::leased) {
        leases_.erase(entry.id);
        --at.leased_count;
    }
}

// ---- consumers

// Serves one consumer of each queue in turn, until no consumer waits for ready messages or the iteration has delivered
// its maximum. Serving may mark a queue again (if it continues to read): such marks belong to the next iteration, after
// the queues that this one did not reach.
void Engine::serve_queues() {
    std::deque<QueueNumber> to_serve = queues_.take_marked();
    serving_left_ = false;
    std::size_t handed_out = 0;
    for (; !to_serve.empty() && handed_out < options_.serve_chunk; to_serve.pop_front()) {
        const QueueNumber number = to_serve.front();
        queues_.at(number).marked = false;
        const std::size_t messages = serve_next(number);
        handed_out += messages;
        if (messages == 0) {
            read_backlog(number);
            drop_brief_waiters(number);
        } else if (std::exchange(queues_.at(number).marked, true)) {
            serving_left_ = true;
        } else {
            to_serve.push_back(number);
        }
    }
    serving_left_ |= !to_serve.empty();
    queues_.mark_again(to_serve);
}

// Serves the consumer that has waited longest; returns how many messages it got, 0 when no consumer could be served.
std::size_t Engine::serve_next(QueueNumber number) {
    Queue& at = queues_.at(number);
    if (at.paused) return 0;
    while (!at.waiters.empty() && at.ready_count > 0) {
        const auto waiting = waiters_.find(at.waiters.front());
        if (waiting == waiters_.end()) {  // its wait has ended
            at.waiters.pop_front();
            continue;
        }
        const std::size_t messages = grant(number, waiting->second);
        if (messages == 0) {  // all leases are in use: tried again in the next iteration
            queues_.mark(number);
            return 0;
        }
        static_cast<void>(wheel_.cancel(waiting->second.timer));
        waiter_of_reply_.erase(waiting->second.token);
        if (waiting->second.brief) --at.brief_waiters;
        waiters_.erase(waiting);
        at.waiters.pop_front();
        return messages;
    }
    return 0;
}

// Takes up to `waiter.max` ready messages for it, as far as leases are left and the messages fit into one reply, in
// delivery order.
std::vector<ReadyKey> Engine::take_ready(QueueNumber number, const Waiter& waiter) {
    Queue& at = queues_.at(number);
    std::vector<ReadyKey> taken;
    std::size_t bytes = 0;
    const auto is_live = [&](const ReadyKey& key) {
        const Entry& entry = recent_.entry(key.entry);
        return entry.id == key.position.id && entry.state == State::ready && entry.due_ms == key.position.due_ms &&
               !entry.in_batch && !is_purged(entry);
    };
    while (taken.size() < waiter.max && leases_.size() + taken.size() < options_.leased_max) {
        const bool are_many = at.ready_count >= options_.streams_from || at.has_backlog();
        const ReadyKey* first = at.ready.first(at.ready_count, now_ - options_.fresh_ms, are_many, is_live);
        if (first == nullptr) break;
        Entry& entry = recent_.entry(first->entry);
        if (has_expired(first->entry)) {  // the wheel is behind the clock
            begin_expiry(first->entry);
            continue;
        }
        bytes += entry.record_bytes;
        if (bytes > options_.lease_bytes_max && !taken.empty()) break;
        taken.push_back(*first);
        at.ready.pop_first();
        assert(is_legal_move(entry.state, State::leased));
        entry.state = State::leased;
        --at.ready_count;
        --ready_count_;
        ++at.leased_count;
    }
    std::sort(taken.begin(), taken.end());  // a queue with a backlog has two streams
    return taken;
}

// Leases ready messages to the waiter, and returns their number; 0: there were none.
std::size_t Engine::grant(QueueNumber number, const Waiter& waiter) {
    Delivery delivery;
    delivery.token = waiter.token;
    delivery.queue = number;
    delivery.answer.queue = recent_.queues().name(number).queue;
    delivery.answer.name_space = recent_.queues().name(number).name_space;
    std::vector<Sequence> missing;
    for (const ReadyKey& taken : take_ready(number, waiter)) {
        Entry& entry = recent_.entry(taken.entry);
        entry.begun += 1;
        const DueMs until = now_ + waiter.lease_ms;
        leases_[entry.id] = {entry.begun, until, now_};
        unsettled_expiry(taken.entry);
        arm(taken.entry, until);
        if (!entry.attempt_queued) {
            entry.attempt_queued = true;
            attempts_.push_back(entry.id);
        }
        Delivered& message = delivery.answer.messages.emplace_back();
        message.id = entry.id;
        message.lease = signer_.sign(entry.id, entry.begun, context_.incarnation);
        message.lease_until_ms = until;
        message.due_ms = entry.nominal_due_ms;
        message.delivered_ms = now_;
        message.attempt = entry.begun;
        message.late_from_ms = entry.due_ms;
        message.maybe_delivered = entry.maybe_delivered || entry.from_past;
        delivery.latest_due_ms = std::max(delivery.latest_due_ms, entry.due_ms);
        message.key = recent_.key(entry);
        message.order_key = recent_.order_key(taken.entry);
        delivery.log_positions.push_back(entry.log_position);
        if (!cache_.holds(entry.log_position)) missing.push_back(entry.log_position);
    }
    const std::size_t granted = delivery.answer.messages.size();
    if (granted == 0) return 0;
    // Copied from the cache first: it may be evicted before the rest has been read.
    for (std::size_t i = 0; i < delivery.log_positions.size(); ++i) {
        if (const std::string* body = cache_.find(delivery.log_positions[i])) {
            fill(delivery.answer.messages[i], *body);
            delivery.log_positions[i] = 0;
        }
    }
    if (missing.empty()) {
        finish_delivery(std::move(delivery), {});
        return granted;
    }
    std::sort(missing.begin(), missing.end());
    const std::uint64_t ticket = lookups_.start(ReadRecords{std::move(missing)}, DeliveryLookup{std::move(delivery)});
    if (waiter.token != 0) delivery_of_reply_[waiter.token] = ticket;
    return granted;
}

void Engine::fill(Delivered& message, std::string_view record_body) {
    Result<Record> record = decode_record(RecordKind::relocate, record_body);
    if (!record) {
        effects_.fatal_error = std::move(record).error();
        return;
    }
    message.late_from_ms = late_from(message.late_from_ms, record->content);
    message.occurrence = record->content.occurrence;
    message.parent = record->content.parent;
    if (message.parent != 0) message.check = record->content.transaction;
    message.schedule = record->content.schedule;
    message.watchdog = record->content.watchdog;
    message.fed_ms = record->content.fed_ms;
    copy_content(record->content, message);
}

void Engine::finish(DeliveryLookup lookup, const FoundRecords& records, Generation) {
    delivery_of_reply_.erase(lookup.delivery.token);
    finish_delivery(std::move(lookup.delivery), records);
}

void Engine::finish_delivery(Delivery delivery, const FoundRecords& records) {
    for (std::size_t i = 0; i < delivery.log_positions.size(); ++i) {
        const Sequence log_position = delivery.log_positions[i];
        if (log_position == 0) continue;
        const auto read =
            std::lower_bound(records.begin(), records.end(), log_position,
                             [](const RecordBytes& record, Sequence at) { return record.log_position < at; });
        if (read == records.end() || read->log_position != log_position) {
            effects_.fatal_error =
                Error{"damaged_log", "record " + std::to_string(log_position) +
                                         " of a due message is not in the log: run `duewheel check`"};
            return;
        }
        fill(delivery.answer.messages[i], read->body);
        delivery.log_positions[i] = 0;
    }
    if (!is_due_saved(delivery)) {
        held_.push_back(std::move(delivery));
        return;
    }
    counters_.delivered += delivery.answer.messages.size();
    queues_.count_in(delivery.queue, &QueueTotals::delivered, delivery.answer.messages.size());
    reply(delivery.token, std::move(delivery.answer));
}

// A crash may lose the record of a started attempt, and the next run knows the time only from commits, because its
// clock may have been set back. So a message is delivered only if it was not due long after the newest commit. The
// commit of the attempt itself, which is already in progress, saves a later time; if commits are frequent, no consumer
// waits.
bool Engine::is_due_saved(const Delivery& delivery) const {
    return delivery.latest_due_ms <= batches_.totals().server_time_ms + options_.unsaved_due_max_ms;
}

void Engine::deliver_held() {
    for (Delivery& delivery : std::exchange(held_, {})) finish_delivery(std::move(delivery), {});
}

// The wait of the consumer has ended. It still gets messages that became due during the wait, even in its last
// iteration: it stays for pending reads, like a consumer that does not wait.
void Engine::end_wait(std::uint64_t number) {
    const auto waiting = waiters_.find(number);
    if (waiting == waiters_.end()) return;
    Waiter& waiter = waiting->second;
    if (waiter.brief || !context_.serving || context_.stopping) return drop_waiter(number);
    wait_briefly(number, waiter);
    queues_.mark(waiter.queue);
}

// Waits only until the pending reads of its queue are done.
void Engine::wait_briefly(std::uint64_t number, Waiter& waiter) {
    waiter.brief = true;
    ++queues_.at(waiter.queue).brief_waiters;
    waiter.timer = wheel_.schedule(static_cast<Tick>(now_ + options_.brief_wait_ms), kWaiterCookie | number, 0);
    if (window_.is_behind()) waiting_for_window_.push_back(waiter.queue);
}

// It gets an empty reply.
void Engine::drop_waiter(std::uint64_t waiter) {
    const auto waiting = waiters_.find(waiter);
    if (waiting == waiters_.end()) return;
    static_cast<void>(wheel_.cancel(waiting->second.timer));
    waiter_of_reply_.erase(waiting->second.token);
    const QueueNumber number = waiting->second.queue;
    LeaseAnswer none;
    none.queue = recent_.queues().name(number).queue;
    reply(waiting->second.token, std::move(none));
    Queue& at = queues_.at(number);
    if (waiting->second.brief) --at.brief_waiters;
    waiters_.erase(waiting);
    std::erase(at.waiters, waiter);
    queues_.release_if_only_waited_for(number);
}

// Whether due messages may be in pending lookups: the head of an order key, the backlog, or, after a start, messages
// that became due since the load cursor.
bool Engine::is_read_for(const Queue& at) const {
    const bool is_loaded_for = window_.is_behind() && at.counts.pending > 0;
    return !at.paused && leases_.size() < options_.leased_max &&
           (at.line_lookups > 0 || at.has_backlog() || is_loaded_for);
}

// No lookup is pending any more: consumers that do not wait, or not longer, get an empty reply.
void Engine::drop_brief_waiters(QueueNumber number) {
    const Queue& at = queues_.at(number);
    if (at.brief_waiters == 0 || is_read_for(at)) return;
    std::vector<std::uint64_t> brief;
    for (const std::uint64_t waiter : at.waiters) {
        const auto waiting = waiters_.find(waiter);
        if (waiting != waiters_.end() && waiting->second.brief) brief.push_back(waiter);
    }
    for (const std::uint64_t waiter : brief) drop_waiter(waiter);
}

void Engine::stop_waiting() {
    context_.stopping = true;
    std::vector<std::uint64_t> waiting;
    for (const auto& [waiter, unused] : waiters_) waiting.push_back(waiter);
    std::sort(waiting.begin(), waiting.end());  // the order of a hash table must not be visible
    for (const std::uint64_t waiter : waiting) drop_waiter(waiter);
}

void Engine::forget(ReplyToken token) {
    if (const auto waiter = waiter_of_reply_.find(token); waiter != waiter_of_reply_.end()) {
        const std::uint64_t number = waiter->second;
        waiters_.at(number).token = 0;
        waiter_of_reply_.erase(waiter);
        return drop_waiter(number);
    }
    const auto held =
        std::find_if(held_.begin(), held_.end(), [&](const Delivery& delivery) { return delivery.token == token; });
    if (held != held_.end()) {
        const Delivery delivery = std::move(*held);
        held_.erase(held);
        return return_delivery(delivery);
    }
    const auto reading = delivery_of_reply_.find(token);
    if (reading == delivery_of_reply_.end()) return;
    Delivery& delivery = lookups_.at<DeliveryLookup>(reading->second).delivery;
    delivery_of_reply_.erase(reading);
    delivery.token = 0;
    return_delivery(delivery);
}

bool Engine::withdraw(ReplyToken token) {
    const auto waiter = waiter_of_reply_.find(token);
    if (waiter == waiter_of_reply_.end()) return false;
    forget(token);
    return true;
}

// The consumer has disconnected: its messages are ready again.
void Engine::return_delivery(const Delivery& delivery) {
    for (const Delivered& message : delivery.answer.messages) {
        const EntryNumber number = recent_.find(message.id);
        const auto held = leases_.find(message.id);
        if (number == kNoEntry || held == leases_.end() || held->second.attempt != message.attempt) continue;
        Entry& entry = recent_.entry(number);
        if (entry.in_batch) {  // ends after the batch has been applied, as if the lease had expired
            held->second.until_ms = now_;
            entry.woken = true;
        } else {
            end_lease(number);
        }
    }
}

}  // namespace duewheel
