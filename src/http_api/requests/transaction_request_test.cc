// The transaction of a put; errors name the member.
#include "http_api/requests/transaction_request.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/calls/call_fixture.h"
#include "http_api/request_command.h"

namespace duewheel::transaction_request_test {
namespace {

const HttpApiOptions kOptions;

std::string told(const Result<TransactionRule>& rule) {
    if (!rule) return std::string(name_of(rule.error().code)) + " " + rule.error().field;
    return rule->check_queue + " " + std::to_string(rule->check_after_ms) + " " + std::to_string(rule->check_times) +
           (rule->otherwise_commit ? " commit" : " rollback");
}

// The result for {"transaction": ...}.
std::string told_of(const std::string& json) {
    const std::string body = "{\"transaction\":" + json + "}";
    const Result<JsonRequest> request = JsonRequest::parse(body);
    if (!request) return "no JSON";
    const Result<std::optional<TransactionRule>> read = read_transaction(*request, kOptions);
    if (!read) return told(Result<TransactionRule>(read.error()));
    return *read ? told(**read) : "none";
}

TEST(TransactionRequest, reads_what_is_given_and_fills_in_the_rest) {
    EXPECT_EQ(told_of(R"({"check_back":{"queue":"checks","after":"1m","times":3},"otherwise":"commit"})"),
              "checks 60000 3 commit");
    EXPECT_EQ(told_of(R"({"check_back":{"after_ms":250}})"), " 250 0 rollback");
    EXPECT_EQ(told_of(R"({"check_back":{"queue":"prüfen","after":"1m"}})"), "prüfen 60000 5 rollback");
    EXPECT_EQ(told_of(R"({"check_back":{"after":"1s","queue":"c"},"otherwise":"rollback"})"), "c 1000 5 rollback");
    EXPECT_FALSE(read_transaction(*JsonRequest::parse("{}"), kOptions)->has_value());
}

TEST(TransactionRequest, what_is_wrong_is_named) {
    EXPECT_EQ(told_of("{}"), "missing_member transaction.check_back.after");
    EXPECT_EQ(told_of(R"({"check_back":{}})"), "missing_member transaction.check_back.after");
    EXPECT_EQ(told_of("1"), "wrong_type transaction");
    EXPECT_EQ(told_of(R"({"check_back":"1m"})"), "wrong_type transaction.check_back");
    EXPECT_EQ(told_of(R"({"check_back":{"after":[1]}})"), "wrong_type transaction.check_back.after");
    EXPECT_EQ(told_of(R"({"check_back":{"after_ms":-1}})"), "negative_duration transaction.check_back.after_ms");
    EXPECT_EQ(told_of(R"({"check_back":{"after":"soon"}})"), "bad_duration transaction.check_back.after");
    EXPECT_EQ(told_of(R"({"check_back":{"after_ms":1,"queue":"-q"}})"), "bad_queue_name transaction.check_back.queue");
    EXPECT_EQ(told_of(R"({"check_back":{"after_ms":1,"queue":""}})"), "bad_queue_name transaction.check_back.queue");
    EXPECT_EQ(told_of(R"({"check_back":{"after_ms":1,"times":0.5}})"), "wrong_type transaction.check_back.times");
    EXPECT_EQ(told_of(R"({"check_back":{"after_ms":1},"otherwise":"forget"})"), "bad_policy transaction.otherwise");
    EXPECT_EQ(told_of(R"({"check_back":{"after_ms":1},"else":"commit"})"), "unknown_member transaction.else");
    EXPECT_EQ(told_of(R"({"check_back":{"after_ms":1,"webhook":"http://x"}})"),
              "unknown_member transaction.check_back.webhook");
    EXPECT_EQ(told_of(R"({"check_back":{"after_ms":1,"after_ms":2}})"),
              "duplicate_member transaction.check_back.after_ms");
}

// What the type cannot hold is refused, not cut to something that the engine takes.
TEST(TransactionRequest, numbers_that_no_rule_can_have_are_out_of_range) {
    for (const char* times : {"-1", "0", "4294967297"}) {
        const std::string rule = R"({"check_back":{"after_ms":1,"queue":"c","times":)" + std::string(times) + "}}";
        EXPECT_EQ(told_of(rule), "out_of_range transaction.check_back.times");
    }
}

TEST(TransactionRequest, a_put_takes_it) {
    ApiServer server;
    const std::string json = R"({"body":"x","transaction":{"check_back":{"queue":"c","after":"1s"}}})";
    static_cast<void>(server.ask({"POST", "/v1/queues/q/messages", json}, PutAnswer{1024, State::prepared, 5}));
    EXPECT_TRUE(server.command().ends_with(" transaction=c,1000,5,rollback")) << server.command();
}

TEST(TransactionRequest, commit_and_rollback_are_calls_of_a_message) {
    ApiServer server;
    const std::string yes = server.ask({"POST", "/v1/messages/1024:commit"}, SettleAnswer{1024, true});
    EXPECT_EQ(server.command(), "commit default 1024");
    EXPECT_EQ(member_of(yes, "outcome"), "committed");
    EXPECT_EQ(member_of(yes, "id"), "1024");
    const std::string no =
        server.ask({"POST", "/v1/namespaces/team/messages/1024:rollback", "{}"}, SettleAnswer{1024, false});
    EXPECT_EQ(server.command(), "rollback team 1024");
    EXPECT_EQ(member_of(no, "outcome"), "rolled_back");
    for (const ErrorCode code : {"already_committed"_code, "already_rolled_back"_code, "not_transactional"_code}) {
        const std::string call =
            std::string("/v1/messages/1024") + (code == "already_committed"_code ? ":rollback" : ":commit");
        EXPECT_EQ(member_of(server.ask({"POST", call}, Error{code, "No."}), "status"), "409") << code;
    }
    EXPECT_EQ(member_of(server.ask({"POST", "/v1/messages/x:commit"}), "code"), "bad_id");
    EXPECT_EQ(member_of(server.ask({"POST", "/v1/messages/1024:commit", R"({"force":true})"}), "code"),
              "unknown_member");
    EXPECT_EQ(member_of(server.ask({"GET", "/v1/messages/1024:commit"}), "code"), "method_not_allowed");
}

TEST(TransactionRequest, a_prepared_message_and_a_check_are_shown_as_such) {
    ApiServer server;
    MessageAnswer half;
    half.row.id = 1024;
    half.row.state.queue = "q";
    half.row.state.state = State::prepared;
    half.row.state.transaction = MessageState::kOpen + 2;
    half.row.state.due_ms = 9'000;
    half.row.state.nominal_due_ms = 5'000;
    half.transaction = TransactionRule{"checks", 4'000, 3, true};
    half.has_content = true;
    const std::string told = server.ask({"GET", "/v1/messages/1024"}, half);
    EXPECT_EQ(member_of(told, "due_ms"), "5000");
    EXPECT_EQ(member_of(told, "answer_by_ms"), "9000");
    EXPECT_EQ(member_of(told, "checks"), "2");
    EXPECT_EQ(member_of(told, "nominal_due_ms"), "");
    EXPECT_EQ(member_of(told, "transaction"),
              R"({"check_back":{"queue":"checks","after_ms":4000,"times":3},"otherwise":"commit"})");
    LeaseAnswer lease;
    lease.queue = "checks";
    Delivered check;
    check.id = 2048;
    check.parent = 1024;
    check.occurrence = 2;
    check.attempt = 1;
    check.check = half.transaction;
    lease.messages.push_back(check);
    const std::string messages = member_of(server.ask({"POST", "/v1/queues/checks:lease"}, lease), "messages");
    EXPECT_NE(messages.find(R"("check":{"message":"1024","number":2,"times":3,"otherwise":"commit"})"),
              std::string::npos)
        << messages;
    EXPECT_EQ(messages.find("parent"), std::string::npos);
    EXPECT_NE(messages.find(R"("occurrence":0)"), std::string::npos);
}

}  // namespace
}  // namespace duewheel::transaction_request_test
