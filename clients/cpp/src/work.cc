#include "work.h"

#include "wire.h"

namespace duewheel::client {

namespace detail {

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

std::string_view Ending::name() const {
    return verb == Verb::ack ? "ack" : verb == Verb::fail ? "fail" : "release";
}

std::string Ending::identity() const {
    std::string text(name());
    for (const std::string& part : {result.text, reason, fail.retry_in ? duration_text(*fail.retry_in) : "",
                                    std::string(fail.dead ? "dead" : ""), duration_text(delay)}) {
        (text += '\0') += part;
    }
    return text;
}

void Outbox::add(std::shared_ptr<detail::Work> work, const Ending& ending) {
    std::string identity = ending.identity();
    {
        const std::lock_guard lock(mutex_);
        const auto [group, is_new] = groups_.try_emplace(identity, Group{ending, {}});
        if (is_new) order_.push_back(std::move(identity));
        group->second.works.push_back(std::move(work));
    }
    filled_.notify_one();
}

std::optional<Outbox::Group> Outbox::take() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [this] { return closed_ || !order_.empty(); });
    if (order_.empty()) return {};
    const auto oldest = groups_.find(order_.front());
    Works& works = oldest->second.works;
    if (works.size() > kManyMax) {
        Group taken{oldest->second.ending, Works(works.begin(), works.begin() + kManyMax)};
        works.erase(works.begin(), works.begin() + kManyMax);
        return taken;
    }
    Group taken = std::move(oldest->second);
    groups_.erase(oldest);
    order_.pop_front();
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
