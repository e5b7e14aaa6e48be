#include "net/http/http_date.h"

#include <gtest/gtest.h>

namespace duewheel::http_date_test {
namespace {

TEST(HttpDate, is_written_as_in_the_standard) {
    HttpDate date;
    EXPECT_EQ(date.at(784'111'777'000), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_EQ(date.at(784'111'777'999), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_EQ(date.at(784'111'778'000), "Sun, 06 Nov 1994 08:49:38 GMT");
    EXPECT_EQ(date.at(0), "Thu, 01 Jan 1970 00:00:00 GMT");
    EXPECT_EQ(date.at(-1), "Wed, 31 Dec 1969 23:59:59 GMT");
    EXPECT_EQ(date.at(1'709'164'800'000), "Thu, 29 Feb 2024 00:00:00 GMT");
    EXPECT_EQ(date.at(1'798'761'599'999), "Thu, 31 Dec 2026 23:59:59 GMT");
}

TEST(HttpDate, a_clock_that_is_set_back_is_followed) {
    HttpDate date;
    EXPECT_EQ(date.at(10'000), "Thu, 01 Jan 1970 00:00:10 GMT");
    EXPECT_EQ(date.at(9'000), "Thu, 01 Jan 1970 00:00:09 GMT");
}

}  // namespace
}  // namespace duewheel::http_date_test
