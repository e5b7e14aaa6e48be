// Notifies the service manager, with systemd's sd_notify protocol: a datagram to the socket in the environment variable
// NOTIFY_SOCKET. If it is not set, nothing is sent.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/status.h"

namespace duewheel {

class Supervisor {
  public:
    // A path, or an abstract name that begins with "@"; empty: no receiver.
    explicit Supervisor(std::string socket) : socket_(std::move(socket)) {}

    // "READY=1", "STOPPING=1". Does not wait for the receiver. Code: unreachable.
    Status tell(std::string_view state) const;

  private:
    const std::string socket_;
};

// How often WATCHDOG=1 has to be sent: half the time after which the service manager takes the process for hung. 0:
// never. `usec` and `pid` are WATCHDOG_USEC and WATCHDOG_PID of the environment, null where they are missing.
std::chrono::microseconds watchdog_interval(const char* usec, const char* pid, std::int64_t own_pid);

// Calls `alive` at once and then every `interval`, on a thread of its own, until it is destroyed: for a step that takes
// long and has no loop. An interval of 0: never.
class KeepAlive {
  public:
    KeepAlive(std::function<void()> alive, std::chrono::microseconds interval);
    ~KeepAlive();
    KeepAlive(const KeepAlive&) = delete;
    KeepAlive& operator=(const KeepAlive&) = delete;

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_ending_ = false;  // guarded by mutex_
    std::thread thread_;
};

}  // namespace duewheel
