// The pool of timer nodes, for all services of the process.
//
// Threads that schedule take nodes and the driver's thread returns them, so an allocator whose threads keep what they
// free would be inefficient. Each thread has two magazines of 64 nodes, as in J. Bonwick's slab allocator (USENIX
// 2001): most calls touch nothing shared, and 64 nodes at a time move between threads under one lock. Taking a node
// prefetches the next ones, which are in another processor's cache.
//
// The memory of nodes is kept for the life of the process: a handle can query its timer at any time.
#pragma once

#include <array>
#include <cstddef>

#include "runtime/fetch_ahead.h"
#include <duewheel/timer_node.h>

namespace duewheel {

struct NodeMagazine {
    static constexpr std::size_t kNodes = 64;

    std::size_t count = 0;
    std::array<TimerNode*, kNodes> nodes;
};

// The cache of one thread. It has no constructor and destructor, so that access costs nothing.
struct NodeCache {
    NodeMagazine* loaded;
    NodeMagazine* other;
    bool ended;  // the thread is ending, and its nodes are in the depot
};
inline constinit thread_local NodeCache node_cache{nullptr, nullptr, false};

// If the current magazines are not sufficient.
TimerNode& take_node_slowly();
void give_node_slowly(TimerNode& node) noexcept;

// A node without references, with an empty task. Throws std::bad_alloc.
inline TimerNode& take_node() {
    constexpr std::size_t kFetchAhead = 6;
    NodeMagazine* const magazine = node_cache.loaded;
    if (magazine == nullptr || magazine->count == 0) [[unlikely]]
        return take_node_slowly();
    const std::size_t index = --magazine->count;
    if (index >= kFetchAhead) fetch_to_write(magazine->nodes[index - kFetchAhead]);
    return *magazine->nodes[index];
}

// The node is idle, with an empty task and without references.
inline void give_node(TimerNode& node) noexcept {
    NodeMagazine* const magazine = node_cache.loaded;
    if (magazine == nullptr || magazine->count == NodeMagazine::kNodes) [[unlikely]]
        return give_node_slowly(node);
    magazine->nodes[magazine->count++] = &node;
}

// Whether no thread holds its lock now, checked by one that does not: for tests.
bool node_pool_is_free();

// Total number of nodes, in use or not.
std::size_t node_pool_size();

}  // namespace duewheel
