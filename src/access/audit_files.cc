#include "access/audit_files.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

#include "base/error_codes.h"
#include "base/read_file.h"

namespace duewheel {
namespace {

constexpr std::string_view kFilePrefix = "audit-";
constexpr std::string_view kFileSuffix = ".jsonl";
constexpr int kNumberDigits = 6;

std::optional<std::uint64_t> number_of(std::string_view name) {
    if (!name.starts_with(kFilePrefix) || !name.ends_with(kFileSuffix)) return std::nullopt;
    const std::string_view digits =
        name.substr(kFilePrefix.size(), name.size() - kFilePrefix.size() - kFileSuffix.size());
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || number == 0 || audit_file_name(number) != name) return std::nullopt;
    return number;
}

class Verification {
  public:
    explicit Verification(AuditReport& report) : report_(report) {}

    // Continues after the files that rotation removed, as the newest file states.
    void begin_after(const AuditEntry& newest) {
        removed_ = newest.removed_files_through;
        removed_at_ms_ = newest.time_ms;
        removed_end_ = {newest.removed_seq, newest.removed_hash};
    }
    bool is_removed(std::uint64_t number) const { return number <= removed_; }

    // False at the first break.
    bool see_file(std::uint64_t number, std::string_view content) {
        file_ = audit_file_name(number);
        if (report_.files == 0 && number != removed_ + 1) {
            return fail(0, audit_file_name(removed_ + 1) + " is missing, and no file says that rotation removed it");
        }
        if (report_.files > 0 && number != number_ + 1) {
            file_ = audit_file_name(number_ + 1);
            return fail(0, "the file is missing");
        }
        if (report_.files == 0 && removed_ > 0) report_.end = removed_end_;
        number_ = number;
        ++report_.files;
        if (content.empty()) return fail_torn(1);
        bool holds = true;
        for_each_audit_line(content, [&](std::uint64_t line, std::string_view text, bool is_whole) {
            return holds = see_line(line, text, is_whole);
        });
        return holds;
    }

  private:
    bool see_line(std::uint64_t line, std::string_view text, bool is_whole) {
        if (!is_whole) return fail_torn(line);
        const Result<AuditLine> read = decode_audit_line(text);
        if (!read) return fail(line, read.error().message);
        if (read->previous != report_.end.hash) return fail(line, "it does not follow the previous line");
        if (read->at.seq != report_.end.seq + 1) {
            return fail(line, "its number is " + std::to_string(read->at.seq) + " and not " +
                                  std::to_string(report_.end.seq + 1));
        }
        const bool begins_file = read->entry.verb == kAuditFileVerb;
        if (begins_file != (line == 1) || (begins_file && read->entry.file != number_)) {
            return fail(line, "the first line of each file, and no other line, must state the number of the file");
        }
        if (report_.lines == 0) {
            report_.first_seq = read->at.seq;
            report_.first_ms = read->entry.time_ms;
            report_.lost_young_lines = removed_ > 0 && removed_at_ms_ - report_.first_ms < kAuditKeepMs;
        }
        ++report_.lines;
        if (read->entry.verb == kAuditRepairVerb) ++report_.repairs;
        report_.end = read->at;
        return true;
    }

    bool fail_torn(std::uint64_t line) {
        fail(line,
             "the last line is incomplete; the next start of the server replaces it by a line with the verb "
             "audit.repair");
        report_.first_break->is_torn_end = true;
        return false;
    }
    bool fail(std::uint64_t line, std::string why) {
        report_.first_break = AuditBreak{file_, line, std::move(why), false};
        return false;
    }

    AuditReport& report_;
    std::uint64_t removed_ = 0;
    InstantMs removed_at_ms_ = 0;
    AuditChain removed_end_;
    std::uint64_t number_ = 0;
    std::string file_;
};

}  // namespace

std::string audit_directory(const std::string& data_directory) {
    return data_directory + "/audit";
}

std::string audit_file_name(std::uint64_t number) {
    std::string digits = std::to_string(number);
    if (digits.size() < kNumberDigits) digits.insert(0, kNumberDigits - digits.size(), '0');
    return std::string(kFilePrefix) + digits + std::string(kFileSuffix);
}

Result<std::vector<std::uint64_t>> audit_files(const FileSystem& files, const std::string& directory) {
    const Result<std::vector<std::string>> names = files.list(directory);
    if (!names) return names.error();
    std::vector<std::uint64_t> numbers;
    for (const std::string& name : *names) {
        if (const std::optional<std::uint64_t> number = number_of(name)) numbers.push_back(*number);
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

Result<std::string> read_audit_file(FileSystem& files, const std::string& directory, std::uint64_t number) {
    const Result<std::unique_ptr<File>> file = files.open(directory + "/" + audit_file_name(number), OpenMode::read);
    if (!file) return file.error();
    return read_file(**file);
}

Result<AuditLine> first_audit_line(std::string_view content) {
    return decode_audit_line(content.substr(0, content.find('\n')));
}

void for_each_audit_line(std::string_view content,
                         const std::function<bool(std::uint64_t, std::string_view, bool)>& see) {
    for (std::uint64_t number = 1; !content.empty(); ++number) {
        const std::size_t end = content.find('\n');
        const bool is_whole = end != std::string_view::npos;
        if (!see(number, content.substr(0, end), is_whole) || !is_whole) return;
        content.remove_prefix(end + 1);
    }
}

Result<AuditReport> verify_audit(FileSystem& files, const std::string& directory) {
    const Result<std::vector<std::uint64_t>> numbers = audit_files(files, directory);
    if (numbers && numbers->empty()) {
        return Error{
            "no_audit_log"_code,
            directory + " contains no audit log; name the data directory of a server with the setting audit.enabled"};
    }
    if (!numbers) return numbers.error();
    AuditReport report;
    Verification verification(report);
    // From the newest file that states it. A file without a readable first line is reported when the check reaches it.
    for (auto number = numbers->rbegin(); number != numbers->rend(); ++number) {
        const Result<std::string> content = read_audit_file(files, directory, *number);
        if (!content) return content.error();
        const Result<AuditLine> first = first_audit_line(*content);
        if (!first) continue;
        verification.begin_after(first->entry);
        break;
    }
    for (const std::uint64_t number : *numbers) {
        if (verification.is_removed(number)) continue;
        const Result<std::string> content = read_audit_file(files, directory, number);
        if (!content) return content.error();
        if (!verification.see_file(number, *content)) break;
    }
    return report;
}

}  // namespace duewheel
