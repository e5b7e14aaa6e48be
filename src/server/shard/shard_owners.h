// Where the owner of each shard answers HTTP requests. A hint: a node that does not own the shard any more redirects
// again, and only the log decides which node owns it.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace duewheel {

// Any thread.
class ShardOwners {
  public:
    void set(std::uint32_t shard, std::string url) {
        const std::lock_guard lock(mutex_);
        if (urls_.size() <= shard) urls_.resize(shard + 1);
        urls_[shard] = std::move(url);
    }
    // Empty: not known.
    std::string url_of(std::uint32_t shard) const {
        const std::lock_guard lock(mutex_);
        return shard < urls_.size() ? urls_[shard] : std::string();
    }

  private:
    mutable std::mutex mutex_;
    std::vector<std::string> urls_;  // guarded by mutex_
};

}  // namespace duewheel
