#include "http_api/requests/token_request.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/access/access_fixture.h"
#include "http_api/calls/call_path.h"

namespace duewheel::token_request_test {
namespace {

constexpr DueMs kNow = 1'800'000'000'000;

// What becomes of `current` by this call; null: there is none.
Result<std::optional<AccessToken>> change(const Call& call, const AccessToken* current = nullptr,
                                          std::optional<Secret>* secret = nullptr) {
    const CallRequest held(call);
    const std::optional<CallPath> path = find_call(held.request());
    if (!path) return Error{"unknown_path"_code, call.target};
    static HttpApiOptions options;
    options.server_ms = [] { return kNow; };
    Result<TokenCall> read = read_token_call(held.request(), *path, options);
    if (!read) return std::move(read).error();
    if (secret != nullptr) *secret = std::move(read->secret);
    return std::get<ChangeTokenCommand>(read->command).change(current, kNow);
}

AccessToken put(const std::string& body, const AccessToken* current = nullptr) {
    Result<std::optional<AccessToken>> changed = change({"PUT", "/v1/tokens/a", body}, current);
    EXPECT_TRUE(changed) << changed.error().message;
    return changed ? **changed : AccessToken{};
}

// "code field" of what is wrong.
std::string refusal(const std::string& body, const std::string& method = "PUT",
                    const std::string& target = "/v1/tokens/a", const AccessToken* current = nullptr) {
    const Result<std::optional<AccessToken>> changed = change({method, target, body}, current);
    if (changed) return "accepted";
    return std::string(name_of(changed.error().code)) + " " + changed.error().field;
}

TEST(TokenRequest, reads_every_member) {
    const AccessToken token = put(R"({"scopes":["put","admin","put"],"namespaces":["a","b"],"queues":"orders-",
        "expires":"2027-06-01T00:00:00Z","description":"x","limits":{"requests_per_second":5,"bytes_per_second":6},
        "certificate_names":["h.example"]})");
    EXPECT_EQ(token.scopes, ScopeSet({Scope::put, Scope::admin}));
    EXPECT_EQ(*token.limits, (AccessLimits{{"a", "b"}, "orders-"}));
    EXPECT_EQ(token.expires_ms, 1'811'808'000'000);
    EXPECT_EQ(token.description, "x");
    EXPECT_EQ(token.requests_per_second, 5u);
    EXPECT_EQ(token.bytes_per_second, 6u);
    EXPECT_EQ(token.certificate_names, std::vector<std::string>{"h.example"});
    EXPECT_EQ(token.created_ms, kNow);
    const AccessToken least = put(R"({"scopes":["read"]})");
    EXPECT_EQ(least.limits, nullptr) << "all namespaces and queues";
    EXPECT_EQ(least.expires_ms, 0);
    EXPECT_EQ(put(R"({"scopes":["read"],"expires_in":"90d"})").expires_ms, kNow + 90 * 86'400'000LL);
}

TEST(TokenRequest, what_is_wrong_has_a_code_of_its_own) {
    EXPECT_EQ(refusal("{}"), "missing_member scopes");
    EXPECT_EQ(refusal(R"({"scopes":[]})"), "bad_scope scopes");
    EXPECT_EQ(refusal(R"({"scopes":["put","write"]})"), "bad_scope scopes");
    EXPECT_EQ(refusal(R"({"scopes":["PUT"]})"), "bad_scope scopes");
    EXPECT_EQ(refusal(R"({"scopes":"put"})"), "wrong_type scopes");
    EXPECT_EQ(refusal(R"({"scopes":[1]})"), "wrong_type scopes[0]");
    const std::string scopes = R"({"scopes":["put"],)";
    EXPECT_EQ(refusal(scopes + R"("namespaces":[]})"), "out_of_range namespaces");
    EXPECT_EQ(refusal(scopes + R"("namespaces":["a b"]})"), "bad_namespace namespaces");
    EXPECT_EQ(refusal(scopes + R"("queues":""})"), "bad_queue_name queues");
    EXPECT_EQ(refusal(scopes + R"("queues":"a*"})"), "bad_queue_name queues");
    EXPECT_EQ(refusal(scopes + R"("expires":"2020-01-01T00:00:00Z"})"), "out_of_range expires");
    EXPECT_EQ(refusal(scopes + R"("expires_in_ms":0})"), "out_of_range expires_in");
    // A response showed such an expiry as a bare number.
    EXPECT_EQ(refusal(scopes + R"("expires_in":"P80923308D"})"), "out_of_range expires_in");
    EXPECT_EQ(refusal(scopes + R"("expires_in":"1d","expires":"2030-01-01T00:00:00Z"})"),
              "conflicting_members expires");
    EXPECT_EQ(refusal(scopes + R"("limits":{"requests_per_second":0}})"), "out_of_range limits.requests_per_second");
    EXPECT_EQ(refusal(scopes + R"("limits":{"puts":1}})").substr(0, 14), "unknown_member");
    EXPECT_EQ(refusal(scopes + R"("certificate_names":["a b"]})"), "bad_certificate_name certificate_names");
    EXPECT_EQ(refusal(scopes + R"("secret":"x"})"), "unknown_member secret");
    EXPECT_EQ(refusal(scopes + R"("description":")" + std::string(201, 'd') + R"("})"), "out_of_range description");
    EXPECT_EQ(refusal(R"({"scopes":["put"]})", "PUT", "/v1/tokens/A"), "bad_token_id id");
    EXPECT_EQ(refusal(R"({"scopes":["put"]})", "PUT", "/v1/tokens/" + std::string(41, 'a')), "bad_token_id id");
    EXPECT_EQ(refusal(R"({"scopes":["put"]})", "PUT", "/v1/namespaces/n/tokens/a"), "unknown_path ");
    EXPECT_EQ(refusal(R"({"keep_old":"91d"})", "POST", "/v1/tokens/a:rotate"), "out_of_range keep_old");
    EXPECT_EQ(refusal("{}", "POST", "/v1/tokens/a:rotate"), "unknown_token id");
    EXPECT_EQ(refusal(R"({"queues":"x"})", "PATCH"), "unknown_token id");
}

TEST(TokenRequest, a_new_token_gets_a_secret_and_a_change_keeps_the_old_one) {
    std::optional<Secret> secret;
    const AccessToken made = **change({"PUT", "/v1/tokens/a", R"({"scopes":["put"]})"}, nullptr, &secret);
    ASSERT_TRUE(secret);
    EXPECT_EQ(made.secret, hash_of_secret(*secret));
    const AccessToken changed = put(R"({"scopes":["read"]})", &made);
    EXPECT_EQ(changed.secret, made.secret);
    EXPECT_EQ(changed.scopes, ScopeSet({Scope::read}));
    EXPECT_EQ(changed.created_ms, made.created_ms);
}

TEST(TokenRequest, a_rotation_ends_the_old_secret_at_once_or_at_the_requested_time) {
    const AccessToken token = known_token("a", {Scope::put});
    std::optional<Secret> secret;
    const AccessToken kept = **change({"POST", "/v1/tokens/a:rotate", R"({"keep_old":"1h"})"}, &token, &secret);
    EXPECT_EQ(kept.secret, hash_of_secret(*secret));
    EXPECT_EQ(kept.old_secret, token.secret);
    EXPECT_EQ(kept.old_until_ms, kNow + 3'600'000);
    const AccessToken ended = **change({"POST", "/v1/tokens/a:rotate", ""}, &kept);
    EXPECT_EQ(ended.old_secret, SecretHash{});
    EXPECT_EQ(ended.old_until_ms, 0);
}

TEST(TokenRequest, a_patch_keeps_what_it_does_not_name) {
    AccessToken token = known_token("a", {Scope::put}, {{"n"}, "orders-"});
    token.expires_ms = kNow - 1;
    token.requests_per_second = 5;
    const auto patched = [&](const std::string& body) { return **change({"PATCH", "/v1/tokens/a", body}, &token); };
    const AccessToken described = patched(R"({"description":"y"})");
    EXPECT_EQ(described.description, "y");
    EXPECT_EQ(*described.limits, *token.limits);
    EXPECT_EQ(described.expires_ms, token.expires_ms) << "also of one that has expired";
    EXPECT_EQ(described.secret, token.secret);
    EXPECT_EQ(patched(R"({"expires":null})").expires_ms, 0);
    EXPECT_EQ(patched(R"({"namespaces":null,"queues":null})").limits, nullptr);
    EXPECT_EQ(patched(R"({"queues":null})").limits->namespaces, std::vector<std::string>{"n"});
    EXPECT_EQ(patched(R"({"limits":null})").requests_per_second, 0u);
    EXPECT_EQ(refusal(R"({"scopes":null})", "PATCH", "/v1/tokens/a", &token), "missing_member scopes");
}

TEST(TokenRequest, a_secret_is_shown_only_by_the_call_that_created_it) {
    ApiServer server;
    const Call make{"PUT", "/v1/tokens/a", R"({"scopes":["put"]})"};
    std::string answer = server.ask(make, TokenAnswer{known_token("a", {Scope::put})});
    EXPECT_EQ(status_of(answer), 200);
    EXPECT_EQ(member_of(answer, "token"), "") << "an existing token keeps its secret";
    TokenAnswer listed{known_token("a", {Scope::put})};
    answer = server.ask({"GET", "/v1/tokens/a"}, listed);
    EXPECT_EQ(member_of(answer, "token"), "");
    EXPECT_EQ(member_of(answer, "scopes"), R"(["put"])");
    answer = server.ask({"GET", "/v1/tokens"}, TokenListAnswer{{listed}, false});
    EXPECT_EQ(status_of(answer), 200);
    EXPECT_EQ(answer.find("secret"), std::string::npos);
    const std::string cursor = member_of(answer, "cursor");
    server.ask({"GET", "/v1/tokens?cursor=" + cursor}, TokenListAnswer{});
    EXPECT_EQ(server.command(), "list tokens after=a limit=100");
    EXPECT_EQ(member_of(server.ask({"GET", "/v1/tokens?cursor=x"}), "code"), "bad_cursor");
    TokenAnswer removed{known_token("a", {Scope::put})};
    removed.removed = true;
    answer = server.ask({"DELETE", "/v1/tokens/a"}, removed);
    EXPECT_EQ(body_of(answer), R"({"id":"a","removed":true})");
}

}  // namespace
}  // namespace duewheel::token_request_test
