#include "delivery/pusher_lease_ends.h"

#include <limits>
#include <utility>

#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr std::int64_t kRepeatEndMs = 1'000;

}  // namespace

void PusherLeaseEnds::run_due(DueMs now) {
    while (!again_.empty() && again_.begin()->first <= now) {
        Ended end = std::move(again_.begin()->second);
        again_.erase(again_.begin());
        submit(std::move(end));
    }
}

DueMs PusherLeaseEnds::next_wakeup() const {
    return again_.empty() ? std::numeric_limits<DueMs>::max() : again_.begin()->first;
}

std::optional<PusherLeaseEnds::Ended> PusherLeaseEnds::take(ReplyToken token, Reply reply, DueMs now) {
    auto awaited = awaited_.extract(token);
    if (awaited.empty()) return std::nullopt;
    Ended end = std::move(awaited.mapped());
    const Error* refused = std::get_if<Error>(&reply);
    const bool may_pass =
        refused != nullptr && (refused->code == "too_busy"_code || refused->code == "store_full"_code);
    if (may_pass && now + kRepeatEndMs < end.until_ms && !stopping_) {
        again_.emplace(now + kRepeatEndMs, std::move(end));
        return std::nullopt;
    }
    end.reply = std::move(reply);
    return end;
}

void PusherLeaseEnds::submit(Ended end) {
    const ReplyToken token = submit_(end.command);
    awaited_.emplace(token, std::move(end));
}

}  // namespace duewheel
