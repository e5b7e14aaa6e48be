// The API over real sockets, with a simulated shard: what reaches the shard, what it answers, and the life of a waiting
// reply. What is refused is tested in http_api_refusals_test.cc.
#include "http_api/http_api.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/requests/put_calls_fixture.h"
#include "shared/system_clock.h"

namespace duewheel::http_api_test {
namespace {

TEST(HttpApi, returns_the_reply_of_the_shard) {
    ApiServer server;
    EXPECT_EQ(server.ask(put(R"({"body":"x","delay":"10m"})"), PutAnswer{1024, State::scheduled, 1'798'783'200'250}),
              "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n" + kStandingText +
                  "Content-Length: 89\r\n\r\n"
                  R"({"id":"1024","state":"scheduled","due":"2027-01-01T06:00:00.250Z","due_ms":1798783200250})");
    EXPECT_EQ(server.command(), "put default q delay=600000 priority=0 body=x type= headers= trace=");
    EXPECT_EQ(body_of(server.ask({"DELETE", "/v1/messages/1024"}, ChangeAnswer{ChangeOutcome::cancelled})),
              R"({"outcome":"cancelled","attempts":0,"maybe_delivered":false})");
    EXPECT_EQ(server.command(), "cancel default 1024");
    const std::string missing =
        server.ask({"GET", "/v1/messages/1024"}, Error{"unknown_id"_code, "No such message.", "id"});
    EXPECT_EQ(status_of(missing), 404);
    const std::string busy = server.ask(put(kEmpty), Error{"too_busy"_code, "Later."});
    EXPECT_EQ(status_of(busy), 503);
    EXPECT_NE(busy.find("\r\nRetry-After: 1\r\n"), std::string::npos);
    EXPECT_EQ(status_of(server.ask({"POST", "/v1/messages/1:fire"}, Error{"not_waiting"_code, "It is held."})), 409);
}

TEST(HttpApi, every_route_reaches_the_shard_and_answers) {
    const std::string lease = R"({"messages":[{"id":"1024","queue":"q","lease":")" + kLease +
                              R"(","lease_until_ms":2000,"body":"x","occurrence":1,"due_ms":900,"delivered_ms":1000,)"
                              R"("lateness_ms":100,"wait_ms":0,"attempt":1,"maybe_delivered":false}]})";
    Delivered delivered{.id = 1024,
                        .lease = {1024, 1, 2, 3},
                        .lease_until_ms = 2000,
                        .due_ms = 900,
                        .delivered_ms = 1000,
                        .attempt = 1,
                        .occurrence = 1};
    delivered.lateness_ms = 100;
    delivered.body = "x";
    struct Route {
        Call call;
        Reply reply;
        std::string command;
        std::string body;
    };
    const Route routes[] = {
        {{"DELETE", "/v1/messages/1024"},
         ChangeAnswer{ChangeOutcome::cancelled, 1, true},
         "cancel default 1024",
         R"({"outcome":"cancelled","attempts":1,"maybe_delivered":true})"},
        {{"PATCH", "/v1/namespaces/n/messages/1024", R"({"delay":"1s"})"},
         ChangeAnswer{ChangeOutcome::rescheduled, 0, false, 1000},
         "reschedule n 1024 delay=1000",
         R"({"outcome":"rescheduled","attempts":0,"maybe_delivered":false,"due":"1970-01-01T00:00:01.000Z","due_ms":1000})"},
        {{"POST", "/v1/messages/1024:fire"},
         ChangeAnswer{ChangeOutcome::fired, 0, false, 1000},
         "fire default 1024",
         R"({"outcome":"fired","attempts":0,"maybe_delivered":false,"due":"1970-01-01T00:00:01.000Z","due_ms":1000})"},
        {{"POST", "/v1/messages/1024:hold"},
         ChangeAnswer{ChangeOutcome::held, 1, false},
         "hold default 1024",
         R"({"outcome":"held","attempts":1,"maybe_delivered":false})"},
        {{"POST", "/v1/messages/1024:kick"},
         ChangeAnswer{ChangeOutcome::kicked, 1, false, 1000},
         "kick default 1024",
         R"({"outcome":"kicked","attempts":1,"maybe_delivered":false,"due":"1970-01-01T00:00:01.000Z","due_ms":1000})"},
        {{"POST", "/v1/queues/q:redrive", R"({"max":5})"},
         RedriveAnswer{5, true},
         "redrive default q max=5",
         R"({"redriven":5,"more":true})"},
        {{"POST", "/v1/leases/" + kLease + ":hold"},
         LeaseEndAnswer{LeaseOutcome::held},
         "hold " + kLease,
         R"({"outcome":"held"})"},
        {{"POST", kTake, R"({"max":5,"lease":"1m","wait":"2s"})"},
         LeaseAnswer{"q", {delivered}},
         "lease default q max=5 lease=60000 wait=2000",
         lease},
        {{"POST", kTake}, LeaseAnswer{"q", {}}, "lease default q max=1 lease=- wait=0", R"({"messages":[]})"},
        {{"POST", "/v1/leases/" + kLease + ":ack"},
         LeaseEndAnswer{LeaseOutcome::done},
         "ack " + kLease,
         R"({"outcome":"done"})"},
        {{"POST", "/v1/leases/" + kLease + ":fail", R"({"reason":"no","retry_in":"1s"})"},
         LeaseEndAnswer{LeaseOutcome::retrying, 1000},
         "fail " + kLease + " reason=no retry_in=1000",
         R"({"outcome":"retrying","due":"1970-01-01T00:00:01.000Z","due_ms":1000})"},
        {{"POST", "/v1/leases/" + kLease + ":extend", R"({"lease":"1s"})"},
         LeaseEndAnswer{LeaseOutcome::extended, 0, 1000},
         "extend " + kLease + " lease=1000",
         R"({"outcome":"extended","lease_until_ms":1000})"},
        {{"POST", "/v1/leases/" + kLease + ":release", R"({"delay":"1s"})"},
         LeaseEndAnswer{LeaseOutcome::released, 1000},
         "release " + kLease + " delay=1000",
         R"({"outcome":"released","due":"1970-01-01T00:00:01.000Z","due_ms":1000})"},
    };
    ApiServer server;
    for (const Route& route : routes) {
        SCOPED_TRACE(route.call.method + " " + route.call.target);
        EXPECT_EQ(server.ask(route.call, route.reply),
                  "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + kStandingText +
                      "Content-Length: " + std::to_string(route.body.size()) + "\r\n\r\n" + route.body);
        EXPECT_EQ(server.command(), route.command);
    }
}

