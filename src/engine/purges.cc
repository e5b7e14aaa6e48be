#include "engine/purges.h"

#include <limits>

namespace duewheel {

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

}  // namespace duewheel
