// `duewheel check DIR`: verifies a data directory that no server uses, reading everything and changing no data (RocksDB
// keeps its own housekeeping files when it opens the index).
//
// The log: every checksum, sequence, footer and the chain from the first segment to the last; what each footer and each
// relocation-done record says is recomputed from the records; and nothing is missing before its front (log_audit.h).
// The index: that the messages in it are those of the log at its position, that the record of every one that is needed
// is in the log, that the counts of needed records are right (index_proof.h), that every stored byte has its checksum,
// and that each table holds what follows from the rows by id (index_audit.h).
//
// It cannot recompute the messages that stood before a front that is gone where there is no whole index: the next start
// builds one, proves it, and refuses it where it is not what the log says.
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
    std::optional<Cut> torn_end;  // a start would cut it: nobody was told that it is saved
    bool has_index = false;
    std::uint64_t index_sequence = 0;  // of the log, up to which the index goes
    std::uint64_t index_messages = 0;  // unfinished ones
    bool index_is_complete = false;    // false: a start that was building it was interrupted; it was not compared
};

// Codes: `in_use` (a server runs on it), `not_found`, `damaged_mark`, `damaged_log` and `damaged_index` (naming file
// and offset where there is one), `newer_format`, `io_error`.
Result<DataReport> check_data_directory(FileSystem& files, const std::string& directory);

}  // namespace duewheel