// Limits on leases are the engine's: a number too large for its type must stay too large on the way there.
TEST(HttpApi, numbers_beyond_every_limit_reach_the_engine_beyond_it) {
    ApiServer server;
    for (const auto& [max, seen] : {std::pair{"0", "0"},
                                    {"-1", "0"},
                                    {"-4294967295", "0"},
                                    {"1", "1"},
                                    {"1000", "1000"},
                                    {"1001", "1001"},
                                    {"4294967295", "4294967295"},
                                    {"4294967297", "4294967295"},
                                    {"9223372036854775807", "4294967295"},
                                    {"1e3", "1000"}}) {
        const std::string answer =
            server.ask({"POST", kTake, "{\"max\":" + std::string(max) + "}"}, Error{"bad_max"_code, "No.", "max"});
        EXPECT_EQ(status_of(answer), 400);
        EXPECT_EQ(server.command(), "lease default q max=" + std::string(seen) + " lease=- wait=0") << max;
    }
    for (const ErrorCode code : {"lease_too_short"_code, "lease_too_long"_code, "wait_too_long"_code}) {
        EXPECT_EQ(status_of(server.ask({"POST", kTake}, Error{code, "No."})), 400) << code;
    }
    const std::string most = R"({"lease_ms":9007199254740992,"wait_ms":9007199254740992})";
    EXPECT_EQ(status_of(server.ask({"POST", kTake, most}, Error{"lease_too_long"_code, "No."})), 400);
    EXPECT_EQ(server.command(), "lease default q max=1 lease=9007199254740992 wait=9007199254740992");
}

