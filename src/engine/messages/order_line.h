// The line of one order key: those of its unfinished messages that the engine knows, in order.
//
// Only the first of a key's unfinished messages, by (nominal due, id), may be ready or leased. Memory and index
// together determine which one that is: `members` are the ones in memory, and `disk` is a lower bound of all others,
// like the cursor of a queue. A line exists while one of its messages is in memory or waits on disk; nothing is kept
// for other keys.
//
// Worked example: 1 is leased, 2 and 3 are due after it. 2 has left memory: disk = left_behind = (due of 2, 2). After
// the end of 1, `members` = {3}, and `disk` is before it: a lookup in the index from there finds 2, which becomes
// ready. 3 continues to wait.
#pragma once

#include <cstdint>
#include <map>

#include "engine/settings/queue.h"

namespace duewheel {

struct OrderLine {
    QueueNumber queue = 0;
    // By (nominal due, id); whether it is due and waits for its turn. One that waits is counted until it leaves the
    // line, also if its end is being written.
    std::map<DuePosition, bool> members;
    std::uint32_t blocked = 0;   // those that wait
    MessageId out = 0;           // the one that is ready or leased; 0: none
    DueMs freed_ms = 0;          // when a message last left that the others waited for
    DuePosition disk;            // of a line without a lookup so far: before every message; kNoBacklog: none
    bool head_is_valid = false;  // an unfinished one is on disk exactly at `disk`
    // Lower bound of due ones on disk that only this line will load: the cursor of their queue has passed them, because
    // they were blocked. kNoBacklog: none.
    DuePosition left_behind = kNoBacklog;
    bool lookup_open = false;
    std::uint32_t rows = kRowsAtFirst;  // to be read with the next lookup

    static constexpr std::uint32_t kRowsAtFirst = 4;

    // No message at or below it is only on disk any more.
    void pass(DuePosition to) {
        disk = {to.due_ms, to.id + 1};
        head_is_valid = false;
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
        head_is_valid = true;
    }
    bool has_waiting() const { return blocked > 0 || left_behind != kNoBacklog; }
    bool is_idle() const { return members.empty() && left_behind == kNoBacklog && !lookup_open; }
};

}  // namespace duewheel
