#include "journal/log_salvage.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/error_codes.h"
#include "journal/commit_reader.h"
#include "journal/journal.h"
#include "journal/newest_mark.h"

namespace duewheel {
namespace {

struct NamedSegment {
    std::string name;
    std::unique_ptr<File> file;
    std::uint64_t size = 0;
    Sequence named = 0;
    std::optional<SegmentHeader> header;  // nothing: it is damaged
};

// A footer that belongs to this log, and where its commit is.
struct Landmark {
    CommitFooter footer;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // of the commit, after the footer
};

// The bytes of a segment between two landmarks, and the records that should be in them.
struct Stretch {
    std::string bytes;
    std::uint64_t begin = 0;  // offset in the file
    Sequence first = 0;
    Sequence last = 0;
};

bool is_footer_of(std::string_view bytes, const LogIdentity& identity, CommitFooter& footer) {
    if (!begins_like_footer(bytes)) return false;
    const Result<CommitFooter> decoded = decode_footer(bytes);
    if (!decoded || decoded->identity_hash != identity.hash()) return false;
    footer = *decoded;
    return true;
}

// Takes the whole records of a damaged stretch. It contains no whole footer except at its end, or it would end there.
class StretchReader {
  public:
    StretchReader(const Stretch& stretch, std::uint32_t block_bytes, const SalvageVisitor& visitor)
        : stretch_(stretch), block_bytes_(block_bytes), visitor_(visitor) {}

    // The records that were not read, as ranges; their place and cause are the caller's to add.
    Result<std::vector<Omitted>> run() {
        std::uint64_t at = 0;
        Sequence expected = stretch_.first;
        while (expected <= stretch_.last) {
            if (const std::optional<FramedRecord> frame = whole_at(at, expected)) {
                if (Status taken = visitor_(*frame); !taken) return std::move(taken).error();
                at += frame->frame_bytes;
                ++expected;
                continue;
            }
            if (const std::uint64_t next = after_damaged_body(at, expected); next != 0) {
                omit(at, expected, expected);
                at = next;
                ++expected;
                continue;
            }
            const std::optional<Found> chain = find_chain(at, expected);
            omit(at, expected, chain ? chain->sequence - 1 : stretch_.last);
            if (!chain) break;
            at = chain->at;
            expected = chain->sequence;
        }
        if (omitted_.empty()) omit(0, stretch_.last + 1, stretch_.last);  // other bytes are damaged
        return std::move(omitted_);
    }

  private:
    struct Found {
        std::uint64_t at = 0;
        Sequence sequence = 0;
    };

    std::string_view from(std::uint64_t at) const {
        return std::string_view(stretch_.bytes).substr(std::min<std::uint64_t>(at, stretch_.bytes.size()));
    }

    bool may_begin(std::uint64_t at, Sequence expected) const {
        const std::string_view bytes = from(at);
        return bytes.size() >= kRecordFrameBytes && frame_head(bytes).may_be(expected) &&
               frame_head(bytes).frame_bytes() <= bytes.size();
    }

    std::optional<FramedRecord> whole_at(std::uint64_t at, Sequence expected) const {
        if (!may_begin(at, expected)) return std::nullopt;
        const Result<FramedRecord> frame = read_frame(from(at));
        return frame ? std::optional(*frame) : std::nullopt;
    }

    // Where the next record is if only the body of this one is damaged, so that its length is right; otherwise 0.
    std::uint64_t after_damaged_body(std::uint64_t at, Sequence expected) const {
        if (!may_begin(at, expected)) return 0;
        const std::uint64_t next = at + frame_head(from(at)).frame_bytes();
        return may_begin(next, expected + 1) ? next : 0;
    }

    // The next record from which on all are whole up to the end of the stretch.
    std::optional<Found> find_chain(std::uint64_t after, Sequence expected) const {
        for (std::uint64_t at = after + 1; at + kRecordFrameBytes <= stretch_.bytes.size(); ++at) {
            const Sequence sequence = frame_head(from(at)).sequence;
            if (sequence <= expected || sequence > stretch_.last) continue;
            if (reaches_end(at, sequence)) return Found{at, sequence};
        }
        return std::nullopt;
    }

    bool reaches_end(std::uint64_t at, Sequence expected) const {
        for (; expected <= stretch_.last; ++expected) {
            const std::optional<FramedRecord> frame = whole_at(at, expected);
            if (!frame) return false;
            at += frame->frame_bytes;
        }
        // Only zeros may be between the records and the footer.
        if (commit_end(stretch_.begin + at, block_bytes_) != stretch_.begin + stretch_.bytes.size()) return false;
        const std::string_view padding = from(at).substr(0, stretch_.bytes.size() - kFooterBytes - at);
        return padding.find_first_not_of('\0') == std::string_view::npos;
    }

