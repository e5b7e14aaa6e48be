// Loading from the index into memory, ahead of time, and dropping from memory when a segment is sealed.
#include <algorithm>
#include <cassert>

#include "engine/engine.h"

namespace duewheel {

EntryNumber Engine::admit(const MessageRow& row) {
    const EntryNumber number = recent_.admit(row);
    recent_.entry(number).from_past = earlier_runs_.may_have_delivered(row.id, row.state);
    join_line(number);
    return number;
}

// Drops a message that the index contains; `leaving` determines what finds it again.
void Engine::drop(EntryNumber number, Leaving leaving) {
    static_cast<void>(wheel_.cancel(TimerHandle{recent_.entry(number).timer}));
    order_lines_.leave(number, leaving);
    recent_.drop(number);
}

void Engine::load() {
    if (const std::optional<DueLookup> next = window_.next_lookup()) {
        lookups_.start(ScanDue{next->from, next->until_ms, options_.load_chunk}, *next);
    }
}

void Engine::finish(const DueLookup& lookup, Stretch stretch, Generation generation) {
    window_.end_lookup();
    if (!lookups_.is_fresh(generation)) return load();
    assert(stretch.complete || !stretch.rows.empty());
    window_.take(lookup, stretch);
    for (const MessageRow& row : stretch.rows) {
        if (recent_.find(row.id) != kNoEntry || recent_.outcome(row.id) != nullptr) continue;
        if (is_ended(row.state.state)) continue;
        ++counters_.loaded;
        settle(admit(row));
    }
    prefetch(stretch.rows);
    if (!window_.is_behind()) {
        for (const QueueNumber number : std::exchange(waiting_for_window_, {})) queues_.mark(number);
    }
    load();
}

// Continues to read a queue's backlog from disk when few of its messages are left in memory. For a queue without active
// consumers a few messages are enough, so that the backlogs of many queues do not fill the memory.
void Engine::read_backlog(QueueNumber number) {
    Queue& at = queues_.at(number);
    if (at.cursor == kNoBacklog || at.reading_from) return;
    const bool asked_lately =
        !at.paused && (!at.waiters.empty() || (at.asked_ms != 0 && now_ - at.asked_ms < options_.asked_lately_ms));
    const std::uint32_t kept =
        std::min(options_.ready_max / 2, asked_lately ? 2 * options_.load_chunk : options_.idle_backlog);
    if (at.ready_count > kept || (window_.is_crowded() && !asked_lately)) return;
    if (exhausted_.size() + due_recurring_.due_count() >= options_.load_chunk)
        return queues_.mark(number);  // their ends must be written first
    if (backlogs_reading_ >= options_.backlogs_reading_max) return queues_.mark(number);
    ++backlogs_reading_;
    at.reading_from = std::exchange(at.cursor, kNoBacklog);
    const QueueName& name = recent_.queues().name(number);
    const std::uint32_t limit = asked_lately ? options_.load_chunk : options_.idle_backlog;
    ScanQueue scan{name.name_space, name.queue, *at.reading_from, now_ + 1, std::min(limit, options_.ready_max)};
    lookups_.start(std::move(scan), BacklogLookup{.queue = number, .from = *at.reading_from});
}

void Engine::finish(const BacklogLookup& lookup, Stretch stretch, Generation generation) {
    Queue& at = queues_.at(lookup.queue);
    at.reading_from.reset();
    --backlogs_reading_;
    queues_.mark(lookup.queue);
    if (!lookups_.is_fresh(generation)) return at.lower_cursor(lookup.from);
    if (!stretch.complete) at.lower_cursor(stretch.next);
    for (const MessageRow& row : stretch.rows) {
        if (recent_.find(row.id) != kNoEntry || recent_.outcome(row.id) != nullptr) continue;
        if (!is_timed(row.state.state) || row.state.due_ms > now_) continue;
        ++counters_.loaded;
        settle(admit(row));  // ready; or behind the cursor again, if memory has enough
    }
    prefetch(stretch.rows);
}

// Reads the bodies of messages that are due soon, in file order, while the cache has space for them.
void Engine::prefetch(const std::vector<MessageRow>& rows) {
    ReadRecords wanted;
    std::size_t room = cache_.bytes() < options_.record_cache_bytes ? options_.record_cache_bytes - cache_.bytes() : 0;
    for (const MessageRow& row : rows) {
        const EntryNumber number = recent_.find(row.id);
        if (number == kNoEntry || cache_.holds(recent_.entry(number).log_position)) continue;
        const Entry& entry = recent_.entry(number);
        if (entry.record_bytes > room) break;
        room -= entry.record_bytes;
        wanted.log_positions.push_back(entry.log_position);
    }
    if (wanted.log_positions.empty()) return;
    std::sort(wanted.log_positions.begin(), wanted.log_positions.end());
    lookups_.start(std::move(wanted), PrefetchLookup{});
}

void Engine::finish(const PrefetchLookup&, const FoundRecords& records, Generation) {
    for (const RecordBytes& record : records) cache_.insert(record.log_position, record.body);
}

// After a table was added to the index: its messages may leave memory if they are neither due soon nor leased.
void Engine::sweep() {
    if (!segment_.has_to_sweep()) return;
    const bool done = recent_.sweep(segment_.first_to_sweep(), options_.sweep_chunk, [this](EntryNumber number) {
        Entry& entry = recent_.entry(number);
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
    });
    if (!done) return;
    queues_.release_names(segment_.first_to_sweep());
    segment_.swept();
}

// Every message below it was passed to its queue: a restart need not load it by due time.
DueMs Engine::load_cursor() const {
    if (!wheel_.caught_up()) return durable_load_cursor_ms_;
    const Tick next = wheel_.next_work();
    DueMs cursor = std::min(now_, window_.read_to_ms());
    if (next < static_cast<Tick>(cursor)) cursor = static_cast<DueMs>(next);
    if (!unsettled_expiries_.empty()) cursor = std::min(cursor, unsettled_expiries_.begin()->due_ms);
    if (!unsettled_deadlines_.empty()) cursor = std::min(cursor, unsettled_deadlines_.begin()->due_ms);
    return std::max(cursor, durable_load_cursor_ms_);
}

}  // namespace duewheel
