#include "access/access_token_text.h"

#include <string>

#include <gtest/gtest.h>

#include "base/hex.h"

namespace duewheel::access_token_text_test {

const std::string kSecretText(43, 'x');

TEST(AccessTokenText, a_new_one_can_be_parsed) {
    const Result<Secret> secret = make_token_secret();
    ASSERT_TRUE(secret);
    const Secret text = access_token_text("billing-eu", *secret);
    const auto parsed = parse_access_token(text.reveal());
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->id, "billing-eu");
    EXPECT_EQ(parsed->secret.reveal(), secret->reveal());
    EXPECT_TRUE(is_same_hash(hash_of_secret(parsed->secret), hash_of_secret(*secret)));
}

TEST(AccessTokenText, two_secrets_differ) {
    const Result<Secret> one = make_token_secret();
    const Result<Secret> other = make_token_secret();
    ASSERT_TRUE(one && other);
    EXPECT_NE(one->reveal(), other->reveal());
    EXPECT_FALSE(is_same_hash(hash_of_secret(*one), hash_of_secret(*other)));
}

TEST(AccessTokenText, the_secret_may_contain_underscores) {
    const std::string secret = "_" + std::string(41, 'y') + "_";
    const std::string text = "dw_a_" + secret;
    const auto parsed = parse_access_token(text);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->id, "a");
    EXPECT_EQ(parsed->secret.reveal(), secret);
}

TEST(AccessTokenText, refuses_every_other_form) {
    EXPECT_TRUE(parse_access_token("dw_a_" + kSecretText));
    for (const std::string& text :
         {std::string(), std::string("dw_"), std::string("dw_a"), std::string("dw_a_"), "dw__" + kSecretText,
          "DW_a_" + kSecretText, "dw-a-" + kSecretText, "a_" + kSecretText, "dw_A_" + kSecretText,
          "dw_a_" + kSecretText + "x", "dw_a_" + kSecretText.substr(1), "dw_a_" + kSecretText.substr(1) + "=",
          "dw_a_" + kSecretText.substr(1) + " ", " dw_a_" + kSecretText,
          "dw_" + std::string(kAccessTokenIdBytesMax + 1, 'a') + "_" + kSecretText}) {
        EXPECT_FALSE(parse_access_token(text)) << text;
    }
}

TEST(AccessTokenText, ids_are_lower_case_letters_digits_and_hyphens) {
    EXPECT_TRUE(is_access_token_id("a-1"));
    EXPECT_TRUE(is_access_token_id(std::string(kAccessTokenIdBytesMax, 'z')));
    EXPECT_FALSE(is_access_token_id(""));
    EXPECT_FALSE(is_access_token_id(std::string(kAccessTokenIdBytesMax + 1, 'z')));
    for (const char* id : {"a_b", "A", "a b", "a.b", "\xc3\xa4"}) EXPECT_FALSE(is_access_token_id(id)) << id;
}

// FIPS 180-2, appendix B.1.
TEST(AccessTokenText, the_hash_is_sha_256) {
    EXPECT_EQ(hex(hash_of_secret(Secret("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(AccessTokenText, hashes_that_differ_in_one_bit_are_not_the_same) {
    const SecretHash hash = hash_of_secret(Secret("abc"));
    for (std::size_t i = 0; i < hash.size(); ++i) {
        SecretHash other = hash;
        other[i] ^= std::byte{1};
        EXPECT_FALSE(is_same_hash(hash, other)) << i;
    }
}

}  // namespace duewheel::access_token_text_test
