#include "journal/commit_reader.h"

#include "base/error_codes.h"

namespace duewheel {

CommitReader::CommitReader(const File& file, const std::string& path, const SegmentHeader& header, std::uint64_t limit)
    : path_(path),
      header_(header),
      identity_hash_(header.identity.hash()),
      window_(file, limit, kPieceBytes),
      totals_(header.before),
      link_(header.link) {}

Result<CommitInLog> CommitReader::next() {
    if (Status read = read_frames(); !read) return std::move(read).error();
    Result<CommitFooter> footer = read_footer();
    if (!footer) return std::move(footer).error();
    const Result<std::string_view> commit = window_.from(position_, end_ - position_);
    if (!commit) return commit.error();
    const std::string_view area = commit->substr(0, end_ - position_ - kFooterBytes);
    if (const std::string_view text = objection(*footer, area); !text.empty()) {
        return damaged_log(path_, position_, text);
    }
    return accept(*footer, area);
}

void CommitReader::resume_at(std::uint64_t position, const Totals& totals, std::uint64_t link, bool closed) {
    position_ = position;
    totals_ = totals;
    link_ = link;
    closed_ = closed;
}

// Takes frames as long as they are whole and in sequence; what stops them must be the end of the commit, which the
// footer then proves.
Status CommitReader::read_frames() {
    records_.clear();
    frames_bytes_ = 0;
    std::string_view bytes;
    const auto have = [&](std::uint64_t least) -> Status {
        if (bytes.size() >= least) return {};
        Result<std::string_view> more = window_.from(position_, least);
        if (!more) return std::move(more).error();
        bytes = *more;
        return {};
    };
    for (Sequence expected = totals_.sequence + 1;; ++expected) {
        if (Status read = have(frames_bytes_ + kRecordFrameBytes); !read) return read;
        if (bytes.size() < frames_bytes_ + kRecordFrameBytes) return {};
        const FrameHead head = frame_head(bytes.substr(frames_bytes_));
        const std::uint64_t frames_end = frames_bytes_ + head.frame_bytes();
        if (!head.may_be(expected) || position_ + frames_end > window_.limit()) return {};
        if (Status read = have(frames_end); !read) return read;
        const Result<FramedRecord> frame = read_frame(bytes.substr(frames_bytes_));
        if (!frame && frame.error().code == "newer_format"_code) return newer_log(path_, position_ + frames_bytes_);
        if (!frame) return {};
        records_.push_back(*frame);
        frames_bytes_ = frames_end;
    }
}

Result<CommitFooter> CommitReader::read_footer() {
    end_ = commit_end(position_ + frames_bytes_, header_.block_bytes);
    if (end_ > window_.limit()) return damaged_log(path_, position_, "the segment ends inside a commit");
    const Result<std::string_view> commit = window_.from(position_, end_ - position_);
    if (!commit) return commit.error();
    if (commit->size() < end_ - position_) return damaged_log(path_, position_, "the file ends inside a commit");
    Result<CommitFooter> footer = decode_footer(commit->substr(end_ - position_ - kFooterBytes, kFooterBytes));
    if (footer) return footer;
    if (footer.error().code == "newer_format"_code) return newer_log(path_, end_ - kFooterBytes);
    return damaged_log(
        path_, position_,
        records_.empty() ? "there is no commit at this offset" : "the records are not followed by a complete footer");
}

std::string_view CommitReader::objection(const CommitFooter& footer, std::string_view area) const {
    if (footer.identity_hash != identity_hash_) return "a commit belongs to another log";
    if (footer.totals.commit != totals_.commit + 1) return "a commit number is out of order";
    if (footer.link != link_) return "a commit does not follow the one before it";
    if (footer.first_sequence != totals_.sequence + 1) return "the first sequence of a commit is out of order";
    if (footer.count != records_.size() || footer.record_bytes != frames_bytes_) return "a commit lacks records";
    if (footer.totals.sequence != totals_.sequence + footer.count)
        return "the count and the sequence of a commit do not match";
    if (footer.area_hash != area_hash(area)) return "a commit's bytes do not match its hash";
    return {};
}

CommitInLog CommitReader::accept(const CommitFooter& footer, std::string_view area) {
    CommitInLog commit;
    commit.segment_number = header_.number;
    commit.offset = position_;
    commit.bytes = end_ - position_;
    commit.count = static_cast<std::uint32_t>(records_.size());
    commit.closes_segment = footer.closes_segment;
    commit.first_sequence = totals_.sequence + 1;
    commit.totals = footer.totals;
    commit.link = footer.checksum;
    for (FramedRecord& record : records_) {
        record.body = area.substr(kRecordFrameBytes, record.frame_bytes - kRecordFrameBytes);
        area.remove_prefix(record.frame_bytes);
    }
    commit.records = records_;
    position_ = end_;
    totals_ = footer.totals;
    link_ = footer.checksum;
    closed_ = footer.closes_segment;
    return commit;
}

}  // namespace duewheel
