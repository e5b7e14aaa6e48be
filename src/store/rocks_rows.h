// Rows in RocksDB, used for its sorted tables on disk with filters, caches and compaction. Its own log and its tables
// in memory are never written: each table is built as a separate file and moved in.
//
// Settings and their reasons are in rocks_rows.cc, the only file that uses RocksDB.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/file.h"
#include "store/sorted_rows.h"

namespace duewheel {

// True for a row that has expired: compaction may drop it. Called on RocksDB's background threads at any time while the
// rows are open. Such a row can stay visible until the next compaction, so readers check the same condition.
using RowExpired = std::function<bool(std::string_view key, std::string_view value)>;

struct RocksRowsOptions {
    std::uint64_t cache_bytes = 32u << 20;  // blocks, indexes and filters together
    std::uint64_t compaction_bytes_per_second = 64u << 20;
    int open_files_max = 256;
};

class RocksRowStorage final : public RowStorage {
  public:
    // `directory` is created if it is missing, and belongs to this object alone.
    RocksRowStorage(FileSystem& files, std::string directory, RowExpired expired, RocksRowsOptions options = {});

    Result<std::unique_ptr<SortedRows>> open() override;
    // A file next to the directory, `<directory>.damaged`: nothing is written to a damaged database.
    Status condemn() override;
    Status discard() override;

  private:
    std::string note_path() const { return directory_ + ".damaged"; }
    std::string parent() const;

    FileSystem& files_;
    std::string directory_;
    RowExpired expired_;
    RocksRowsOptions options_;
};

// Compacts everything into the lowest level and returns when done; `rows` must come from a RocksRowStorage. For
// benchmarks and offline commands: it rewrites the whole index.
Status compact_rows(SortedRows& rows);

}  // namespace duewheel
