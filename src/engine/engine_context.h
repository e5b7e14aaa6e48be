// What the parts of an engine share: options, time, the recent tier, lookups, and where effects and counts go.
//
// A part gets it by reference when it is constructed, and the engine itself never. What a part needs beyond it is an
// argument.
#pragma once

#include <utility>

#include "engine/effects.h"
#include "engine/engine_counters.h"
#include "engine/engine_options.h"
#include "engine/lookups.h"
#include "engine/record_cache.h"
#include "store/store.h"

namespace duewheel {

struct EngineContext {
    const EngineOptions& options;
    RecentTier& recent;
    const DueMs& now;
    Effects& effects;
    EngineCounters& counters;
    Lookups& lookups;
    RecordCache& cache;

    void reply(ReplyToken token, Reply with) const {
        if (token != 0) effects.replies.push_back({token, std::move(with)});
    }
    // The process must stop and report it.
    void fail(Error error) const { effects.fatal_error = std::move(error); }
};

}  // namespace duewheel
