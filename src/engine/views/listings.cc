#include "engine/views/listings.h"

#include <algorithm>
#include <cassert>

#include "base/error_codes.h"
#include "engine/commands/refusals.h"
#include "engine/messages/live_state.h"

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

void Listings::start(const ListCommand& command, ReplyToken token) {
    if (Status fits = check_page(command.limit, options_.list_limit_max); !fits)
        return reply(token, std::move(fits).error());
    const bool of_dead = command.states.contains(State::dead);
    if (of_dead && command.states != StateSet{State::dead}) {
        return reply(token, Error{"bad_state"_code,
                                  "dead letters are listed separately, in the order in which they became dead letters: "
                                  "use state=dead alone",
                                  "state"});
    }
    if (!open_.begin(command.name_space, token)) return;
    if (of_dead) return look_up_dead({.token = token, .command = command});
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
    if (!due && !lifecycle_.is_recurring_due()) listing.command.from = std::max(command.from, {now_ + 1, 0});
    walking_.push_back(std::move(listing));
}

void Listings::walk() {
    std::uint32_t budget = options_.list_chunk;
    while (!walking_.empty() && budget > 0) {
        budget = walk(walking_.front(), budget);
        if (walking_.front().walked_to < recent_.entry_limit()) return;
        ListingLookup walked = std::move(walking_.front());
        walking_.pop_front();
        look_up(std::move(walked));
    }
}

// Returns the remaining budget.
std::uint32_t Listings::walk(ListingLookup& listing, std::uint32_t budget) {
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

void Listings::add_candidate(ListingLookup& listing, QueueNumber queue, const Entry& entry) const {
    if (entry.queue != queue || entry.id == 0) return;
    const ListCommand& command = listing.command;
    const DuePosition at{entry.due_ms, entry.id};
    if (at < command.from || at.due_ms >= command.until_ms) return;
    if (listing.known_up_to && *listing.known_up_to < at) return;
    if (!command.states.contains(state_of(entry))) return;
    std::vector<DuePosition>& nearest = listing.nearest;
    nearest.push_back(at);
    std::push_heap(nearest.begin(), nearest.end());
    if (nearest.size() <= command.limit) return;
    std::pop_heap(nearest.begin(), nearest.end());
    nearest.pop_back();
    listing.known_up_to = nearest.front();
}

void Listings::look_up(ListingLookup listing) {
    const ListCommand& command = listing.command;
    ListQueue wanted{
        command.name_space, command.queue,         command.from, command.until_ms, durable_states(command.states),
        command.limit,      options_.list_walk_max};
    if (wanted.states.empty()) return finish(std::move(listing), {}, lookups_.newest());
    lookups_.start(std::move(wanted), std::move(listing));
}

void Listings::finish(ListingLookup listing, ListedRows sealed, Generation generation) {
    if (!lookups_.is_fresh(generation)) return look_up(std::move(listing));
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
    for (ListedMessage& message : page) {
        const MessageState& state = message.row.state;
        if (state.state == State::ready) message.blocked_by = lifecycle_.turns().why_limited(queue, state.group);
    }
    counters_.listed += page.size();
    open_.end(listing.command.name_space, listing.token, std::move(answer));
}

State Listings::state_of(const Entry& entry) const {
    return live_state(entry.state(), entry.due_ms, recent_.is_recurring(entry), now_);
}

ListedMessage Listings::listed(const Entry& entry) const {
    ListedMessage message = listed(recent_.row(entry));
    message.row.state.state = state_of(entry);
    message.row.state.attempts = entry.begun;
    if (entry.has_unwritten_attempt()) message.row.reason.clear();
    message.row.state.maybe_delivered |= entry.from_past;
    message.lease_until_ms = 0;
    const Leases& leases = lifecycle_.leases();
    if (const auto held = leases.find(entry.id); held != leases.end()) {
        message.lease_until_ms = held->second.until_ms;
        message.worker = *held->second.worker;
    }
    return message;
}

// Only in the index and not in memory, so without attempts that are not recorded, and leased only by an earlier run.
ListedMessage Listings::listed(MessageRow row) const {
    ListedMessage message;
    message.row = std::move(row);
    MessageState& state = message.row.state;
    message.lease_until_ms = lifecycle_.kept_until(state.work->lease);
    const bool is_leased = message.lease_until_ms != 0;
    state.maybe_delivered |= !is_leased && earlier_runs_.may_have_delivered(message.row.id, state);
    state.state = is_leased ? State::leased : live_state(state.state, state.due_ms, state.is_recurring(), now_);
    return message;
}

// ---- dead letters

void Listings::look_up_dead(DeadListingLookup listing) {
    const ListCommand& command = listing.command;
    ScanDead wanted{command.name_space, command.queue, command.from, command.until_ms, command.limit};
    lookups_.start(std::move(wanted), std::move(listing));
}

void Listings::finish(DeadListingLookup listing, Stretch stretch, Generation generation) {
    if (!lookups_.is_fresh(generation)) return look_up_dead(std::move(listing));
    const ListCommand& command = listing.command;
    const auto position = [](const ListedMessage& message) {
        return DuePosition{message.row.ended_ms, message.row.id};
    };
    ListAnswer answer;
    answer.query = command.query;
    std::vector<ListedMessage>& page = answer.listed;
    for (MessageRow& row : stretch.rows) {
        if (recent_.find(row.id) == kNoEntry && recent_.outcome(row.id) == nullptr)
            page.push_back(listed(std::move(row)));
    }
    const QueueNumber queue = recent_.queues().find(command.name_space, command.queue);
    DuePosition from = command.from;
    for (std::uint32_t taken = 0; queue != kNoQueue && taken <= command.limit; ++taken) {
        const EntryNumber number = recent_.first_dead(queue, from.due_ms, from.id);
        if (number == kNoEntry) break;
        ListedMessage message = listed(recent_.entry(number));
        if (message.row.ended_ms >= command.until_ms) break;
        from = {message.row.ended_ms, message.row.id + 1};
        page.push_back(std::move(message));
    }
    std::sort(page.begin(), page.end(),
              [&](const ListedMessage& left, const ListedMessage& right) { return position(left) < position(right); });
    if (!stretch.complete) {  // the index may contain more rows after its last one
        answer.next = stretch.next;
        std::erase_if(page, [&](const ListedMessage& message) { return position(message) >= stretch.next; });
    }
    if (page.size() > command.limit) {
        page.resize(command.limit);
        answer.next = DuePosition{page.back().row.ended_ms, page.back().row.id + 1};
    }
    counters_.listed += page.size();
    open_.end(listing.command.name_space, listing.token, std::move(answer));
}

}  // namespace duewheel
