// An ordered table of byte keys and byte values, with only the operations that the index needs: look up, scan a range,
// and add a complete prepared table. Single rows cannot be written, because only sealed segments change the index: so
// neither a log nor a table in memory is needed below this interface.
//
// Two implementations, tested by one conformance suite: rocks_rows.h (RocksDB), and in tests/support/memory_rows.h an
// ordered map, for the simulator.
//
// Errors: reads fail only on fatal errors (`damaged_index`, `io_error`); the process must stop. Adding a table can also
// fail with `no_space`: then none of it is there, and the same table can be built and added again
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
// any time. A range erase applies to earlier tables only: the table's own rows stay.
class TableBuilder {
  public:
    virtual ~TableBuilder() = default;

    virtual void put(std::string_view key, std::string_view value) = 0;
    // No effect if there is no row.
    virtual void erase(std::string_view key) = 0;
    // Erases lower <= key < upper; requires lower < upper.
    virtual void erase_range(std::string_view lower, std::string_view upper) = 0;

    // Makes the whole table visible at once and durable; after a crash all of it exists or nothing. Returns failures of
    // earlier calls. Called at most once; a builder that is destroyed before leaves nothing behind.
    virtual Status take_in() = 0;
};

// Called with each row of a scan; false ends it.
using RowVisitor = std::function<bool(std::string_view key, std::string_view value)>;

// Reads may run on several threads, beside one thread that adds tables. A scan sees the rows as of its start.
class SortedRows {
  public:
    virtual ~SortedRows() = default;

    // Nothing if there is no row. One filter check if the key never existed, otherwise at most a few blocks.
    virtual Result<std::optional<std::string>> get(std::string_view key) const = 0;
    // Visits rows with lower <= key < upper in ascending order, at most `limit`. Both bounds are required: an unbounded
    // scan would read everything that was ever erased beside its range.
    virtual Status scan(std::string_view lower, std::string_view upper, std::size_t limit,
                        const RowVisitor& visit) const = 0;
    // One builder at a time.
    virtual std::unique_ptr<TableBuilder> build_table() = 0;
    // Reads everything that is stored and verifies its checksums. Codes: `damaged_index`, `io_error`.
    virtual Status verify_checksums() const = 0;
    // The approximate size of the rows on disk (or in memory).
    virtual std::uint64_t bytes() const = 0;
};

// The storage of the rows of one index while they are not open.
class RowStorage {
  public:
    virtual ~RowStorage() = default;

    // Opens the existing rows, or creates them. Codes: `damaged_index` (discard it and build it again), `no_space`,
    // `io_error`. Only one may be open at a time.
    virtual Result<std::unique_ptr<SortedRows>> open() = 0;
    // Records durably that the rows are damaged: open() returns `damaged_index` from now on, until they are discarded.
    // For a caller that meets damage and ends, so that the next process does not meet it too. On any thread, also while
    // rows are open; a second call changes nothing.
    virtual Status condemn() = 0;
    // Removes everything, this record too; nothing may be open.
    virtual Status discard() = 0;
};

}  // namespace duewheel
