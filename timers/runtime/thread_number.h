// Threads as small numbers, so that the word of a timer can identify one, and a comparison with this one costs a load.
#pragma once

#include <atomic>
#include <cstdint>

namespace duewheel {

inline constinit std::atomic<std::uint32_t> threads_numbered{0};
inline constinit thread_local std::uint32_t number_of_this_thread = 0;  // none yet

// Numbers threads from 1, by their first use of this.
inline std::uint32_t this_thread_number() {
    if (number_of_this_thread == 0) [[unlikely]]
        number_of_this_thread = threads_numbered.fetch_add(1, std::memory_order_relaxed) + 1;
    return number_of_this_thread;
}

}  // namespace duewheel
