// A server that systemd had started again after a crash looked like any other: nothing told an operator of the crash.
#include "store/maintenance/run_end.h"

#include <gtest/gtest.h>

#include "support/sim_disk.h"

namespace duewheel::run_end_test {
namespace {

constexpr const char* kData = "/data";

class RunEndTest : public testing::Test {
  protected:
    RunEndTest() { EXPECT_TRUE(disk.make_directories(kData).ok()); }

    RunEnd last() {
        const Result<RunEnd> read = read_last_run(disk, kData);
        EXPECT_TRUE(read);
        return read ? *read : RunEnd::killed;
    }

    Random random{1};
    SimDisk disk;
};

TEST_F(RunEndTest, a_directory_without_runs_has_stopped) {
    EXPECT_EQ(last(), RunEnd::stopped);
    ASSERT_TRUE(record_stop(disk, kData).ok());
    ASSERT_TRUE(record_fatal_error(disk, kData).ok()) << "the run was not begun";
    EXPECT_EQ(last(), RunEnd::stopped);
}

TEST_F(RunEndTest, a_run_that_records_no_end_was_killed) {
    ASSERT_TRUE(begin_run(disk, kData).ok());
    disk.crash(random);
    EXPECT_EQ(last(), RunEnd::killed);
}

TEST_F(RunEndTest, stops_and_fatal_errors_are_durable_until_the_next_run_begins) {
    ASSERT_TRUE(begin_run(disk, kData).ok());
    ASSERT_TRUE(record_fatal_error(disk, kData).ok());
    disk.crash(random);
    EXPECT_EQ(last(), RunEnd::fatal);
    ASSERT_TRUE(begin_run(disk, kData).ok());
    EXPECT_EQ(last(), RunEnd::killed);
    ASSERT_TRUE(record_stop(disk, kData).ok());
    disk.crash(random);
    EXPECT_EQ(last(), RunEnd::stopped);
}

}  // namespace
}  // namespace duewheel::run_end_test
