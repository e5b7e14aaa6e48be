#include "ingress/nearest_call.h"

#include <vector>

#include <gtest/gtest.h>

#include "ingress/call_path.h"
#include "net/http_target.h"

namespace duewheel::nearest_call_test {
namespace {

std::string nearest(const std::string& path) {
    std::vector<std::string_view> segments;
    split_path(path, segments);
    EXPECT_FALSE(find_call(segments)) << path;
    return nearest_call(segments);
}

TEST(NearestCall, a_typo_gets_the_call) {
    EXPECT_EQ(nearest("/v1/queue/q/messages"), "/v1/queues/{queue}/messages");
    EXPECT_EQ(nearest("/queues/q/messages"), "/v1/queues/{queue}/messages");
    EXPECT_EQ(nearest("/v1/queues/q/message"), "/v1/queues/{queue}/messages");
    EXPECT_EQ(nearest("/v1/queues/q:messages"), "/v1/queues/{queue}/messages");
    EXPECT_EQ(nearest("/v1/queues/q/messages/"), "/v1/queues/{queue}/messages");
    EXPECT_EQ(nearest("/v1/queues/q:Lease"), "/v1/queues/{queue}:lease");
    EXPECT_EQ(nearest("/v1/queues/q/lease"), "/v1/queues/{queue}:lease");
    EXPECT_EQ(nearest("/v1/queues/q/pause"), "/v1/queues/{queue}:pause");
    EXPECT_EQ(nearest("/v1/message/12"), "/v1/messages/{id}");
    EXPECT_EQ(nearest("/v1/messages/12/fire"), "/v1/messages/{id}:fire");
    EXPECT_EQ(nearest("/v1/queues/q/messages/12"), "/v1/messages/{id}");
    EXPECT_EQ(nearest("/v1/schedules/s/pause"), "/v1/schedules/{schedule}:pause");
    EXPECT_EQ(nearest("/v1/namespaces/n/queue/q"), "/v1/queues/{queue}");
    EXPECT_EQ(nearest("/v1/watchdog/w:feed"), "/v1/watchdogs/{watchdog}:feed");
    EXPECT_EQ(nearest("/health"), "/healthz");
    EXPECT_EQ(nearest("/healthz/"), "/healthz");
    EXPECT_EQ(nearest("/v1/metrics"), "/metrics");
    EXPECT_EQ(nearest("/stats"), "/v1/stats");
}

TEST(NearestCall, a_word_of_another_collection_or_system_gets_the_call) {
    EXPECT_EQ(nearest("/lease"), "/v1/queues/{queue}:lease");
    EXPECT_EQ(nearest("/v1/lease"), "/v1/queues/{queue}:lease");
    EXPECT_EQ(nearest("/v1/leases/t:nack"), "/v1/leases/{token}:fail");
    EXPECT_EQ(nearest("/v1/messages/12:ack"), "/v1/leases/{token}:ack");
    EXPECT_EQ(nearest("/v1/messages/12:redrive"), "/v1/queues/{queue}:redrive");
    EXPECT_EQ(nearest("/v1/queues/q:receive"), "/v1/queues/{queue}:lease");
    EXPECT_EQ(nearest("/v1/queues/q/publish"), "/v1/queues/{queue}/messages");
    EXPECT_EQ(nearest("/enqueue"), "/v1/queues/{queue}/messages");
    EXPECT_EQ(nearest("/v1/leases:nack"), "/v1/leases:fail");
}

TEST(NearestCall, anything_else_has_no_suggestion) {
    for (const char* path : {"/", "/assets", "/v1", "/v1/", "/x", "/v1/x", "/v2/jobs", "/favicon.ico",
                             "/v1/queues/q:nonsense", "/v1/queues/q/messages/1/2", "/v1/messages/1:x"}) {
        EXPECT_EQ(nearest(path), "") << path;
    }
    EXPECT_EQ(nearest("/v1/queues/q:" + std::string(100'000, 'l')), "");
    EXPECT_EQ(nearest("/" + std::string(100'000, 'l')), "");
}

}  // namespace
}  // namespace duewheel::nearest_call_test
