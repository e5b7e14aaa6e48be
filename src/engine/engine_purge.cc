// Finds and ends the messages that belong to a purge (purges.h).
#include <algorithm>
#include <cassert>
#include <limits>

#include "engine/engine.h"

namespace duewheel {
namespace {

constexpr std::size_t kPurgeRecordBytesMax = 1024;

}  // namespace

bool Engine::is_purged(const Entry& entry) const {
    return !purges_.walks().empty() && entry.queue < queues_.size() && entry.id <= queues_[entry.queue].purge_through &&
           !is_ended(entry.durable_state);
}

// True if the entry belongs to a purge: from now on it waits only for its end.
bool Engine::take_for_purge(EntryNumber number) {
    if (purges_.walks().empty()) return false;
    Entry& entry = recent_.entry(number);
    if (!is_purged(entry)) return false;
    if (entry.purging || entry.expiring) return true;  // an expiry ends it just as soon
    entry.purging = true;
    ++queues_.at(entry.queue).purging;
    if (entry.state != State::leased) to_purge_.push_back(entry.id);
    return true;
}

ChangeAnswer Engine::purged_answer(ChangeAnswer answer) {
    answer.outcome = ChangeOutcome::cancelled;
    answer.due_ms = 0;
    return answer;
}

// A command on a marked message ends it, with this reply.
Verdict Engine::purge(EntryNumber number, PendingCommand& pending, Reply with) {
    Record record = changed(recent_.entry(number), RecordKind::end, Cause::purged);
    record.state.state = State::cancelled;
    add(number, std::move(record), pending.token, std::move(with));
    return Verdict::settled;
}

Verdict Engine::purge(const Known& known, PendingCommand& pending, Reply with) {
    if (refuse_for_space(pending, Adds::end)) return withdraw(known), Verdict::settled;
    return purge(known.entry, pending, std::move(with));
}

// The index of the purge that scans next; the number of purges if none has to, or if enough messages were found.
std::size_t Engine::walking_purge() const {
    if (to_purge_.size() >= options_.purge_chunk) return purges_.walks().size();
    for (std::size_t i = 0; i < purges_.walks().size(); ++i) {
        if (!purges_.walks()[i].walked) return purges_.walks()[i].lookup_open ? purges_.walks().size() : i;
    }
    return purges_.walks().size();
}

// Scans one part.
void Engine::walk_purge() {
    const std::size_t walking = walking_purge();
    if (walking == purges_.walks().size()) return;
    PurgeWalk& walk = purges_.walks()[walking];
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
    const auto walk = std::find_if(purges_.walks().begin(), purges_.walks().end(), [&](const PurgeWalk& each) {
        return each.queue == lookup.queue && each.lookup_open && each.next_row == lookup.from;
    });
    if (walk == purges_.walks().end()) return;  // it started again, or is complete
    walk->lookup_open = false;
    if (!lookups_.is_fresh(generation)) return;  // looked up again
    for (const MessageRow& row : stretch.rows) {
        if (row.id > queues_.at(lookup.queue).purge_through || recent_.outcome(row.id) != nullptr) continue;
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
    for (const PurgeWalk& walk : purges_.walks()) {
        const Queue& at = queues_.at(walk.queue);
        if (!purges_.is_over(walk) || at.conf_in_batch || !has_room(kSettingsRecordBytesMax)) {
            continue;
        }
        QueueSettings settings = at.conf->settings;
        settings.revision += 1;
        settings.purge_through = 0;
        settings.purge_started_ms = 0;
        queues_.add_settings(walk.queue, settings, 0, Error{});
    }
}

// Whether there is work that does not wait for a lookup.
bool Engine::purge_has_work() const {
    if (!to_purge_.empty()) return true;
    return std::any_of(purges_.walks().begin(), purges_.walks().end(),
                       [&](const PurgeWalk& walk) { return purges_.is_over(walk); });
}

}  // namespace duewheel
