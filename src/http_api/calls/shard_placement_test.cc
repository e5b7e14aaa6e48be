#include "http_api/calls/shard_placement.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "http_api/answers/lease_text.h"
#include "http_api/calls/call_fixture.h"
#include "message/message.h"

namespace duewheel::shard_placement_test {
namespace {

// Part of the contract: clients may compute it, and a namespace stays where it is for ever.
TEST(ShardPlacement, the_shard_of_a_name_is_its_hash_modulo_the_number_of_shards) {
    const std::map<std::string, std::uint64_t> hashes = {
        {"default", 0x6c5b964d9473ac1a}, {"orders", 0xa88ccdc9fa4974fb}, {"payments", 0x9dc28a75cb77b43d}};
    for (const auto& [name, hash] : hashes) {
        for (const std::uint32_t shards : {1u, 2u, 3u, 8u, 1024u}) {
            EXPECT_EQ(shard_of_namespace(name, shards), hash % shards) << name << " of " << shards;
        }
    }
}

TEST(ShardPlacement, spreads_names_evenly) {
    constexpr std::uint32_t kShards = 8;
    std::map<std::uint32_t, int> found;
    for (int i = 0; i < 8'000; ++i) ++found[shard_of_namespace("tenant-" + std::to_string(i), kShards)];
    ASSERT_EQ(found.size(), kShards);
    for (const auto& [shard, count] : found) EXPECT_NEAR(count, 1'000, 150) << shard;
}

TEST(ShardPlacement, each_shard_has_a_namespace_for_its_input_topics) {
    EXPECT_EQ(input_namespace(0, 1), "kafka");
    EXPECT_EQ(input_namespace(3, 8), "kafka-3");
    for (std::uint32_t shard = 0; shard < 8; ++shard) {
        EXPECT_EQ(shard_of_namespace(input_namespace(shard, 8), 8), shard);
    }
    // Others with such a name are placed as every name is.
    bool is_elsewhere = false;
    for (const std::string name : {"kafka-8", "kafka-08", "kafka-", "kafka-1x", "kafka-99999999999", "kafka- 1"}) {
        const std::uint32_t shard = shard_of_namespace(name, 8);
        EXPECT_LT(shard, 8u);
        is_elsewhere = is_elsewhere || shard != 1;
    }
    EXPECT_TRUE(is_elsewhere);
}

// The shard of a call in `shards`, or "any".
std::string shard_of(const Call& call, std::uint32_t shards) {
    CallRequest request(call);
    const std::optional<CallPath> path = find_call(request.request());
    if (!path) return "no call";
    const auto shard = shard_of_request(request.request(), *path, shards);
    return shard ? std::to_string(*shard) : "any";
}

TEST(ShardPlacement, calls_on_a_namespace_are_for_its_shard) {
    const std::string of_default = std::to_string(shard_of_namespace("default", 3));
    for (const std::string path :
         {"/v1/queues/q/messages", "/v1/queues/q:lease", "/v1/queues/q", "/v1/queues", "/v1/messages/1024",
          "/v1/messages/1024:fire", "/v1/messages?queue=q&key=k", "/v1/schedules/s", "/v1/schedules",
          "/v1/watchdogs/w:feed", "/v1/watchdogs", "/v1/history", "/v1/forecast?queue=q", "/v1/namespaces/default"}) {
        EXPECT_EQ(shard_of({"POST", path}, 3), of_default) << path;
        EXPECT_EQ(shard_of({"POST", path}, 1), "0") << path;
        if (path.starts_with("/v1/namespaces")) continue;
        for (const std::string name : {"a", "b", "c", "d", "a/b"}) {
            const std::string other = "/v1/namespaces/" + percent_encode(name) + path.substr(3);
            EXPECT_EQ(shard_of({"POST", other}, 3), std::to_string(shard_of_namespace(name, 3))) << other;
        }
    }
}

TEST(ShardPlacement, a_lease_is_where_its_message_is) {
    const std::string token = lease_text({.id = 5 * kShardsMax + 2, .attempt = 1, .incarnation = 1, .code = 7});
    const std::string other = lease_text({.id = 5 * kShardsMax + 1, .attempt = 1, .incarnation = 1, .code = 7});
    for (const std::string verb : {"ack", "fail", "extend", "release", "hold"}) {
        EXPECT_EQ(shard_of({"POST", "/v1/leases/" + token + ":" + verb}, 3), "2") << verb;
        EXPECT_EQ(shard_of({"POST", "/v1/namespaces/a/leases/" + token + ":" + verb}, 3), "2") << verb;
    }
    for (const std::string verb : {"ack", "fail", "extend", "release"}) {
        const std::string path = "/v1/leases:" + verb;
        EXPECT_EQ(shard_of({"POST", path, R"({"leases":[")" + token + R"(",")" + other + R"("]})"}, 3), "2");
        EXPECT_EQ(shard_of({"POST", path, R"({"x":1, "leases" : [ {"reason":"r", "token": ")" + other + R"("} ]})"}, 3),
                  "1");
        const std::vector<std::string> others = {"",
                                                 "{}",
                                                 "[]",
                                                 R"({"leases":[]})",
                                                 R"({"leases":["x"]})",
                                                 R"({"leases":[7]})",
                                                 R"({"leases":[{}]})",
                                                 R"({"leases":"x"})",
                                                 R"({"leases":[")" + token,
                                                 R"({"leases":[")" + token + R"("}]})"};
        for (const std::string& body : others) {
            EXPECT_EQ(shard_of({"POST", path, body}, 3), "any") << body;
        }
    }
    // A shard that does not exist: any node refuses it.
    EXPECT_EQ(shard_of({"POST", "/v1/leases/" + token + ":ack"}, 2), "any");
    EXPECT_EQ(shard_of({"POST", "/v1/leases/x:ack"}, 2), "any");
}

TEST(ShardPlacement, each_node_answers_for_itself) {
    for (const std::string path :
         {"/healthz", "/readyz", "/metrics", "/v1/stats", "/v1/events", "/v1/lateness", "/v1/wheel", "/openapi.json",
          "/v1/clock", "/v1/session", "/", "/assets/x.js", "/docs/errors", "/v1/namespaces", "/v1/tokens",
          "/v1/tokens/t", "/v1/tokens/t:rotate", "/v1/namespaces/%zz/queues"}) {
        EXPECT_EQ(shard_of({"GET", path}, 3), "any") << path;
    }
}

TEST(ShardPlacement, the_api_redirects_what_another_node_owns_before_it_asks_for_a_token) {
    HttpApiOptions options;
    options.auth_required = true;
    std::string owner = "http://127.0.0.1:7";
    options.redirect = [&](const HttpRequest& request, const CallPath& call) -> std::optional<HttpResponse> {
        const auto shard = shard_of_request(request, call, 2);
        if (!shard || *shard == shard_of_namespace("default", 2)) return std::nullopt;
        return redirect_to_owner(request, *shard, owner);
    };
    std::string other = "a";
    while (shard_of_namespace(other, 2) == shard_of_namespace("default", 2)) other += "a";
    ApiServer api(options);
    const std::string target = "/v1/namespaces/" + other + "/queues/a%2Fb/messages?x=%20";
    const std::string answer = api.ask({"POST", target, R"({"body":"x"})"});
    EXPECT_EQ(status_of(answer), 307);
    EXPECT_EQ(member_of(answer, "code"), "other_node");
    EXPECT_NE(answer.find("\r\nLocation: http://127.0.0.1:7" + target + "\r\n"), std::string::npos) << answer;
    EXPECT_EQ(api.command(), "");
    EXPECT_EQ(member_of(api.ask({"GET", "/v1/queues/q"}), "code"), "token_required");
    api.server().on_loop([&] { owner.clear(); });
    const std::string none = api.ask({"GET", "/v1/namespaces/" + other + "/queues"});
    EXPECT_EQ(status_of(none), 503);
    EXPECT_EQ(member_of(none, "code"), "no_owner");
    EXPECT_NE(none.find("\r\nRetry-After: 1\r\n"), std::string::npos) << none;
}

}  // namespace
}  // namespace duewheel::shard_placement_test
