#include "journal/recovery.h"

#include <algorithm>
#include <cassert>

#include "base/error_codes.h"
#include "journal/newest_mark.h"
#include "journal/spare_segments.h"

namespace duewheel {
namespace {

// One file with the name of a segment.
struct Candidate {
    std::string path;
    Sequence named = 0;
    std::unique_ptr<File> file;
    std::uint64_t size = 0;
    SegmentHeader header;
};

// The end of the range from `offset` on that contains all non-zero bytes; 0: all bytes are zero.
Result<std::uint64_t> find_non_zero(const File& file, std::uint64_t offset, std::uint64_t size) {
    std::uint64_t end = 0;
    FileWindow window(file, size, kPieceBytes);
    for (std::uint64_t at = offset; at < size;) {
        const Result<std::string_view> piece = window.from(at, std::min(kPieceBytes, size - at));
        if (!piece) return piece.error();
        if (piece->empty()) break;
        const std::size_t last = piece->find_last_not_of('\0');
        if (last != std::string_view::npos) end = at + last + 1;
        at += piece->size();
    }
    return end;
}

// Looks for a whole footer of this log with a greater number than `commit` at the end of any block from `offset` on;
// the offset of its block, or 0. A footer of a newer version is an error.
Result<std::uint64_t> find_later_footer(const File& file, const std::string& path, const SegmentHeader& header,
                                        std::uint64_t offset, std::uint64_t size, std::uint64_t commit) {
    FileWindow window(file, size, kPieceBytes);
    for (; offset + header.block_bytes <= size; offset += header.block_bytes) {
        const Result<std::string_view> block = window.from(offset, header.block_bytes);
        if (!block) return block.error();
        if (block->size() < header.block_bytes) break;
        const std::string_view tail = block->substr(header.block_bytes - kFooterBytes, kFooterBytes);
        if (!begins_like_footer(tail)) continue;
        const Result<CommitFooter> footer = decode_footer(tail);
        if (!footer && footer.error().code == "newer_format"_code) return newer_log(path, offset);
        if (footer && footer->identity_hash == header.identity.hash() && footer->totals.commit > commit) return offset;
    }
    return std::uint64_t{0};
}

Result<Candidate> open_candidate(FileSystem& files, const std::string& directory, const std::string& name) {
    Candidate candidate;
    candidate.path = directory + "/" + name;
    candidate.named = sequence_of_segment_name(name);
    Result<std::unique_ptr<File>> file = files.open(candidate.path, OpenMode::read);
    if (!file) return std::move(file).error();
    candidate.file = std::move(*file);
    const Result<std::uint64_t> size = candidate.file->size();
    if (!size) return size.error();
    candidate.size = *size;
    return candidate;
}

Status read_header(Candidate& candidate) {
    FileWindow window(*candidate.file, candidate.size, kSegmentHeaderBytes);
    const Result<std::string_view> bytes = window.from(0, kSegmentHeaderBytes);
    if (!bytes) return bytes.error();
    Result<SegmentHeader> header = decode_segment_header(*bytes);
    if (!header && header.error().code == "newer_format"_code) return newer_log(candidate.path, 0);
    if (!header) return damaged_log(candidate.path, 0, header.error().message);
    if (header->first_sequence() != candidate.named) {
        return damaged_log(candidate.path, 0, "the name of the file does not match its header");
    }
    if (candidate.size < header->segment_bytes) {
        return damaged_log(candidate.path, candidate.size, "the file is shorter than its header says");
    }
    candidate.header = *header;
    return {};
}

Status check_neighbours(const Candidate& before, const Candidate& after) {
    const SegmentHeader& earlier = before.header;
    const SegmentHeader& later = after.header;
    if (later.identity != earlier.identity) return damaged_log(after.path, 0, "the segment belongs to another log");
    if (later.number != earlier.number + 1) {
        return damaged_log(
            after.path, 0,
            "segment " + std::to_string(earlier.number) + " is followed by segment " + std::to_string(later.number));
    }
    if (later.before.commit <= earlier.before.commit || later.block_bytes != earlier.block_bytes) {
        return damaged_log(after.path, 0, "the segment does not follow the one before it");
    }
    return {};
}

// Opens all files with the name of a segment, and checks their headers.
Result<std::vector<Candidate>> open_segments(FileSystem& files, const std::string& directory,
                                             const std::vector<std::string>& names) {
    std::vector<Candidate> candidates;
    for (const std::string& name : names) {
        Result<Candidate> candidate = open_candidate(files, directory, name);
        if (!candidate) return std::move(candidate).error();
        if (Status header = read_header(*candidate); !header) return std::move(header).error();
        if (!candidates.empty()) {
            if (Status follows = check_neighbours(candidates.back(), *candidate); !follows) {
                return std::move(follows).error();
            }
        }
        candidates.push_back(std::move(*candidate));
    }
    return candidates;
}

constexpr std::string_view kWithoutTheEnd =
    ". Nothing was changed. Put the missing files or an undamaged copy of the newest one back, or restore a backup. To "
    "go on without what is missing, run `duewheel check --accept-lost-end` on the data directory";

Status check_mark(const std::string& directory, const FoundLog& log, const std::optional<KnownEnd>& known_end) {
    const std::uint64_t newest = log.segments.empty() ? 0 : log.segments.back()->header().number;
    if (newest >= log.marked_newest) return {};
    std::string text = "segment " + std::to_string(log.marked_newest) + " of the log in " + directory +
                       " is missing according to the file " + NewestMark::name_of(log.marked_newest) + "; ";
    const Sequence last = log.segments.empty() ? 0 : log.segments.back()->end().totals.sequence;
    text += newest == 0
                ? "there are no segments"
                : "the last segment is " + std::to_string(newest) + " and ends with record " + std::to_string(last);
    if (known_end && known_end->sequence > last) {
        text += ": at least " + std::to_string(known_end->sequence - last) + " acknowledged records are missing";
    }
    return Error{"damaged_log"_code, text + std::string(kWithoutTheEnd)};
}

Result<std::optional<Cut>> judge_end(const File& file, const std::string& path, const SegmentHeader& header,
                                     std::uint64_t size, const CommitReader& reader, const Error& objection) {
    const Result<std::uint64_t> end = find_non_zero(file, reader.position(), size);
    if (!end) return end.error();
    if (*end == 0) return std::optional<Cut>();
    const Result<std::uint64_t> later =
        find_later_footer(file, path, header, reader.position(), size, reader.totals().commit + 1);
    if (!later) return later.error();
    if (*later != 0) {
        return Error{objection.code,
                     objection.message + " This is not an incomplete write: there is a later commit at offset " +
                         std::to_string(*later) + ".",
                     objection.field};
    }
    return std::optional(Cut{path, reader.position(), *end - reader.position()});
}

Status write_zeros(File& file, const Cut& cut) {
    const std::string zeros(std::min(kPieceBytes, cut.bytes), '\0');
    for (std::uint64_t done = 0; done < cut.bytes;) {
        const std::uint64_t piece = std::min<std::uint64_t>(zeros.size(), cut.bytes - done);
        const Status written = file.write_at(cut.offset + done, std::as_bytes(std::span(zeros).first(piece)));
        if (!written) return written;
        done += piece;
    }
    return {};
}

// Writes the last commit again, byte for byte: after a failed sync the operating system may return bytes that are not
// on the disk, and treat them as saved. Only the last commit can be in that state.
Status write_again(File& file, std::uint64_t offset, std::uint64_t end) {
    std::string bytes(end - offset, '\0');
    const Result<std::size_t> got = file.read_at(offset, std::as_writable_bytes(std::span(bytes)));
    if (!got) return got.error();
    return file.write_at(offset, std::as_bytes(std::span(bytes).first(*got)));
}

}  // namespace

namespace {

void note_commit(const CommitInLog& commit, LogEnd& found) {
    found.last_commit_offset = commit.offset;
    add_offsets(found.offsets, commit);
}

// Reads all whole commits from the reader's position; returns why the next one is not a commit, or nothing if none can
// follow.
Result<std::optional<Error>> read_commits(CommitReader& reader, std::uint64_t size, LogEnd& found) {
    while (!reader.closed() && reader.position() < size) {
        const Result<CommitInLog> commit = reader.next();
        if (!commit && commit.error().code != "damaged_log"_code) return commit.error();
        if (!commit) return std::optional(commit.error());
        note_commit(*commit, found);
    }
    return std::optional<Error>();
}

}  // namespace

Result<LogEnd> read_log_end(const File& file, const std::string& path, const SegmentHeader& header,
                            std::uint64_t size) {
    CommitReader reader(file, path, header, size);
    LogEnd found{{}, OffsetList(header.first_sequence()), 0, {}};
    for (;;) {
        const Result<std::optional<Error>> stopped = read_commits(reader, size, found);
        if (!stopped) return stopped.error();
        const Error objection =
            *stopped ? **stopped
                     : damaged_log(path, reader.position(), "data follows the commit that closes the segment");
        Result<std::optional<Cut>> cut = judge_end(file, path, header, size, reader, objection);
        const bool may_have_been_written = !cut && cut.error().code == "damaged_log"_code && *stopped;
        if (may_have_been_written) {
            const std::uint64_t position = reader.position();
            reader.discard_window();
            const Result<CommitInLog> commit = reader.next();
            if (commit) note_commit(*commit, found);
            if (reader.position() != position) continue;
        }
        if (!cut) return std::move(cut).error();
        found.cut = *std::move(cut);
        found.end = {reader.totals(), reader.link(), reader.position(), reader.closed()};
        return found;
    }
}

Status check_known_end(const std::string& directory, const std::optional<KnownEnd>& known_end,
                       const LogIdentity& identity, const Totals& totals) {
    const bool is_empty = totals.commit == 0;
    // A log of another instance replaced this one: a copy of the log on Kafka.
    if (!known_end || (!is_empty && known_end->instance != identity.instance)) return {};
    if (totals.commit >= known_end->commit) return {};
    std::string text = "the log in " + directory + " ends with record " + std::to_string(totals.sequence) +
                       ", but it has reached record " + std::to_string(known_end->sequence) + " before";
    if (const std::uint64_t missing = known_end->sequence - std::min(known_end->sequence, totals.sequence)) {
        text += ": at least " + std::to_string(missing) + " acknowledged records are missing";
    }
    return Error{"damaged_log"_code, text + std::string(kWithoutTheEnd)};
}

Result<FoundLog> find_log(FileSystem& files, const std::string& directory, const std::optional<KnownEnd>& known_end,
                          EndCheck end_check) {
    FoundLog log;
    const auto check_end = [&]() -> Status {
        Status reached = check_mark(directory, log, known_end);
        if (reached && log.segments.empty()) reached = check_known_end(directory, known_end, {}, {});
        if (reached && !log.segments.empty()) {
            const SegmentFile& newest = *log.segments.back();
            reached = check_known_end(directory, known_end, newest.header().identity, newest.end().totals);
        }
        if (reached || end_check == EndCheck::refuse) return reached;
        log.lost_end = reached.error();
        return {};
    };
    const Result<std::vector<std::string>> names = files.list(directory);
    if (!names) return names.error();
    std::vector<std::string> segment_names;
    for (const std::string& name : *names) {
        if (sequence_of_segment_name(name) != 0) segment_names.push_back(name);
        if (SpareSegments::is_spare_name(name)) log.spares.push_back(name);
        log.marked_newest = std::max(log.marked_newest, NewestMark::number_of(name));
    }
    Result<std::vector<Candidate>> candidates = open_segments(files, directory, segment_names);
    if (!candidates) return std::move(candidates).error();
    for (std::size_t i = 0; i + 1 < candidates->size(); ++i) {
        Candidate& candidate = (*candidates)[i];
        const SegmentHeader& next = (*candidates)[i + 1].header;
        const SegmentEnd end{next.before, next.link, 0, true};
        log.segments.push_back(std::make_shared<SegmentFile>(candidate.path, std::move(candidate.file),
                                                             candidate.header, end, std::nullopt));
    }
    if (candidates->empty()) {
        if (Status reached = check_end(); !reached) return std::move(reached).error();
        return log;
    }
    Candidate& newest = candidates->back();
    Result<LogEnd> end = read_log_end(*newest.file, newest.path, newest.header, newest.size);
    if (!end) return std::move(end).error();
    log.last_commit_offset = end->last_commit_offset;
    log.cut = std::move(end->cut);
    log.segments.push_back(std::make_shared<SegmentFile>(newest.path, std::move(newest.file), newest.header, end->end,
                                                         std::move(end->offsets)));
    if (Status reached = check_end(); !reached) return std::move(reached).error();
    return log;
}

Result<FoundLog> find_log_in_use(FileSystem& files, const std::string& directory,
                                 const std::optional<KnownEnd>& known_end) {
    if (Result<std::vector<std::string>> names = files.list(directory); !names) return std::move(names).error();
    // The front moves every few seconds, and so does the mark of the newest segment.
    constexpr int kTries = 20;
    for (int left = kTries;; --left) {
        Result<FoundLog> found = find_log(files, directory, known_end);
        const bool may_be_written_at =
            !found && (found.error().code == "damaged_log"_code || found.error().code == "not_found"_code);
        if (!may_be_written_at || left == 1) return found;
    }
}

Status forget_lost_segments(FileSystem& files, const std::string& directory, const FoundLog& log) {
    const std::uint64_t number = log.segments.empty() ? 0 : log.segments.back()->header().number;
    if (log.marked_newest <= number) return {};
    const std::string mark = directory + "/" + NewestMark::name_of(log.marked_newest);
    Status done = number == 0 ? files.remove(mark) : files.rename(mark, directory + "/" + NewestMark::name_of(number));
    return done ? files.sync_directory(directory) : done;
}

Status mend_log(FileSystem& files, const std::string& directory, FoundLog& log) {
    if (!log.segments.empty()) {
        SegmentFile& newest = *log.segments.back();
        Result<std::unique_ptr<File>> file = files.open(newest.path(), OpenMode::read_write);
        if (!file) return std::move(file).error();
        Status done;
        if (log.cut) done = write_zeros(**file, *log.cut);
        if (done && log.last_commit_offset != 0) {
            done = write_again(**file, log.last_commit_offset, newest.end().offset);
        }
        if (done) done = (*file)->sync_data();
        if (!done) return done;
        newest.use_for_appending(std::move(*file));
    }
    return files.sync_directory(directory);
}

Status verify_log(const FoundLog& log, const CommitVisitor& visitor) {
    for (const auto& segment : log.segments) {
        if (Status scanned = segment->scan(visitor); !scanned) return scanned;
    }
    return {};
}

}  // namespace duewheel
