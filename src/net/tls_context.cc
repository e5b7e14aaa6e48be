#include "net/tls_context.h"

#include <array>
#include <cstring>
#include <ctime>
#include <new>
#include <string_view>
#include <utility>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/c_pointer.h"
#include "base/error_codes.h"
#include "base/secret.h"
#include "net/certificate_time.h"
#include "net/setting_file.h"
#include "net/tls_session.h"

namespace duewheel {
namespace {

// With authenticated records and ephemeral keys. TLS 1.3 has no others.
constexpr char kCiphers12[] = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr char kCiphers13[] = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr char kCurves[] = "X25519:P-256:P-384";
// As ALPN has it: each name after its length.
constexpr unsigned char kProtocols[] = "\x08http/1.1";
constexpr unsigned char kSessionContext[] = "duewheel";
constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;

using BioPtr = CPointer<BIO, BIO_free>;
using CertificatePtr = CPointer<X509, X509_free>;
using KeyPtr = CPointer<EVP_PKEY, EVP_PKEY_free>;

void free_chain(STACK_OF(X509) * chain) {
    sk_X509_pop_free(chain, X509_free);
}
using ChainPtr = CPointer<STACK_OF(X509), free_chain>;

// The reason of OpenSSL's error, without its number.
std::string reason() {
    const char* text = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return text == nullptr ? "unknown error" : text;
}

// `secret` as read_setting_file() has it.
Result<Secret> read_pem(const SettingFile& file, std::string_view secret) {
    return read_setting_file(file, kFileBytesMax, secret, "is larger than 1 MiB; give a file with PEM blocks only");
}

BioPtr memory(const Secret& content) {
    BioPtr bio(BIO_new_mem_buf(content.reveal().data(), static_cast<int>(content.reveal().size())));
    if (!bio) throw std::bad_alloc();
    return bio;
}

// Otherwise OpenSSL prompts for it on the terminal.
int no_passphrase(char*, int, int, void*) {
    return -1;
}

// The first is the server's own.
Result<ChainPtr> read_certificates(const SettingFile& setting) {
    const Result<Secret> content = read_pem(setting, "");
    if (!content) return content.error();
    const BioPtr bio = memory(*content);
    ChainPtr chain(sk_X509_new_null());
    if (!chain) throw std::bad_alloc();
    while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, &no_passphrase, nullptr)) {
        sk_X509_push(chain.get(), certificate);
    }
    const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    const std::string wrong = reason();
    if (!at_end) return setting.error("holds a damaged certificate (" + wrong + "); install it again");
    if (sk_X509_num(chain.get()) == 0) {
        return setting.error("holds no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----");
    }
    return chain;
}

Result<KeyPtr> read_key(const SettingFile& setting) {
    const Result<Secret> content = read_pem(setting, "key");
    if (!content) return content.error();
    KeyPtr key(PEM_read_bio_PrivateKey(memory(*content).get(), nullptr, &no_passphrase, nullptr));
    if (key) return key;
    const int wrong = ERR_GET_REASON(ERR_peek_last_error());
    const std::string text = reason();
    if (content->reveal().find("ENCRYPTED") != std::string_view::npos) {
        return setting.error("is protected by a passphrase; remove it with `openssl pkey -in FILE -out FILE`");
    }
    if (wrong == PEM_R_NO_START_LINE || content->reveal().find("PRIVATE KEY-----") == std::string_view::npos) {
        return setting.error("holds no private key in PEM, which begins with -----BEGIN PRIVATE KEY-----");
    }
    return setting.error("holds a damaged private key (" + text + "); install it again");
}

