#include "server/process/certificate_watch.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "shared/system_clock.h"
#include "support/certificates.h"
#include "support/recording_log.h"
#include "support/temporary_directory.h"

namespace duewheel::certificate_watch_test {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kDayMs = CertificateAuthority::kDayS * 1000;

class CertificateWatchTest : public ::testing::Test {
  protected:
    CertificateWatchTest() { put(CertificateAuthority::kDayS * 90); }

    void put(std::int64_t valid_s) {
        const CertificateAndKey pair = authority_.issue({.until_s = valid_s});
        write("cert.pem", pair.certificate);
        write("key.pem", pair.key);
    }
    void write(const std::string& name, const std::string& text) {
        std::filesystem::remove(directory_.at(name));
        std::ofstream(directory_.at(name)) << text;
        std::filesystem::permissions(directory_.at(name), std::filesystem::perms::owner_read);
    }
    void open() {
        const TlsFiles files{directory_.at("cert.pem"), directory_.at("key.pem"), ""};
        auto opened = CertificateWatch::open(
            files, loop_, log_, [this](const CertificateFiles::Context&) { ++used_; },
            [](const std::function<void()>& job) { job(); }, now_ms_, now_ns_);
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        watch_ = *std::move(opened);
        EXPECT_EQ(used_, 1);
    }
    // Lets time pass, with all that it starts.
    void pass(std::int64_t seconds) {
        now_ns_ += seconds * kSecondNs;
        now_ms_ += seconds * 1000;
        watch_->advance_to(now_ms_, now_ns_);
        settle();
    }
    void settle() {
        loop_.post([this] { loop_.stop(); });
        loop_.run();
    }
    std::size_t lines() const { return log_.lines().size(); }

    TemporaryDirectory directory_;
    CertificateAuthority authority_;
    RecordingLog log_;
    EventLoop loop_;
    int used_ = 0;
    InstantMs now_ms_ = wall_now_ms();
    std::int64_t now_ns_ = 0;
    std::unique_ptr<CertificateWatch> watch_;
};

TEST_F(CertificateWatchTest, uses_new_files_within_two_checks) {
    open();
    pass(2);
    EXPECT_EQ(used_, 1);
    put(CertificateAuthority::kDayS * 60);
    pass(1);
    EXPECT_EQ(used_, 1) << "no check yet";
    pass(1);
    pass(2);
    EXPECT_EQ(used_, 2);
    EXPECT_LT(watch_->expires_ms(), now_ms_ + 61 * kDayMs);
    ASSERT_EQ(lines(), 1u);
    EXPECT_NE(log_.lines()[0].find("tls_reloaded"), std::string::npos);
}

TEST_F(CertificateWatchTest, keeps_the_certificate_when_the_new_files_are_wrong) {
    open();
    const InstantMs expires_ms = watch_->expires_ms();
    write("key.pem", "nonsense");
    for (int i = 0; i < 5; ++i) pass(2);
    EXPECT_EQ(used_, 1);
    EXPECT_EQ(watch_->expires_ms(), expires_ms);
    ASSERT_EQ(lines(), 1u) << "once, not at each check";
    EXPECT_NE(log_.lines()[0].find("tls_reload_failed"), std::string::npos);
    EXPECT_NE(log_.lines()[0].find("holds no private key"), std::string::npos);
    watch_->reload(now_ms_);
    settle();
    EXPECT_EQ(lines(), 2u) << "who asks is answered";
    put(CertificateAuthority::kDayS * 60);
    watch_->reload(now_ms_);
    settle();
    EXPECT_EQ(used_, 2);
    EXPECT_TRUE(log_.holds("tls_reloaded"));
}

TEST_F(CertificateWatchTest, makes_new_ticket_keys_each_day_silently) {
    open();
    pass(CertificateAuthority::kDayS - 1);
    EXPECT_EQ(used_, 1);
    pass(1);
    EXPECT_EQ(used_, 2);
    write("key.pem", "nonsense");
    pass(CertificateAuthority::kDayS);
    EXPECT_EQ(used_, 2);
    EXPECT_EQ(lines(), 0u);
}

TEST_F(CertificateWatchTest, warns_each_day_of_the_last_thirty) {
    put(CertificateAuthority::kDayS * 31 + 60);
    open();
    pass(0);
    EXPECT_EQ(lines(), 0u);
    for (int day = 30; day >= 29; --day) {
        pass(CertificateAuthority::kDayS);
        pass(60);
        pass(3600);
    }
    ASSERT_EQ(lines(), 1u) << "a day of 30 days and a minute is one too early";
    EXPECT_NE(log_.lines()[0].find("tls_certificate_expires"), std::string::npos);
    EXPECT_NE(log_.lines()[0].find("in less than 30 days"), std::string::npos);
    pass(CertificateAuthority::kDayS * 30);
    EXPECT_EQ(lines(), 2u);
    EXPECT_NE(log_.lines()[1].find("has expired"), std::string::npos);
}

}  // namespace
}  // namespace duewheel::certificate_watch_test
