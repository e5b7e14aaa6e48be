#include "engine/messages/purges.h"

#include <algorithm>
#include <limits>

namespace duewheel {
namespace {

constexpr std::size_t kPurgeRecordBytesMax = 1024;

}  // namespace

void Purges::begin(QueueNumber number) {
    std::erase_if(walks_, [&](const PurgeWalk& walk) { return walk.queue == number; });
    if (queues_.at(number).purge_through == 0) {
        queues_.at(number).purged = 0;
        return;
    }
    PurgeWalk walk;
    walk.queue = number;
    walk.next_row = {std::numeric_limits<DueMs>::min(), 0};
    walks_.push_back(walk);
}

// The index of the purge that scans next; the number of purges if none has to, or if enough messages were found.
std::size_t Purges::walking() const {
    if (lifecycle_.to_purge().size() >= options_.purge_chunk) return walks_.size();
    for (std::size_t i = 0; i < walks_.size(); ++i) {
        if (!walks_[i].walked) return walks_[i].lookup_open ? walks_.size() : i;
    }
    return walks_.size();
}

void Purges::walk() {
    const std::size_t next = walking();
    if (next == walks_.size()) return;
    PurgeWalk& walk = walks_[next];
    if (!walk.walked_entries) {
        const EntryNumber end = std::min(recent_.entry_limit(), walk.next_entry + options_.purge_walk);
        for (; walk.next_entry < end; ++walk.next_entry) {
            const Entry& entry = recent_.entry(walk.next_entry);
            if (entry.id != 0 && entry.queue == walk.queue)
                static_cast<void>(lifecycle_.take_for_purge(walk.next_entry));
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

void Purges::finish(const PurgeLookup& lookup, const Stretch& stretch, Generation generation) {
    const auto walk = std::find_if(walks_.begin(), walks_.end(), [&](const PurgeWalk& each) {
        return each.queue == lookup.queue && each.lookup_open && each.next_row == lookup.from;
    });
    if (walk == walks_.end()) return;  // it started again, or is complete
    walk->lookup_open = false;
    if (!lookups_.is_fresh(generation)) return;  // looked up again
    for (const MessageRow& row : stretch.rows) {
        if (row.id > queues_.at(lookup.queue).purge_through || recent_.outcome(row.id) != nullptr) continue;
        EntryNumber number = recent_.find(row.id);
        if (number == kNoEntry) number = lifecycle_.admit(row);
        static_cast<void>(lifecycle_.take_for_purge(number));
    }
    if (stretch.complete) {
        walk->walked = true;
    } else {
        walk->next_row = {stretch.rows.back().state.due_ms, stretch.rows.back().id + 1};
    }
}

void Purges::add_to_batch() {
    std::uint32_t ended = 0;
    for (std::size_t left = lifecycle_.to_purge().size(); left > 0 && ended < options_.purge_chunk; --left) {
        if (!has_room(kPurgeRecordBytesMax) || batch().count() >= options_.batch_operations_max) return;
        const MessageId id = lifecycle_.to_purge().front();
        lifecycle_.to_purge().pop_front();
        const EntryNumber number = recent_.find(id);
        if (number == kNoEntry || !recent_.entry(number).purging) continue;
        if (recent_.entry(number).in_batch) {
            lifecycle_.to_purge().push_back(id);
            continue;
        }
        lifecycle_.purge(number, 0, Error{});
        ++ended;
    }
    for (const PurgeWalk& walk : walks_) {
        const Queue& at = queues_.at(walk.queue);
        if (!is_over(walk) || at.next_settings || !has_room(kSettingsRecordBytesMax)) {
            continue;
        }
        QueueSettings settings = at.conf->settings;
        settings.revision += 1;
        settings.purge_through = 0;
        settings.purge_started_ms = 0;
        queues_.add_settings(walk.queue, settings, 0, Error{});
    }
}

bool Purges::has_work() const {
    if (!lifecycle_.to_purge().empty()) return true;
    return std::any_of(walks_.begin(), walks_.end(), [&](const PurgeWalk& walk) { return is_over(walk); });
}

}  // namespace duewheel
