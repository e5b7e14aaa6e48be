// The size of log segments and the free floor of the volume, if the operator sets neither: both follow the size of the
// volume, so that a small one accepts puts too.
//
//     volume              32 MiB   420 MiB   1 GiB    4 GiB and more
//     segment             1 MiB    6 MiB     16 MiB   32 MiB           a 64th, up to 32 MiB
//     free floor          2 MiB    26 MiB    64 MiB   256 MiB          a 16th, up to 256 MiB
//
// With the default number of spare segments, the log takes five segments before the first put, so that at most about a
// fifth of a volume of 32 MiB or more is not available for messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace duewheel {

struct StoreSizes {
    std::uint64_t segment_bytes = 0;
    std::uint64_t free_floor_bytes = 0;

    // What must fit on the volume before the first put is accepted, except the index: the open segment, the ready spare
    // segments, and the free floor.
    std::uint64_t needed_bytes(std::size_t ready_segments) const {
        return (1 + ready_segments) * segment_bytes + free_floor_bytes;
    }
};

// Explicit values stay unchanged. A volume of 0 bytes, as some network file systems report, counts as a large one.
StoreSizes store_sizes(std::optional<std::uint64_t> segment_bytes, std::optional<std::uint64_t> free_floor_bytes,
                       std::uint64_t volume_bytes);

}  // namespace duewheel
