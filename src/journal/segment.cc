#include "journal/segment.h"

#include <algorithm>
#include <cassert>

#include "base/error_codes.h"

namespace duewheel {
namespace {

// One read covers 63 records of 256 bytes.
constexpr std::uint64_t kWalkPieceBytes = 16 << 10;

// Fewer bytes of records are copied, to be written with the footer: that costs less than another call.
constexpr std::size_t kCopiedBytesMax = 64 << 10;

void add_offsets(OffsetList& offsets, Sequence first, std::uint64_t offset, std::string_view records) {
    while (!records.empty()) {
        const FrameHead head = frame_head(records);
        assert(head.sequence == first);
        offsets.add(first++, offset);
        offset += head.frame_bytes();
        records.remove_prefix(head.frame_bytes());
    }
}

}  // namespace

std::uint64_t encode_commit(std::string& out, const Commit& commit, const SegmentHeader& header, std::uint64_t link,
                            std::size_t from) {
    const std::uint64_t area_bytes = commit_end(commit.records.size(), header.block_bytes) - kFooterBytes;
    out.reserve(out.size() + area_bytes - from + kFooterBytes);
    out.append(commit.records, from);
    out.append(area_bytes - commit.records.size(), '\0');
    CommitFooter footer;
    footer.first_sequence = commit.first_sequence;
    footer.count = commit.count;
    footer.closes_segment = commit.closes_segment;
    footer.record_bytes = commit.records.size();
    footer.area_hash = area_hash(commit.records, area_bytes - commit.records.size());
    footer.totals = commit.totals;
    footer.identity_hash = header.identity.hash();
    footer.link = link;
    return append_footer(out, footer);
}

void add_offsets(OffsetList& offsets, const CommitInLog& commit) {
    std::uint64_t offset = commit.offset;
    for (const FramedRecord& record : commit.records) {
        offsets.add(record.sequence, offset);
        offset += record.frame_bytes;
    }
}

// Finds records from frame to frame, forward only, within the commits that existed when it started.
class SegmentFile::Walk {
  public:
    Walk(const SegmentFile& segment, const SegmentEnd& end)
        : segment_(segment), last_(end.totals.sequence), window_(*segment.file_, end.offset, kWalkPieceBytes) {}

    Result<OwnedRecord> read(Sequence sequence) {
        if (sequence < segment_.first_sequence() || sequence > last_) return not_here(sequence);
        start_for(sequence);
        while (offset_ < window_.limit()) {
            const Result<std::string_view> bytes = window_.from(offset_, kRecordFrameBytes);
            if (!bytes) return bytes.error();
            if (bytes->size() < kRecordFrameBytes) break;
            const FrameHead head = frame_head(*bytes);
            if (!head.may_be(next_)) {  // the end of a commit
                offset_ = commit_end(offset_, segment_.header_.block_bytes);
                continue;
            }
            if (next_ == sequence) return take(head);
            offset_ += head.frame_bytes();
            ++next_;
        }
        return damaged_log(segment_.path_, from_, "record " + std::to_string(sequence) + " is not at its position");
    }

  private:
    void start_for(Sequence sequence) {
        const std::lock_guard lock(segment_.mutex_);
        const OffsetList::Start start = segment_.offsets_->before(sequence);
        if (next_ != 0 && next_ <= sequence && offset_ >= start.offset) return;
        next_ = start.sequence;
        from_ = offset_ = start.offset;
    }

    Result<OwnedRecord> take(const FrameHead& head) {
        const Result<std::string_view> bytes = window_.from(offset_, head.frame_bytes());
        if (!bytes) return bytes.error();
        const Result<FramedRecord> frame = read_frame(*bytes);
        if (!frame && frame.error().code == "newer_format"_code) return newer_log(segment_.path_, offset_);
        if (!frame) return damaged_log(segment_.path_, offset_, frame.error().message);
        return OwnedRecord{frame->sequence, frame->kind, std::string(frame->body)};
    }

