#include "server/process/handshake_log.h"

#include <utility>

namespace duewheel {
namespace {

constexpr std::int64_t kLineIntervalNs = 10'000'000'000;

std::string_view sentence(TlsOutcome outcome) {
    switch (outcome) {
        case TlsOutcome::plain_http:
            return "A client speaks HTTP without TLS. Use https in its URL.";
        case TlsOutcome::plain_listener:
            return "A client speaks TLS, and the server does not. Use http in its URL, or set tls.certificate and "
                   "tls.key.";
        case TlsOutcome::old_version:
            return "A client has no TLS version from 1.2 on. Update it.";
        case TlsOutcome::no_common_cipher:
            return "A client has no cipher, curve or protocol in common with the server. Update it.";
        case TlsOutcome::client_certificate:
            return "A client's certificate was refused. Give it one that the authority in tls.client_ca has signed.";
        case TlsOutcome::rejected_by_client:
            return "A client rejected the connection, most often because it does not trust the certificate. Give it "
                   "the certificate's authority.";
        case TlsOutcome::timeout:
            return "A TLS handshake took too long.";
        case TlsOutcome::disconnected:
            return "A client disconnected during the TLS handshake.";
        default:
            return "A client sent what is not TLS.";
    }
}

}  // namespace

void HandshakeLog::failed(const TlsFailure& failure, std::int64_t now_ns) {
    Kind& kind = kinds_[static_cast<std::size_t>(failure.outcome)];
    ++kind.count;
    if (now_ns < kind.next_line_ns) return;
    kind.next_line_ns = now_ns + kLineIntervalNs;
    log_.warning("tls_handshake_failed", sentence(failure.outcome),
                 {{"outcome", kTlsOutcomeNames[static_cast<std::size_t>(failure.outcome)]},
                  {"reason", failure.reason},
                  {"remote", failure.address},
                  {"count", std::exchange(kind.count, 0)}});
}

}  // namespace duewheel
