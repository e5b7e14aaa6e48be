// Calls that identify a message by the key of its put.
#include <string>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/calls/call_fixture.h"

namespace duewheel::message_key_test {
namespace {

const std::string kPath = "/v1/messages?queue=a%2Fb&key=order+7%261";

TEST(MessageKey, is_read_cancelled_and_moved) {
    ApiServer server;
    const ChangeAnswer done{ChangeOutcome::cancelled};
    EXPECT_EQ(status_of(server.ask({"DELETE", kPath}, done)), 200);
    EXPECT_EQ(server.command(), "cancel default queue=a/b key=order 7&1");
    const ChangeAnswer moved{ChangeOutcome::rescheduled, 0, false, 1000};
    const std::string in_team = "/v1/namespaces/team/messages?key=k&queue=q";
    EXPECT_EQ(status_of(server.ask({"PATCH", in_team, R"({"delay":"1s"})"}, moved)), 200);
    EXPECT_EQ(server.command(), "reschedule team queue=q key=k delay=1000");
    EXPECT_EQ(member_of(server.ask({"GET", kPath}, Error{"unknown_key"_code, "No such key.", "key"}), "code"),
              "unknown_key");
    EXPECT_EQ(server.command(), "get default queue=a/b key=order 7&1");
    const std::string late = server.ask({"DELETE", kPath}, ChangeAnswer{ChangeOutcome::delivered, 1, false, 0});
    EXPECT_EQ(status_of(late), 409);
    EXPECT_EQ(member_of(late, "code"), "already_delivered");
}

TEST(MessageKey, a_key_without_a_message_is_refused) {
    ApiServer server;
    const auto refused = [&](const std::string& method, const std::string& parameters) {
        const std::string answer = server.ask({method, "/v1/messages" + parameters});
        return member_of(answer, "code") + " " + member_of(answer, "field");
    };
    EXPECT_EQ(refused("DELETE", ""), "missing_parameter queue");
    EXPECT_EQ(refused("DELETE", "?queue=q"), "missing_parameter key");
    EXPECT_EQ(refused("DELETE", "?key=k"), "missing_parameter queue");
    EXPECT_EQ(refused("DELETE", "?queue=q&key=k&running=yes"), "bad_parameter running");
    EXPECT_EQ(refused("DELETE", "/1024?running=1"), "bad_parameter running");
    EXPECT_EQ(refused("DELETE", "/1024?runing=true"), "unknown_parameter runing");
    EXPECT_EQ(refused("GET", "?queue=q&key=%07"), "bad_key key");
    EXPECT_EQ(refused("GET", "?queue=-q&key=k"), "bad_queue_name queue");
    EXPECT_EQ(refused("GET", "?queue=q&key=k&id=7"), "unknown_parameter id");
    EXPECT_EQ(refused("PATCH", "?queue=q&key=k"), "missing_member delay");
    EXPECT_EQ(refused("POST", "?queue=q&key=k"), "method_not_allowed ");
}

}  // namespace
}  // namespace duewheel::message_key_test
