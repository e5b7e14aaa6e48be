// What the API passes to the audit log: one entry for each administrative request, whatever its outcome, before the
// response; and one for each refusal of access.
#include "http_api/access/audit_subject.h"

#include <fstream>
#include <iterator>
#include <set>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/access/access_fixture.h"
#include "http_api/calls/call_fixture.h"

namespace duewheel::audit_subject_test {
namespace {

using What = CallPath::What;

constexpr std::string_view kMethods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};

struct MethodOfCall {
    What what;
    std::string path;
    std::string method;
};

// Every call with every method that it takes.
std::vector<MethodOfCall> all_calls() {
    std::vector<MethodOfCall> calls;
    const auto add = [&](What what, std::string path, std::string_view methods) {
        for (const std::string_view method : kMethods) {
            if (allows(methods, method)) calls.push_back({what, path, std::string(method)});
        }
    };
    for (const CallShape& shape : call_shapes()) {
        std::string path = shape.path;
        if (const std::size_t name = path.find("{}"); name != std::string::npos) path.replace(name, 2, "x");
        add(shape.what, path, shape.methods);
    }
    for (const ServerPage& page : kServerPages) add(page.what, std::string(page.path), page.methods);
    return calls;
}

bool is_administrative(const MethodOfCall& call) {
    const Need need = need_of(call.what, call.method);
    const bool reads = call.method == "GET" || call.method == "HEAD";
    return !reads && need.reach != Reach::no_token && call.what != What::feed_watchdog &&
           (need.scope == Scope::admin || need.scope == Scope::schedule);
}

// A simulated audit log. It replies as the test requests, from the loop.
class PlayedAudit final : public AuditPort {
  public:
    bool is_available() const override { return available; }
    void record(AuditEntry entry, std::function<void(bool)> done) override {
        recorded.push_back(std::move(entry));
        ASSERT_NE(loop, nullptr);
        if (done) loop->post([this, done = std::move(done)] { done(takes_lines); });
    }
    void record_limited(AuditEntry entry) override { refused.push_back(std::move(entry)); }

    EventLoop* loop = nullptr;
    bool available = true;
    bool takes_lines = true;
    std::vector<AuditEntry> recorded;
    std::vector<AuditEntry> refused;
};

class AuditedServer {
  public:
    explicit AuditedServer(HttpApiOptions options = {}) : server(with_audit(std::move(options))) {
        audit.loop = &server.server().loop();
    }
    static constexpr ErrorCode kRefused = "too_busy"_code;  // clang 14 refuses it in a default argument
    std::string ask(const Call& call, Reply reply = Error{kRefused, "the test says so"}) {
        audit.recorded.clear();
        audit.refused.clear();
        return server.ask(call, std::move(reply));
    }

    PlayedAudit audit;
    ApiServer server;

