// What the owner of the engine executes: the engine itself does no I/O.
#pragma once

#include <optional>
#include <vector>

#include "base/status.h"
#include "engine/commands/command.h"
#include "engine/core/block_deque.h"
#include "journal/journal.h"
#include "store/store.h"

namespace duewheel {

struct ReplyEffect {
    ReplyToken token = 0;
    Reply reply;
};

// What the owner must execute, in any order; empty again after take_effects().
struct Effects {
    std::optional<Commit> commit;
    BlockDeque<ReplyEffect> replies;  // a vector of a thousand would move them as it grows
    std::vector<Lookup> lookups;
    std::vector<SegmentNumber> closed_segments;  // full: to be sealed, in order
    std::optional<Error> fatal_error;            // the process must stop and report it
};

}  // namespace duewheel
