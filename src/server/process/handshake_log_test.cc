#include "server/process/handshake_log.h"

#include <gtest/gtest.h>

#include "support/recording_log.h"

namespace duewheel::handshake_log_test {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

TEST(HandshakeLog, writes_one_line_in_ten_seconds_for_each_outcome) {
    RecordingLog log;
    HandshakeLog handshakes(log);
    for (int second = 0; second < 25; ++second) {
        handshakes.failed({TlsOutcome::old_version, "unsupported protocol", "192.0.2.7"}, second * kSecondNs);
    }
    ASSERT_EQ(log.lines().size(), 3u);
    for (const char* part : {"tls_handshake_failed", "TLS version from 1.2 on", "outcome=old_version",
                             "unsupported protocol", "remote=192.0.2.7", "count=10"}) {
        EXPECT_NE(log.lines()[2].find(part), std::string::npos) << part << " in " << log.lines()[2];
    }
    handshakes.failed({TlsOutcome::plain_http, "", "192.0.2.8"}, 25 * kSecondNs);
    ASSERT_EQ(log.lines().size(), 4u) << "another kind has a line of its own, at once";
    EXPECT_NE(log.lines()[3].find("Use https"), std::string::npos);
    EXPECT_NE(log.lines()[3].find("count=1"), std::string::npos);
}

}  // namespace
}  // namespace duewheel::handshake_log_test
