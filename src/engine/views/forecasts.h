// A forecast: the number of messages that become due in each of the next minutes.
//
// Guarantee: a message that does not change during a forecast is counted exactly once. One that is put, moved or ended
// meanwhile may be counted or not, but never twice.
//
// Whole minutes. The index has their counts as of the end of a segment, and memory has the changes by each later one
// (store/due_counts.h). The counts of the index are read in chunks of one segment's end, and then all changes are added
// at once, so the sum is the state of one instant. If a table was added between two chunks, they are read again; after
// three times they are of different instants, and all minutes are reported as incomplete.
//
// The rest of the current minute has messages that are counted one by one. A listing (listings.h) finds a message in
// memory, in the index, or in both, and compares ids to show it once. Counters have no ids, so each message counts in
// one place: in memory, if the index does not have its newest record; otherwise in the index. First the entries in
// memory are scanned, `list_chunk` per iteration, and those whose segment is not in the index count. Then the rows of
// the index are read, one chunk per lookup, and a row counts unless memory has such an entry, or an end, for its id.
// The segment distinguishes the two kinds of entries, and not whether the entry was swept since: sweeps have their own
// iterations, and an entry that counted as unsealed before would count by its row later.
//
// A message that changes after the whole minutes were counted is not counted one by one: it may have been in one of
// them. Messages that compaction relocates meanwhile look newer than their rows but are not: those that the first scan
// had passed by then are remembered, and count by their rows.
//
// The set of segments in the index must not change in between, so if a table was added meanwhile, these messages are
// counted again. If a server adds tables faster than it can count, three times in a row, the result comes from the
// index alone: the rows that memory does not contradict are a lower bound.
//
// The number of counts and of rows is limited: by `forecast_walk_max` for each of the two, after which a forecast
// reports from which minute on it is incomplete; and by one lookup at a time for all forecasts, so that the reader has
// time for due messages.
//
// Runs of schedules are counted by their rules, after the messages: a run that is created meanwhile was not a message
// then and is no future run now; in the other order it would be counted twice. Of a recurring message only the next
// occurrence is known; the firings of watchdogs and the retries of future failures are not
// known.
#pragma once

#include <cstdint>
#include <deque>

#include "engine/commands/forecast.h"
#include "engine/core/uses.h"
#include "engine/rules/schedule.h"
#include "engine/views/open_views.h"

namespace duewheel {

class Forecasts : Uses<EngineOptions, RecentTier, ServerTime, Lookups, Effects> {
  public:
    Forecasts(const Uses& uses, OpenViews& open, const ScheduleTable& schedules)
        : Uses(uses), open_(open), schedules_(schedules) {}

    // Starts a forecast; its reply comes when it is complete. One is in progress at a time.
    void read(const ForecastCommand& command, ReplyToken token, const SharedLimits& limits);
    // Counts the next entries, or runs of schedules.
    void walk();
    // The first one does not wait for rows.
    bool has_to_walk() const { return !begun_.empty() && begun_.front().asked_for == 0; }
    // Called before a record is applied; `number` is the entry of its message, if it has one.
    void note(EntryNumber number, const MessageRecord& record);

    void finish(const ForecastCountLookup& lookup, const DueMinutes& due, Generation generation);
    void finish(const ForecastLookup& lookup, const DueRows& due, Generation generation);

  private:
    void look_up_minutes(Forecast& forecast);
    void add_changes(Forecast& forecast) const;
    void begin_count(Forecast& forecast);
    bool is_unsealed(const Entry& entry) const;
    bool count_unsealed(Forecast& forecast, std::uint32_t& budget);
    void look_up_due_rows(Forecast& forecast);
    bool count_runs(Forecast& forecast, std::uint32_t& budget);
    void begin_runs(Forecast& forecast, const Schedule& schedule) const;
    void count_run(Forecast& forecast, const Schedule* schedule) const;
    void next_run(Forecast& forecast, const Schedule& schedule) const;

    OpenViews& open_;
    const ScheduleTable& schedules_;
    std::deque<Forecast> begun_;  // the first one is in progress
};

}  // namespace duewheel
