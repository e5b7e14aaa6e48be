// Only the beginning of a long reason was kept, without the line that mattered most, the last one of a traceback.
#include "base/text_ends.h"

#include <gtest/gtest.h>

#include "shared/random.h"
#include "shared/utf8.h"

namespace duewheel::text_ends_test {
namespace {

TEST(TextEnds, of_a_short_text_are_all_of_it) {
    EXPECT_EQ(both_ends("", 16), "");
    EXPECT_EQ(both_ends(std::string(16, 'x'), 16), std::string(16, 'x'));
}

TEST(TextEnds, of_a_traceback_have_its_exception) {
    std::string traceback = "Traceback (most recent call last):\n";
    for (int i = 0; i < 100; ++i) traceback += "  File \"worker.py\", line " + std::to_string(i) + ", in work\n";
    traceback += "KeyError: 'order'";
    const std::string kept = both_ends(traceback, 1024);
    EXPECT_EQ(kept.size(), 1024u);
    EXPECT_TRUE(kept.starts_with("Traceback (most recent call last):\n"));
    EXPECT_NE(kept.find(kOmission), std::string::npos);
    EXPECT_TRUE(kept.ends_with("line 99, in work\nKeyError: 'order'"));
}

TEST(TextEnds, are_cut_between_letters) {
    for (const char* letter : {"å", "中", "😀"}) {
        for (std::size_t shift = 0; shift < 4; ++shift) {
            std::string text(shift, 'x');
            for (int i = 0; i < 100; ++i) text += letter;
            const std::string kept = both_ends(text, 64);
            EXPECT_TRUE(is_utf8(kept)) << letter << shift;
            EXPECT_LE(kept.size(), 64u);
            EXPECT_GE(kept.size(), 58u);
            EXPECT_TRUE(kept.ends_with(letter));
        }
    }
}

TEST(TextEnds, are_the_same_however_the_text_comes) {
    constexpr std::size_t kEach = 32;
    Random random(1);
    for (int round = 0; round < 200; ++round) {
        std::string whole;
        TextEnds ends(kEach);
        EXPECT_TRUE(ends.empty());
        for (std::uint64_t parts = random.below(8); parts > 0; --parts) {
            const std::string part(random.below(40), static_cast<char>('a' + random.below(26)));
            whole += part;
            ends.append(part);
        }
        EXPECT_EQ(ends.empty(), whole.empty());
        if (whole.size() <= 2 * kEach) {
            EXPECT_EQ(ends.text(), whole);
            EXPECT_EQ(ends.end(), "");
        } else {
            EXPECT_EQ(ends.beginning(), whole.substr(0, kEach));
            EXPECT_EQ(ends.end(), whole.substr(whole.size() - kEach));
            EXPECT_EQ(ends.text(), whole.substr(0, kEach) + " … " + whole.substr(whole.size() - kEach));
        }
    }
}

}  // namespace
}  // namespace duewheel::text_ends_test
