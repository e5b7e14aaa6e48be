#include "shared/utf8.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "shared/random.h"

namespace duewheel {
namespace {

std::string encoded(unsigned long letter) {
    const auto byte = [](unsigned long value) { return static_cast<char>(value); };
    if (letter < 0x80) return {byte(letter)};
    if (letter < 0x800) return {byte(0xc0 | letter >> 6), byte(0x80 | (letter & 63))};
    if (letter < 0x10000) {
        return {byte(0xe0 | letter >> 12), byte(0x80 | (letter >> 6 & 63)), byte(0x80 | (letter & 63))};
    }
    return {byte(0xf0 | letter >> 18), byte(0x80 | (letter >> 12 & 63)), byte(0x80 | (letter >> 6 & 63)),
            byte(0x80 | (letter & 63))};
}

// The slow and obvious judge: every letter there is, by its bytes.
const std::set<std::string, std::less<>>& letters() {
    static const auto all = [] {
        std::set<std::string, std::less<>> made;
        for (unsigned long letter = 0; letter < 0x110000; ++letter) {
            if (letter < 0xd800 || letter > 0xdfff) made.insert(made.end(), encoded(letter));
        }
        return made;
    }();
    return all;
}

bool judged(std::string_view text) {
    while (!text.empty()) {
        std::size_t length = 1;
        while (length <= 4 && length <= text.size() && !letters().contains(text.substr(0, length))) ++length;
        if (length > 4 || length > text.size()) return false;
        text.remove_prefix(length);
    }
    return true;
}

TEST(Utf8, takes_every_letter_and_no_surrogate) {
    for (unsigned long letter = 0; letter < 0x110000; ++letter) {
        const bool surrogate = letter >= 0xd800 && letter <= 0xdfff;
        ASSERT_EQ(is_utf8(encoded(letter)), !surrogate) << letter;
    }
    EXPECT_FALSE(is_utf8(encoded(0x110000)));
    EXPECT_TRUE(is_utf8(""));
}

TEST(Utf8, agrees_with_the_judge_on_every_pair_and_on_the_edges_of_longer_ones) {
    // The bytes at which the rules change.
    const std::string edges(
        "\x00\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5\xff", 24);
    for (int a = 0; a < 256; ++a) {
        for (int b = 0; b < 256; ++b) {
            const std::string text{static_cast<char>(a), static_cast<char>(b)};
            ASSERT_EQ(is_utf8(text), judged(text)) << a << " " << b;
        }
    }
    for (const char a : edges) {
        for (const char b : edges) {
            for (const char c : edges) {
                for (const char d : edges) {
                    const std::string text{a, b, c, d};
                    ASSERT_EQ(is_utf8(text), judged(text)) << testing::PrintToString(text);
                }
            }
        }
    }
}

// Long enough for the steps of eight bytes, with the one bad byte anywhere.
TEST(Utf8, agrees_with_the_judge_on_random_texts) {
    int good = 0;
    for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        std::string text;
        for (std::uint64_t i = random.below(12); i > 0; --i) {
            text += random.chance(300'000) ? encoded(random.below(0x10000)) : std::string(random.below(12), 'a');
        }
        if (!text.empty() && random.chance(300'000)) text[random.below(text.size())] = static_cast<char>(random.next());
        ASSERT_EQ(is_utf8(text), judged(text)) << testing::PrintToString(text);
        good += judged(text) ? 1 : 0;
    }
    EXPECT_GT(good, 5'000);
    EXPECT_LT(good, 18'000);
}

TEST(Utf8, reads_not_a_byte_beyond_the_end) {
    const std::string text = "aaaaaaaaa\xc3\xa5";
    EXPECT_FALSE(is_utf8(std::string_view(text).substr(0, 10)));
    EXPECT_TRUE(is_utf8(text));
}

TEST(Utf8, keeps_what_is_text_of_bytes_that_are_none) {
    EXPECT_EQ(as_utf8("l\xc3\xa9\n"), "l\xc3\xa9\n");
    EXPECT_EQ(as_utf8("a\xec"
                      "b\xc3\xa9"),
              "a\xef\xbf\xbd"
              "b\xef\xbf\xbd\xef\xbf\xbd");
    EXPECT_TRUE(is_utf8(as_utf8("\xff\xfe\xed\xa0\x80")));
}

TEST(Utf8, knows_how_long_a_letter_is) {
    EXPECT_EQ(letter_bytes("ab"), 1u);
    EXPECT_EQ(letter_bytes("\xc3\xa9z"), 2u);
    EXPECT_EQ(letter_bytes("\xe2\x86\x92"), 3u);
    EXPECT_EQ(letter_bytes("\xf0\x9f\x98\x80"), 4u);
    for (const char* none : {"\xe2\x86", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\xaf", "\xff"}) {
        EXPECT_EQ(letter_bytes(none), 0u);
    }
}

TEST(Utf8, cuts_between_letters) {
    const std::string text =
        "a\xc3\xa5\xe2\x86\x92\xf0\x9f\x9c\x82"
        "b";  // 1, 2, 3, 4 and 1 bytes
    const std::size_t ends[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    for (std::size_t most = 0; most < std::size(ends); ++most)
        EXPECT_EQ(cut_utf8(text, most), text.substr(0, ends[most]));
}

}  // namespace
}  // namespace duewheel