TEST(HttpApi, answers_head_without_a_body) {
    ApiServer server;
    const std::string answer = server.ask({"HEAD", "/v1/messages/1024"}, MessageAnswer{});
    EXPECT_EQ(status_of(answer), 200);
    EXPECT_EQ(body_of(answer), "");
    EXPECT_EQ(server.command(), "get default 1024");
    EXPECT_EQ(status_of(server.ask({"GET", "/healthz"})), 200);
}

TEST(HttpApi, serves_its_own_pages) {
    HttpApiOptions options;
    options.version = "1.2.3";
    ApiServer server(std::move(options));
    EXPECT_EQ(body_of(server.ask({"GET", "/healthz"})), "ok\n");
    const std::string metrics = server.ask({"GET", "/metrics"});
    EXPECT_EQ(body_of(metrics), "duewheel_up 1\n");
    EXPECT_NE(metrics.find("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"), std::string::npos);
    server.server().on_loop([&] { server.shard().levels.pending = 77; });
    EXPECT_EQ(member_of(server.ask({"GET", "/v1/stats"}), "pending"), "77");
    const std::string ready = server.ask({"GET", "/readyz"});
    EXPECT_EQ(status_of(ready), 200);
    EXPECT_EQ(member_of(ready, "ready"), "true");
    EXPECT_EQ(member_of(ready, "version"), "1.2.3");
    server.server().on_loop([&] { server.readiness = {false, {"one \"reason\"", "another"}}; });
    const std::string unready = server.ask({"GET", "/readyz"});
    EXPECT_EQ(status_of(unready), 503);
    EXPECT_EQ(member_of(unready, "ready"), "false");
    EXPECT_EQ(member_of(unready, "reason"), "one \"reason\"; another");
}

// Messages for a consumer that was killed go to another one at once.
TEST(HttpApi, a_client_that_disconnects_is_dropped) {
    ApiServer server;
    server.server().on_loop([&] { server.shard().silent = true; });
    auto waiting = std::make_unique<RawClient>(server.server().port());
    ASSERT_TRUE(waiting->send(CallRequest({"POST", kTake, R"({"wait":"20s"})"}).bytes()));
    ASSERT_TRUE(server.server().await([&] { return server.shard().submitted.size() == 1; }));
    server.server().on_loop([&] { EXPECT_EQ(server.api().waiting(), 1u); });
    waiting->reset();
    ASSERT_TRUE(server.server().await([&] { return !server.shard().forgotten.empty(); }));
    server.server().on_loop([&] {
        EXPECT_EQ(server.shard().forgotten, std::vector{server.shard().submitted.front().second});
        EXPECT_EQ(server.api().waiting(), 0u);
        // A reply in flight has no receiver, and does no harm.
        server.shard().deliver(server.shard().forgotten.front(), LeaseAnswer{"q", {}});
        server.shard().silent = false;
    });
    EXPECT_EQ(status_of(server.ask({"GET", "/healthz"})), 200);
}

// "Host: x" is what every request of these tests says.
TEST(HttpApi, accepts_only_the_names_of_the_server_if_they_are_configured) {
    HttpApiOptions options;
    options.callers = {true, {"y"}, {}};
    ApiServer server(std::move(options));
    for (const Call& call : {Call{"GET", "/healthz"}, Call{"GET", "/v1/stats"}, put(kEmpty), Call{"GET", "/nowhere"}}) {
        const std::string answer = server.ask(call);
        EXPECT_EQ(status_of(answer), 403) << call.target;
        EXPECT_EQ(member_of(answer, "code"), "foreign_host");
        EXPECT_EQ(server.command(), "");
    }
}

