// The calls of namespaces, from bytes to the command and back.
#include "http_api/requests/namespace_request.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/calls/call_fixture.h"

namespace duewheel::namespace_request_test {
namespace {

TEST(NamespaceCalls, become_their_commands) {
    ApiServer server;
    const auto command = [&](const Call& call) {
        server.ask(call, NamespaceAnswer{"team"});
        return server.command();
    };
    EXPECT_EQ(command({"PUT", "/v1/namespaces/team",
                       R"({"limits":{"pending":5,"queues":4,"schedules":3,"watchdogs":2,"put_rate":1},"weight":7})"}),
              "set namespace team pending=5 queues=4 schedules=3 watchdogs=2 put_rate=1 weight=7");
    EXPECT_EQ(command({"PUT", "/v1/namespaces/team"}),
              "set namespace team pending=0 queues=0 schedules=0 watchdogs=0 put_rate=0 weight=0");
    EXPECT_EQ(command({"GET", "/v1/namespaces/a%2Fb"}), "describe namespace a/b");
    EXPECT_EQ(command({"DELETE", "/v1/namespaces/team"}), "remove namespace team");
    server.ask({"GET", "/v1/namespaces?limit=7"}, NamespaceListAnswer{});
    EXPECT_EQ(server.command(), "list namespaces after= limit=7");
}

TEST(NamespaceCalls, refuse_invalid_limits) {
    ApiServer server;
    const auto code = [&](const char* body) {
        return member_of(server.ask({"PUT", "/v1/namespaces/team", body}), "code");
    };
    EXPECT_EQ(code(R"({"limits":{"pending":0}})"), "out_of_range");
    EXPECT_EQ(code(R"({"limits":{"put_rate":-1}})"), "out_of_range");
    EXPECT_EQ(code(R"({"limits":{"put_rate":0.5}})"), "wrong_type");
    EXPECT_EQ(code(R"({"limits":{"messages":5}})"), "unknown_member");
    EXPECT_EQ(code(R"({"limits":5})"), "wrong_type");
    EXPECT_EQ(code(R"({"weight":0})"), "out_of_range");
    EXPECT_EQ(code(R"({"weight":"5"})"), "wrong_type");
    EXPECT_EQ(code(R"({"share":5})"), "unknown_member");
    EXPECT_EQ(member_of(server.ask({"PUT", "/v1/namespaces/-n"}), "code"), "bad_namespace");
    EXPECT_EQ(member_of(server.ask({"POST", "/v1/namespaces/n"}), "code"), "method_not_allowed");
    EXPECT_EQ(member_of(server.ask({"GET", "/v1/namespaces/n?x=1"}), "code"), "unknown_parameter");
    EXPECT_EQ(member_of(server.ask({"GET", "/v1/namespaces/n/namespaces"}), "code"), "unknown_path");
}

TEST(NamespaceCalls, responses_show_use_and_limits) {
    ApiServer server;
    NamespaceAnswer answer{"team", {3, 100, 0, 0, 0, 50}, 7, 2, 1, 0, std::nullopt};
    EXPECT_EQ(body_of(server.ask({"GET", "/v1/namespaces/team"}, answer)),
              R"({"namespace":"team","pending":7,"queues":2,"schedules":1,"watchdogs":0,)"
              R"("settings":{"limits":{"pending":100,"put_rate":50}}})");
    answer.settings = {3, 0, 0, 0, 0, 0, 7};
    EXPECT_EQ(member_of(server.ask({"GET", "/v1/namespaces/team"}, answer), "settings"), R"({"weight":7})");
    answer.settings = {};
    EXPECT_EQ(member_of(server.ask({"GET", "/v1/namespaces/team"}, answer), "settings"), "{}");
    answer.removed = true;
    EXPECT_EQ(body_of(server.ask({"DELETE", "/v1/namespaces/team"}, answer)), R"({"namespace":"team","removed":true})");
}

TEST(NamespaceCalls, a_page_says_where_the_next_one_begins) {
    ApiServer server;
    NamespaceListAnswer page;
    page.namespaces.push_back({"a"});
    page.namespaces.push_back({"b"});
    page.complete = false;
    const std::string cursor = member_of(server.ask({"GET", "/v1/namespaces?limit=2"}, page), "cursor");
    ASSERT_NE(cursor, "");
    page.complete = true;
    const std::string last = server.ask({"GET", "/v1/namespaces?limit=2&cursor=" + cursor}, page);
    EXPECT_EQ(server.command(), "list namespaces after=b limit=2");
    EXPECT_EQ(member_of(last, "cursor"), "");
    EXPECT_EQ(member_of(server.ask({"GET", "/v1/queues?cursor=" + cursor}), "code"), "bad_cursor");
    EXPECT_EQ(member_of(server.ask({"GET", "/v1/namespaces?cursor=x"}), "code"), "bad_cursor");
}

TEST(NamespaceCalls, refusals_have_retry_after) {
    ApiServer server;
    for (const ErrorCode code : {"namespace_full"_code, "too_many_puts"_code, "queue_limit"_code}) {
        const std::string answer =
            server.ask({"POST", "/v1/queues/q/messages", R"({"body":""})"}, Error{code, "no", "namespace"});
        EXPECT_EQ(status_of(answer), 429) << code;
        EXPECT_EQ(field_of(answer, "Retry-After"), "1") << code;
    }
}

}  // namespace
}  // namespace duewheel::namespace_request_test
