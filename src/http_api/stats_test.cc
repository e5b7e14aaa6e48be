// The queues in /v1/stats: a limited number, however many there are.
#include <gtest/gtest.h>

#include "http_api/calls/call_fixture.h"

namespace duewheel::stats_test {
namespace {

// With 99,000 queues the answer had ten megabytes, and the shard's thread wrote it for 80 ms, each second for each
// `top`.
TEST(Stats, lists_the_first_queues_and_their_total_number) {
    ApiServer server;
    server.server().on_loop([&] {
        server.shard().levels.queues = 2000;
        for (int i = 0; i < 2000; ++i) server.shard().queue_levels.push_back({{"default", "q"}, 1, 0, 0, false});
    });
    const auto told = [&](const std::string& query) {
        const std::string answer = server.ask({"GET", "/v1/stats" + query});
        EXPECT_EQ(member_of(answer, "queue_count"), "2000");
        return boost::json::parse(body_of(answer)).at("queues").as_array().size();
    };
    EXPECT_EQ(told(""), 100u);
    EXPECT_EQ(told("?queues=0"), 0u);
    EXPECT_EQ(told("?queues=1000"), 1000u);
    for (const char* wrong : {"?queues=1001", "?queues=-1", "?queues=all", "?queues=1.5"}) {
        const std::string answer = server.ask({"GET", std::string("/v1/stats") + wrong});
        EXPECT_EQ(member_of(answer, "code"), "out_of_range") << wrong;
        EXPECT_EQ(member_of(answer, "field"), "queues") << wrong;
    }
}

}  // namespace
}  // namespace duewheel::stats_test
