#include "base/secure_random.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace duewheel {
namespace {

TEST(SecureRandom, fills_to_the_last_byte_and_not_beyond) {
    // Over 256 bytes the kernel may hand out less than asked.
    std::vector<std::byte> bytes(5002);
    bytes.back() = std::byte{0x5a};
    ASSERT_TRUE(secure_random_bytes(std::span(bytes).first(5001)).ok());
    EXPECT_EQ(bytes.back(), std::byte{0x5a});
    // A run of 32 zeros has the chance 2^-256.
    const auto run = std::search_n(bytes.begin(), bytes.end(), 32, std::byte{0});
    EXPECT_EQ(run, bytes.end());
    EXPECT_FALSE(std::all_of(bytes.end() - 33, bytes.end() - 1, [](std::byte b) { return b == std::byte{0}; }));
}

TEST(SecureRandom, gives_other_bytes_each_time) {
    std::vector<std::byte> first(16);
    std::vector<std::byte> second(16);
    ASSERT_TRUE(secure_random_bytes(first).ok());
    ASSERT_TRUE(secure_random_bytes(second).ok());
    EXPECT_NE(first, second);
}

TEST(SecureRandom, nothing_asked_is_nothing_done) {
    EXPECT_TRUE(secure_random_bytes({}).ok());
}

}  // namespace
}  // namespace duewheel
