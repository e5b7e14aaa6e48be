// The TLS configuration of the server: its certificate and key, the authorities of client certificates, versions and
// ciphers.
//
// TLS 1.2 and 1.3 with ephemeral elliptic curves and authenticated encryption only, HTTP/1.1 as the only application
// protocol, no compression and no renegotiation. Sessions are resumed with tickets; their key lives as long as this
// object, so an owner that creates a new object each day has keys that last a day. A client certificate is optional;
// one that no authority has signed ends the handshake.
//
// It does not watch its files: create a new object when they change; open connections keep the old one.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "shared/instant.h"

typedef struct ssl_ctx_st SSL_CTX;

namespace duewheel {

class TlsSession;

// Paths of PEM files.
struct TlsFiles {
    std::string certificate;  // followed by the intermediate certificates, if any
    std::string key;
    std::string client_ca;  // empty: clients are not asked for a certificate
};

class TlsContext {
  public:
    // Reads the files. Refuses a key that other users may read or change, a pair that does not match, and a certificate
    // that is not valid at `now_ms`. Codes: bad_tls_certificate, bad_tls_key, bad_tls_client_ca.
    static Result<std::unique_ptr<TlsContext>> load(const TlsFiles& files, InstantMs now_ms);

    // For one connection; may outlive this object.
    std::unique_ptr<TlsSession> new_session() const;

    // When the server's certificate expires.
    InstantMs expires_ms() const { return expires_ms_; }

  private:
    struct Free {
        void operator()(SSL_CTX* context) const;
    };

    TlsContext() = default;

    std::unique_ptr<SSL_CTX, Free> context_;
    InstantMs expires_ms_ = 0;
};

}  // namespace duewheel
