// An ordered table of byte keys and byte values, as small as the index needs it: look up, walk a range, and take in a
// whole prepared table at once. There is no way to write a single row, because nothing ever changes but by a sealed
// segment: so neither a log of its own nor a table in memory is needed below this interface.
//
// Two implementations, held to one conformance suite: memory_rows.h (an ordered map, for the simulator) and
// rocks_rows.h (RocksDB, for the daemon).
//
// Errors: reads fail only where the world is broken (`damaged_index`, `io_error`); the process must stop. Taking in a
// table may also meet `no_space`: nothing of it is there then, and the same table may be built and taken in again
// later.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace duewheel {

// Rows that are put and erased together. Keys come in ascending bytewise order, each at most once; range erases come at
// any time. A range erase applies to what stood before the table: the table's own rows stay.
class TableBuilder {
  public:
    virtual ~TableBuilder() = default;

    virtual void put(std::string_view key, std::string_view value) = 0;
    // Harmless where there is no row.
    virtual void erase(std::string_view key) = 0;
    // Erases lower <= key < upper; needs lower < upper.
    virtual void erase_range(std::string_view lower, std::string_view upper) = 0;

    // Makes the whole table visible at once and durable; after a crash all of it is there or nothing. A failure of an
    // earlier call comes out here. Called at most once; a builder that is destroyed before leaves nothing behind.
    virtual Status take_in() = 0;
};

// Gets each row of a walk; false ends it.
using RowVisitor = std::function<bool(std::string_view key, std::string_view value)>;

// Reads may run on several threads, beside one thread that takes tables in. A walk sees the rows as of its beginning.
class SortedRows {
  public:
    virtual ~SortedRows() = default;

    // Nothing where there is no row. One look at a filter where the key was never there, else at most a few blocks.
    virtual Result<std::optional<std::string>> get(std::string_view key) const = 0;
    // Visits rows with lower <= key < upper in ascending order, at most `limit`. Both bounds always: an unbounded walk
    // would wade through everything that was ever erased beside its range.
    virtual Status scan(std::string_view lower, std::string_view upper, std::size_t limit,
                        const RowVisitor& visit) const = 0;
    // One builder at a time.
    virtual std::unique_ptr<TableBuilder> build_table() = 0;
    // Reads everything that is stored and compares it with its checksums. Codes: `damaged_index`, `io_error`.
    virtual Status verify_checksums() const = 0;
    // What the rows take on the disk (or in memory), roughly.
    virtual std::uint64_t bytes() const = 0;
};

// Where the rows of one index live between openings.
class RowStorage {
  public:
    virtual ~RowStorage() = default;

    // Opens what is there, or makes it. Codes: `damaged_index` (discard it and build it again), `no_space`, `io_error`.
    // One opened at a time.
    virtual Result<std::unique_ptr<SortedRows>> open() = 0;
    // Notes durably that what is there is damaged: from now on open() says `damaged_index`, until it is discarded. For
    // whoever meets damage and ends because of it, so that the next process need not meet it too. On any thread, also
    // while rows are open; a second call changes nothing.
    virtual Status condemn() = 0;
    // Removes everything, the note too; nothing may be open.
    virtual Status discard() = 0;
};

}  // namespace duewheel
