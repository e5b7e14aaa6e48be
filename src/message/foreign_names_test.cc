#include "message/foreign_names.h"

#include <string>

#include <gtest/gtest.h>

namespace duewheel::foreign_names_test {
namespace {

constexpr std::string_view kPut[] = {"delay", "due", "expires_in", "key", "order_key", "priority", "retry", "body"};
constexpr std::string_view kRetry[] = {"attempts", "first", "factor", "max"};
constexpr std::string_view kSchedule[] = {"cron", "at", "zone", "overlap", "misfire", "retry"};

// `countdown`, `eta`, `max_retries` and `timezone` were answered with the list of all members.
TEST(ForeignNames, words_of_other_products_have_ours) {
    EXPECT_EQ(name_meant_by("countdown", kPut), "delay");
    EXPECT_EQ(name_meant_by("eta", kPut), "due");
    EXPECT_EQ(name_meant_by("DelaySeconds", kPut), "delay");
    EXPECT_EQ(name_meant_by("prio", kPut), "priority");
    EXPECT_EQ(name_meant_by("MessageGroupId", kPut), "order_key");
    EXPECT_EQ(name_meant_by("tz", kSchedule), "zone");
    EXPECT_EQ(name_meant_by("timeZone", kSchedule), "zone");
    EXPECT_EQ(name_meant_by("executorBlockStrategy", kSchedule), "overlap");
}

TEST(ForeignNames, a_word_means_the_member_that_the_call_has) {
    EXPECT_EQ(name_meant_by("max_retries", kPut), "retry");
    EXPECT_EQ(name_meant_by("maxRetries", kRetry), "attempts");
    EXPECT_EQ(name_meant_by("run_at", kPut), "due");
    EXPECT_EQ(name_meant_by("run_at", kSchedule), "at");
    EXPECT_EQ(name_meant_by("countdown", kSchedule), std::nullopt);
}

TEST(ForeignNames, a_name_in_another_case_is_the_same) {
    EXPECT_EQ(name_meant_by("orderKey", kPut), "order_key");
    EXPECT_EQ(name_meant_by("EXPIRES-IN", kPut), "expires_in");
    EXPECT_EQ(name_meant_by("colour", kPut), std::nullopt);
    EXPECT_EQ(name_meant_by(std::string(1000, 'x'), kPut), std::nullopt);
}

}  // namespace
}  // namespace duewheel::foreign_names_test
