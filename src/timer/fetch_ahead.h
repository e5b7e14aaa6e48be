// Asks for memory that will be written soon.
#pragma once

namespace duewheel {

// For writing, so that what another processor has written comes over once and not a second time when it is written
// here. The compiler's own builtin asks for it to be read only, unless it is told of the instruction, which every
// x86-64 processor takes.
inline void fetch_to_write(const void* memory) {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(memory)));
#else
    __builtin_prefetch(memory, 1);
#endif
}

}  // namespace duewheel
