// The state of a message as clients see it.
#pragma once

#include "message/message.h"

namespace duewheel {

// A due message is ready, even if it waits behind its queue's cursor, for earlier messages of its order key, or for the
// wheel. A recurring message never is.
inline State live_state(State state, DueMs due_ms, bool is_recurring, DueMs now) {
    return waits_for_due(state) && !is_recurring && due_ms <= now ? State::ready : state;
}

}  // namespace duewheel
