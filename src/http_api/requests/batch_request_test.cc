// Requests with many parts: how they are parsed, and how their results are combined.
#include "http_api/requests/batch_request.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/calls/call_fixture.h"

namespace duewheel::batch_request_test {
namespace {

const std::string kPuts = "/v1/queues/q/messages:batch";
const std::string kNdjson = "application/x-ndjson";

std::string token_text(std::uint64_t id) {
    return lease_text({id, 1, 2, 3});
}

Call puts(const std::string& body, std::vector<std::pair<std::string, std::string>> fields = {}) {
    return {"POST", kPuts, body, kNdjson, std::move(fields)};
}

PutAnswer put_answer(MessageId id, bool repeated = false) {
    return {id, State::scheduled, 1'798'783'200'000, repeated};
}

TEST(BatchRequest, lines_become_one_command_and_are_answered_in_order) {
    ApiServer server;
    PutBatchAnswer reply;
    reply.results = {put_answer(1024), Error{"delay_too_long"_code, "too far", "delay"}, put_answer(2048, true)};
    const std::string answer = server.ask(
        puts("{\"body\":\"a\",\"delay_ms\":5}\r\n{\"body\":7}\r\n{\"body\":\"b\"}\n\n{\"body\":\"\",\"key\":\"k\"}"),
        reply);
    EXPECT_EQ(server.command(),
              "batch\nput default q delay=5 priority=0 body=a type= headers= trace=\n"
              "put default q delay=0 priority=0 body=b type= headers= trace=\n"
              "put default q delay=0 priority=0 body= type= headers= trace= key=k");
    EXPECT_EQ(status_of(answer), 200);
    EXPECT_NE(answer.find("\r\nContent-Type: application/x-ndjson\r\n"), std::string::npos);
    const std::string due = R"("due":"2027-01-01T06:00:00.000Z","due_ms":1798783200000})";
    std::vector<std::string> lines;
    std::string body(body_of(answer));
    for (std::size_t end; (end = body.find('\n')) != std::string::npos; body.erase(0, end + 1)) {
        lines.push_back(body.substr(0, end));
    }
    EXPECT_EQ(body, "");
    ASSERT_EQ(lines.size(), 5u);
    EXPECT_EQ(lines[0], R"({"status":201,"id":"1024","state":"scheduled",)" + due);
    EXPECT_NE(lines[1].find(R"("status":400,"code":"wrong_type")"), std::string::npos) << lines[1];
    EXPECT_NE(lines[2].find(R"("status":400,"code":"delay_too_long")"), std::string::npos) << lines[2];
    EXPECT_NE(lines[3].find(R"("code":"bad_json")"), std::string::npos) << lines[3];
    EXPECT_EQ(lines[4], R"({"status":200,"id":"2048","state":"scheduled",)" + due);
}

// Whatever line of a batch was no JSON, its problem said "at line 1"; and a line of blanks was incomplete JSON, where
// an empty one was called empty.
TEST(BatchRequest, a_line_that_is_not_json_is_reported_with_its_number) {
    ApiServer server;
    PutBatchAnswer reply;
    reply.results = {put_answer(1024)};
    const std::string answer = server.ask(puts("{\"body\":\"\"}\n{\"body\":}\n\n \t\n{"), reply);
    EXPECT_NE(answer.find("at line 2, column 9\""), std::string::npos) << answer;
    EXPECT_NE(answer.find("\"line 3 is empty: each"), std::string::npos) << answer;
    EXPECT_NE(answer.find("\"line 4 is empty: each"), std::string::npos) << answer;
    EXPECT_NE(answer.find("at line 5, column 2\""), std::string::npos) << answer;
}

// The hash that distinguishes a repeated key from another message included the carriage return of a line that ended
// with CR LF: the same lines sent again with only LF were refused with key_conflict. Fuzzing found it.
TEST(BatchRequest, line_endings_are_not_part_of_the_message) {
    CallPath path;
    path.what = CallPath::What::put_batch;
    path.name = "q";
    HttpRequest request;
    request.method = "POST";
    request.fields = {{"Content-Type", kNdjson}};
    const std::string body =
        "{\"body\":\"\",\"key\":\"k\"}\r\n{\"body\":\"\",\"key\":\"k\"}\n{\"body\":\"\",\"key\":\"k\"}\r";
    request.body = body;
    const Result<BatchRequest> batch = read_batch(request, path, {});
    ASSERT_TRUE(batch);
    const std::vector<PutCommand>& puts = std::get<PutBatchCommand>(batch->command.value()).puts;
    ASSERT_EQ(puts.size(), 3u);
    EXPECT_EQ(puts[0].request_hash, puts[1].request_hash);
    EXPECT_EQ(puts[2].request_hash, puts[1].request_hash);
}

TEST(BatchRequest, a_batch_refused_as_a_whole_is_one_problem) {
    ApiServer server;
    const std::string answer = server.ask(puts("{\"body\":\"\"}\n{}\n"), Error{"too_busy"_code, "try again"});
    EXPECT_EQ(status_of(answer), 503);
    EXPECT_EQ(member_of(answer, "code"), "too_busy");
}

TEST(BatchRequest, a_batch_without_valid_lines_does_not_reach_the_engine) {
    ApiServer server;
    EXPECT_EQ(status_of(server.ask(puts("nonsense\n"))), 200);
    EXPECT_EQ(server.command(), "");
    EXPECT_EQ(body_of(server.ask(puts(""))), "");
    EXPECT_EQ(body_of(server.ask({"POST", "/v1/leases:ack", R"({"leases":[]})"})), R"({"results":[]})");
}

TEST(BatchRequest, limits_hold_at_their_value_and_refuse_beyond_it) {
    ApiServer server({.batch_max = 3});
    PutBatchAnswer reply;
    reply.results = {put_answer(1024), put_answer(2048), put_answer(3072)};
    EXPECT_EQ(status_of(server.ask(puts("{\"body\":\"\"}\n{\"body\":\"\"}\n{\"body\":\"\"}\n"), reply)), 200);
    EXPECT_EQ(member_of(server.ask(puts("{\"body\":\"\"}\n{}\n{}\n{}")), "code"), "batch_too_large");
    EXPECT_EQ(server.command(), "");
    std::string four = token_text(1);
    for (std::uint64_t id = 2; id <= 4; ++id) four += "\",\"" + token_text(id);
    const std::string answer = server.ask({"POST", "/v1/leases:ack", "{\"leases\":[\"" + four + "\"]}"});
    EXPECT_EQ(status_of(answer), 413);
    EXPECT_EQ(server.command(), "");
}

TEST(BatchRequest, refuses_fields_that_have_no_meaning) {
    ApiServer server;
    const auto code = [&](const Call& call) {
        const std::string answer = server.ask(call);
        EXPECT_EQ(server.command(), "");
        return member_of(answer, "code") + " " + member_of(answer, "field");
    };
    EXPECT_EQ(code({"POST", kPuts, "{}", "application/json"}), "unsupported_media_type Content-Type");
    EXPECT_EQ(code(puts("{}", {{"Idempotency-Key", "k"}})), "unknown_member Idempotency-Key");
    EXPECT_EQ(code(puts("{}", {{"Duewheel-Delay", "1s"}})), "unknown_member Duewheel-Delay");
    EXPECT_EQ(code(puts("{}", {{"X-Duewheel-Delay", "1s"}})), "unknown_member X-Duewheel-Delay");
    EXPECT_EQ(code({"POST", kPuts + "?x", "{}", kNdjson}), "unknown_parameter ");
    EXPECT_EQ(code({"POST", "/v1/queues/-/messages:batch", "{}", kNdjson}), "bad_queue_name queue");
    EXPECT_EQ(code({"POST", "/v1/leases:ack", "{}"}), "missing_member leases");
    EXPECT_EQ(code({"POST", "/v1/leases:ack", R"({"leases":"x"})"}), "wrong_type leases");
    EXPECT_EQ(code({"POST", "/v1/leases:ack", R"({"leases":["x",7]})"}), "wrong_type leases[1]");
    EXPECT_EQ(code({"POST", "/v1/leases:ack", R"({"leases":[["x"]]})"}), "wrong_type leases[0]");
    EXPECT_EQ(code({"POST", "/v1/leases:ack", R"({"leases":[],"reason":"x"})"}), "unknown_member reason");
    EXPECT_EQ(code({"POST", "/v1/leases:extend", R"({"leases":[],"lease":"x"})"}), "bad_duration lease");
}

TEST(BatchRequest, each_lease_is_a_command_and_a_result_of_its_own) {
    ApiServer server;
    const std::string body = "{\"leases\":[\"" + token_text(1024) + "\",\"nonsense\",\"" + token_text(2048) +
                             "\"],\"reason\":\"broken\",\"retry_in\":\"2s\"}";
    const std::string answer =
        server.ask({"POST", "/v1/leases:fail", body}, LeaseEndAnswer{LeaseOutcome::retrying, 1'798'783'200'000, 0});
    std::vector<std::string> commands;
    server.server().on_loop([&] {
        for (const auto& [command, token] : server.shard().submitted) commands.push_back(command);
    });
    ASSERT_EQ(commands.size(), 2u);
    EXPECT_EQ(commands[0], "fail " + token_text(1024) + " reason=broken retry_in=2000");
    EXPECT_EQ(commands[1], "fail " + token_text(2048) + " reason=broken retry_in=2000");
    EXPECT_EQ(status_of(answer), 200);
    const std::string one =
        R"({"status":200,"outcome":"retrying","due":"2027-01-01T06:00:00.000Z","due_ms":1798783200000})";
    const std::string text(body_of(answer));
    EXPECT_EQ(text.rfind(R"({"results":[)" + one + R"(,{"type":"/docs/errors#bad_lease_token")", 0), 0u) << text;
    EXPECT_NE(text.find(R"("code":"bad_lease_token")"), std::string::npos);
    EXPECT_NE(text.find(R"("field":"leases[1]"},)" + one + "]}"), std::string::npos) << text;
    EXPECT_EQ(server.api().waiting(), 0u);
}

// A worker that returned results had to send each ack alone.
TEST(BatchRequest, a_lease_can_have_members_of_its_own) {
    ApiServer server;
    const std::string body = R"({"leases":[{"token":")" + token_text(1024) + R"(","result":{"n":[1,{"m":2}]}},")" +
                             token_text(2048) + R"(",{"token":")" + token_text(3072) + R"("}],"result":7})";
    const std::string answer = server.ask({"POST", "/v1/leases:ack", body}, LeaseEndAnswer{LeaseOutcome::done, 0, 0});
    EXPECT_EQ(status_of(answer), 200);
    std::vector<std::string> commands;
    server.server().on_loop([&] {
        for (const auto& [command, token] : server.shard().submitted) commands.push_back(command);
    });
    EXPECT_EQ(commands, (std::vector<std::string>{"ack " + token_text(1024) + R"( result={"n":[1,{"m":2}]})",
                                                  "ack " + token_text(2048) + " result=7",
                                                  "ack " + token_text(3072) + " result=7"}));
}

