// Selects the queues that have their own series in /metrics, and computes the sum of all others.
//
// A client can put to a new queue with each request, and that must not make the page grow: the busiest queues have
// their own series, and all others share one. The busiest queues change, while a counter must never decrease: so the
// events between two reads are added to the others, except those counted by queues with their own series in that time.
// A queue that gets its own series brings its count along, which also stays in the others.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "engine/core/engine.h"

namespace duewheel {

class QueueSeries {
  public:
    static constexpr std::size_t kMax = 100;

    // Events in the other queues since the start, as far as they are not counted for a queue with its own series.
    // `all`: in all queues.
    const QueueTotals& count_others(const QueueTraffic& traffic, const QueueTotals& all);

  private:
    std::map<std::pair<std::string, std::string>, QueueTotals> counted_;
    QueueTotals all_;
    QueueTotals others_;
    bool had_others_ = false;
};

}  // namespace duewheel
