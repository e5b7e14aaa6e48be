// The oracle's model of a namespace: its settings according to responses, and the puts that count against its rate.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "engine/commands/command.h"

namespace duewheel {

// A put that was executed between these two times, or may have been.
struct PutTry {
    ReplyToken token = 0;
    std::size_t part = 0;  // of a request of many
    DueMs from_ms = 0;
    DueMs until_ms = INT64_MAX;  // while it is open
    bool is_taken = false;       // surely
};

struct NamespaceModel {
    NamespaceSettings settings;  // as last answered
    bool is_known = true;        // nothing unanswered may have changed them
    bool was_limited = false;    // or may have been, at any time
    std::uint64_t settings_step = 0;
    DueMs settings_ms = 0;
    std::map<ReplyToken, ConfigureNamespaceCommand> open;
    std::deque<PutTry> tries;  // of this run, in the order in which they were sent

    // What they are, where that is certain and was answered before that step; else null.
    const NamespaceSettings* surely_since(std::uint64_t step) const {
        return is_known && open.empty() && settings_step < step ? &settings : nullptr;
    }
};

}  // namespace duewheel
