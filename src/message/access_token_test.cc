#include "message/access_token.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "message/records/fields.h"

namespace duewheel::access_token_test {
namespace {

AccessToken full() {
    AccessToken token;
    token.id = "billing";
    token.revision = 3;
    token.scopes = {Scope::put, Scope::admin};
    token.limits = std::make_shared<const AccessLimits>(AccessLimits{{"a", "b"}, "orders-"});
    token.description = "the billing service";
    token.created_ms = 1'000;
    token.expires_ms = 2'000;
    token.secret.fill(std::byte{7});
    token.old_secret.fill(std::byte{9});
    token.old_until_ms = 1'500;
    token.requests_per_second = 10;
    token.bytes_per_second = 1 << 20;
    token.certificate_names = {"billing.example", "billing2.example"};
    return token;
}

TEST(AccessToken, comes_back_from_its_bytes_with_every_member) {
    const AccessToken token = full();
    const Result<AccessToken> back = decode_access_token("billing", encode_access_token(token));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_TRUE(back->says_the_same(token));
    EXPECT_EQ(back->id, token.id);
    EXPECT_EQ(back->revision, token.revision);
    EXPECT_EQ(back->scopes, token.scopes);
    EXPECT_EQ(*back->limits, *token.limits);
    EXPECT_EQ(back->description, token.description);
    EXPECT_EQ(back->created_ms, token.created_ms);
    EXPECT_EQ(back->expires_ms, token.expires_ms);
    EXPECT_EQ(back->secret, token.secret);
    EXPECT_EQ(back->old_secret, token.old_secret);
    EXPECT_EQ(back->old_until_ms, token.old_until_ms);
    EXPECT_EQ(back->requests_per_second, token.requests_per_second);
    EXPECT_EQ(back->bytes_per_second, token.bytes_per_second);
    EXPECT_EQ(back->certificate_names, token.certificate_names);
}

TEST(AccessToken, without_limits_it_has_none_and_without_a_revision_no_bytes) {
    AccessToken token;
    EXPECT_EQ(encode_access_token(token), "");
    ASSERT_TRUE(decode_access_token("a", ""));
    EXPECT_EQ(decode_access_token("a", "")->revision, 0u);
    token.revision = 1;
    const Result<AccessToken> back = decode_access_token("a", encode_access_token(token));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->limits, nullptr);
}

TEST(AccessToken, unknown_or_damaged_bytes_are_refused) {
    const std::string whole = encode_access_token(full());
    std::string newer = whole;
    FieldWriter(newer).number(99, 1);
    EXPECT_EQ(decode_access_token("a", newer).error().code, "newer_format"_code);
    EXPECT_EQ(decode_access_token("a", whole.substr(0, whole.size() - 1)).error().code, "damaged_record"_code);
    std::string scope;
    FieldWriter to(scope);
    to.number(1, 1);
    to.number(2, 1u << kScopeCount);
    EXPECT_EQ(decode_access_token("a", scope).error().code, "newer_format"_code)
        << "a restriction that is not understood";
    std::string cut_hash;
    FieldWriter cut(cut_hash);
    cut.number(1, 1);
    cut.text(8, "too short");
    EXPECT_EQ(decode_access_token("a", cut_hash).error().code, "damaged_record"_code);
}

TEST(AccessToken, one_with_every_member_at_its_maximum_fits) {
    AccessToken token = full();
    AccessLimits limits;
    limits.namespaces.assign(kTokenNamespacesMax, std::string(200, 'n'));
    limits.queue_prefix = std::string(200, 'q');
    token.limits = std::make_shared<const AccessLimits>(std::move(limits));
    token.description = std::string(kTokenDescriptionBytesMax, 'd');
    token.certificate_names.assign(kTokenCertificateNamesMax, std::string(kCertificateNameBytesMax, 'c'));
    EXPECT_LT(encode_access_token(token).size(), kTokenBytesMax);
}

TEST(AccessLimits, compares_whole_namespaces_and_the_beginnings_of_queues) {
    const AccessLimits limits{{"a", "b"}, "orders-"};
    EXPECT_TRUE(limits.admits("a", "orders-"));
    EXPECT_TRUE(limits.admits("b", "orders-eu"));
    EXPECT_FALSE(limits.admits("ab", "orders-eu"));
    EXPECT_FALSE(limits.admits("a", "orders"));
    EXPECT_FALSE(limits.admits("a", "Orders-eu"));
    EXPECT_TRUE(AccessLimits{}.admits("any", "queue"));
}

}  // namespace
}  // namespace duewheel::access_token_test
