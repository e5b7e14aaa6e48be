// Recovery of a shard whose log and index are open: replays what is not in the index into the recent tier, checking
// sequence, checksums, totals and that nothing is missing before the front of the log; verifies a rebuilt index; loads
// the messages whose leases outlive the process; unlinks what had been released. The result starts the engine. It needs
// no operator unless records are missing: then it fails with `damaged_log`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/log.h"
#include "base/status.h"
#include "engine/core/engine_start.h"
#include "journal/local_journal.h"
#include "message/zone_cache.h"
#include "server/limits/shard_options.h"
#include "server/shard/log_reserve.h"
#include "store/index.h"
#include "store/recent_tier.h"

namespace duewheel {

struct RecoveredShard {
    EngineStart start;
    // The value in the log: outcomes before this position are after it too.
    Sequence outcomes_relocated_up_to = 0;
    std::uint64_t replayed_records = 0;
    std::uint64_t replayed_bytes = 0;
    std::uint64_t loaded_leases = 0;  // of messages that only the index had
};

class ShardRecovery {
  public:
    // The open parts of a shard. All outlive the recovery; the zones also the engine.
    struct Parts {
        FileSystem& files;
        const std::string& directory;
        LocalJournal& journal;
        LogReserve& reserve;
        Index& index;
        RecentTier& recent;  // empty; filled here
        ZoneCache& zones;
    };
    ShardRecovery(const Parts& parts, const ShardOptions& options, LogSink& log)
        : files_(parts.files),
          directory_(parts.directory),
          journal_(parts.journal),
          reserve_(parts.reserve),
          index_(parts.index),
          recent_(parts.recent),
          zones_(parts.zones),
          options_(options),
          log_(log) {}

    // Once. Codes: `damaged_log`, `damaged_index`, `newer_format`, `no_space`, `io_error`.
    Result<RecoveredShard> run();

  private:
    std::vector<SegmentNumber> unsealed() const;
    Status seal_long_backlog();
    Status take_restored_mark(EngineStart& start);
    Status replay(EngineStart& start);
    Status replay_outcomes(const OutcomesRecord& outcomes, const FramedRecord& frame, SegmentNumber segment);
    Status prove(const Totals& totals);
    Status load_leases(const Totals& totals);
    Status repeat_drop();

    FileSystem& files_;
    const std::string& directory_;
    LocalJournal& journal_;
    LogReserve& reserve_;
    Index& index_;
    RecentTier& recent_;
    ZoneCache& zones_;
    const ShardOptions& options_;
    LogSink& log_;

    RecoveredShard done_;
    std::vector<Index::Settings> settings_;  // at the end of the log
    Sequence relocated_up_to_ = 0;           // as its last record of a relocation says
};

}  // namespace duewheel
