#include "base/thousandths.h"

#include <gtest/gtest.h>

namespace duewheel::thousandths_test {
namespace {

TEST(Thousandths, are_written_without_trailing_zeros_and_read_back) {
    EXPECT_EQ(format_thousandths(2000), "2");
    EXPECT_EQ(format_thousandths(1500), "1.5");
    EXPECT_EQ(format_thousandths(1005), "1.005");
    EXPECT_EQ(format_thousandths(0), "0");
    EXPECT_EQ(format_thousandths(50), "0.05");
    for (std::int64_t number = 0; number < 3'000; ++number) {
        ASSERT_EQ(parse_thousandths(format_thousandths(number)), number);
    }
}

TEST(Thousandths, are_read_from_up_to_three_decimals) {
    EXPECT_EQ(parse_thousandths("2"), 2000);
    EXPECT_EQ(parse_thousandths("2.000"), 2000);
    EXPECT_EQ(parse_thousandths("0.25"), 250);
    EXPECT_EQ(parse_thousandths("999999999999999.999"), 999'999'999'999'999'999);
    for (const char* text : {"", ".", "1.", ".5", "1.5001", "1.0000", "-1", "+1", "1,5", "1e3", " 1", "1 ", "1.5.5",
                             "1.-5", "1000000000000000"}) {
        EXPECT_EQ(parse_thousandths(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace duewheel::thousandths_test