// A page anywhere could send a form to a server on its reader's machine, which need not be JSON.
TEST(HttpApi, a_page_of_another_host_changes_nothing_whatever_it_sends) {
    ApiServer server;
    const std::vector<std::pair<std::string, std::string>> evil{{"Origin", "http://evil.example"}};
    for (const Call& call :
         {Call{"POST", kPut, kEmpty, "", evil}, Call{"POST", kPut, "x", "text/plain", evil},
          Call{"POST", kPut, "a=b", "application/x-www-form-urlencoded", evil}, Call{"POST", kTake, "", "", evil},
          Call{"DELETE", "/v1/messages/1", "", "", evil}, Call{"PATCH", "/v1/messages/1", "{}", "", evil},
          Call{"POST", "/v1/leases/" + kLease + ":ack", "", "", evil}, Call{"OPTIONS", kPut, "", "", evil}}) {
        const std::string answer = server.ask(call);
        EXPECT_EQ(status_of(answer), 403) << call.method << " " << call.target;
        EXPECT_EQ(member_of(answer, "code"), "foreign_origin");
        EXPECT_EQ(member_of(answer, "field"), "Origin");
        EXPECT_EQ(server.command(), "");
        EXPECT_EQ(answer.find("Access-Control"), std::string::npos);
    }
    server.ask({"POST", kPut, kEmpty, "", {{"Origin", "http://x"}}});
    EXPECT_NE(server.command(), "") << "its own page";
    server.ask({"GET", "/v1/messages/1", "", "", evil});
    EXPECT_NE(server.command(), "") << "reading, of which the page is shown nothing";
}

TEST(HttpApi, an_answer_carries_the_trace_of_its_request) {
    const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    ApiServer server;
    const std::vector<std::pair<std::string, std::string>> traced{{"Traceparent", trace}};
    for (const Call& call : {Call{"POST", kPut, kEmpty, "", traced}, Call{"POST", kPut, "{", "", traced},
                             Call{"GET", "/healthz", "", "", traced}, Call{"GET", "/nowhere", "", "", traced}}) {
        EXPECT_NE(server.ask(call).find("\r\ntraceparent: " + trace + "\r\n"), std::string::npos) << call.target;
    }
    EXPECT_EQ(server.ask({"GET", "/healthz", "", "", {{"traceparent", trace + "0"}}}).find("traceparent"),
              std::string::npos);
    EXPECT_EQ(server.ask({"GET", "/healthz"}).find("traceparent"), std::string::npos);
}

TEST(HttpApi, requests_are_logged_as_its_options_say) {
    HttpApiOptions options;
    options.requests.every = 2;
    ApiServer server(std::move(options));
    for (int i = 0; i < 3; ++i) server.ask({"GET", "/healthz"});
    server.ask(put("{"));
    server.ask({"GET", "/v1/messages/1"}, Error{"too_busy"_code, "Later."});
    server.server().on_loop([] {});
    std::vector<std::string> lines = server.log().lines();
    for (std::string& line : lines) {
        const std::size_t micros = line.find(" micros=");
        if (micros != std::string::npos) line.erase(micros, line.find(' ', micros + 1) - micros);
    }
    EXPECT_EQ(lines,
              (std::vector<std::string>{
                  "info request: A request was answered. method=GET path=/healthz status=200 remote=127.0.0.1",
                  "info request: A request was answered. method=GET path=/healthz status=200 remote=127.0.0.1",
                  "warning limit_refused: Requests are refused at a limit. code=too_busy status=503 count=1",
                  "info request: A request was answered. method=GET path=/v1/messages/1 status=503 code=too_busy "
                  "remote=127.0.0.1"}));
}

