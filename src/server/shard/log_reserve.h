// The disk space of a shard's log: its spare segments, the reserve of them that is kept for compaction, and the free
// space of the disk. Steps that need space on a full disk get a spare segment for it, as far as the log can do without.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/file.h"
#include "base/status.h"
#include "engine/core/log_space.h"
#include "journal/local_journal.h"
#include "server/shard/space_watch.h"

namespace duewheel {

class LogReserve {
  public:
    // Files and journal outlive it.
    LogReserve(FileSystem& files, std::string directory, LocalJournal& journal, const SpaceLimits& limits);

    using Step = std::function<Status()>;
    // Run the step; on a full disk they give up a spare segment for it and run it again. Any thread. Codes: those of
    // the step, `io_error`.
    //
    // Even an index that is only read needs some space to open. The last spare may be given up for it: without the
    // index the server cannot run.
    Status run_to_open_index(const Step& step) { return run(step, 0); }
    // For a table, even the last spare if the open segment still accepts records: only what is in the index can be
    // compacted.
    Status run_to_build_table(const Step& step) { return run(step, spares_of_the_log()); }
    // For a step that frees no space: it may not use the segments that are kept for compaction.
    Status run_to_save_mark(const Step& step);

    // A table that waits for space has priority over spare segments.
    void set_table_waits(bool waits) { table_waits_ = waits; }
    // Fills spare segments as far as there is space, and measures the free space. On the maintenance thread.
    Result<SpaceReading> maintain_spare_segments();
    // Measures it without filling any: for the start.
    Result<SpaceReading> measure() const;

    // The following functions are of the shard's thread.
    void observe(const SpaceReading& seen) { watch_.see(seen); }
    const SpaceWatch& watch() const { return watch_; }
    // From the last measurement and the current spare segments.
    LogSpace log_space() const;
    // Puts are fast, and would use up the reserve before the measurement that refuses them returns. A measurement
    // includes the reserve if it saw as many spares as there are now. True: one is needed.
    bool needs_measurement() const;

  private:
    Status run(const Step& step, std::size_t keep);
    std::size_t spares_of_the_log() const;
    Result<SpaceReading> see(bool spares_refused) const;

    FileSystem& files_;
    const std::string directory_;
    LocalJournal& journal_;
    const SpaceLimits limits_;
    const std::size_t kept_for_cleaning_;  // of the reserve
    SpaceWatch watch_;
    std::atomic<bool> table_waits_{false};  // for space
};

}  // namespace duewheel
