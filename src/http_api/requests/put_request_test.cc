#include "http_api/requests/put_request.h"

#include <string>

#include <gtest/gtest.h>

#include "http_api/command_fixture.h"

namespace duewheel::put_request_test {
namespace {

// A tree would write 1.50 as 1.5, lose the second "a" and 9007199254740993, and sort what is in order.
TEST(PutRequest, json_is_kept_as_it_is_written) {
    const auto body = [](const std::string& request) {
        const Result<Command> command = command_of({"POST", "/v1/queues/q/messages", request});
        if (!command) return code_and_field(command.error());
        const PutCommand& put = std::get<PutCommand>(*command);
        return put.content_type + " " + put.body;
    };
    for (const std::string json : {R"({"z":1.50,"a":9007199254740993,"a":-0.0,"\u00e9":"\u0041å"})", "[1e400,\n\t{} ]",
                                   "null", "true", "-1E+2", R"("a \"text\"")", "{ }"}) {
        EXPECT_EQ(body(R"({"json":)" + json + "}"), "application/json " + json);
        EXPECT_EQ(body(R"({"delay" : "1s", "j\u0073on" :  )" + json + R"( , "headers":{"a":"b"}})"),
                  "application/json " + json);
        EXPECT_EQ(body(R"({"content_type":"application/json; charset=utf-8","json":)" + json + "}"),
                  "application/json; charset=utf-8 " + json);
    }
    std::string many = "[0";
    for (int i = 0; i < 20'000; ++i) many += ",{\"a\":[1]}";
    many += "]";
    EXPECT_EQ(body(R"({"json":)" + many + R"(,"key":"k"})"), "application/json " + many) << "it counts as one member";
    EXPECT_EQ(body(R"({"json":)" + std::string(31, '[') + std::string(31, ']') + "}").size(), 17u + 62u);
    EXPECT_EQ(body(R"({"json":)" + std::string(32, '[') + std::string(32, ']') + "}"), "too_deep ");
    EXPECT_EQ(body(R"({"json":{},"body":""})"), "conflicting_members json");
    EXPECT_EQ(body(R"({"body_base64":"","json":{}})"), "conflicting_members json");
    EXPECT_EQ(body(R"({"json":1,"json":2})"), "duplicate_member json");
    EXPECT_EQ(body(R"({"json":{},"content_type":"text/plain"})"), "conflicting_members content_type");
    EXPECT_EQ(body(R"({"json":{"a":1})"), "bad_json ");
    EXPECT_EQ(body(R"({"json":"{}","x":1})"), "unknown_member x");
    EXPECT_EQ(body(R"({"json":{"x":[{"y":1}]},"body":5})"), "conflicting_members json");
}

TEST(PutRequest, json_of_schedules_and_watchdogs_is_kept_too) {
    const std::string json = R"({"b":1.0, "a":[ 2 ]})";
    const Result<Command> schedule =
        command_of({"PUT", "/v1/schedules/s", R"({"queue":"q","every":"1h","json":)" + json + "}"});
    ASSERT_TRUE(schedule) << schedule.error().message;
    EXPECT_EQ(std::get<PutScheduleCommand>(*schedule).body, json);
    EXPECT_EQ(std::get<PutScheduleCommand>(*schedule).content_type, "application/json");
    const Result<Command> watchdog =
        command_of({"PUT", "/v1/watchdogs/w", R"({"queue":"q","timeout":"1h","json":)" + json + "}"});
    ASSERT_TRUE(watchdog) << watchdog.error().message;
    EXPECT_EQ(std::get<PutWatchdogCommand>(*watchdog).body, json);
    EXPECT_EQ(std::get<PutWatchdogCommand>(*watchdog).content_type, "application/json");
}

}  // namespace
}  // namespace duewheel::put_request_test
