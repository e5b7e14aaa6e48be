#include "access/audit_writer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "access/audit_files.h"
#include "access/sha256.h"

namespace duewheel {
namespace {

constexpr std::string_view kReserveName = "reserve";
constexpr std::size_t kReserveBytes = 64u << 10;

ConstBytes bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

// The last readable line of `content`.
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
    if (Status cut = file_->truncate(size_); !cut) return cut;  // the torn line may have been longer
    return sync();
}

// A crash came before the first line of this file was complete: it continues the chain of the previous file.
Status AuditWriter::continue_file_before() {
    if (number_ == 1) return {};
    const Result<std::string> before = read_audit_file(files_, directory_, number_ - 1);
    if (!before && before.error().code != "not_found") return before.error();
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
    const Result<std::vector<std::uint64_t>> numbers = audit_files(files_, directory_);
    if (!numbers) return numbers.error();
    const std::uint64_t first_kept = number > bounds_.files_max ? number - bounds_.files_max + 1 : 1;
    const auto oldest = std::find_if(numbers->begin(), numbers->end(),
                                     [&](std::uint64_t each) { return each >= first_kept && each < number; });
    if (oldest == numbers->end() || *oldest == 1) return entry;
    const Result<std::string> content = read_audit_file(files_, directory_, *oldest);
    if (!content) return content.error();
    const Result<AuditLine> line = decode_audit_line(std::string_view(*content).substr(0, content->find('\n')));
    if (!line) return entry;  // damage, which must not look like a rotation
    entry.removed_files_through = *oldest - 1;
    entry.removed_seq = line->at.seq - 1;
    entry.removed_hash = line->previous;
    return entry;
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
    return {};
}

Status AuditWriter::remove_old_files() {
    const Result<std::vector<std::uint64_t>> numbers = audit_files(files_, directory_);
    if (!numbers) return numbers.error();
    const Result<std::string> newest = read_audit_file(files_, directory_, number_);
    if (!newest) return newest.error();
    const Result<AuditLine> first = decode_audit_line(std::string_view(*newest).substr(0, newest->find('\n')));
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
    if (!done && done.error().code == "no_space" && free_reserve()) done = append_once(entries);
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
