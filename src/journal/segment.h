// One segment of the log, open: appended to by the committer, read by place, and read whole, checked, by replay, by
// sealing, by cleaning and by `duewheel check`.
//
// A segment never changes where it was acknowledged, so reading needs no lock around the file, only around the few
// numbers that say how far it is filled. A reader holds the shared_ptr it was given: a segment that has left the log
// stays readable for it, because the file is open, and the disk takes its space back when the last reader lets go. That
// is what shared ownership is for here, and nothing else.
//
// It refuses to guess: whatever does not match its checksum or its place in the chain is an error `damaged_log`.
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
#include "message/record.h"

namespace duewheel {

// A record with bytes of its own.
struct OwnedRecord {
    Sequence sequence = 0;
    RecordKind kind = RecordKind::put;
    std::string body;

    bool operator==(const OwnedRecord&) const = default;
};

// How far a segment is filled.
struct SegmentEnd {
    Totals totals;             // after its last commit
    std::uint64_t link = 0;    // checksum of its last footer
    std::uint64_t offset = 0;  // where its last commit ends; 0: not known, it is closed and nobody has read it yet
    bool closed = false;       // its last commit says that nothing follows
};

// Appends the bytes of a commit to `out`: records, zeros, footer. `link` is the checksum of the footer before; returns
// that of this one.
std::uint64_t encode_commit(std::string& out, const Commit& commit, const SegmentHeader& header, std::uint64_t link);

void add_offsets(OffsetList& offsets, const CommitInLog& commit);

// Any thread may read; append() is for one thread.
class SegmentFile {
  public:
    // `end`: as recovery found it, or as the header of the next segment says. `offsets`: of all that is committed; may
    // be missing only in a closed segment.
    SegmentFile(std::string path, std::unique_ptr<File> file, const SegmentHeader& header, const SegmentEnd& end,
                std::optional<OffsetList> offsets);

    const std::string& path() const { return path_; }
    const SegmentHeader& header() const { return header_; }
    Sequence first_sequence() const { return header_.first_sequence(); }
    SegmentEnd end() const;

    // The record with this sequence. Codes: `not_found` (not in this segment, or not committed), `damaged_log`,
    // `newer_format`, `io_error`. One read of the file, as a rule; the first call on a closed segment from before a
    // restart reads all of it once.
    Result<OwnedRecord> read_record(Sequence sequence) const;
    // Several, in ascending order of sequences; neighbours share reads. Stops at the first error.
    Status read_records(std::span<const Sequence> sequences, std::vector<OwnedRecord>& out) const;

    // Reads and checks every commit that is there at the call, in order. Codes as above, and those of the visitor.
    Status scan(const CommitVisitor& visitor) const;

    // Writes one commit after the last and syncs it. Readers see it when this returns. After an error of the disk,
    // which is returned, the bytes behind the end are as they may be, and append() may not be called again.
    Status append(const Commit& commit);

    // Replaces the file, which was open for reading, by the same one open for both. Before anybody else has the
    // segment.
    void use_for_appending(std::unique_ptr<File> file) { file_ = std::move(file); }

  private:
    class Walk;

    Status ensure_offsets() const;

    const std::string path_;
    std::unique_ptr<File> file_;
    const SegmentHeader header_;
    std::string batch_;  // append(): the bytes of a commit, kept to reuse their memory

    mutable std::mutex listing_;  // held while a closed segment is read to list its offsets; taken before mutex_
    mutable std::mutex mutex_;
    mutable SegmentEnd end_;                     // guarded by mutex_
    mutable std::optional<OffsetList> offsets_;  // guarded by mutex_; complete up to end_, or not there yet
};

}  // namespace duewheel
