// Logs the TLS handshakes that fail, and why: the client sees little of the reason.
//
// Clients repeat what fails, and scanners knock at every port, so there is at most one line in ten seconds for each
// outcome. It says how many failed since the last one, and where the last came from. Takes the time as an argument.
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
