// Rows in an ordered map: the simplest implementation, for the simulator and as a reference for the other one.
//
// The storage keeps the rows while they are not open, as a disk would: a simulated crash destroys the opened rows and
// keeps the storage. A table exists from the moment it was added; it is never half written.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "store/sorted_rows.h"

namespace duewheel {

class MemoryRowStorage final : public RowStorage {
  public:
    MemoryRowStorage() = default;
    MemoryRowStorage(const MemoryRowStorage&) = delete;
    MemoryRowStorage& operator=(const MemoryRowStorage&) = delete;

    Result<std::unique_ptr<SortedRows>> open() override;
    Status condemn() override;
    Status discard() override;

    // The next `times` tables are refused with `no_space`.
    void refuse_tables(std::size_t times);
    // Tables that are larger than the result are refused too, as on a disk with that much free space. If the result is
    // 0, opening is refused too.
    void set_free_space(std::function<std::uint64_t()> free_bytes);
    std::size_t row_count() const;

  private:
    friend class MemoryRows;
    friend class MemoryTableBuilder;

    mutable std::mutex mutex_;  // guards what follows
    std::map<std::string, std::string, std::less<>> rows_;
    std::size_t refused_ = 0;
    bool condemned_ = false;
    std::function<std::uint64_t()> free_bytes_;
};

}  // namespace duewheel
