#include "calendar/duration.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calendar/text_cases_fixture.h"
#include "shared/random.h"

namespace duewheel::duration_test {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(Duration, reads_whole_numbers_with_units) {
    expect_read<std::int64_t>(parse_duration, {{"250ms", 250},
                                               {"0s", 0},
                                               {"1s", 1'000},
                                               {"10m", 600'000},
                                               {"1h", 3'600'000},
                                               {"3d12h", 302'400'000},
                                               {"2w", 1'209'600'000},
                                               {"1w1d1h1m1s1ms", 694'861'001},
                                               {"1m1ms", 60'001},
                                               {"90m", 5'400'000},
                                               {"007s", 7'000},
                                               {"9223372036854775807ms", kMax},
                                               {"106751991167d7h12m55s807ms", kMax}});
}

// Go prints 2m0.5s and Python 1800.0 seconds; both were refused, with the advice to use a smaller unit.
TEST(Duration, reads_decimals_that_are_whole_milliseconds) {
    expect_read<std::int64_t>(parse_duration, {{"1.5s", 1'500},
                                               {"1800.0s", 1'800'000},
                                               {"2m0.5s", 120'500},
                                               {"1h0m0.001s", 3'600'001},
                                               {"0.25000000000000000000s", 250},
                                               {"1500.0ms", 1'500},
                                               {"1.5h", 5'400'000},
                                               {"1d0.5h", 88'200'000},
                                               {"0.00005m", 3},
                                               {"0.0009765625w", 590'625},
                                               {"0.5w", 302'400'000},
                                               {"9223372036854775.807s", kMax}});
}

TEST(Duration, names_the_unit_to_write) {
    expect_refused(parse_duration, ErrorCode::bad_duration, "such as 250ms, 1.5s or 3d12h",
                   {
                       {"30min", 3, "; write 30m"},
                       {"2 hours", 2, "no spaces; write 2h"},
                       {"10 sec", 3, "no spaces; write 10s"},
                       {"1.5 hours", 4, "no spaces; write 1.5h"},
                       {"1h 30m", 3, "no spaces"},
                       {"1h 30min", 3, "no spaces"},
                       {"1h30Minutes", 5, "; write 30m"},
                       {"5S", 2, "; write 5s"},
                       {"500 ms", 4, "; write 500ms"},
                       {"3days", 2, "; write 3d"},
                       {"30分钟", 3, "; write 30m"},
                       {"2 小时", 2, "; write 2h"},
                       {"3月", 2, "use days"},
                       {"2months", 2, "use days"},
                       {"5µs", 2, "the smallest unit is ms"},
                       {"7ns", 2, "the smallest unit is ms"},
                       {"7 parsecs", 2, "no spaces. Write"},
                   });
}

TEST(Duration, reads_iso_8601) {
    expect_read<std::int64_t>(parse_duration, {{"PT10M", 600'000},
                                               {"P3DT12H", 302'400'000},
                                               {"P2W", 1'209'600'000},
                                               {"P1D", 86'400'000},
                                               {"P1DT2H3M4S", 93'784'000},
                                               {"PT36H", 129'600'000},
                                               {"PT1H1S", 3'601'000},
                                               {"PT1.5S", 1'500},
                                               {"PT1,5S", 1'500},
                                               {"PT0.001S", 1},
                                               {"PT0.25000S", 250},
                                               {"PT0S", 0},
                                               {"P0D", 0},
                                               {"PT9223372036854775.807S", kMax}});
}

TEST(Duration, refuses_with_the_column_and_what_is_accepted) {
    using namespace std::string_view_literals;
    expect_refused(parse_duration, ErrorCode::bad_duration, "such as 250ms, 1.5s or 3d12h",
                   {
                       {"", 1, "empty"},
                       {"10", 3, "unit is missing"},
                       {"-5s", 1, "negative"},
                       {"+5s", 1, "number is expected"},
                       {" 5s", 1, "no spaces"},
                       {"5 s", 2, "no spaces"},
                       {"5s ", 3, "no spaces"},
                       {"s", 1, "number is expected"},
                       {"1.5h1m", 2, "only the last number"},
                       {"1.0005s", 2, "fewer decimals"},
                       {"0.5ms", 2, "fewer decimals"},
                       {"0.12345678901w", 2, "fewer decimals"},
                       {"1.s", 2, "digit is missing"},
                       {"1.5.5s", 4, "digit is missing"},
                       {"1,5s", 2, "follow a point"},
                       {"1.5", 4, "unit is missing"},
                       {".5h", 1, "begin with a digit"},
                       {"5x", 2, "not a unit"},
                       {"5m5m", 4, "once"},
                       {"5m5h", 4, "once"},
                       {"5ms5s", 5, "once"},
                       {"1d2", 4, "unit is missing"},
                       {"5s\0"sv, 3, "number is expected"},
                       {"٣s", 1, "number is expected"},
                       {"0x10s", 2, "not a unit"},
                       {"1e3s", 2, "not a unit"},
                       {"9223372036854775808ms", 1, "too long"},
                       {"9223372036854775807s", 1, "too long"},
                       {"9223372036854775.808s", 1, "too long"},
                       {"99999999999999999999999999999999w", 1, "too long"},
                       {"106751991167d7h12m55s808ms", 22, "too long"},
                       {"P", 2, "number is expected"},
                       {"PT", 3, "after the T"},
                       {"P1DT", 5, "after the T"},
                       {"P1Y", 3, "depends on the calendar"},
                       {"P1M", 3, "depends on the calendar"},
                       {"P1Y2M3D", 3, "depends on the calendar"},
                       {"P1H", 3, "must follow a T"},
                       {"P1W2D", 4, "weeks cannot be combined"},
                       {"P1D1W", 5, "weeks cannot be combined"},
                       {"P1.5D", 3, "only seconds"},
                       {"P1.5W", 5, "weeks cannot be combined"},
                       {"PT1.5H", 4, "only seconds"},
                       {"PT1.5M", 4, "only seconds"},
                       {"PT0.0001S", 4, "more than three decimals"},
                       {"PT1.S", 5, "digit is missing"},
                       {"PT.5S", 3, "begin with a digit"},
                       {"PT1S1M", 6, "not a unit"},
                       {"PT1M1M", 6, "not a unit"},
                       {"P1D1D", 5, "not a unit"},
                       {"PT1", 4, "unit is missing"},
                       {"P1", 3, "unit is missing"},
                       {"PT1HT1M", 5, "number is expected"},
                       {"P-1D", 2, "negative"},
                       {"-P1D", 1, "negative"},
                       {"pt1s", 1, "number is expected"},
                       {"PT9223372036854775.808S", 3, "too long"},
                       {"P15250284453W", 2, "too long"},
                       {"P99999999999999999999D", 2, "too long"},
                   });
}

TEST(Duration, prints_the_largest_units_first) {
    EXPECT_EQ(format_duration(0), "0ms");
    EXPECT_EQ(format_duration(250), "250ms");
    EXPECT_EQ(format_duration(1'000), "1s");
    EXPECT_EQ(format_duration(60'500), "1m500ms");
    EXPECT_EQ(format_duration(5'400'000), "1h30m");
    EXPECT_EQ(format_duration(302'400'000), "3d12h");
    EXPECT_EQ(format_duration(14 * 86'400'000), "2w");
    EXPECT_EQ(format_duration(15 * std::int64_t{86'400'000}), "15d");
    EXPECT_EQ(format_duration(kMax), "106751991167d7h12m55s807ms");
    EXPECT_EQ(format_duration(-90'000), "-1m30s");
    EXPECT_EQ(format_duration(std::numeric_limits<std::int64_t>::min()), "-106751991167d7h12m55s808ms");
}

TEST(Duration, every_printed_duration_is_read_back) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        for (int i = 0; i < 2000; ++i) {
            constexpr std::int64_t kSteps[] = {1, 1'000, 60'000, 3'600'000, 86'400'000, 604'800'000};
            const std::int64_t step = kSteps[random.below(6)];
            const std::int64_t duration =
                static_cast<std::int64_t>(random.next() >> (1 + random.below(60))) / step * step;
            const auto parsed = parse_duration(format_duration(duration));
            ASSERT_TRUE(parsed.ok()) << format_duration(duration);
            ASSERT_EQ(*parsed, duration) << format_duration(duration);
        }
    }
}

// Texts made of the pieces of the grammar in any order: whatever is accepted is a duration that prints and reads back,
// and whatever is refused points into the text.
TEST(Duration, hostile_texts_are_refused_in_place_or_mean_one_thing) {
    constexpr std::string_view kPieces[] = {"P",
                                            "T",
                                            "W",
                                            "D",
                                            "H",
                                            "M",
                                            "S",
                                            "Y",
                                            "w",
                                            "d",
                                            "h",
                                            "m",
                                            "s",
                                            "ms",
                                            ".",
                                            ",",
                                            "-",
                                            "+",
                                            " ",
                                            "0",
                                            "1",
                                            "59",
                                            "9223372036854775807",
                                            "99999999999999999999",
                                            "\xff",
                                            "\n"};
    int accepted = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        for (int i = 0; i < 5000; ++i) {
            std::string text = random.chance(500'000) ? "P" : "";
            for (std::uint64_t pieces = random.below(7); pieces > 0; --pieces) {
                text += kPieces[random.below(std::size(kPieces))];
            }
            const auto parsed = parse_duration(text);
            if (parsed.ok()) {
                ++accepted;
                ASSERT_GE(*parsed, 0) << text;
                ASSERT_EQ(parse_duration(format_duration(*parsed)).value(), *parsed) << text;
                continue;
            }
            const std::size_t column = std::stoul(parsed.error().message.substr(7));
            ASSERT_GE(column, 1u) << text;
            ASSERT_LE(column, text.size() + 1) << text;
        }
    }
    EXPECT_GT(accepted, 200);
}

}  // namespace
}  // namespace duewheel::duration_test
