// Decides when the store is full and when it no longer is, from measurements of the disk: pure arithmetic with its
// inputs as arguments.
//
// Full is a state with a way out: below a floor of free space, puts are refused, so that the remaining space is used by
// the index and by spare segments, and these by acks, cancels and compaction. Spares may run out first, because the
// floor is disabled or another program used the space: then puts are refused as soon as only the reserve is left, and
// so are other commands that free no space.
//
//     free bytes   ├──── full ────┤ floor ├── unchanged ──┤ floor + margin ├──── not full, always
//
// The margin prevents a disk near the floor from alternating between full and not full every second: filling a spare
// and building a table do not cross it. It is two segments, or a quarter of the floor if that is more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace duewheel {

struct SpaceReading {
    std::uint64_t free_bytes = 0;
    std::size_t ready_spares = 0;
    bool spares_refused = false;  // there was no space for all spares that are wanted
};

struct SpaceLimits {
    std::uint64_t floor_bytes = 0;  // 0: only spares count
    std::uint64_t segment_bytes = 0;
    std::size_t reserve_segments = 0;
};

class SpaceWatch {
  public:
    explicit SpaceWatch(const SpaceLimits& limits) : limits_(limits) {}

    void see(const SpaceReading& seen);

    // Puts are to be refused.
    bool is_full() const { return full_; }
    // Full, and no spare segment can be filled any more: only the reserve is left.
    bool has_only_reserve() const {
        return full_ && seen_.spares_refused && seen_.ready_spares <= limits_.reserve_segments;
    }
    // Full, or nearly: measure again in a second, not only when a segment is full.
    bool is_close() const { return full_ || seen_.spares_refused || seen_.free_bytes < 2 * resume_bytes(); }
    const SpaceReading& seen() const { return seen_; }
    // Above the floor.
    std::uint64_t free_for_puts() const { return seen_.free_bytes - std::min(seen_.free_bytes, limits_.floor_bytes); }
    std::uint64_t floor_bytes() const { return limits_.floor_bytes; }
    // The free space from which on a full store accepts puts again.
    std::uint64_t resume_bytes() const;

  private:
    SpaceLimits limits_;
    SpaceReading seen_;
    bool full_ = false;
};

}  // namespace duewheel
