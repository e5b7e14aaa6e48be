// The open lookups of an engine, what waits for each, and whether a result is still valid.
//
// A lookup is read by another thread while the engine continues. A table may be added to the index meanwhile, and
// entries that the table covers may leave memory; then the result lacks what neither of the two knows any more. So the
// index has a generation, which each new table increments, and a result counts only if it is of the newest one
// (store/store.h). All others are looked up again.
//
// Worked example: lookup 7 reads generation 3 and finds message 5 scheduled. Before its result arrives, the table of
// the segment with the cancel of 5 is taken (generation 4) and the outcome leaves memory. is_fresh(3) is false, so the
// engine looks message 5 up again, and finds that it was cancelled.
//
// Single-threaded, except that readers may load the generation at any time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "engine/core/pending_lookup.h"
#include "store/store.h"

namespace duewheel {

class Lookups {
  public:
    // Starts a lookup; `pending` waits for its result. Returns its ticket: lookups are numbered in order, from 1.
    std::uint64_t start(decltype(Lookup::what) wanted, PendingLookup pending);
    // The lookups that were started since the last call, in order: the owner executes them.
    std::vector<Lookup> take_started() { return std::exchange(started_, {}); }
    bool has_started() const { return !started_.empty(); }
    // The lookup, which is open, has a result of this generation. Returns what waited for it.
    PendingLookup finish(std::uint64_t ticket, Generation generation);

    Generation newest() const { return generation_.load(std::memory_order_relaxed); }
    // Whether a result of this generation is valid: everything newer than it is in memory.
    bool is_fresh(Generation generation) const { return generation == newest(); }
    // A reader loads it before it reads.
    const std::atomic<Generation>& generation() const { return generation_; }
    // The index contains every segment up to and including this one.
    void table_taken(SegmentNumber through);
    SegmentNumber sealed_through() const { return sealed_through_; }

    std::size_t open() const { return open_.size(); }
    std::uint64_t newest_ticket() const { return next_ticket_ - 1; }
    // Whether one up to this ticket is open. O(open lookups), like the next.
    bool is_open_until(std::uint64_t ticket) const;
    // Whether a client waits for one.
    bool has_awaited() const;
    // What waits for the open lookup with this ticket, which is of this kind.
    template <class Kind>
    Kind& at(std::uint64_t ticket) {
        return std::get<Kind>(open_.at(ticket));
    }

    // Content that is being read to be shown to clients.
    std::size_t shown_bytes() const { return shown_bytes_; }
    // Results that came too late, since the start.
    std::uint64_t stale_results() const { return stale_results_; }

  private:
    std::unordered_map<std::uint64_t, PendingLookup> open_;
    std::vector<Lookup> started_;
    std::uint64_t next_ticket_ = 1;
    std::size_t shown_bytes_ = 0;
    std::uint64_t stale_results_ = 0;
    std::atomic<Generation> generation_{1};
    SegmentNumber sealed_through_ = 0;
};

}  // namespace duewheel
