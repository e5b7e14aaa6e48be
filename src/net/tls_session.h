// The server's side of one TLS connection, between the bytes of the wire and those of HTTP.
//
// It has no socket: the connection passes the bytes that it received, and sends the bytes that this produces, so that
// the connection's reads, writes, deadlines and limits are the same with and without TLS. OpenSSL reads from and writes
// into plain memory through a BIO of our own.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/tls_outcome.h"
#include "shared/instant.h"

typedef struct ssl_st SSL;
typedef struct ssl_ctx_st SSL_CTX;

namespace duewheel {

class TlsSession {
  public:
    enum class State {
        handshake,
        established,
        ended,   // closed cleanly by the client; requests sent before are answered
        failed,  // an alert may remain to be sent; the session is unusable
    };

    explicit TlsSession(SSL_CTX& context);
    ~TlsSession();
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;

    State state() const { return state_; }

    // Passes received bytes. They must stay valid until read() returns 0.
    void receive(std::string_view bytes) { received_ = bytes; }
    // Continues the handshake, or decrypts into `into`; returns the number of decrypted bytes. Call it until it returns
    // 0, which means that more bytes must be received, or that the state is `ended` or `failed`.
    std::size_t read(std::span<char> into);

    // Encrypts. False if it fails, for example after an error of the client.
    [[nodiscard]] bool write(std::string_view bytes);
    // Announces the end of writing; only the first call has an effect.
    void end();

    // Bytes for the wire.
    std::string_view unsent() const { return std::string_view(output_).substr(sent_); }
    void sent(std::size_t size);

    // After `state` has left `handshake`: the outcome of the handshake, and the reason of a failure.
    TlsOutcome outcome() const { return outcome_; }
    const std::string& reason() const { return reason_; }
    // Names of a verified client certificate, see HttpPeer::certificate_names.
    std::vector<std::string> certificate_names() const;
    // When it expires; kNoInstant without one.
    InstantMs certificate_expires_ms() const;

  private:
    struct Bio;
    struct Free {
        void operator()(SSL* session) const;
    };

    bool shake_hands();
    void fail(int result);

    std::string_view received_;
    std::string output_;
    std::size_t sent_ = 0;  // of output_
    State state_ = State::handshake;
    TlsOutcome outcome_ = TlsOutcome::disconnected;
    std::string reason_;
    std::unique_ptr<SSL, Free> session_;
};

}  // namespace duewheel
