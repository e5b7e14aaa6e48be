#include "engine/messages/loader.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace duewheel {

void Loader::load() {
    if (const std::optional<DueLookup> next = window_.next_lookup()) {
        lookups_.start(ScanDue{next->from, next->until_ms, options_.load_chunk}, *next);
    }
}

void Loader::finish(const DueLookup& lookup, Stretch stretch, Generation generation) {
    window_.end_lookup();
    if (!lookups_.is_fresh(generation)) return load();
    assert(stretch.complete || !stretch.rows.empty());
    window_.merge(lookup, stretch);
    for (const MessageRow& row : stretch.rows) {
        if (recent_.find(row.id) != kNoEntry || recent_.outcome(row.id) != nullptr) continue;
        if (is_ended(row.state.state)) continue;
        ++counters_.loaded;
        lifecycle_.load(row);
    }
    prefetch(stretch.rows);
    if (!window_.is_behind()) {
        for (const QueueNumber number : std::exchange(waiting_, {})) queues_.mark(number);
    }
    load();
}

void Loader::finish(const BacklogLookup& lookup, Stretch stretch, Generation generation) {
    Queue& at = queues_.at(lookup.queue);
    at.reading_from.reset();
    --backlogs_reading_;
    queues_.mark(lookup.queue);
    if (!lookups_.is_fresh(generation)) return at.lower_cursor(lookup.from);
    if (!stretch.complete) at.lower_cursor(stretch.next);
    for (const MessageRow& row : stretch.rows) {
        const DuePosition position{row.state.due_ms, row.id};
        if (!row.state.group.empty() && lifecycle_.turns().covers(lookup.queue, row.state.group, position)) continue;
        static_cast<void>(load_backlog(row));
    }
    prefetch(stretch.rows);
}

// Whether the row is loaded: it is due, and memory has nothing newer. It is ready then, or behind the cursor again, if
// memory has enough.
bool Loader::load_backlog(const MessageRow& row) {
    if (recent_.find(row.id) != kNoEntry || recent_.outcome(row.id) != nullptr) return false;
    if (!is_timed(row.state.state) || row.state.due_ms > now_) return false;
    ++counters_.loaded;
    lifecycle_.load(row);
    return true;
}

void Loader::finish(const GroupLookup& lookup, Stretch stretch, Generation generation) {
    --backlogs_reading_;
    queues_.mark(lookup.queue);
    Turns& turns = lifecycle_.turns();
    const bool is_fresh = lookups_.is_fresh(generation);
    if (!is_fresh) stretch.rows.clear();
    turns.end_reading(lookup.queue, lookup.group,
                      !is_fresh          ? lookup.from
                      : stretch.complete ? kNoBacklog
                                         : stretch.next);
    std::uint32_t loaded = 0;
    for (const MessageRow& row : stretch.rows) loaded += load_backlog(row) ? 1 : 0;
    turns.note_loaded(lookup.queue, lookup.group, loaded);
    prefetch(stretch.rows);
}

void Loader::finish(const GroupsLookup& lookup, GroupStarts starts, Generation generation) {
    --backlogs_reading_;
    Queue& at = queues_.at(lookup.queue);
    at.is_finding_groups = false;
    queues_.mark(lookup.queue);
    if (!lookups_.is_fresh(generation)) return;  // looked up again
    for (const GroupStart& start : starts.groups) {
        if (start.first.due_ms <= now_) lifecycle_.turns().note_found(lookup.queue, start.group, start.first);
    }
    if (starts.complete) {
        at.groups_to_find.reset();
    } else {
        at.groups_to_find = std::move(starts.groups.back().group);
    }
}

void Loader::finish(const PrefetchLookup& lookup, const FoundRecords& records, Generation) {
    reading_ahead_.erase(lookup.queue);
    for (const RecordBytes& record : records) cache_.insert(record.log_position, record.body);
}

void Loader::await_window(QueueNumber number) {
    if (window_.is_behind()) waiting_.push_back(number);
}

// Finds the groups that a start does not know, and reads those of which memory has few messages.
void Loader::read_groups(QueueNumber number) {
    Queue& at = queues_.at(number);
    const QueueName& name = recent_.queues().name(number);
    if (at.groups_to_find && !at.is_finding_groups) {
        if (backlogs_reading_ >= options_.backlogs_reading_max) return queues_.mark(number);
        ++backlogs_reading_;
        at.is_finding_groups = true;
        lookups_.start(ScanGroups{name.name_space, name.queue, *at.groups_to_find, options_.load_chunk},
                       GroupsLookup{number});
    }
    while (at.line && !at.line->to_read.empty()) {
        if (backlogs_reading_ >= options_.backlogs_reading_max) return queues_.mark(number);
        ++backlogs_reading_;
        const Turns::Reading next = lifecycle_.turns().next_to_read(number);
        lookups_.start(
            ScanGroup{name.name_space, name.queue, recent_.groups()[next.group].group, next.from, now_ + 1, next.limit},
            GroupLookup{number, next.group, next.from});
    }
}

