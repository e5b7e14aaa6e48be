#include "engine/messages/dispatcher.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <iterator>
#include <utility>

#include "base/error_codes.h"
#include "base/invariant.h"
#include "engine/commands/lateness.h"
#include "engine/commands/refusals.h"
#include "message/records/content.h"

namespace duewheel {

void Dispatcher::start(const LeaseCommand& command, ReplyToken token) {
    if (command.lease_ms && !command.stays) {
        if (Status legal = check_lease_time(*command.lease_ms); !legal) return reply(token, std::move(legal).error());
    }
    if (command.max == 0 || (command.max > options_.lease_batch_max && !command.stays)) {
        return reply(
            token, Error{"bad_max"_code, "`max` must be from 1 to " + std::to_string(options_.lease_batch_max), "max"});
    }
    if (command.min == 0 || command.min > command.max) {
        return reply(token, Error{"bad_min"_code,
                                  "`min` must be from 1 to `max`, which is " + std::to_string(command.max), "min"});
    }
    if (command.min > 1 && command.wait_ms == 0) {
        return reply(
            token, Error{"bad_min"_code, "`min` needs `wait`: give how long to wait for these messages, such as \"1s\"",
                         "min"});
    }
    if (Status legal = check_wait_time(command.wait_ms); !legal) return reply(token, std::move(legal).error());
    QueueNumber number = recent_.queues().find(command.name_space, command.queue);
    if (number == kNoQueue) {
        // A queue that does not exist has no messages, and a lease request does not create it.
        if (command.wait_ms == 0 && !command.stays) {
            LeaseAnswer none;
            none.queue = command.queue;
            return reply(token, std::move(none));
        }
        if (Status free = queues_.check_new_queue(command.name_space, command.queue); !free) {
            return reply(token, std::move(free).error());
        }
        number = recent_.queues().number(command.name_space, command.queue);
        queues_.at(number).only_waited_for = true;
    }
    Queue& at = queues_.at(number);
    if (at.waiters.size() >= options_.waiters_per_queue_max) {
        return reply(token,
                     Error{"waiter_limit"_code, "too many consumers already wait on this queue: try again later"});
    }
    at.asked_ms = now_;
    const std::uint64_t waiter = next_waiter_++;
    waiters_[waiter] = {
        .token = token,
        .queue = number,
        .max = command.max,
        .min = run_.stopping ? 1 : command.min,
        .terms = {command.lease_ms.value_or(queues_.lease_time(at)), command.ends_with_server, command.worker},
        .since_ms = command.ready_ms != 0 ? command.ready_ms : now_,
        .timer = {}};
    if (token != 0) waiter_of_reply_[token] = waiter;
    at.waiters.push_back(waiter);
    queues_.mark(number);
    if ((command.wait_ms == 0 && !command.stays) || run_.stopping) {
        while (run_.serving && waiters_.contains(waiter) && serve_next(number) > 0) continue;
        if (!waiters_.contains(waiter)) return;
        // Messages that were due before the request are not withheld because a lookup is pending.
        if (run_.stopping || !is_read_for(at)) return drop_waiter(waiter);
        return wait_briefly(waiter, waiters_.at(waiter));
    }
    if (command.stays) return;
    waiters_.at(waiter).timer = wheel_.schedule(static_cast<Tick>(now_ + command.wait_ms), kWaiterCookie | waiter, 0);
}

void Dispatcher::serve_queues() {
    std::deque<QueueNumber> to_serve = queues_.take_marked();
    has_more_ = false;
    std::size_t handed_out = 0;
    for (; !to_serve.empty() && handed_out < options_.serve_chunk; to_serve.pop_front()) {
        const QueueNumber number = to_serve.front();
        queues_.at(number).marked = false;
        const std::size_t messages = serve_next(number);
        handed_out += messages;
        if (messages == 0) {
            loader_.read_backlog(number);
            drop_brief_waiters(number);
            queues_.release_if_only_waited_for(number);  // its consumers may have left while it was marked
        } else if (std::exchange(queues_.at(number).marked, true)) {
            has_more_ = true;
        } else {
            to_serve.push_back(number);
        }
    }
    has_more_ |= !to_serve.empty();
    queues_.mark_again(to_serve);
}

// Serves the consumer that has waited longest, of those whose minimum is there; returns how many messages it got, 0
// when no consumer could be served. Nothing is reserved for the others, so a minimum holds no message back.
std::size_t Dispatcher::serve_next(QueueNumber number) {
    Queue& at = queues_.at(number);
    if (at.paused) return 0;
    for (auto next = at.waiters.begin(); next != at.waiters.end() && at.ready_count > 0;) {
        const auto waiting = waiters_.find(*next);
        if (waiting == waiters_.end()) {  // its wait has ended
            next = at.waiters.erase(next);
            continue;
        }
        const std::size_t least = std::min(waiting->second.min, options_.ready_max);  // memory has no more
        if (at.ready_count < least) {
            ++next;
            continue;
        }
        const auto [taken, is_full] = take_ready(number, waiting->second.max);
        if (taken.size() < least && !is_full && !taken.empty()) {  // some cannot be leased now
            put_back(taken);
            if (!queues_.may_lease(at, lifecycle_.leases().size())) queues_.mark(number);
            ++next;
            continue;
        }
        if (taken.empty()) {
            // All leases are in use: tried again in the next iteration. A limit of the queue or its groups marks it.
            if (!queues_.may_lease(at, lifecycle_.leases().size())) queues_.mark(number);
            return 0;
        }
        grant(number, taken, waiting->second.token, waiting->second.terms, waiting->second.since_ms);
        static_cast<void>(wheel_.cancel(waiting->second.timer));
        waiter_of_reply_.erase(waiting->second.token);
        if (waiting->second.brief) --at.brief_waiters;
        waiters_.erase(waiting);
        at.waiters.erase(next);
        return taken.size();
    }
    return 0;
}

const ReadyKey* Dispatcher::first_ready(QueueNumber number) {
    static_cast<void>(queues_.at(number));  // it exists from now on
    const auto is_live = [&](const ReadyKey& key) {
        const Entry& entry = recent_.entry(key.entry);
        return entry.id == key.position.id && entry.waits_for == WaitsFor::consumer &&
               entry.due_ms == key.position.due_ms && entry.priority == key.priority && !entry.in_batch &&
               !lifecycle_.is_purged(entry);
    };
    for (;;) {
        const ReadyKey* first = lifecycle_.turns().first(number, is_live);
        if (first == nullptr || !lifecycle_.has_expired(first->entry)) return first;
        lifecycle_.begin_expiry(first->entry);  // the wheel is behind the clock
    }
}

// Takes up to `max` ready messages, as far as leases are left and the messages fit into one reply, in delivery order.
Dispatcher::Taken Dispatcher::take_ready(QueueNumber number, std::uint32_t max) {
    Queue& at = queues_.at(number);
    Taken result;
    std::vector<ReadyKey>& taken = result.keys;
    std::size_t bytes = 0;
    while (taken.size() < max && queues_.may_lease(at, lifecycle_.leases().size() + taken.size()) &&
           lifecycle_.turns().may_deliver(number)) {
        const ReadyKey* first = first_ready(number);
        if (first == nullptr) break;
        const Entry& entry = recent_.entry(first->entry);
        bytes += entry.record_bytes + recent_.work_bytes_max(entry);
        if (bytes > options_.lease_bytes_max && !taken.empty()) {
            result.is_full = true;
            break;
        }
        taken.push_back(*first);
        lifecycle_.turns().pop_first(number);
        lifecycle_.turns().count_delivery(taken.back().entry);
        lifecycle_.dequeue(taken.back().entry);
    }
    sort_plain(taken);
    return result;
}

// Messages without a group come from two streams if their queue has a backlog. Those of groups stay where their turns
// have put them.
void Dispatcher::sort_plain(std::vector<ReadyKey>& keys) const {
    const auto is_plain = [this](const ReadyKey& key) { return recent_.group_of(key.entry) == kNoGroup; };
    if (std::all_of(keys.begin(), keys.end(), is_plain)) return std::sort(keys.begin(), keys.end());
    std::vector<ReadyKey> plain;
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(plain), is_plain);
    std::sort(plain.begin(), plain.end());
    auto next = plain.begin();
    for (ReadyKey& key : keys) {
        if (is_plain(key)) key = *next++;
    }
}