std::string text_of(const ASN1_TIME* time) {
    std::tm parts{};
    std::array<char, 64> text{};
    if (ASN1_TIME_to_tm(time, &parts) == 1) std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

Status check_validity(const SettingFile& setting, const X509* certificate, InstantMs now_ms) {
    const ASN1_TIME* from = X509_get0_notBefore(certificate);
    const ASN1_TIME* until = X509_get0_notAfter(certificate);
    if (now_ms < instant_ms(from)) {
        return setting.error("is not valid before " + text_of(from) + "; check this machine's clock");
    }
    if (now_ms >= instant_ms(until)) {
        return setting.error("expired at " + text_of(until) + "; install a new certificate");
    }
    return {};
}

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                    unsigned offered_size, void*) {
    unsigned char* found = nullptr;
    const int result = SSL_select_next_proto(&found, size, kProtocols, sizeof kProtocols - 1, offered, offered_size);
    *chosen = found;
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

void set_rules(SSL_CTX& context) {
    bool fine = SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION) == 1;
    fine = fine && SSL_CTX_set_cipher_list(&context, kCiphers12) == 1;
    fine = fine && SSL_CTX_set_ciphersuites(&context, kCiphers13) == 1;
    fine = fine && SSL_CTX_set1_groups_list(&context, kCurves) == 1;
    fine = fine && SSL_CTX_set_session_id_context(&context, kSessionContext, sizeof kSessionContext - 1) == 1;
    if (!fine) throw std::bad_alloc();  // the texts are valid, so memory is exhausted
    SSL_CTX_set_security_level(&context, 2);
    SSL_CTX_set_options(&context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    // Sessions are in the clients' tickets, not in the server's memory.
    SSL_CTX_set_session_cache_mode(&context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(&context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_alpn_select_cb(&context, &choose_protocol, nullptr);
}

// Asks for a certificate of these authorities, and refuses those of others.
Status trust_clients(SSL_CTX& context, const SettingFile& setting) {
    Result<ChainPtr> authorities = read_certificates(setting);
    if (!authorities) return std::move(authorities).error();
    X509_STORE* store = SSL_CTX_get_cert_store(&context);
    for (int i = 0; i < sk_X509_num(authorities->get()); ++i) {
        X509* authority = sk_X509_value(authorities->get(), i);
        if (X509_STORE_add_cert(store, authority) != 1 || SSL_CTX_add_client_CA(&context, authority) != 1) {
            return setting.error("cannot be used: " + reason());
        }
    }
    // An intermediate authority is trusted without the one that signed it.
    X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
    SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, nullptr);
    // A resumed session sends no certificate, so an expired one would keep its rights.
    SSL_CTX_set_options(&context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(&context, 0);
    return {};
}

}  // namespace

void TlsContext::Free::operator()(SSL_CTX* context) const {
    SSL_CTX_free(context);
}

Result<std::unique_ptr<TlsContext>> TlsContext::load(const TlsFiles& files, InstantMs now_ms) {
    ERR_clear_error();
    const SettingFile certificate_setting{"bad_tls_certificate"_code, "tls.certificate", files.certificate};
    const SettingFile key_setting{"bad_tls_key"_code, "tls.key", files.key};
    Result<ChainPtr> chain = read_certificates(certificate_setting);
    if (!chain) return std::move(chain).error();
    Result<KeyPtr> key = read_key(key_setting);
    if (!key) return std::move(key).error();
    const CertificatePtr own(sk_X509_shift(chain->get()));
    if (X509_check_private_key(own.get(), key->get()) != 1) {
        ERR_clear_error();
        return key_setting.error("does not belong to the certificate " + files.certificate +
                                 "; give the key that the certificate was made for");
    }
    if (Status valid = check_validity(certificate_setting, own.get(), now_ms); !valid) return std::move(valid).error();

    std::unique_ptr<TlsContext> loaded(new TlsContext);
    loaded->context_.reset(SSL_CTX_new(TLS_server_method()));
    if (!loaded->context_) throw std::bad_alloc();
    SSL_CTX& context = *loaded->context_;
    set_rules(context);
    if (SSL_CTX_use_cert_and_key(&context, own.get(), key->get(), chain->get(), 1) != 1) {
        return certificate_setting.error("cannot be used: " + reason());
    }
    if (!files.client_ca.empty()) {
        const SettingFile setting{"bad_tls_client_ca"_code, "tls.client_ca", files.client_ca};
        if (Status trusted = trust_clients(context, setting); !trusted) return std::move(trusted).error();
    }
    loaded->expires_ms_ = instant_ms(X509_get0_notAfter(own.get()));
    return loaded;
}

std::unique_ptr<TlsSession> TlsContext::new_session() const {
    return std::make_unique<TlsSession>(*context_);
}

}  // namespace duewheel
