// The lock of one timer service: held for a few pointer operations, never during user code.
//
// Why not std::mutex. The driver's thread takes it for each call, usually without contention, but an atomic exchange
// costs as much as the rest of such a call, and more if timers do not fit into the cache, because it waits for all
// pending stores. So a driving thread that has taken it often enough in a row becomes the favoured one: it announces
// that it is inside with a plain store, and checks for other holders with a plain load. A processor may reorder these
// two; so another thread makes every other processor of the process order them (on Linux, membarrier), and then waits
// until the favoured one is outside. To avoid that cost for threads that come often, no thread is favoured then, until
// the driver has taken it often enough again. Where there is no such system call no thread is
// ever favoured.
//
//     favoured:  inside = 1; held or closed? no: enters         other:  held; all processors in order; inside? wait
//
// Only one thread is ever favoured in the life of a baton. Another one could not be, because the first may still be
// about to announce that it is inside, however long ago it checked whether it is favoured.
//
// A thread that finds it taken knows that the holder works on at most a few hundred timers: it spins, then yields, then
// sleeps briefly, so that a holder without a processor gets one whatever its priority.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/interleaving_point.h"
#include "runtime/thread_number.h"

namespace duewheel {

class Baton {
  public:
    void lock() { take(false); }
    // For the thread that drives the service, which can become the favoured one.
    void lock_by_driver() { take(true); }

    // True if this thread is the favoured one, and could take it in the short way. Release it with slip_out().
    bool slip_in() {
        if (!is_favoured()) return false;
        inside_.store(true, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);  // the processor's part is the fence of the other side
        interleaving_point();
        if (state_.load(std::memory_order_acquire) == 0) [[likely]] {
            ++in_a_row_;
            return true;
        }
        slip_out();
        return false;
    }
    void slip_out() {
        inside_.store(false, std::memory_order_release);
        interleaving_point();
    }

    void unlock() {
        if (inside_.load(std::memory_order_relaxed) && is_favoured()) {
            inside_.store(false, std::memory_order_release);
        } else {
            state_.store(state_.load(std::memory_order_relaxed) & ~kHeld, std::memory_order_release);
        }
        interleaving_point();
    }

  private:
    static constexpr std::uint32_t kHeld = 1;    // by one that is not favoured, or not now
    static constexpr std::uint32_t kClosed = 2;  // to the favoured one: it must take the baton like all others
    // How often in a row the driver takes it before it is favoured, or stays so. A fence costs as much as some dozens
    // of exchanges.
    static constexpr std::uint32_t kWorthFavour = kInterleavingsExplored ? 1 : 256;

    static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

    bool is_favoured() const { return favoured_.load(std::memory_order_relaxed) == number_of_this_thread; }
    void take(bool drives) {
        interleaving_point();
        if (slip_in()) return;
        if ((state_.fetch_or(kHeld, std::memory_order_acquire) & kHeld) != 0) [[unlikely]]
            wait_until_free();
        settle_favour(drives);
    }
    void wait_until_free();
    void wait_until_outside();
    void settle_favour(bool drives);

    std::atomic<std::uint32_t> state_{kClosed};
    std::atomic<std::uint32_t> favoured_{kNobody};  // the number of that thread; guarded by held
    std::atomic<bool> inside_{false};               // written by the favoured one only
    std::uint32_t in_a_row_ = 0;  // how often the driver has taken it since any other thread; guarded by this
};

// Holds it for the driver.
class DriverLock {
  public:
    explicit DriverLock(Baton& baton) : baton_(baton) { baton_.lock_by_driver(); }
    DriverLock(const DriverLock&) = delete;
    DriverLock& operator=(const DriverLock&) = delete;
    ~DriverLock() { baton_.unlock(); }

  private:
    Baton& baton_;
};

}  // namespace duewheel
