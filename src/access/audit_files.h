// The files of the audit log: `audit-000001.jsonl` and so on in the folder `audit` of the data directory, and the
// verification of their chain.
//
// The verification detects a changed, inserted, reordered or removed line, and a removed file. It cannot detect that
// the newest lines were truncated, or that a user with write access rewrote the whole log: compare the last hash with
// one that was kept elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/audit_entry.h"
#include "base/file.h"
#include "base/status.h"

namespace duewheel {

// How long lines are kept, unless the log has its maximum size before (audit_writer.h).
inline constexpr std::int64_t kAuditKeepMs = std::int64_t{90} * 24 * 60 * 60 * 1000;

// The folder of the audit log.
std::string audit_directory(const std::string& data_directory);
std::string audit_file_name(std::uint64_t number);

// The numbers of the files, ascending. Other files of the folder are ignored. Codes: those of FileSystem::list().
Result<std::vector<std::uint64_t>> audit_files(const FileSystem& files, const std::string& directory);

// The decoded first line of the content of a file, which states its number. Code: `damaged_audit_line`.
Result<AuditLine> first_audit_line(std::string_view content);

// The whole content. Codes: those of FileSystem::open(), `not_found` if rotation has just removed the file.
Result<std::string> read_audit_file(FileSystem& files, const std::string& directory, std::uint64_t number);

// Each line of the content with its number, from 1, and without its line feed; `is_whole` is false for a last line
// without one. Stops when `see` returns false.
void for_each_audit_line(std::string_view content,
                         const std::function<bool(std::uint64_t number, std::string_view line, bool is_whole)>& see);

// The first position at which the chain is broken.
struct AuditBreak {
    std::string file;
    std::uint64_t line = 0;  // 0: the file as a whole
    std::string why;
    bool is_torn_end = false;  // the last line is incomplete: a crash, or the server is just writing it
};

struct AuditReport {
    std::uint64_t files = 0;
    std::uint64_t lines = 0;
    std::uint64_t repairs = 0;  // lines that report that an incomplete line was replaced
    std::uint64_t first_seq = 0;
    InstantMs first_ms = 0;  // of the first line that is left: the log is whole from then on
    // Rotation removed lines before they were kAuditKeepMs old, because the log had its maximum size.
    bool lost_young_lines = false;
    AuditChain end;  // of the last line
    std::optional<AuditBreak> first_break;
};

// Reads all files. Codes: those of the functions above, `no_audit_log`. While a server writes, call it again on
// `not_found` or if the break is a torn end. Memory: the largest file.
Result<AuditReport> verify_audit(FileSystem& files, const std::string& directory);

}  // namespace duewheel
