#include "base/byte_size.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::byte_size_test {
namespace {

TEST(ByteSize, is_a_number_with_its_unit) {
    EXPECT_EQ(parse_byte_size("0B").value(), 0);
    EXPECT_EQ(parse_byte_size("1500B").value(), 1500);
    EXPECT_EQ(parse_byte_size("8KiB").value(), 8192);
    EXPECT_EQ(parse_byte_size("64MiB").value(), 64 << 20);
    EXPECT_EQ(parse_byte_size("8589934591GiB").value(), 8589934591 << 30);
}

TEST(ByteSize, refuses_what_could_be_read_in_two_ways) {
    for (const char* text : {"", "64", "64MB", "64M", "64mib", "64 MiB", "-1B", "+1B", "1.5MiB", "MiB", "1MiB ",
                             "8589934592GiB", "99999999999999999999B"}) {
        const auto size = parse_byte_size(text);
        ASSERT_FALSE(size) << text;
        EXPECT_EQ(size.error().code, "bad_size"_code);
    }
}

TEST(ByteSize, is_written_in_the_largest_unit_that_divides_it) {
    EXPECT_EQ(format_byte_size(0), "0B");
    EXPECT_EQ(format_byte_size(1023), "1023B");
    EXPECT_EQ(format_byte_size(1024), "1KiB");
    EXPECT_EQ(format_byte_size(1536), "1536B");
    EXPECT_EQ(format_byte_size(1536 << 10), "1536KiB");
    EXPECT_EQ(format_byte_size(std::int64_t{3} << 40), "3072GiB");
    for (const std::int64_t bytes : {1, 1000, 4096, 1 << 20, (1 << 20) + 1, 1 << 30}) {
        EXPECT_EQ(parse_byte_size(format_byte_size(bytes)).value(), bytes);
    }
}

}  // namespace
}  // namespace duewheel::byte_size_test
