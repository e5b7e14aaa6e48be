// The session of the dashboard: a token in a cookie, what it may do, and what other pages may not do with it.
#include <string>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/access/access_fixture.h"

namespace duewheel::session_test {
namespace {

const std::string kPut = "/v1/queues/orders-1/messages";
const std::string kBody = R"({"body":"x"})";
const std::string kToken = "dw_a_" + known_secret();

void add(ApiServer& server, const AccessToken& token) {
    server.server().on_loop([&] { server.shard().tokens[token.id] = token; });
}

Call with_cookie(Call call, const std::string& cookie, bool from_own_page = true) {
    call.fields.emplace_back("Cookie", cookie);
    if (from_own_page) call.fields.emplace_back("Origin", "http://x");
    return call;
}

Call with_session(Call call, const std::string& id) {
    return with_cookie(std::move(call), "theme=dark; duewheel_session=" + id + "; other=1");
}

std::string login_body(const std::string& token) {
    return R"({"token":")" + token + R"("})";
}

std::string id_in(const std::string& answer) {
    const std::string cookie = field_of(answer, "Set-Cookie");
    const std::size_t begin = cookie.find('=') + 1;
    return cookie.substr(begin, cookie.find(';') - begin);
}

// The id of a new session.
std::string log_in(ApiServer& server, const std::string& token = kToken) {
    return id_in(server.ask({"POST", "/v1/session", login_body(token)}));
}

// The cookie was the token itself: who read it once, from a backup of the browser's files, had the token for good.
TEST(Session, a_login_stores_a_random_id_in_a_cookie_that_scripts_cannot_read) {
    ApiServer server(with_auth());
    AccessToken token = known_token("a", {Scope::put, Scope::read}, {{"shop"}, "orders-"});
    token.description = "of Ann";
    token.expires_ms = 4'000'000'000'000;
    add(server, token);
    const std::string answer = server.ask({"POST", "/v1/session", login_body(kToken)});
    EXPECT_EQ(status_of(answer), 200);
    const std::string id = id_in(answer);
    EXPECT_EQ(field_of(answer, "Set-Cookie"), "duewheel_session=" + id + "; HttpOnly; SameSite=Strict; Path=/");
    EXPECT_EQ(id.size(), 43u);
    EXPECT_EQ(id.find(known_secret()), std::string::npos);
    EXPECT_NE(log_in(server), id);
    EXPECT_EQ(field_of(answer, "Cache-Control"), "no-store");
    EXPECT_EQ(body_of(answer),
              R"({"tokens_required":true,"token":{"id":"a","description":"of Ann","scopes":["put","read"],)"
              R"("namespaces":["shop"],"queues":"orders-","expires":"2096-10-02T07:06:40.000Z",)"
              R"("expires_ms":4000000000000}})");
    EXPECT_EQ(body_of(server.ask(with_session({"GET", "/v1/session"}, id))), body_of(answer));
    EXPECT_EQ(status_of(server.ask(with_session({"GET", "/readyz"}, kToken))), 401) << "a token is no session";
    EXPECT_EQ(body_of(server.ask(with_token({"GET", "/v1/session"}, "a"))), body_of(answer));
}

// Logins did not count: a token with a rate of one had 5,000 a second, each with a line of the audit log.
TEST(Session, a_login_counts_to_the_rate_of_its_token) {
    ApiServer server(with_auth());
    AccessToken token = known_token("a", {Scope::read});
    token.requests_per_second = 1;
    add(server, token);
    EXPECT_EQ(status_of(server.ask({"POST", "/v1/session", login_body(kToken)})), 200);
    const std::string answer = server.ask({"POST", "/v1/session", login_body(kToken)});
    EXPECT_EQ(status_of(answer), 429);
    EXPECT_EQ(member_of(answer, "code"), "too_many_requests");
}

TEST(Session, a_pasted_token_may_have_space_around_it) {
    ApiServer server(with_auth());
    add(server, known_token("a", {Scope::read}));
    const std::string answer = server.ask({"POST", "/v1/session", login_body(" \\t" + kToken + "\\r\\n")});
    EXPECT_TRUE(field_of(answer, "Set-Cookie").starts_with("duewheel_session="));
    EXPECT_EQ(status_of(server.ask({"POST", "/v1/session", login_body(" ")})), 401);
}

// A proxy in front of the server ends TLS: only the origin of the page shows it.
TEST(Session, over_tls_the_cookie_is_for_tls_and_this_host_only) {
    ApiServer server(with_auth());
    add(server, known_token("a", {Scope::read}));
    Call login{"POST", "/v1/session", login_body(kToken)};
    login.fields.emplace_back("Origin", "https://x");
    const std::string cookie = field_of(server.ask(login), "Set-Cookie");
    const std::string pair = cookie.substr(0, cookie.find(';'));
    EXPECT_EQ(cookie, pair + "; HttpOnly; SameSite=Strict; Path=/; Secure");
    EXPECT_TRUE(pair.starts_with("__Host-duewheel_session=")) << pair;
    const Call read{"GET", "/readyz"};
    EXPECT_EQ(status_of(server.ask(with_cookie(read, pair))), 200);
    EXPECT_EQ(status_of(server.ask(with_cookie(read, pair + "; duewheel_session=x"))), 200)
        << "pages of other hosts cannot set that name";
}

TEST(Session, a_wrong_token_does_not_log_in) {
    ApiServer server(with_auth());
    AccessToken expired = known_token("old", {Scope::read});
    expired.expires_ms = 1;
    add(server, expired);
    add(server, known_token("a", {Scope::read}));
    server.server().on_loop([&] { server.shard().clock_status.server_ms = 2; });
    const auto refused = [&](const std::string& body, const std::string& as) {
        const std::string answer = server.ask({"POST", "/v1/session", body});
        EXPECT_EQ(member_of(answer, "code"), as) << body;
        EXPECT_EQ(field_of(answer, "Set-Cookie"), "") << body;
        EXPECT_EQ(member_of(answer, "field"), as == "unknown_member" ? "name" : "token") << body;
    };
    refused(login_body("dw_a_" + known_secret('y')), "bad_token");
    refused(login_body("dw_b_" + known_secret()), "bad_token");
    refused(login_body("dw_old_" + known_secret()), "token_expired");
    refused(login_body("Bearer " + kToken), "bad_token");
    refused("{}", "missing_member");
    refused(R"({"token":1})", "wrong_type");
    refused(R"({"token":"x","name":"y"})", "unknown_member");
}

TEST(Session, guesses_are_limited_for_each_call_that_tells_whether_a_token_is_valid) {
    const auto guesses_until_limited = [](const auto& guess) {
        ApiServer server(with_auth());
        for (int guesses = 0; guesses < 100; ++guesses) {
            const std::string answer = server.ask(guess(guesses));
            if (status_of(answer) != 429) continue;
            EXPECT_EQ(member_of(answer, "code"), "too_many_failed_tokens");
            EXPECT_NE(field_of(answer, "Retry-After"), "");
            return guesses;
        }
        return 100;
    };
    const auto wrong = [](int number) { return "dw_a" + std::to_string(number) + "_" + known_secret(); };
    const int by_login = guesses_until_limited([&](int number) {
        return Call{"POST", "/v1/session", login_body(wrong(number))};
    });
    const int by_session = guesses_until_limited([&](int number) {
        return with_session({"GET", "/v1/session"}, wrong(number));
    });
    const int by_read = guesses_until_limited([&](int number) {
        return with_session({"GET", "/readyz"}, wrong(number));
    });
    for (const int guesses : {by_login, by_session, by_read}) {
        EXPECT_GE(guesses, FailedTokenLimit::kBurst);
        EXPECT_LT(guesses, 100);
    }
}

TEST(Session, reading_the_session_is_never_unauthorized) {
    ApiServer server(with_auth());
    const std::string not_signed_in = R"({"tokens_required":true,"token":null})";
    EXPECT_EQ(body_of(server.ask({"GET", "/v1/session"})), not_signed_in);
    EXPECT_EQ(body_of(server.ask(with_session({"GET", "/v1/session"}, known_secret()))), not_signed_in);
    EXPECT_EQ(body_of(server.ask(with_token({"GET", "/v1/session"}, "b"))), not_signed_in);
}

TEST(Session, the_cookie_counts_like_an_authorization_field_which_wins) {
    ApiServer server(with_auth());
    add(server, known_token("a", {Scope::put}, {{}, "orders-"}));
    add(server, known_token("b", {Scope::read}));
    const std::string id = log_in(server);
    EXPECT_EQ(status_of(server.ask(with_session({"POST", kPut, kBody}, id), PutAnswer{1024})), 201);
    EXPECT_EQ(status_of(server.ask(with_session({"POST", "/v1/queues/mail/messages", kBody}, id))), 403);
    EXPECT_EQ(status_of(server.ask(with_session({"GET", "/v1/stats"}, id))), 403) << "it has not the scope";
    EXPECT_EQ(status_of(server.ask(with_session(with_token({"GET", "/v1/stats"}, "b"), id))), 200);
    EXPECT_EQ(status_of(server.ask(with_session(with_token({"GET", "/v1/stats"}, "b"), "nonsense"))), 200);
    EXPECT_EQ(status_of(server.ask(with_token(with_session({"POST", kPut, kBody}, id), "c"))), 401);
    const std::string twice = "duewheel_session=" + id + "; duewheel_session=" + id;
    EXPECT_EQ(member_of(server.ask(with_cookie({"POST", kPut, kBody}, twice)), "code"), "bad_token");
    for (const char* other : {"duewheel_session2=", "xduewheel_session=", "Duewheel_session=", "duewheel_session:"}) {
        EXPECT_EQ(member_of(server.ask(with_cookie({"POST", kPut, kBody}, other + id)), "code"), "token_required");
    }
}

// Another page of the same host, such as one on another port, is of the same site: the browser sends the cookie with
// its requests, and a browser that reveals no origin must not be believed.
TEST(Session, a_change_by_the_cookie_comes_from_a_page_of_this_server) {
    ApiServer server(with_auth());
    add(server, known_token("a", {Scope::put, Scope::read}));
    const std::string cookie = "duewheel_session=" + log_in(server);
    const auto code_with = [&](const std::string& name, const std::string& value) {
        Call call = with_cookie({"POST", kPut, kBody}, cookie, false);
        if (!name.empty()) call.fields.emplace_back(name, value);
        const std::string answer = server.ask(call, PutAnswer{1024});
        return status_of(answer) == 201 ? "accepted" : member_of(answer, "code");
    };
    EXPECT_EQ(code_with("Origin", "http://x"), "accepted");
    EXPECT_EQ(code_with("Sec-Fetch-Site", "same-origin"), "accepted");
    EXPECT_EQ(code_with("", ""), "foreign_origin");
    for (const char* site : {"none", "same-site", "cross-site", ""}) {
        EXPECT_EQ(code_with("Sec-Fetch-Site", site), "foreign_origin") << site;
    }
    for (const char* origin : {"http://x:81", "http://evil.example", "null", ""}) {
        EXPECT_EQ(code_with("Origin", origin), "foreign_origin") << origin;
    }
    EXPECT_EQ(server.command(), "");
    EXPECT_EQ(status_of(server.ask(with_cookie({"GET", "/v1/stats"}, cookie, false))), 200) << "no change";
    EXPECT_EQ(
        status_of(server.ask(with_token(with_cookie({"POST", kPut, kBody}, cookie, false), "a"), PutAnswer{1024})), 201)
        << "no page can send that field";
    EXPECT_EQ(member_of(server.ask(with_cookie({"DELETE", "/v1/session"}, cookie, false)), "code"), "foreign_origin");
}

TEST(Session, a_logout_ends_the_session_and_removes_the_cookie) {
    ApiServer server(with_auth());
    add(server, known_token("a", {Scope::read}));
    const std::string id = log_in(server);
    const std::string other = log_in(server);
    EXPECT_EQ(status_of(server.ask(with_session({"GET", "/readyz"}, id))), 200);
    for (const Call& call : {with_session({"DELETE", "/v1/session"}, id),
                             with_session({"DELETE", "/v1/session"}, "old"), Call{"DELETE", "/v1/session"}}) {
        const std::string answer = server.ask(call);
        EXPECT_EQ(status_of(answer), 200);
        EXPECT_EQ(field_of(answer, "Set-Cookie"), "duewheel_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
        EXPECT_EQ(body_of(answer), R"({"tokens_required":true,"token":null})");
    }
    // A copy of the cookie was still good.
    EXPECT_EQ(member_of(server.ask(with_session({"GET", "/readyz"}, id)), "code"), "bad_token");
    EXPECT_EQ(status_of(server.ask(with_session({"GET", "/readyz"}, other))), 200) << "in another browser";
}

TEST(Session, a_session_ends_with_its_token_and_with_its_secret) {
    ApiServer server(with_auth());
    AccessToken token = known_token("a", {Scope::read});
    add(server, token);
    const std::string id = log_in(server);
    const auto status = [&] { return status_of(server.ask(with_session({"GET", "/readyz"}, id))); };
    EXPECT_EQ(status(), 200);
    token.old_secret = token.secret;
    token.old_until_ms = 4'000'000'000'000;
    token.secret = hash_of_secret(Secret(known_secret('y')));
    add(server, token);
    EXPECT_EQ(status(), 200) << "the old secret is still valid";
    token.old_until_ms = 0;
    add(server, token);
    EXPECT_EQ(status(), 401);
    server.server().on_loop([&] { server.shard().tokens.clear(); });
    EXPECT_EQ(status(), 401);
}

TEST(Session, a_cookie_that_is_not_valid_is_ignored_where_no_token_is_required) {
    ApiServer server(with_auth(false));
    add(server, known_token("a", {Scope::put}, {{}, "orders-"}));
    EXPECT_EQ(status_of(server.ask(with_session({"POST", kPut, kBody}, known_secret()), PutAnswer{1024})), 201);
    EXPECT_EQ(body_of(server.ask(with_session({"GET", "/v1/session"}, "x"))),
              R"({"tokens_required":false,"token":null})");
    EXPECT_EQ(status_of(server.ask(with_session({"POST", "/v1/queues/mail/messages", kBody}, log_in(server)))), 403)
        << "a valid one limits";
}

TEST(Session, neither_the_token_nor_the_session_is_in_a_log) {
    HttpApiOptions options = with_auth();
    options.requests.every = 1;
    options.requests.slow_ms = 0;
    ApiServer server(std::move(options));
    add(server, known_token("a", {Scope::read}));
    const std::string id = log_in(server);
    server.ask(with_session({"GET", "/v1/stats"}, id));
    server.ask(with_session({"GET", "/v1/nothing"}, id));
    server.ask(with_session({"DELETE", "/v1/session"}, id));
    std::string lines;
    for (const std::string& line : server.log().lines()) lines += line + "\n";
    EXPECT_NE(lines.find("/v1/session"), std::string::npos);
    EXPECT_EQ(lines.find(known_secret()), std::string::npos);
    EXPECT_EQ(lines.find(id), std::string::npos);
}

}  // namespace
}  // namespace duewheel::session_test
