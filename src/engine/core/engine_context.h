// What an engine is assembled from, besides its parts. A part gets what it uses of it (uses.h).
#pragma once

#include "engine/core/batch_writer.h"
#include "engine/core/engine_start.h"
#include "engine/core/uses.h"

namespace duewheel {

struct SharedState {
    SharedState(const EngineOptions& with, const EngineStart& start, RecentTier& tier);

    const EngineOptions options;
    RecentTier& recent;
    ServerTime time;
    Effects effects;
    EngineCounters counters;
    Lookups lookups;
    RecordCache cache;
    TimerLanes wheel;
    BatchPipeline batches;
    OpenSegment segment;
    EarlierRuns earlier_runs;
    Leases leases;
    LeaseSigner signer;
    RunState run;
};

using UsesState = Uses<EngineOptions, RecentTier, ServerTime, Effects, EngineCounters, Lookups, RecordCache, TimerLanes,
                       BatchPipeline, OpenSegment, EarlierRuns, Leases, LeaseSigner, RunState>;

struct EngineContext : SharedState, UsesState, Use<TimeRules>, Use<BatchWriter> {
    EngineContext(const EngineOptions& with, const EngineStart& start, RecentTier& tier)
        : SharedState(with, start, tier),
          UsesState({options}, {recent}, {time}, {effects}, {counters}, {lookups}, {cache}, {wheel}, {batches},
                    {segment}, {earlier_runs}, {leases}, {signer}, {run}),
          Use<TimeRules>(static_cast<const UsesState&>(*this)),
          Use<BatchWriter>(static_cast<const UsesState&>(*this)) {}
    EngineContext(const EngineContext&) = delete;
};

}  // namespace duewheel
