// What the server shows and accepts in TLS: its certificate and key, the authority of client certificates, versions and
// ciphers.
//
// TLS 1.2 and 1.3 with ephemeral elliptic curves and authenticated encryption only, HTTP/1.1 as the only application
// protocol, no compression and no renegotiation. Sessions are resumed with tickets; their key lives as long as this
// object, so whoever makes a new one each day has keys of one day. A client certificate is optional; one that the
// authority did not sign ends the handshake.
//
// It does not follow its files: make another one when they change, and connections that are open keep what they have.
#pragma once

#include <memory>
#include <string>

#include "base/instant.h"
#include "base/status.h"

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
