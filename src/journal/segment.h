// An open segment of the log: the committer appends to it; records are read by position; and replay, sealing,
// compaction and `duewheel check` read and verify all of it.
//
// Acknowledged parts of a segment never change, so reading needs no lock around the file, only around the few numbers
// that say how full it is. A reader holds the shared_ptr that it got: a segment that has left the log stays readable
// for it, because the file is open, and the disk frees its space after the last reader. Shared ownership is for this
// purpose only.
//
// Anything that does not match its checksum or its position in the chain is an error `damaged_log`.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "journal/commit_reader.h"
#include "journal/offset_list.h"
#include "journal/segment_format.h"
#include "message/records/record.h"

namespace duewheel {

// A record that owns its bytes.
struct OwnedRecord {
    Sequence sequence = 0;
    RecordKind kind = RecordKind::put;
    std::string body;

    bool operator==(const OwnedRecord&) const = default;
};

// How full a segment is.
struct SegmentEnd {
    Totals totals;             // after its last commit
    std::uint64_t link = 0;    // checksum of its last footer
    std::uint64_t offset = 0;  // end of its last commit; 0: unknown, because it is closed and was not read yet
    bool closed = false;       // its last commit says that nothing follows
};

// Appends the bytes of a commit to `out`: records, zeros, footer; of the records those from `from` on, for a caller
// that takes the others from the commit. `link` is the checksum of the previous footer; returns that of this one.
std::uint64_t encode_commit(std::string& out, const Commit& commit, const SegmentHeader& header, std::uint64_t link,
                            std::size_t from = 0);

void add_offsets(OffsetList& offsets, const CommitInLog& commit);

// Any thread may read; append() is for one thread.
class SegmentFile {
  public:
    // `end`: from recovery, or from the header of the next segment. `offsets`: of everything committed; may be missing
    // only for a closed segment.
    SegmentFile(std::string path, std::unique_ptr<File> file, const SegmentHeader& header, const SegmentEnd& end,
                std::optional<OffsetList> offsets);

    const std::string& path() const { return path_; }
    const SegmentHeader& header() const { return header_; }
    Sequence first_sequence() const { return header_.first_sequence(); }
    SegmentEnd end() const;

    // The record with this sequence. Codes: `not_found` (not in this segment, or not committed), `damaged_log`,
    // `newer_format`, `io_error`. Usually one read of the file; the first call on a closed segment from before a
    // restart reads all of it once.
    Result<OwnedRecord> read_record(Sequence sequence) const;
    // Several, in ascending order of sequences; neighbours share reads. Stops at the first error.
    Status read_records(std::span<const Sequence> sequences, std::vector<OwnedRecord>& out) const;

    // Reads and checks every commit that exists at the call, in order. Codes as above, and those of the visitor.
    Status scan(const CommitVisitor& visitor) const;

    // Writes one commit after the last and syncs it. Readers see it after this returns. After a disk error, which is
    // returned, the bytes after the end are undefined, and append() must not be called again.
    Status append(const Commit& commit);

    // Replaces the file, which was open for reading, by the same one open for both. Before any other thread has the
    // segment.
    void use_for_appending(std::unique_ptr<File> file) { file_ = std::move(file); }

  private:
    class Walk;

    Status ensure_offsets() const;

    const std::string path_;
    std::unique_ptr<File> file_;
    const SegmentHeader header_;

    mutable std::mutex listing_;  // held while a closed segment is read to list its offsets; taken before mutex_
    mutable std::mutex mutex_;
    mutable SegmentEnd end_;                     // guarded by mutex_
    mutable std::optional<OffsetList> offsets_;  // guarded by mutex_; complete up to end_, or not there yet
};

}  // namespace duewheel