TEST(BatchRequest, a_lease_whose_members_are_wrong_is_refused_alone) {
    ApiServer server;
    const std::string good = token_text(1024);
    const auto refused = [&](const std::string& verb, const std::string& each) {
        const std::string answer =
            server.ask({"POST", "/v1/leases:" + verb, "{\"leases\":[\"" + good + "\"," + each + "]}"},
                       LeaseEndAnswer{LeaseOutcome::done, 0, 0});
        EXPECT_EQ(status_of(answer), 200) << answer;
        EXPECT_NE(answer.find(R"({"results":[{"status":200,)"), std::string::npos) << answer;
        const std::size_t start = answer.find(R"({"type")");
        const std::string problem = "\r\n\r\n" + answer.substr(start, answer.rfind("]}") - start);
        return member_of(problem, "code") + " " + member_of(problem, "field");
    };
    EXPECT_EQ(refused("ack", "{}"), "missing_member leases[1].token");
    EXPECT_EQ(refused("ack", R"({"token":7})"), "wrong_type leases[1].token");
    EXPECT_EQ(refused("ack", R"({"token":"x"})"), "bad_lease_token leases[1].token");
    EXPECT_EQ(refused("ack", R"({"token":")" + good + R"(","dead":true})"), "unknown_member leases[1].dead");
    EXPECT_EQ(refused("fail", R"({"token":")" + good + R"(","dead":true,"retry_in":"1s"})"),
              "conflicting_members leases[1].retry_in");
    EXPECT_EQ(refused("extend", R"({"token":")" + good + R"(","progress":2})"), "bad_progress leases[1].progress");
}

