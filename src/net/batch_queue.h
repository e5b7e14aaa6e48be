// Passes items from the thread of one EventLoop to that of another, in batches: what is sent in an iteration of the
// sender's loop is passed with one lock and at most one wake-up of the receiver, when that iteration ends.
//
//     sender: send() ... send() ── after the turn ──► [passed] ── post() ──► receiver: receive(item) for each
//
// Items are received in the order in which they were sent. The receiver takes turns with the other work of its loop:
// after kRoundNs the remaining items wait for the next iteration.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "net/event_loop.h"
#include "shared/system_clock.h"

namespace duewheel {

template <class Item>
class BatchQueue final : private AfterTurn, public std::enable_shared_from_this<BatchQueue<Item>> {
  public:
    using Receiver = std::function<void(Item&&)>;

    // `receive` runs on the thread of `to`. Both loops outlive close().
    static std::shared_ptr<BatchQueue> open(EventLoop& from, EventLoop& to, Receiver receive) {
        return std::shared_ptr<BatchQueue>(new BatchQueue(from, to, std::move(receive)));
    }
    BatchQueue(const BatchQueue&) = delete;
    BatchQueue& operator=(const BatchQueue&) = delete;

    // The sender's thread. After close() the item is destroyed.
    void send(Item item) {
        if (!is_closed_) collected_.push_back(std::move(item));
    }
    // The sender's thread.
    bool is_closed() const { return is_closed_; }
    // When neither loop runs, or both are this thread's: nothing is received any more.
    void close() {
        if (std::exchange(is_closed_, true)) return;
        from_.remove(*this);
        receive_ = nullptr;
        collected_.clear();
        received_.clear();
        passed_.clear();
    }

  private:
    static constexpr std::int64_t kRoundNs = 500'000;
    static constexpr std::size_t kItemsPerClockRead = 16;

    BatchQueue(EventLoop& from, EventLoop& to, Receiver receive) : from_(from), to_(to), receive_(std::move(receive)) {
        from_.add(*this);
    }

    bool after_turn() override {
        if (collected_.empty()) return false;
        bool is_idle = false;
        {
            const std::lock_guard lock(mutex_);
            if (passed_.empty()) {
                passed_.swap(collected_);
            } else {
                std::move(collected_.begin(), collected_.end(), std::back_inserter(passed_));
            }
            is_idle = !std::exchange(is_posted_, true);
        }
        collected_.clear();
        if (is_idle) post();
        return false;
    }

    void post() {
        to_.post([self = this->shared_from_this()] { self->receive_round(); });
    }

    void receive_round() {
        if (!receive_) return;
        if (next_ == received_.size()) {
            next_ = 0;
            received_.clear();
            const std::lock_guard lock(mutex_);
            received_.swap(passed_);
        }
        const std::int64_t until_ns = monotonic_now_ns() + kRoundNs;
        while (next_ < received_.size()) {
            receive_(std::move(received_[next_++]));
            if (next_ % kItemsPerClockRead == 0 && monotonic_now_ns() >= until_ns) break;
        }
        if (next_ == received_.size()) {
            const std::lock_guard lock(mutex_);
            is_posted_ = !passed_.empty();
            if (!is_posted_) return;
        }
        post();
    }

    EventLoop& from_;
    EventLoop& to_;
    Receiver receive_;
    std::vector<Item> collected_;  // of the sender
    std::vector<Item> received_;   // of the receiver, with those from next_ on still to come
    std::size_t next_ = 0;
    std::mutex mutex_;
    std::vector<Item> passed_;  // guarded by mutex_
    bool is_posted_ = false;    // guarded by mutex_: the receiver will look for items
    bool is_closed_ = false;
};

}  // namespace duewheel
