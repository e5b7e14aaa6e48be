#include "http_api/answers/lease_text.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/base64.h"
#include "shared/random.h"

namespace duewheel::lease_text_test {
namespace {

TEST(LeaseText, comes_back_as_the_same_token) {
    constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
    for (const LeaseToken& token : {LeaseToken{}, LeaseToken{1024, 1, 2, 3}, LeaseToken{kMax, ~0u, kMax, kMax}}) {
        const std::string text = lease_text(token);
        EXPECT_EQ(text.size(), 38u);
        EXPECT_EQ(parse_lease_text(text), token) << text;
    }
}

TEST(LeaseText, needs_no_escapes_in_a_path) {
    Random random(7);
    for (int i = 0; i < 1000; ++i) {
        const std::string text =
            lease_text({random.next(), static_cast<std::uint32_t>(random.next()), random.next(), random.next()});
        EXPECT_EQ(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
                  std::string::npos);
    }
}

// Two texts for one lease would make two names for one thing in logs, and let a cut or padded token pass.
TEST(LeaseText, has_one_form_only) {
    const std::string good = lease_text({0x1122334455667788, 7, 0x99aabbccddeeff00, 0x0123456789abcdef});
    ASSERT_TRUE(parse_lease_text(good));
    EXPECT_FALSE(parse_lease_text(""));
    EXPECT_FALSE(parse_lease_text(good + "="));
    EXPECT_FALSE(parse_lease_text(good + "A"));
    EXPECT_FALSE(parse_lease_text(good + "AA"));
    EXPECT_FALSE(parse_lease_text(" " + good.substr(1)));
    EXPECT_FALSE(parse_lease_text(good.substr(0, 37)));
    EXPECT_FALSE(parse_lease_text(good.substr(0, 36)));
    for (const char letter : {'+', '/', '=', ' ', '\n', '\0', '\x80'}) {
        std::string wrong = good;
        wrong[5] = letter;
        EXPECT_FALSE(parse_lease_text(wrong)) << static_cast<int>(letter);
    }
    // The last letter carries two bits of the token; of its 64 values 4 are right.
    int accepted = 0;
    for (const char letter : std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")) {
        accepted += parse_lease_text(good.substr(0, 37) + letter).has_value() ? 1 : 0;
    }
    EXPECT_EQ(accepted, 4);
}

// The vectors of RFC 4648, section 10.
TEST(Base64, writes_and_reads_the_vectors_of_its_standard) {
    for (const auto& [bytes, text] : {std::pair{"", ""},
                                      {"f", "Zg=="},
                                      {"fo", "Zm8="},
                                      {"foo", "Zm9v"},
                                      {"foob", "Zm9vYg=="},
                                      {"fooba", "Zm9vYmE="},
                                      {"foobar", "Zm9vYmFy"}}) {
        EXPECT_EQ(base64(bytes), text);
        EXPECT_EQ(parse_base64(text), bytes);
    }
}

TEST(Base64, carries_any_bytes) {
    const std::uint64_t seed = 11;
    SCOPED_TRACE(seed);
    Random random(seed);
    for (int i = 0; i < 2000; ++i) {
        std::string bytes(random.below(70), '\0');
        for (char& byte : bytes) byte = static_cast<char>(random.next());
        EXPECT_EQ(parse_base64(base64(bytes)), bytes);
    }
}

TEST(Base64, refuses_every_other_form) {
    for (const char* text : {"Zg", "Zg=", "Zh==", "Zm9=", "Zm8", "Z===", "====", "=", "Zg==Zg==", "Zm 9v", "Zm9v\n",
                             "Zm-_", "Zm9vY", "=Zm9", "Zm=v"}) {
        EXPECT_FALSE(parse_base64(text)) << text;
    }
}

}  // namespace
}  // namespace duewheel::lease_text_test
