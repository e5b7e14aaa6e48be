// Access control over HTTP: credentials, the limits that are passed with a command, rates, and counters.
#include <string>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/access/access_fixture.h"

namespace duewheel::http_access_test {
namespace {

const std::string kPut = "/v1/queues/orders-1/messages";
const std::string kBody = R"({"body":"x"})";

void add(ApiServer& server, const AccessToken& token) {
    server.server().on_loop([&] { server.shard().tokens[token.id] = token; });
}

AccessRefusals refusals(ApiServer& server) {
    AccessRefusals counted;
    server.server().on_loop([&] { counted = server.api().access_refusals(); });
    return counted;
}

TEST(HttpAccess, a_presented_token_is_checked_even_if_none_is_required) {
    ApiServer server(with_auth(false));
    add(server, known_token("a", {Scope::put}, {{}, "orders-"}));
    EXPECT_EQ(status_of(server.ask({"POST", kPut, kBody}, PutAnswer{1024})), 201);
    EXPECT_EQ(status_of(server.ask(with_token({"POST", kPut, kBody}, "a"), PutAnswer{1024})), 201);
    EXPECT_EQ(status_of(server.ask(with_token({"POST", kPut, kBody}, "b"))), 401);
    EXPECT_EQ(status_of(server.ask(with_token({"POST", "/v1/queues/mail/messages", kBody}, "a"))), 403);
    EXPECT_EQ(status_of(server.ask(with_token({"GET", kPut}, "a"))), 403);
    EXPECT_EQ(status_of(server.ask(with_token({"GET", "/healthz"}, "b"))), 200) << "open to all";
}

TEST(HttpAccess, names_are_compared_decoded) {
    ApiServer server(with_auth());
    add(server, known_token("a", {Scope::put}, {{"shop"}, "orders-"}));
    const auto status = [&](const std::string& target) {
        return status_of(server.ask(with_token({"POST", target, kBody}, "a"), PutAnswer{1024}));
    };
    EXPECT_EQ(status("/v1/namespaces/shop/queues/orders-1/messages"), 201);
    EXPECT_EQ(status("/v1/namespaces/%73hop/queues/%6frders-1/messages"), 201);
    EXPECT_EQ(status("/v1/namespaces/shop/queues/%6dail/messages"), 403);
    EXPECT_EQ(status("/v1/queues/orders-1/messages"), 403) << "the namespace default is another one";
    EXPECT_EQ(status("/v1/namespaces/shop/queues/orders-%/messages"), 400);
}

TEST(HttpAccess, the_limits_of_the_token_travel_with_the_command_and_with_each_part_of_a_batch) {
    ApiServer server(with_auth());
    add(server, known_token("a", {Scope::read, Scope::put, Scope::consume}, {{}, "orders-"}));
    add(server, known_token("b", {Scope::read}));
    const auto prefix = [&] {
        SharedLimits limits;
        server.server().on_loop([&] { limits = server.shard().last_limits; });
        return limits ? limits->queue_prefix : "none";
    };
    server.ask(with_token({"GET", "/v1/messages/1024"}, "a"), Error{"unknown_id"_code, "no"});
    EXPECT_EQ(prefix(), "orders-");
    server.ask(with_token({"GET", "/v1/messages/1024"}, "b"), Error{"unknown_id"_code, "no"});
    EXPECT_EQ(prefix(), "none");
    server.ask(with_token({"POST", kPut + ":batch", kBody, "application/x-ndjson"}, "a"),
               PutBatchAnswer{{PutAnswer{1024}}});
    EXPECT_EQ(prefix(), "orders-");
    server.ask(with_token({"GET", "/v1/messages/1024"}, "b"), Error{"unknown_id"_code, "no"});
    const std::string leases = R"({"leases":[")" + lease_text({1024, 1, 2, 3}) + R"("]})";
    server.ask(with_token({"POST", "/v1/leases:ack", leases}, "a"), LeaseEndAnswer{LeaseOutcome::done, 0, 0});
    EXPECT_EQ(prefix(), "orders-");
}

TEST(HttpAccess, unknown_paths_and_methods_are_reported_only_with_a_valid_token) {
    ApiServer server(with_auth());
    add(server, known_token("a", {Scope::put}));
    EXPECT_EQ(status_of(server.ask({"GET", "/v1/nothing"})), 401);
    EXPECT_EQ(status_of(server.ask(with_token({"GET", "/v1/nothing"}, "a"))), 404);
    EXPECT_EQ(status_of(server.ask({"OPTIONS", "*"})), 401);
    EXPECT_EQ(status_of(server.ask(with_token({"POST", "/healthz"}, "a"))), 405);
    EXPECT_EQ(status_of(server.ask({"POST", "/healthz"})), 401);
}

TEST(HttpAccess, an_exceeded_rate_sends_retry_after) {
    ApiServer server(with_auth());
    AccessToken token = known_token("a", {Scope::read});
    token.requests_per_second = 1;
    add(server, token);
    EXPECT_EQ(status_of(server.ask(with_token({"GET", "/readyz"}, "a"))), 200);
    const std::string answer = server.ask(with_token({"GET", "/readyz"}, "a"));
    EXPECT_EQ(status_of(answer), 429);
    EXPECT_EQ(member_of(answer, "code"), "too_many_requests");
    EXPECT_EQ(field_of(answer, "Retry-After"), "1");
    AccessToken slow = known_token("b", {Scope::put});
    slow.bytes_per_second = 1;
    add(server, slow);
    EXPECT_EQ(status_of(server.ask(with_token({"POST", kPut, kBody}, "b"), PutAnswer{1024})), 201);
    const std::string later = server.ask(with_token({"POST", kPut, kBody}, "b"), PutAnswer{1024});
    EXPECT_EQ(status_of(later), 429);
    EXPECT_EQ(field_of(later, "Retry-After"), "12") << "as many seconds as the first had bytes";
    EXPECT_EQ(server.command(), "");
    EXPECT_EQ(refusals(server).too_many_requests, 2u);
}

TEST(HttpAccess, failed_tokens_of_an_address_are_limited_and_valid_ones_are_not) {
    ApiServer server(with_auth());
    add(server, known_token("a", {Scope::put}));
    std::uint64_t failed = 0;
    std::string answer = server.ask(with_token({"GET", "/readyz"}, "b"));
    for (; status_of(answer) == 401 && failed < 1'000; ++failed)
        answer = server.ask(with_token({"GET", "/readyz"}, "b"));
    EXPECT_GE(failed, static_cast<std::uint64_t>(FailedTokenLimit::kBurst));
    EXPECT_EQ(status_of(answer), 429);
    EXPECT_EQ(member_of(answer, "code"), "too_many_failed_tokens");
    EXPECT_EQ(field_of(answer, "Retry-After"), "1");
    EXPECT_EQ(status_of(server.ask(with_token({"GET", "/readyz"}, "a"))), 200);
    EXPECT_EQ(status_of(server.ask({"GET", "/readyz"})), 401) << "without a token";
    const AccessRefusals counted = refusals(server);
    EXPECT_EQ(counted.bad_token, failed);
    EXPECT_EQ(counted.too_many_failed_tokens, 1u);
}

TEST(HttpAccess, refusals_are_counted_by_their_reason) {
    ApiServer server(with_auth());
    add(server, known_token("a", {Scope::put}));
    AccessToken expired = known_token("e", {Scope::put});
    expired.expires_ms = 1;
    add(server, expired);
    server.server().on_loop([&] { server.shard().clock_status.server_ms = 5; });
    server.ask({"GET", "/readyz"});
    server.ask(with_token({"GET", "/readyz"}, "b"));
    server.ask(with_token({"GET", "/readyz"}, "b"));
    server.ask(with_token({"GET", "/readyz"}, "e"));
    server.ask(with_token({"GET", kPut}, "a"));
    server.ask(with_token({"POST", kPut, kBody}, "a"), Error{"forbidden"_code, "of the engine", "queue"});
    const AccessRefusals counted = refusals(server);
    EXPECT_EQ(counted.token_required, 1u);
    EXPECT_EQ(counted.bad_token, 2u);
    EXPECT_EQ(counted.token_expired, 1u);
    EXPECT_EQ(counted.forbidden, 2u);
    EXPECT_EQ(counted.too_many_requests, 0u);
}

TEST(HttpAccess, no_line_of_the_log_contains_a_secret) {
    HttpApiOptions options = with_auth();
    options.requests.every = 1;
    ApiServer server(options);
    add(server, known_token("a", {Scope::put}));
    server.ask(with_token({"POST", kPut, kBody}, "a"), PutAnswer{1024});
    server.ask(with_token({"GET", kPut}, "a"));
    server.ask(with_token({"GET", kPut}, "b"));
    ASSERT_FALSE(server.log().lines().empty());
    for (const std::string& line : server.log().lines()) {
        EXPECT_EQ(line.find(known_secret()), std::string::npos) << line;
    }
}

}  // namespace
}  // namespace duewheel::http_access_test
