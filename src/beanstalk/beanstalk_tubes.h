// What the protocol has of a tube beside its queue: how many sessions use and watch it, its pause, and counts for
// stats-tube. A tube is there while a session uses or watches it, or while it is paused; the queue of its name is there
// without it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace duewheel {

struct BeanstalkTube {
    std::uint64_t using_it = 0;  // sessions
    std::uint64_t watching = 0;
    std::uint64_t waiting = 0;  // of these: in a reserve
    std::uint64_t jobs = 0;     // put by sessions
    std::uint64_t deletes = 0;
    std::uint64_t pauses = 0;
    std::int64_t paused_until_ms = 0;  // monotonic
    std::uint32_t pause_s = 0;         // of the current pause

    bool is_paused(std::int64_t now_ms) const { return paused_until_ms > now_ms; }
    bool is_needed(std::int64_t now_ms) const { return using_it > 0 || watching > 0 || is_paused(now_ms); }
};

class BeanstalkTubes {
  public:
    BeanstalkTube& at(std::string_view name) { return tubes_.try_emplace(std::string(name)).first->second; }
    BeanstalkTube* find(std::string_view name) {
        const auto found = tubes_.find(name);
        return found == tubes_.end() ? nullptr : &found->second;
    }
    void drop_if_unneeded(std::string_view name, std::int64_t now_ms) {
        const auto found = tubes_.find(name);
        if (found != tubes_.end() && !found->second.is_needed(now_ms)) tubes_.erase(found);
    }
    const std::map<std::string, BeanstalkTube, std::less<>>& all() const { return tubes_; }

  private:
    std::map<std::string, BeanstalkTube, std::less<>> tubes_;
};

}  // namespace duewheel
