// The data directory of a running server: the shard that is opened and recovered from it, and what it records about
// this run for the next start.
#pragma once

#include <memory>
#include <string>

#include "base/hex.h"
#include "base/log.h"
#include "base/status.h"
#include "server/limits/server_options.h"
#include "server/node/log_replication.h"
#include "server/shard/run_record.h"
#include "server/shard/shard_parts.h"
#include "store/maintenance/retention.h"
#include "store/rocks_rows.h"

namespace duewheel {

class DataDirectory {
  public:
    // Both outlive it.
    DataDirectory(const ServerOptions& options, LogSink& log);

    // Opens and recovers. `replication` is null if the log is only here. Codes: those of ShardParts::open();
    // log_is_replicated, io_error.
    Status open(LogReplication* replication);
    ShardParts& shard() { return *shard_; }
    const ShardParts& shard() const { return *shard_; }
    std::string instance() const { return hex(shard_->journal().identity().instance); }
    RunRecord& run() { return run_; }

    // After a fatal error, for the next start: remembers damage, and marks a damaged index for a rebuild. Any thread.
    void keep(const Error& error);

  private:
    Status fit_volume(ShardOptions& shard_options);

    const ServerOptions& options_;
    LogSink& log_;
    RunRecord run_;
    Retention retention_;
    RocksRowStorage rows_;
    std::unique_ptr<ShardParts> shard_;
};

}  // namespace duewheel
