// Which queues have series of their own in /metrics, and what is counted for all others together.
//
// A client may put to a fresh queue with each request, and that must not make the page grow: the busiest queues have
// series of their own, and all others are one. Which queues are the busiest changes, while a counter must never go
// down: so what happens between two looks is added to the others but for what the queues with series of their own have
// counted in that time. A queue that gets a series of its own brings its count along, and leaves it with the others
// too.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "engine/engine.h"

namespace duewheel {

class QueueSeries {
  public:
    static constexpr std::size_t kMax = 100;

    // What has happened in the other queues since the start, as far as it is not counted for a queue with series of its
    // own. `all`: in all queues.
    const QueueTotals& count_others(const Engine::QueueTraffic& traffic, const QueueTotals& all);

  private:
    std::map<std::pair<std::string, std::string>, QueueTotals> counted_;
    QueueTotals all_;
    QueueTotals others_;
    bool had_others_ = false;
};

}  // namespace duewheel