// An ack of a lease that had ended was one of the successes.
TEST(BatchRequest, each_result_has_a_status_of_its_own) {
    ApiServer server;
    const std::string body = "{\"leases\":[\"" + token_text(1024) + "\"]}";
    const std::string done = server.ask({"POST", "/v1/leases:ack", body}, LeaseEndAnswer{LeaseOutcome::done, 0, 0});
    EXPECT_EQ(body_of(done), R"({"results":[{"status":200,"outcome":"done"}]})");
    const std::string late = server.ask({"POST", "/v1/leases:ack", body}, LeaseEndAnswer{LeaseOutcome::expired, 0, 0});
    EXPECT_EQ(status_of(late), 200);
    EXPECT_NE(late.find(R"("status":409,"code":"lease_ended",)"), std::string::npos) << late;
    EXPECT_NE(late.find(R"(,"outcome":"expired"}]})"), std::string::npos) << late;
}

// A token that only the server finds to be forged was named `lease`, one that is none by its place.
TEST(BatchRequest, a_refused_lease_is_named_by_its_position) {
    ApiServer server;
    const std::string body = "{\"leases\":[\"nonsense\",\"" + token_text(1024) + "\"]}";
    const std::string answer =
        server.ask({"POST", "/v1/leases:ack", body}, Error{"bad_lease_token"_code, "forged", "lease"});
    EXPECT_NE(answer.find(R"("field":"leases[0]")"), std::string::npos) << answer;
    EXPECT_NE(answer.find(R"("field":"leases[1]")"), std::string::npos) << answer;
}

