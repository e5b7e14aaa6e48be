// The log on the disk of this machine: segments in one directory, each commit written and synced before it is answered.
//
// Threads: commit() belongs to the committer. prepare_spares(), drop_before() and the readers of the catalog run on
// threads of their own beside it. Nothing here starts a thread.
//
// Fail-stop: the first error of a write or a sync is kept, every later call returns it, and the catalog reads no more.
// What can be waited out, a full disk, is met only where a segment is begun, and is then an ordinary value.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/file.h"
#include "journal/journal.h"
#include "journal/newest_mark.h"
#include "journal/recovery.h"
#include "journal/segment_catalog.h"
#include "journal/spare_segments.h"

namespace duewheel {

struct JournalOptions {
    std::uint64_t segment_bytes = 64 << 20;  // a multiple of the block size, above the header's
    std::uint32_t block_bytes = 512;         // 512 or 4096; of a log that is there, its own counts
    std::size_t spare_count = 1;             // zero-filled segments ready for the next roll
    std::size_t reserve_count = 3;           // and more of them, for what goes on while the disk is full
    LogIdentity identity;                    // 32 random bytes; used only when the log is created
};

// How full the newest segment is.
struct SegmentRoom {
    std::uint64_t number = 0;
    std::uint64_t used_bytes = 0;  // header included
    std::uint64_t segment_bytes = 0;
    bool closed = false;      // the next commit begins another
    bool has_record = false;  // only then may it be closed
};

class LocalJournal final : public Journal {
  public:
    // Opens the log in `directory`, which is made when it is missing, or creates it. The caller holds the lock on the
    // data directory. Codes: `damaged_log`, `newer_format` (nothing was changed), `no_space` (creating), `io_error`.
    static Result<std::unique_ptr<LocalJournal>> open(FileSystem& files, const std::string& directory,
                                                      const JournalOptions& options);

    // A closed segment is followed by a new one, on a ready spare or on one that is filled while the caller waits. A
    // commit that is larger than a fresh segment makes that segment larger. Asserts that the commit follows the last
    // one and fits.
    Status commit(const Commit& commit) override;

    // Fills spare segments until there are enough. Blocks; for a background thread. `no_space`: try again later; what
    // is ready stays ready.
    Status prepare_spares();
    std::size_t ready_spares() const { return spares_.ready(); }
    std::size_t spares_held() const { return spares_.held(); }  // ready, or found at the start
    std::size_t spares_wanted() const { return spares_.wanted(); }
    // Removes a spare segment, so that something else gets its space; false where no more than `keep` are there.
    Result<bool> give_up_spare(std::size_t keep);

    // Unlinks the segments that lie wholly below `sequence`, the oldest first, each one durably before the next, so
    // that a crash leaves no hole. The newest stays. Readers that hold one go on reading it. One thread at a time.
    Status drop_before(Sequence sequence);

    // Every commit whose last sequence is `from` or greater, in order and fully checked; the first may begin before.
    // Older segments are not read. Codes: `not_found` (`from` is before the log's front or more than one past its end),
    // `damaged_log`, `newer_format`, `io_error`, and the visitor's.
    Status replay(Sequence from, const CommitVisitor& visitor) const;
    // Every commit of every segment. Codes as of replay().
    Status verify_all(const CommitVisitor& visitor) const;

    const SegmentCatalog& catalog() const { return catalog_; }
    Totals totals() const { return newest()->end().totals; }
    Sequence first_sequence() const;  // of the log's front
    SegmentRoom room() const;
    // Of each segment that no larger commit has made larger.
    std::uint64_t segment_bytes() const { return options_.segment_bytes; }
    std::uint32_t block_bytes() const { return newest()->header().block_bytes; }
    const LogIdentity& identity() const { return identity_; }
    std::uint64_t bytes_on_disk() const { return catalog_.bytes() + spares_.bytes(); }

    // What opening cut off the log's end, for the operator's log.
    const std::optional<Cut>& cut() const { return cut_; }

  private:
    LocalJournal(FileSystem& files, std::string directory, const JournalOptions& options, std::uint64_t marked);

    Status start(FoundLog log);
    Status begin_segment(const SegmentHeader& header, std::uint64_t bytes);
    Status give_name(SpareSegment spare, SegmentHeader header);
    Status roll(const Commit& commit);
    Status mark_newest();
    Status fail(std::string_view action, const Error& error);
    std::optional<Error> failure() const;
    std::shared_ptr<SegmentFile> newest() const;

    FileSystem& files_;
    const std::string directory_;
    const JournalOptions options_;
    LogIdentity identity_;
    SpareSegments spares_;
    NewestMark mark_;  // of the committer
    SegmentCatalog catalog_;
    std::optional<Cut> cut_;

    mutable std::mutex mutex_;
    std::shared_ptr<SegmentFile> newest_;  // guarded by mutex_; the catalog has it too, for reading
    std::optional<Error> failed_;          // guarded by mutex_
};

}  // namespace duewheel
