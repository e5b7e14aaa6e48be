#include "access/audit_share.h"

#include <gtest/gtest.h>

namespace duewheel::audit_share_test {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kStartNs = 1'000 * kSecondNs;
constexpr std::size_t kLineBytes = 100;
constexpr std::uint64_t kLinesOfPart = 5'000;
constexpr std::uint64_t kLogBytes = AuditShare::kParts * kLinesOfPart * kLineBytes;

// How many of its lines a party has written when it is reported; 0: it is not, within a day.
std::uint64_t lines_until_report(std::int64_t interval_ns) {
    AuditShare share(kLogBytes);
    std::int64_t now_ns = kStartNs;
    for (std::uint64_t line = 1; now_ns < kStartNs + 24 * AuditShare::kPartNs; ++line, now_ns += interval_ns) {
        if (share.count("tenant", kLineBytes, now_ns)) return line;
    }
    return 0;
}

TEST(AuditShare, reports_a_party_that_fills_a_twentieth_of_the_log_faster_than_in_an_hour) {
    const std::int64_t slow_ns = AuditShare::kPartNs / static_cast<std::int64_t>(kLinesOfPart);
    EXPECT_EQ(lines_until_report(kSecondNs / 10'000), kLinesOfPart + 1);
    EXPECT_NEAR(static_cast<double>(lines_until_report(slow_ns / 2)), 2.0 * kLinesOfPart, 2.0);
    EXPECT_EQ(lines_until_report(slow_ns), 0u);
}

TEST(AuditShare, counts_each_party_apart_and_by_the_size_of_its_lines) {
    AuditShare share(kLogBytes);
    EXPECT_FALSE(share.count("tenant", kLinesOfPart * kLineBytes, kStartNs));
    EXPECT_FALSE(share.count("other", kLineBytes, kStartNs));
    EXPECT_TRUE(share.count("tenant", kLineBytes, kStartNs));
}

TEST(AuditShare, reports_a_flood_once_an_hour) {
    AuditShare share(kLogBytes);
    int reports = 0;
    for (int second = 0; second < 3 * 3'600 - 1; ++second) {
        for (int i = 0; i < 20; ++i) reports += share.count("tenant", 10 * kLineBytes, kStartNs + second * kSecondNs);
    }
    EXPECT_EQ(reports, 3);
    EXPECT_FALSE(share.count("tenant", kLineBytes, kStartNs + 24 * AuditShare::kPartNs));
}

TEST(AuditShare, a_flood_of_parties_makes_it_forget_none_that_fills_the_log) {
    AuditShare share(kLogBytes);
    EXPECT_FALSE(share.count("loud", kLinesOfPart * kLineBytes, kStartNs));
    for (std::size_t i = 0; i < 3 * AuditShare::kPartiesMax; ++i) {
        EXPECT_FALSE(share.count(std::to_string(i), kLineBytes, kStartNs + static_cast<std::int64_t>(i) * kSecondNs));
    }
    EXPECT_TRUE(share.count("loud", kLinesOfPart * kLineBytes, kStartNs + 3 * 1'000 * kSecondNs));
}

}  // namespace
}  // namespace duewheel::audit_share_test
