#include "http_api/calls/nearest_call.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "http_api/calls/call_path.h"
#include "net/http/http_target.h"

namespace duewheel::nearest_call_test {
namespace {

std::string nearest(const std::string& path) {
    std::vector<std::string_view> segments;
    split_path(path, segments);
    EXPECT_FALSE(find_call(segments)) << path;
    return nearest_call(segments);
}

void expect_nearest(const std::vector<std::pair<std::string, std::string>>& cases) {
    for (const auto& [path, call] : cases) EXPECT_EQ(nearest(path), call) << path;
}

TEST(NearestCall, a_typo_gets_the_call) {
    expect_nearest({
        {"/v1/queue/q/messages", "/v1/queues/{queue}/messages"},
        {"/queues/q/messages", "/v1/queues/{queue}/messages"},
        {"/v1/queues/q/message", "/v1/queues/{queue}/messages"},
        {"/v1/queues/q:messages", "/v1/queues/{queue}/messages"},
        {"/v1/queues/q/messages/", "/v1/queues/{queue}/messages"},
        {"/v1/queues/q:Lease", "/v1/queues/{queue}:lease"},
        {"/v1/queues/q/lease", "/v1/queues/{queue}:lease"},
        {"/v1/queues/q/pause", "/v1/queues/{queue}:pause"},
        {"/v1/message/12", "/v1/messages/{id}"},
        {"/v1/messages/12/fire", "/v1/messages/{id}:fire"},
        {"/v1/queues/q/messages/12", "/v1/messages/{id}"},
        {"/v1/schedules/s/pause", "/v1/schedules/{schedule}:pause"},
        {"/v1/namespaces/n/queue/q", "/v1/queues/{queue}"},
        {"/v1/watchdog/w:feed", "/v1/watchdogs/{watchdog}:feed"},
        {"/health", "/healthz"},
        {"/healthz/", "/healthz"},
        {"/v1/metrics", "/metrics"},
        {"/stats", "/v1/stats"},
    });
}

TEST(NearestCall, a_word_of_another_collection_or_system_gets_the_call) {
    expect_nearest({
        {"/lease", "/v1/queues/{queue}:lease"},
        {"/v1/lease", "/v1/queues/{queue}:lease"},
        {"/v1/leases/t:nack", "/v1/leases/{token}:fail"},
        {"/v1/messages/12:ack", "/v1/leases/{token}:ack"},
        {"/v1/messages/12:redrive", "/v1/queues/{queue}:redrive"},
        {"/v1/queues/q:receive", "/v1/queues/{queue}:lease"},
        {"/v1/queues/q/publish", "/v1/queues/{queue}/messages"},
        {"/enqueue", "/v1/queues/{queue}/messages"},
        {"/v1/leases:nack", "/v1/leases:fail"},
    });
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