// A put and a lease in one write were answered with an empty lease, and a look behind a cancel found the message still
// scheduled: reads and leases act when they are submitted, changes when they are committed.
TEST(HttpApi, pipelined_calls_act_as_if_sent_one_after_the_other) {
    const Call take{"POST", kTake, "{}"};
    const Call look{"GET", "/v1/messages/1"};
    const Call cancel{"DELETE", "/v1/messages/1"};
    const Call move{"PATCH", "/v1/messages/1", R"({"delay_ms":1})"};
    const Call ack{"POST", "/v1/leases/" + kLease + ":ack"};
    const Call release{"POST", "/v1/leases/" + kLease + ":release"};
    const Call puts{"POST", kPut + ":batch", kEmpty + "\n", "application/x-ndjson"};
    // How many of each sequence may be submitted before the first is answered.
    const std::vector<std::pair<std::vector<Call>, std::size_t>> sequences{
        {{put(kEmpty), take}, 1},    {{cancel, look}, 1},     {{put(kEmpty), put(kEmpty), puts, take}, 3},
        {{put(kEmpty), cancel}, 1},  {{put(kEmpty), ack}, 1}, {{ack, release, ack, take}, 3},
        {{cancel, cancel, move}, 2}, {{move, move}, 1},       {{take, take}, 1},
        {{take, put(kEmpty)}, 1},    {{ack, put(kEmpty)}, 1}, {{look, look, put(kEmpty), look}, 2},
    };
    for (const auto& [calls, together] : sequences) {
        std::string requests;
        for (const Call& call : calls) requests += CallRequest(call).bytes();
        SCOPED_TRACE(requests);
        ApiServer server;
        server.server().on_loop([&] { server.shard().silent = true; });
        RawClient client(server.server().port());
        client.send(requests);
        std::size_t answered = 0;
        std::size_t expected = together;
        while (answered < calls.size()) {
            ASSERT_TRUE(server.server().await([&] { return server.shard().submitted.size() >= expected; }));
            server.server().on_loop([&] {
                EXPECT_EQ(server.shard().submitted.size(), expected);
                server.shard().deliver(server.shard().submitted[answered].second,
                                       Error{"gone"_code, "Answered by the test."});
            });
            ++answered;
            if (answered == expected) ++expected;
        }
        for (std::size_t i = 0; i < calls.size(); ++i) EXPECT_EQ(member_of(client.answer(), "code"), "gone");
    }
}

TEST(HttpApi, responses_go_to_their_own_clients) {
    ApiServer server;
    server.server().on_loop([&] { server.shard().silent = true; });
    RawClient first(server.server().port());
    RawClient second(server.server().port());
    first.send(CallRequest({"GET", "/v1/messages/1"}).bytes());
    ASSERT_TRUE(server.server().await([&] { return server.shard().submitted.size() == 1; }));
    second.send(CallRequest({"GET", "/v1/messages/2"}).bytes());
    ASSERT_TRUE(server.server().await([&] { return server.shard().submitted.size() == 2; }));
    server.server().on_loop([&] {
        for (int i = 1; i >= 0; --i) {
            const auto& [command, token] = server.shard().submitted[static_cast<std::size_t>(i)];
            EXPECT_NE(token, 0u);
            server.shard().deliver(token, Error{"unknown_id"_code, command});
        }
    });
    EXPECT_EQ(member_of(first.answer(), "detail"), "get default 1");
    EXPECT_EQ(member_of(second.answer(), "detail"), "get default 2");
}

