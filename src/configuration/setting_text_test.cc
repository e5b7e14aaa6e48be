#include "configuration/setting_text.h"

#include <vector>

#include <gtest/gtest.h>

namespace duewheel::setting_text_test {
namespace {

constexpr std::string_view kColours[] = {"red", "green", "blue"};

const Setting kYes{.name = "yes", .kind = SettingKind::yes_or_no};
const Setting kNumber{.name = "number", .kind = SettingKind::number, .min = 1, .max = 10};
const Setting kDecimal{.name = "decimal", .kind = SettingKind::decimal, .min = 1'000, .max = 100'000};
const Setting kDuration{.name = "duration", .kind = SettingKind::duration, .min = 1000, .max = 60'000};
const Setting kSize{.name = "size", .kind = SettingKind::size, .min = 1024, .max = 1 << 20, .multiple_of = 1024};
const Setting kAutoNumber{.name = "number", .kind = SettingKind::number, .min = 0, .max = 10, .may_be_auto = true};
const Setting kAutoSize{.name = "size", .kind = SettingKind::size, .min = 1024, .max = 1 << 20, .may_be_auto = true};
const Setting kText{.name = "text", .kind = SettingKind::text};
const Setting kAnyText{.name = "any", .kind = SettingKind::text, .may_be_empty = true};
const Setting kTexts{.name = "texts", .kind = SettingKind::texts};
const Setting kColour{.name = "colour", .kind = SettingKind::choice, .choices = kColours};

// What a text means, written as in a file; or the error.
std::string read(const Setting& setting, std::string_view text) {
    const Result<SettingValue> value = parse_setting(setting, text);
    return value ? format_setting(setting, *value) : value.error().message;
}

struct Case {
    const Setting& setting;
    std::string_view text;
    std::string_view read;
};
void expect(const std::vector<Case>& cases) {
    for (const Case& c : cases) EXPECT_EQ(read(c.setting, c.text), c.read) << c.setting.name << " " << c.text;
}

TEST(SettingText, reads_each_kind_from_text) {
    expect({
        {kYes, "true", "true"},
        {kYes, "false", "false"},
        {kNumber, "7", "7"},
        {kDecimal, "1.5", "1.5"},
        {kDecimal, "2.000", "2"},
        {kDuration, "90s", "`duration` is 1m30s; choose 1s to 1m"},
        {kDuration, "PT30S", "\"30s\""},
        {kSize, "64KiB", "\"64KiB\""},
        {kAutoNumber, "auto", "\"auto\""},
        {kAutoNumber, "0", "0"},
        {kAutoSize, "auto", "\"auto\""},
        {kAutoSize, "64KiB", "\"64KiB\""},
        {kText, "a \"b\" \\ \n", "\"a \\\"b\\\" \\\\ \\u000a\""},
        {kAnyText, "", "\"\""},
        {kTexts, "a,b", "[\"a\", \"b\"]"},
        {kTexts, "", "[]"},
        {kColour, "blue", "\"blue\""},
    });
}

TEST(SettingText, reports_the_expected_form) {
    EXPECT_EQ(read(kYes, "yes"), "`yes` must be true or false, not \"yes\"");
    for (const char* text : {"", "7x", "x", "7.0", "+7", " 7", "99999999999999999999"}) {
        EXPECT_EQ(read(kNumber, text), "`number` must be a whole number, not \"" + std::string(text) + "\"");
    }
    for (const char* text : {"", "1.5001", "1,5", "x", "-2", "150%"}) {
        EXPECT_EQ(read(kDecimal, text),
                  "`decimal` must be a number with up to 3 decimals, such as 1.5, not \"" + std::string(text) + "\"");
    }
    expect({
        {kDuration, "30", "`duration` must be a duration with a unit, such as \"30s\", not \"30\""},
        {kDuration, "30min",
         "`duration` must be a duration with a unit, such as \"30s\", not \"30min\"; column 3: the unit has another "
         "name; write 30m. Write numbers with the units w d h m s ms, larger units first, such as 250ms, 1.5s or "
         "3d12h, or ISO 8601 such as PT10M or P3DT12H."},
        {kSize, "1MB", "`size` must be a size with the unit B, KiB, MiB or GiB, such as \"64MiB\", not \"1MB\""},
        {kSize, "auto", "`size` must be a size with the unit B, KiB, MiB or GiB, such as \"64MiB\", not \"auto\""},
        {kAutoNumber, "automatic", "`number` must be a whole number, or auto, not \"automatic\""},
        {kAutoSize, "1MB",
         "`size` must be a size with the unit B, KiB, MiB or GiB, such as \"64MiB\", or auto, not \"1MB\""},
        {kText, "", "`text` is empty; give a value or remove the setting"},
        {kColour, "pink", "`colour` must be one of red, green or blue, not \"pink\""},
    });
}

TEST(SettingText, bounds_are_inclusive) {
    expect({
        {kNumber, "0", "`number` is 0; choose 1 to 10"},
        {kNumber, "1", "1"},
        {kNumber, "10", "10"},
        {kNumber, "11", "`number` is 11; choose 1 to 10"},
        {kNumber, "-1", "`number` is -1; choose 1 to 10"},
        {kDecimal, "0.999", "`decimal` is 0.999; choose 1 to 100"},
        {kDecimal, "100.001", "`decimal` is 100.001; choose 1 to 100"},
        {kDuration, "999ms", "`duration` is 999ms; choose 1s to 1m"},
        {kDuration, "1s", "\"1s\""},
        {kSize, "1023B", "`size` is 1023B; choose 1KiB to 1MiB, a multiple of 1KiB"},
        {kSize, "1025B", "`size` is 1025B; choose 1KiB to 1MiB, a multiple of 1KiB"},
        {kSize, "1MiB", "\"1MiB\""},
        {kAutoSize, "1B", "`size` is 1B; choose auto, or 1KiB to 1MiB"},
    });
}

}  // namespace
}  // namespace duewheel::setting_text_test
