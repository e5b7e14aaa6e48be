// Where the nodes of timers come from and go to, for all services of the process.
//
// Threads that schedule take nodes and the driver's thread gives them back, so an allocator whose threads keep what
// they free would work against us. Each thread has two magazines of 64 nodes, as in J. Bonwick's slab allocator (USENIX
// 2001): most calls touch nothing shared, and 64 nodes at a time pass from thread to thread under one lock. Taking a
// node fetches those that come next, as they lie in another processor's cache.
//
// Memory of nodes stays theirs for the life of the process: a handle may be asked about its timer whenever it likes.
#pragma once

#include <cstddef>

#include <duewheel/timer_node.h>

namespace duewheel {

// A node that nobody refers to, with an empty task. Throws std::bad_alloc.
TimerNode& take_node();

// The node is idle, its task empty, its references gone.
void give_node(TimerNode& node) noexcept;

// Around fork(), so that the child finds it whole. They nest; one thread at a time forks.
void lock_node_pool();
void unlock_node_pool();

// Nodes there are in all, in use or not.
std::size_t node_pool_size();

}  // namespace duewheel
