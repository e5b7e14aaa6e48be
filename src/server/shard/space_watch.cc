#include "server/shard/space_watch.h"

#include <algorithm>

namespace duewheel {

std::uint64_t SpaceWatch::resume_bytes() const {
    return limits_.floor_bytes + std::max(limits_.floor_bytes / 4, 2 * limits_.segment_bytes);
}

void SpaceWatch::see(const SpaceReading& seen) {
    seen_ = seen;
    const bool only_the_reserve = seen.spares_refused && seen.ready_spares <= limits_.reserve_segments;
    const bool must_refuse = seen.free_bytes < limits_.floor_bytes || only_the_reserve;
    const bool may_resume = seen.free_bytes >= resume_bytes() && !seen.spares_refused;
    full_ = full_ ? !may_resume : must_refuse;
}

}  // namespace duewheel
