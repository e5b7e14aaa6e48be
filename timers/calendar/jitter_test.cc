#include <array>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <duewheel/jitter.h>

namespace duewheel::jitter_test {
namespace {

using namespace std::chrono_literals;

const Instant kNoon = Instant(std::chrono::sys_days(std::chrono::year(2026) / 11 / 21) + 12h);

std::int64_t delay_ms(std::string_view name, Instant nominal, Jitter jitter) {
    return (with_jitter(nominal, name, jitter) - nominal).count();
}

// These figures stay the same for ever: a server that is updated must not move what it has announced.
TEST(Jitter, is_the_same_on_every_machine_and_for_ever) {
    EXPECT_EQ(delay_ms("report", kNoon, {.max = 30s}), 3061);
    EXPECT_EQ(delay_ms("report", kNoon + 24h, {.max = 30s}), 8204);
    EXPECT_EQ(delay_ms("report", kNoon, {.max = 30s, .seed = 1}), 23566);
    EXPECT_EQ(delay_ms("", kNoon, {.max = 1h}), 1799705);
}

TEST(Jitter, is_never_early_and_never_later_than_asked) {
    std::set<std::int64_t> seen;
    for (int i = 0; i < 2000; ++i) {
        const std::int64_t delay = delay_ms("name " + std::to_string(i), kNoon, {.max = 9ms});
        ASSERT_GE(delay, 0);
        ASSERT_LE(delay, 9);
        seen.insert(delay);
    }
    EXPECT_EQ(seen.size(), 10u);
    EXPECT_EQ(delay_ms("report", kNoon, {}), 0);
    EXPECT_EQ(delay_ms("report", kNoon, {.max = -1s}), 0);
    EXPECT_LE(delay_ms("report", kNoon, {.max = 1ms}), 1);
    EXPECT_EQ(with_jitter(Instant::max(), "report", {.max = 1h}), Instant::max());
    EXPECT_GE(with_jitter(Instant::min(), "report", {.max = std::chrono::milliseconds::max()}), Instant::min());
}

// Names, instants and seeds that differ a little: ten equal shares, within five standard deviations of 10,000 draws.
TEST(Jitter, spreads_names_instants_and_seeds_evenly) {
    enum { names, instants, seeds };
    for (const int what : {names, instants, seeds}) {
        std::array<int, 10> shares{};
        for (int i = 0; i < 10'000; ++i) {
            const std::string name = what == names ? "queue-" + std::to_string(i) : "queue";
            const Instant nominal = what == instants ? kNoon + std::chrono::minutes(i) : kNoon;
            const Jitter jitter{10s - 1ms, what == seeds ? static_cast<std::uint64_t>(i) : 0};
            ++shares[static_cast<std::size_t>(delay_ms(name, nominal, jitter) / 1000)];
        }
        for (const int share : shares) EXPECT_NEAR(share, 1000, 150) << what;
    }
}

}  // namespace
}  // namespace duewheel::jitter_test