// A trace that was given twice was dropped from a put, and from a batch the first was kept.
TEST(BatchRequest, a_trace_given_once_applies_to_all_puts) {
    const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    ApiServer once;
    static_cast<void>(once.ask(puts(R"({"body":""})", {{"traceparent", trace}}), PutBatchAnswer{{put_answer(1024)}}));
    EXPECT_NE(once.command().find("trace=" + trace), std::string::npos) << once.command();
    ApiServer twice;
    static_cast<void>(twice.ask(puts(R"({"body":""})", {{"traceparent", trace}, {"traceparent", trace}}),
                                PutBatchAnswer{{put_answer(1024)}}));
    EXPECT_EQ(twice.command().find(trace), std::string::npos) << twice.command();
}

// Ends of many leases once took whatever stood in their path for a namespace, where an end of one refused it.
TEST(BatchRequest, ends_of_leases_need_a_valid_namespace) {
    ApiServer server;
    const std::string body = R"({"leases":[]})";
    for (const char* verb : {"ack", "fail", "extend", "release"}) {
        const auto refused = [&](const std::string& name_space) {
            return member_of(server.ask({"POST", "/v1/namespaces/" + name_space + "/leases:" + verb, body}), "code");
        };
        EXPECT_EQ(refused("-n"), "bad_namespace") << verb;
        EXPECT_EQ(refused("%zz"), "bad_path") << verb;
        EXPECT_EQ(refused("team"), "") << verb;
    }
}

}  // namespace
}  // namespace duewheel::batch_request_test
