#include "base/nearest_name.h"

#include <gtest/gtest.h>

namespace duewheel {
namespace {

TEST(NearestName, counts_what_has_to_change) {
    EXPECT_EQ(edit_distance("", ""), 0u);
    EXPECT_EQ(edit_distance("delay", "delay"), 0u);
    EXPECT_EQ(edit_distance("delay", ""), 5u);
    EXPECT_EQ(edit_distance("", "delay"), 5u);
    EXPECT_EQ(edit_distance("dealy", "delay"), 2u);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(NearestName, is_the_one_with_the_fewest_changes_and_of_several_the_first) {
    constexpr std::string_view kKnown[] = {"delay", "due", "body", "bode"};
    EXPECT_EQ(nearest_name("dealy", kKnown), "delay");
    EXPECT_EQ(nearest_name("du", kKnown), "due");
    EXPECT_EQ(nearest_name("bod", kKnown), "body");
    EXPECT_EQ(nearest_name("", kKnown), "due");
}

// `factor` was told of `first`, which takes fewer changes than `factor_thousandths`.
TEST(NearestName, is_before_all_one_that_begins_with_what_was_written) {
    constexpr std::string_view kKnown[] = {"first", "factor_thousandths", "factor_thousandths_most"};
    EXPECT_EQ(nearest_name("factor", kKnown), "factor_thousandths");
    EXPECT_EQ(nearest_name("fa", kKnown), "first") << "two letters begin too much";
}

// `transaction` was told of `expires_in`.
TEST(NearestName, is_a_hint_only_where_it_is_near) {
    EXPECT_TRUE(is_near("dleay", "delay"));
    EXPECT_TRUE(is_near("du", "due"));
    EXPECT_TRUE(is_near("factor", "factor_thousandths"));
    EXPECT_TRUE(is_near("delay_seconds", "delay"));
    EXPECT_FALSE(is_near("transaction", "expires_in"));
    EXPECT_FALSE(is_near("a", "due"));
}

}  // namespace
}  // namespace duewheel
