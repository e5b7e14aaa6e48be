// The parts of one shard, opened and recovered in the right order, with their blocking steps as plain calls.
//
// The server runs each blocking step on a separate thread (shard.h); the simulator runs the same steps in one thread,
// in an order that depends on its seed. This is the only implementation of opening, recovering, sealing and compaction.
//
//     DIR/LOCK        held as long as this lives: one process owns a data directory
//     DIR/journal/    the log, which is authoritative (journal/local_journal.h)
//     DIR/index/      the index, which can be discarded and rebuilt from the log (store/index_recovery.h)
//     and small files that say what the directory is (store/maintenance/directory_marks.h)
//
// A start opens the log and removes its torn end, opens the index, recovers (server/shard/shard_recovery.h) and starts
// the engine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/log.h"
#include "engine/core/engine.h"
#include "journal/local_journal.h"
#include "message/records/clock_mark.h"
#include "message/zone_cache.h"
#include "server/limits/shard_options.h"
#include "server/shard/log_reserve.h"
#include "server/shard/space_watch.h"
#include "store/index.h"
#include "store/maintenance/directory_marks.h"
#include "store/maintenance/retention.h"
#include "store/store.h"

namespace duewheel {

// What only metrics show.
struct DirectoryFacts {
    std::uint64_t volume_bytes = 0;  // of its file system; 0: unknown
    std::optional<BackedUpMark> backed_up;
};

class ShardParts {
  public:
    // `rows` stores the index, and `retention` was used to create it; files, rows, retention and log must outlive
    // this. Codes: `in_use`, `damaged_log`, `newer_format`, `no_space`, `io_error`, `shards_changed`.
    static Result<std::unique_ptr<ShardParts>> open(FileSystem& files, const std::string& directory, RowStorage& rows,
                                                    Retention& retention, const ShardOptions& options, LogSink& log);

    // Used by the shard's thread.
    Engine& engine() { return *engine_; }
    const Engine& engine() const { return *engine_; }
    const RecoveryReport& recovery() const { return recovery_; }

    // What ended long enough ago counts as removed from now on, even if no segment is sealed, which also sets the time.
    void expire_by(DueMs now_ms) { retention_->set_now(now_ms); }

    // The clock state saved by the previous run. And the step that saves it for the next one, on the maintenance
    // thread: durable on return. `no_space`: try again later.
    const ClockMark& clock_mark() const { return clock_mark_; }
    Status save_clock_mark(const ClockMark& mark);

    // Saves how far the log reaches, durably; `stopped`: at a clean stop, after which nothing is written. On the
    // maintenance thread. `no_space`: it is not saved.
    Status save_end(bool stopped);

    // The committer's step: returns when the commit is durable. Any error is fatal.
    Status commit(const Commit& commit) { return replicated_ ? replicated_->commit(commit) : journal_->commit(commit); }

    // The reader's step.
    Result<Answer> read(const Lookup& lookup) const { return reader_->answer(lookup); }

    // The sealer's steps. Seals the oldest full segment that is not in the index, and returns its number: the shard's
    // thread then calls engine().table_taken() with it. 0: there is none. `no_space`: try again later, after compaction
    // had a chance.
    Result<SegmentNumber> seal_next();

    // The maintenance step. The shard's thread then calls take_space() with the result.
    Result<SpaceReading> maintain_spare_segments();
    void take_space(const SpaceReading& seen);
    // Reads the disk: before the shard runs, then on the maintenance thread. What cannot be read is absent.
    DirectoryFacts directory_facts() const;
    // Used by the shard's thread.
    const SpaceWatch& space() const { return reserve_->watch(); }
    LogSpace log_space() const { return reserve_->log_space(); }
    // Before each iteration of the engine, which gets the free space. True: another measurement is needed.
    bool report_free_space();

    // The patrol's step, one thread at a time: reads the next segment that was full at the start, the oldest first, and
    // verifies every byte of it. False: there is none left. `damaged_log` has file and offset.
    Result<bool> verify_next_segment();

    // The compaction steps (server/shard/log_cleaning.h).
    const Index& index() const { return *index_; }
    LocalJournal& journal() { return *journal_; }
    // The value in the log at the start: outcomes before this position are after it too.
    Sequence outcomes_relocated_up_to() const { return outcomes_relocated_up_to_; }
    // Used by the shard's thread: the zones that schedules name.
    ZoneCache& zones() { return zones_; }
    const LocalJournal& journal() const { return *journal_; }

  private:
    ShardParts(FileSystem& files, std::string directory);

    static Result<std::unique_ptr<ShardParts>> try_to_open(FileSystem& files, const std::string& directory,
                                                           RowStorage& rows, Retention& retention,
                                                           const ShardOptions& options, LogSink& log);
    Status open_journal(const ShardOptions& options, LogSink& log);
    Status open_index_of_log(RowStorage& rows, LogSink& log);
    Status recover(const ShardOptions& options, LogSink& log);

    FileSystem& files_;
    const std::string directory_;
    std::unique_ptr<DirectoryLock> lock_;
    ClockMark clock_mark_;
    std::optional<EndMark> end_mark_;    // as saved; of the maintenance thread
    std::uint64_t commit_at_check_ = 0;  // likewise: the newest one when it was last looked at
    Retention* retention_ = nullptr;
    std::unique_ptr<LocalJournal> journal_;
    std::optional<LogReserve> reserve_;
    std::unique_ptr<Journal> replicated_;  // null: there is no other copy
    std::unique_ptr<Index> index_;
    RecentTier recent_;
    ZoneCache zones_;
    std::unique_ptr<Engine> engine_;
    std::unique_ptr<StoreReader> reader_;
    RecoveryReport recovery_;
    Sequence outcomes_relocated_up_to_ = 0;
    std::uint64_t verified_segment_ = 0;  // of the patrol: the number of the last segment read
    std::uint64_t verify_before_ = 0;     // the newest one at the start, which the start itself has read
};

}  // namespace duewheel
