#include "base/volume_size.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::volume_size_test {
namespace {

TEST(VolumeSize, of_a_directory_that_is_not_there_yet_is_that_of_the_one_it_would_be_in) {
    const Result<std::uint64_t> here = volume_bytes(".");
    ASSERT_TRUE(here) << here.error().message;
    EXPECT_GT(*here, 0u);
    const Result<std::uint64_t> below = volume_bytes("./not/there/yet");
    ASSERT_TRUE(below) << below.error().message;
    EXPECT_EQ(*below, *here);
}

TEST(VolumeSize, of_what_is_no_path_to_a_directory_is_an_error) {
    const Result<std::uint64_t> none = volume_bytes("/proc/self/stat/x");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, "io_error"_code);
}

}  // namespace
}  // namespace duewheel::volume_size_test
