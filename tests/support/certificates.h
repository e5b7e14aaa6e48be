// Certificates for the tests of TLS, created in each run: an authority, and the certificates that it signs. PEM texts
// only.
//
// The keys are on the P-256 curve, because they are fast to generate.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace duewheel {

struct CertificateAndKey {
    std::string certificate;
    std::string key;
};

class CertificateAuthority {
  public:
    static constexpr std::int64_t kDayS = 86'400;

    // Beginning and end of a certificate's validity, in seconds from now, and its alternative names as OpenSSL's
    // configuration writes them.
    struct Wish {
        std::string names = "DNS:localhost,IP:127.0.0.1";
        std::int64_t from_s = -kDayS;
        std::int64_t until_s = 90 * kDayS;
    };

    explicit CertificateAuthority(std::string name = "Test Authority") : name_(std::move(name)), key_(make_key()) {
        own_ = make_certificate(*key_, name_, {.names = ""}, true);
    }

    std::string certificate() const { return pem(*own_); }
    CertificateAndKey issue(const Wish& wish) const {
        const Key key = make_key();
        return {pem(*make_certificate(*key, "server", wish, false)), pem(*key)};
    }
    CertificateAndKey issue() const { return issue(Wish{}); }

  private:
    template <auto Function>
    struct Deleter {
        template <class T>
        void operator()(T* object) const {
            Function(object);
        }
    };
    using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
    using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
    using Bio = std::unique_ptr<BIO, Deleter<BIO_free>>;

    static void check(bool fine) {
        if (!fine) std::abort();
    }
    static Key make_key() {
        Key key(EVP_EC_gen("P-256"));
        check(key != nullptr);
        return key;
    }
    static std::string text_of(BIO& bio) {
        char* bytes = nullptr;
        const long size = BIO_get_mem_data(&bio, &bytes);
        return {bytes, static_cast<std::size_t>(size)};
    }
    static std::string pem(X509& certificate) {
        const Bio bio(BIO_new(BIO_s_mem()));
        check(PEM_write_bio_X509(bio.get(), &certificate) == 1);
        return text_of(*bio);
    }
    static std::string pem(EVP_PKEY& key) {
        const Bio bio(BIO_new(BIO_s_mem()));
        check(PEM_write_bio_PrivateKey(bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
        return text_of(*bio);
    }
    static void add(X509& certificate, X509& issuer, int kind, const std::string& value) {
        X509V3_CTX context;
        X509V3_set_ctx_nodb(&context);
        X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
        X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
        check(extension != nullptr && X509_add_ext(&certificate, extension, -1) == 1);
        X509_EXTENSION_free(extension);
    }
    Certificate make_certificate(EVP_PKEY& key, const std::string& name, const Wish& wish, bool is_authority) const {
        static std::int64_t serial = 0;
        Certificate made(X509_new());
        X509& certificate = *made;
        X509& issuer = is_authority ? certificate : *own_;
        check(X509_set_version(&certificate, 2) == 1);
        check(ASN1_INTEGER_set_int64(X509_get_serialNumber(&certificate), ++serial) == 1);
        check(X509_gmtime_adj(X509_getm_notBefore(&certificate), wish.from_s) != nullptr);
        check(X509_gmtime_adj(X509_getm_notAfter(&certificate), wish.until_s) != nullptr);
        check(X509_NAME_add_entry_by_txt(X509_get_subject_name(&certificate), "CN", MBSTRING_ASC,
                                         reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0) == 1);
        check(X509_set_issuer_name(&certificate, X509_get_subject_name(&issuer)) == 1);
        check(X509_set_pubkey(&certificate, &key) == 1);
        add(certificate, issuer, NID_basic_constraints, is_authority ? "critical,CA:TRUE" : "CA:FALSE");
        if (!wish.names.empty()) add(certificate, issuer, NID_subject_alt_name, wish.names);
        check(X509_sign(&certificate, key_.get(), EVP_sha256()) != 0);
        return made;
    }

    std::string name_;
    Key key_;
    Certificate own_;
};

}  // namespace duewheel