TEST(HttpApi, refuses_changes_while_the_log_is_unavailable) {
    bool is_unavailable = false;
    HttpApiOptions options;
    options.log_is_unavailable = [&] { return is_unavailable; };
    ApiServer server(std::move(options));
    EXPECT_EQ(member_of(server.ask(put(kEmpty), PutAnswer{}), "code"), "");
    server.server().on_loop([&] { is_unavailable = true; });
    for (const Call& change : {put(kEmpty), Call{"POST", kPut + ":batch", kEmpty + "\n", "application/x-ndjson"},
                               Call{"DELETE", "/v1/messages/1"}, Call{"POST", "/v1/leases/" + kLease + ":ack"},
                               Call{"PUT", "/v1/queues/q", "{}"}}) {
        const std::string answer = server.ask(change);
        EXPECT_EQ(member_of(answer, "code"), "log_unavailable") << change.target;
        EXPECT_EQ(member_of(answer, "status"), "503");
        EXPECT_NE(answer.find("Retry-After: "), std::string::npos);
        EXPECT_EQ(server.command(), "");
    }
    EXPECT_EQ(member_of(server.ask({"GET", "/v1/messages/1"}, Error{"unknown_id"_code, "read"}), "code"), "unknown_id");
    EXPECT_EQ(member_of(server.ask({"POST", kTake, "{}"}, LeaseAnswer{}), "code"), "");
}

TEST(HttpApi, refuses_requests_that_have_waited_for_the_log_too_long) {
    constexpr std::int64_t kMs = 1'000'000;
    constexpr std::int64_t kWaitMs = 8'000;
    ApiServer server;
    server.server().on_loop([&] { server.shard().silent = true; });
    const std::int64_t before_ns = monotonic_now_ns();
    std::vector<RawClient> clients;
    std::size_t submitted = 0;
    for (const Call& call : {put(kEmpty), Call{"POST", kPut + ":batch", kEmpty + "\n", "application/x-ndjson"},
                             Call{"POST", kTake, R"({"wait_ms":8000})"}}) {
        clients.emplace_back(server.server().port());
        ASSERT_TRUE(clients.back().send(CallRequest(call).bytes()));
        ++submitted;
        ASSERT_TRUE(server.server().await([&] { return server.shard().submitted.size() == submitted; }));
    }
    const std::int64_t after_ns = monotonic_now_ns();
    const auto waiting_at = [&](std::int64_t now_ns) {
        std::size_t waiting = 0;
        server.server().on_loop([&] {
            server.api().refuse_waiting(now_ns);
            waiting = server.api().waiting();
        });
        return waiting;
    };
    EXPECT_EQ(waiting_at(before_ns + WaitingRequests::kLogWaitNs - 1), 3u);
    // The lease asked to wait that long, so it waits longer.
    EXPECT_EQ(waiting_at(after_ns + WaitingRequests::kLogWaitNs), 1u);
    for (RawClient* client : {&clients[0], &clients[1]}) {
        const std::string answer = client->answer();
        EXPECT_EQ(status_of(answer), 503);
        EXPECT_EQ(member_of(answer, "code"), "log_unavailable");
        EXPECT_NE(member_of(answer, "detail").find("a put with an idempotency key can be repeated"), std::string::npos);
    }
    EXPECT_EQ(waiting_at(before_ns + WaitingRequests::kLogWaitNs + kWaitMs * kMs - 1), 1u);
    EXPECT_EQ(waiting_at(after_ns + WaitingRequests::kLogWaitNs + kWaitMs * kMs), 0u);
    EXPECT_EQ(member_of(clients[2].answer(), "code"), "log_unavailable");
    // Nothing is delivered to a client that has left, and a reply that comes late is ignored.
    server.server().on_loop([&] {
        const auto& all = server.shard().submitted;
        EXPECT_EQ(server.shard().forgotten, (std::vector<ReplyToken>{all[0].second, all[2].second}));
        for (const auto& [command, token] : all) server.shard().deliver(token, Error{"gone"_code, command});
    });
    ASSERT_TRUE(clients[0].send(CallRequest({"GET", "/v1/messages/1"}).bytes()));
    ASSERT_TRUE(server.server().await([&] { return server.shard().submitted.size() == 4; }));
    server.server().on_loop([&] {
        server.shard().deliver(server.shard().submitted[3].second, Error{"unknown_id"_code, ""});
    });
    EXPECT_EQ(member_of(clients[0].answer(), "code"), "unknown_id");
}

}  // namespace
}  // namespace duewheel::http_api_test
