#include "server/shard/store_sizes.h"

#include <algorithm>
#include <limits>

namespace duewheel {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

}  // namespace

StoreSizes store_sizes(std::optional<std::uint64_t> segment_bytes, std::optional<std::uint64_t> free_floor_bytes,
                       std::uint64_t volume_bytes) {
    if (volume_bytes == 0) volume_bytes = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t segment = std::clamp(volume_bytes / 64 / kMiB * kMiB, kMiB, 32 * kMiB);
    const std::uint64_t floor = std::min(volume_bytes / 16, 256 * kMiB);
    return {segment_bytes.value_or(segment), free_floor_bytes.value_or(floor)};
}

}  // namespace duewheel
