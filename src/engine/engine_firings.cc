// The messages of watchdogs that were not fed in time.
//
// A firing is a message of its own, written whole, with its watchdog, its number and the last feed before it. One batch
// contains it and the new state of the watchdog, so after a crash both exist or neither. Its content is read from the
// log first. A due watchdog waits like a put: for the disk while that is full, for segments to be sealed, for room in
// its queue, for the queue's name. It can be fed meanwhile: the message that was due by then is overdue, and is created
// when there is room.
#include <algorithm>

#include "engine/engine.h"

namespace duewheel {

// Puts a watchdog whose record was just applied, or that was found at the start, where it belongs: on the wheel, among
// the due ones, or neither.
void Engine::settle_watchdog(Watchdog& watchdog) {
    if (has_to_fire(watchdog.state, now_)) return begin_firing(watchdog);
    watchdog.blocked_by = {};
    if (watchdog.state.due_ms != 0) return arm(watchdog, watchdog.state.due_ms);
    static_cast<void>(wheel_.cancel(watchdog.timer));
}

// A burst of watchdogs that are due at one instant shares a lane with the timers of queues with bursts.
void Engine::arm(Watchdog& watchdog, DueMs at) {
    if (wheel_.reschedule(watchdog.timer, static_cast<Tick>(at))) return;
    watchdog.timer = wheel_.schedule(static_cast<Tick>(at), kWatchdogCookie | watchdog.number, watchdogs_.size());
}

void Engine::wake_watchdog(WatchdogNumber number) {
    if (Watchdog* watchdog = watchdogs_.find(number)) begin_firing(*watchdog);
}

void Engine::begin_firing(Watchdog& watchdog) {
    static_cast<void>(wheel_.cancel(watchdog.timer));
    if (watchdog.is_due) return;
    watchdog.is_due = true;
    due_watchdogs_.add(watchdog.number);
}

// There is no capacity for its message. The more watchdogs wait, the longer each interval, so that they do not keep the
// engine busy.
void Engine::fire_later(Watchdog& watchdog, std::string_view why) {
    watchdog.blocked_by = why;
    arm(watchdog, now_ + options_.spawn_again_ms + static_cast<std::int64_t>(watchdogs_.size() / 100));
}

bool Engine::has_firings_to_add() const {
    return due_watchdogs_.has_ready() && !segment_.puts_stalled();
}

// Takes the next watchdogs that are due, and has their contents read.
void Engine::read_firings() {
    if (!due_watchdogs_.has_to_read()) return;
    while (due_watchdogs_.prepared_count() < options_.firings_max && due_watchdogs_.has_due()) {
        Watchdog* watchdog = watchdogs_.find(due_watchdogs_.first_due());
        if (watchdog != nullptr && !due_watchdogs_.fits(watchdog->record_bytes, options_.batch_bytes_max)) break;
        due_watchdogs_.pop_due();
        if (watchdog == nullptr) continue;
        if (watchdog->in_batch) {  // settled when its batch is applied
            watchdog->is_due = false;
            continue;
        }
        if (!has_to_fire(watchdog->state, now_)) {  // a feed that was being committed came in time
            watchdog->is_due = false;
            settle_watchdog(*watchdog);
            continue;
        }
        const QueueNumber queue = recent_.queues().find(watchdog->name_space(), watchdog->state.rule.queue);
        const std::string_view why =
            segment_.refuses_puts() ? "store_full" : queues_.why_full(queue, watchdog->name_space());
        if (!why.empty()) {
            watchdog->is_due = false;
            fire_later(*watchdog, why);
            continue;
        }
        due_watchdogs_.prepare(watchdog->number, watchdog->log_position, watchdog->record_bytes, cache_);
    }
    if (auto wanted = due_watchdogs_.start_reading()) lookups_.start(*std::move(wanted), FiringLookup{});
}

void Engine::finish(const FiringLookup&, const FoundRecords& records, Generation) {
    if (Status read = due_watchdogs_.take_records(records, "due watchdog"); !read) {
        effects_.fatal_error = std::move(read).error();
    }
}

// The bytes of one firing in a batch, with the new state of its watchdog.
std::size_t Engine::firing_bytes(std::size_t record_bytes) {
    return record_bytes + kWatchdogBytesMax + 2 * kRecordOverheadMax;
}

// At most three quarters of a batch, with what recurring messages and schedules have added to it.
void Engine::add_firings() {
    read_firings();
    const std::size_t share = std::max<std::size_t>(options_.batch_operations_max / 4 * 3, 2);
    for (std::size_t left = due_watchdogs_.prepared_count(); left > 0 && has_firings_to_add(); --left) {
        const std::size_t bytes = firing_bytes(due_watchdogs_.first_ready().record_body.size());
        if (batch().count() + 2 > share || !has_room(bytes)) return;
        const DueWatchdogs::Item firing = due_watchdogs_.take_ready();
        Watchdog* watchdog = watchdogs_.find(firing.id);
        if (watchdog == nullptr) continue;
        watchdog->is_due = false;
        if (!watchdog->in_batch) add_firing(*watchdog, firing);  // otherwise settled when the batch is applied
    }
}

void Engine::add_firing(Watchdog& watchdog, const DueWatchdogs::Item& prepared) {
    if (!has_to_fire(watchdog.state, now_)) return settle_watchdog(watchdog);  // it was fed or set again
    if (prepared.log_position != watchdog.log_position) return begin_firing(watchdog);
    if (segment_.refuses_puts()) return fire_later(watchdog, "store_full");
    const WatchdogRule& rule = watchdog.state.rule;
    const Result<Record> whole = decode_record(RecordKind::rule, prepared.record_body);
    if (!whole) {
        effects_.fatal_error = whole.error();
        return;
    }
    if (const Status room = check_run_room(watchdog.name_space(), rule.queue); !room) {
        return fire_later(watchdog, room.error().code);
    }
    watchdog.blocked_by = {};
    WatchdogState next = watchdog.state;
    const Firing firing = next_firing(next, now_);
    Record record = message_by(watchdog.name_space(), rule, *whole, firing.due_ms, firing.due_ms);
    record.content.watchdog = watchdog.name();
    record.content.occurrence = firing.number;
    record.content.fed_ms = firing.fed_ms;
    next.last_id = record.id;
    add(kNoEntry, std::move(record), 0, Error{});
    add_watchdog(watchdog, std::move(next), nullptr, 0, Error{});
}

}  // namespace duewheel
