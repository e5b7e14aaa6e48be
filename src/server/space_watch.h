// Decides when the store is full and when it no longer is, from what was seen of the disk: plain arithmetic, told what
// there is.
//
// Full is a state with a way out, and not an accident: below a floor of free space puts are refused, so that what is
// left of the disk belongs to the index and to spare segments, and these to acks, cancels and cleaning. Spares may run
// out first, because the floor is off or another program was quicker: then puts are refused as soon as only the reserve
// is left. What makes no space is refused then too.
//
//     free bytes   ├──── full ────┤ floor ├── as it was ──┤ floor + margin ├──── not full, all spares there ────►
//
// The margin keeps a disk that stays about the floor from being full and not full every second: a spare that is filled
// and a table that is built do not cross it. It is two segments, or a quarter of the floor if that is more.
#pragma once

#include <cstddef>
#include <cstdint>

namespace duewheel {

struct SpaceSeen {
    std::uint64_t free_bytes = 0;
    std::size_t ready_spares = 0;
    bool spares_refused = false;  // there was no space for all that are wanted
};

struct SpaceLimits {
    std::uint64_t floor_bytes = 0;  // 0: only spares count
    std::uint64_t segment_bytes = 0;
    std::size_t reserve_segments = 0;
};

class SpaceWatch {
  public:
    explicit SpaceWatch(const SpaceLimits& limits) : limits_(limits) {}

    void see(const SpaceSeen& seen);

    // Puts are to be refused.
    bool is_full() const { return full_; }
    // Full, and no spare segment can be filled any more: what is left of them is the reserve.
    bool has_only_reserve() const {
        return full_ && seen_.spares_refused && seen_.ready_spares <= limits_.reserve_segments;
    }
    // Full, or not far from it: look again in a second and not only when a segment is full.
    bool is_close() const { return full_ || seen_.spares_refused || seen_.free_bytes < 2 * resume_bytes(); }
    const SpaceSeen& seen() const { return seen_; }
    // A store that is full takes puts again from so much free space on.
    std::uint64_t resume_bytes() const;

  private:
    SpaceLimits limits_;
    SpaceSeen seen_;
    bool full_ = false;
};

}  // namespace duewheel
