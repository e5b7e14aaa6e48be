// Waiting items in lines: one line for each queue of each namespace, so that a client that sends much does not delay
// the others.
//
// Deficit round robin (Shreedhar and Varghese, 1995) on two levels: namespaces take turns by weight, and within each
// the queues take equal turns. A turn is a number of units of cost, 8 KiB times the weight. An item that costs more
// than the rest of a turn is taken anyway and charged to the next turns, so that the next item can be inspected before
// it is known whether it will be taken. A line without items saves nothing up. The order within a line is kept.
//
// next(), push and take are O(1) amortized over the costs that are taken. Single-threaded; it depends only on its
// inputs and their order.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>

#include "engine/core/block_deque.h"

namespace duewheel {

// Identifies a line. Lines with the same number share a line, which is still fair to others.
struct LineKey {
    std::uint64_t name_space = 0;
    std::uint64_t queue = 0;  // 0: of the namespace itself

    bool operator==(const LineKey&) const = default;
};

// Participants that take turns, each with its own data.
template <class Inner>
class TurnRing {
  public:
    static constexpr std::int64_t kTurn = 8192;

    struct Taker {
        std::uint64_t key = 0;
        std::uint32_t weight = 1;
        std::int64_t left = 0;  // of its turn; below zero it is in debt
        Inner inner;
    };

    bool empty() const { return waiting_.empty(); }
    // The data of a participant, which takes turns from now on, last if it is new. `is_back`: an item was put back, and
    // it continues its turn.
    Inner& at(std::uint64_t key, std::uint32_t weight, bool is_back) {
        const auto found = by_key_.find(key);
        if (found != by_key_.end()) {
            found->second->weight = weight;
            if (found->second->inner.empty()) {
                if (!is_back) found->second->left = kTurn * weight;
                waiting_.splice(is_back ? waiting_.begin() : waiting_.end(), resting_, found->second);
            }
            return found->second->inner;
        }
        waiting_.push_back({key, weight, kTurn * weight, Inner{}});
        by_key_.emplace(key, std::prev(waiting_.end()));
        return waiting_.back().inner;
    }
    // Whose turn it is; there is one.
    Taker& current() {
        assert(!waiting_.empty());
        while (waiting_.front().left <= 0) {
            Taker& owing = waiting_.front();
            owing.left += kTurn * owing.weight;
            waiting_.splice(waiting_.end(), waiting_, waiting_.begin());
        }
        return waiting_.front();
    }
    // Something of the current one was taken; it leaves if nothing remains.
    void charge(std::int64_t cost) {
        Taker& taker = waiting_.front();
        taker.left -= cost;
        if (!taker.inner.empty()) return;
        resting_.splice(resting_.end(), waiting_, waiting_.begin());
        if (resting_.size() <= kResting) return;
        by_key_.erase(resting_.front().key);
        resting_.pop_front();
    }
    // Drops empty ones after something was taken out of turn.
    void rest_empty_ones() {
        for (auto at = waiting_.begin(); at != waiting_.end();) {
            const auto taker = at++;
            if (!taker->inner.empty()) continue;
            by_key_.erase(taker->key);
            waiting_.erase(taker);
        }
    }
    std::list<Taker>& waiting() { return waiting_; }
    const std::list<Taker>& waiting() const { return waiting_; }

  private:
    // Kept for reuse, so that a sequence of single commands allocates nothing.
    static constexpr std::size_t kResting = 16;

    std::list<Taker> waiting_;  // it is the turn of the first
    std::list<Taker> resting_;
    std::unordered_map<std::uint64_t, typename std::list<Taker>::iterator> by_key_;
};

template <class T>
class FairLines {
  public:
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }

    // `weight`: of its namespace, from now on.
    void push(LineKey key, std::uint32_t weight, T item) {
        ++size_;
        spaces_.at(key.name_space, weight, false).at(key.queue, 1, false).push_back(std::move(item));
    }
    // To the front of its line, where it was taken from.
    void put_back(LineKey key, std::uint32_t weight, T item) {
        ++size_;
        spaces_.at(key.name_space, weight, true).at(key.queue, 1, true).push_front(std::move(item));
    }
    // The item whose turn it is; there is one. Valid until the next put or take.
    T& next() { return spaces_.current().inner.current().inner.front(); }
    // Takes it.
    T take(std::int64_t cost) {
        auto& space = spaces_.current();
        auto& line = space.inner.current();
        T item = std::move(line.inner.front());
        line.inner.pop_front();
        space.inner.charge(cost);
        spaces_.charge(cost);
        --size_;
        return item;
    }
    // Takes all items that satisfy the predicate, in no particular order.
    template <class Drops>
    void erase_if(Drops&& drops) {
        for (auto& space : spaces_.waiting()) {
            for (auto& line : space.inner.waiting()) {
                const auto kept = std::remove_if(line.inner.begin(), line.inner.end(), drops);
                size_ -= static_cast<std::size_t>(line.inner.end() - kept);
                line.inner.erase(kept, line.inner.end());
            }
            space.inner.rest_empty_ones();
        }
        spaces_.rest_empty_ones();
    }
    // An item that satisfies the predicate, the first of its line; null if there is none.
    template <class Holds>
    const T* find_if(Holds&& holds) const {
        for (const auto& space : spaces_.waiting()) {
            for (const auto& line : space.inner.waiting()) {
                for (const T& item : line.inner) {
                    if (holds(item)) return &item;
                }
            }
        }
        return nullptr;
    }

  private:
    TurnRing<TurnRing<BlockDeque<T>>> spaces_;
    std::size_t size_ = 0;
};

}  // namespace duewheel
