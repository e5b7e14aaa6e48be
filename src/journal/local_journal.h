// The log on a local disk: segments in one directory; each commit is written and synced before it returns.
//
// Threads: commit() is for the committer. prepare_spares(), drop_before() and the readers of the catalog run on their
// own threads at the same time. No thread is started here.
//
// Fail-stop: the first error of a write or a sync is kept, every later call returns it, and the catalog reads no more.
// A full disk, which can be waited out, is met only when a segment is started, and is then an ordinary value.
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
    std::uint64_t segment_bytes = 32 << 20;  // a multiple of the block size, above the header's
    std::uint32_t block_bytes = 512;         // 512 or 4096; an existing log keeps its own
    std::size_t spare_count = 1;             // zero-filled segments ready for the next one
    std::size_t reserve_count = 3;           // additional ones, for use while the disk is full
    LogIdentity identity;                    // 32 random bytes; used only when the log is created
    // How far the log has reached at least; a shorter one is refused with `damaged_log`.
    std::optional<KnownEnd> known_end{};
    // Header of the first segment, if this log is created as a copy of another one.
    std::optional<SegmentHeader> front{};
};

// Where the next commit goes.
struct CommitPlace {
    SegmentHeader header;         // of its segment
    std::uint64_t link = 0;       // checksum of the footer before it
    bool begins_segment = false;  // the segment does not exist yet
};

// How full the newest segment is.
struct SegmentRoom {
    std::uint64_t number = 0;
    std::uint64_t used_bytes = 0;  // header included
    std::uint64_t segment_bytes = 0;
    bool closed = false;      // the next commit starts another
    bool has_record = false;  // required for closing it
};

class LocalJournal final : public Journal {
  public:
    // Opens the log in `directory`, which is created if it is missing, or creates the log. The caller holds the lock on
    // data directory. Codes: `damaged_log`, `newer_format` (nothing changed), `no_space` (creating), `io_error`.
    static Result<std::unique_ptr<LocalJournal>> open(FileSystem& files, const std::string& directory,
                                                      const JournalOptions& options);

    // After a segment is closed, a new one is started, on a ready spare or on one that is filled while the caller
    // waits. If a commit is larger than a fresh segment, that segment is enlarged. Asserts that the commit follows the
    // last one and fits.
    Status commit(const Commit& commit) override;

    // For a log with another copy, which is written first: where commit() will put this commit, byte for byte. Nothing
    // is written, and `no_space` means that commit() would not succeed either. The next call of commit() must be for
    // the same commit.
    Result<CommitPlace> prepare(const Commit& commit);

    // For a copy of another log: begins the segment with exactly this header, which must follow the end of the log.
    // Codes as of commit().
    Status follow(const SegmentHeader& header);

    // Fills spare segments until there are enough. Blocks; for a background thread. `no_space`: try again later; ready
    // ones stay ready.
    Status prepare_spares();
    std::size_t ready_spares() const { return spares_.ready(); }
    std::size_t spares_held() const { return spares_.held(); }  // ready, or found at the start
    std::size_t spares_wanted() const { return spares_.wanted(); }
    // Removes a spare segment to free its space; false if there are no more than `keep`.
    Result<bool> give_up_spare(std::size_t keep);

    // Unlinks the segments that are entirely below `sequence`, the oldest first, each durably before the next, so that
    // a crash leaves no hole. The newest stays. Current readers can continue to read them. One thread at a time.
    Status drop_before(Sequence sequence);

    // Every commit whose last sequence is `from` or greater, in order and fully checked; the first may start before it.
    // Older segments are not read. Codes: `not_found` (`from` is before the log's front or more than one past its end),
    // `damaged_log`, `newer_format`, `io_error`, and the visitor's.
    Status replay(Sequence from, const CommitVisitor& visitor) const;
    // Every commit of every segment. Codes as of replay().
    Status verify_all(const CommitVisitor& visitor) const;

    const SegmentCatalog& catalog() const { return catalog_; }
    Totals totals() const { return newest()->end().totals; }
    Sequence first_sequence() const;  // of the front of the log
    SegmentRoom room() const;
    // The size of each segment that was not enlarged for a larger commit.
    std::uint64_t segment_bytes() const { return options_.segment_bytes; }
    std::uint32_t block_bytes() const { return newest()->header().block_bytes; }
    const LogIdentity& identity() const { return identity_; }
    std::uint64_t bytes_on_disk() const { return catalog_.bytes() + spares_.bytes(); }

    // What opening removed from the end of the log, for the operator's log.
    const std::optional<Cut>& cut() const { return cut_; }

  private:
    LocalJournal(FileSystem& files, std::string directory, const JournalOptions& options, std::uint64_t marked);

    Status start(FoundLog log);
    Status begin_segment(const SegmentHeader& header);
    Result<SpareSegment> take_spare(std::uint64_t bytes, SpareSize size);
    Status give_name(SpareSegment spare, const SegmentHeader& header);
    SegmentHeader header_after_end() const;
    std::uint64_t segment_size_for(const Commit& commit, std::uint32_t block_bytes) const;
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
    // Used by the committer: the segment that prepare() reported, and its file, unless its space had to be returned.
    std::optional<SegmentHeader> prepared_;
    std::optional<SpareSegment> prepared_spare_;
    SegmentCatalog catalog_;
    std::optional<Cut> cut_;

    mutable std::mutex mutex_;
    std::shared_ptr<SegmentFile> newest_;  // guarded by mutex_; also in the catalog, for reading
    std::optional<Error> failed_;          // guarded by mutex_
};

}  // namespace duewheel
