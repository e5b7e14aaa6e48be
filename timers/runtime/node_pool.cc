#include "runtime/node_pool.h"

#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sys/mman.h>

namespace duewheel {
namespace {

// On its own cache lines; an embedded node is aligned as its owner is.
struct alignas(64) PooledNode : TimerNode {};
static_assert(sizeof(PooledNode) == 128);

// What is not in a thread's hands. Never destroyed, because threads and handles may end after everything else.
struct Depot {
    std::mutex mutex;
    std::vector<NodeMagazine*> full;   // or with some nodes at least
    std::vector<NodeMagazine*> empty;  // without any
    std::vector<void*> regions;        // where all nodes lie
    std::byte* fresh = nullptr;        // of the last one, what is no node yet
    std::byte* fresh_end = nullptr;
    std::size_t nodes = 0;
};

Depot& depot();

// Around fork() itself, so that the child finds it whole: by the process, not by each service, as threads of one
// service may need nodes before another one is at rest.
void lock_depot() {
    depot().mutex.lock();
}
void unlock_depot() {
    depot().mutex.unlock();
}

Depot& depot() {
    static Depot* const instance = [] {
        auto* const made = new Depot;
        static_cast<void>(::pthread_atfork(lock_depot, unlock_depot, unlock_depot));
        return made;
    }();
    return *instance;
}

// Under the lock of the depot. Throws std::bad_alloc; then nothing has changed. Small at first; many timers use large
// pages, because with small ones random cancels spend more time in page table lookups than in memory accesses.
void add_region(Depot& shared) {
    constexpr std::size_t kLargePage = std::size_t{1} << 21;
    constexpr std::size_t kSmallRegions = 128;
    const bool is_small = shared.regions.size() < kSmallRegions;
    const std::size_t bytes = is_small ? NodeMagazine::kNodes * sizeof(PooledNode) : kLargePage;
    const std::size_t alignment = is_small ? alignof(PooledNode) : kLargePage;
    shared.regions.push_back(nullptr);
    try {
        shared.regions.back() = ::operator new(bytes, std::align_val_t(alignment));
    } catch (...) {
        shared.regions.pop_back();
        throw;
    }
#if defined(MADV_HUGEPAGE)
    if (!is_small) static_cast<void>(::madvise(shared.regions.back(), bytes, MADV_HUGEPAGE));
#endif
    shared.fresh = static_cast<std::byte*>(shared.regions.back());
    shared.fresh_end = shared.fresh + bytes;
}

// Under the lock of the depot. Throws std::bad_alloc; then nothing has changed.
void add_magazine(Depot& shared) {
    if (shared.fresh == shared.fresh_end) add_region(shared);
    auto magazine = std::make_unique<NodeMagazine>();
    shared.full.push_back(magazine.get());
    for (TimerNode*& node : magazine->nodes) {
        node = ::new (static_cast<void*>(shared.fresh)) PooledNode;
        shared.fresh += sizeof(PooledNode);
    }
    magazine->count = NodeMagazine::kNodes;
    shared.nodes += NodeMagazine::kNodes;
    static_cast<void>(magazine.release());
}

// A magazine with nodes for one without (or for nothing). Throws std::bad_alloc; then nothing has changed.
NodeMagazine* exchange_for_full(NodeMagazine* empty) {
    Depot& shared = depot();
    const std::lock_guard lock(shared.mutex);
    if (shared.full.empty()) add_magazine(shared);
    if (empty != nullptr) shared.empty.push_back(empty);
    NodeMagazine* const magazine = shared.full.back();
    shared.full.pop_back();
    return magazine;
}

// An empty magazine for one with nodes (or for nothing); nullptr when there is no memory, and then nothing has changed.
NodeMagazine* exchange_for_empty(NodeMagazine* full) noexcept {
    Depot& shared = depot();
    const std::lock_guard lock(shared.mutex);
    NodeMagazine* magazine = nullptr;
    try {
        if (full != nullptr) shared.full.push_back(full);
        magazine = shared.empty.empty() ? new NodeMagazine : shared.empty.back();
    } catch (const std::bad_alloc&) {
        if (full != nullptr && !shared.full.empty() && shared.full.back() == full) shared.full.pop_back();
        return nullptr;
    }
    if (!shared.empty.empty()) shared.empty.pop_back();
    return magazine;
}

struct CacheEnd {
    bool watches = false;
    ~CacheEnd() {
        Depot& shared = depot();
        const std::lock_guard lock(shared.mutex);
        for (NodeMagazine* magazine :
             {std::exchange(node_cache.loaded, nullptr), std::exchange(node_cache.other, nullptr)}) {
            if (magazine != nullptr) (magazine->count > 0 ? shared.full : shared.empty).push_back(magazine);
        }
        node_cache.ended = true;
    }
};
thread_local CacheEnd cache_end;

}  // namespace

TimerNode& take_node_slowly() {
    if (node_cache.ended) {  // one at a time: threads come here from the destructors of their own variables only
        NodeMagazine* const magazine = exchange_for_full(nullptr);
        TimerNode& node = *magazine->nodes[--magazine->count];
        Depot& shared = depot();
        const std::lock_guard lock(shared.mutex);
        (magazine->count > 0 ? shared.full : shared.empty).push_back(magazine);
        return node;
    }
    cache_end.watches = true;
    if (node_cache.other != nullptr && node_cache.other->count > 0) {
        std::swap(node_cache.loaded, node_cache.other);
    } else {
        node_cache.loaded = exchange_for_full(node_cache.loaded);
    }
    return *node_cache.loaded->nodes[--node_cache.loaded->count];
}

void give_node_slowly(TimerNode& node) noexcept {
    if (node_cache.ended) {
        NodeMagazine* const magazine = exchange_for_empty(nullptr);
        if (magazine == nullptr) return;  // no memory for a pointer: the node is lost
        magazine->nodes[magazine->count++] = &node;
        Depot& shared = depot();
        const std::lock_guard lock(shared.mutex);
        shared.full.push_back(magazine);
        return;
    }
    cache_end.watches = true;
    if (node_cache.other != nullptr && node_cache.other->count == 0) {
        std::swap(node_cache.loaded, node_cache.other);
    } else {
        NodeMagazine* const magazine = exchange_for_empty(node_cache.other);
        if (magazine == nullptr) return;
        node_cache.other = std::exchange(node_cache.loaded, magazine);
    }
    node_cache.loaded->nodes[node_cache.loaded->count++] = &node;
}

bool node_pool_is_free() {
    return std::unique_lock(depot().mutex, std::try_to_lock).owns_lock();
}

std::size_t node_pool_size() {
    Depot& shared = depot();
    const std::lock_guard lock(shared.mutex);
    return shared.nodes;
}

}  // namespace duewheel
