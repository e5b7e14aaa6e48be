// Backups of a data directory: `duewheel backup` and `duewheel restore`.
//
// A backup is the log, with a mark that it is complete (directory_marks.h); everything else is built from the log by
// the next start. It can be made of a directory that a server uses, and changes nothing there. Every byte of it is
// verified before it gets its mark. Like the data directory it contains the key of lease tokens, and no
// other secret.
//
// A restored directory is separate from the original, which may have continued since the backup: its later leases are
// void, ids start far above those that the original may have assigned, and messages that were due before the restore
// are delivered as `maybe_delivered`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/file.h"
#include "journal/log_copy.h"
#include "store/maintenance/data_check.h"
#include "store/maintenance/directory_marks.h"

namespace duewheel {

// Ids that the original may assign after the backup, of 2^43 in all: ten thousand a second for a day.
inline constexpr std::uint64_t kIdsOfTheOriginal = 1'000'000'000;

struct BackupReport {
    DataReport data;  // of the backup, or of the restored directory
    BackupMark mark;
    bool clock_untrusted = false;  // by the original server; a server on the copy starts with that
};

// `backup`: a directory that does not exist yet, or is empty. Codes: `not_empty`, `not_found` (there is no log in
// `data`), `not_a_data_directory`, and those of copy_log() and check_data_directory(). After an error, `backup` has no
// mark and is not a backup.
Result<BackupReport> make_backup(FileSystem& files, const std::string& data, const std::string& backup,
                                 const CopyProgress& progress = {});

// `now_ms`: the wall clock; `salt`: random, and secret. Codes: `not_a_backup`, `not_empty`, `damaged_mark`, and as
// above. After an error no server starts on `data`.
Result<BackupReport> restore_backup(FileSystem& files, const std::string& backup, const std::string& data, DueMs now_ms,
                                    const std::array<std::byte, 16>& salt, const CopyProgress& progress = {});

}  // namespace duewheel
