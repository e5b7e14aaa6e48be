#include "http_api/calls/call_path.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "net/http/http_target.h"

namespace duewheel::call_path_test {
namespace {

// "what namespace name", or "none".
std::string found(const std::string& path) {
    static constexpr const char* kNames[] = {"put",       "put_batch",  "lease",           "message",      "fire",
                                             "ack",       "fail",       "extend",          "release",      "queue",
                                             "pause",     "resume",     "purge",           "redrive",      "discard",
                                             "hold",      "kick",       "discard_message", "hold_lease",   "queues",
                                             "ack_batch", "fail_batch", "extend_batch",    "release_batch"};
    std::vector<std::string_view> segments;
    split_path(path, segments);
    const std::optional<CallPath> call = find_call(segments);
    if (!call) return "none";
    return kNames[static_cast<int>(call->what)] + std::string(" ") + std::string(call->name_space) + " " +
           std::string(call->name);
}

// "what queue group", still encoded, or "none".
std::string found_group(const std::string& path) {
    std::vector<std::string_view> segments;
    split_path(path, segments);
    const std::optional<CallPath> call = find_call(segments);
    if (!call) return "none";
    const std::string_view what = call->what == CallPath::What::groups           ? "groups"
                                  : call->what == CallPath::What::group          ? "group"
                                  : call->what == CallPath::What::back_off_group ? "back off"
                                                                                 : "other";
    return std::string(what).append(" ").append(call->name).append(" ").append(call->inner_name);
}

void expect_calls(const std::vector<std::pair<std::string, std::string>>& cases) {
    for (const auto& [path, call] : cases) EXPECT_EQ(found(path), call) << path;
}

TEST(CallPath, finds_groups_by_a_name_with_any_characters) {
    EXPECT_EQ(found_group("/v1/queues/q/groups"), "groups q ");
    EXPECT_EQ(found_group("/v1/queues/q/groups/ann"), "group q ann");
    EXPECT_EQ(found_group("/v1/namespaces/n/queues/q/groups/ann:backoff"), "back off q ann");
    EXPECT_EQ(found_group("/v1/queues/q/groups/a%2Fb%3Abackoff"), "group q a%2Fb%3Abackoff");
    EXPECT_EQ(found_group("/v1/queues/q/groups/a%2Fb%3Abackoff:backoff"), "back off q a%2Fb%3Abackoff");
    EXPECT_EQ(found_group("/v1/queues/q/groups/a:b:backoff"), "back off q a:b");
    for (const char* none : {"/v1/queues/q/groups/a/b", "/v1/queues/q/groups/a:pause", "/v1/queues/q/groups/a:",
                             "/v1/queues/q/messages/a", "/v1/queues/q/groups:backoff", "/v1/schedules/q/groups/a"}) {
        EXPECT_EQ(found_group(none), "none") << none;
    }
}

TEST(CallPath, names_the_call) {
    expect_calls({
        {"/v1/queues/q/messages", "put default q"},
        {"/v1/queues/q:lease", "lease default q"},
        {"/v1/messages/12", "message default 12"},
        {"/v1/messages/12:fire", "fire default 12"},
        {"/v1/leases/t:ack", "ack default t"},
        {"/v1/leases/t:fail", "fail default t"},
        {"/v1/leases/t:extend", "extend default t"},
        {"/v1/leases/t:release", "release default t"},
        {"/v1/queues/q", "queue default q"},
        {"/v1/queues/q:pause", "pause default q"},
        {"/v1/queues/q:resume", "resume default q"},
        {"/v1/queues/q:purge", "purge default q"},
        {"/v1/queues", "queues default "},
        {"/v1/namespaces/n/queues", "queues n "},
        {"/v1/queues/q/messages:batch", "put_batch default q"},
        {"/v1/leases:ack", "ack_batch default "},
        {"/v1/leases:fail", "fail_batch default "},
        {"/v1/namespaces/n/leases:extend", "extend_batch n "},
        {"/v1/leases:release", "release_batch default "},
        {"/v1/leases/t:hold", "hold_lease default t"},
        {"/v1/messages/12:hold", "hold default 12"},
        {"/v1/messages/12:kick", "kick default 12"},
        {"/v1/queues/q:redrive", "redrive default q"},
        {"/v1/queues/q:discard", "discard default q"},
        {"/v1/messages/12:discard", "discard_message default 12"},
        {"/v1/namespaces/n/queues/q/messages", "put n q"},
        {"/v1/namespaces/n/messages/12:fire", "fire n 12"},
        {"/v1/namespaces/namespaces/messages/12", "message namespaces 12"},
    });
}

// Names are neither decoded nor judged here: only the last colon and the slashes count.
TEST(CallPath, a_namespace_is_named_itself_and_no_other_is_in_it) {
    const auto call = [](std::vector<std::string_view> segments) { return find_call(segments); };
    const auto one = call({"v1", "namespaces", "team"});
    ASSERT_TRUE(one);
    EXPECT_EQ(one->what, CallPath::What::name_space);
    EXPECT_EQ(one->name_space, "team");
    const auto all = call({"v1", "namespaces"});
    ASSERT_TRUE(all);
    EXPECT_EQ(all->what, CallPath::What::name_spaces);
    EXPECT_FALSE(call({"v1", "namespaces", "team", "namespaces"}));
    EXPECT_FALSE(call({"v1", "namespaces", "team", "namespaces", "other"}));
}

TEST(CallPath, leaves_names_as_they_are) {
    expect_calls({
        {"/v1/queues/a%2Fb%3Alease:lease", "lease default a%2Fb%3Alease"},
        {"/v1/queues/a:b:lease", "lease default a:b"},
        {"/v1/queues/a:lease/messages", "put default a:lease"},
        {"/v1/queues/q:/messages", "put default q:"},
        {"/v1/queues//messages", "put default "},
        {"/v1/queues/:lease", "lease default "},
        {"/v1/namespaces//messages/12", "message  12"},
        {"/v1/messages/12%3Afire", "message default 12%3Afire"},
    });
}

TEST(CallPath, finds_nothing_beside_the_table) {
    for (const char* path : {"/",
                             "/v1",
                             "/v1/",
                             "/v2/queues/q/messages",
                             "/V1/queues/q/messages",
                             "//v1/queues/q/messages",
                             "/v1/leases",
                             "/v1/leases:",
                             "/v1/leases:fire",
                             "/v1/queues:ack",
                             "/v1/queues/q/messages:put",
                             "/v1/queues/q/",
                             "/v1/queues/q/lease",
                             "/v1/queues/q/messages/",
                             "/v1/queues/q:messages",
                             "/v1/queues/q:",
                             "/v1/queues/q:Lease",
                             "/v1/queues/q:lease:",
                             "/v1/queues/q:ack",
                             "/v1/queues/q:kick",
                             "/v1/messages/12:redrive",
                             "/v1/leases/t:kick",
                             "/v1/messages/12:",
                             "/v1/messages/12/",
                             "/v1/messages/12:ack",
                             "/v1/messages/12/messages",
                             "/v1/messages/12/fire",
                             "/v1/leases/t",
                             "/v1/leases/t:",
                             "/v1/leases/t:fire",
                             "/v1/namespaces/n:pause",
                             "/v1/namespaces/n/namespaces",
                             "/v1/namespaces/n/namespaces/m",
                             "/v1/namespaces/n/",
                             "/v1/namespaces/n/namespaces/m/queues/q/messages",
                             "/v1/x/n/queues/q/messages",
                             "/queues/q/messages"}) {
        EXPECT_EQ(found(path), "none") << path;
    }
}

TEST(CallPath, methods_are_those_of_the_list_to_the_letter) {
    const std::string_view allowed = allowed_methods({CallPath::What::message, {}, {}});
    EXPECT_EQ(allowed, "GET, HEAD, DELETE, PATCH");
    for (const char* method : {"GET", "HEAD", "DELETE", "PATCH"}) EXPECT_TRUE(allows(allowed, method)) << method;
    for (const char* method : {"", "get", "GE", "GETS", "POST", ",", "GET, HEAD", "HEAD, DELETE", " HEAD"}) {
        EXPECT_FALSE(allows(allowed, method)) << method;
    }
    EXPECT_TRUE(allows("POST", "POST"));
    EXPECT_FALSE(allows("", ""));
}

}  // namespace
}  // namespace duewheel::call_path_test