void Loader::read_backlog(QueueNumber number) {
    read_groups(number);
    Queue& at = queues_.at(number);
    if (at.cursor == kNoBacklog || at.reading_from) return;
    const bool asked_lately =
        !at.paused && (!at.waiters.empty() || (at.asked_ms != 0 && now_ - at.asked_ms < options_.asked_lately_ms));
    const std::uint32_t kept =
        std::min(options_.ready_max / 2, asked_lately ? 2 * options_.load_chunk : options_.idle_backlog);
    if (Turns::plain_count(at) > kept || (window_.is_crowded() && !asked_lately)) return;
    if (lifecycle_.own_records().exhausted.count() + lifecycle_.due_recurring().due_count() >= options_.load_chunk)
        return queues_.mark(number);  // their ends must be written first
    if (backlogs_reading_ >= options_.backlogs_reading_max) return queues_.mark(number);
    ++backlogs_reading_;
    at.reading_from = std::exchange(at.cursor, kNoBacklog);
    const QueueName& name = recent_.queues().name(number);
    const std::uint32_t limit = asked_lately ? options_.load_chunk : options_.idle_backlog;
    ScanQueue scan{name.name_space, name.queue, *at.reading_from, now_ + 1, std::min(limit, options_.ready_max)};
    lookups_.start(std::move(scan), BacklogLookup{.queue = number, .from = *at.reading_from});
}

// Reads the bodies of messages that are due soon, in file order, while the cache has space for them.
void Loader::prefetch(const std::vector<MessageRow>& rows) {
    ReadRecords wanted;
    std::size_t room = cache_room();
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

void Loader::read_ahead(QueueNumber number) {
    if (!reading_ahead_.insert(number).second) return;
    ReadRecords wanted;
    std::size_t room = std::min(cache_room(), options_.read_ahead_bytes);
    lifecycle_.turns().visit_next(number, options_.read_ahead, [&](const ReadyKey& key) {
        const Entry& entry = recent_.entry(key.entry);
        const bool is_outdated = entry.id != key.position.id || entry.waits_for != WaitsFor::consumer;
        if (is_outdated || entry.record_bytes > room || cache_.holds(entry.log_position)) return;
        room -= entry.record_bytes;
        wanted.log_positions.push_back(entry.log_position);
    });
    if (wanted.log_positions.empty()) {
        reading_ahead_.erase(number);
        return;
    }
    std::sort(wanted.log_positions.begin(), wanted.log_positions.end());
    lookups_.start(std::move(wanted), PrefetchLookup{.queue = number});
}

std::size_t Loader::cache_room() const {
    return options_.record_cache_bytes - std::min(cache_.bytes(), options_.record_cache_bytes);
}

void Loader::sweep() {
    if (!segment_.has_to_sweep()) return;
    const bool done = recent_.sweep(segment_.first_to_sweep(), options_.sweep_chunk,
                                    [this](EntryNumber number) { lifecycle_.sweep(number); });
    if (!done) return;
    queues_.release_names(segment_.first_to_sweep());
    segment_.swept();
}

// ---- cursors

// Every message below it was passed to its queue: a restart need not load it by due time.
DueMs Loader::load_cursor() const {
    if (!wheel_.caught_up()) return durable_cursor_ms_;
    const Tick next = wheel_.next_work();
    DueMs cursor = std::min(now_, window_.read_to_ms());
    if (next < static_cast<Tick>(cursor)) cursor = static_cast<DueMs>(next);
    cursor = std::min(cursor, lifecycle_.unsettled_from_ms());
    return std::max(cursor, durable_cursor_ms_);
}

// `name`: null for the load cursor.
void Loader::add_cursor(const QueueName* name, DuePosition position) {
    CursorRecord cursor;
    cursor.time_ms = now_;
    cursor.due_ms = position.due_ms;
    if (name != nullptr) {
        cursor.name_space = name->name_space;
        cursor.queue = name->queue;
        cursor.id = position.id;
        cursor.removed = position == kNoBacklog;
    }
    batch().add(std::move(cursor), kNoEntry, 0, Error{});
}

void Loader::add_cursors() {
    const std::uint64_t room = segment_.room_to_close();
    auto fits = [&] {
        return batch().count() < options_.cursor_records_max &&
               segment_.size_of(batch().bytes() + kRecordOverheadMax) <= room;
    };
    std::vector<std::pair<QueueNumber, DuePosition>> rising;
    bool all_falling_fit = true;
    const std::vector<DuePosition> bounds = lifecycle_.order_lines().bounds(queues_.size());
    for (QueueNumber number = 0; number < queues_.size(); ++number) {
        Queue& at = queues_[number];
        DuePosition low = std::min(
            {at.cursor, at.reading_from.value_or(kNoBacklog), bounds[number], lifecycle_.turns().bound(number)});
        if (at.groups_to_find) low = std::min(low, at.durable_cursor);
        if (const FiredKey* first = queues_.first_fired(at)) low = std::min(low, first->position);
        if (low == at.durable_cursor) continue;
        if (low > at.durable_cursor) {
            rising.emplace_back(number, low);
        } else if (fits()) {
            add_cursor(&recent_.queues().name(number), low);
        } else {
            all_falling_fit = false;
        }
    }
    const DueMs load = load_cursor();
    if (all_falling_fit && load > durable_cursor_ms_ && fits()) add_cursor(nullptr, {load, 0});
    for (const auto& [number, low] : rising) {
        if (!fits()) break;
        add_cursor(&recent_.queues().name(number), low);
    }
    // The name of a segment is its first sequence number, so every segment must contain a record. This one may contain
    // only commits that save the time.
    if (batch().empty()) add_cursor(nullptr, {durable_cursor_ms_, 0});
}

void Loader::apply_cursor(const CursorRecord& record) {
    if (record.queue.empty()) {
        durable_cursor_ms_ = record.due_ms;
        return;
    }
    const QueueNumber number = recent_.queues().number(record.name_space, record.queue);
    queues_.at(number).durable_cursor = record.removed ? kNoBacklog : DuePosition{record.due_ms, record.id};
}

}  // namespace duewheel
