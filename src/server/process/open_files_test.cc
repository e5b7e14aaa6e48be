#include "server/process/open_files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace duewheel::open_files_test {
namespace {

TEST(OpenFiles, clients_never_use_the_descriptors_of_log_and_index) {
    EXPECT_EQ(connections_within(1'048'576, 10'000), 10'000u);
    EXPECT_EQ(connections_within(26'384, 10'000), 10'000u);
    EXPECT_EQ(connections_within(20'000, 10'000), 10'000u);
    EXPECT_EQ(connections_within(19'999, 10'000), 9'999u);
    EXPECT_EQ(connections_within(1'024, 10'000), 512u);
    EXPECT_EQ(connections_within(1'048'576, 2'000'000), 1'048'576u - kOpenFilesKept);
    EXPECT_EQ(connections_within(0, 10), 1u);
}

TEST(OpenFiles, the_limit_is_raised_as_far_as_the_hard_one_and_never_lowered) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit low{64, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
    EXPECT_EQ(raise_open_files_max(100), 100u);
    EXPECT_EQ(raise_open_files_max(80), 100u);
    if (before.rlim_max != RLIM_INFINITY) {
        EXPECT_EQ(raise_open_files_max(before.rlim_max + 1), before.rlim_max);
    }
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace duewheel::open_files_test
