// A heap: a tree in an array, in which no timer is due before its parent. The next one is the root.
//
// Source: scheme 3 (trees) of G. Varghese, T. Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987; the heap
// itself is J. Williams', "Algorithm 232: Heapsort", CACM 1964. With two children a node it is libevent's, libuv's and
// NSQ's; with four, which makes the tree half as high and its siblings neighbours in memory, it is libev's and Go's.
//
//            children of position p:  Arity * p + 1 ... Arity * p + Arity        parent of p:  (p - 1) / Arity
//
// Costs: schedule and cancel O(log n), a timer that fires O(log n), next_expiry O(1). Each timer knows its position, so
// that cancelling needs no search; that is why every move in the array writes to the timer that moves, which is a cache
// miss each. Right where exact order and an exact next deadline matter and n is some thousands. Drawback: the
// common case of timers that are cancelled, not fired, pays the logarithm twice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "schemes/scheme.h"

namespace duewheel {

template <std::size_t Arity>
class TimerHeap : public Scheme<TimerHeap<Arity>> {
    static_assert(Arity >= 2);
    using Base = Scheme<TimerHeap<Arity>>;

  public:
    explicit TimerHeap(Tick now = 0) : Base(now) {}

    std::vector<Row> rows() const { return {Row{"heap", heap_.size(), std::nullopt}}; }

  private:
    friend Base;
    friend struct SchemeProbe;

    // The deadline is kept beside the pointer, so that comparing does not visit the timers.
    struct Entry {
        Tick deadline;
        Timer* timer;
    };

    void file(Timer& timer) {
        heap_.push_back(Entry{timer.deadline, &timer});
        sift_up(heap_.size() - 1);
    }

    // The last one takes the empty place, and may belong above it or below.
    void unfile(Timer& timer) {
        const auto position = static_cast<std::size_t>(timer.note);
        const Entry last = heap_.back();
        heap_.pop_back();
        if (position == heap_.size()) return;
        heap_[position] = last;
        sift_up(sift_down(position));
    }

    bool collect(Tick limit) {
        const Tick next = earliest();
        if (next > limit) return false;
        while (earliest() == next) {
            Timer& timer = *heap_.front().timer;
            unfile(timer);
            this->make_due(timer);
        }
        return true;
    }

    Tick earliest() const { return heap_.empty() ? kNever : heap_.front().deadline; }

    void put(std::size_t position, Entry entry) {
        heap_[position] = entry;
        entry.timer->note = position;
    }

    void sift_up(std::size_t position) {
        const Entry entry = heap_[position];
        while (position > 0) {
            const std::size_t parent = (position - 1) / Arity;
            if (heap_[parent].deadline <= entry.deadline) break;
            put(position, heap_[parent]);
            position = parent;
        }
        put(position, entry);
    }

    // Where the entry has come to.
    std::size_t sift_down(std::size_t position) {
        const Entry entry = heap_[position];
        for (;;) {
            const std::size_t first = Arity * position + 1;
            if (first >= heap_.size()) break;
            const std::size_t end = std::min(first + Arity, heap_.size());
            std::size_t smallest = first;
            for (std::size_t child = first + 1; child < end; ++child) {
                if (heap_[child].deadline < heap_[smallest].deadline) smallest = child;
            }
            if (heap_[smallest].deadline >= entry.deadline) break;
            put(position, heap_[smallest]);
            position = smallest;
        }
        put(position, entry);
        return position;
    }

    std::size_t check_filed() const {
        for (std::size_t position = 0; position < heap_.size(); ++position) {
            const Entry& entry = heap_[position];
            Base::require(entry.timer->state == Timer::State::filed, "a timer in the heap says so");
            Base::require(entry.timer->note == position, "a timer in the heap knows its position");
            Base::require(entry.timer->deadline == entry.deadline, "the heap knows its timers' deadlines");
            Base::require(entry.deadline < kNever, "a timer in the heap can fire");
            Base::require(heap_[position == 0 ? 0 : (position - 1) / Arity].deadline <= entry.deadline,
                          "no timer in the heap is due before its parent");
        }
        return heap_.size();
    }

    Place locate(const Timer& timer) const { return Place{0, static_cast<std::size_t>(timer.note)}; }

    std::vector<Entry> heap_;
};

using BinaryHeap = TimerHeap<2>;
using QuaternaryHeap = TimerHeap<4>;

}  // namespace duewheel
