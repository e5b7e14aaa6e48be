// What clients see of the messages of a queue: pages of unfinished messages and dead letters, pages of its history,
// forecasts, and its groups. They change nothing; they merge memory and index.
#pragma once

#include "engine/views/forecasts.h"
#include "engine/views/group_views.h"
#include "engine/views/history_pages.h"
#include "engine/views/listings.h"
#include "engine/views/open_views.h"

namespace duewheel {

struct QueueViews {
    QueueViews(const Uses<EngineOptions, RecentTier, ServerTime, EngineCounters, Lookups, EarlierRuns, Effects>& all,
               const Queues& queues, const Lifecycle& lifecycle, const ScheduleTable& schedules)
        : open(all),
          listings(all, open, lifecycle),
          history(all, open),
          forecasts(all, open, schedules),
          groups(all, open, queues, lifecycle.turns()) {}

    // One iteration.
    void walk() {
        listings.walk();
        forecasts.walk();
        groups.walk();
    }
    bool has_to_walk() const { return listings.has_to_walk() || forecasts.has_to_walk() || groups.has_to_walk(); }

    OpenViews open;
    Listings listings;
    HistoryPages history;
    Forecasts forecasts;
    GroupViews groups;
};

}  // namespace duewheel
