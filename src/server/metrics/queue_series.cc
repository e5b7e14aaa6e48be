#include "server/metrics/queue_series.h"

#include <algorithm>
#include <utility>

namespace duewheel {
namespace {

constexpr std::uint64_t QueueTotals::*kTotals[] = {
    &QueueTotals::received,     &QueueTotals::delivered, &QueueTotals::lateness_ms,    &QueueTotals::wait_ms,
    &QueueTotals::acknowledged, &QueueTotals::failed,    &QueueTotals::leases_expired, &QueueTotals::dead_lettered,
    &QueueTotals::expired,      &QueueTotals::cancelled,
};
static_assert(sizeof(QueueTotals) == sizeof(kTotals) / sizeof(kTotals[0]) * sizeof(std::uint64_t));

}  // namespace

const QueueTotals& QueueSeries::count_others(const QueueTraffic& traffic, const QueueTotals& all) {
    std::map<std::pair<std::string, std::string>, QueueTotals> counted;
    QueueTotals apart;
    for (const QueueCounters& queue : traffic.busiest) {
        const std::pair name(queue.name.name_space, queue.name.queue);
        const auto before = counted_.find(name);
        for (const auto total : kTotals) {
            // If all queues had series of their own, a queue without a count is new.
            std::uint64_t from = before != counted_.end() ? before->second.*total : 0;
            if (before == counted_.end() && had_others_) from = queue.totals.*total;
            if (from > queue.totals.*total) from = 0;  // it was removed and created again
            apart.*total += queue.totals.*total - from;
        }
        counted.emplace(name, queue.totals);
    }
    for (const auto total : kTotals) {
        const std::uint64_t happened = all.*total - all_.*total;
        others_.*total += happened - std::min(happened, apart.*total);
    }
    counted_ = std::move(counted);
    all_ = all;
    had_others_ = traffic.other_queues > 0;
    return others_;
}

}  // namespace duewheel