void Dispatcher::put_back(const std::vector<ReadyKey>& keys) {
    for (const ReadyKey& key : keys) {
        lifecycle_.untake(key.entry);
        lifecycle_.turns().uncount_delivery(key.entry);
        lifecycle_.turns().push(key.entry);
    }
}

// The key of the message stays in the list, and is outdated there.
void Dispatcher::lease_ready(EntryNumber number, ReplyToken token, const LeaseTerms& terms) {
    const Entry& entry = recent_.entry(number);
    const ReadyKey key{entry.priority, number, {entry.due_ms, entry.id}};
    lifecycle_.turns().count_delivery(number);
    lifecycle_.dequeue(number);
    grant(entry.queue, {key}, token, terms, now_);
}

// Leases messages that were taken, to a consumer that is there since `consumer_ms`.
void Dispatcher::grant(QueueNumber number, const std::vector<ReadyKey>& all, ReplyToken token, const LeaseTerms& terms,
                       DueMs consumer_ms) {
    Delivery delivery;
    delivery.token = token;
    delivery.queue = number;
    delivery.answer.queue = recent_.queues().name(number).queue;
    delivery.answer.name_space = recent_.queues().name(number).name_space;
    delivery.answer.messages.reserve(all.size());
    delivery.log_positions.reserve(all.size());
    std::vector<Sequence> missing;
    for (const ReadyKey& taken : all) {
        Entry& entry = recent_.entry(taken.entry);
        const DueMs until = now_ + terms.lease_ms;
        const DueMs from = late_from(entry, consumer_ms);
        lifecycle_.start_attempt(taken.entry, terms, from);
        Delivered& message = delivery.answer.messages.emplace_back();
        message.id = entry.id;
        message.lease = signer_.sign(entry.id, entry.begun, run_.incarnation);
        message.lease_until_ms = until;
        message.due_ms = entry.nominal_due_ms;
        message.delivered_ms = now_;
        message.attempt = entry.begun;
        message.late_from_ms = from;
        message.lateness_ms = now_ - from;
        message.wait_ms = from - entry.nominal_due_ms;
        message.maybe_delivered = entry.maybe_delivered || entry.from_past;
        delivery.latest_due_ms = std::max({delivery.latest_due_ms, entry.due_ms, lapse_to_save(entry)});
        message.key = recent_.key(entry);
        message.checkpoint = recent_.work(entry).checkpoint;
        message.order_key = recent_.order_key(taken.entry);
        message.group = recent_.groups()[recent_.group_of(taken.entry)].group;
        delivery.log_positions.push_back(entry.log_position);
        if (!cache_.holds(entry.log_position)) missing.push_back(entry.log_position);
    }
    // Copied from the cache first: it may be evicted before the rest has been read.
    for (std::size_t i = 0; i < delivery.log_positions.size(); ++i) {
        if (const std::string* body = cache_.find(delivery.log_positions[i])) {
            fill(delivery.answer.messages[i], *body);
            delivery.log_positions[i] = 0;
        }
    }
    if (missing.empty()) return finish_delivery(std::move(delivery), {});
    promise(delivery, true);
    std::sort(missing.begin(), missing.end());
    if (all.size() < options_.read_ahead) loader_.read_ahead(number);
    const std::uint64_t ticket = lookups_.start(ReadRecords{std::move(missing)}, DeliveryLookup{std::move(delivery)});
    if (token != 0) delivery_of_reply_[token] = ticket;
}

