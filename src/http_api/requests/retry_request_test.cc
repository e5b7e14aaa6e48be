// The retry rule of a request; errors name the member.
#include "http_api/requests/retry_request.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::retry_request_test {
namespace {

std::string told(const Result<RetryChoice>& choice) {
    return choice ? "understood" : std::string(name_of(choice.error().code)) + " " + choice.error().field;
}

Result<RetryChoice> retry_of(const JsonRequest& request) {
    RetryChoice choice;
    if (Status read = read_retry(request, choice); !read) return std::move(read).error();
    return choice;
}

// The result for {"retry": ...}.
std::string told_of(const std::string& json) {
    const std::string body = "{\"retry\":" + json + "}";
    const Result<JsonRequest> request = JsonRequest::parse(body);
    return request ? told(retry_of(*request)) : "no JSON";
}

TEST(RetryRequest, reads_what_is_given_and_leaves_the_rest_open) {
    const Result<JsonRequest> request = JsonRequest::parse(
        R"({"retry":{"attempts":5,"first":"1s","factor":1.25,"max":"1h","jitter":2e-1},"delay_ms":1})");
    const RetryChoice wanted{5, 1'000, 1'250, 3'600'000, 200};
    ASSERT_TRUE(request);
    EXPECT_EQ(*retry_of(*request), wanted);
    EXPECT_EQ(*retry_of(*JsonRequest::parse(R"({"retry":{"attempts":5}})")), (RetryChoice{5, {}, {}, {}, {}}));
    EXPECT_TRUE(retry_of(*JsonRequest::parse("{}"))->is_empty());
    EXPECT_TRUE(retry_of(*JsonRequest::parse(R"({"retry":{}})"))->is_empty());
}

TEST(RetryRequest, what_is_wrong_is_named) {
    EXPECT_EQ(told_of("5"), "wrong_type retry");
    EXPECT_EQ(told_of("null"), "wrong_type retry");
    EXPECT_EQ(told_of("[1]"), "wrong_type retry");
    EXPECT_EQ(told_of(R"({"tries":5})"), "unknown_member retry.tries");
    EXPECT_EQ(told_of(R"({"attempts":5,"attempts":5})"), "duplicate_member retry.attempts");
    EXPECT_EQ(told_of(R"({"attempts":1.5})"), "wrong_type retry.attempts");
    EXPECT_EQ(told_of(R"({"attempts":"5"})"), "wrong_type retry.attempts");
    EXPECT_EQ(told_of(R"({"attempts":{"max":5}})"), "wrong_type retry.attempts");
    EXPECT_EQ(told_of(R"({"first":"1 fortnight"})"), "bad_duration retry.first");
    EXPECT_EQ(told_of(R"({"max_ms":-1})"), "negative_duration retry.max_ms");
    EXPECT_EQ(told_of(R"({"factor":1.2345})"), "wrong_type retry.factor");
    EXPECT_EQ(told_of(R"({"jitter":true})"), "wrong_type retry.jitter");
    EXPECT_EQ(told_of(R"({"jitter":-0.1})"), "understood") << "its range is judged with the rest of the rule";
}

}  // namespace
}  // namespace duewheel::retry_request_test
