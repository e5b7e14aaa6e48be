#include "engine/core/lookups.h"

#include <algorithm>
#include <cassert>

namespace duewheel {
namespace {

std::size_t shown_bytes_of(const PendingLookup& pending) {
    return std::visit(
        [](const auto& lookup) -> std::size_t {
            if constexpr (requires { lookup.shown_bytes; }) return lookup.shown_bytes;
            return 0;
        },
        pending);
}

bool is_awaited(const PendingLookup& pending) {
    return std::visit(
        []<class Kind>(const Kind&) -> bool {
            if constexpr (requires { Kind::kIsAwaited; }) return Kind::kIsAwaited;
            return false;
        },
        pending);
}

}  // namespace

std::uint64_t Lookups::start(decltype(Lookup::what) wanted, PendingLookup pending) {
    const std::uint64_t ticket = next_ticket_++;
    shown_bytes_ += shown_bytes_of(pending);
    open_.emplace(ticket, std::move(pending));
    started_.push_back(Lookup{ticket, std::move(wanted)});
    return ticket;
}

PendingLookup Lookups::finish(std::uint64_t ticket, Generation generation) {
    const auto found = open_.find(ticket);
    assert(found != open_.end());
    PendingLookup pending = std::move(found->second);
    open_.erase(found);
    shown_bytes_ -= shown_bytes_of(pending);
    if (!is_fresh(generation)) ++stale_results_;
    return pending;
}

void Lookups::table_taken(SegmentNumber through) {
    sealed_through_ = std::max(sealed_through_, through);
    generation_.fetch_add(1);
}

bool Lookups::is_open_until(std::uint64_t ticket) const {
    return std::any_of(open_.begin(), open_.end(), [ticket](const auto& each) { return each.first <= ticket; });
}

bool Lookups::has_awaited() const {
    return std::any_of(open_.begin(), open_.end(), [](const auto& each) { return is_awaited(each.second); });
}

}  // namespace duewheel
