// The parts of one shard, opened and recovered in the right order, with their blocking steps as plain calls.
//
// The server runs each blocking step on a thread of its own (shard.h); the simulator runs the same steps in one thread,
// in whatever order its seed says. There is no second implementation of opening, recovering, sealing or cleaning.
//
//     DIR/LOCK        held as long as this lives: one process owns a data directory
//     DIR/journal/    the log: the truth (journal/local_journal.h)
//     DIR/index/      the index: can be thrown away and is then built anew from the log (store/index_recovery.h)
//     and small files that say what the directory is (store/directory_marks.h)
//
// Recovery: open the log and cut its torn end; open the index; replay what the index does not hold into the recent
// tier, checking sequence, checksums, totals and that nothing is missing before the log's front; prove an index that
// was built anew; unlink what had been released; give the engine its start. An operator is not needed, unless records
// are missing: then it refuses with `damaged_log` and serves nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/log.h"
#include "engine/engine.h"
#include "journal/local_journal.h"
#include "message/clock_mark.h"
#include "message/schedule_times.h"
#include "message/zone_cache.h"
#include "server/space_watch.h"
#include "store/index.h"
#include "store/retention.h"
#include "store/store.h"

namespace duewheel {

struct ShardOptions {
    EngineOptions engine;
    std::size_t spare_segments = 1;
    std::size_t reserve_segments = 3;
    std::uint64_t free_floor_bytes = 256u << 20;  // of the disk: with less puts are refused; 0 switches it off
    LogIdentity identity;                         // used when the data directory is created: 32 random bytes
    // Where time zones come from, and the version of their data; without, both are the operating system's.
    FindZone find_zone;
    std::string zone_data;
};

struct RecoveryReport {
    std::uint64_t replayed_records = 0;
    std::uint64_t replayed_bytes = 0;
    bool index_rebuilt = false;
};

class ShardParts {
  public:
    // `rows` is where the index lives and `retention` what it was made with; files, rows, retention and log outlive
    // this. Codes: `in_use`, `damaged_log`, `newer_format`, `no_space`, `io_error`.
    static Result<std::unique_ptr<ShardParts>> open(FileSystem& files, const std::string& directory, RowStorage& rows,
                                                    Retention& retention, const ShardOptions& options, LogSink& log);

    // Of the shard's thread.
    Engine& engine() { return *engine_; }
    const Engine& engine() const { return *engine_; }
    const RecoveryReport& recovery() const { return recovery_; }

    // What ended long enough ago counts as gone from now on, also while no segment is sealed, which tells the time too.
    void expire_by(DueMs now_ms) { retention_->set_now(now_ms); }

    // What the run before left of its time. And the step that leaves it to the next one, of who tends the
    // disk: durable on return. `no_space`: try again later.
    const ClockMark& clock_mark() const { return clock_mark_; }
    Status save_clock_mark(const ClockMark& mark);

    // The committer's step: returns when the commit is durable. An error is the end.
    Status commit(const Commit& commit) { return journal_->commit(commit); }

    // The reader's step.
    Result<Answer> read(const Lookup& lookup) const { return reader_->answer(lookup); }

    // The sealer's steps. Seals the oldest full segment that the index does not hold, and returns its number: the
    // shard's thread then calls engine().table_taken() with it. 0: there is none. `no_space`: try again later, when
    // cleaning had its turn. On a full disk a spare segment is given up for the table, also the last one where the open
    // segment still takes records: only what is in the index can be cleaned away.
    Result<SegmentNumber> seal_next();

    // The step of who tends the disk: fills spare segments as far as there is space, and sees what is left. Whoever
    // waits for space with a table goes first. The shard's thread then calls tell_space() with it.
    Result<SpaceSeen> maintain_spare_segments();
    void tell_space(const SpaceSeen& seen);
    // Of the shard's thread.
    const SpaceWatch& space() const { return space_; }
    // From what was seen last, and the spare segments that are there now.
    LogSpace log_space() const;
    // Before each of the engine's turns, which is told of the space: puts are quick, and would use up the reserve while
    // the look at the disk that is to refuse them is still on its way. A look knows of the reserve when it has seen as
    // many spares as there are now. True: one is wanted.
    bool tell_reserve();

    // The patrol's step, one thread at a time: reads the next segment that was full when this began, the oldest first,
    // and checks every byte of it. False: there is none left. `damaged_log` names file and offset.
    Result<bool> verify_next_segment();

    // The cleaner's steps (server/log_cleaning.h).
    const Index& index() const { return *index_; }
    LocalJournal& journal() { return *journal_; }
    // As the log said at the start: outcomes before this place stand after it too.
    Sequence outcomes_relocated_up_to() const { return outcomes_relocated_up_to_; }
    // Of the shard's thread: the zones that schedules name.
    ZoneCache& zones() { return zones_; }
    const LocalJournal& journal() const { return *journal_; }

  private:
    ShardParts(FileSystem& files, std::string directory, const ShardOptions& options);

    static Result<std::unique_ptr<ShardParts>> try_to_open(FileSystem& files, const std::string& directory,
                                                           RowStorage& rows, Retention& retention,
                                                           const ShardOptions& options, LogSink& log);
    Status open_journal(const ShardOptions& options, LogSink& log);
    Status open_index_of_log(RowStorage& rows, LogSink& log);
    Status recover(const ShardOptions& options, LogSink& log);
    Status replay(const ShardOptions& options, EngineStart& start, std::vector<Index::Settings>& settings,
                  Sequence& relocated_up_to, LogSink& log);
    Status replay_outcomes(const Record& outcomes, const FramedRecord& frame, SegmentNumber segment);
    Status prove(const Totals& totals, const std::vector<Index::Settings>& settings, LogSink& log);
    Status repeat_drop(Sequence relocated_up_to, LogSink& log);
    Result<SpaceSeen> see_space(bool spares_refused) const;
    std::size_t spares_of_the_log() const;

    FileSystem& files_;
    const std::string directory_;
    std::unique_ptr<DirectoryLock> lock_;
    ClockMark clock_mark_;
    Retention* retention_ = nullptr;
    std::unique_ptr<LocalJournal> journal_;
    std::unique_ptr<Index> index_;
    RecentTier recent_;
    ZoneCache zones_;
    std::unique_ptr<Engine> engine_;
    std::unique_ptr<StoreReader> reader_;
    RecoveryReport recovery_;
    Sequence outcomes_relocated_up_to_ = 0;
    const std::size_t reserve_segments_;
    const std::size_t kept_for_cleaning_;  // of them
    SpaceWatch space_;
    std::atomic<bool> table_waits_{false};  // for space
    std::uint64_t verified_segment_ = 0;    // of the patrol: the number of the one it read last
    std::uint64_t verify_before_ = 0;       // the newest one of the start was read by the start
};

}  // namespace duewheel
