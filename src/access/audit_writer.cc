#include "access/audit_writer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "access/audit_files.h"
#include "access/sha256.h"
#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr std::string_view kReserveName = "reserve";
constexpr std::size_t kReserveBytes = 64u << 10;

ConstBytes bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

std::optional<AuditLine> last_readable(std::string_view content) {
    std::optional<AuditLine> last;
    for_each_audit_line(content, [&](std::uint64_t, std::string_view line, bool is_whole) {
        if (!is_whole) return false;
        if (Result<AuditLine> read = decode_audit_line(line)) last = *std::move(read);
        return true;
    });
    return last;
}

AuditEntry repair_entry(std::string_view torn, InstantMs now) {
    AuditEntry entry;
    entry.time_ms = now;
    entry.verb = kAuditRepairVerb;
    entry.torn_bytes = torn.size();
    entry.torn = torn;
    return entry;
}

}  // namespace

AuditBounds AuditBounds::of_volume(std::uint64_t volume_bytes) {
    AuditBounds bounds;
    if (volume_bytes == 0) return bounds;  // unknown
    bounds.files_max = std::clamp(volume_bytes / 16 / bounds.file_bytes_max, bounds.files_kept, bounds.files_max);
    return bounds;
}

std::string AuditWriter::path_of(std::uint64_t number) const {
    return directory_ + "/" + audit_file_name(number);
}

Result<std::unique_ptr<AuditWriter>> AuditWriter::open(FileSystem& files, const std::string& directory, InstantMs now,
                                                       AuditBounds bounds) {
    auto writer = std::unique_ptr<AuditWriter>(new AuditWriter(files, directory, bounds));
    if (Status made = files.make_directories(directory); !made) return std::move(made).error();
    const Result<std::vector<std::uint64_t>> numbers = audit_files(files, directory);
    if (!numbers) return numbers.error();
    Status opened = numbers->empty() ? writer->begin_file(1, now) : writer->continue_file(numbers->back(), now);
    if (opened) opened = writer->remove_old_files();
    if (!opened) return std::move(opened).error();
    static_cast<void>(writer->free_reserve());  // a crash may have left it
    writer->make_reserve();
    return writer;
}

Status AuditWriter::continue_file(std::uint64_t number, InstantMs now) {
    const Result<std::string> content = read_audit_file(files_, directory_, number);
    if (!content) return content.error();
    Result<std::unique_ptr<File>> file = files_.open(path_of(number), OpenMode::read_write);
    if (!file) return std::move(file).error();
    file_ = *std::move(file);
    number_ = number;
    size_ = content->rfind('\n') + 1;  // 0 if there is none
    const std::string_view torn = std::string_view(*content).substr(size_);
    torn_bytes_ = torn.size();
    std::vector<AuditEntry> missing;
    if (size_ == 0) {
        if (Status found = continue_file_before(); !found) return found;
        Result<AuditEntry> first = first_entry(number_, now);
        if (!first) return std::move(first).error();
        missing.push_back(*std::move(first));
    } else {
        const std::size_t last_begin = size_ < 2 ? 0 : content->rfind('\n', size_ - 2) + 1;
        const std::string_view last = std::string_view(*content).substr(last_begin, size_ - 1 - last_begin);
        const Result<AuditLine> read = decode_audit_line(last);
        found_damage_ = !read;
        if (!read) {
            const std::optional<AuditLine> before = last_readable(std::string_view(*content).substr(0, size_));
            chain_ = {before ? before->at.seq + 1 : 1, sha256_hex(last)};
            return begin_file(number_ + 1, now);
        }
        chain_ = read->at;
    }
    if (!torn.empty()) missing.push_back(repair_entry(torn, now));
    if (missing.empty()) return {};
    AuditChain end = chain_;
    std::string lines;
    for (const AuditEntry& entry : missing) lines += encode_audit_line(entry, end);
    // One write over the torn line: after a second crash it is repaired again.
    if (Status written = write(lines, end); !written) return written;
    count_loss();
    if (Status cut = file_->truncate(size_); !cut) return cut;  // the torn line may have been longer
    return sync();
}

// A crash came before the first line of this file was complete: it continues the chain of the previous file.
Status AuditWriter::continue_file_before() {
    if (number_ == 1) return {};
    const Result<std::string> before = read_audit_file(files_, directory_, number_ - 1);
    if (!before && before.error().code != "not_found"_code) return before.error();
    const std::optional<AuditLine> last = before ? last_readable(*before) : std::nullopt;
    found_damage_ = !last;
    if (last) chain_ = last->at;
    return {};
}

// States what rotation removes when this file is started, before it is removed.
Result<AuditEntry> AuditWriter::first_entry(std::uint64_t number, InstantMs now) {
    AuditEntry entry;
    entry.time_ms = now;
    entry.verb = kAuditFileVerb;
    entry.file = number;
    const Result<std::optional<AuditLine>> oldest = first_line_to_keep(number, now);
    if (!oldest) return oldest.error();
    if (!*oldest || (*oldest)->entry.file == 1) return entry;
    entry.removed_files_through = (*oldest)->entry.file - 1;
    entry.removed_seq = (*oldest)->at.seq - 1;
    entry.removed_hash = (*oldest)->previous;
    return entry;
}

