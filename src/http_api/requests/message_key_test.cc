// Puts with a key, and calls that identify a message by it.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/calls/call_fixture.h"
#include "http_api/command_fixture.h"

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

PutCommand put_of(Call call) {
    const Result<Command> command = command_of(std::move(call));
    EXPECT_TRUE(command) << command.error().message;
    return command ? std::get<PutCommand>(*command) : PutCommand{};
}

TEST(MessageKey, a_key_comes_as_a_field_or_as_a_member) {
    const std::string path = "/v1/queues/q/messages";
    EXPECT_EQ(put_of({"POST", path, R"({"body":"","key":"order 7"})"}).key, "order 7");
    EXPECT_EQ(put_of({"POST", path, R"({"body":""})", "", {{"Idempotency-Key", "order 7"}}}).key, "order 7");
    EXPECT_EQ(put_of({"POST", path, "x", "text/plain", {{"Idempotency-Key", "\"order 7\""}}}).key, "order 7");
    EXPECT_EQ(put_of({"POST", path, R"({"body":"","key":"k"})", "", {{"Idempotency-Key", "k"}}}).key, "k");
    EXPECT_EQ(put_of({"POST", path, R"({"body":"","key":")" + std::string(256, 'k') + "\"}"}).key.size(), 256u);
    const auto code = [&](const std::string& body, std::vector<std::pair<std::string, std::string>> fields) {
        const Result<Command> command = command_of({"POST", path, body, "application/json", std::move(fields)});
        return command ? "taken" : std::string(name_of(command.error().code)) + " " + command.error().field;
    };
    EXPECT_EQ(code(R"({"key":"a"})", {{"Idempotency-Key", "b"}}), "conflicting_members key");
    EXPECT_EQ(code(R"({"key":""})", {}), "bad_key key");
    EXPECT_EQ(code(R"({"key":7})", {}), "wrong_type key");
    EXPECT_EQ(code(R"({"key":")" + std::string(257, 'k') + "\"}", {}), "bad_key key");
    EXPECT_EQ(code(R"({"key":"a\u0000b"})", {}), "bad_key key");
    EXPECT_EQ(code("{}", {{"Idempotency-Key", "\"\""}}), "bad_key Idempotency-Key");
    EXPECT_EQ(code("{}", {{"Idempotency-Key", "\xff"}}), "bad_key Idempotency-Key");
}

TEST(MessageKey, requests_with_a_key_are_compared_by_their_content) {
    const std::string path = "/v1/queues/q/messages";
    const auto hash = [&](const std::string& body, const std::string& type = "",
                          std::vector<std::pair<std::string, std::string>> fields = {}) {
        fields.emplace_back("Idempotency-Key", "k");
        return put_of({"POST", path, body, type, std::move(fields)}).request_hash;
    };
    EXPECT_EQ(hash(R"({"body":"a"})"), hash(R"({"body":"a"})"));
    EXPECT_NE(hash(R"({"body":"a"})"), hash(R"({"body":"b"})"));
    EXPECT_NE(hash("x", "text/plain"), hash("x", "text/html"));
    EXPECT_NE(hash("x", "text/plain", {{"Duewheel-Delay", "1s"}}), hash("x", "text/plain", {{"Duewheel-Delay", "2s"}}));
    EXPECT_NE(hash("x", "text/plain"), hash("x", "text/plain", {{"Duewheel-Due", "2027-01-01T06:00:00Z"}}));
    // A trace is of one try, not of the request.
    EXPECT_EQ(hash("x", "text/plain", {{"traceparent", "a"}}), hash("x", "text/plain", {{"traceparent", "b"}}));
    EXPECT_EQ(put_of({"POST", path, R"({"body":""})"}).request_hash, 0u);
}

