// What each page of a listing must contain, and the listing as a whole: a message that does not change from the first
// page to the last is in exactly one of them.
#include <algorithm>
#include <limits>

#include "simulation/oracle.h"

namespace duewheel {
namespace {

constexpr StateSet kDeadAlone{State::dead};

// The dead stand in the order of their deaths.
DuePosition position_in(const ListCommand& list, const ListedMessage& listed) {
    return {list.states == kDeadAlone ? listed.row.ended_ms : listed.row.state.due_ms, listed.row.id};
}

bool asks_for_all(const ListCommand& list) {
    return list.from == DuePosition{} && list.until_ms == std::numeric_limits<DueMs>::max();
}

bool is_exact(const World& world) {
    return world.due.low == world.due.high;
}

}  // namespace

bool Oracle::is_listed_in(const MessageModel& of, const ListCommand& list) const {
    return of.id != 0 && of.put.queue == list.queue && of.put.name_space == list.name_space;
}

// Before a page is asked for: who has surely ended, and, for the first page, who may have to be met.
void Oracle::listing_submitted(const ListCommand& list) {
    Listing& listing = listings_[list.query];
    const bool first = listing.first.query == 0;
    if (first) listing.first = list;
    listing.ended_before.clear();
    for (const MessageModel& message : messages_) {
        if (!is_listed_in(message, list)) continue;
        const World* world = message.certain();
        if (message.is_recurring()) listing.made_least[message.serial] = message.loop->made_least;
        if (world == nullptr || !message.open.empty()) continue;
        if (first && list.states == kUnfinishedStates && stands_exactly(message)) {
            const DueMs due = *next_due(message);
            if (due < list.from.due_ms || due >= list.until_ms) continue;
            listing.standing[message.serial] = {message.epochs.size(), 0, 0, false, message.loop->made_least};
            continue;
        }
        if (world->is_ended()) listing.ended_before.insert(message.serial);
        if (first && list.states == kDeadAlone && world->phase == World::Phase::dead && asks_for_all(list)) {
            listing.standing[message.serial] = {message.epochs.size(), 0, 0, false, 0};
        }
        if (!first || list.states == kDeadAlone || !world->is_live() || !is_exact(*world)) continue;
        if (world->due.low < list.from.due_ms || world->due.low >= list.until_ms) continue;
        listing.standing[message.serial] = {message.epochs.size(), unseen(message) + message.deliveries.size(), 0,
                                            world->due.high <= now_, 0};
    }
}

// Nothing of the recurring message is on its way.
bool Oracle::stands_exactly(const MessageModel& about) const {
    const World* world = about.certain();
    return about.is_recurring() && world != nullptr && world->is_live() && about.open.empty() &&
           about.loop->is_exact() && about.loop->made_least == made_at_most(about) && next_due(about);
}

void Oracle::list_replied(const Request& request, const ListAnswer& answer) {
    const auto& list = std::get<ListCommand>(request.command);
    Listing& listing = listings_.at(list.query);
    if (answer.query != list.query) return violate("X", "a page of another listing");
    if (answer.listed.size() > list.limit) return violate("C11", "a page is longer than its limit");
    if (answer.next && *answer.next <= list.from) return violate("C11", "a listing does not go on");
    if (answer.listed.empty() && answer.next) rare_.met(Rare::empty_page_with_another_behind);
    DuePosition before{};
    for (const ListedMessage& listed : answer.listed) {
        const DuePosition at = position_in(list, listed);
        const bool inside = at >= list.from && at.due_ms < list.until_ms && (!answer.next || at < *answer.next);
        if (!inside) return violate("X", "a page has a message from outside of its bounds");
        if (at <= before) return violate("X", "a page is out of order, or has a message twice");
        before = at;
        row_listed(listing, request, listed);
        if (violated()) return;
    }
    if (answer.next) {
        rare_.met(Rare::page_with_another_behind);
        return;
    }
    listing_ended(listing);
    listings_.erase(list.query);
}

void Oracle::row_listed(Listing& listing, const Request& request, const ListedMessage& listed) {
    const auto& list = std::get<ListCommand>(request.command);
    const MessageState& row = listed.row.state;
    if (!list.states.contains(row.state)) return violate("X", "a page has a message in a state that was not asked for");
    if (row.queue != list.queue || row.name_space != list.name_space)
        return violate("X", "a page has a message of another queue");
    MessageModel* about = message_of(listed.row.id);
    if (about == nullptr) return;  // its put was not answered, or not yet
    note(*about, "listed, due, state", row.due_ms, static_cast<std::int64_t>(row.state));
    if (listing.ended_before.contains(about->serial)) {
        return violate("C3", "listed, but it had ended before the page was asked for: " + describe(about->worlds()),
                       about);
    }
    if (row.state == State::ready && row.due_ms > now_) return violate("C2", "listed as ready before it is due", about);
    const bool waits = waits_for_due(row.state);
    if (about->is_recurring()) {
        rare_.met(Rare::loop_listed);
        check_loop_row(*about, row, listing.made_least[about->serial]);
        if (violated()) return;
    }
    if (waits && row.due_ms <= request.submitted_ms && !about->is_recurring())
        return violate("X", "listed as waiting although it is due", about);
    if ((row.state == State::leased) != (listed.lease_until_ms != 0))
        return violate("X", "listed with a lease that it is not in", about);
    if (row.state == State::leased) rare_.met(Rare::leased_message_listed);
    const auto standing = listing.standing.find(about->serial);
    if (standing == listing.standing.end()) return;
    const bool changed = about->epochs.size() != standing->second.epochs || !about->open.empty();
    const World* world = about->certain();  // none where a delivery before that was told meanwhile leaves it open
    if (!changed && world != nullptr && !world->due.holds(row.due_ms)) {
        return violate(
            "X", "listed as due at " + std::to_string(row.due_ms) + ", but it is " + describe(about->worlds()), about);
    }
    ++standing->second.pages;
}

void Oracle::listing_ended(const Listing& listing) {
    const StateSet& states = listing.first.states;
    std::uint64_t met = 0;
    for (const auto& [serial, standing] : listing.standing) {
        const MessageModel& message = messages_[serial - 1];
        if (states == kDeadAlone) {
            const bool changed = message.epochs.size() != standing.epochs || !message.open.empty();
            if (changed || may_be_let_go(message) || may_be_discarded(message)) continue;
            if (standing.pages != 1) {
                return violate(
                    "C3", "stood dead through a listing and was in " + std::to_string(standing.pages) + " of its pages",
                    &message);
            }
            rare_.met(Rare::dead_message_listed);
            continue;
        }
        if (message.epochs.size() != standing.epochs || !message.open.empty() || may_have_died(message)) continue;
        if (message.is_recurring() && (!stands_exactly(message) || message.loop->made_least != standing.made)) continue;
        if (message.may_have_expired(latest()) || message.certain() == nullptr) continue;
        // Where states were chosen, a lease and the clock are changes too.
        const bool was_leased = unseen(message) + message.deliveries.size() != standing.deliveries ||
                                unseen(message) + message.deliveries.size() > 0;
        const bool became_due = !standing.was_due && message.certain()->due.low <= now_;
        const bool asked_for = standing.was_due ? states.contains(State::ready)
                                                : states.contains(State::scheduled) && states.contains(State::retrying);
        if (states != kUnfinishedStates && (was_leased || became_due || !asked_for)) continue;
        if (standing.pages != 1) {
            return violate(
                "C3",
                "stood unchanged through a listing and was in " + std::to_string(standing.pages) + " of its pages",
                &message);
        }
        ++met;
        if (message.is_recurring()) rare_.met(Rare::loop_that_stood_through_a_listing);
    }
    rare_.met(Rare::listing_ended);
    if (met > 2) rare_.met(Rare::listing_of_several_that_stood);
}

}  // namespace duewheel
