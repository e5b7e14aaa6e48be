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

}  // namespace
}  // namespace duewheel
