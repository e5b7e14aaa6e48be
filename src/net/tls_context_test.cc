#include "net/tls_context.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include "base/error_codes.h"
#include "net/tls_session.h"
#include "shared/system_clock.h"
#include "support/certificates.h"
#include "support/temporary_directory.h"

namespace duewheel::tls_context_test {
namespace {

constexpr std::int64_t kDayS = CertificateAuthority::kDayS;

class Files {
  public:
    explicit Files(const CertificateAndKey& pair) : paths_{directory_.at("cert.pem"), directory_.at("key.pem"), ""} {
        write(paths_.certificate, pair.certificate);
        write(paths_.key, pair.key);
        allow(0600);
    }

    static void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
    void allow(mode_t mode) const { ASSERT_EQ(::chmod(paths_.key.c_str(), mode), 0); }
    TlsFiles& paths() { return paths_; }
    std::string at(const std::string& name) const { return directory_.at(name); }
    // "code: message" without the directory; empty on success.
    std::string refusal(InstantMs now_ms = wall_now_ms()) const {
        const auto loaded = TlsContext::load(paths_, now_ms);
        if (loaded) return "";
        std::string text = std::string(name_of(loaded.error().code)) + ": " + loaded.error().message;
        for (auto at = text.find(directory_.path()); at != std::string::npos; at = text.find(directory_.path())) {
            text.erase(at, directory_.path().size() + 1);
        }
        return text;
    }

  private:
    TemporaryDirectory directory_;
    TlsFiles paths_;
};

TEST(TlsContext, knows_when_its_certificate_expires) {
    const CertificateAuthority authority;
    Files files(authority.issue({.until_s = 10 * kDayS}));
    const InstantMs now_ms = wall_now_ms();
    const auto loaded = TlsContext::load(files.paths(), now_ms);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    EXPECT_NEAR(static_cast<double>((*loaded)->expires_ms()), static_cast<double>(now_ms + 10 * kDayS * 1000), 60'000);
    // What it makes lives on without it.
    EXPECT_EQ((*loaded)->new_session()->state(), TlsSession::State::handshake);
}

TEST(TlsContext, refuses_a_certificate_before_and_after_its_time) {
    const CertificateAuthority authority;
    Files files(authority.issue({.from_s = -kDayS, .until_s = kDayS}));
    const InstantMs now_ms = wall_now_ms();
    EXPECT_EQ(files.refusal(now_ms), "");
    EXPECT_NE(files.refusal(now_ms - 2 * kDayS * 1000)
                  .find("bad_tls_certificate: cert.pem, the setting tls.certificate, "
                        "is not valid before 2"),
              std::string::npos);
    EXPECT_NE(files.refusal(now_ms + 2 * kDayS * 1000).find("expired at 2"), std::string::npos);
    EXPECT_NE(files.refusal(now_ms + 2 * kDayS * 1000).find("Z; install a new certificate"), std::string::npos);
}

TEST(TlsContext, refuses_a_key_that_others_may_read) {
    const CertificateAuthority authority;
    const Files files(authority.issue());
    for (const mode_t mode : {0600u, 0400u, 0640u, 0440u}) {
        files.allow(mode);
        EXPECT_EQ(files.refusal(), "") << mode;
    }
    for (const mode_t mode : {0644u, 0604u, 0660u, 0602u, 0601u}) {
        files.allow(mode);
        EXPECT_EQ(files.refusal(),
                  "bad_tls_key: key.pem, the setting tls.key, can be read or changed by other users; run chmod 600 on "
                  "it (640 if its group needs it), and replace the key if it may have been read")
            << mode;
    }
}

TEST(TlsContext, refuses_what_is_missing_or_is_no_pem) {
    const CertificateAuthority authority;
    const CertificateAndKey pair = authority.issue();
    Files files(pair);
    TlsFiles& paths = files.paths();

    paths.certificate = files.at("none.pem");
    EXPECT_EQ(files.refusal(),
              "bad_tls_certificate: none.pem, the setting tls.certificate, cannot be read: No such file or directory; "
              "check the path and the permissions");
    paths.certificate = files.at("");
    EXPECT_NE(files.refusal().find("is not a file"), std::string::npos);
    paths.certificate = files.at("cert.pem");
    for (const std::string& text : {std::string(), std::string("hello"), pair.key}) {
        Files::write(paths.certificate, text);
        EXPECT_EQ(
            files.refusal(),
            "bad_tls_certificate: cert.pem, the setting tls.certificate, holds no certificate in PEM, which begins "
            "with -----BEGIN CERTIFICATE-----");
    }
    // Cut off: as a file is that is being written.
    Files::write(paths.certificate, pair.certificate + pair.certificate.substr(0, 200));
    EXPECT_NE(files.refusal().find("holds a damaged certificate"), std::string::npos);
    Files::write(paths.certificate, std::string((1u << 20) + 1, 'x'));
    EXPECT_NE(files.refusal().find("is larger than 1 MiB"), std::string::npos);
    Files::write(paths.certificate, pair.certificate);

    Files::write(paths.key, pair.certificate);
    EXPECT_NE(files.refusal().find("bad_tls_key: key.pem, the setting tls.key, holds no private key in PEM"),
              std::string::npos);
    Files::write(paths.key, pair.key.substr(0, 100) + pair.key.substr(120));
    EXPECT_NE(files.refusal().find("holds a damaged private key"), std::string::npos);
    Files::write(paths.key, pair.key);

    paths.client_ca = files.at("none.pem");
    EXPECT_NE(files.refusal().find("bad_tls_client_ca: none.pem, the setting tls.client_ca, cannot be read"),
              std::string::npos);
    Files::write(paths.client_ca = files.at("ca.pem"), "");
    EXPECT_NE(files.refusal().find("holds no certificate"), std::string::npos);
    Files::write(paths.client_ca, authority.certificate());
    EXPECT_EQ(files.refusal(), "");
}

TEST(TlsContext, refuses_a_key_of_another_certificate) {
    const CertificateAuthority authority;
    Files files(authority.issue());
    Files::write(files.paths().key, authority.issue().key);
    EXPECT_EQ(
        files.refusal(),
        "bad_tls_key: key.pem, the setting tls.key, does not belong to the certificate cert.pem; give the key that "
        "the certificate was made for");
}

// Otherwise OpenSSL would ask for the passphrase on the terminal, and the server would wait for it.
TEST(TlsContext, refuses_a_key_with_a_passphrase) {
    const CertificateAuthority authority;
    const CertificateAndKey pair = authority.issue();
    Files files(pair);
    BIO* in = BIO_new_mem_buf(pair.key.data(), static_cast<int>(pair.key.size()));
    EVP_PKEY* key = PEM_read_bio_PrivateKey(in, nullptr, nullptr, nullptr);
    BIO* out = BIO_new_file(files.paths().key.c_str(), "w");
    const auto* word = reinterpret_cast<const unsigned char*>("word");
    EXPECT_EQ(PEM_write_bio_PrivateKey(out, key, EVP_aes_128_cbc(), word, 4, nullptr, nullptr), 1);
    BIO_free(out);
    EVP_PKEY_free(key);
    BIO_free(in);
    EXPECT_NE(files.refusal().find("is protected by a passphrase; remove it with `openssl pkey"), std::string::npos);
}

}  // namespace
}  // namespace duewheel::tls_context_test
