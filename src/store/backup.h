// Backups of a data directory: what `duewheel backup` and `duewheel restore` do.
//
// A backup is the log, with a mark that says that it is whole (directory_marks.h); everything else is built from the
// log by the next start. It is made of a directory on which a server runs, or of one on which none does, and changes
// nothing there; it is verified, every byte of it, before it is called one. It holds the key of lease tokens, as the
// data directory does, and no other secret.
//
// What is restored stands apart from the original, which may go on or has gone on since the backup: its leases are
// void, ids begin far above those that the original may have given out, and whatever was due until the restore is
// handed out as `maybe_delivered`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/file.h"
#include "journal/log_copy.h"
#include "store/data_check.h"
#include "store/directory_marks.h"

namespace duewheel {

// Ids that the original may give out after the backup, of 2^43 in all: ten thousand a second for a day.
inline constexpr std::uint64_t kIdsOfTheOriginal = 1'000'000'000;

struct BackupReport {
    DataReport data;  // of the backup, or of the restored directory
    BackupMark mark;
    bool clock_untrusted = false;  // by the server of the original; one on the copy begins with that
};

// `backup`: a directory that is not there yet, or empty. Codes: `not_empty`, `not_found` (there is no log in `data`),
// `not_a_data_directory`, and those of copy_log() and check_data_directory(). After an error what is in `backup` is no
// backup: it has no mark.
Result<BackupReport> make_backup(FileSystem& files, const std::string& data, const std::string& backup,
                                 const CopyProgress& progress = {});

// `now_ms`: the wall clock; `salt`: random, and secret. Codes: `not_a_backup`, `not_empty`, `damaged_mark`, and as
// above. After an error no server starts on what is in `data`.
Result<BackupReport> restore_backup(FileSystem& files, const std::string& backup, const std::string& data, DueMs now_ms,
                                    const std::array<std::byte, 16>& salt, const CopyProgress& progress = {});

}  // namespace duewheel
