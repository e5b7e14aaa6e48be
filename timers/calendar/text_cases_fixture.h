// Cases for the parsers of this module: texts with what they mean, and texts with the error that refuses them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace duewheel {

struct RefusedText {
    std::string_view text;
    std::size_t column;
    std::string_view says;
};

// Each text means its value.
template <class Value, class Parse>
void expect_read(Parse parse, const std::vector<std::pair<std::string_view, Value>>& cases) {
    for (const auto& [text, value] : cases) {
        const auto parsed = parse(text);
        ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.error().message;
        EXPECT_EQ(*parsed, value) << text;
    }
}

// Each text is refused with this code, its column and its words, and the end of the message says `hint`.
template <class Parse>
void expect_refused(Parse parse, ErrorCode code, std::string_view hint, const std::vector<RefusedText>& cases) {
    for (const RefusedText& c : cases) {
        const auto parsed = parse(c.text);
        ASSERT_FALSE(parsed.ok()) << c.text;
        EXPECT_EQ(parsed.error().code, code);
        const std::string& message = parsed.error().message;
        EXPECT_TRUE(message.starts_with("column " + std::to_string(c.column) + ": ")) << c.text << ": " << message;
        EXPECT_NE(message.find(c.says), std::string::npos) << c.text << ": " << message;
        EXPECT_NE(message.find(hint), std::string::npos) << message;
    }
}

}  // namespace duewheel
