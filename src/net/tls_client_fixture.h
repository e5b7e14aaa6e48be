// For the tests of this module: a client that speaks TLS through a RawClient, so that a test sees and changes the bytes
// of the wire.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "base/c_pointer.h"
#include "net/loopback_fixture.h"
#include "support/certificates.h"

namespace duewheel {

class TlsClient {
  public:
    struct Options {
        std::string authority;  // PEM; empty: any server is fine
        CertificateAndKey own;
        int version_max = 0;      // 0: the newest
        std::string ciphers12{};  // empty: the usual
        std::string protocols{};  // as ALPN has it
        SSL_SESSION* session = nullptr;
        bool in_single_bytes = false;  // sends each byte by itself
    };

    TlsClient(int port, const Options& options)
        : options_(options), raw_(port), context_(SSL_CTX_new(TLS_client_method())) {
        if (options.version_max != 0) {
            SSL_CTX_set_security_level(context_.get(), 0);
            SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
            SSL_CTX_set_max_proto_version(context_.get(), options.version_max);
        }
        if (!options.ciphers12.empty()) SSL_CTX_set_cipher_list(context_.get(), options.ciphers12.c_str());
        if (!options.protocols.empty()) {
            SSL_CTX_set_alpn_protos(context_.get(), reinterpret_cast<const unsigned char*>(options.protocols.data()),
                                    static_cast<unsigned>(options.protocols.size()));
        }
        if (!options.authority.empty()) {
            X509* trusted = read(options.authority, PEM_read_bio_X509);
            X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), trusted);
            X509_free(trusted);
            SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
        }
        if (!options.own.key.empty()) {
            X509* certificate = read(options.own.certificate, PEM_read_bio_X509);
            EVP_PKEY* key = read(options.own.key, PEM_read_bio_PrivateKey);
            EXPECT_EQ(SSL_CTX_use_cert_and_key(context_.get(), certificate, key, nullptr, 1), 1);
            X509_free(certificate);
            EVP_PKEY_free(key);
        }
        session_.reset(SSL_new(context_.get()));
        in_ = BIO_new(BIO_s_mem());
        out_ = BIO_new(BIO_s_mem());
        SSL_set_bio(session_.get(), in_, out_);
        if (options.session != nullptr) SSL_set_session(session_.get(), options.session);
    }
    explicit TlsClient(int port) : TlsClient(port, Options{}) {}

    bool shake_hands() {
        return repeat([this] { return SSL_connect(session_.get()); }) == 1;
    }
    // The error of the last call that failed.
    const std::string& error() const { return error_; }

    bool send(std::string_view bytes) {
        return repeat([&] { return SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size())); }) > 0;
    }
    // Up to `size` bytes; empty at the end or on an error.
    std::string receive(std::size_t size = 16 * 1024) {
        std::string bytes(size, '\0');
        const int received = repeat([&] { return SSL_read(session_.get(), bytes.data(), static_cast<int>(size)); });
        bytes.resize(received > 0 ? static_cast<std::size_t>(received) : 0);
        return bytes;
    }
    // The next answer with its body.
    std::string answer() {
        while (input_.find("\r\n\r\n") == std::string::npos && take_more()) {
        }
        const auto length = input_.find("Content-Length: ");
        if (length == std::string::npos) return std::exchange(input_, {});
        const std::size_t size = input_.find("\r\n\r\n") + 4 + std::stoul(input_.substr(length + 16));
        while (input_.size() < size && take_more()) {
        }
        std::string answer = input_.substr(0, size);
        input_.erase(0, size);
        return answer;
    }
    // Whether the server has closed in order, after everything that it sent.
    bool ends_in_order() {
        while (take_more()) {
        }
        return SSL_get_shutdown(session_.get()) == SSL_RECEIVED_SHUTDOWN ||
               SSL_get_shutdown(session_.get()) == (SSL_RECEIVED_SHUTDOWN | SSL_SENT_SHUTDOWN);
    }
    void end() {
        SSL_shutdown(session_.get());
        flush();
    }
    bool renegotiate() {
        if (SSL_renegotiate(session_.get()) != 1) return false;
        return repeat([this] { return SSL_do_handshake(session_.get()); }) == 1;
    }

    SSL* session() { return session_.get(); }
    RawClient& raw() { return raw_; }
    // What the client has to say, unsent.
    std::string take_output() {
        char* bytes = nullptr;
        const long size = BIO_get_mem_data(out_, &bytes);
        std::string taken(bytes, static_cast<std::size_t>(size));
        (void)BIO_reset(out_);
        return taken;
    }

  private:
    template <class T>
    static T* read(const std::string& pem, T* (*function)(BIO*, T**, pem_password_cb*, void*)) {
        BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
        T* object = function(bio, nullptr, nullptr, nullptr);
        BIO_free(bio);
        if (object == nullptr) std::abort();
        return object;
    }

    void flush() {
        const std::string bytes = take_output();
        if (!options_.in_single_bytes) {
            (void)raw_.send(bytes);
            return;
        }
        for (const char byte : bytes) (void)raw_.send({&byte, 1});
    }

    // Calls `operation`, and feeds it what it waits for.
    template <class Operation>
    int repeat(Operation operation) {
        for (;;) {
            ERR_clear_error();
            const int result = operation();
            flush();
            if (result > 0) return result;
            const int error = SSL_get_error(session_.get(), result);
            if (error != SSL_ERROR_WANT_READ) {
                const char* reason = ERR_reason_error_string(ERR_peek_error());
                error_ = reason != nullptr ? reason : "end";
                return result;
            }
            const std::string bytes = raw_.some();
            if (bytes.empty()) {
                error_ = "end of the connection";
                return 0;
            }
            BIO_write(in_, bytes.data(), static_cast<int>(bytes.size()));
        }
    }

    bool take_more() {
        const std::string bytes = receive();
        input_ += bytes;
        return !bytes.empty();
    }

    const Options options_;
    RawClient raw_;
    CPointer<SSL_CTX, SSL_CTX_free> context_;
    CPointer<SSL, SSL_free> session_;
    BIO* in_ = nullptr;   // of the session
    BIO* out_ = nullptr;  // of the session
    std::string error_;
    std::string input_;
};

}  // namespace duewheel
