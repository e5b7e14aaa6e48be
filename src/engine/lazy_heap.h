// A heap with lazy removal: an outdated key is dropped when it comes to the top, and a heap of mostly outdated keys is
// rebuilt, so that its memory is bounded by the live ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace duewheel {

// The smallest key is on top, by operator<.
template <class Key>
class LazyHeap {
  public:
    void push(const Key& key) {
        keys_.push_back(key);
        std::push_heap(keys_.begin(), keys_.end(), later);
    }
    // The smallest key that is_live() accepts, or null; the keys above it are dropped. `live_count` bounds the garbage:
    // with more than twice as many keys, all outdated ones are removed. Amortised O(log n).
    template <class IsLive>
    const Key* top(std::size_t live_count, IsLive&& is_live) {
        if (keys_.size() > 2 * live_count + 64) {
            std::erase_if(keys_, [&](const Key& key) { return !is_live(key); });
            std::make_heap(keys_.begin(), keys_.end(), later);
        }
        while (!keys_.empty() && !is_live(keys_.front())) pop();
        return keys_.empty() ? nullptr : &keys_.front();
    }
    void pop() {
        std::pop_heap(keys_.begin(), keys_.end(), later);
        keys_.pop_back();
    }

  private:
    static bool later(const Key& left, const Key& right) { return right < left; }

    std::vector<Key> keys_;
};

}  // namespace duewheel
