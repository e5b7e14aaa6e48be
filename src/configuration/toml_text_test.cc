#include "configuration/toml_text.h"

#include <gtest/gtest.h>

namespace duewheel::toml_text_test {
namespace {

std::string describe(const TomlValue& value) {
    if (std::holds_alternative<TomlSection>(value)) return "section";
    if (const auto* other = std::get_if<TomlOther>(&value)) return std::string(other->what);
    if (const auto* yes = std::get_if<bool>(&value)) return *yes ? "true" : "false";
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    if (const auto* decimal = std::get_if<double>(&value)) return std::to_string(*decimal);
    if (const auto* text = std::get_if<std::string>(&value)) return "\"" + *text + "\"";
    std::string list;
    for (const std::string& text : std::get<std::vector<std::string>>(value)) list += "[" + text + "]";
    return list;
}

std::vector<std::string> entries_of(std::string_view text) {
    std::vector<std::string> lines;
    const TomlText parsed = parse_toml(text);
    EXPECT_EQ(parsed.wrong, "");
    for (const TomlEntry& entry : parsed.entries) {
        lines.push_back(std::to_string(entry.key.line) + ":" + std::to_string(entry.key.column) + " " + entry.name +
                        " = " + std::to_string(entry.at.line) + ":" + std::to_string(entry.at.column) + " " +
                        describe(entry.value));
    }
    return lines;
}

// The parser has no answer for such letters where a blank may stand: what it did then was undefined. Only the sanitizer
// builds could see it.
TEST(TomlText, refuses_letters_beyond_ascii_outside_of_a_text_with_their_place) {
    for (const char* letter : {"\xc3\xa9", "\xd0\x96", "\xe3\x81\x82", "\xef\xbb\xbe"}) {
        const TomlText parsed = parse_toml("[http]\n" + std::string(letter) + " = 1\n");
        EXPECT_NE(parsed.wrong, "") << letter;
        EXPECT_EQ(parsed.wrong_at.line, 2u) << letter;
        EXPECT_TRUE(parse_toml("listen = \"" + std::string(letter) + "\"  # " + letter).wrong.empty()) << letter;
    }
}

// The daemon ended with a failed assertion of the parser over each of these.
TEST(TomlText, refuses_a_section_that_has_no_name_with_its_place) {
    for (const std::string_view text :
         {std::string_view("[,x]"), std::string_view("[\0[l]", 5), std::string_view("[ (]")}) {
        const TomlText parsed = parse_toml("a = 1\n" + std::string(text));
        EXPECT_NE(parsed.wrong, "");
        EXPECT_EQ(parsed.wrong_at.line, 2u);
    }
}

TEST(TomlText, names_every_key_and_value_with_its_place_in_the_order_of_the_file) {
    EXPECT_EQ(
        entries_of("zeta = true\n"
                   "[http]\n"
                   "  listen = \"a:1\"  # comment\n"
                   "count=7\n"
                   "[alpha]\n"
                   "names = ['a', \"b\"]\n"
                   "factor = 1.5\n"),
        (std::vector<std::string>{"1:1 zeta = 1:8 true", "2:2 http = 2:1 section", "3:3 http.listen = 3:12 \"a:1\"",
                                  "4:1 http.count = 4:7 7", "5:2 alpha = 5:1 section", "6:1 alpha.names = 6:9 [a][b]",
                                  "7:1 alpha.factor = 7:10 1.500000"}));
}

TEST(TomlText, keeps_other_values_as_a_word) {
    EXPECT_EQ(entries_of("a = [[1]]\nb = 2026-01-01\nc = [1]\n[[d]]\n[[d]]\n"),
              (std::vector<std::string>{"1:1 a = 1:5 a list of values other than strings", "2:1 b = 2:5 a date or time",
                                        "3:1 c = 3:5 a list of values other than strings",
                                        "4:3 d = 4:1 a list of values other than strings"}));
}

TEST(TomlText, is_empty_for_an_empty_file) {
    EXPECT_TRUE(entries_of("").empty());
    EXPECT_TRUE(entries_of("# nothing\n\n").empty());
}

TEST(TomlText, says_where_a_text_stops_being_toml) {
    struct Case {
        std::string_view text;
        std::uint32_t line, column;
    };
    for (const Case& each : {Case{"a = 1\nb = \n", 2, 5}, Case{"a 1", 1, 3}, Case{"a = 1\na = 2\n", 2, 5},
                             Case{"[x\n", 1, 3}, Case{"a = \"\xff\"", 1, 5}}) {
        const TomlText parsed = parse_toml(each.text);
        EXPECT_NE(parsed.wrong, "") << each.text;
        EXPECT_TRUE(parsed.entries.empty());
        EXPECT_EQ(parsed.wrong_at.line, each.line) << each.text << ": " << parsed.wrong;
        EXPECT_EQ(parsed.wrong_at.column, each.column) << each.text << ": " << parsed.wrong;
    }
}

// Deeply nested text must not use up the stack.
TEST(TomlText, refuses_deep_nesting) {
    EXPECT_NE(parse_toml("a = " + std::string(100'000, '[')).wrong, "");
}

}  // namespace
}  // namespace duewheel::toml_text_test
