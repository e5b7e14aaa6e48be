// Every call, with every method, scope and kind of limit. The requirements of each call are repeated here, as in
// docs/security.md, so that a mistake in the table of calls is found; the compiler checks that no call is missing here.
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "http_api/access/access_fixture.h"
#include "http_api/calls/call_path.h"

namespace duewheel::access_matrix_test {
namespace {

struct Row {
    std::string_view operation;
    std::string_view needs;  // the scope, "token" for any valid one, or "nothing"
    std::string_view about;  // queue: the one that the path names; things: of the namespace; namespace; list; server
};

constexpr Row kRows[] = {
    {"GET /v1/queues/{}/messages", "read", "queue"},
    {"POST /v1/queues/{}/messages", "put", "queue"},
    {"POST /v1/queues/{}/messages:batch", "put", "queue"},
    {"POST /v1/queues/{}:lease", "consume", "queue"},
    {"GET /v1/messages/{}", "read", "things"},
    {"DELETE /v1/messages/{}", "cancel", "things"},
    {"PATCH /v1/messages/{}", "cancel", "things"},
    {"POST /v1/messages/{}:fire", "cancel", "things"},
    {"POST /v1/messages/{}:hold", "cancel", "things"},
    {"POST /v1/messages/{}:kick", "cancel", "things"},
    {"POST /v1/messages/{}:discard", "cancel", "things"},
    {"POST /v1/messages/{}:commit", "put", "things"},
    {"POST /v1/messages/{}:rollback", "put", "things"},
    {"GET /v1/messages", "read", "things"},
    {"DELETE /v1/messages", "cancel", "things"},
    {"PATCH /v1/messages", "cancel", "things"},
    {"POST /v1/leases/{}:ack", "consume", "things"},
    {"POST /v1/leases/{}:fail", "consume", "things"},
    {"POST /v1/leases/{}:extend", "consume", "things"},
    {"POST /v1/leases/{}:release", "consume", "things"},
    {"POST /v1/leases/{}:hold", "consume", "things"},
    {"POST /v1/leases:ack", "consume", "things"},
    {"POST /v1/leases:fail", "consume", "things"},
    {"POST /v1/leases:extend", "consume", "things"},
    {"POST /v1/leases:release", "consume", "things"},
    {"GET /v1/queues/{}", "read", "queue"},
    {"PUT /v1/queues/{}", "admin", "queue"},
    {"PATCH /v1/queues/{}", "admin", "queue"},
    {"DELETE /v1/queues/{}", "admin", "queue"},
    {"POST /v1/queues/{}:pause", "admin", "queue"},
    {"POST /v1/queues/{}:resume", "admin", "queue"},
    {"POST /v1/queues/{}:purge", "admin", "queue"},
    {"POST /v1/queues/{}:redrive", "admin", "queue"},
    {"POST /v1/queues/{}:discard", "admin", "queue"},
    {"GET /v1/queues/{}/groups", "read", "queue"},
    {"GET /v1/queues/{}/groups/{}", "read", "queue"},
    {"PUT /v1/queues/{}/groups/{}", "admin", "queue"},
    {"PATCH /v1/queues/{}/groups/{}", "admin", "queue"},
    {"DELETE /v1/queues/{}/groups/{}", "admin", "queue"},
    {"POST /v1/queues/{}/groups/{}:backoff", "consume", "queue"},
    {"GET /v1/queues", "read", "things"},
    {"GET /v1/history", "read", "things"},
    {"GET /v1/forecast", "read", "things"},
    {"GET /v1/schedules/{}", "read", "things"},
    {"PUT /v1/schedules/{}", "schedule", "things"},
    {"PATCH /v1/schedules/{}", "schedule", "things"},
    {"DELETE /v1/schedules/{}", "schedule", "things"},
    {"POST /v1/schedules/{}:pause", "schedule", "things"},
    {"POST /v1/schedules/{}:resume", "schedule", "things"},
    {"POST /v1/schedules/{}:fire", "schedule", "things"},
    {"GET /v1/schedules/{}:preview", "read", "things"},
    {"POST /v1/schedules/{}:preview", "read", "things"},
    {"GET /v1/schedules", "read", "things"},
    {"GET /v1/watchdogs/{}", "read", "things"},
    {"PUT /v1/watchdogs/{}", "schedule", "things"},
    {"PATCH /v1/watchdogs/{}", "schedule", "things"},
    {"DELETE /v1/watchdogs/{}", "schedule", "things"},
    {"POST /v1/watchdogs/{}:feed", "schedule", "things"},
    {"GET /v1/watchdogs", "read", "things"},
    {"GET /v1/namespaces/{}", "read", "namespace"},
    {"PUT /v1/namespaces/{}", "admin", "server"},
    {"PATCH /v1/namespaces/{}", "admin", "server"},
    {"DELETE /v1/namespaces/{}", "admin", "server"},
    {"GET /v1/namespaces", "read", "list"},
    {"GET /v1/tokens/{}", "admin", "server"},
    {"PUT /v1/tokens/{}", "admin", "server"},
    {"PATCH /v1/tokens/{}", "admin", "server"},
    {"DELETE /v1/tokens/{}", "admin", "server"},
    {"POST /v1/tokens/{}:rotate", "admin", "server"},
    {"GET /v1/tokens", "admin", "server"},
    {"GET /healthz", "nothing", "server"},
    {"GET /readyz", "token", "server"},
    {"GET /openapi.json", "token", "server"},
    {"GET /metrics", "read", "server"},
    {"GET /v1/stats", "read", "server"},
    {"GET /v1/events", "read", "server"},
    {"GET /v1/lateness", "read", "server"},
    {"GET /v1/wheel", "read", "server"},
    {"GET /v1/clock", "read", "server"},
    {"POST /v1/clock:accept", "admin", "server"},
    {"POST /v1/clock:advance", "admin", "server"},
    {"GET /v1/session", "nothing", "server"},
    {"POST /v1/session", "nothing", "server"},
    {"DELETE /v1/session", "nothing", "server"},
    {"GET /", "nothing", "server"},
    {"GET /assets/{}", "nothing", "server"},
    {"GET /docs/{}", "nothing", "server"},
};

// What a token may see of the data.
struct Limits {
    std::string_view name;
    AccessLimits limits;
    bool admits_queue, admits_things, admits_namespace, admits_list, admits_server;
};

const Limits kLimits[] = {{"none", {}, true, true, true, true, true},
                          {"own namespace", {{"other", "shop"}, ""}, true, true, true, true, false},
                          {"foreign namespace", {{"other"}, ""}, false, false, false, true, false},
                          {"own queues", {{}, "orders-"}, true, true, false, false, false},
                          {"foreign queues", {{}, "mail"}, false, true, false, false, false},
                          {"both", {{"shop"}, "orders-"}, true, true, false, false, false}};

bool admits(const Limits& limits, const Row& row) {
    if (row.needs == "token") return true;
    if (row.about == "queue") return limits.admits_queue;
    if (row.about == "things") return limits.admits_things;
    if (row.about == "namespace") return limits.admits_namespace;
    return row.about == "list" ? limits.admits_list : limits.admits_server;
}

std::string method_of(const Row& row) {
    return std::string(row.operation.substr(0, row.operation.find(' ')));
}

// In the namespace `shop`, on the queue `orders-1`.
std::string target_of(const Row& row) {
    std::string path(row.operation.substr(row.operation.find(' ') + 1));
    const bool is_of_namespace = row.about == "queue" || row.about == "things";
    if (const std::size_t name = path.find("{}"); name != std::string::npos) {
        const bool is_number = path.starts_with("/v1/messages/");
        path.replace(name, 2, is_number ? "1024" : row.about == "namespace" ? "shop" : "orders-1");
    }
    if (const std::size_t group = path.find("{}"); group != std::string::npos) path.replace(group, 2, "ann");
    return is_of_namespace ? "/v1/namespaces/shop" + path.substr(3) : path;
}

// "POST /v1/queues/{queue}:lease" as a row has it: the name between the braces does not matter.
std::string with_empty_braces(std::string_view text) {
    std::string out;
    bool is_inside = false;
    for (const char c : text) {
        if (c == '}') is_inside = false;
        if (!is_inside) out += c;
        if (c == '{') is_inside = true;
    }
    return out;
}

std::set<std::string> operations(const std::string& path, std::string_view methods) {
    std::set<std::string> all;
    for (const std::string_view method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
        if (allows(methods, method)) all.insert(std::string(method) + " " + path);
    }
    return all;
}

TEST(AccessMatrix, has_a_row_for_every_call_and_method) {
    std::set<std::string> served;
    for (const CallShape& shape : call_shapes()) served.merge(operations(shape.path, shape.methods));
    for (const ServerPage& page : kServerPages) served.merge(operations(with_empty_braces(page.path), page.methods));
    std::set<std::string> rows;
    for (const Row& row : kRows) EXPECT_TRUE(rows.insert(std::string(row.operation)).second) << row.operation;
    EXPECT_EQ(rows, served);
}

TEST(AccessMatrix, is_in_the_documentation) {
    std::ifstream file(std::string(DUEWHEEL_SOURCE_DIR) + "/docs/security.md");
    std::map<std::string, std::string, std::less<>> lines;  // of the table of scopes, by their first column
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("| ")) continue;
        const std::size_t end = line.find(" |");
        lines[line.substr(2, end - 2)] = with_empty_braces(line.substr(end));
    }
    for (const Row& row : kRows) {
        const std::string scope = row.needs == "token"     ? "any token"
                                  : row.needs == "nothing" ? "none"
                                                           : "`" + std::string(row.needs) + "`";
        const auto found = lines.find(scope);
        ASSERT_NE(found, lines.end()) << scope;
        EXPECT_NE(found->second.find("`" + std::string(row.operation) + "`"), std::string::npos)
            << row.operation << " is not in the row of " << scope;
    }
}

