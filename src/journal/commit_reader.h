// Reads a segment commit by commit from its header on, and verifies everything: the checksum and sequence of each
// record, the count and the hash in the footer, the link to the previous footer, the identity of the log.
//
// It does not decide what an invalid commit means. Whether it is the torn end of the log or damage depends on what
// follows (recovery.h); if the log is known to continue, it is always damage.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "journal/file_window.h"
#include "journal/offset_list.h"
#include "journal/segment_format.h"
#include "message/records/record.h"

namespace duewheel {

// A commit that was read. The views are invalid after the visitor returns, and after the next read.
struct CommitInLog {
    std::uint64_t segment_number = 0;
    std::uint64_t offset = 0;  // in the segment
    std::uint64_t bytes = 0;   // total size, footer included
    std::uint32_t count = 0;
    bool closes_segment = false;
    Sequence first_sequence = 0;
    Totals totals;
    std::uint64_t link = 0;  // the link in the next footer
    std::span<const FramedRecord> records;
};

// Called for each commit in order. An error stops the reading and is returned.
using CommitVisitor = std::function<Status(const CommitInLog&)>;

// For one thread. File and path must outlive it.
class CommitReader {
  public:
    // Reads up to `limit`, an offset at which a commit ends or which is beyond all of them.
    CommitReader(const File& file, const std::string& path, const SegmentHeader& header, std::uint64_t limit);

    // The next commit, which starts at position(). Codes: `damaged_log` (there is no whole commit, also if there are
    // only zeros), `newer_format`, `io_error`. Position and totals then stay unchanged, and nothing more can be read
    // unless the file has changed.
    Result<CommitInLog> next();
    // Discards what was read of the file beyond position(), which may have been written since.
    void discard_window() { window_.forget(); }

    // Continues at `position` with the commit that follows these totals, of which only commit and sequence matter: for
    // a reader that skips damage (log_salvage.h).
    void resume_at(std::uint64_t position, const Totals& totals, std::uint64_t link, bool closed);

    std::uint64_t position() const { return position_; }
    std::uint64_t limit() const { return window_.limit(); }
    bool closed() const { return closed_; }  // the last commit that was read closes the segment
    // After the last commit that was read.
    const Totals& totals() const { return totals_; }
    std::uint64_t link() const { return link_; }

  private:
    // Each leaves its result in the members below.
    Status read_frames();
    Result<CommitFooter> read_footer();
    // Why this footer does not close the commit that was read; empty if it does.
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

    // State of the current commit.
    std::vector<FramedRecord> records_;  // their views are set when the commit is accepted
    std::uint64_t frames_bytes_ = 0;
    std::uint64_t end_ = 0;  // offset in the file
};

}  // namespace duewheel
