#include "timer/baton.h"

#include <chrono>
#include <thread>

namespace duewheel {

void Baton::lock_slowly() {
    constexpr int kSpins = 100;
    constexpr int kYields = 200;
    for (int tries = 0;; ++tries) {
        if (kInterleavingsExplored) {
            interleaving_wait();
        } else if (tries > kYields) {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        } else if (tries > kSpins) {
            std::this_thread::yield();
        } else {
#if defined(__x86_64__) || defined(__i386__)
            __builtin_ia32_pause();
#endif
        }
        if (!held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire)) return;
    }
}

}  // namespace duewheel
