#include "http_api/fields/json_text.h"

#include <string>

#include <gtest/gtest.h>

namespace duewheel::json_text_test {
namespace {

using Members = std::vector<std::pair<std::string_view, std::string_view>>;
using Texts = std::vector<std::string_view>;

TEST(JsonText, members_come_as_they_are_written) {
    EXPECT_EQ(member_texts(" { \"a\" : 1.50 , \"b\\u0061\":[ {\"x\":\"]}\"} ],\"a\":\"\\\"}\\\\\" , \"\":{}}  "),
              (Members{{"a", "1.50"}, {"b\\u0061", "[ {\"x\":\"]}\"} ]"}, {"a", "\"\\\"}\\\\\""}, {"", "{}"}}));
    EXPECT_EQ(member_texts("{}"), Members());
    EXPECT_EQ(member_texts(" [1]"), Members());
    EXPECT_EQ(member_text("{\"a\":true,\"b\":null}", "b"), "null");
    EXPECT_EQ(member_text("{\"a\":true}", "c"), "");
}

TEST(JsonText, elements_come_as_they_are_written) {
    EXPECT_EQ(element_texts("[1e2 ,\n\"a,]\", [ ], {\"x\" : [1,2]}]"),
              (Texts{"1e2", "\"a,]\"", "[ ]", "{\"x\" : [1,2]}"}));
    EXPECT_EQ(element_texts("[ ]"), Texts());
    EXPECT_EQ(element_texts("{}"), Texts());
}

// Input that is not JSON has a meaningless result, without further harm.
TEST(JsonText, anything_else_than_json_ends) {
    for (const char* text :
         {"", "{", "[", "{\"", "{\"a", "{\"a\"", "{\"a\":", "[1", "[1,", "[\"\\", "{1:2}", "{:}", "]", "[}"}) {
        static_cast<void>(member_texts(text));
        static_cast<void>(element_texts(text));
    }
}

TEST(JsonText, is_put_on_one_line) {
    EXPECT_EQ(on_one_line("{\r\n  \"a\\n\": 1.0\n}"), "{    \"a\\n\": 1.0 }");
}

TEST(JsonText, is_one_value_of_up_to_31_levels) {
    for (const char* text : {"1", "\"x\"", "null", " {\"a\":[1.0,1e5]}\n", "[]", "{\"a\":1,\"a\":2}"}) {
        EXPECT_TRUE(is_json_text(text)) << text;
    }
    for (const char* text : {"", " ", "{", "1 2", "nul", "{\"a\":}", "\"\xff\"", "[1],", "// x\n1", "NaN"}) {
        EXPECT_FALSE(is_json_text(text)) << text;
    }
    EXPECT_TRUE(is_json_text(std::string(31, '[') + std::string(31, ']')));
    EXPECT_FALSE(is_json_text(std::string(32, '[') + std::string(32, ']')));
}

}  // namespace
}  // namespace duewheel::json_text_test
