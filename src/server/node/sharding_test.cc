#include "server/node/sharding.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::sharding_test {
namespace {

std::string field_of(const Sharding& sharding, bool is_replicated) {
    const Status checked = check_sharding(sharding, is_replicated);
    if (checked) return "";
    EXPECT_EQ(checked.error().code, "bad_shard_setting"_code);
    return checked.error().field;
}

TEST(Sharding, settings_that_make_no_sense_are_refused_by_name) {
    const std::vector<std::string> two = {"http://a:1", "https://[::1]:2"};
    EXPECT_EQ(field_of({}, false), "");
    EXPECT_EQ(field_of({}, true), "");
    EXPECT_EQ(field_of({.number = 1, .count = 2, .urls = {}}, true), "");
    EXPECT_EQ(field_of({.number = 1, .count = 2, .urls = two}, false), "");
    EXPECT_EQ(field_of({.number = 2, .count = 2, .urls = two}, false), "shards.number");
    EXPECT_EQ(field_of({.number = 1, .count = 1, .urls = {}}, false), "shards.number");
    EXPECT_EQ(field_of({.number = 1, .count = 2, .urls = {}}, false), "shards.urls");
    EXPECT_EQ(field_of({.number = 1, .count = 3, .urls = two}, false), "shards.urls");
    EXPECT_EQ(field_of({.number = 1, .count = 2, .urls = two}, true), "shards.urls");
    EXPECT_EQ(field_of({.number = 0, .count = 1, .urls = {"http://a:1"}}, false), "shards.urls");
    EXPECT_EQ(field_of({.number = 0, .count = 2, .urls = {"http://a:1", "node2"}}, false), "shards.urls");
}

TEST(Sharding, a_node_is_named_by_scheme_host_and_port) {
    for (const char* url : {"http://a", "https://node-1.example.org:7420", "http://127.0.0.1:1", "http://[::1]:1"}) {
        EXPECT_TRUE(is_node_url(url)) << url;
    }
    for (const std::string url : {"", "http://", "a:1", "ftp://a", "http://a/", "http://a/b", "http://u@a",
                                  "http://a?b", "http://a#b", "http://a\r\nX: y", "http://a b"}) {
        EXPECT_FALSE(is_node_url(url)) << url;
    }
    EXPECT_FALSE(is_node_url("http://" + std::string(3'000, 'a')));
}

}  // namespace
}  // namespace duewheel::sharding_test
