#include "runtime/baton.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace duewheel {
namespace {

// Calls `is_over` until it is: spins, yields, sleeps.
template <class IsOver>
void wait_until(IsOver&& is_over) {
    constexpr int kSpins = 100;
    constexpr int kYields = 200;
    for (int tries = 0; !is_over(); ++tries) {
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
    }
}

#if defined(__linux__) && defined(SYS_membarrier)

bool membarrier(int command) {
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

bool can_fence_others() {
    static const bool registered = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    return registered;
}

// A memory barrier on every other thread of the process: their earlier writes are visible, and later ones have not
// happened.
void fence_others() {
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return;
    // A child process may have to register itself.
    if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return;
    std::fputs(
        "duewheel: the system call membarrier, which this process could make before, fails. A filter of system calls "
        "that is set up after the first timer must allow it.\n",
        stderr);
    std::abort();
}

#else

bool can_fence_others() {
    return kInterleavingsExplored;
}
void fence_others() {}

#endif

}  // namespace

void Baton::wait_until_free() {
    wait_until([this] {
        return (state_.load(std::memory_order_relaxed) & kHeld) == 0 &&
               (state_.fetch_or(kHeld, std::memory_order_acquire) & kHeld) == 0;
    });
}

void Baton::wait_until_outside() {
    fence_others();
    wait_until([this] { return !inside_.load(std::memory_order_acquire); });
}

// Called by a thread that holds it without being favoured.
void Baton::settle_favour(bool drives) {
    const std::uint32_t favoured = favoured_.load(std::memory_order_relaxed);
    const std::uint32_t self = this_thread_number();
    if ((state_.load(std::memory_order_relaxed) & kClosed) == 0) {
        if (favoured == self) return;  // another thread still held it
        wait_until_outside();
        if (in_a_row_ < kWorthFavour) state_.store(kHeld | kClosed, std::memory_order_relaxed);
        in_a_row_ = 0;
    } else if (!drives) {
        in_a_row_ = 0;
    } else if (++in_a_row_ >= kWorthFavour && (favoured == kNobody || favoured == self) && can_fence_others()) {
        favoured_.store(self, std::memory_order_relaxed);
        state_.store(kHeld, std::memory_order_relaxed);
    }
}

}  // namespace duewheel
