// The history of a queue: the rows of the index and the newer ends in memory whose segment is not sealed yet. Ends are
// ordered by time, in memory too, so that a page needs no scan beyond its own entries.
#pragma once

#include <vector>

#include "engine/core/uses.h"
#include "engine/views/open_views.h"

namespace duewheel {

class HistoryPages : Uses<EngineOptions, RecentTier, Lookups, Effects> {
  public:
    HistoryPages(const Uses& uses, OpenViews& open) : Uses(uses), open_(open) {}

    // Starts a page; its reply comes when it is complete.
    void read(const HistoryCommand& command, ReplyToken token, const SharedLimits& limits);

    void finish(HistoryLookup lookup, HistoryRows sealed, Generation generation);

  private:
    void look_up(HistoryLookup lookup);
    DueMs add_recent_ends(const std::vector<EndInQueue>& ends, const HistoryCommand& command, QueueNumber queue,
                          std::vector<EndedRow>& page) const;

    OpenViews& open_;
};

}  // namespace duewheel
