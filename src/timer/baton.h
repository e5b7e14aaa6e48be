// The lock of one timer service: held for some pointer work, never over anything of the user's.
//
// Why not std::mutex. The driver's thread takes it for each call and nobody else wants it then; here that is one atomic
// exchange and one store, half of what a mutex costs that must look for sleepers when it is given back. Whoever finds
// it taken knows that the holder works on at most a few hundred timers: it spins, then yields, then sleeps a little, so
// that a holder without a processor gets one whatever its priority.
#pragma once

#include <atomic>

#include "timer/interleaving_point.h"

namespace duewheel {

class Baton {
  public:
    void lock() {
        interleaving_point();
        if (held_.exchange(true, std::memory_order_acquire)) [[unlikely]]
            lock_slowly();
    }
    void unlock() {
        held_.store(false, std::memory_order_release);
        interleaving_point();
    }

  private:
    void lock_slowly();

    std::atomic<bool> held_{false};
};

}  // namespace duewheel
