// Tells whoever started the process how it is doing, in systemd's words (sd_notify): a datagram to the socket that the
// environment names as NOTIFY_SOCKET. Where there is none, nothing is told.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace duewheel {

class Supervisor {
  public:
    // A path, or an abstract name that begins with "@"; empty: nobody listens.
    explicit Supervisor(std::string socket) : socket_(std::move(socket)) {}

    // "READY=1", "STOPPING=1". Does not wait for the other side. Code: unreachable.
    Status tell(std::string_view state) const;

  private:
    const std::string socket_;
};

}  // namespace duewheel
