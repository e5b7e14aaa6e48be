// Limits of the server for each HTTP client, and its counters. A limit is the largest value that is still accepted.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "net/connection_counters.h"
#include "net/tls_outcome.h"

namespace duewheel {

struct HttpLimits {
    std::size_t target_bytes_max = 4096;           // beyond: 414
    std::size_t header_bytes_max = 8 * 1024;       // all field lines and the empty line after them; beyond: 431
    std::size_t header_count_max = 100;            // beyond: 431
    std::size_t body_bytes_max = 4 * 1024 * 1024;  // decoded; beyond: 413
    // Bytes of unfinished requests of all clients together; the request that exceeds it gets 503. One client may use up
    // to half of it, and always enough for one body (http_shares.h).
    std::size_t unfinished_bytes_max = std::size_t{256} * 1024 * 1024;
    // When reached, connections that wait for nothing are closed, the oldest first, except those of trusted clients
    // (HttpReply::trust()); without any, further clients wait in the kernel's queue. An address beyond this machine may
    // have half of them, and a few are kept for clients on this machine: other clients are then disconnected at once.
    std::size_t connections_max = 10'000;
    std::size_t pipeline_max = 1024;  // requests of one connection without a response; when reached, reading pauses
    std::size_t reads_max = 16;       // of these, reads: their responses can be large; likewise
    std::size_t output_bytes_max = 1024 * 1024;  // unsent responses of one connection; when reached, reading pauses
    std::size_t stream_bytes_max = 16 * 1024;    // unsent bytes of a stream; when reached, it takes no more

    // Unsent responses of all clients together. Beyond it the connections with the most are closed: a client that
    // requests much and reads nothing must not take the memory that others need.
    std::size_t unsent_bytes_max = std::size_t{256} * 1024 * 1024;

    // Deadlines are checked once per sweep: they never strike early, and at most two sweeps late.
    std::chrono::milliseconds handshake_deadline{5'000};  // of TLS, from the connect to its end
    std::chrono::milliseconds header_deadline{10'000};    // from a request's first byte (or the connect) to its body
    std::chrono::milliseconds body_deadline{60'000};      // for all of the body
    std::chrono::milliseconds idle_timeout{75'000};       // between requests, nothing pending
    // For each 64 KiB of output, or the rest of it; of a stream for each byte.
    std::chrono::milliseconds write_deadline{30'000};
    std::chrono::milliseconds linger{2'000};  // for the client to close after the last answer
    std::chrono::milliseconds sweep{1'000};   // no connection: no sweep
};

// Since the start of the server, except values with "open" or "unfinished". For metrics.
struct HttpCounters : ConnectionCounters {
    std::uint64_t streams_open = 0;         // HttpStream
    std::uint64_t unsent_bytes = 0;         // of responses, over all connections
    std::uint64_t unfinished_bytes = 0;     // of partly received requests, over all connections
    std::uint64_t connections_refused = 0;  // closed at once, because their address had its share
    std::uint64_t requests = 0;             // complete and passed to the handler
    std::uint64_t refused_malformed = 0;    // 400, 417, 501, 505
    std::uint64_t refused_too_large = 0;    // 413, 414, 431
    std::uint64_t refused_overload = 0;     // 503
    std::array<std::uint64_t, kTlsOutcomeNames.size()> tls_handshakes{};  // by TlsOutcome
    std::uint64_t timeouts_header = 0;
    std::uint64_t timeouts_body = 0;
    std::uint64_t timeouts_idle = 0;
    std::uint64_t timeouts_write = 0;
    std::uint64_t cut_unread = 0;       // connections closed because the client did not read its responses
    std::uint64_t clients_gone = 0;     // closed by the client with a response pending
    std::uint64_t answers_dropped = 0;  // a reply was destroyed without a response: a bug, answered with 500

    bool operator==(const HttpCounters&) const = default;
    // All members are counts of the same type.
    HttpCounters& operator+=(const HttpCounters& other) {
        using Counts = std::array<std::uint64_t, sizeof(HttpCounters) / sizeof(std::uint64_t)>;
        auto sums = std::bit_cast<Counts>(*this);
        const auto more = std::bit_cast<Counts>(other);
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
        return *this = std::bit_cast<HttpCounters>(sums);
    }
};

}  // namespace duewheel
