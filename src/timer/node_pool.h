// Where the nodes of timers come from and go to, for all services of the process.
//
// Threads that schedule take nodes and the driver's thread gives them back, so an allocator whose threads keep what
// they free would work against us. Each thread has two magazines of 64 nodes, as in J. Bonwick's slab allocator (USENIX
// 2001): most calls touch nothing shared, and 64 nodes at a time pass from thread to thread under one lock. Taking a
// node fetches those that come next, as they lie in another processor's cache.
//
// Memory of nodes stays theirs for the life of the process: a handle may be asked about its timer whenever it likes.
#pragma once

#include <array>
#include <cstddef>

#include "timer/fetch_ahead.h"
#include <duewheel/timer_node.h>

namespace duewheel {

struct NodeMagazine {
    static constexpr std::size_t kNodes = 64;

    std::size_t count = 0;
    std::array<TimerNode*, kNodes> nodes;
};

// A thread's own. Without constructor and destructor, so that reaching it costs nothing.
struct NodeCache {
    NodeMagazine* loaded;
    NodeMagazine* other;
    bool ended;  // the thread is ending, and what it had is in the depot
};
inline constinit thread_local NodeCache node_cache{nullptr, nullptr, false};

// Where the magazines at hand do not do.
TimerNode& take_node_slowly();
void give_node_slowly(TimerNode& node) noexcept;

// A node that nobody refers to, with an empty task. Throws std::bad_alloc.
inline TimerNode& take_node() {
    constexpr std::size_t kFetchAhead = 6;
    NodeMagazine* const magazine = node_cache.loaded;
    if (magazine == nullptr || magazine->count == 0) [[unlikely]]
        return take_node_slowly();
    const std::size_t index = --magazine->count;
    if (index >= kFetchAhead) fetch_to_write(magazine->nodes[index - kFetchAhead]);
    return *magazine->nodes[index];
}

// The node is idle, its task empty, its references gone.
inline void give_node(TimerNode& node) noexcept {
    NodeMagazine* const magazine = node_cache.loaded;
    if (magazine == nullptr || magazine->count == NodeMagazine::kNodes) [[unlikely]]
        return give_node_slowly(node);
    magazine->nodes[magazine->count++] = &node;
}

// Whether no thread has it locked just now, asked by one that has not: for tests.
bool node_pool_is_free();

// Nodes there are in all, in use or not.
std::size_t node_pool_size();

}  // namespace duewheel
