// Rows in RocksDB, used as what it is best at: sorted tables on disk with filters, caches and compaction. Its own log
// and its tables in memory are never written: each table is built as a file beside it and moved in.
//
// Settings and their reasons stand in rocks_rows.cc, the only file that knows RocksDB.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/file.h"
#include "store/sorted_rows.h"

namespace duewheel {

// True for a row that time alone has removed: compaction may then drop it. Called on RocksDB's background threads at
// any time while the rows are open. Such a row may stay visible for as long as no compaction comes by, so readers ask
// the same question themselves.
using RowExpired = std::function<bool(std::string_view key, std::string_view value)>;

struct RocksRowsOptions {
    std::uint64_t cache_bytes = 32u << 20;  // blocks, indexes and filters together
    std::uint64_t compaction_bytes_per_second = 64u << 20;
    int open_files_max = 256;
};

class RocksRowStorage final : public RowStorage {
  public:
    // `directory` is made when it is missing, and belongs to this object alone.
    RocksRowStorage(FileSystem& files, std::string directory, RowExpired expired, RocksRowsOptions options = {});

    Result<std::unique_ptr<SortedRows>> open() override;
    // A file beside the directory, `<directory>.damaged`: a database that is damaged is not written to.
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
// measurements and offline commands: it rewrites the whole index.
Status compact_rows(SortedRows& rows);

}  // namespace duewheel
