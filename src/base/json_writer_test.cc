#include "base/json_writer.h"

#include <gtest/gtest.h>

namespace duewheel::json_writer_test {

std::string text_of(std::string_view value) {
    std::string out;
    JsonWriter(out).open().text("a", value).close();
    return out;
}

// U+009B came raw to terminals, some of which take it as the beginning of a command.
TEST(JsonWriter, escapes_all_control_characters) {
    EXPECT_EQ(text_of("\x01\x1f\n\"\\"), R"({"a":"\u0001\u001f\n\"\\"})");
    EXPECT_EQ(text_of("x\x7fy\xc2\x80\xc2\x9bz\xc2\x9f"), R"({"a":"x\u007fy\u0080\u009bz\u009f"})");
    EXPECT_EQ(text_of("\xc2\xa0\xc3\x9f~"), "{\"a\":\"\xc2\xa0\xc3\x9f~\"}") << "and nothing else";
}

}  // namespace duewheel::json_writer_test
