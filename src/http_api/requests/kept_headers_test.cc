// Headers are returned as the put stored them.
#include "http_api/requests/kept_headers.h"

#include <gtest/gtest.h>

#include "http_api/calls/call_fixture.h"
#include "http_api/request_command.h"

namespace duewheel::kept_headers_test {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

TEST(KeptHeaders, come_back_as_they_were_put) {
    const CallRequest request({"POST", "/v1/queues/q/messages",
                               R"({"body": "", "headers": {"X-A": "b \"c\" \\ \u00e9\t", "x-b": "", "!#$": "1"}})"});
    const Result<Command> put = read_command(request.request(), *find_call(request.request()), {});
    ASSERT_TRUE(put.ok()) << put.error().message;
    EXPECT_EQ(read_kept_headers(std::get<PutCommand>(*put).headers),
              (Fields{{"X-A", "b \"c\" \\ \xc3\xa9\t"}, {"x-b", ""}, {"!#$", "1"}}));
}

TEST(KeptHeaders, as_many_as_a_message_may_have) {
    std::string kept;
    for (int i = 0; i < 1'000; ++i) kept += (i == 0 ? "{\"h" : ",\"h") + std::to_string(i) + "\":\"v\"";
    EXPECT_EQ(read_kept_headers(kept + "}").size(), 1'000u);
}

TEST(KeptHeaders, of_other_bytes_there_are_none) {
    for (const char* kept : {"", "x", "[]", "5", R"({"a":1})"}) EXPECT_TRUE(read_kept_headers(kept).empty()) << kept;
}

}  // namespace
}  // namespace duewheel::kept_headers_test
