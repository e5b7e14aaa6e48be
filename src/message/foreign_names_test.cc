#include "message/foreign_names.h"

#include <optional>
#include <span>
#include <string>

#include <gtest/gtest.h>

namespace duewheel::foreign_names_test {
namespace {

constexpr std::string_view kPut[] = {"delay", "due",      "expires_in", "key",   "order_key",
                                     "group", "priority", "repeat",     "retry", "body"};
constexpr std::string_view kRetry[] = {"attempts", "first", "factor", "max"};
constexpr std::string_view kSchedule[] = {"cron", "at", "zone", "overlap", "misfire", "retry"};
constexpr std::string_view kQueue[] = {"target", "paused", "lease", "retry", "limits"};

std::optional<std::string_view> meant(std::string_view written, std::span<const std::string_view> known) {
    const std::optional<NameMeant> found = name_meant_by(written, known);
    return found ? std::optional(found->name) : std::nullopt;
}

// `countdown`, `eta`, `max_retries` and `timezone` were answered with the list of all members.
TEST(ForeignNames, words_of_other_products_have_ours) {
    EXPECT_EQ(meant("countdown", kPut), "delay");
    EXPECT_EQ(meant("eta", kPut), "due");
    EXPECT_EQ(meant("DelaySeconds", kPut), "delay");
    EXPECT_EQ(meant("prio", kPut), "priority");
    EXPECT_EQ(meant("MessageGroupId", kPut), "order_key");
    EXPECT_EQ(meant("tenantId", kPut), "group");
    EXPECT_EQ(meant("tz", kSchedule), "zone");
    EXPECT_EQ(meant("timeZone", kSchedule), "zone");
    EXPECT_EQ(meant("executorBlockStrategy", kSchedule), "overlap");
}

TEST(ForeignNames, a_word_means_the_member_that_the_call_has) {
    EXPECT_EQ(meant("max_retries", kPut), "retry.attempts");
    EXPECT_EQ(meant("maxRetries", kRetry), "attempts");
    EXPECT_EQ(meant("run_at", kPut), "due");
    EXPECT_EQ(meant("run_at", kSchedule), "at");
    EXPECT_EQ(meant("countdown", kSchedule), std::nullopt);
}

// `attempts` was answered with the list of all members, and `tz` and `cron` too: a put has neither.
TEST(ForeignNames, the_member_that_does_the_job_is_named_also_where_it_is_in_an_object) {
    EXPECT_EQ(meant("attempts", kPut), "retry.attempts");
    EXPECT_EQ(meant("tries", kRetry), "attempts");
    EXPECT_EQ(meant("in", kPut), "delay");
    EXPECT_EQ(meant("at", kPut), "due");
    EXPECT_EQ(meant("every", kPut), "repeat.every");
    EXPECT_EQ(meant("url", kQueue), "target.webhook.url");
    for (const std::string_view zone : {"tz", "timezone", "zone", "timeZone"}) {
        const std::optional<NameMeant> found = name_meant_by(zone, kPut);
        ASSERT_TRUE(found) << zone;
        EXPECT_EQ(found->name, "due");
        EXPECT_NE(found->note.find("schedule"), std::string_view::npos);
    }
    const std::optional<NameMeant> cron = name_meant_by("cron", kPut);
    ASSERT_TRUE(cron);
    EXPECT_EQ(cron->name, "repeat.every");
    EXPECT_NE(cron->note.find("schedule"), std::string_view::npos);
}

TEST(ForeignNames, a_misspelt_name_has_the_nearest) {
    EXPECT_EQ(meant("dealy", kPut), "delay");
    EXPECT_EQ(meant("prioritty", kPut), "priority");
}

TEST(ForeignNames, a_name_in_another_case_is_the_same) {
    EXPECT_EQ(meant("orderKey", kPut), "order_key");
    EXPECT_EQ(meant("EXPIRES-IN", kPut), "expires_in");
    EXPECT_EQ(meant("colour", kPut), std::nullopt);
    EXPECT_EQ(meant(std::string(1000, 'x'), kPut), std::nullopt);
}

}  // namespace
}  // namespace duewheel::foreign_names_test
