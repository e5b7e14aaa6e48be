// How a client's TLS handshake ends: for metrics and for the log.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace duewheel {

enum class TlsOutcome : std::uint8_t {
    full,              // established
    resumed,           // established with the ticket of an earlier connection
    plain_http,        // the client speaks HTTP without TLS
    plain_listener,    // the client speaks TLS, and the listener does not
    old_version,       // the client has no version from TLS 1.2 on
    no_common_cipher,  // or no common curve, signature algorithm or application protocol
    client_certificate,
    rejected_by_client,  // the client sent an alert: for example, it does not trust the server's certificate
    malformed,
    timeout,
    disconnected,
};

// In the order of the enumeration.
inline constexpr std::array<std::string_view, 11> kTlsOutcomeNames{
    "full",        "resumed",          "plain_http",         "plain_listener",
    "old_version", "no_common_cipher", "client_certificate", "rejected_by_client",
    "malformed",   "timeout",          "disconnected"};

// A handshake that did not end in `full` or `resumed`.
struct TlsFailure {
    TlsOutcome outcome = TlsOutcome::malformed;
    std::string reason;   // in OpenSSL's words; empty where the outcome says it all
    std::string address;  // of the client
};

}  // namespace duewheel
