#include "shared/nearest_name.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace duewheel {
namespace {

TEST(NearestName, counts_what_has_to_change) {
    EXPECT_EQ(edit_distance("", ""), 0u);
    EXPECT_EQ(edit_distance("delay", "delay"), 0u);
    EXPECT_EQ(edit_distance("delay", ""), 5u);
    EXPECT_EQ(edit_distance("", "delay"), 5u);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
    EXPECT_EQ(edit_distance("dealy", "delay"), 1u) << "a swap of neighbours is one slip";
    EXPECT_EQ(edit_distance("ab", "ba"), 1u);
    EXPECT_EQ(edit_distance("abcd", "badc"), 2u);
    EXPECT_EQ(edit_distance("ca", "abc"), 3u);
}

TEST(NearestName, is_the_one_with_the_fewest_changes_and_of_several_the_first) {
    constexpr std::string_view kKnown[] = {"delay", "due", "body", "bode"};
    EXPECT_EQ(nearest_name("dealy", kKnown), "delay");
    EXPECT_EQ(nearest_name("du", kKnown), "due");
    EXPECT_EQ(nearest_name("bod", kKnown), "body");
    EXPECT_EQ(nearest_name("", kKnown), std::nullopt);
    EXPECT_EQ(nearest_name("transaction", kKnown), std::nullopt);
    EXPECT_EQ(nearest_name("delay", {}), std::nullopt);
}

// `factor` was answered with `first`, which takes fewer changes than `factor_thousandths`.
TEST(NearestName, is_before_all_one_that_begins_with_what_was_written) {
    constexpr std::string_view kKnown[] = {"fist", "factor_thousandths", "factor_thousandths_max"};
    EXPECT_EQ(nearest_name("factor", kKnown), "factor_thousandths");
    EXPECT_EQ(nearest_name("fast", kKnown), "fist");
    EXPECT_EQ(nearest_name("fa", kKnown), std::nullopt) << "two letters are no beginning";
}

// A name of one letter was near every other, and `transaction` was near `expires_in`.
TEST(NearestName, is_near_with_changes_of_at_most_a_third) {
    EXPECT_TRUE(is_near("dleay", "delay"));
    EXPECT_TRUE(is_near("du", "due"));
    EXPECT_TRUE(is_near("factor", "factor_thousandths"));
    EXPECT_TRUE(is_near("delay_seconds", "delay"));
    EXPECT_TRUE(is_near("abcdef", "abxyef"));
    EXPECT_FALSE(is_near("abcdef", "axyzef"));
    EXPECT_FALSE(is_near("transaction", "expires_in"));
    EXPECT_FALSE(is_near("a", "due"));
    EXPECT_FALSE(is_near("a", "b"));
    EXPECT_FALSE(is_near("q1", "q2"));
    EXPECT_FALSE(is_near("", "a"));
}

// The server, its configuration, the engine and the command line each had a text of their own.
TEST(NearestName, is_suggested_in_one_form) {
    EXPECT_EQ(did_you_mean("delay"), "did you mean `delay`?");
    EXPECT_EQ(did_you_mean("due", "It has an offset."), "did you mean `due`? It has an offset.");
    EXPECT_EQ(did_you_mean(std::nullopt, "It has an offset."), "");
}

TEST(NearestName, is_not_looked_for_where_a_name_is_long) {
    const std::string name(65, 'x');
    const std::string_view known[] = {name};
    EXPECT_EQ(nearest_name(name, known), std::nullopt);
    EXPECT_EQ(nearest_name(name.substr(1), known), std::nullopt);
    EXPECT_EQ(nearest_name(name.substr(1), std::array{std::string_view(name).substr(2)}), name.substr(2));
}

}  // namespace
}  // namespace duewheel
