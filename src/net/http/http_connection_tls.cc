// HttpConnection with TLS: it distinguishes TLS and HTTP by the first byte, and passes its bytes through a TlsSession.
#include <utility>

#include "base/error_codes.h"
#include "net/http/http_connection.h"

namespace duewheel {
namespace {

constexpr char kHandshakeRecord = 0x16;
constexpr std::string_view kHandshakeFailureAlert("\x15\x03\x01\x00\x02\x02\x28", 7);

bool is_letter(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

}  // namespace

// Bytes as received.
void HttpConnection::take_bytes(std::string_view bytes) {
    if (awaits_tls_ || (fresh_ && !tls_)) recognize(bytes.front());
    if (no_more_requests_) return;
    if (tls_) return decrypt(bytes);
    fresh_ = false;
    take_input(bytes);
}

// A client that speaks HTTP where TLS is expected, or TLS where it is not, gets an error in its own protocol.
void HttpConnection::recognize(char first_byte) {
    if (std::exchange(awaits_tls_, false)) {
        if (!is_letter(first_byte)) {
            tls_ = all_->tls->new_session();
            return;
        }
        count_handshake(TlsOutcome::plain_http);
        refuse({400, "tls_required"_code, "This port speaks TLS: use https instead of http."});
    } else if (first_byte == kHandshakeRecord) {
        count_handshake(TlsOutcome::plain_listener);
        output_ = kHandshakeFailureAlert;
        end_unanswered();
    }
}

void HttpConnection::decrypt(std::string_view bytes) {
    bool is_shaking_hands = in_handshake();
    tls_->receive(bytes);
    for (;;) {
        const std::size_t size = tls_->read(all_->decrypted);
        if (is_shaking_hands && !in_handshake()) {
            is_shaking_hands = false;
            end_handshake();
        }
        if (size == 0) break;
        fresh_ = false;
        if (!no_more_requests_) take_input({all_->decrypted.data(), size});
        if (closed_) return;
    }
    if (!tls_->unsent().empty()) want_flush();
    if (tls_->state() == TlsSession::State::failed) end_unanswered();
}

void HttpConnection::end_handshake() {
    count_handshake(tls_->outcome(), tls_->reason());
    parser_.set_certificate(tls_->certificate_names(), tls_->certificate_expires_ms());
    reading_since_ = all_->sweep;
}

void HttpConnection::end_slow_handshake() {
    count_handshake(TlsOutcome::timeout);
    tls_.reset();
    close(false);
}

void HttpConnection::count_handshake(TlsOutcome outcome, const std::string& reason) {
    ++all_->counters.tls_handshakes[static_cast<std::size_t>(outcome)];
    if (outcome == TlsOutcome::full || outcome == TlsOutcome::resumed || !all_->on_handshake_failure) return;
    all_->on_handshake_failure({outcome, reason, parser_.request().peer.address});
}

// The client would not understand a response. Pending output, such as an alert, is sent before the connection ends.
void HttpConnection::end_unanswered() {
    no_more_requests_ = last_answer_given_ = true;
    want_flush();
    tell_gone();
}

}  // namespace duewheel
