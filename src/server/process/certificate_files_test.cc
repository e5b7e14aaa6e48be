#include "server/process/certificate_files.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "server/limits/options_check.h"
#include "shared/system_clock.h"
#include "support/certificates.h"
#include "support/temporary_directory.h"

namespace duewheel::certificate_files_test {
namespace {

class Files {
  public:
    Files() { put(authority_.issue()); }

    TlsFiles paths() const { return {directory_.at("cert.pem"), directory_.at("key.pem"), ""}; }
    const CertificateAuthority& authority() const { return authority_; }
    void put(const CertificateAndKey& pair) {
        put("cert.pem", pair.certificate);
        put("key.pem", pair.key);
    }
    // By another file of the same name, as tools do that renew certificates.
    void put(const std::string& name, const std::string& text) {
        const std::string path = directory_.at(name + ".new");
        std::ofstream(path) << text;
        std::filesystem::permissions(path, std::filesystem::perms::owner_read);
        std::filesystem::rename(path, directory_.at(name));
    }

  private:
    TemporaryDirectory directory_;
    CertificateAuthority authority_;
};

TEST(CertificateFiles, are_read_again_once_after_they_change) {
    Files on_disk;
    CertificateFiles files(on_disk.paths());
    const InstantMs now_ms = wall_now_ms();
    ASSERT_TRUE(files.load(now_ms).ok());
    EXPECT_FALSE(files.check(now_ms).has_value());

    // Between the two steps of a renewal the pair does not match, which is no reason to complain.
    const CertificateAndKey pair = on_disk.authority().issue({.until_s = 5 * CertificateAuthority::kDayS});
    on_disk.put("cert.pem", pair.certificate);
    EXPECT_FALSE(files.check(now_ms).has_value());
    on_disk.put("key.pem", pair.key);
    EXPECT_FALSE(files.check(now_ms).has_value());
    const auto fresh = files.check(now_ms);
    ASSERT_TRUE(fresh.has_value());
    ASSERT_TRUE(fresh->ok()) << fresh->error().message;
    EXPECT_LT((**fresh)->expires_ms(), now_ms + 6 * CertificateAuthority::kDayS * 1000);
    EXPECT_FALSE(files.check(now_ms).has_value());
}

TEST(CertificateFiles, that_cannot_be_used_are_reported_once) {
    Files on_disk;
    CertificateFiles files(on_disk.paths());
    const InstantMs now_ms = wall_now_ms();
    ASSERT_TRUE(files.load(now_ms).ok());
    on_disk.put("key.pem", on_disk.authority().issue().key);
    EXPECT_FALSE(files.check(now_ms).has_value());
    const auto refused = files.check(now_ms);
    ASSERT_TRUE(refused.has_value());
    ASSERT_FALSE(refused->ok());
    EXPECT_EQ(refused->error().code, "bad_tls_key"_code);
    EXPECT_FALSE(files.check(now_ms).has_value());
    // One that is gone is a change too.
    std::filesystem::remove(on_disk.paths().certificate);
    EXPECT_FALSE(files.check(now_ms).has_value());
    const auto gone = files.check(now_ms);
    ASSERT_TRUE(gone.has_value());
    EXPECT_EQ(gone->error().code, "bad_tls_certificate"_code);
}

TEST(CertificateFiles, must_match_or_are_refused) {
    const Files on_disk;
    const TlsFiles all = on_disk.paths();
    const auto refusal = [](const TlsFiles& files) {
        const Status checked = check_tls_files(files, wall_now_ms());
        return checked ? "" : std::string(name_of(checked.error().code)) + ": " + checked.error().message;
    };
    EXPECT_EQ(refusal({}), "");
    EXPECT_EQ(refusal(all), "");
    EXPECT_EQ(refusal({all.certificate, all.key, all.certificate}), "");
    EXPECT_EQ(refusal({all.certificate, "", ""}),
              "bad_tls_certificate: the setting tls.certificate is set without tls.key; set both for TLS, or neither");
    EXPECT_EQ(refusal({"", all.key, ""}),
              "bad_tls_key: the setting tls.key is set without tls.certificate; set both for TLS, or neither");
    EXPECT_EQ(
        refusal({"", "", all.certificate}),
        "bad_tls_client_ca: the setting tls.client_ca is set without tls.certificate and tls.key; set these too, or "
        "remove it");
    ServerOptions options;
    options.tls.key = all.key;
    EXPECT_EQ(check_options(options, wall_now_ms()).error().code, "bad_tls_key"_code);
}

}  // namespace
}  // namespace duewheel::certificate_files_test
