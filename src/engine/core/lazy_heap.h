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
    // The smallest `count` keys in order, without removing them; outdated ones are among them. O(count log count).
    template <class Visit>
    void visit_first(std::size_t count, const Visit& visit) const {
        std::vector<std::size_t> next;  // indexes of keys that may come next: a heap
        const auto later_at = [this](std::size_t left, std::size_t right) { return later(keys_[left], keys_[right]); };
        const auto add = [&](std::size_t index) {
            if (index >= keys_.size()) return;
            next.push_back(index);
            std::push_heap(next.begin(), next.end(), later_at);
        };
        for (add(0); !next.empty() && count > 0; --count) {
            std::pop_heap(next.begin(), next.end(), later_at);
            const std::size_t index = next.back();
            next.pop_back();
            visit(keys_[index]);
            add(2 * index + 1);
            add(2 * index + 2);
        }
    }
    bool is_empty() const { return keys_.empty(); }
    void pop() {
        std::pop_heap(keys_.begin(), keys_.end(), later);
        keys_.pop_back();
    }

  private:
    static bool later(const Key& left, const Key& right) { return right < left; }

    std::vector<Key> keys_;
};

}  // namespace duewheel
