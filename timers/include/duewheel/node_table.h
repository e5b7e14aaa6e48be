// Numbered nodes in segments that never move: growing costs one allocation, whatever the size, and no call is ever as
// slow as copying a million timers. A building block of the wheels; start with duewheel/timing_wheel.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <duewheel/strip.h>

namespace duewheel {

// Node is plain data. A node is not initialised before it is added, so memory that was only reserved is not
// accessed.
template <class Node>
class NodeTable {
  public:
    static_assert(std::is_trivially_default_constructible_v<Node> && std::is_trivially_copyable_v<Node>);

    // Throws std::bad_alloc; then nothing has changed.
    TimerIndex add(const Node& node) {
        reserve(size_ + 1);
        const auto index = static_cast<TimerIndex>(size_++);
        (*this)[index] = node;
        return index;
    }

    void reserve(std::size_t nodes) {
        while (segments_.size() * kSegmentNodes < nodes) {
            std::unique_ptr<Node[]> segment(new Node[kSegmentNodes]);
            segments_.push_back(std::move(segment));
        }
    }

    Node& operator[](TimerIndex index) { return segments_[index / kSegmentNodes][index % kSegmentNodes]; }
    const Node& operator[](TimerIndex index) const { return segments_[index / kSegmentNodes][index % kSegmentNodes]; }

    void prefetch(TimerIndex index) const {
        const Node& node = (*this)[index];
        __builtin_prefetch(&node, 1);
    }

    std::size_t size() const { return size_; }
    std::size_t memory_bytes() const {
        return segments_.size() * kSegmentNodes * sizeof(Node) + segments_.capacity() * sizeof(segments_[0]);
    }

  private:
    friend struct TimingWheelProbe;  // lets the tests come near the limit

    static constexpr std::size_t kSegmentNodes = 8192;

    std::vector<std::unique_ptr<Node[]>> segments_;
    std::size_t size_ = 0;
};

}  // namespace duewheel
