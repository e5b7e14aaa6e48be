#include "journal/log_copy.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/error_codes.h"
#include "journal/file_window.h"
#include "journal/newest_mark.h"
#include "journal/recovery.h"

namespace duewheel {
namespace {

// The front moves every few seconds, and opening takes milliseconds.
constexpr int kTries = 100;

struct Source {
    std::string name;
    std::unique_ptr<File> file;
    SegmentHeader header;
};

Result<std::vector<std::string>> segment_names(const FileSystem& files, const std::string& directory) {
    Result<std::vector<std::string>> names = files.list(directory);
    if (!names) return names;
    std::erase_if(*names, [](const std::string& name) { return sequence_of_segment_name(name) == 0; });
    return names;
}

Result<SegmentHeader> read_header(const File& file, const std::string& path) {
    std::string bytes(kSegmentHeaderBytes, '\0');
    const Result<std::size_t> got = file.read_at(0, std::as_writable_bytes(std::span(bytes)));
    if (!got) return got.error();
    bytes.resize(*got);
    Result<SegmentHeader> header = decode_segment_header(bytes);
    if (header || header.error().code == "newer_format"_code) return header;
    return damaged_log(path, 0, header.error().message);
}

// Nothing if the front moved meanwhile.
Result<std::optional<std::vector<Source>>> open_all(FileSystem& files, const std::string& directory) {
    const Result<std::vector<std::string>> names = segment_names(files, directory);
    if (!names) return names.error();
    std::vector<Source> sources;
    for (const std::string& name : *names) {
        Result<std::unique_ptr<File>> file = files.open(directory + "/" + name, OpenMode::read);
        if (!file && file.error().code == "not_found"_code) return std::optional<std::vector<Source>>();
        if (!file) return std::move(file).error();
        Result<SegmentHeader> header = read_header(**file, directory + "/" + name);
        if (!header) return std::move(header).error();
        sources.push_back({name, *std::move(file), *header});
    }
    const Result<std::vector<std::string>> again = segment_names(files, directory);
    if (!again) return again.error();
    const bool has_moved = !names->empty() && (again->empty() || again->front() != names->front());
    if (has_moved) return std::optional<std::vector<Source>>();
    return std::optional(std::move(sources));
}

Result<std::vector<Source>> open_sources(FileSystem& files, const std::string& directory) {
    for (int left = kTries; left > 0; --left) {
        Result<std::optional<std::vector<Source>>> sources = open_all(files, directory);
        if (!sources) return std::move(sources).error();
        if (!*sources) continue;
        if ((*sources)->empty())
            return Error{"not_found"_code, "there is no log in " + directory + ": it contains no segment (seg-*)"};
        return std::move(**sources);
    }
    return Error{"io_error"_code, "the files in " + directory + " keep changing; try again"};
}

class Copy {
  public:
    Copy(std::uint64_t all, const CopyProgress& progress) : all_(all), progress_(progress) {}

    // Copies the bytes up to `end`, and writes zeros after them up to `size`, so that commits have their space.
    Status copy(const File& from, File& to, std::uint64_t end, std::uint64_t size) {
        std::string piece;
        for (std::uint64_t at = 0; at < size; at += piece.size()) {
            piece.assign(std::min(kPieceBytes, size - at), '\0');
            if (at < end) {
                const std::uint64_t wanted = std::min<std::uint64_t>(piece.size(), end - at);
                const Result<std::size_t> got =
                    from.read_at(at, std::as_writable_bytes(std::span(piece).first(wanted)));
                if (!got) return got.error();
                if (*got < wanted) return Error{"damaged_log"_code, "a segment is shorter than its header says"};
            }
            if (Status written = to.write_at(at, std::as_bytes(std::span(piece))); !written) return written;
            done_ += piece.size();
            if (progress_) progress_(done_, all_);
        }
        return to.sync_data();
    }

  private:
    std::uint64_t done_ = 0;
    const std::uint64_t all_;
    const CopyProgress& progress_;
};

}  // namespace

Result<LogCopy> copy_log(FileSystem& files, const std::string& from, const std::string& to,
                         const CopyProgress& progress) {
    Result<std::vector<Source>> sources = open_sources(files, from);
    if (!sources) return std::move(sources).error();
    LogCopy made;
    made.identity = sources->front().header.identity;
    for (const Source& source : *sources) made.bytes += source.header.segment_bytes;
    Copy copy(made.bytes, progress);
    for (const Source& source : *sources) {
        const bool is_newest = &source == &sources->back();
        std::uint64_t end = source.header.segment_bytes;
        if (is_newest) {
            const Result<LogEnd> found =
                read_log_end(*source.file, from + "/" + source.name, source.header, source.header.segment_bytes);
            if (!found) return found.error();
            end = found->end.offset;
            made.totals = found->end.totals;
        }
        Result<std::unique_ptr<File>> target = files.open(to + "/" + source.name, OpenMode::create);
        if (!target) return std::move(target).error();
        if (Status copied = copy.copy(*source.file, **target, end, source.header.segment_bytes); !copied) {
            return Error{copied.error().code, copied.error().message + " (copying " + from + "/" + source.name + ")"};
        }
        ++made.segments;
    }
    if (Status marked = NewestMark(files, to, 0).raise(sources->back().header.number); !marked)
        return std::move(marked).error();
    if (Status synced = files.sync_directory(to); !synced) return std::move(synced).error();
    return made;
}

}  // namespace duewheel
