// The server's side of one TLS connection, between the bytes of the wire and those of HTTP.
//
// It has no socket: the connection gives it what it read, and sends what this has to say, so that the connection's
// reads, writes, deadlines and bounds are the same with TLS and without. OpenSSL reads from and writes into plain
// memory through a BIO of our own.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "net/tls_outcome.h"

typedef struct ssl_st SSL;
typedef struct ssl_ctx_st SSL_CTX;

namespace duewheel {

class TlsSession {
  public:
    enum class State {
        handshake,
        established,
        ended,   // by the client, in order; what was sent before is answered
        failed,  // an alert may be waiting to be sent; nothing else works any more
    };

    explicit TlsSession(SSL_CTX& context);
    ~TlsSession();
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;

    State state() const { return state_; }

    // Takes bytes as they came. They must stay in place until read() returns 0.
    void receive(std::string_view bytes) { received_ = bytes; }
    // Goes on with the handshake, or decrypts into `into`: the size of what is there now. To be called until it returns
    // 0, which means that more has to be received, or that the state is `ended` or `failed`.
    std::size_t read(std::span<char> into);

    // Encrypts. False when it fails, as after an error of the client.
    [[nodiscard]] bool write(std::string_view bytes);
    // Says that nothing more will be written; only the first call has something to say.
    void end();

    // Bytes for the wire.
    std::string_view unsent() const { return std::string_view(output_).substr(sent_); }
    void sent(std::size_t size);

    // When `state` left `handshake`: how the handshake ended, and why if it failed.
    TlsOutcome outcome() const { return outcome_; }
    const std::string& reason() const { return reason_; }
    // Of a client certificate that was verified, see HttpPeer::certificate_names.
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
