#include "net/tls_session.h"

#include <algorithm>
#include <cstring>
#include <new>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "net/certificate_time.h"

namespace duewheel {
namespace {

constexpr std::size_t kIdleOutputBytesMax = 2048;

TlsOutcome outcome_of(int reason) {
    if (reason >= SSL_AD_REASON_OFFSET) return TlsOutcome::rejected_by_client;
    switch (reason) {
        case SSL_R_UNSUPPORTED_PROTOCOL:
        case SSL_R_VERSION_TOO_LOW:
        case SSL_R_UNKNOWN_PROTOCOL:
            return TlsOutcome::old_version;
        case SSL_R_NO_SHARED_CIPHER:
        case SSL_R_NO_SHARED_GROUPS:
        case SSL_R_NO_SUITABLE_KEY_SHARE:
        case SSL_R_NO_SUITABLE_GROUPS:
        case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
        case SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS:
        case SSL_R_NO_APPLICATION_PROTOCOL:
            return TlsOutcome::no_common_cipher;
        case SSL_R_CERTIFICATE_VERIFY_FAILED:
            return TlsOutcome::client_certificate;
        default:
            return TlsOutcome::malformed;
    }
}

}  // namespace

struct TlsSession::Bio {
    static TlsSession& of(BIO* bio) { return *static_cast<TlsSession*>(BIO_get_data(bio)); }

    static int read(BIO* bio, char* into, int size) {
        std::string_view& received = of(bio).received_;
        BIO_clear_retry_flags(bio);
        if (received.empty()) {
            BIO_set_retry_read(bio);
            return -1;
        }
        const std::size_t taken = std::min(received.size(), static_cast<std::size_t>(size));
        std::memcpy(into, received.data(), taken);
        received.remove_prefix(taken);
        return static_cast<int>(taken);
    }

    static int write(BIO* bio, const char* bytes, int size) {
        of(bio).output_.append(bytes, static_cast<std::size_t>(size));
        return size;
    }

    static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

    struct Method {
        BIO_METHOD* const method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "connection");

        Method() {
            if (method == nullptr) throw std::bad_alloc();
            BIO_meth_set_read(method, &Bio::read);
            BIO_meth_set_write(method, &Bio::write);
            BIO_meth_set_ctrl(method, &Bio::control);
        }
        ~Method() { BIO_meth_free(method); }
    };

    static BIO* make(TlsSession& session) {
        static const Method kind;
        BIO* bio = BIO_new(kind.method);
        if (bio == nullptr) throw std::bad_alloc();
        BIO_set_data(bio, &session);
        BIO_set_init(bio, 1);
        return bio;
    }
};

TlsSession::TlsSession(SSL_CTX& context) : session_(SSL_new(&context)) {
    if (!session_) throw std::bad_alloc();
    BIO* bio = Bio::make(*this);
    SSL_set_bio(session_.get(), bio, bio);
    SSL_set_accept_state(session_.get());
}

TlsSession::~TlsSession() = default;

void TlsSession::Free::operator()(SSL* session) const {
    SSL_free(session);
}

std::size_t TlsSession::read(std::span<char> into) {
    if (state_ == State::handshake && !shake_hands()) return 0;
    if (state_ != State::established) return 0;
    std::size_t filled = 0;
    // OpenSSL keeps partial records; without new bytes there is nothing to read.
    while (filled < into.size() && (!received_.empty() || SSL_pending(session_.get()) > 0)) {
        ERR_clear_error();
        const int size = SSL_read(session_.get(), into.data() + filled, static_cast<int>(into.size() - filled));
        if (size <= 0) {
            fail(size);
            break;
        }
        filled += static_cast<std::size_t>(size);
    }
    return filled;
}

bool TlsSession::shake_hands() {
    ERR_clear_error();
    const int result = SSL_do_handshake(session_.get());
    if (result != 1) {
        fail(result);
        return false;
    }
    outcome_ = SSL_session_reused(session_.get()) == 1 ? TlsOutcome::resumed : TlsOutcome::full;
    state_ = State::established;
    return true;
}

// Nothing failed if OpenSSL only wants more to read.
void TlsSession::fail(int result) {
    const int error = SSL_get_error(session_.get(), result);
    if (error == SSL_ERROR_WANT_READ) return;
    if (error == SSL_ERROR_ZERO_RETURN && state_ == State::established) {
        state_ = State::ended;
        return;
    }
    const unsigned long last = ERR_peek_last_error();  // earlier ones are less specific: errors of a lower library
    if (state_ == State::handshake) {
        outcome_ = last == 0 ? TlsOutcome::disconnected : outcome_of(ERR_GET_REASON(last));
        const long verified = SSL_get_verify_result(session_.get());
        const char* text = outcome_ == TlsOutcome::client_certificate ? X509_verify_cert_error_string(verified)
                                                                      : ERR_reason_error_string(last);
        if (text != nullptr) reason_ = text;
    }
    ERR_clear_error();
    state_ = State::failed;
}

bool TlsSession::write(std::string_view bytes) {
    if (state_ != State::established && state_ != State::ended) return false;
    ERR_clear_error();
    std::size_t written = 0;
    return SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &written) == 1 && written == bytes.size();
}

void TlsSession::end() {
    if (state_ != State::established && state_ != State::ended) return;
    if ((SSL_get_shutdown(session_.get()) & SSL_SENT_SHUTDOWN) != 0) return;
    ERR_clear_error();
    SSL_shutdown(session_.get());
}

void TlsSession::sent(std::size_t size) {
    sent_ += size;
    if (sent_ < output_.size()) return;
    sent_ = 0;
    output_.clear();
    // There may be ten thousand connections, most of them idle.
    if (output_.capacity() > kIdleOutputBytesMax) output_.shrink_to_fit();
}

std::vector<std::string> TlsSession::certificate_names() const {
    std::vector<std::string> names;
    X509* certificate = SSL_get0_peer_certificate(session_.get());
    if (certificate == nullptr || SSL_get_verify_result(session_.get()) != X509_V_OK) return names;
    auto* alternatives =
        static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
    for (int i = 0; i < sk_GENERAL_NAME_num(alternatives); ++i) {
        int type = 0;
        const void* value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(alternatives, i), &type);
        const char* prefix = type == GEN_DNS     ? "dns:"
                             : type == GEN_URI   ? "uri:"
                             : type == GEN_EMAIL ? "email:"
                                                 : nullptr;
        if (prefix == nullptr) continue;
        const auto* text = static_cast<const ASN1_IA5STRING*>(value);
        std::string name(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                         static_cast<std::size_t>(ASN1_STRING_length(text)));
        // A name with a control character may imitate another name.
        const bool is_printable = std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f; });
        if (!name.empty() && is_printable) names.push_back(prefix + name);
    }
    GENERAL_NAMES_free(alternatives);
    return names;
}

InstantMs TlsSession::certificate_expires_ms() const {
    const X509* certificate = SSL_get0_peer_certificate(session_.get());
    return certificate == nullptr ? kNoInstant : instant_ms(X509_get0_notAfter(certificate));
}

}  // namespace duewheel
