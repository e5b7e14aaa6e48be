#include "engine/messages/dead_letters.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <tuple>

#include "base/dynamic_threshold.h"

namespace duewheel {
namespace {

DuePosition death_of(const MessageRow& row) {
    return {row.ended_ms, row.id};
}

}  // namespace

// ---- what is to expire or to be discarded

void DeadLetters::expect(QueueNumber queue, DueMs at_ms) {
    if (since_.try_emplace(queue, at_ms).second) by_time_.emplace(at_ms, queue);
}

void DeadLetters::forget(QueueNumber queue) {
    const auto found = since_.find(queue);
    if (found == since_.end()) return;
    by_time_.erase({found->second, queue});
    since_.erase(found);
}

void DeadLetters::set_discard(QueueNumber queue, DueMs before_ms) {
    std::erase_if(discards_, [queue](const auto& each) { return each.first == queue; });
    const auto walking = std::find_if(walks_.begin(), walks_.end(), [queue](const DeadWalk& walk) {
        return walk.cause == Cause::discarded && walk.expiring_queue == queue;
    });
    if (walking != walks_.end()) {
        walking->until_ms = before_ms;
    } else if (before_ms != 0) {
        discards_.emplace_back(queue, before_ms);
    }
}

DueMs DeadLetters::next_expiry_ms() const {
    constexpr DueMs kNeverMs = std::numeric_limits<DueMs>::max();
    if (is_expiring_) return kNeverMs;
    if (!discards_.empty()) return now_;
    return by_time_.empty() ? kNeverMs : by_time_.begin()->first + options_.dead_kept_ms;
}

// ---- walks

bool DeadLetters::may_begin_redrive(const std::string& name_space) const {
    std::size_t all = 0;
    std::size_t own = 0;
    for (const DeadWalk& walk : walks_) {
        if (walk.expires) continue;
        ++all;
        if (walk.queue.name_space == name_space) ++own;
    }
    return may_take_one(own, all, options_.redrives_max);
}

void DeadLetters::begin_redrive(QueueName queue, ReplyToken token, std::uint64_t max) {
    DeadWalk& walk = walks_.emplace_back();
    walk.number = next_number_++;
    walk.token = token;
    walk.queue = std::move(queue);
    walk.max = max;
    walk.until_ms = now_ + 1;
    look_up(walk);
}

void DeadLetters::begin_expiry() {
    is_expiring_ = true;
    DeadWalk& walk = walks_.emplace_back();
    walk.number = next_number_++;
    walk.expires = true;
    walk.max = std::numeric_limits<std::uint64_t>::max();
    if (discards_.empty()) {
        walk.cause = Cause::kept_long_enough;
        walk.expiring_queue = by_time_.begin()->second;
        walk.until_ms = now_ - options_.dead_kept_ms + 1;
    } else {
        walk.cause = Cause::discarded;
        std::tie(walk.expiring_queue, walk.until_ms) = discards_.front();
        discards_.pop_front();
    }
    walk.queue = recent_.queues().name(walk.expiring_queue);
    look_up(walk);
}

void DeadLetters::end_expiry(const DeadWalk& walk, DuePosition next) {
    is_expiring_ = false;
    forget(walk.expiring_queue);
    if (next != kNoBacklog) expect(walk.expiring_queue, next.due_ms);
}

void DeadLetters::look_up(DeadWalk& walk) {
    walk.lookup_open = true;
    walk.rows.clear();
    walk.next_row = 0;
    // An expiry also needs the next dead letter.
    const DueMs until = walk.expires ? std::numeric_limits<DueMs>::max() : walk.until_ms;
    lookups_.start(ScanDead{walk.queue.name_space, walk.queue.queue, walk.from, until, options_.redrive_chunk},
                   DeadLookup{walk.number});
}

void DeadLetters::finish(const DeadLookup& lookup, Stretch stretch, Generation generation) {
    const auto walk =
        std::find_if(walks_.begin(), walks_.end(), [&](const DeadWalk& each) { return each.number == lookup.walk; });
    assert(walk != walks_.end());
    walk->lookup_open = false;
    walk->rows = std::move(stretch.rows);
    walk->next_row = 0;
    walk->complete = stretch.complete;
    walk->generation = generation;
}

DeadLetters::Next DeadLetters::next(DeadWalk& walk, QueueNumber queue) {
    const RecentTier& recent = recent_;
    const auto is_passed = [&](const MessageRow& row) {
        // The recent tier is newer than the index.
        return death_of(row) < walk.from || recent.find(row.id) != kNoEntry || recent.outcome(row.id) != nullptr;
    };
    while (walk.next_row < walk.rows.size() && is_passed(walk.rows[walk.next_row])) ++walk.next_row;
    const MessageRow* row = walk.next_row < walk.rows.size() ? &walk.rows[walk.next_row] : nullptr;
    const EntryNumber number = queue == kNoQueue ? kNoEntry : recent.first_dead(queue, walk.from.due_ms, walk.from.id);
    DuePosition at = kNoBacklog;
    if (number != kNoEntry) at = {recent.ended_ms(recent.entry(number)), recent.entry(number).id};
    if (row == nullptr && !walk.complete) {  // rows are known up to the last one; after it only the recent tier is
        const DuePosition last = walk.rows.empty() ? DuePosition{} : death_of(walk.rows.back());
        if (at > last) {
            walk.from = std::max(walk.from, {last.due_ms, last.id + 1});
            look_up(walk);
            return {.what = Next::What::wait};
        }
    }
    if (row != nullptr && death_of(*row) < at) {
        at = death_of(*row);
    } else {
        row = nullptr;
    }
    if (at.due_ms >= walk.until_ms) return {.what = Next::What::none, .at = at};
    // It was kicked, or only relocated: the next batch shows which.
    if (row == nullptr && recent.entry(number).in_batch) return {.what = Next::What::wait};
    return {.what = Next::What::letter, .row = row, .entry = row == nullptr ? number : kNoEntry, .at = at};
}

void DeadLetters::pass(DeadWalk& walk, const Next& letter) {
    if (letter.row != nullptr) ++walk.next_row;
    walk.from = {letter.at.due_ms, letter.at.id + 1};
    ++walk.done;
}

}  // namespace duewheel