    void omit(std::uint64_t at, Sequence first, Sequence last) {
        if (!omitted_.empty() && omitted_.back().last + 1 == first) {
            omitted_.back().last = last;
        } else {
            omitted_.push_back({.offset = stretch_.begin + at, .first = first, .last = last});
        }
    }

    const Stretch& stretch_;
    const std::uint32_t block_bytes_;
    const SalvageVisitor& visitor_;
    std::vector<Omitted> omitted_;
};

class Salvage {
  public:
    Salvage(FileSystem& files, const std::string& directory, const SalvageVisitor& visitor)
        : files_(files), directory_(directory), visitor_(visitor) {}

    Result<SalvagedLog> run() {
        if (Status opened = open_all(); !opened) return std::move(opened).error();
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            const bool is_newest = i + 1 == sources_.size();
            const Sequence next = is_newest ? 0 : sources_[i + 1].named;
            if (Status done = read(sources_[i], next); !done) return std::move(done).error();
            if (is_newest) continue;
            if (totals_.sequence + 1 < next) {
                omit(segment_name(totals_.sequence + 1), 0, totals_.sequence + 1, next - 1, "the file is missing");
            }
        }
        if (newest_mark_ > number_) {
            omit(NewestMark::name_of(newest_mark_), 0, totals_.sequence + 1, totals_.sequence,
                 "segment " + std::to_string(newest_mark_) + ", the newest one, is missing");
        }
        log_.totals = totals_;
        return std::move(log_);
    }

  private:
    Status open_all() {
        const Result<std::vector<std::string>> names = files_.list(directory_);
        if (!names) return names.error();
        for (const std::string& name : *names) {
            newest_mark_ = std::max(newest_mark_, NewestMark::number_of(name));
            if (sequence_of_segment_name(name) == 0) continue;
            if (Status opened = open(name); !opened) return opened;
        }
        if (sources_.empty()) {
            return Error{"damaged_log"_code, directory_ +
                                                 " contains no segment (seg-*), so nothing can be read. Put the "
                                                 "segments back, or restore a backup"};
        }
        const auto whole = std::find_if(sources_.begin(), sources_.end(),
                                        [](const NamedSegment& source) { return source.header.has_value(); });
        if (whole == sources_.end()) {
            return Error{"damaged_log"_code, "no file seg-* in " + directory_ +
                                                 " has a readable header, so nothing can be read. Restore a backup"};
        }
        log_.identity = whole->header->identity;
        block_bytes_ = whole->header->block_bytes;
        log_.first_sequence = sources_.front().named;
        totals_.sequence = log_.first_sequence - 1;
        return {};
    }

    Status open(const std::string& name) {
        Result<std::unique_ptr<File>> file = files_.open(directory_ + "/" + name, OpenMode::read);
        if (!file) return std::move(file).error();
        const Result<std::uint64_t> size = (*file)->size();
        if (!size) return size.error();
        NamedSegment source{name, *std::move(file), *size, sequence_of_segment_name(name), std::nullopt};
        std::string bytes(kSegmentHeaderBytes, '\0');
        const Result<std::size_t> got = source.file->read_at(0, std::as_writable_bytes(std::span(bytes)));
        if (!got) return got.error();
        bytes.resize(*got);
        Result<SegmentHeader> header = decode_segment_header(bytes);
        if (!header && header.error().code == "newer_format"_code) return newer_log(directory_ + "/" + name, 0);
        if (header && header->first_sequence() == source.named) source.header = *header;
        sources_.push_back(std::move(source));
        return {};
    }

    // The header as written, or what it must have been.
    SegmentHeader header_of(const NamedSegment& source) {
        if (source.header && source.header->identity == log_.identity) return *source.header;
        omit(source.name, 0, source.named, source.named - 1, "the header of the file is damaged");
        SegmentHeader header;
        header.identity = log_.identity;
        header.block_bytes = block_bytes_;
        header.segment_bytes = source.size;
        header.number = number_ + 1;
        header.before = totals_;
        header.before.sequence = source.named - 1;
        header.link = link_;
        return header;
    }

    // `next`: with which the next segment begins; 0: this is the newest.
    Status read(const NamedSegment& source, Sequence next) {
        const SegmentHeader header = header_of(source);
        number_ = header.number;
        const std::string path = directory_ + "/" + source.name;
        CommitReader reader(*source.file, path, header, source.size);
        Status done;
        while (done && !reader.closed() && reader.position() < source.size) {
            const Result<CommitInLog> commit = reader.next();
            if (commit) {
                for (const FramedRecord& frame : commit->records) {
                    if (done = visitor_(frame); !done) return done;
                }
                continue;
            }
            if (commit.error().code != "damaged_log"_code) return commit.error();
            Result<bool> passed = pass(source, header, reader, next);
            if (!passed) return std::move(passed).error();
            if (!*passed) break;
        }
        if (reader.totals().sequence >= totals_.sequence) totals_ = reader.totals();
        link_ = reader.link();
        return done;
    }

