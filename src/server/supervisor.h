// Tells the service manager the state of the process, in the protocol of systemd (sd_notify): a datagram to the socket
// that the environment names as NOTIFY_SOCKET. Without one, nothing is sent.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace duewheel {

class Supervisor {
  public:
    // A path, or an abstract name that begins with "@"; empty: there is no service manager.
    explicit Supervisor(std::string socket) : socket_(std::move(socket)) {}

    // "READY=1", "STATUS=Reads the log."; several are separated by line feeds. Does not wait. Code: unreachable.
    Status tell(std::string_view state) const;

  private:
    const std::string socket_;
};

// How often WATCHDOG=1 has to be sent: half the time after which the service manager takes the process for hung. 0:
// never. `usec` and `pid` are WATCHDOG_USEC and WATCHDOG_PID of the environment, null where they are missing.
std::chrono::microseconds watchdog_interval(const char* usec, const char* pid, std::int64_t own_pid);

}  // namespace duewheel
