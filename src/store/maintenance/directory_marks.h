// Small files that mark a data directory as a backup, as an unfinished restore, or as restored; and the clock state of
// its server, and damage that was found in its log.
//
//     DIR/backup      a complete backup; no server starts on it, because its leases and ids would be the original's
//     DIR/restoring   a restore was interrupted
//     DIR/restored    what a server needs to keep apart from the original server of the backup
//     DIR/clock       what a start needs to detect a wall clock that was set meanwhile
//     DIR/backed-up   when the newest complete backup of this directory was begun, for the metric
//     DIR/end         how far the log has reached
//     DIR/damage      where the log was found to be damaged (known_damage.h)
//     DIR/running, DIR/failed   how the last run ended (run_end.h)
//
// Each is a few lines of text, `name value`, and their checksum, written under another name, synced and renamed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"
#include "journal/recovery.h"
#include "message/message.h"
#include "message/records/clock_mark.h"

namespace duewheel {

inline constexpr const char* kBackupMark = "backup";
inline constexpr const char* kRestoringMark = "restoring";
inline constexpr const char* kRestoredMark = "restored";
inline constexpr const char* kClockMark = "clock";
inline constexpr const char* kBackedUpMark = "backed-up";
inline constexpr const char* kEndMark = "end";
inline constexpr const char* kDamageMark = "damage";
inline constexpr const char* kRunningMark = "running";
inline constexpr const char* kFailedMark = "failed";

struct BackupMark {
    DueMs server_time_ms = 0;  // of its newest commit
    std::uint64_t sequence = 0;
    std::uint64_t pending = 0;

    bool operator==(const BackupMark&) const = default;
};

struct BackedUpMark {
    std::int64_t wall_time_ms = 0;

    bool operator==(const BackedUpMark&) const = default;
};

struct RestoredMark {
    std::uint64_t sequence = 0;  // of the backup: a log that has continued from there was started before
    // Until then the original may have delivered what was due: such messages are delivered as `maybe_delivered`.
    DueMs past_until_ms = 0;
    // The original may have assigned ids up to and including this counter.
    std::uint64_t ids_from = 0;
    // Part of the lease tokens, so that tokens of the original are refused, except those of its runs up to this commit
    // of the backup: their leases are those of the restored log. They have the salt of the original, zeros if it was no
    // restored one.
    std::array<std::byte, 16> salt{};
    std::uint64_t commit = 0;
    std::array<std::byte, 16> salt_before{};

    bool operator==(const RestoredMark&) const = default;
};

// How far the log reaches, stored outside of it: without that, a log whose end is gone looks like one that ends there.
// It is written at a clean stop, for each new segment, and when nothing was written for a while; a log may be longer.
struct EndMark {
    KnownEnd end;
    bool stopped = false;  // at a clean stop: nothing was written after it, until the next start

    bool operator==(const EndMark&) const = default;
};

// Durable on return. Codes: `no_space`, `io_error`.
Status write_mark(FileSystem& files, const std::string& directory, const BackupMark& mark);
Status write_mark(FileSystem& files, const std::string& directory, const RestoredMark& mark);
Status write_mark(FileSystem& files, const std::string& directory, const ClockMark& mark);
Status write_mark(FileSystem& files, const std::string& directory, const BackedUpMark& mark);
Status write_mark(FileSystem& files, const std::string& directory, const EndMark& mark);
Status write_mark(FileSystem& files, const std::string& directory, const DamagePlace& mark);
Status write_restoring_mark(FileSystem& files, const std::string& directory);
Status write_running_mark(FileSystem& files, const std::string& directory);

// Nothing if there is none. Codes: `damaged_mark`, `io_error`.
Result<std::optional<BackupMark>> read_backup_mark(FileSystem& files, const std::string& directory);
Result<std::optional<RestoredMark>> read_restored_mark(FileSystem& files, const std::string& directory);
Result<std::optional<ClockMark>> read_clock_mark(FileSystem& files, const std::string& directory);
Result<std::optional<BackedUpMark>> read_backed_up_mark(FileSystem& files, const std::string& directory);
Result<std::optional<EndMark>> read_end_mark(FileSystem& files, const std::string& directory);
Result<std::optional<DamagePlace>> read_damage_mark(FileSystem& files, const std::string& directory);
// Durable on return; a missing mark is no error.
Status remove_mark(FileSystem& files, const std::string& directory, const char* name);

// Whether a directory contains exactly the log. Code: `not_a_data_directory`, with what to do.
Status refuse_unfinished_restore(const FileSystem& files, const std::string& directory);

// Called before a server uses a directory. Code: `not_a_data_directory`, with what to do.
Status refuse_what_is_no_data_directory(const FileSystem& files, const std::string& directory);

// Called before the log of a directory is written alone. A node of a replicated log has the file DIR/topic
// (replication/position_file.h). Code: `log_is_replicated`, with what to do.
Status refuse_replicated_log(const FileSystem& files, const std::string& directory);

}  // namespace duewheel