// Since when the server could deliver a ready message to a consumer that is there since `consumer_ms` (lateness.h).
DueMs Dispatcher::late_from(const Entry& entry, DueMs consumer_ms) const {
    const DueMs held_back = std::max(lifecycle_.held_back_until(entry.id), queues_[entry.queue].resumed_ms);
    const DueMs from = std::max({entry.due_ms, held_back, consumer_ms});
    const std::int64_t down_ms = held_back > entry.due_ms ? 0 : earlier_runs_.down_time(entry.id, entry.due_ms);
    return std::max(from, entry.due_ms + down_ms) - down_ms;
}

void Dispatcher::fill(Delivered& message, std::string_view record_body) {
    Result<MessageRecord> record = decode_message(RecordKind::relocate, record_body);
    if (!record) return fail(std::move(record).error());
    if (const DueMs from = counts_from(message.due_ms, record->content.put_ms, record->content);
        from > message.due_ms) {
        message.wait_ms = std::max<std::int64_t>(message.late_from_ms - from, 0);
        const auto lease = lifecycle_.leases().find(message.id);
        if (lease != lifecycle_.leases().end()) lease->second.wait_ms = message.wait_ms;
    }
    message.occurrence = record->content.occurrence;
    message.parent = record->content.parent;
    if (message.parent != 0) message.check = record->content.transaction;
    message.schedule = record->content.schedule;
    message.watchdog = record->content.watchdog;
    message.fed_ms = record->content.fed_ms;
    copy_content(record->content, message);
}

