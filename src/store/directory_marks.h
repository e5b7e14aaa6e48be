// Small files that say what a data directory is: a backup, a restore that is not finished, or restored; and what its
// server knows of time.
//
//     DIR/backup      a whole backup; no server starts on it, because its leases and ids would be those of the original
//     DIR/restoring   a restore was interrupted
//     DIR/restored    what a server needs to know to stand apart from the one that the backup was made of
//     DIR/clock       what a start needs to know so as not to believe a wall clock that was set meanwhile
//
// Each is a few lines of text, `name value`, and a checksum of them, written under another name, synced and renamed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"
#include "message/clock_mark.h"
#include "message/message.h"

namespace duewheel {

inline constexpr const char* kBackupMark = "backup";
inline constexpr const char* kRestoringMark = "restoring";
inline constexpr const char* kRestoredMark = "restored";
inline constexpr const char* kClockMark = "clock";

struct BackupMark {
    DueMs server_time_ms = 0;  // of its newest commit
    std::uint64_t sequence = 0;
    std::uint64_t pending = 0;

    bool operator==(const BackupMark&) const = default;
};

struct RestoredMark {
    std::uint64_t sequence = 0;  // of the backup: a log that has gone on from there was started on
    // The original may have handed out until then what was due: it is handed out as `maybe_delivered`.
    DueMs past_until_ms = 0;
    // The original may have given out ids up to and with this counter.
    std::uint64_t ids_from = 0;
    // Goes into the tokens of leases, so that none of the original's is taken.
    std::array<std::byte, 16> salt{};

    bool operator==(const RestoredMark&) const = default;
};

// Durable on return. Codes: `no_space`, `io_error`.
Status write_mark(FileSystem& files, const std::string& directory, const BackupMark& mark);
Status write_mark(FileSystem& files, const std::string& directory, const RestoredMark& mark);
Status write_mark(FileSystem& files, const std::string& directory, const ClockMark& mark);
Status write_restoring_mark(FileSystem& files, const std::string& directory);

// Nothing where there is none. Codes: `damaged_mark`, `io_error`.
Result<std::optional<BackupMark>> read_backup_mark(FileSystem& files, const std::string& directory);
Result<std::optional<RestoredMark>> read_restored_mark(FileSystem& files, const std::string& directory);
Result<std::optional<ClockMark>> read_clock_mark(FileSystem& files, const std::string& directory);

// Whether the log in a directory is all of one. Code: `not_a_data_directory`, saying what to do.
Status refuse_unfinished_restore(const FileSystem& files, const std::string& directory);

// Before a server does anything in a directory. Code: `not_a_data_directory`, saying what to do.
Status refuse_what_is_no_data_directory(const FileSystem& files, const std::string& directory);

}  // namespace duewheel
