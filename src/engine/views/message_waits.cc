#include "engine/views/message_waits.h"

#include <algorithm>
#include <utility>

#include "base/dynamic_threshold.h"
#include "base/invariant.h"

namespace duewheel {

bool MessageWaits::has_room(const std::string& name_space) const {
    const auto own = of_namespace_.find(name_space);
    return may_take_one(own == of_namespace_.end() ? 0 : own->second, waits_.size(), options_.message_waits_max);
}

void MessageWaits::add(Wait wait, std::int64_t wait_ms) {
    const std::uint64_t number = next_++;
    by_message_.emplace(wait.id, number);
    by_reply_.emplace(wait.token, number);
    ++of_namespace_[wait.name_space];
    const TimerHandle timer = wheel_.schedule(static_cast<Tick>(now_ + wait_ms), kMessageWaitCookie | number, 0);
    waits_.emplace(number, Waiting{std::move(wait), timer});
}

void MessageWaits::note_end(MessageId id) {
    const auto [first, last] = by_message_.equal_range(id);
    for (auto each = first; each != last; ++each) ended_.push_back(each->second);
}

std::vector<MessageWaits::Wait> MessageWaits::take_ended() {
    std::vector<Wait> ended;
    for (const std::uint64_t number : std::exchange(ended_, {})) {
        if (std::optional<Wait> wait = take(number)) ended.push_back(*std::move(wait));
    }
    return ended;
}

std::optional<MessageWaits::Wait> MessageWaits::take(std::uint64_t number) {
    auto found = waits_.extract(number);
    if (found.empty()) return std::nullopt;
    Waiting& waiting = found.mapped();
    static_cast<void>(wheel_.cancel(waiting.timer));
    by_reply_.erase(waiting.wait.token);
    if (const auto own = of_namespace_.find(waiting.wait.name_space); --own->second == 0) of_namespace_.erase(own);
    const auto [first, last] = by_message_.equal_range(waiting.wait.id);
    by_message_.erase(std::find_if(first, last, [number](const auto& each) { return each.second == number; }));
    return std::move(waiting.wait);
}

std::vector<MessageWaits::Wait> MessageWaits::take_all() {
    std::vector<Wait> all;
    while (!waits_.empty()) all.push_back(*take(waits_.begin()->first));
    return all;
}

void MessageWaits::forget(ReplyToken token) {
    if (const auto found = by_reply_.find(token); found != by_reply_.end()) static_cast<void>(take(found->second));
}

void MessageWaits::check() const {
    require(waits_.size() == by_message_.size() && waits_.size() == by_reply_.size(),
            "the requests that wait for a message are not the same by message and by reply");
    require(waits_.size() <= options_.message_waits_max, "more requests wait for a message than may");
}

}  // namespace duewheel
