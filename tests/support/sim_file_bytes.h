// The bytes of one simulated file: those that a program sees, those that are durable, and the changes in between. The
// rules of loss are in sim_disk.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/file.h"
#include "shared/random.h"

namespace duewheel {

class SimFileBytes {
  public:
    const std::vector<std::byte>& seen() const { return seen_; }
    const std::vector<std::byte>& durable() const { return durable_; }

    void write(std::uint64_t offset, ConstBytes bytes);
    void truncate(std::uint64_t size);
    // All changes become durable. O(bytes changed).
    void sync();
    // Each waiting change of a sector survives with a chance of `survival` parts per million, the earlier of one sector
    // first; the lost ones are forgotten. What is seen stays as it is. O(bytes changed).
    void sync_in_part(Random& random, std::uint64_t survival);
    // What is seen is what is durable.
    void drop_cache() { seen_ = durable_; }
    // Damages one byte in both; it must be there.
    void flip(std::uint64_t offset, std::byte mask);

  private:
    struct Change {
        std::uint64_t offset;          // of a truncation: the new size
        std::vector<std::byte> bytes;  // empty: a truncation
    };
    // How many of the waiting writes of one sector there are, survive, and have been looked at.
    struct SectorVersions {
        std::uint64_t written = 0;
        std::uint64_t surviving = 0;
        std::uint64_t passed = 0;
    };
    using Sectors = std::map<std::uint64_t, SectorVersions>;

    Sectors draw_versions(Random& random, std::uint64_t survival) const;
    void keep_in_part(const Change& change, Sectors& sectors, Random& random, std::uint64_t survival);

    std::vector<std::byte> seen_;
    std::vector<std::byte> durable_;
    std::vector<Change> waiting_;  // oldest first
};

}  // namespace duewheel
