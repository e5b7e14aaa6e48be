// A vector that grows by blocks, so that its elements stay where they are: one of a million would be copied in 30 ms,
// in which nothing is delivered, and needs three times its size meanwhile.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace duewheel {

template <class T>
class BlockVector {
  public:
    static constexpr std::size_t kBlock = 4096;

    std::size_t size() const { return size_; }
    std::size_t capacity() const { return blocks_.size() * kBlock; }
    T& operator[](std::size_t number) { return blocks_[number / kBlock][number % kBlock]; }
    const T& operator[](std::size_t number) const { return blocks_[number / kBlock][number % kBlock]; }
    // Adds default elements; it never shrinks.
    void grow_to(std::size_t size) {
        while (capacity() < size) blocks_.push_back(std::make_unique<T[]>(kBlock));
        size_ = size;
    }

  private:
    std::vector<std::unique_ptr<T[]>> blocks_;
    std::size_t size_ = 0;
};

}  // namespace duewheel