// The first line of the oldest file that stays when the file `number` begins. None: there is no other file, or the
// first line of the oldest ones cannot be read. Such damage must not look like a rotation.
Result<std::optional<AuditLine>> AuditWriter::first_line_to_keep(std::uint64_t number, InstantMs now) {
    const Result<std::vector<std::uint64_t>> numbers = audit_files(files_, directory_);
    if (!numbers) return numbers.error();
    begun_loss_ = {};
    std::optional<AuditLine> before;  // of the file before `each`
    for (const std::uint64_t each : *numbers) {
        if (each >= number) break;
        const Result<std::string> content = read_audit_file(files_, directory_, each);
        if (!content) return content.error();
        const Result<AuditLine> first = first_audit_line(*content);
        if (!first || first->entry.file != each) return std::optional<AuditLine>();
        // The lines of a file end where those of the next one begin.
        const bool is_young = now - first->entry.time_ms < kAuditKeepMs;
        if (before && is_young) {
            if (number - before->entry.file < bounds_.files_max) return before;
            begun_loss_.lines += first->at.seq - before->at.seq;
            begun_loss_.whole_from_ms = first->entry.time_ms;
        }
        if (number - each < bounds_.files_kept) return std::optional(*first);
        before = *first;
    }
    return before;
}

Status AuditWriter::begin_file(std::uint64_t number, InstantMs now) {
    const Result<AuditEntry> first = first_entry(number, now);
    if (!first) return first.error();
    Result<std::unique_ptr<File>> file = files_.open(path_of(number), OpenMode::create);
    if (!file) return std::move(file).error();
    AuditChain end = chain_;
    const std::string line = encode_audit_line(*first, end);
    Status done = (*file)->write_at(0, bytes_of(line));
    if (done) done = (*file)->sync_data();
    if (done) done = files_.sync_directory(directory_);
    if (!done) {
        static_cast<void>(files_.remove(path_of(number)));  // for the next attempt; if it stays, open() continues it
        return done;
    }
    file_ = *std::move(file);
    number_ = number;
    size_ = line.size();
    chain_ = std::move(end);
    count_loss();
    return {};
}

// The file states what is removed.
void AuditWriter::count_loss() {
    loss_.lines += begun_loss_.lines;
    if (begun_loss_.lines > 0) loss_.whole_from_ms = begun_loss_.whole_from_ms;
    begun_loss_ = {};
}

Status AuditWriter::remove_old_files() {
    const Result<std::vector<std::uint64_t>> numbers = audit_files(files_, directory_);
    if (!numbers) return numbers.error();
    const Result<std::string> newest = read_audit_file(files_, directory_, number_);
    if (!newest) return newest.error();
    const Result<AuditLine> first = first_audit_line(*newest);
    for (const std::uint64_t number : *numbers) {
        if (!first || number > first->entry.removed_files_through) break;
        if (Status removed = files_.remove(path_of(number)); !removed) return removed;
    }
    return {};
}

Status AuditWriter::write(std::string_view text, const AuditChain& end) {
    if (Status written = file_->write_at(size_, bytes_of(text)); !written) {
        // A reader must not find a partial line. If it cannot be cut now, the next call overwrites it.
        static_cast<void>(file_->truncate(size_));
        return written;
    }
    size_ += text.size();
    chain_ = end;
    return {};
}

Status AuditWriter::append(std::span<const AuditEntry> entries) {
    if (entries.empty()) return {};
    Status done = append_once(entries);
    if (!done && done.error().code == "no_space"_code && free_reserve()) done = append_once(entries);
    return done;
}

Status AuditWriter::append_once(std::span<const AuditEntry> entries) {
    if (size_ >= bounds_.file_bytes_max) {
        if (Status synced = sync(); !synced) return synced;
        if (Status begun = begin_file(number_ + 1, entries.front().time_ms); !begun) return begun;
        if (Status removed = remove_old_files(); !removed) return removed;
    }
    AuditChain end = chain_;
    std::string text;
    for (const AuditEntry& entry : entries) text += encode_audit_line(entry, end);
    return write(text, end);
}

Status AuditWriter::sync() {
    make_reserve();
    return file_->sync_data();
}

// All of it or nothing. It need not be durable: open() creates it again.
void AuditWriter::make_reserve() {
    if (has_reserve_) return;
    const Result<std::unique_ptr<File>> file =
        files_.open(directory_ + "/" + std::string(kReserveName), OpenMode::create);
    if (!file) return;
    has_reserve_ = (*file)->write_at(0, bytes_of(std::string(kReserveBytes, '\0'))).ok();
    if (!has_reserve_) static_cast<void>(free_reserve());
}

bool AuditWriter::free_reserve() {
    has_reserve_ = false;
    // A file system with a journal frees the blocks only when the removal is durable.
    return files_.remove(directory_ + "/" + std::string(kReserveName)).ok() && files_.sync_directory(directory_).ok();
}

}  // namespace duewheel