TEST(AccessMatrix, without_a_valid_token_only_open_pages_are_served) {
    const std::pair<std::string, std::string> refused[] = {{"", "token_required"},
                                                           {"Bearer x", "bad_token"},
                                                           {bearer("unknown"), "bad_token"},
                                                           {bearer("expired", 'y'), "bad_token"},
                                                           {bearer("expired"), "token_expired"}};
    for (const Row& row : kRows) {
        // A server of its own, as the failed tokens of an address are limited.
        ApiServer server(with_auth());
        server.server().on_loop([&] {
            AccessToken expired = known_token("expired", {Scope::admin, Scope::read});
            expired.expires_ms = 1;
            server.shard().tokens["expired"] = expired;
            server.shard().clock_status.server_ms = 2;
        });
        for (const auto& [authorization, code] : refused) {
            Call call{method_of(row), target_of(row)};
            if (!authorization.empty()) call.fields.emplace_back("Authorization", authorization);
            const std::string answer = server.ask(call);
            if (row.needs == "nothing") {
                // Without a body there is no token to log in with, and the file does not exist.
                const int expected = row.operation == "POST /v1/session" ? 400
                                     : row.operation.ends_with("/{}")    ? 404
                                                                         : 200;
                EXPECT_EQ(status_of(answer), expected) << row.operation;
                continue;
            }
            EXPECT_EQ(status_of(answer), 401) << row.operation;
            EXPECT_EQ(member_of(answer, "code"), code) << row.operation;
            EXPECT_TRUE(field_of(answer, "WWW-Authenticate").starts_with("Bearer")) << row.operation;
            EXPECT_EQ(server.command(), "") << row.operation;
        }
    }
}

TEST(AccessMatrix, each_call_needs_its_scope_within_its_limits) {
    ApiServer server(with_auth());
    for (std::size_t scope = 0; scope < kScopeCount; ++scope) {
        for (const Limits& limits : kLimits) {
            server.server().on_loop(
                [&] { server.shard().tokens["t"] = known_token("t", {static_cast<Scope>(scope)}, limits.limits); });
            for (const Row& row : kRows) {
                SCOPED_TRACE(std::string(row.operation) + ", " + std::string(kScopeNames[scope]) +
                             ", limits: " + std::string(limits.name));
                const bool is_open = row.needs == "nothing" || row.needs == "token";
                const bool expected = is_open || (row.needs == kScopeNames[scope] && admits(limits, row));
                const std::string answer = server.ask(with_token({method_of(row), target_of(row)}, "t"));
                const int status = status_of(answer);
                if (expected) {
                    EXPECT_NE(status, 401);
                    EXPECT_NE(status, 403) << answer;
                    continue;
                }
                EXPECT_EQ(status, 403) << answer;
                EXPECT_EQ(member_of(answer, "code"), "forbidden");
                EXPECT_EQ(server.command(), "");
            }
        }
    }
}

}  // namespace
}  // namespace duewheel::access_matrix_test
