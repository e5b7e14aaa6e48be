#include "access/refusal_limit.h"

#include <gtest/gtest.h>

namespace duewheel::refusal_limit_test {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kStartNs = 1'000 * kSecondNs;

RefusalLimit::Refusal stranger(std::string address) {
    return {.address = std::move(address), .actor = "anonymous", .verb = "access.refuse"};
}

RefusalLimit::Refusal tenant(std::string verb, std::string address = "10.0.0.7", std::string token = "tenant") {
    return {std::move(address), std::move(token), std::move(verb), true, true};
}

TEST(RefusalLimit, gives_a_burst_and_then_one_line_every_ten_seconds) {
    for (const RefusalLimit::Refusal& refusal : {stranger("10.0.0.7"), tenant("queue.set")}) {
        RefusalLimit limit;
        int lines = 0;
        std::uint64_t told = 0;
        for (int second = 0; second < 100; ++second) {
            for (int i = 0; i < 50; ++i) {
                const auto line = limit.admit(refusal, kStartNs + second * kSecondNs);
                lines += line ? 1 : 0;
                told += line.value_or(0);
            }
        }
        EXPECT_EQ(lines, RefusalLimit::kBurst + 9);
        EXPECT_EQ(limit.suppressed_total(), 5'000u - 19u);
        for (const auto& rest : limit.take_all()) told += rest.refusals;
        EXPECT_EQ(told, limit.suppressed_total()) << "each refusal has a line or is counted in one";
        EXPECT_FALSE(limit.has_suppressed());
    }
}

TEST(RefusalLimit, reports_their_number_after_the_flood) {
    RefusalLimit limit;
    for (int i = 0; i < 60; ++i) static_cast<void>(limit.admit(stranger("a"), kStartNs));
    EXPECT_TRUE(limit.take_due(kStartNs + kSecondNs).empty()) << "not yet";
    const auto due = limit.take_due(kStartNs + 10 * kSecondNs);
    ASSERT_EQ(due.size(), 1u);
    EXPECT_EQ(due[0].like, stranger("a"));
    EXPECT_EQ(due[0].refusals, 50u);
    EXPECT_FALSE(limit.has_suppressed());
    EXPECT_TRUE(limit.take_due(kStartNs + 1'000 * kSecondNs).empty());
}

TEST(RefusalLimit, is_separate_for_each_address_and_shared_by_all) {
    RefusalLimit limit;
    for (int i = 0; i < 100; ++i) static_cast<void>(limit.admit(stranger("flood"), kStartNs));
    EXPECT_TRUE(limit.admit(stranger("other"), kStartNs));
    int lines = 0;
    for (int second = 0; second < 60; ++second) {
        for (int i = 0; i < 500; ++i) {
            lines += limit.admit(stranger("10.0." + std::to_string(i)), kStartNs + second * kSecondNs) ? 1 : 0;
        }
    }
    EXPECT_LE(lines, RefusalLimit::kBurstOfPool + 6);
    EXPECT_GE(lines, RefusalLimit::kBurstOfPool - RefusalLimit::kBurst);
}

// A token of one namespace wrote 60,000 lines in four seconds, with requests that were not valid.
TEST(RefusalLimit, of_a_token_bounds_its_lines_over_all_verbs_and_addresses) {
    RefusalLimit limit;
    int lines = 0;
    for (int i = 0; i < 60'000; ++i) {
        const auto refusal = tenant("verb." + std::to_string(i % 20), "10.0.0." + std::to_string(i % 200));
        lines += limit.admit(refusal, kStartNs + i % 4 * kSecondNs) ? 1 : 0;
    }
    EXPECT_EQ(lines, RefusalLimit::kBurstOfActor);
    EXPECT_TRUE(limit.admit(tenant("queue.set", "10.0.0.7", "another"), kStartNs));
}

// After refusals from an address, the refused removal of a token from there had no line.
TEST(RefusalLimit, noise_hides_no_refusal_of_another_kind) {
    RefusalLimit limit;
    for (int i = 0; i < 10'000; ++i) {
        static_cast<void>(limit.admit(stranger("10.0.0." + std::to_string(i % 250)), kStartNs));
        static_cast<void>(limit.admit(stranger("10.0.0.7"), kStartNs));
        auto guess = stranger("10.0.1." + std::to_string(i % 250));
        guess.verb = "token.remove";
        guess.is_administrative = true;
        static_cast<void>(limit.admit(guess, kStartNs));
    }
    EXPECT_TRUE(limit.admit(tenant("token.remove"), kStartNs)) << "same address, known actor";
    auto refused = tenant("access.refuse");
    refused.is_administrative = false;
    EXPECT_TRUE(limit.admit(refused, kStartNs));
}

TEST(RefusalLimit, holds_a_bounded_number_of_counts_and_forgets_quiet_ones) {
    RefusalLimit limit;
    for (int i = 0; i < 5'000; ++i) static_cast<void>(limit.admit(stranger(std::to_string(i)), kStartNs));
    std::uint64_t told = 0;
    std::size_t counts = 0;
    std::uint64_t of_others = 0;
    for (const auto& each : limit.take_all()) {
        ++counts;
        told += each.refusals;
        if (each.like.address.empty()) of_others += each.refusals;
    }
    EXPECT_LE(counts, RefusalLimit::kCountsMax + 1);
    EXPECT_EQ(told, limit.suppressed_total());
    EXPECT_GT(of_others, 3'000u);
    const std::int64_t later_ns = kStartNs + 2'000 * kSecondNs;
    EXPECT_TRUE(limit.take_due(later_ns).empty());
    EXPECT_EQ(limit.admit(stranger("new"), later_ns), 0u) << "with a name of its own";
    EXPECT_TRUE(limit.admit(stranger("new"), later_ns));
    for (int i = 0; i < 20; ++i) static_cast<void>(limit.admit(stranger("new"), later_ns));
    const auto due = limit.take_all();
    ASSERT_EQ(due.size(), 1u);
    EXPECT_EQ(due[0].like.address, "new");
}

}  // namespace
}  // namespace duewheel::refusal_limit_test