  private:
    HttpApiOptions with_audit(HttpApiOptions options) {
        options.audit = &audit;
        return options;
    }
};

const Call kPause{"POST", "/v1/namespaces/team/queues/gr%C3%B6%C3%9Fe:pause"};

TEST(AuditSubject, calls_that_need_admin_or_schedule_have_a_verb_and_no_others) {
    std::size_t verbs = 0;
    for (const MethodOfCall& call : all_calls()) {
        EXPECT_EQ(!audit_verb(call.what, call.method).empty(), is_administrative(call)) << call.method << call.path;
        verbs += is_administrative(call) ? 1 : 0;
    }
    EXPECT_GT(verbs, 20u);
}

TEST(AuditSubject, verbs_are_documented) {
    std::ifstream file(DUEWHEEL_SOURCE_DIR "/docs/security.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    for (const MethodOfCall& call : all_calls()) {
        const std::string verb = "`" + std::string(audit_verb(call.what, call.method)) + "`";
        EXPECT_TRUE(verb == "``" || page.find(verb) != std::string::npos) << verb;
    }
}

TEST(AuditSubject, each_administrative_request_has_one_entry_and_others_have_none) {
    AuditedServer server;
    for (const MethodOfCall& call : all_calls()) {
        SCOPED_TRACE(call.method + " " + call.path);
        const bool has_body = call.method != "GET" && call.method != "HEAD";
        const Error refused{call.what == What::lease ? "store_full"_code : "too_busy"_code, "the test says so"};
        const std::string answer = server.ask({call.method, call.path, has_body ? "{}" : ""}, refused);
        // Only refusals are limited.
        const bool is_refused = status_of(answer) >= 300;
        EXPECT_TRUE((is_refused ? server.audit.recorded : server.audit.refused).empty());
        const std::vector<AuditEntry>& lines = is_refused ? server.audit.refused : server.audit.recorded;
        ASSERT_EQ(lines.size(), is_administrative(call) ? 1u : 0u) << answer;
        if (!is_administrative(call)) continue;
        const AuditEntry& entry = lines[0];
        EXPECT_EQ(entry.verb, audit_verb(call.what, call.method));
        EXPECT_EQ(entry.actor, "anonymous");
        EXPECT_EQ(entry.address, "127.0.0.1");
        EXPECT_EQ(entry.outcome, status_of(answer) < 300 ? "ok" : member_of(answer, "code"));
        EXPECT_EQ(entry.call, "");
    }
}

// Logins were limited like refusals: noise from an address hid the login that followed.
TEST(AuditSubject, a_session_is_recorded_if_its_token_is_valid) {
    AuditedServer server;
    server.server.server().on_loop([&] { server.server.shard().tokens["a"] = known_token("a", {Scope::read}); });
    const std::string token = "dw_a_" + known_secret();
    std::string answer;
    const auto verb_of = [&](const Call& call) {
        answer = server.ask(call);
        EXPECT_LE(server.audit.recorded.size() + server.audit.refused.size(), 1u);
        if (server.audit.recorded.empty() && server.audit.refused.empty()) return std::string();
        const bool is_refused = server.audit.recorded.empty();
        const AuditEntry& entry = is_refused ? server.audit.refused[0] : server.audit.recorded[0];
        EXPECT_EQ(is_refused, entry.outcome != "ok");
        return std::string(entry.verb) + " " + entry.actor + " " + std::string(entry.outcome);
    };
    EXPECT_EQ(verb_of({"POST", "/v1/session", R"({"token":")" + token + R"("})"}), "session.begin a ok");
    const std::string set_cookie = field_of(answer, "Set-Cookie");
    EXPECT_EQ(verb_of({"POST", "/v1/session", R"({"token":"x"})"}), "access.refuse anonymous bad_token");
    Call logout{"DELETE", "/v1/session"};
    EXPECT_EQ(verb_of(logout), "");
    logout.fields = {{"Cookie", set_cookie.substr(0, set_cookie.find(';'))}, {"Origin", "http://x"}};
    EXPECT_EQ(verb_of(logout), "session.end a ok");
}

TEST(AuditSubject, an_entry_names_its_subject) {
    AuditedServer server;
    Call call = kPause;
    call.fields = {{"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}};
    EXPECT_EQ(status_of(server.ask(call, QueueAnswer{})), 200);
    ASSERT_EQ(server.audit.recorded.size(), 1u);
    const AuditEntry& entry = server.audit.recorded[0];
    EXPECT_EQ(entry.verb, "queue.pause");
    EXPECT_EQ(entry.name_space, "team");
    EXPECT_EQ(entry.object, "größe");
    EXPECT_EQ(entry.outcome, "ok");
    EXPECT_EQ(entry.traceparent, call.fields[0].second);
}

TEST(AuditSubject, without_a_log_nothing_is_executed) {
    AuditedServer server;
    server.audit.available = false;
    std::string answer = server.ask(kPause, QueueAnswer{});
    EXPECT_EQ(status_of(answer), 503);
    EXPECT_EQ(member_of(answer, "code"), "audit_unavailable");
    EXPECT_NE(member_of(answer, "detail").find("nothing was changed"), std::string::npos);
    EXPECT_EQ(server.server.command(), "");
    EXPECT_TRUE(server.audit.recorded.empty());
    EXPECT_EQ(status_of(server.ask({"GET", "/v1/queues/q"}, QueueAnswer{})), 200) << "reads go on";

    server.audit.available = true;
    server.audit.takes_lines = false;
    answer = server.ask(kPause, QueueAnswer{});
    EXPECT_EQ(member_of(answer, "code"), "audit_unavailable");
    EXPECT_NE(member_of(answer, "detail").find("was carried out"), std::string::npos);
    EXPECT_EQ(member_of(server.ask(kPause, Error{"queue_limit"_code, "none"}), "code"), "queue_limit")
        << "a refusal is told as it is";
}

TEST(AuditSubject, refusals_of_access_are_recorded_for_every_call) {
    HttpApiOptions options;
    options.callers.check_host = true;
    options.callers.own_hosts = {"localhost"};
    AuditedServer server(std::move(options));
    for (const Call& call : {Call{"POST", "/v1/queues/q/messages", "{}"}, Call{"POST", "/v1/leases/SECRET:ack"}}) {
        const std::string answer = server.ask(call);
        EXPECT_EQ(member_of(answer, "code"), "foreign_host");
        EXPECT_TRUE(server.audit.recorded.empty());
        ASSERT_EQ(server.audit.refused.size(), 1u);
        const AuditEntry& entry = server.audit.refused[0];
        EXPECT_EQ(entry.verb, "access.refuse");
        EXPECT_EQ(entry.outcome, "foreign_host");
        EXPECT_EQ(entry.call.find("SECRET"), std::string::npos);
        EXPECT_TRUE(entry.call.starts_with("POST /v1/")) << entry.call;
    }
}

}  // namespace
}  // namespace duewheel::audit_subject_test