    Error not_here(Sequence sequence) const {
        return Error{"not_found"_code, "no record " + std::to_string(sequence) + " is committed in " + segment_.path_};
    }

    const SegmentFile& segment_;
    const Sequence last_;
    FileWindow window_;
    Sequence next_ = 0;  // the record at offset_, or after the end of a commit there; 0: not started
    std::uint64_t offset_ = 0;
    std::uint64_t from_ = 0;
};

SegmentFile::SegmentFile(std::string path, std::unique_ptr<File> file, const SegmentHeader& header,
                         const SegmentEnd& end, std::optional<OffsetList> offsets)
    : path_(std::move(path)), file_(std::move(file)), header_(header), end_(end), offsets_(std::move(offsets)) {
    assert(end.closed || offsets_);
}

SegmentEnd SegmentFile::end() const {
    const std::lock_guard lock(mutex_);
    return end_;
}

Result<OwnedRecord> SegmentFile::read_record(Sequence sequence) const {
    if (Status ready = ensure_offsets(); !ready) return std::move(ready).error();
    return Walk(*this, end()).read(sequence);
}

Status SegmentFile::read_records(std::span<const Sequence> sequences, std::vector<OwnedRecord>& out) const {
    if (Status ready = ensure_offsets(); !ready) return ready;
    Walk walk(*this, end());
    for (const Sequence sequence : sequences) {
        Result<OwnedRecord> record = walk.read(sequence);
        if (!record) return std::move(record).error();
        out.push_back(std::move(*record));
    }
    return {};
}

Status SegmentFile::scan(const CommitVisitor& visitor) const {
    const SegmentEnd end_at_call = end();
    std::uint64_t limit = end_at_call.offset;
    if (limit == 0) {
        const Result<std::uint64_t> size = file_->size();
        if (!size) return size.error();
        limit = *size;
    }
    CommitReader reader(*file_, path_, header_, limit);
    OffsetList offsets(header_.first_sequence());
    while (reader.position() < limit && !reader.closed()) {
        const Result<CommitInLog> commit = reader.next();
        if (!commit) return commit.error();
        add_offsets(offsets, *commit);
        if (Status taken = visitor(*commit); !taken) return taken;
    }
    if (reader.totals() != end_at_call.totals || reader.link() != end_at_call.link ||
        reader.closed() != end_at_call.closed) {
        return damaged_log(path_, reader.position(), "the segment does not end where the log says");
    }
    const std::lock_guard lock(mutex_);
    if (offsets_) return {};
    offsets_ = std::move(offsets);
    end_.offset = reader.position();
    return {};
}

// The first reader of an older segment lists its records; for the newest one appending maintains the list.
Status SegmentFile::ensure_offsets() const {
    const auto listed = [&] {
        const std::lock_guard lock(mutex_);
        return offsets_.has_value();
    };
    if (listed()) return {};
    const std::lock_guard one_reader(listing_);
    if (listed()) return {};
    return scan([](const CommitInLog&) { return Status(); });
}

Status SegmentFile::append(const Commit& commit) {
    const SegmentEnd before = end();
    const std::size_t block = header_.block_bytes;
    const std::size_t in_place = commit.records.size() < kCopiedBytesMax ? 0 : commit.records.size() / block * block;
    std::string rest;
    const std::uint64_t link = encode_commit(rest, commit, header_, before.link, in_place);
    Status written;
    if (in_place != 0) {
        written = file_->write_at(before.offset, std::as_bytes(std::span(commit.records).first(in_place)));
    }
    if (written) written = file_->write_at(before.offset + in_place, std::as_bytes(std::span(rest)));
    if (!written) return written;
    Status synced = file_->sync_data();
    if (!synced) return synced;
    const std::lock_guard lock(mutex_);
    add_offsets(*offsets_, commit.first_sequence, before.offset, commit.records);
    end_ = {commit.totals, link, before.offset + in_place + rest.size(), commit.closes_segment};
    return {};
}

}  // namespace duewheel