    // Skips what is not a commit. False: nothing of the log follows in this file.
    Result<bool> pass(const NamedSegment& source, const SegmentHeader& header, CommitReader& reader, Sequence next) {
        const std::uint64_t position = reader.position();
        const Totals& before = reader.totals();
        Result<std::optional<Landmark>> found = find_landmark(source, header, position, before.commit);
        if (!found) return std::move(found).error();
        if (!*found) {
            const Sequence last = next == 0 ? before.sequence : next - 1;
            if (last <= before.sequence) return false;
            Status taken = take(source, header, position, source.size, before.sequence + 1, last,
                                "the segment does not end where the log says");
            if (!taken) return std::move(taken).error();
            Totals totals = before;
            totals.sequence = last;
            reader.resume_at(source.size, totals, 0, true);
            return false;
        }
        const Landmark& landmark = **found;
        const CommitFooter& footer = landmark.footer;
        const std::string why = "the bytes do not match their checksums";
        if (footer.totals.commit == before.commit + 1 || landmark.begin < position) {
            Status taken =
                take(source, header, position, landmark.end, before.sequence + 1, footer.totals.sequence, why);
            if (!taken) return std::move(taken).error();
            reader.resume_at(landmark.end, footer.totals, footer.checksum, footer.closes_segment);
            return true;
        }
        // A header that was made up does not know the number of its first commit, which then begins here.
        if (landmark.begin > position) {
            Status taken =
                take(source, header, position, landmark.begin, before.sequence + 1, footer.first_sequence - 1, why);
            if (!taken) return std::move(taken).error();
        }
        Totals totals = before;
        totals.commit = footer.totals.commit - 1;
        totals.sequence = footer.first_sequence - 1;
        reader.resume_at(landmark.begin, totals, footer.link, false);
        return true;
    }

    // The first whole footer of a later commit, at the end of any block.
    static Result<std::optional<Landmark>> find_landmark(const NamedSegment& source, const SegmentHeader& header,
                                                         std::uint64_t from, std::uint64_t commit) {
        FileWindow window(*source.file, source.size, kPieceBytes);
        const std::uint64_t block = header.block_bytes;
        for (std::uint64_t at = from; at + block <= source.size; at += block) {
            const Result<std::string_view> bytes = window.from(at, block);
            if (!bytes) return bytes.error();
            if (bytes->size() < block) break;
            Landmark found;
            const std::string_view tail = bytes->substr(block - kFooterBytes, kFooterBytes);
            if (!is_footer_of(tail, header.identity, found.footer) || found.footer.totals.commit <= commit) continue;
            const std::uint64_t size =
                commit_size_in_segment(found.footer.record_bytes, static_cast<std::uint32_t>(block));
            found.end = at + block;
            if (found.end < size + kSegmentHeaderBytes) continue;
            found.begin = found.end - size;
            return std::optional(found);
        }
        return std::optional<Landmark>();
    }

    Status take(const NamedSegment& source, const SegmentHeader& header, std::uint64_t begin, std::uint64_t end,
                Sequence first, Sequence last, const std::string& why) {
        Stretch stretch{std::string(end - begin, '\0'), begin, first, last};
        const Result<std::size_t> got = source.file->read_at(begin, std::as_writable_bytes(std::span(stretch.bytes)));
        if (!got) return got.error();
        Result<std::vector<Omitted>> omitted = StretchReader(stretch, header.block_bytes, visitor_).run();
        if (!omitted) return std::move(omitted).error();
        for (Omitted& part : *omitted) omit(source.name, part.offset, part.first, part.last, why);
        return {};
    }

    void omit(std::string file, std::uint64_t offset, Sequence first, Sequence last, std::string why) {
        log_.omitted.push_back({std::move(file), offset, first, last, std::move(why)});
    }

    FileSystem& files_;
    const std::string& directory_;
    const SalvageVisitor& visitor_;
    std::vector<NamedSegment> sources_;
    std::uint64_t newest_mark_ = 0;
    std::uint32_t block_bytes_ = 0;
    SalvagedLog log_;
    // At the end of what was read so far.
    Totals totals_;
    std::uint64_t link_ = 0;
    std::uint64_t number_ = 0;
};

}  // namespace

Result<SalvagedLog> salvage_log(FileSystem& files, const std::string& directory, const SalvageVisitor& visitor) {
    return Salvage(files, directory, visitor).run();
}

}  // namespace duewheel
