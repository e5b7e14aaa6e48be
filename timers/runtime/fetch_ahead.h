// Prefetches memory that will be written soon.
#pragma once

namespace duewheel {

// For writing, so that a cache line written by another processor is transferred once, and not a second time when it is
// written here. The compiler's own builtin prefetches for reading only, unless the instruction is enabled, which every
// x86-64 processor supports.
inline void fetch_to_write(const void* memory) {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(memory)));
#else
    __builtin_prefetch(memory, 1);
#endif
}

}  // namespace duewheel
