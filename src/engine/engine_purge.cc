// Purges: every message that was in a queue at the time of the request ends, in chunks, while everything else
// continues.
//
// The settings of the queue contain the mark: the greatest id assigned by then. From the moment at which they are
// applied, no marked message is delivered (grant), and none changes except to its end: a command that would change it
// ends it, and so does the end of its lease. So the remaining work is to find them, and one pass does that:
//
//   1. scan the entries in memory: each marked one is kept there until its end is durable;
//   2. scan the queue in the index: messages that are not in memory are there, at a position that does not change,
//   because
//      each change first loads them into memory, where the rule of (1) applies (settle, make_ready).
//
// The messages found end with cause `purged`, up to `purge_chunk` in a batch. When both scans are done and no marked
// entry is left in memory, leased ones included, the mark is removed from the settings. After a crash the mark is still
// there, and the scans start again.
#include <algorithm>
#include <cassert>
#include <limits>

#include "engine/engine.h"

namespace duewheel {
namespace {

constexpr DuePosition kQueueFront{std::numeric_limits<DueMs>::min(), 0};
constexpr std::size_t kPurgeRecordBytesMax = 1024;

}  // namespace

bool Engine::is_purged(const Entry& entry) const {
    return !purges_.empty() && entry.queue < queues_.size() && entry.id <= queues_[entry.queue]->purge_through &&
           !is_ended(entry.durable_state);
}

// True if the entry belongs to a purge: from now on it waits only for its end.
bool Engine::take_for_purge(EntryNumber number) {
    if (purges_.empty()) return false;
    Entry& entry = recent_.entry(number);
    if (!is_purged(entry)) return false;
    if (entry.purging || entry.expiring) return true;  // an expiry ends it just as soon
    entry.purging = true;
    ++queue(entry.queue).purging;
    if (entry.state != State::leased) to_purge_.push_back(entry.id);
    return true;
}

ChangeAnswer Engine::purged_answer(ChangeAnswer answer) {
    answer.outcome = ChangeOutcome::cancelled;
    answer.due_ms = 0;
    return answer;
}

// A command on a marked message ends it, with this reply.
Engine::Verdict Engine::purge(EntryNumber number, PendingCommand& pending, Reply with) {
    Record record = changed(recent_.entry(number), RecordKind::end, Cause::purged);
    record.state.state = State::cancelled;
    add(number, std::move(record), pending.token, std::move(with));
    return Verdict::settled;
}

Engine::Verdict Engine::purge(const Known& known, PendingCommand& pending, Reply with) {
    if (refuse_for_space(pending, Adds::end)) return withdraw(known), Verdict::settled;
    return purge(known.entry, pending, std::move(with));
}

// The mark of the queue has changed: to a greater one, or to none.
void Engine::begin_purge(QueueNumber number) {
    std::erase_if(purges_, [&](const PurgeWalk& walk) { return walk.queue == number; });
    if (queue(number).purge_through == 0) {
        queue(number).purged = 0;
        return;
    }
    PurgeWalk walk;
    walk.queue = number;
    walk.next_row = kQueueFront;
    purges_.push_back(walk);
}

// The index of the purge that scans next; the number of purges if none has to, or if enough messages were found.
std::size_t Engine::walking_purge() const {
    if (to_purge_.size() >= options_.purge_chunk) return purges_.size();
    for (std::size_t i = 0; i < purges_.size(); ++i) {
        if (!purges_[i].walked) return purges_[i].lookup_open ? purges_.size() : i;
    }
    return purges_.size();
}

// Scans one part.
void Engine::walk_purge() {
    const std::size_t walking = walking_purge();
    if (walking == purges_.size()) return;
    PurgeWalk& walk = purges_[walking];
    if (!walk.walked_entries) {
        const EntryNumber end = std::min(recent_.entry_limit(), walk.next_entry + options_.purge_walk);
        for (; walk.next_entry < end; ++walk.next_entry) {
            const Entry& entry = recent_.entry(walk.next_entry);
            if (entry.id != 0 && entry.queue == walk.queue) static_cast<void>(take_for_purge(walk.next_entry));
        }
        walk.walked_entries = walk.next_entry >= recent_.entry_limit();
        return;
    }
    walk.lookup_open = true;
    const QueueName& name = recent_.queues().name(walk.queue);
    lookups_.start(
        ScanQueue{name.name_space, name.queue, walk.next_row, std::numeric_limits<DueMs>::max(), options_.purge_chunk},
        PurgeLookup{.queue = walk.queue, .from = walk.next_row});
}

void Engine::finish(const PurgeLookup& lookup, const Stretch& stretch, Generation generation) {
    const auto walk = std::find_if(purges_.begin(), purges_.end(), [&](const PurgeWalk& each) {
        return each.queue == lookup.queue && each.lookup_open && each.next_row == lookup.from;
    });
    if (walk == purges_.end()) return;  // it started again, or is complete
    walk->lookup_open = false;
    if (!lookups_.is_fresh(generation)) return;  // looked up again
    for (const MessageRow& row : stretch.rows) {
        if (row.id > queue(lookup.queue).purge_through || recent_.outcome(row.id) != nullptr) continue;
        EntryNumber number = recent_.find(row.id);
        if (number == kNoEntry) number = admit(row);
        static_cast<void>(take_for_purge(number));
    }
    if (stretch.complete) {
        walk->walked = true;
    } else {
        walk->next_row = {stretch.rows.back().state.due_ms, stretch.rows.back().id + 1};
    }
}

// Ends the messages that were found, and removes the mark of a purge that is complete.
void Engine::add_purged() {
    std::uint32_t ended = 0;
    for (std::size_t left = to_purge_.size(); left > 0 && ended < options_.purge_chunk; --left) {
        if (!has_room(kPurgeRecordBytesMax) || batch().count() >= options_.batch_operations_max) return;
        const MessageId id = to_purge_.front();
        to_purge_.pop_front();
        const EntryNumber number = recent_.find(id);
        if (number == kNoEntry || !recent_.entry(number).purging) continue;
        if (recent_.entry(number).in_batch) {
            to_purge_.push_back(id);
            continue;
        }
        PendingCommand unattended;
        static_cast<void>(purge(number, unattended, Error{}));
        ++ended;
    }
    for (const PurgeWalk& walk : purges_) {
        const Queue& at = queue(walk.queue);
        if (!is_over(walk) || at.conf_in_batch || !has_room(kSettingsRecordBytesMax)) {
            continue;
        }
        QueueSettings settings = at.conf->settings;
        settings.revision += 1;
        settings.purge_through = 0;
        settings.purge_started_ms = 0;
        add_settings(walk.queue, settings, 0, Error{});
    }
}

bool Engine::is_over(const PurgeWalk& walk) const {
    return walk.walked && queues_[walk.queue]->purging == 0;
}

// Whether there is work that does not wait for a lookup.
bool Engine::purge_has_work() const {
    if (!to_purge_.empty()) return true;
    return std::any_of(purges_.begin(), purges_.end(), [&](const PurgeWalk& walk) { return is_over(walk); });
}

}  // namespace duewheel