// ---- deliveries

void Dispatcher::finish(DeliveryLookup lookup, const FoundRecords& records, Generation) {
    delivery_of_reply_.erase(lookup.delivery.token);
    promise(lookup.delivery, false);
    finish_delivery(std::move(lookup.delivery), records);
}

void Dispatcher::finish_delivery(Delivery delivery, const FoundRecords& records) {
    for (std::size_t i = 0; i < delivery.log_positions.size(); ++i) {
        const Sequence log_position = delivery.log_positions[i];
        if (log_position == 0) continue;
        const RecordBytes* read = find_record(records, log_position);
        if (read == nullptr) {
            return fail({"damaged_log"_code, "record " + std::to_string(log_position) +
                                                 " of a due message is not in the log: run `duewheel check`"});
        }
        fill(delivery.answer.messages[i], read->body);
        delivery.log_positions[i] = 0;
    }
    if (!is_due_saved(delivery)) {
        promise(delivery, true);
        held_.push_back(std::move(delivery));
        return;
    }
    std::int64_t lateness_ms = 0;
    std::int64_t wait_ms = 0;
    for (Delivered& message : delivery.answer.messages) {
        if (message.delivered_ms != now_) add_lateness(message);
        lateness_ms += message.lateness_ms;
        wait_ms += message.wait_ms;
    }
    queues_.count_in(delivery.queue, &QueueTotals::delivered, delivery.answer.messages.size());
    queues_.count_in(delivery.queue, &QueueTotals::lateness_ms, static_cast<std::uint64_t>(lateness_ms));
    queues_.count_in(delivery.queue, &QueueTotals::wait_ms, static_cast<std::uint64_t>(wait_ms));
    reply(delivery.token, std::move(delivery.answer));
}

// Its content was read, or its due time saved, since it was leased.
void Dispatcher::add_lateness(Delivered& message) {
    message.lateness_ms = now_ - message.late_from_ms;
    const auto lease = lifecycle_.leases().find(message.id);
    if (lease == lifecycle_.leases().end() || lease->second.attempt != message.attempt) return;
    lease->second.lateness_ms += static_cast<std::uint32_t>(now_ - message.delivered_ms);
}

// A crash may lose the record of a started attempt, and the next run knows the time only from commits, because its
// clock may have been set back. So a message is delivered only if it was not due long after the newest commit.
// Otherwise the next commit follows at once and saves a later time; if commits are frequent, no consumer waits. An
// owner of a log that was paused learns in the same way whether it still is the owner.
bool Dispatcher::is_due_saved(const Delivery& delivery) const {
    const DueMs saved_ms = batches_.totals().server_time_ms;
    return delivery.latest_due_ms <= saved_ms + options_.unsaved_due_max_ms &&
           now_ - saved_ms <= options_.unconfirmed_max_ms;
}

// A run that starts takes a recorded lease as ended if it ended before the newest commit (EarlierRuns). So before a
// message is delivered again after such a lease, a commit saves a time after that end.
DueMs Dispatcher::lapse_to_save(const Entry& entry) const {
    const DueMs until_ms = recent_.work(entry).lease.until_ms;
    return until_ms == 0 ? 0 : until_ms + options_.unsaved_due_max_ms;
}

