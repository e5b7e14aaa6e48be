// Appends to the audit log: one chain over files of a bounded size. Files beyond a number are removed when their lines
// are kAuditKeepMs old; beyond a larger number, they are removed before that, which is reported: the log does not fill
// the disk, and no client can push lines out of it unnoticed.
//
// A crash may leave an incomplete last line. open() overwrites it with a line that contains it, so that no repair is
// silent. A crash of the machine can lose the lines since the last sync().
//
// A file of a fixed size beside the log reserves space. On a full disk it is removed, so that about 100 more lines can
// be written: an operator frees space with administrative requests, such as a purge. sync() creates the file again.
//
// Single-threaded. It blocks on the disk, so a server calls it on a separate thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "access/audit_entry.h"
#include "base/file.h"
#include "base/status.h"

namespace duewheel {

struct AuditBounds {
    std::uint64_t file_bytes_max = 8u << 20;
    std::uint64_t files_kept = 16;  // whatever their age: 128 MiB, about 300,000 lines
    std::uint64_t files_max = 128;  // at least files_kept: 1 GiB

    // Up to a sixteenth of a small volume.
    static AuditBounds of_volume(std::uint64_t volume_bytes);
};

// What was removed before its time, since the writer was opened.
struct AuditLoss {
    std::uint64_t lines = 0;
    InstantMs whole_from_ms = 0;  // the log is whole from here on
};

class AuditWriter {
  public:
    // Continues the log in `directory`, or starts one. `files` must outlive the writer. Codes: those of FileSystem.
    static Result<std::unique_ptr<AuditWriter>> open(FileSystem& files, const std::string& directory, InstantMs now,
                                                     AuditBounds bounds = {});

    // Writes all entries in order, and starts a new file first if the current one is full. After an error none of them
    // is in the log, and the call can be repeated. Not durable before sync(). Codes: those of File.
    Status append(std::span<const AuditEntry> entries);
    // Codes: those of File. After an error the writer must not be used again.
    Status sync();

    const AuditChain& end() const { return chain_; }
    const AuditLoss& loss() const { return loss_; }
    // Bytes of the incomplete line that open() replaced; 0: none.
    std::uint64_t torn_bytes() const { return torn_bytes_; }
    // Whether open() found the last line damaged although it is complete. The log continues in a new file, and
    // verify_audit() reports the damaged line.
    bool found_damage() const { return found_damage_; }

  private:
    AuditWriter(FileSystem& files, std::string directory, AuditBounds bounds)
        : files_(files), directory_(std::move(directory)), bounds_(bounds) {}

    Status continue_file(std::uint64_t number, InstantMs now);
    Status continue_file_before();
    Status begin_file(std::uint64_t number, InstantMs now);
    Result<AuditEntry> first_entry(std::uint64_t number, InstantMs now);
    Result<std::optional<AuditLine>> first_line_to_keep(std::uint64_t number, InstantMs now);
    void count_loss();
    Status remove_old_files();
    Status append_once(std::span<const AuditEntry> entries);
    Status write(std::string_view text, const AuditChain& end);
    void make_reserve();
    bool free_reserve();
    std::string path_of(std::uint64_t number) const;

    FileSystem& files_;
    const std::string directory_;
    const AuditBounds bounds_;
    std::unique_ptr<File> file_;
    std::uint64_t number_ = 0;  // of the file; 0: none yet
    std::uint64_t size_ = 0;    // of its complete lines
    AuditChain chain_;
    AuditLoss loss_;
    AuditLoss begun_loss_;  // of the file that is being started
    bool has_reserve_ = false;
    std::uint64_t torn_bytes_ = 0;
    bool found_damage_ = false;
};

}  // namespace duewheel
