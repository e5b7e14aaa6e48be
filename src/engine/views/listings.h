// Listing a queue: a page of its unfinished messages in (due, id) order, merged from the entries in memory and the rows
// of the index.
//
// Guarantee: a message that does not change while a listing goes from its first page to its last is in exactly one of
// them. One that is put, moved, leased or ended meanwhile may be in a page or not, and is never twice in one.
//
// Method. Entries in memory are in no order (that would cost every put), so they are scanned: `list_chunk` of them per
// iteration, for all listings together, keeping the positions of the nearest ones, up to the size of the page. Then the
// same range is looked up in the index. An entry only ever leaves memory for the index, so an unchanged message was
// found in one of the two or in both: what left memory before the scan is in the index by then, and what came into
// memory behind the scan is still in the index. At the end both are looked up in memory again, which wins, as
// everywhere. A result of the index that is older than its newest table is looked up again: ends that memory knew when
// the page was started may have been forgotten since.
//
// Cost of a page: one visit of each entry in memory, of all queues (2 to 6 ns each, spread over iterations of some 100
// us; unused entries are skipped in blocks), and one bounded scan of the index by a reader. A page may be short or
// empty although another follows: if few rows of the index are in the wanted states, the scan ends after
// `list_walk_max` of them.
#pragma once

#include <cstdint>
#include <deque>

#include "engine/core/uses.h"
#include "engine/messages/lifecycle.h"
#include "engine/views/open_views.h"

namespace duewheel {

class Listings : Uses<EngineOptions, RecentTier, ServerTime, EngineCounters, Lookups, EarlierRuns, Effects> {
  public:
    Listings(const Uses& uses, OpenViews& open, const Lifecycle& lifecycle)
        : Uses(uses), open_(open), lifecycle_(lifecycle) {}

    // Starts a page; its reply comes when it is complete.
    void start(const ListCommand& command, ReplyToken token);
    // Scans the next entries for the pages in progress, `list_chunk` of them.
    void walk();
    bool has_to_walk() const { return !walking_.empty(); }

    void finish(ListingLookup listing, ListedRows sealed, Generation generation);
    void finish(DeadListingLookup listing, Stretch stretch, Generation generation);

  private:
    std::uint32_t walk(ListingLookup& listing, std::uint32_t budget);
    void add_candidate(ListingLookup& listing, QueueNumber queue, const Entry& entry) const;
    void look_up(ListingLookup listing);
    void look_up_dead(DeadListingLookup listing);
    State state_of(const Entry& entry) const;
    ListedMessage listed(const Entry& entry) const;
    ListedMessage listed(MessageRow row) const;

    OpenViews& open_;
    const Lifecycle& lifecycle_;
    std::deque<ListingLookup> walking_;  // whose entries are still being scanned: the first one is
};

}  // namespace duewheel
