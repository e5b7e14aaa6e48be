// The lock of one timer service: held for some pointer work, never over anything of the user's.
//
// Why not std::mutex. The driver's thread takes it for each call and nobody else wants it then, yet an atomic exchange
// costs as much as the rest of such a call, and more where timers do not fit into the cache, as it waits for all that
// is on its way to memory. So a thread that drives and has taken it often enough in a row is favoured: it says that it
// is inside with a plain store, and looks whether somebody else holds it with a plain load. A processor may do these
// two in the other order; who comes from outside makes every other processor of the process put them in order (on
// Linux, membarrier), then waits until the favoured one is outside. Somebody who comes often is not made to pay for
// that: then nobody is favoured, until the driver has taken it often enough again. Where there is no such call nobody
// ever is.
//
//     favoured:  inside = 1; held or closed? no: it is in           other:  held; all processors in order; inside? wait
//
// Only one thread is ever favoured in a baton's life. Another one could not be, as the first may still be about to say
// that it is inside, however long ago it looked whether it is favoured.
//
// Whoever finds it taken knows that the holder works on at most a few hundred timers: it spins, then yields, then
// sleeps a little, so that a holder without a processor gets one whatever its priority.
#pragma once

#include <atomic>
#include <cstdint>

#include "timer/interleaving_point.h"
#include "timer/thread_number.h"

namespace duewheel {

class Baton {
  public:
    void lock() { take(false); }
    // For the thread that drives the service, which may become the favoured one.
    void lock_by_driver() { take(true); }

    // True when this thread is the favoured one, and could take it in the short way. To be given back by slip_out().
    bool slip_in() {
        if (!is_favoured()) return false;
        inside_.store(true, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);  // the processor's part is the other side's fence
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
    static constexpr std::uint32_t kClosed = 2;  // to the favoured one: it takes the baton as all others do
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
    std::uint32_t in_a_row_ = 0;  // how often the driver has taken it since anybody else; guarded by this
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
