// The line of one order key: those of its unfinished messages that the engine knows of, first come first.
//
// Only the first of a key's unfinished messages, by (nominal due, id), may be ready or with a consumer. Which one that
// is, memory and index know together: `members` are the ones in memory, and `disk` is a lower bound on all others, like
// the cursor of a queue. A line lives while one of its messages is in memory or waits on disk for a place in it; for a
// key that nobody waits for nothing is kept.
//
// Worked example: 1 is leased, 2 and 3 are due behind it. 2 has left memory: disk = left_behind = (due of 2, 2). The
// end of 1 leaves `members` = {3}, and `disk` lies before it: the index is asked from there on and answers 2, which is
// let go. 3 waits on.
#pragma once

#include <cstdint>
#include <set>

#include "engine/queue.h"

namespace duewheel {

struct OrderLine {
    QueueNumber queue = 0;
    std::set<DuePosition> members;  // by (nominal due, id)
    std::uint32_t blocked = 0;      // of them: due, and wait for those before them
    MessageId out = 0;              // the one that is ready or leased; 0: none
    DuePosition disk;          // of a line that has not asked yet: before every message; kNoBacklog: there are none
    bool head_stands = false;  // an unfinished one stands on disk exactly at `disk`
    // Lower bound on due ones on disk that nobody else will bring back: their queue's cursor has passed them, because
    // they were blocked. kNoBacklog: there are none.
    DuePosition left_behind = kNoBacklog;
    bool asking = false;
    std::uint32_t rows = kRowsAtFirst;  // to be read with the next question

    static constexpr std::uint32_t kRowsAtFirst = 4;

    // Nothing at or below it is on disk alone any more.
    void pass(DuePosition to) {
        disk = {to.due_ms, to.id + 1};
        head_stands = false;
        raise_left_behind();
    }
    void raise_left_behind() {
        if (disk == kNoBacklog) left_behind = kNoBacklog;
        if (left_behind != kNoBacklog) left_behind = std::max(left_behind, disk);
    }
    // A member has left memory.
    void put_back(DuePosition at) {
        if (at > disk) return;
        disk = at;
        head_stands = true;
    }
    bool somebody_waits() const { return blocked > 0 || left_behind != kNoBacklog; }
    bool is_idle() const { return members.empty() && left_behind == kNoBacklog && !asking; }
};

}  // namespace duewheel