// Whether its consumer has yet to get it: until then its leases are not recorded, because they can be given up.
void Dispatcher::promise(const Delivery& delivery, bool is_promised) {
    for (const Delivered& message : delivery.answer.messages) {
        const auto lease = lifecycle_.leases().find(message.id);
        if (lease == lifecycle_.leases().end() || lease->second.attempt != message.attempt) continue;
        lease->second.is_promised = is_promised;
        if (!is_promised) lifecycle_.note_lease(recent_.find(message.id));
    }
}

void Dispatcher::deliver_held() {
    for (Delivery& delivery : std::exchange(held_, {})) {
        promise(delivery, false);
        finish_delivery(std::move(delivery), {});
    }
}

void Dispatcher::refuse_held() {
    for (const Delivery& delivery : std::exchange(held_, {})) {
        return_delivery(delivery);
        ++counters_.changes_refused_full;
        reply(delivery.token, segment_.no_space_for(Adds::end));
    }
}

// The consumer has disconnected: its messages are ready again.
void Dispatcher::return_delivery(const Delivery& delivery) {
    for (const Delivered& message : delivery.answer.messages) {
        const EntryNumber number = recent_.find(message.id);
        const auto held = lifecycle_.leases().find(message.id);
        if (number == kNoEntry || held == lifecycle_.leases().end() || held->second.attempt != message.attempt)
            continue;
        lifecycle_.give_up_lease(number);
    }
}

// ---- consumers that wait

void Dispatcher::end_wait(std::uint64_t number) {
    const auto waiting = waiters_.find(number);
    if (waiting == waiters_.end()) return;
    Waiter& waiter = waiting->second;
    if (waiter.brief || !run_.serving || run_.stopping) return drop_waiter(number);
    wait_briefly(number, waiter);
    queues_.mark(waiter.queue);
}

// Waits only until the pending reads of its queue are done.
void Dispatcher::wait_briefly(std::uint64_t number, Waiter& waiter) {
    waiter.brief = true;
    waiter.min = 1;
    ++queues_.at(waiter.queue).brief_waiters;
    waiter.timer = wheel_.schedule(static_cast<Tick>(now_ + options_.brief_wait_ms), kWaiterCookie | number, 0);
    loader_.await_window(waiter.queue);
}

// It gets an empty reply.
void Dispatcher::drop_waiter(std::uint64_t waiter) {
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
bool Dispatcher::is_read_for(const Queue& at) const {
    const bool is_loaded_for = lifecycle_.window().is_behind() && at.counts.pending > 0;
    return !at.paused && queues_.may_lease(at, lifecycle_.leases().size()) &&
           (at.line_lookups > 0 || at.has_backlog() || is_loaded_for || Turns::is_reading(at));
}

// No lookup is pending any more: consumers that do not wait, or not longer, get an empty reply.
void Dispatcher::drop_brief_waiters(QueueNumber number) {
    const Queue& at = queues_.at(number);
    if (at.brief_waiters == 0 || is_read_for(at)) return;
    std::vector<std::uint64_t> brief;
    for (const std::uint64_t waiter : at.waiters) {
        const auto waiting = waiters_.find(waiter);
        if (waiting != waiters_.end() && waiting->second.brief) brief.push_back(waiter);
    }
    for (const std::uint64_t waiter : brief) drop_waiter(waiter);
}

void Dispatcher::stop_waiting() {
    run_.stopping = true;
    std::vector<std::uint64_t> waiting;
    for (const auto& [waiter, unused] : waiters_) waiting.push_back(waiter);
    std::sort(waiting.begin(), waiting.end());  // the order of a hash table must not be visible
    for (const std::uint64_t waiter : waiting) drop_waiter(waiter);
}

void Dispatcher::forget(ReplyToken token) {
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

bool Dispatcher::withdraw(ReplyToken token) {
    const auto waiter = waiter_of_reply_.find(token);
    if (waiter == waiter_of_reply_.end()) return false;
    forget(token);
    return true;
}

void Dispatcher::check() const {
    std::vector<std::uint32_t> brief(queues_.size());
    for (const auto& [number, waiter] : waiters_) brief[waiter.queue] += waiter.brief ? 1 : 0;
    for (QueueNumber number = 0; number < queues_.size(); ++number) {
        require(queues_[number].brief_waiters == brief[number], "a queue's count of brief waiters is off");
    }
}

}  // namespace duewheel
