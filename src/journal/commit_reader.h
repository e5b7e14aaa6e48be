// Reads a segment commit by commit, from its header on, and believes nothing: each record's checksum and sequence, the
// footer's count and hash over all bytes before it, the link to the footer before, the identity of the log.
//
// It does not say what a bad commit means. Whether one is the torn end of the log or damage depends on what follows
// (recovery.h); where the log is known to go on it is always damage.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "journal/file_window.h"
#include "journal/offset_list.h"
#include "journal/segment_format.h"
#include "message/record.h"

namespace duewheel {

// A commit as it was read. The views are void when the visitor returns, or at the next read.
struct CommitInLog {
    std::uint64_t segment_number = 0;
    std::uint64_t offset = 0;  // in the segment
    std::uint64_t bytes = 0;   // all it takes, footer included
    std::uint32_t count = 0;
    bool closes_segment = false;
    Sequence first_sequence = 0;
    Totals totals;
    std::uint64_t link = 0;  // what the next footer holds
    std::span<const FramedRecord> records;
};

// Called for each commit in order. An error stops the reading and is handed on.
using CommitVisitor = std::function<Status(const CommitInLog&)>;

// For one thread. File and path outlive it.
class CommitReader {
  public:
    // Reads up to `limit`, an offset at which a commit ends or beyond all of them.
    CommitReader(const File& file, const std::string& path, const SegmentHeader& header, std::uint64_t limit);

    // The next commit, which begins at position(). Codes: `damaged_log` (no whole commit stands there, be it zeros),
    // `newer_format`, `io_error`; position and totals then stay as they are, and nothing more can be read, unless the
    // file has changed.
    Result<CommitInLog> next();
    // Forgets what was read of the file beyond position(): somebody may have written there since.
    void look_again() { window_.forget(); }

    std::uint64_t position() const { return position_; }
    std::uint64_t limit() const { return window_.limit(); }
    bool closed() const { return closed_; }  // the last commit read closes the segment
    // After the last commit that was read.
    const Totals& totals() const { return totals_; }
    std::uint64_t link() const { return link_; }

  private:
    // Each leaves what it found in the members below.
    Status read_frames();
    Result<CommitFooter> read_footer();
    // Why this footer does not close the commit that was read; empty: it does.
    std::string_view objection(const CommitFooter& footer, std::string_view area) const;
    CommitInLog accept(const CommitFooter& footer, std::string_view area);

    const std::string& path_;
    const SegmentHeader& header_;
    std::uint64_t identity_hash_;
    FileWindow window_;
    std::uint64_t position_ = kSegmentHeaderBytes;
    Totals totals_;
    std::uint64_t link_;
    bool closed_ = false;

    // Of the commit that is being read.
    std::vector<FramedRecord> records_;  // their views are set when the commit is accepted
    std::uint64_t frames_bytes_ = 0;
    std::uint64_t end_ = 0;  // offset in the file
};

}  // namespace duewheel
