#include "timer/node_pool.h"

#include <array>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace duewheel {
namespace {

constexpr std::size_t kMagazineNodes = 64;
constexpr std::size_t kFetchAhead = 6;

// On its own cache lines; an embedded node is aligned as its owner is.
struct alignas(64) PooledNode : TimerNode {};
static_assert(sizeof(PooledNode) == 128);

struct Magazine {
    std::size_t count = 0;
    std::array<TimerNode*, kMagazineNodes> nodes;
};

// What is not in a thread's hands. Never destroyed, because threads and handles may end after everything else.
struct Depot {
    std::mutex mutex;
    unsigned locked_for_fork = 0;                      // used by the thread that forks
    std::vector<Magazine*> full;                       // or with some nodes at least
    std::vector<Magazine*> empty;                      // without any
    std::vector<std::unique_ptr<PooledNode[]>> slabs;  // all nodes there are
};

Depot& depot() {
    static Depot* const instance = new Depot;
    return *instance;
}

// Under the lock of the depot. Throws std::bad_alloc; then nothing has changed.
void add_slab(Depot& shared) {
    auto slab = std::make_unique<PooledNode[]>(kMagazineNodes);
    auto magazine = std::make_unique<Magazine>();
    for (std::size_t i = 0; i < kMagazineNodes; ++i) magazine->nodes[i] = &slab[i];
    magazine->count = kMagazineNodes;
    shared.slabs.reserve(shared.slabs.size() + 1);
    shared.full.push_back(magazine.get());
    static_cast<void>(magazine.release());
    shared.slabs.push_back(std::move(slab));
}

// A magazine with nodes for one without (or for nothing). Throws std::bad_alloc; then nothing has changed.
Magazine* exchange_for_full(Magazine* empty) {
    Depot& shared = depot();
    const std::lock_guard lock(shared.mutex);
    if (shared.full.empty()) add_slab(shared);
    if (empty != nullptr) shared.empty.push_back(empty);
    Magazine* const magazine = shared.full.back();
    shared.full.pop_back();
    return magazine;
}

// An empty magazine for one with nodes (or for nothing); nullptr when there is no memory, and then nothing has changed.
Magazine* exchange_for_empty(Magazine* full) noexcept {
    Depot& shared = depot();
    const std::lock_guard lock(shared.mutex);
    Magazine* magazine = nullptr;
    try {
        if (full != nullptr) shared.full.push_back(full);
        magazine = shared.empty.empty() ? new Magazine : shared.empty.back();
    } catch (const std::bad_alloc&) {
        if (full != nullptr && !shared.full.empty() && shared.full.back() == full) shared.full.pop_back();
        return nullptr;
    }
    if (!shared.empty.empty()) shared.empty.pop_back();
    return magazine;
}

// A thread's own. Without constructor and destructor, so that reaching it costs nothing.
struct Cache {
    Magazine* loaded;
    Magazine* other;
    bool ended;  // the thread is ending, and what it had is in the depot
};
constinit thread_local Cache cache{nullptr, nullptr, false};

struct CacheEnd {
    bool watches = false;
    ~CacheEnd() {
        Depot& shared = depot();
        const std::lock_guard lock(shared.mutex);
        for (Magazine* magazine : {std::exchange(cache.loaded, nullptr), std::exchange(cache.other, nullptr)}) {
            if (magazine != nullptr) (magazine->count > 0 ? shared.full : shared.empty).push_back(magazine);
        }
        cache.ended = true;
    }
};
thread_local CacheEnd cache_end;

TimerNode& take_slowly() {
    if (cache.ended) {  // one at a time: threads come here from the destructors of their own variables only
        Magazine* const magazine = exchange_for_full(nullptr);
        TimerNode& node = *magazine->nodes[--magazine->count];
        Depot& shared = depot();
        const std::lock_guard lock(shared.mutex);
        (magazine->count > 0 ? shared.full : shared.empty).push_back(magazine);
        return node;
    }
    cache_end.watches = true;
    if (cache.other != nullptr && cache.other->count > 0) {
        std::swap(cache.loaded, cache.other);
    } else {
        cache.loaded = exchange_for_full(cache.loaded);
    }
    return *cache.loaded->nodes[--cache.loaded->count];
}

void give_slowly(TimerNode& node) noexcept {
    if (cache.ended) {
        Magazine* const magazine = exchange_for_empty(nullptr);
        if (magazine == nullptr) return;  // no memory for a pointer: the node is lost
        magazine->nodes[magazine->count++] = &node;
        Depot& shared = depot();
        const std::lock_guard lock(shared.mutex);
        shared.full.push_back(magazine);
        return;
    }
    cache_end.watches = true;
    if (cache.other != nullptr && cache.other->count == 0) {
        std::swap(cache.loaded, cache.other);
    } else {
        Magazine* const magazine = exchange_for_empty(cache.other);
        if (magazine == nullptr) return;
        cache.other = std::exchange(cache.loaded, magazine);
    }
    cache.loaded->nodes[cache.loaded->count++] = &node;
}

}  // namespace

TimerNode& take_node() {
    Magazine* const magazine = cache.loaded;
    if (magazine == nullptr || magazine->count == 0) [[unlikely]]
        return take_slowly();
    const std::size_t index = --magazine->count;
    if (index >= kFetchAhead) {
        const char* const ahead = reinterpret_cast<const char*>(magazine->nodes[index - kFetchAhead]);
        __builtin_prefetch(ahead, 1);
        __builtin_prefetch(ahead + 64, 1);
    }
    return *magazine->nodes[index];
}

void give_node(TimerNode& node) noexcept {
    Magazine* const magazine = cache.loaded;
    if (magazine == nullptr || magazine->count == kMagazineNodes) [[unlikely]]
        return give_slowly(node);
    magazine->nodes[magazine->count++] = &node;
}

// Counted here and not by a recursive mutex: that one knows its owner by a number which is another one in the child.
void lock_node_pool() {
    if (depot().locked_for_fork++ == 0) depot().mutex.lock();
}

void unlock_node_pool() {
    if (--depot().locked_for_fork == 0) depot().mutex.unlock();
}

std::size_t node_pool_size() {
    Depot& shared = depot();
    const std::lock_guard lock(shared.mutex);
    return shared.slabs.size() * kMagazineNodes;
}

}  // namespace duewheel
