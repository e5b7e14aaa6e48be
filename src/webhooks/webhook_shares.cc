#include "webhooks/webhook_shares.h"

#include <algorithm>
#include <utility>

#include "base/dynamic_threshold.h"

namespace duewheel {

void WebhookShares::join(Use& use, TargetNumber number, const std::string& name_space) {
    use.number = number;
    use.share = &shares_[name_space];
    ++use.share->targets;
}

void WebhookShares::part(Use& use, const std::string& name_space) {
    if (--use.share->targets == 0) shares_.erase(name_space);
    use.share = nullptr;
}

// Targets that already wait are served first.
std::size_t WebhookShares::room_or_wait(Use& use) {
    Share& share = *use.share;
    const bool is_its_turn = std::exchange(use.fed, false) || share.starved.empty();
    const std::size_t room = is_its_turn ? room_of(use) : 0;
    if (room > 0 || use.busy > 0 || std::exchange(use.starved, true)) return room;
    share.starved.push_back(&use);
    ++starved_;
    return 0;
}

void WebhookShares::add(Use& use, std::size_t bytes) {
    Share& share = *use.share;
    bytes_ += bytes;
    share.bytes += bytes;
    use.bytes += bytes;
    ++use.busy;
    if (share.lines.empty()) lines_.push_back(&share);
    if (use.queued++ == 0) share.lines.push_back(&use);
    ++share.queued;
}

void WebhookShares::remove(Use& use, std::size_t bytes) {
    bytes_ -= bytes;
    use.share->bytes -= bytes;
    use.bytes -= bytes;
    --use.busy;
}

void WebhookShares::post_begun(Use& use) {
    ++in_flight_;
    ++use.share->in_flight;
    if (use.in_flight++ == 0) ++use.share->begun;
}

void WebhookShares::post_ended(Use& use) {
    --in_flight_;
    --use.share->in_flight;
    if (--use.in_flight == 0) --use.share->begun;
}

bool WebhookShares::may_feed() const {
    return starved_ > 0 && std::any_of(shares_.begin(), shares_.end(), [this](const auto& each) {
               return !each.second.starved.empty() && may_have_one(each.second);
           });
}

// Connections that are reserved for targets of the namespace that have none. Without them a few hanging targets would
// use the whole share of their namespace.
std::size_t WebhookShares::kept_in(const Share& share) const {
    const std::size_t firsts = std::min(share.targets, options_.connections_max * 2 / 5);
    const std::size_t kept = firsts - std::min(firsts, share.begun);
    return std::min(kept, options_.connections_max - in_flight_);
}

// The number of further posts for a target of the namespace that already has one.
std::size_t WebhookShares::left_in(const Share& share) const {
    const std::size_t kept = kept_in(share);
    return left_of(share.in_flight + kept, options_.connections_max - in_flight_ - kept);
}

// How many more messages the namespace may lease within its share.
std::size_t WebhookShares::room_in(const Share& share) const {
    if (bytes_ >= options_.bytes_in_flight_max) return 0;
    if (share.bytes >= kTimesFree * (options_.bytes_in_flight_max - bytes_)) return 0;
    const std::size_t kept = kept_in(share);
    const std::size_t most = kTimesFree * (options_.connections_max - in_flight_ - kept);
    const std::size_t own = share.in_flight + share.queued + kept;
    return own >= most ? 0 : std::max<std::size_t>((most - own) / (kTimesFree + 1), 1);
}

// How many more messages the target may lease. A target without any may have one as long as its namespace may,
// regardless of reserved resources.
std::size_t WebhookShares::room_of(const Use& use) const {
    const Share& share = *use.share;
    const std::size_t left = left_in(share);
    const bool is_large = use.bytes != 0 && (bytes_ >= options_.bytes_in_flight_max ||
                                             use.bytes >= left_of(share.bytes, options_.bytes_in_flight_max - bytes_));
    if (use.busy < left && !is_large) {
        const std::size_t room = std::min(room_in(share), (left - use.busy + 1) / 2);
        if (room > 0) return room;
    }
    return use.busy == 0 && may_have_one(share) ? 1 : 0;
}

bool WebhookShares::may_have_one(const Share& share) const {
    return !stopping_ && bytes_ < options_.bytes_in_flight_max && may_begin(share);
}

bool WebhookShares::may_begin(const Share& share) const {
    return stopping_ || share.in_flight < kTimesFree * (options_.connections_max - in_flight_);
}

bool WebhookShares::may_begin(const Use& use) const {
    if (stopping_ || use.in_flight == 0) return true;  // as its namespace may
    return use.in_flight < left_in(*use.share);
}

}  // namespace duewheel
