#include "access/authentication.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "access/access_token_text.h"
#include "base/error_codes.h"

namespace duewheel::authentication_test {
namespace {

constexpr std::int64_t kNow = 1'000'000;

class Directory final : public TokenDirectory {
  public:
    const AccessToken* find_token(std::string_view id) const override {
        const auto found = tokens.find(std::string(id));
        return found == tokens.end() ? nullptr : &found->second;
    }
    const AccessToken* find_token_of_certificate(std::string_view name) const override {
        return name == "host.example" ? find_token("a") : name == "spare.example" ? find_token("b") : nullptr;
    }
    std::map<std::string, AccessToken> tokens;
};

std::string secret_of(char c) {
    return std::string(43, c);
}

class Authentication : public testing::Test {
  protected:
    Authentication() {
        AccessToken& token = directory.tokens["a"];
        token.id = "a";
        token.secret = hash_of_secret(Secret(secret_of('x')));
    }
    // The id of the token, "all" without one, or the code of the refusal.
    std::string ask(Credentials credentials, bool required = true) {
        const Result<Principal> who = authenticate(credentials, directory, required, kNow);
        if (!who) return std::string(name_of(who.error().code));
        return who->token == nullptr ? "all" : who->token->id;
    }
    std::string ask(const std::string& authorization, bool required = true) {
        Credentials credentials;
        credentials.authorization = authorization;
        return ask(credentials, required);
    }
    Directory directory;
};

TEST_F(Authentication, a_correct_secret_authenticates_its_token) {
    EXPECT_EQ(ask("Bearer dw_a_" + secret_of('x')), "a");
    EXPECT_EQ(ask("bearer  dw_a_" + secret_of('x')), "a") << "any case, any spaces";
    EXPECT_EQ(ask("Bearer dw_a_" + secret_of('x'), false), "a");
}

TEST_F(Authentication, without_credentials_it_depends_on_whether_one_is_required) {
    EXPECT_EQ(ask(Credentials{}), "token_required");
    EXPECT_EQ(ask(Credentials{}, false), "all");
}

TEST_F(Authentication, every_invalid_token_gets_the_same_error) {
    Credentials credentials;
    credentials.authorization = "";
    const Error first = authenticate(credentials, directory, true, kNow).error();
    EXPECT_EQ(first.code, "bad_token"_code);
    for (const std::string& text :
         {std::string("Bearer"), std::string("Bearer "), "Basic dw_a_" + secret_of('x'), "dw_a_" + secret_of('x'),
          "Bearer dw_a_" + secret_of('y'), "Bearer dw_b_" + secret_of('x'), "Bearer dw_a_" + secret_of('x') + " ",
          "Bearer dw_a_" + secret_of('x').substr(1), std::string("Bearer dw_a_")}) {
        credentials.authorization = text;
        for (const bool required : {true, false}) {
            const Result<Principal> who = authenticate(credentials, directory, required, kNow);
            ASSERT_FALSE(who) << text;
            EXPECT_EQ(who.error().code, first.code) << text;
            EXPECT_EQ(who.error().message, first.message) << text;
        }
    }
    const std::string right = "Bearer dw_a_" + secret_of('x');
    credentials.authorization = right;
    credentials.is_ambiguous = true;
    EXPECT_EQ(ask(credentials), "bad_token");
}

TEST_F(Authentication, an_empty_old_secret_is_never_accepted) {
    directory.tokens["a"].old_until_ms = kNow + 1;
    EXPECT_EQ(ask("Bearer dw_a_" + secret_of('z')), "bad_token");
}

TEST_F(Authentication, the_older_of_two_secrets_ends_at_its_time) {
    AccessToken& token = directory.tokens["a"];
    token.old_secret = hash_of_secret(Secret(secret_of('o')));
    token.old_until_ms = kNow + 1;
    EXPECT_EQ(ask("Bearer dw_a_" + secret_of('o')), "a");
    EXPECT_EQ(ask("Bearer dw_a_" + secret_of('x')), "a");
    token.old_until_ms = kNow;
    EXPECT_EQ(ask("Bearer dw_a_" + secret_of('o')), "bad_token");
    EXPECT_EQ(ask("Bearer dw_a_" + secret_of('x')), "a");
}

TEST_F(Authentication, expiry_is_reported_only_for_the_correct_secret) {
    directory.tokens["a"].expires_ms = kNow;
    EXPECT_EQ(ask("Bearer dw_a_" + secret_of('x')), "token_expired");
    EXPECT_EQ(ask("Bearer dw_a_" + secret_of('y')), "bad_token");
    directory.tokens["a"].expires_ms = kNow + 1;
    EXPECT_EQ(ask("Bearer dw_a_" + secret_of('x')), "a");
}

TEST_F(Authentication, a_certificate_authenticates_its_token_unless_another_is_presented) {
    const std::vector<std::string> names = {"other.example", "host.example"};
    Credentials credentials;
    credentials.certificate_names = names;
    EXPECT_EQ(ask(credentials), "token_required") << "the certificate has expired";
    credentials.certificate_expires_ms = kNow + 1;
    EXPECT_EQ(ask(credentials), "a");
    credentials.authorization = "Bearer dw_b_";
    EXPECT_EQ(ask(credentials), "bad_token");
    credentials.authorization.reset();
    directory.tokens["a"].expires_ms = 1;
    EXPECT_EQ(ask(credentials), "token_expired");
    credentials.certificate_names = std::span(names).first(1);
    EXPECT_EQ(ask(credentials), "token_required");
}

// The expired token of the first name ended the search.
TEST_F(Authentication, a_certificate_with_an_expired_first_name_stands_for_the_next_one) {
    directory.tokens["a"].expires_ms = kNow;
    directory.tokens["b"].id = "b";
    const std::vector<std::string> names = {"host.example", "spare.example"};
    Credentials credentials;
    credentials.certificate_names = names;
    credentials.certificate_expires_ms = kNow + 1;
    EXPECT_EQ(ask(credentials), "b");
    directory.tokens["b"].expires_ms = kNow;
    EXPECT_EQ(ask(credentials), "token_expired");
    EXPECT_EQ(ask(credentials, false), "token_expired") << "a caller with an expired token believes that it is limited";
}

}  // namespace
}  // namespace duewheel::authentication_test
