// Walks over the dead letters of queues, in the order in which they died: redrives at the request of clients, and the
// expiry and discard of dead letters.
//
// Dead letters are in two places, in the recent tier and in the index, each ordered by time of death. A walk merges
// both: next() returns the next dead letter, or starts the lookup that it needs. The owner writes up to a chunk of them
// per batch, so that a million delay no other work. At most one walk expires or discards at a time; whether one must
// start follows from a lower bound for each queue with dead letters.
//
// Worked example: the index has messages that died at 1, 5 and 9, two rows are read at a time, and memory has one that
// died at 3. next() returns those of 1, 3 and 5. It cannot return another before it has read on after 5: one of 7 could
// be in the index. So it looks up again, and then returns the one of 9.
//
// Passive, single-threaded; it writes no records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/core/uses.h"
#include "engine/settings/queue.h"

namespace duewheel {

struct DeadWalk {
    std::uint64_t number = 0;
    ReplyToken token = 0;
    QueueName queue;
    bool expires = false;            // ends them instead of redriving
    Cause cause = Cause::redriven;   // likewise kept_long_enough or discarded
    QueueNumber expiring_queue = 0;  // the queue of an expiry
    std::uint64_t max = 0;
    std::uint64_t done = 0;
    DueMs until_ms = 0;        // those from before
    DuePosition from;          // everything before it is done
    bool lookup_open = false;  // for rows, from `from` on
    std::vector<MessageRow> rows;
    std::size_t next_row = 0;
    bool complete = false;  // there are no rows behind these
    Generation generation = 0;
};

class DeadLetters : Uses<EngineOptions, RecentTier, ServerTime, Lookups> {
  public:
    explicit DeadLetters(const Uses& uses) : Uses(uses) {}

    // ---- what is to expire or to be discarded

    // The queue has dead letters that died at this time or later, or none any more.
    void expect(QueueNumber queue, DueMs at_ms);
    void forget(QueueNumber queue);
    // The mark of the queue has changed: dead letters from before this time are discarded; 0: none.
    void set_discard(QueueNumber queue, DueMs before_ms);
    // When the retention of the next dead letters ends, or now if some are to be discarded; the greatest time if there
    // are none, or some are being ended.
    DueMs next_expiry_ms() const;

    // ---- walks

    bool may_begin_redrive(const std::string& name_space) const;
    void begin_redrive(QueueName queue, ReplyToken token, std::uint64_t max);
    // Begins a walk over what next_expiry_ms() has come for.
    void begin_expiry();
    bool is_expiring() const { return is_expiring_; }
    // Everything was ended; `next`: the dead letters after that, kNoBacklog if there are none.
    void end_expiry(const DeadWalk& walk, DuePosition next);
    // In the order in which they began. The owner removes those that are over.
    std::deque<DeadWalk>& walks() { return walks_; }
    const std::deque<DeadWalk>& walks() const { return walks_; }

    struct Next {
        enum class What : std::uint8_t {
            letter,  // `row`, if it is in the index alone, or `entry`
            none,    // all are done; `at` is the position of the first one after them, or kNoBacklog
            wait,    // for a lookup, or for a record of the next one that is on its way to the disk
        };
        What what = What::none;
        const MessageRow* row = nullptr;
        EntryNumber entry = kNoEntry;
        DuePosition at;
    };
    // `queue`: the number of its queue, or kNoQueue if it is not in memory. No lookup is open, and the newest one is
    // fresh.
    Next next(DeadWalk& walk, QueueNumber queue);
    // That one is done.
    void pass(DeadWalk& walk, const Next& letter);
    void look_up(DeadWalk& walk);
    void finish(const DeadLookup& lookup, Stretch stretch, Generation generation);

  private:
    std::deque<DeadWalk> walks_;
    std::uint64_t next_number_ = 1;
    bool is_expiring_ = false;                            // one of them is an expiry
    std::deque<std::pair<QueueNumber, DueMs>> discards_;  // that have not started, and their marks
    std::unordered_map<QueueNumber, DueMs> since_;        // no message died in the queue before
    std::set<std::pair<DueMs, QueueNumber>> by_time_;     // the same
};

}  // namespace duewheel
