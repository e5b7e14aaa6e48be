// Logs failed TLS handshakes with the reason, of which the client sees little.
//
// Clients retry, and scanners probe every port, so there is at most one line in ten seconds for each outcome. It has
// the number of failures since the previous line, and the address of the newest. Takes the time as an argument.
#pragma once

#include <array>
#include <cstdint>

#include "base/log.h"
#include "net/tls_outcome.h"

namespace duewheel {

class HandshakeLog {
  public:
    explicit HandshakeLog(LogSink& log) : log_(log) {}

    void failed(const TlsFailure& failure, std::int64_t now_ns);

  private:
    struct Kind {
        std::uint64_t count = 0;  // since the last line
        std::int64_t next_line_ns = 0;
    };

    LogSink& log_;
    std::array<Kind, kTlsOutcomeNames.size()> kinds_;
};

}  // namespace duewheel
