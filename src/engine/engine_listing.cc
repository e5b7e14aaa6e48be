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
#include <algorithm>
#include <cassert>

#include "engine/engine.h"

namespace duewheel {
namespace {

// The states that messages in these live states may have in the index. Leased ones are always in memory.
StateSet durable_states(const StateSet& live) {
    StateSet durable;
    for (const State state : {State::prepared, State::scheduled, State::retrying, State::held}) {
        const bool may_be_due = waits_for_due(state) && live.contains(State::ready);
        if (live.contains(state) || may_be_due) durable.insert(state);
    }
    return durable;
}

DuePosition position_of(const ListedMessage& message) {
    return {message.row.state.due_ms, message.row.id};
}

DuePosition after(DuePosition at) {
    return {at.due_ms, at.id + 1};
}

}  // namespace

void Engine::list(const ListCommand& command, ReplyToken token) {
    if (command.limit == 0 || command.limit > options_.list_limit_max) {
        return reply(token, Error{"out_of_range",
                                  "`limit` must be from 1 to " + std::to_string(options_.list_limit_max), "limit"});
    }
    const bool of_dead = command.states.contains(State::dead);
    if (of_dead && command.states != StateSet{State::dead}) {
        return reply(token, Error{"bad_state",
                                  "dead letters are listed separately, in the order in which they became dead letters: "
                                  "use state=dead alone",
                                  "state"});
    }
    if (!begin_listing(token)) return;
    if (of_dead) return list_dead({.token = token, .command = command});
    ListingLookup listing;
    listing.token = token;
    listing.command = command;
    // Due messages are ready, unless they are recurring, and others are not: rows on the other side of `now_` can be
    // skipped.
    const StateSet& states = command.states;
    const bool any_due = states.contains(State::held) || states.contains(State::prepared);
    const bool due = any_due || states.contains(State::ready) || states.contains(State::leased);
    const bool not_due = any_due || states.contains(State::scheduled) || states.contains(State::retrying);
    if (!not_due) listing.command.until_ms = std::min(command.until_ms, now_ + 1);
    if (!due && recurring_due_ == 0) listing.command.from = std::max(command.from, {now_ + 1, 0});
    listings_.push_back(std::move(listing));
}

// False if the maximum number of listings is open; the request was answered with an error.
bool Engine::begin_listing(ReplyToken token) {
    if (listings_open_ >= options_.listings_max) return reply(token, too_busy()), false;
    ++listings_open_;
    return true;
}

void Engine::end_listing(ReplyToken token, Reply page) {
    assert(listings_open_ > 0);
    --listings_open_;
    reply(token, std::move(page));
}

void Engine::walk_listings() {
    std::uint32_t budget = options_.list_chunk;
    while (!listings_.empty() && budget > 0) {
        budget = walk(listings_.front(), budget);
        if (listings_.front().walked_to < recent_.entry_limit()) return;
        ListingLookup walked = std::move(listings_.front());
        listings_.pop_front();
        look_up_listing(std::move(walked));
    }
}

// Returns the remaining budget.
std::uint32_t Engine::walk(ListingLookup& listing, std::uint32_t budget) {
    const QueueNumber queue = recent_.queues().find(listing.command.name_space, listing.command.queue);
    if (queue == kNoQueue) listing.walked_to = recent_.entry_limit();  // so far known to the index alone
    const EntryNumber limit = recent_.entry_limit();
    for (; listing.walked_to < limit && budget > 0; --budget) {
        const EntryNumber number = listing.walked_to;
        listing.walked_to = recent_.skip_unused(number);
        if (listing.walked_to == number) add_candidate(listing, queue, recent_.entry(listing.walked_to++));
    }
    return budget;
}

void Engine::add_candidate(ListingLookup& listing, QueueNumber queue, const Entry& entry) const {
    if (entry.queue != queue || entry.id == 0) return;
    const ListCommand& command = listing.command;
    const DuePosition at{entry.due_ms, entry.id};
    if (at < command.from || at.due_ms >= command.until_ms) return;
    if (listing.known_up_to && *listing.known_up_to < at) return;
    if (!command.states.contains(live_state(entry.state, entry.due_ms, entry.is_recurring))) return;
    std::vector<DuePosition>& nearest = listing.nearest;
    nearest.push_back(at);
    std::push_heap(nearest.begin(), nearest.end());
    if (nearest.size() <= command.limit) return;
    std::pop_heap(nearest.begin(), nearest.end());
    nearest.pop_back();
    listing.known_up_to = nearest.front();
}

void Engine::look_up_listing(ListingLookup listing) {
    const ListCommand& command = listing.command;
    ListQueue wanted{
        command.name_space, command.queue,         command.from, command.until_ms, durable_states(command.states),
        command.limit,      options_.list_walk_max};
    if (wanted.states.empty()) return finish(std::move(listing), {}, lookups_.newest());
    lookups_.start(std::move(wanted), std::move(listing));
}

void Engine::finish(ListingLookup listing, ListedRows sealed, Generation generation) {
    if (!lookups_.is_fresh(generation)) return look_up_listing(std::move(listing));
    const ListCommand& command = listing.command;
    const QueueNumber queue = recent_.queues().find(command.name_space, command.queue);
    ListAnswer answer;
    answer.query = command.query;
    std::vector<ListedMessage>& page = answer.listed;
    // Adds the message at `at` as it is in memory; false if memory does not know it.
    const auto take_from_memory = [&](DuePosition at) {
        const EntryNumber number = recent_.find(at.id);
        if (number == kNoEntry) return recent_.outcome(at.id) != nullptr;
        const Entry& entry = recent_.entry(number);
        if (entry.queue == queue && entry.due_ms == at.due_ms) page.push_back(listed(entry));
        return true;
    };
    for (const DuePosition at : listing.nearest) take_from_memory(at);
    for (MessageRow& row : sealed.rows) {
        if (!take_from_memory({row.state.due_ms, row.id})) page.push_back(listed(std::move(row)));
    }
    std::erase_if(page,
                  [&](const ListedMessage& message) { return !command.states.contains(message.row.state.state); });
    std::sort(page.begin(), page.end(), [](const ListedMessage& left, const ListedMessage& right) {
        return position_of(left) < position_of(right);
    });
    const auto is_same = [](const ListedMessage& left, const ListedMessage& right) {
        return left.row.id == right.row.id;
    };
    page.erase(std::unique(page.begin(), page.end(), is_same), page.end());
    // After the point up to which both are complete there may be gaps.
    answer.next = sealed.next;
    if (listing.known_up_to) {
        answer.next = std::min(answer.next.value_or(after(*listing.known_up_to)), after(*listing.known_up_to));
    }
    if (answer.next) {
        std::erase_if(page, [&](const ListedMessage& message) { return position_of(message) >= *answer.next; });
    }
    if (page.size() > command.limit) {
        page.resize(command.limit);
        answer.next = after(position_of(page.back()));
    }
    counters_.listed += page.size();
    end_listing(listing.token, std::move(answer));
}

ListedMessage Engine::listed(const Entry& entry) const {
    ListedMessage message = listed(recent_.row(entry));
    message.row.state.state = live_state(entry.state, entry.due_ms, entry.is_recurring);
    message.row.state.attempts = entry.begun;
    if (entry.begun != entry.attempts) message.row.reason.clear();
    message.row.state.maybe_delivered |= delivery_may_hide(entry);
    if (const auto held = leases_.find(entry.id); held != leases_.end()) message.lease_until_ms = held->second.until_ms;
    return message;
}

// Only in the index and not in memory, so neither leased nor with attempts that are not recorded.
ListedMessage Engine::listed(MessageRow row) const {
    ListedMessage message;
    message.row = std::move(row);
    MessageState& state = message.row.state;
    state.maybe_delivered |= is_from_past(message.row.id, state);
    state.state = live_state(state.state, state.due_ms, state.is_recurring());
    return message;
}

// A due message is ready, even if it waits behind its queue's cursor, for earlier messages of its order key, or for the
// wheel. A recurring message never is.
State Engine::live_state(State state, DueMs due_ms, bool is_recurring) const {
    return waits_for_due(state) && !is_recurring && due_ms <= now_ ? State::ready : state;
}

}  // namespace duewheel
