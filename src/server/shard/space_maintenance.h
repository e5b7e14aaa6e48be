// Fills the spare segments of a running shard and checks the free space, on a thread of its own: after each full
// segment, every ten seconds, and every second when space is scarce. Logs what space remains.
//
// The thread also saves small files: the state of the clock, and the end of the log.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "server/shard/shard_context.h"
#include "server/shard/worker.h"

namespace duewheel {

class SpaceMaintenance {
  public:
    // Reads the disk. `then` is called on the loop's thread after each check. The context outlives it.
    SpaceMaintenance(const ShardContext& context, std::function<void()> then);

    void begin();
    void begin_if_due();
    // Before each iteration of the engine, which gets the free space.
    void report();
    // Logs each step to a worse state once, and the return when there is enough space: a spare that is filled and given
    // up again is not logged.
    void log_state();
    // Saves the end of the log, then calls `then` on the loop: nothing may be written any more.
    void save_end(std::function<void()> then);

    // When the next check is due.
    std::int64_t next_ns() const { return next_ns_; }
    // When last read, at most ten seconds ago.
    const DirectoryFacts& facts() const { return facts_; }
    Worker& worker() { return worker_; }

  private:
    void observe(const SpaceReading& seen);

    const ShardContext& context_;
    const std::function<void()> then_;
    std::atomic<bool> queued_{false};  // at most one check: those that wait for space do not pile up
    std::int64_t next_ns_ = 0;
    LogSpace logged_ = LogSpace::enough;
    DirectoryFacts facts_;
    Worker worker_{"dw-space"};
};

}  // namespace duewheel
