#include "work.h"

#include <algorithm>

#include "wire.h"

namespace duewheel::client {

namespace detail {

bool Work::has_said() {
    const std::lock_guard lock(mutex);
    return !said.progress.text.empty() || !said.checkpoint.text.empty();
}

ExtendOptions Work::take_said() {
    const std::lock_guard lock(mutex);
    return std::exchange(said, {});
}

void Work::say_again(ExtendOptions again) {
    const std::lock_guard lock(mutex);
    if (said.progress.text.empty()) said.progress = std::move(again.progress);
    if (said.checkpoint.text.empty()) said.checkpoint = std::move(again.checkpoint);
}

bool Work::disown() {
    const std::lock_guard lock(mutex);
    return !std::exchange(disowned, true);
}

void Work::request_stop(StopReason why) {
    {
        const std::lock_guard lock(mutex);
        if (reason == StopReason::none) reason = why;
    }
    stop.request_stop();
}

}  // namespace detail

Ending Ending::ack(const Json& result) {
    return {"ack", ack_members(result)};
}

Ending Ending::fail(const std::string& reason, const FailOptions& options) {
    return {"fail", fail_members(reason, options)};
}

Ending Ending::release(Duration delay) {
    return {"release", release_members(delay)};
}

Ending Ending::refused(const std::string& verb, const Error& why) {
    Ending ending = fail("the " + verb + " was refused: " + why.text());
    ending.is_last = true;
    return ending;
}

void Outbox::add(Ended ended) {
    {
        const std::lock_guard lock(mutex_);
        auto group = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&ended](const auto& each) { return each.front().ending.verb == ended.ending.verb; });
        if (group == waiting_.end()) group = waiting_.emplace(group);
        group->push_back(std::move(ended));
        if (++count_ != 1 && count_ != kFullRequest) return;
    }
    filled_.notify_all();
}

std::vector<Ended> Outbox::take() {
    std::unique_lock lock(mutex_);
    std::vector<Ended> taken;
    while (waiting_.empty() && !closed_) {
        filled_.wait(lock, [this] { return closed_ || count_ > 0; });
        filled_.wait_for(lock, kGatherEndings, [this] { return closed_ || count_ >= kFullRequest; });
    }
    if (waiting_.empty()) return taken;
    std::deque<Ended> group = std::move(waiting_.front());
    waiting_.pop_front();
    for (std::size_t size = 0; !group.empty() && taken.size() < kManyMax; group.pop_front()) {
        size += group.front().ending.members.size();
        if (size > kBodyMax && !taken.empty()) break;
        taken.push_back(std::move(group.front()));
    }
    if (!group.empty()) waiting_.push_back(std::move(group));
    count_ -= taken.size();
    if (count_ > 0) filled_.notify_one();
    return taken;
}

void Outbox::close() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    filled_.notify_all();
}

}  // namespace duewheel::client
