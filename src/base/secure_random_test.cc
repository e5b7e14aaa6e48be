#include "base/secure_random.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <gtest/gtest.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {
int calls_of_the_kernel = 0;
}

// Replaces the C library's function in the whole test program: every other call is interrupted, and none returns more
// than 1,000 bytes, as the kernel may do when a signal arrives.
extern "C" ssize_t getrandom(void* into, size_t length, unsigned flags) {
    if (++calls_of_the_kernel % 2 == 1) {
        errno = EINTR;
        return -1;
    }
    return ::syscall(SYS_getrandom, into, std::min<size_t>(length, 1000), flags);
}

namespace duewheel {
namespace {

TEST(SecureRandom, fills_to_the_last_byte_and_not_beyond) {
    constexpr std::size_t kLength = 2500;
    std::vector<std::byte> bytes(kLength + 1);
    calls_of_the_kernel = 0;
    ASSERT_TRUE(secure_random_bytes(std::span(bytes).first(kLength)).ok());
    EXPECT_EQ(calls_of_the_kernel, 6);
    EXPECT_EQ(bytes.back(), std::byte{0});
    // 32 zeros in a row have the chance 2^-256 at each place.
    EXPECT_EQ(std::search_n(bytes.begin(), bytes.end(), 32, std::byte{0}), bytes.end());
    EXPECT_FALSE(std::all_of(bytes.end() - 33, bytes.end(), [](std::byte b) { return b == std::byte{0}; }));
}

TEST(SecureRandom, gives_other_bytes_each_time) {
    std::vector<std::byte> first(16);
    std::vector<std::byte> second(16);
    ASSERT_TRUE(secure_random_bytes(first).ok());
    ASSERT_TRUE(secure_random_bytes(second).ok());
    EXPECT_NE(first, second);
}

TEST(SecureRandom, a_request_of_zero_bytes_does_nothing) {
    EXPECT_TRUE(secure_random_bytes({}).ok());
}

}  // namespace
}  // namespace duewheel
