#include "engine/core/engine_context.h"

namespace duewheel {

SharedState::SharedState(const EngineOptions& with, const EngineStart& start, RecentTier& tier)
    : options(with),
      recent(tier),
      time{.now = start.totals.server_time_ms},
      cache(options.record_cache_bytes),
      wheel(static_cast<Tick>(start.totals.server_time_ms), options.crowd_messages),
      batches(start.totals),
      segment(options, start.segment, start.segment_fill, start.segment_bytes, start.block_bytes, start.unsealed),
      earlier_runs(options.shard, start.past_until_ms, start.ids_from),
      signer(start.token_key, start.key_before) {}

}  // namespace duewheel