// A client that repeated a put from another library got a conflict: a space, or the order of members, was another.
TEST(MessageKey, puts_with_a_key_are_compared_by_what_they_say) {
    const auto hash = [](const std::string& members) {
        return put_of({"POST", "/v1/queues/q/messages", "{\"key\":\"k\"," + members + "}"}).request_hash;
    };
    const std::pair<const char*, const char*> same[] = {
        {R"("body":"a","delay":"60s")", R"( "delay" : "1m", "body":"\u0061" )"},
        {R"("body":"a","delay_ms":0)", R"("body":"a")"},
        {R"("body":"a","due":"2027-01-01T06:00:00Z")", R"("body":"a","due":"2027-01-01T07:00:00+01:00")"},
        {R"("body":"a","headers":{"x":"1","y":"2"})", R"("headers":{"y":"2","x":"1"},"body":"a")"},
        {R"("body":"a","retry":{"attempts":3,"first":"60s"})", R"("body":"a","retry":{"first":"1m","attempts":3})"},
        {R"("json":{"a":[1,{"c":2,"b":null}],"d":"x"})", R"("json":{ "d":"\u0078", "a": [1, {"b":null,"c":2}] })"},
        {R"("body":"a","on_key":"keep")", R"("body":"a")"},
        {R"("body":"a","on_key":"replace","within":"5m")", R"("body":"a")"},
    };
    for (const auto& [left, right] : same) EXPECT_EQ(hash(left), hash(right)) << left << " and " << right;
    const std::pair<const char*, const char*> other[] = {
        {R"("body":"a","delay":"60s")", R"("body":"a","delay":"61s")"},
        {R"("body":"a","due":"2027-01-01T06:00:00Z")", R"("body":"a","due":"2027-01-01T06:00:01Z")"},
        {R"("json":[1,2])", R"("json":[2,1])"},
        {R"("json":{"a":1})", R"("json":{"a":1.0})"},
        {R"("json":9007199254740993)", R"("json":9007199254740992)"},
        {R"("json":"a")", R"("body":"a")"},
        {R"("body":"a","held":true)", R"("body":"a")"},
        {R"("body":"a","expires_in":"1h")", R"("body":"a","delay":"1h")"},
        {R"("body":"a","repeat":{"every":"1h"})", R"("body":"a","repeat":{"every":"1h","times":2})"},
    };
    for (const auto& [left, right] : other) EXPECT_NE(hash(left), hash(right)) << left << " and " << right;
}

TEST(MessageKey, a_put_says_what_happens_to_the_message_of_its_key) {
    const auto put = [](const std::string& members) {
        return command_of({"POST", "/v1/queues/q/messages", R"({"body":"")" + members + "}"});
    };
    const auto code = [&](const std::string& members) {
        const Result<Command> command = put(members);
        return command ? "taken" : std::string(name_of(command.error().code)) + " " + command.error().field;
    };
    const Result<Command> replace = put(R"(,"key":"k","on_key":"replace","within":"5m")");
    ASSERT_TRUE(replace);
    EXPECT_EQ(std::get<PutCommand>(*replace).on_key, OnKey::replace);
    EXPECT_EQ(std::get<PutCommand>(*replace).within_ms, 300'000);
    EXPECT_EQ(code(R"(,"key":"k","on_key":"once")"), "taken");
    EXPECT_EQ(code(R"(,"on_key":"keep")"), "missing_member key");
    EXPECT_EQ(code(R"(,"key":"k","on_key":"update")"), "out_of_range on_key");
    EXPECT_EQ(code(R"(,"key":"k","within":"5m")"), "conflicting_members within");
    EXPECT_EQ(code(R"(,"key":"k","on_key":"keep","within":"5m")"), "conflicting_members within");
    EXPECT_EQ(code(R"(,"key":"k","on_key":"replace","within":"0s")"), "out_of_range within");
    EXPECT_EQ(code(R"(,"key":"k","on_key":"replace","within":"366d")"), "out_of_range within");
    EXPECT_EQ(code(R"(,"key":"k","on_key":"replace","repeat":{"every":"1h"})"), "conflicting_members repeat");
    EXPECT_EQ(code(R"(,"key":"k","on_key":"replace","transaction":{"check_back":{"after":"1m"}})"),
              "conflicting_members transaction");
}

}  // namespace
}  // namespace duewheel::message_key_test
