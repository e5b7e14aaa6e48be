// `duewheel check DIR`: verifies a data directory that no server uses. It reads everything and changes no data (RocksDB
// maintains its own files when it opens the index). Damage to the log is remembered for the next start, and forgotten
// if there is none any more (known_damage.h).
//
// The log: every checksum, sequence and footer, and the chain from the first segment to the last. The contents of each
// footer and each relocation-done record are recomputed from the records; nothing is missing before its front
// (log_audit.h). The index: its messages are those of the log at its position, the record of every needed one is in the
// log, the counts of needed records are right (index_proof.h), every stored byte has its checksum, and each table
// contains what follows from the rows by id (index_audit.h).
//
// Messages before a deleted front cannot be recomputed if there is no complete index: the next start builds one, and
// refuses it if it does not match the log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/status.h"
#include "journal/recovery.h"

namespace duewheel {

struct DataReport {
    std::uint64_t segments = 0;
    std::uint64_t commits = 0;
    std::uint64_t records = 0;
    std::uint64_t log_bytes = 0;
    std::uint64_t pending = 0;
    std::uint64_t sequence = 0;
    std::optional<Cut> torn_end;    // a start would remove it; zeros over acknowledged bytes look the same
    bool has_recorded_end = false;  // it ends where a clean stop has recorded it; otherwise a lost end may go unnoticed
    bool has_index = false;
    std::uint64_t index_sequence = 0;  // position in the log up to which the index goes
    std::uint64_t index_messages = 0;  // unfinished ones
    bool index_is_complete = false;    // false: a start that was building it was interrupted; it was not compared
};

// Codes: `in_use` (a server uses it), `not_found`, `damaged_mark`, `damaged_log` and `damaged_index` (with file and
// offset if there is one), `newer_format`, `io_error`.
Result<DataReport> check_data_directory(FileSystem& files, const std::string& directory);

}  // namespace duewheel
