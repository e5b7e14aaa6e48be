#include "journal/spare_segments.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/error_codes.h"
#include "journal/file_window.h"

namespace duewheel {
namespace {

constexpr std::string_view kSpareNameStart = "spare-";
constexpr std::string_view kFilling = ".filling";

std::optional<std::uint64_t> number_of(std::string_view name) {
    if (!name.starts_with(kSpareNameStart)) return std::nullopt;
    name.remove_prefix(kSpareNameStart.size());
    if (name.ends_with(kFilling)) name.remove_suffix(kFilling.size());
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
    return number;
}

Status fill(File& file, std::uint64_t from, std::uint64_t to) {
    const std::string zeros(std::min(kPieceBytes, to - from), '\0');
    while (from < to) {
        const std::uint64_t piece = std::min<std::uint64_t>(zeros.size(), to - from);
        const Status written = file.write_at(from, std::as_bytes(std::span(zeros).first(piece)));
        if (!written) return written;
        from += piece;
    }
    return file.sync_data();
}

// False also if the file ends before.
Result<bool> all_zeros(const File& file, std::uint64_t bytes) {
    std::string piece(std::min(kPieceBytes, bytes), '\0');
    for (std::uint64_t offset = 0; offset < bytes;) {
        const Result<std::size_t> got = file.read_at(offset, std::as_writable_bytes(std::span(piece)));
        if (!got) return got.error();
        const std::string_view read(piece.data(), std::min<std::uint64_t>(*got, bytes - offset));
        if (read.empty() || read.find_first_not_of('\0') != std::string_view::npos) return false;
        offset += read.size();
    }
    return true;
}

}  // namespace

SpareSegments::SpareSegments(FileSystem& files, std::string directory, std::uint64_t segment_bytes, std::size_t wanted)
    : files_(files), directory_(std::move(directory)), segment_bytes_(segment_bytes), wanted_(wanted) {}

bool SpareSegments::is_spare_name(std::string_view name) {
    return number_of(name).has_value();
}

Status SpareSegments::adopt(const std::vector<std::string>& names) {
    const std::lock_guard lock(mutex_);
    for (const std::string& name : names) {
        const std::optional<std::uint64_t> number = number_of(name);
        if (!number) continue;
        next_number_ = std::max(next_number_, *number + 1);
        if (name.ends_with(kFilling) || found_.size() >= wanted_) {
            if (Status removed = files_.remove(path(name)); !removed) return removed;
            continue;
        }
        Result<std::unique_ptr<File>> file = files_.open(path(name), OpenMode::read_write);
        if (!file) return std::move(file).error();
        const Result<std::uint64_t> size = (*file)->size();
        if (!size) return size.error();
        found_.push_back({name, std::move(*file), *size});
    }
    return {};
}

Status SpareSegments::prepare() {
    while (ready() < wanted_) {
        SpareSegment spare;
        if (pop(found_, spare)) {
            if (Status cleaned = clean(spare); !cleaned) return cleaned;
        } else {
            Result<SpareSegment> filled = fill_new(segment_bytes_);
            if (!filled) return std::move(filled).error();
            spare = std::move(*filled);
        }
        const std::lock_guard lock(mutex_);
        ready_.push_back(std::move(spare));
    }
    return {};
}

Result<SpareSegment> SpareSegments::take(std::uint64_t bytes, SpareSize size) {
    if (size == SpareSize::at_least) bytes = std::max(bytes, segment_bytes_);
    SpareSegment spare;
    if (!pop(ready_, spare)) {
        if (!pop(found_, spare)) return fill_new(bytes);
        if (Status cleaned = clean(spare); !cleaned) return std::move(cleaned).error();
    }
    if (size == SpareSize::exactly && spare.bytes > bytes) {
        return_spare(std::move(spare));
        return fill_new(bytes);
    }
    if (spare.bytes < bytes) {
        if (Status filled = fill(*spare.file, spare.bytes, bytes); !filled) {
            return_spare(std::move(spare));
            return std::move(filled).error();
        }
        spare.bytes = bytes;
    }
    return spare;
}

void SpareSegments::return_spare(SpareSegment spare) {
    const std::lock_guard lock(mutex_);
    found_.push_back(std::move(spare));
}

Result<bool> SpareSegments::give_up(std::size_t keep) {
    SpareSegment spare;
    {
        const std::lock_guard lock(mutex_);
        if (ready_.size() + found_.size() <= keep) return false;
        std::vector<SpareSegment>& from = found_.empty() ? ready_ : found_;
        spare = std::move(from.back());
        from.pop_back();
    }
    spare.file.reset();
    Status removed = files_.remove(path(spare.name));
    if (removed) removed = files_.sync_directory(directory_);  // many file systems give the space back only then
    if (!removed) return std::move(removed).error();
    return true;
}

std::size_t SpareSegments::ready() const {
    const std::lock_guard lock(mutex_);
    return ready_.size();
}

std::size_t SpareSegments::held() const {
    const std::lock_guard lock(mutex_);
    return ready_.size() + found_.size();
}

std::uint64_t SpareSegments::bytes() const {
    const std::lock_guard lock(mutex_);
    std::uint64_t sum = 0;
    for (const SpareSegment& spare : ready_) sum += spare.bytes;
    for (const SpareSegment& spare : found_) sum += spare.bytes;
    return sum;
}

Result<SpareSegment> SpareSegments::fill_new(std::uint64_t bytes) {
    const Result<std::uint64_t> free = files_.free_bytes(directory_);
    if (!free) return free.error();
    if (*free < bytes) {
        return Error{"no_space"_code, "a segment needs " + std::to_string(bytes) + " bytes, but only " +
                                          std::to_string(*free) + " are free on the disk of " + directory_};
    }
    std::string name(kSpareNameStart);
    {
        const std::lock_guard lock(mutex_);
        name += std::to_string(next_number_++);
    }
    const std::string filling = name + std::string(kFilling);
    Result<std::unique_ptr<File>> file = files_.open(path(filling), OpenMode::create);
    if (!file) return std::move(file).error();
    Status filled = fill(**file, 0, bytes);
    if (filled) filled = files_.rename(path(filling), path(name));
    if (!filled) {
        // What cannot be removed now is removed at the next start; the first error is the one to tell.
        static_cast<void>(files_.remove(path(filling)));
        return std::move(filled).error();
    }
    return SpareSegment{name, std::move(*file), bytes};
}

// Makes sure of the zeros of one with unknown content; removes it where that fails. Zeros that are there need no other
// sync: a spare has its name since they were synced. Others are written over what is there, because that takes no space
// on a full disk.
Status SpareSegments::clean(SpareSegment& spare) {
    const Result<std::uint64_t> size = spare.file->size();
    if (!size) return size.error();
    spare.bytes = segment_bytes_;
    const Result<bool> zeros = all_zeros(*spare.file, segment_bytes_);
    if (!zeros) return zeros.error();
    if (*zeros) return {};
    Status filled;
    if (*size > segment_bytes_) filled = spare.file->truncate(segment_bytes_);
    if (filled) filled = fill(*spare.file, 0, segment_bytes_);
    if (!filled) {
        spare.file.reset();
        static_cast<void>(files_.remove(path(spare.name)));
    }
    return filled;
}

bool SpareSegments::pop(std::vector<SpareSegment>& from, SpareSegment& into) {
    const std::lock_guard lock(mutex_);
    if (from.empty()) return false;
    into = std::move(from.back());
    from.pop_back();
    return true;
}

}  // namespace duewheel
