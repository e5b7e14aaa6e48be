#include "base/json_writer.h"

#include <cstdio>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace duewheel::json_writer_test {

std::string text_of(std::string_view value) {
    std::string out;
    JsonWriter(out).open().text("a", value).close();
    return out;
}

std::string escaped(unsigned char c) {
    const std::string_view plain = "\"\\\n\r\t";
    const std::string_view letters = "\"\\nrt";
    if (const auto found = plain.find(static_cast<char>(c)); found != plain.npos) return {'\\', letters[found]};
    std::string out(7, '\0');
    out.resize(static_cast<std::size_t>(std::snprintf(out.data(), out.size(), "\\u%04x", c)));
    return out;
}

// U+009B came raw to terminals, some of which take it as the beginning of a command.
TEST(JsonWriter, escapes_all_control_characters) {
    EXPECT_EQ(text_of("\x01\x1f\n\"\\"), R"({"a":"\u0001\u001f\n\"\\"})");
    EXPECT_EQ(text_of("x\x7fy\xc2\x80\xc2\x9bz\xc2\x9f"), R"({"a":"x\u007fy\u0080\u009bz\u009f"})");
    EXPECT_EQ(text_of("\xc2\xa0\xc3\x9f~"), "{\"a\":\"\xc2\xa0\xc3\x9f~\"}") << "and nothing else";
}

// Text is searched eight bytes at a time; any byte can stand anywhere among them.
TEST(JsonWriter, finds_what_to_escape_at_any_place) {
    for (std::size_t at = 0; at < 24; ++at) {
        for (int byte = 0; byte < 256; ++byte) {
            for (const char after : {' ', '~', '\xff', '\x01'}) {
                std::string value(24, after);
                value.replace(0, at, at, 'x');
                value[at] = static_cast<char>(byte);
                std::string expected;
                for (std::size_t i = 0; i < value.size(); ++i) {
                    const auto c = static_cast<unsigned char>(value[i]);
                    const bool is_high_control =
                        c == 0xc2 && i + 1 < value.size() && static_cast<unsigned char>(value[i + 1]) < 0xa0;
                    std::string one(1, value[i]);
                    if (is_high_control) one += value[++i];
                    expected += is_high_control || c < 0x20 || c == '"' || c == '\\' || c == 0x7f
                                    ? escaped(static_cast<unsigned char>(one.back()))
                                    : one;
                }
                ASSERT_EQ(text_of(value), "{\"a\":\"" + expected + "\"}") << at << ' ' << byte;
            }
        }
    }
}

}  // namespace duewheel::json_writer_test
