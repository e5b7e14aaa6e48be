// How far ahead of time messages are read from the index into memory.
//
// Everything due before a bound belongs in memory. The bound is raised before the rows up to it are looked up, so that
// no message that is sealed meanwhile leaves memory below it; it only rises. It is raised when half of the window has
// passed, by a window that grows while it contains few messages. Memory that is crowded gets only what is due: each
// such message goes to its queue, whose number in memory is limited.
//
// Messages that were overdue at the start are read in turn with those that become due later, which must not wait for
// them.
//
// Worked example: a start at 10:00 with the load cursor at 9:00 and a window of 30 s. Rows of 9:00 to 10:00 are
// overdue, and the bound is 10:00:30. Lookups alternate: a stretch from 9:00, a stretch from 10:00, and so on. When
// both are read, nothing happens until 10:00:15; then the window is a minute, and rows up to 10:01:15 are read.
//
// Passive: it says what to look up, one lookup at a time.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/core/uses.h"

namespace duewheel {

class DueWindow : Uses<EngineOptions, RecentTier, ServerTime> {
  public:
    // Rows before the load cursor need not be read.
    DueWindow(const Uses& uses, DueMs load_cursor_ms);
    // The first time of this run: everything due by now is overdue.
    void start();

    // What to look up now; nothing if a lookup is open or enough was read. The lookup counts as open until
    // end_lookup().
    std::optional<DueLookup> next_lookup();
    void end_lookup() { is_reading_ = false; }
    bool is_reading() const { return is_reading_; }
    // Its result is valid: these rows are in memory now, or memory has newer state.
    void merge(const DueLookup& lookup, const Stretch& stretch);

    // Messages due before it belong in memory.
    DueMs until_ms() const { return until_ms_; }
    // Rows before it were read.
    DueMs read_to_ms() const { return has_overdue() ? overdue_to_.due_ms : read_to_.due_ms; }
    // Due messages may be missing from memory.
    bool is_behind() const { return has_overdue() || read_to_.due_ms <= now_; }
    bool is_crowded() const { return recent_.entry_count() >= options_.window_entries_max; }
    // When the next rows of the window are needed.
    DueMs next_ms() const;

  private:
    bool has_overdue() const { return overdue_to_.due_ms < overdue_until_ms_; }
    void raise();

    std::int64_t length_ms_;  // between window_min_ms and window_max_ms
    std::uint64_t rows_ = 0;  // read since the bound was raised
    DueMs until_ms_;
    // Rows before `read_to_` were read, except the overdue ones from `overdue_to_` up to `overdue_until_ms_`.
    DuePosition read_to_;
    DuePosition overdue_to_;
    DueMs overdue_until_ms_ = 0;
    bool overdue_is_next_ = true;
    bool is_reading_ = false;
};

}  // namespace duewheel
