// Rules of HTTP that apply to every request: codings of the body, and allowed methods and targets.
#include <gtest/gtest.h>

#include "http_api/calls/call_fixture.h"

namespace duewheel::http_semantics_test {
namespace {

const std::string kLease = lease_text({1024, 1, 2, 3});
const std::string kPut = "/v1/queues/q/messages";
const std::string kTake = "/v1/queues/q:lease";

// A raw body that was sent as gzip was accepted, and came to its consumer without a word of it; JSON that was said to
// be packed was read as if it were not.
TEST(HttpSemantics, a_body_with_a_content_coding_is_refused_whatever_it_is) {
    ApiServer server;
    for (const std::string coding : {"gzip", "br", "identity, gzip", "x", " Deflate ,", "identity;q=1"}) {
        const std::vector<std::pair<std::string, std::string>> packed{{"Content-Encoding", coding}};
        for (const Call& call :
             {Call{"POST", kPut, "\x1f\x8b", "image/png", packed}, Call{"POST", kPut, R"({"body":""})", "", packed},
              Call{"POST", kPut + ":batch", "{}", "application/x-ndjson", packed},
              Call{"POST", kTake, "{}", "", packed}, Call{"PATCH", "/v1/messages/1", R"({"delay_ms":1})", "", packed},
              Call{"POST", "/v1/leases/" + kLease + ":ack", "", "", packed}}) {
            const std::string answer = server.ask(call);
            EXPECT_EQ(status_of(answer), 415) << call.method << " " << call.target << " " << coding;
            EXPECT_EQ(member_of(answer, "code"), "unsupported_content_coding");
            EXPECT_EQ(member_of(answer, "field"), "Content-Encoding");
            EXPECT_NE(answer.find("\r\nAccept-Encoding: identity\r\n"), std::string::npos);
            EXPECT_EQ(server.command(), "");
        }
    }
    for (const std::string coding : {"identity", " Identity , identity", ""}) {
        server.ask({"POST", kPut, "x", "image/png", {{"Content-Encoding", coding}}});
        EXPECT_NE(server.command(), "") << coding;
    }
}

TEST(HttpSemantics, options_of_the_server_returns_the_methods) {
    ApiServer server;
    const std::string answer = server.ask({"OPTIONS", "*"});
    EXPECT_EQ(status_of(answer), 204);
    EXPECT_NE(answer.find("\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n"), std::string::npos) << answer;
    EXPECT_EQ(answer.find("Content-Length"), std::string::npos);
    EXPECT_EQ(server.command(), "");
}

}  // namespace
}  // namespace duewheel::http_semantics_test
