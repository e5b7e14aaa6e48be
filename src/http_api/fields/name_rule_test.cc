#include "http_api/fields/name_rule.h"

#include <span>
#include <string>

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::name_rule_test {
namespace {

bool is_name(std::string_view name, std::size_t bytes_max = 200) {
    return check_name(name, bytes_max, kQueueName).ok();
}

TEST(NameRule, names_of_any_script_are_taken) {
    for (const char* name : {"q", "a/b", "$(x);+._-", "bestellungen-größe", "ærlig", "παραγγελίες", "заказы", "注文",
                             "订单", "주문", "आदेश", "สั่งซื้อ", "הזמנות", "طلبات", "queue٣", "𠮷野家", "ǆ", "ªº", "مُهِمّ"}) {
        EXPECT_TRUE(is_name(name)) << name;
    }
}

TEST(NameRule, other_characters_than_letters_marks_and_digits_are_refused) {
    constexpr const char* kForms[] = {"", ".", "..", "-q"};
    constexpr const char* kSigns[] = {"a b",      "a:b",      "a%b",     "a\x01",      "a\x7f",
                                      "a\u00a0b", "a\u2013b", "a\u3002", "a\U0001f680"};
    constexpr const char* kNumbers[] = {"\u00bd", "\u2163"};  // a prepared message, the Roman four
    constexpr const char* kUnassigned[] = {"\u0378", "\ue000", "a\uffff"};
    for (const auto& texts : {std::span<const char* const>(kForms), std::span<const char* const>(kSigns),
                              std::span<const char* const>(kNumbers), std::span<const char* const>(kUnassigned)}) {
        for (const char* text : texts) EXPECT_FALSE(is_name(text)) << text;
    }
    EXPECT_FALSE(is_name(std::string_view("a\0b", 3)));
}

TEST(NameRule, invisible_characters_are_refused) {
    EXPECT_FALSE(is_name("a\xc2\x80")) << "a control character of the upper half";
    EXPECT_FALSE(is_name("a\u00ad")) << "soft hyphen";
    EXPECT_FALSE(is_name("a\u200b")) << "zero-width space";
    EXPECT_FALSE(is_name("a\u200d")) << "zero-width joiner";
    EXPECT_FALSE(is_name("a\u202e")) << "turns the direction of what follows";
    EXPECT_FALSE(is_name("a\ufeff")) << "byte order mark";
    EXPECT_FALSE(is_name("a\ufe0f")) << "variation selector, a mark";
    EXPECT_FALSE(is_name("a\u034f")) << "combining grapheme joiner, a mark";
    EXPECT_FALSE(is_name("\u3164")) << "Hangul filler, a letter";
    EXPECT_FALSE(is_name("\u115f\u1160")) << "fillers of the parts of a syllable";
}

TEST(NameRule, a_mark_follows_a_letter) {
    EXPECT_TRUE(is_name("q\u0301"));
    EXPECT_FALSE(is_name("\u0301q"));
    EXPECT_FALSE(is_name("q\u20dd")) << "marks that enclose are none of these";
}

TEST(NameRule, bytes_that_are_not_utf8_are_refused) {
    for (const char* text : {"a\xff", "a\xc3", "\xed\xa0\x80", "\xc1\xa1", "a\xf4\x90\x80\x80"}) {
        EXPECT_FALSE(is_name(text));
    }
}

TEST(NameRule, the_limit_is_one_of_bytes) {
    EXPECT_TRUE(is_name("ééé", 6));
    EXPECT_FALSE(is_name("ééé", 5));
    EXPECT_TRUE(is_name(std::string(200, 'q')));
    EXPECT_FALSE(is_name(std::string(201, 'q')));
}

TEST(NameRule, a_form_other_than_nfc_is_refused_with_the_nfc_name) {
    const Status decomposed = check_name("cafe\u0301", 200, kScheduleName);
    ASSERT_FALSE(decomposed);
    EXPECT_EQ(decomposed.error().code, "bad_schedule_name"_code);
    EXPECT_EQ(decomposed.error().field, "schedule");
    EXPECT_EQ(
        decomposed.error().message,
        "a schedule's name must be in Unicode normalization form NFC: this one is caf%C3%A9 there, percent-encoded");
    EXPECT_TRUE(is_name("caf\u00e9"));
    EXPECT_FALSE(is_name("\u1112\u1161\u11ab")) << "parts of a Hangul syllable";
    EXPECT_TRUE(is_name("\ud55c"));
    EXPECT_FALSE(is_name("\u212b")) << "the sign of the angstrom is the letter in NFC";
    EXPECT_FALSE(is_name("a\u0301\u0323")) << "marks in another order";
    EXPECT_TRUE(is_name("\u1ea1\u0301"));
    EXPECT_TRUE(is_name("\ufb01")) << "NFC keeps ligatures";
}

TEST(NameRule, an_error_contains_the_rule_and_the_kind_of_name) {
    const Status refused = check_name("a b", 20, kWatchdogName);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "bad_watchdog_name"_code);
    EXPECT_TRUE(refused.error().message.starts_with("a watchdog's name has 1 to 20 bytes: letters, marks and digits"))
        << refused.error().message;
}

}  // namespace
}  // namespace duewheel::name_rule_test
