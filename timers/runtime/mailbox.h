// The commands of other threads for a timer service: a stack of nodes that any thread pushes to and one takes as a
// whole.
//
// Head, length and the closed flag are one word, so a push that exceeds the limit, or comes too late, is detected
// before it happens: the length never exceeds its limit, and a closed mailbox is always empty. The word is 48 bits of
// address, 15 of length and one closed flag. There is no ABA problem, because nodes are never taken off singly.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "runtime/fetch_ahead.h"
#include "runtime/interleaving_point.h"
#include <duewheel/timer_node.h>

namespace duewheel {

class Mailbox {
  public:
    // This few when interleavings are explored, so that it fills up in every scenario.
    static constexpr std::size_t kLengthMax = kInterleavingsExplored ? 2 : 1024;

    enum class Push : std::uint8_t { done, full, closed };

    // Any thread. The node is not in a mailbox. Sequentially consistent, so that of a thread that pushes and then
    // checks whether the driver sleeps, and a driver that announces its sleep and then checks here, at least one sees
    // the other.
    Push push(TimerNode& node) {
        std::uint64_t head = head_.load(std::memory_order_relaxed);
        for (;;) {
            interleaving_point();
            if ((head & kClosed) != 0) return Push::closed;
            const std::uint64_t length = head >> kLengthShift;
            if (length >= kLengthMax) return Push::full;
            node.next_posted = node_of(head);
            const auto address = reinterpret_cast<std::uintptr_t>(&node);
            assert(address >> kLengthShift == 0 && "an address of more than 48 bits");
            if (head_.compare_exchange_weak(head, address | (length + 1) << kLengthShift, std::memory_order_seq_cst)) {
                return Push::done;
            }
        }
    }

    // For the holder of the baton: all nodes, oldest first, linked by next_posted.
    TimerNode* take() {
        if (is_empty()) return nullptr;
        return oldest_first(head_.exchange(0, std::memory_order_seq_cst));
    }
    // The same, and nothing can be pushed afterwards.
    TimerNode* close() { return oldest_first(head_.exchange(kClosed, std::memory_order_seq_cst)); }

    bool is_empty() const { return (head_.load(std::memory_order_seq_cst) & ~kClosed) == 0; }
    bool is_closed() const { return (head_.load(std::memory_order_acquire) & kClosed) != 0; }
    std::size_t length() const { return (head_.load(std::memory_order_relaxed) & ~kClosed) >> kLengthShift; }

  private:
    static constexpr unsigned kLengthShift = 48;
    static constexpr std::uint64_t kClosed = std::uint64_t{1} << 63;

    static TimerNode* node_of(std::uint64_t head) {
        return reinterpret_cast<TimerNode*>(
            static_cast<std::uintptr_t>(head & ((std::uint64_t{1} << kLengthShift) - 1)));
    }
    static TimerNode* oldest_first(std::uint64_t head) {
        TimerNode* reversed = nullptr;
        for (TimerNode* node = node_of(head); node != nullptr;) {
            fetch_to_write(node);  // the cache line is transferred once, for writing
            TimerNode* const next = node->next_posted;
            node->next_posted = reversed;
            reversed = node;
            node = next;
        }
        return reversed;
    }

    std::atomic<std::uint64_t> head_{0};
};
static_assert(sizeof(void*) == 8, "the mailbox packs an address and a length into 64 bits");

}  // namespace duewheel
