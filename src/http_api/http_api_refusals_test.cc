// Every refusal of the API over real sockets, with its code and status. It is long, because there are many.
#include <vector>

#include <gtest/gtest.h>

#include "http_api/http_api.h"
#include "http_api/requests/put_calls_fixture.h"

namespace duewheel::http_api_refusals_test {
namespace {

Call raw(std::vector<std::pair<std::string, std::string>> fields) {
    return {"POST", kPut, "x", "text/plain", std::move(fields)};
}

std::string nested(int levels) {
    std::string text;
    for (int i = 0; i < levels; ++i) text += "{\"a\":";
    text += "1" + std::string(static_cast<std::size_t>(levels), '}');
    return text;
}

struct Refusal {
    Call call;
    int status;
    std::string code;
    std::string field;
    std::string says = {};  // part of the detail
};

void expect_refusals(const std::vector<Refusal>& refusals) {
    ApiServer server;
    for (const Refusal& refusal : refusals) {
        SCOPED_TRACE(refusal.call.method + " " + refusal.call.target + " " + refusal.call.body.substr(0, 100));
        const std::string answer = server.ask(refusal.call);
        EXPECT_EQ(status_of(answer), refusal.status);
        EXPECT_NE(answer.find("\r\nContent-Type: application/problem+json\r\n"), std::string::npos);
        EXPECT_EQ(member_of(answer, "code"), refusal.code) << body_of(answer);
        EXPECT_EQ(member_of(answer, "status"), std::to_string(refusal.status));
        EXPECT_EQ(member_of(answer, "field"), refusal.field) << body_of(answer);
        EXPECT_NE(member_of(answer, "detail").find(refusal.says), std::string::npos) << body_of(answer);
        EXPECT_EQ(server.command(), "");
    }
}

TEST(HttpApi, refuses_invalid_json) {
    expect_refusals({
        {put("{"), 400, "bad_json", "", "line 1, column 2"},
        {put("{\"body\":\n\"x\",\n  nonsense}"), 400, "bad_json", "", "line 3, column 3"},
        {put("nonsense"), 400, "bad_json", ""},
        {put("{} {}"), 400, "bad_json", "", "line 1, column 4"},
        {put("{\"delay\":NaN}"), 400, "bad_json", "", "line 1, column 10"},
        {put("{\"delay\":Infinity}"), 400, "bad_json", ""},
        {put("{\"delay_ms\":01}"), 400, "bad_json", ""},
        {put("{\"delay_ms\":1,}"), 400, "bad_json", ""},
        {put("{'body':'x'}"), 400, "bad_json", ""},
        {put("{\"body\":\"a\nb\"}"), 400, "bad_json", ""},
        {put("{\"body\":\"\\ud800\"}"), 400, "bad_json", ""},
        {put("{\"body\":\"x\"} // comment"), 400, "bad_json", ""},
        {put("{\"body\":\"\xff\"}"), 400, "bad_utf8", "", "body_base64"},
        {put("{\"body\":\"\xc0\x80\"}"), 400, "bad_utf8", ""},
        {put("{\"body\":\"\xed\xa0\x80\"}"), 400, "bad_utf8", ""},
        {put("{\"body\":\"\xf4\x90\x80\x80\"}"), 400, "bad_utf8", ""},
        {put("{\"body\":\"\xe2\x82"), 400, "bad_utf8", ""},
        {put(nested(33)), 400, "too_deep", "", "32 levels deep: nest less"},
        {put(std::string(100'000, '[')), 400, "too_deep", ""},
        {put(nested(32)), 400, "unknown_member", "a"},
        {put("[]"), 400, "wrong_type", "", "an array"},
        {put("null"), 400, "wrong_type", ""},
        {put("\"x\""), 400, "wrong_type", ""},
        {put("7"), 400, "wrong_type", ""},
    });
}

TEST(HttpApi, refuses_invalid_calls_on_groups) {
    const std::string group = "/v1/queues/q/groups/ann";
    expect_refusals({
        {{"GET", "/v1/queues/q/groups/"}, 400, "bad_group", "group"},
        {{"GET", "/v1/queues/q/groups/a%0A"}, 400, "bad_group", "group", "%2F"},
        {{"GET", "/v1/queues/q/groups/%FF"}, 400, "bad_group", "group"},
        {{"GET", "/v1/queues/q/groups/" + std::string(257, 'g')}, 400, "bad_group", "group"},
        {{"GET", "/v1/queues/q/groups/a%2"}, 400, "bad_path", ""},
        {{"GET", group + "?x=1"}, 400, "unknown_parameter", ""},
        {{"PUT", group, R"({"limits":{"leased":1}})"}, 400, "unknown_member", "limits"},
        {{"PUT", group, R"({"leased":0})"}, 400, "out_of_range", "leased"},
        {{"PUT", group, R"({"rate":{"per":"1s"}})"}, 400, "missing_member", "rate.count"},
        {{"PUT", group, R"({"rate":7})"}, 400, "wrong_type", "rate"},
        {{"PUT", "/v1/queues/q", R"({"groups":{"rate":{"count":0}}})"},
         400,
         "out_of_range",
         "groups.rate.count",
         "at least 1: give"},
        {{"PUT", "/v1/queues/q", R"({"groups":{"rate":{"count":1,"per":"0s"}}})"},
         400,
         "out_of_range",
         "groups.rate.per"},
        {{"PUT", "/v1/queues/q", R"({"groups":{"rate":{"x":0}}})"}, 400, "unknown_member", "groups.rate.x"},
        {{"POST", group + ":backoff"}, 400, "missing_member", "for"},
        {{"POST", group + ":backoff", R"({"for":"24h1s"})"}, 400, "out_of_range", "for"},
        {{"POST", group + ":backoff", R"({"for":"-1s"})"}, 400, "negative_duration", "for"},
        {{"GET", "/v1/queues/q/groups?order=size"}, 400, "bad_parameter", "order"},
        {{"GET", "/v1/queues/q/groups?after=ann"}, 400, "bad_parameter", "after", "order=name"},
        {{"GET", "/v1/queues/q/groups?cursor=ann"}, 400, "unknown_parameter", "cursor"},
    });
}

TEST(HttpApi, refuses_unknown_and_duplicate_members) {
    expect_refusals({
        {put(R"({"dealy":"10m"})"), 400, "unknown_member", "dealy", "`delay`"},
        {put(R"({"body-base64":""})"), 400, "unknown_member", "body-base64", "`body_base64`"},
        {put(R"({"Body":""})"), 400, "unknown_member", "Body", "`body`"},
        {put(R"({"":""})"), 400, "unknown_member", ""},
        {{"POST", kTake, R"({"wiat":"1s"})"}, 400, "unknown_member", "wiat", "`wait`"},
        {{"PATCH", "/v1/messages/1", R"({"dew":1})"}, 400, "unknown_member", "dew", "`due`"},
        {{"PATCH", "/v1/messages/1", R"({"delay_ms":1,"order_key":"a"})"}, 400, "unknown_member", "order_key"},
        {{"POST", "/v1/messages/1:fire", R"({"x":1})"}, 400, "unknown_member", "x", "no members"},
        {{"POST", "/v1/leases/" + kLease + ":ack", R"({"x":1})"}, 400, "unknown_member", "x"},
        {{"POST", "/v1/leases/" + kLease + ":fail", R"({"delay_ms":1})"}, 400, "unknown_member", "delay_ms"},
        {{"POST", "/v1/leases/" + kLease + ":extend", R"({"delay_ms":1})"}, 400, "unknown_member", "delay_ms"},
        {{"POST", "/v1/leases/" + kLease + ":release", R"({"lease_ms":1})"}, 400, "unknown_member", "lease_ms"},
        {put(R"({"body":"x","body":"y"})"), 400, "duplicate_member", "body"},
        {put(R"({"body":"x","\u0062ody":"y"})"), 400, "duplicate_member", "body"},
        {put(R"({"headers":{"a":"1","b":"2","a":"1"}})"), 400, "duplicate_member", "headers.a"},
        {put(R"({"headers":{"Trace":"1","trace":"2"}})"), 400, "duplicate_member", "headers.trace"},
        {put(R"({"body":"x","body_base64":""})"), 400, "conflicting_members", "body_base64"},
        {put(R"({"delay_ms":1,"due_ms":1})"), 400, "conflicting_members", "due"},
        {put(R"({"held":true,"transaction":{"check_back":{"after":"1m"}}})"), 400, "conflicting_members", "held"},
        {{"PATCH", "/v1/messages/1", R"({"delay_ms":1,"due_ms":1})"}, 400, "conflicting_members", "due"},
        {{"PATCH", "/v1/messages/1", "{}"}, 400, "missing_member", "delay"},
        {{"PATCH", "/v1/messages/1", R"({"body": null, "due_ms": null})"}, 400, "missing_member", "due"},
        {put("{}"), 400, "missing_member", "body", R"("body": "")"},
        {{"POST", kPut}, 400, "missing_member", "body"},
        {put(R"({"delay":"10m","content_type":"text/plain"})"), 400, "missing_member", "body"},
        {{"PATCH", "/v1/messages/1"}, 400, "missing_member", "delay"},
        {raw({{"Duewheel-Delay", "1s"}, {"Duewheel-Due", "1"}}), 400, "conflicting_members", "Duewheel-Due"},
        {raw({{"Duewheel-Dealy", "1s"}}), 400, "unknown_member", "Duewheel-Dealy"},
        {{"POST", kPut, "{}", "", {{"Duewheel-Delay", "1s"}}}, 400, "conflicting_members", "Duewheel-Delay"},
        {{"POST", kPut + "?delay=10m", "{}"}, 400, "unknown_parameter", ""},
        {{"GET", "/v1/messages/1?x=1"}, 400, "unknown_parameter", "x"},
        {{"GET", "/v1/messages/1?wait=soon"}, 400, "bad_duration", "wait"},
        {{"GET", "/v1/messages/1?wait=-1s"}, 400, "negative_duration", "wait"},
        {{"GET", "/v1/messages/1?wait=1s&wait=2s"}, 400, "duplicate_parameter", "wait"},
        {{"PATCH", "/v1/messages/1?wait=1s", R"({"delay_ms":1})"}, 400, "unknown_parameter", ""},
        {{"POST", "/v1/leases/" + kLease + ":ack", R"({"result":")" + std::string(65'535, 'x') + R"("})"},
         400,
         "out_of_range",
         "result"},
        {{"POST", "/v1/leases/" + kLease + ":ack", R"({"result":nothing})"}, 400, "bad_json", ""},
        {{"GET", "/v1/stats?x=1"}, 400, "unknown_parameter", "x"},
        {{"GET", "/healthz?x=1"}, 400, "unknown_parameter", "x"},
        {{"GET", "/readyz?x=1"}, 400, "unknown_parameter", "x"},
        {{"GET", "/metrics?x=1"}, 400, "unknown_parameter", "x"},
    });
    // The name comes back shortened, and whole letters only.
    ApiServer server;
    std::string name = "x";
    for (int i = 0; i < 5000; ++i) name += "å";
    const std::string answer = server.ask(put("{\"" + name + "\":1}"));
    EXPECT_EQ(member_of(answer, "field"), name.substr(0, 63));
}

TEST(HttpApi, refuses_values_of_the_wrong_type_naming_both) {
    expect_refusals({
        {put(R"({"body":5})"), 400, "wrong_type", "body", "is a number; it must be a string"},
        {put(R"({"body":{"a":1}})"), 400, "wrong_type", "body", "body_base64"},
        {put(R"({"body":null})"), 400, "wrong_type", "body", "null"},
        {put(R"({"body_base64":true})"), 400, "wrong_type", "body_base64", "a boolean"},
        {put(R"({"delay":true})"), 400, "wrong_type", "delay", "a boolean"},
        {put(R"({"delay":null})"), 400, "wrong_type", "delay"},
        {put(R"({"delay":["10m"]})"), 400, "wrong_type", "delay", "an array"},
        {put(R"({"due":{}})"), 400, "wrong_type", "due", "an object"},
        {put(R"({"priority":"high"})"), 400, "wrong_type", "priority", "is a string"},
        {put(R"({"content_type":1})"), 400, "wrong_type", "content_type"},
        {put(R"({"headers":[]})"), 400, "wrong_type", "headers"},
        {put(R"({"held":"true"})"), 400, "wrong_type", "held", "is a string; it must be true or false"},
        {put(R"({"headers":{"a":1}})"), 400, "wrong_type", "headers.a", "is a number"},
        {{"POST", kTake, R"({"max":"1"})"}, 400, "wrong_type", "max"},
        {{"POST", kTake, R"({"wait":false})"}, 400, "wrong_type", "wait"},
        {{"POST", "/v1/leases/" + kLease + ":fail", R"({"reason":1})"}, 400, "wrong_type", "reason"},
    });
}

// Seconds to Celery and beanstalkd, milliseconds to BullMQ: 600 was 0.6 s, and Unix seconds were a day in 1970.
TEST(HttpApi, refuses_numbers_without_a_unit_and_suggests_both_forms) {
    const std::string watchdog = "/v1/watchdogs/w";
    const std::string schedule = "/v1/schedules/s";
    const std::string queue = "/v1/queues/mail";
    const auto with = [](const char* before, const char* after = "}") {
        return [before, after](const std::string& value) { return before + value + after; };
    };
    struct Surface {
        Call call;
        std::string member;
        std::function<std::string(const std::string&)> body;
    };
    const std::vector<Surface> durations = {
        {{"POST", kPut}, "delay", with(R"({"delay":)")},
        {{"POST", kPut}, "expires_in", with(R"({"expires_in":)")},
        {{"POST", kPut}, "repeat.every", with(R"({"repeat":{"every":)", "}}")},
        {{"POST", kPut}, "repeat.max", with(R"({"repeat":{"every":"1s","max":)", "}}")},
        {{"POST", kPut}, "retry.first", with(R"({"retry":{"first":)", "}}")},
        {{"POST", kPut}, "retry.max", with(R"({"retry":{"max":)", "}}")},
        {{"POST", kPut}, "transaction.check_back.after", with(R"({"transaction":{"check_back":{"after":)", "}}}")},
        {{"PATCH", "/v1/messages/1"}, "delay", with(R"({"delay":)")},
        {{"POST", kTake}, "lease", with(R"({"lease":)")},
        {{"POST", kTake}, "wait", with(R"({"wait":)")},
        {{"POST", "/v1/leases/" + kLease + ":fail"}, "retry_in", with(R"({"retry_in":)")},
        {{"POST", "/v1/leases/" + kLease + ":extend"}, "lease", with(R"({"lease":)")},
        {{"POST", "/v1/leases/" + kLease + ":release"}, "delay", with(R"({"delay":)")},
        {{"POST", "/v1/leases:release"}, "delay", with(R"({"leases":[],"delay":)")},
        {{"PUT", queue}, "lease", with(R"({"lease":)")},
        {{"PUT", queue}, "retry.first", with(R"({"retry":{"first":)", "}}")},
        {{"PUT", queue},
         "target.webhook.timeout",
         with(R"({"target":{"webhook":{"url":"https://example.com","timeout":)", "}}}")},
        {{"PUT", schedule}, "every", with(R"({"queue":"q","every":)")},
        {{"PUT", schedule}, "jitter", with(R"({"queue":"q","every":"1h","jitter":)")},
        {{"PUT", schedule}, "misfire_window", with(R"({"queue":"q","every":"1h","misfire_window":)")},
        {{"PUT", schedule}, "expires_in", with(R"({"queue":"q","every":"1h","expires_in":)")},
        {{"PUT", watchdog}, "timeout", with(R"({"queue":"q","timeout":)")},
        {{"PUT", watchdog}, "max", with(R"({"queue":"q","timeout":"1h","max":)")},
        {{"PUT", watchdog}, "repeat_every", with(R"({"queue":"q","timeout":"1h","repeat_every":)")},
        {{"PUT", watchdog}, "expires_in", with(R"({"queue":"q","timeout":"1h","expires_in":)")},
        {{"POST", "/v1/clock:advance"}, "by", with(R"({"by":)")},
    };
    const std::vector<Surface> instants = {
        {{"POST", kPut}, "due", with(R"({"due":)")},
        {{"POST", kPut}, "expires", with(R"({"expires":)")},
        {{"POST", kPut}, "repeat.until", with(R"({"repeat":{"every":"1s","until":)", "}}")},
        {{"PATCH", "/v1/messages/1"}, "due", with(R"({"due":)")},
        {{"PUT", schedule}, "start", with(R"({"queue":"q","every":"1h","start":)")},
        {{"PUT", schedule}, "end", with(R"({"queue":"q","every":"1h","end":)")},
        {{"POST", queue + ":discard"}, "died_before", with(R"({"died_before":)")},
        {{"POST", "/v1/clock:advance"}, "to", with(R"({"to":)")},
    };
    std::vector<Refusal> refusals;
    for (const auto* surfaces : {&durations, &instants}) {
        const bool is_duration = surfaces == &durations;
        for (const Surface& surface : *surfaces) {
            for (const char* value : {"600", "\"600\""}) {
                Refusal refusal{surface.call, 400, is_duration ? "bad_duration" : "bad_instant", surface.member};
                refusal.call.body = surface.body(value);
                refusal.says = is_duration ? "write it as a string, such as \"10m\", or give milliseconds as `" +
                                                 surface.member + "_ms`"
                                           : "write it as a string, such as \"2027-01-01T06:00:00Z\", or give "
                                             "milliseconds since 1970 as `" +
                                                 surface.member + "_ms`";
                refusals.push_back(refusal);
            }
        }
    }
    expect_refusals(refusals);
}

TEST(HttpApi, refuses_numbers_without_a_unit_only_in_strings) {
    const std::string list = "/v1/queues/mail/messages";
    expect_refusals({
        {raw({{"Duewheel-Delay", "600"}}), 400, "bad_duration", "Duewheel-Delay", "a unit is missing"},
        {raw({{"Duewheel-Due", "1798783200"}}), 400, "bad_instant", "Duewheel-Due", "a number has no unit"},
        {{"GET", list + "?due_after=1798783200"}, 400, "bad_instant", "due_after", "a number has no unit"},
        {{"GET", list + "?due_before=1798783200000"}, 400, "bad_instant", "due_before", "a number has no unit"},
        {{"GET", "/v1/history?queue=q&from=5"}, 400, "bad_instant", "from", "a number has no unit"},
        {{"GET", "/v1/history?queue=q&to=5"}, 400, "bad_instant", "to", "a number has no unit"},
        {{"GET", "/v1/schedules/s:preview?from=5"}, 400, "bad_instant", "from", "a number has no unit"},
    });
}

TEST(HttpApi, a_member_with_a_unit_in_its_name_takes_only_a_number) {
    expect_refusals({
        {put(R"({"delay_ms":"10m"})"), 400, "wrong_type", "delay_ms", "a string such as \"10m\" belongs in `delay`"},
        {put(R"({"delay_ms":"600"})"), 400, "wrong_type", "delay_ms"},
        {put(R"({"due_ms":"2027-01-01T06:00:00Z"})"), 400, "wrong_type", "due_ms", "belongs in `due`"},
        {put(R"({"delay":"1s","delay_ms":1000})"), 400, "conflicting_members", "delay_ms", "`delay` or `delay_ms`"},
        {put(R"({"delay_ms":1,"due":"2027-01-01T06:00:00Z"})"), 400, "conflicting_members", "due"},
        {put(R"({"retry":{"first":"1s","first_ms":1}})"), 400, "conflicting_members", "retry.first_ms"},
    });
}

// Unix seconds in a place for milliseconds are a day in January 1970, and what is meant of long ago is a text.
TEST(HttpApi, refuses_implausible_numeric_instants) {
    constexpr InstantMs kNow = 1'798'783'200'000;  // 2027-01-01T06:00:00Z
    ApiServer server;
    server.server().on_loop([&] { server.shard().clock_status.server_ms = kNow; });
    const auto told = [&](const std::string& body) {
        const std::string answer = server.ask(put(body));
        const std::string code = member_of(answer, "code");
        return server.command().empty() ? code + " " + member_of(answer, "field") : "taken";
    };
    EXPECT_EQ(told(R"({"body":"x","due_ms":1798783200})"), "bad_instant due_ms");
    EXPECT_EQ(told(R"({"body":"x","due_ms":946684799999})"), "bad_instant due_ms");
    EXPECT_EQ(told(R"({"body":"x","expires_ms":946684799999})"), "bad_instant expires_ms");
    EXPECT_EQ(told(R"({"body":"x","expires_ms":946684800000})"), "taken") << "the engine knows what it may be";
    EXPECT_EQ(told(R"({"body":"x","repeat":{"every":"1s","until_ms":0}})"), "bad_instant repeat.until_ms");
    constexpr InstantMs kYear = std::int64_t{365} * 86'400'000;
    EXPECT_EQ(told(R"({"body":"x","due_ms":)" + std::to_string(kNow - kYear - 1) + "}"), "bad_instant due_ms");
    EXPECT_EQ(told(R"({"body":"x","due_ms":)" + std::to_string(kNow - kYear) + "}"), "taken");
    EXPECT_EQ(told(R"({"body":"x","due":"1970-01-21T19:39:43Z"})"), "taken");
    EXPECT_EQ(told(R"({"body":"x","due":"2000-01-01T00:00:00Z"})"), "taken");
    const std::string move = server.ask({"PATCH", "/v1/messages/1", R"({"due_ms":1000000000000})"});
    EXPECT_EQ(member_of(move, "field"), "due_ms");
    EXPECT_NE(member_of(move, "detail").find("more than a year ago"), std::string::npos) << body_of(move);
}

TEST(HttpApi, refuses_invalid_durations_instants_and_numbers) {
    std::vector<Refusal> refusals = {
        {put(R"({"delay_ms":-1})"), 400, "negative_duration", "delay_ms"},
        {put(R"({"delay":"-1s"})"), 400, "negative_duration", "delay"},
        {put(R"({"delay_ms":1.5})"), 400, "bad_duration", "delay_ms"},
        {put(R"({"delay_ms":1e400})"), 400, "bad_duration", "delay_ms"},
        {put(R"({"delay_ms":9223372036854775808})"), 400, "bad_duration", "delay_ms"},
        {put(R"({"due_ms":-1})"), 400, "bad_instant", "due_ms"},
        {put(R"({"due_ms":253402300800000})"), 400, "bad_instant", "due_ms"},
        {put(R"({"due_ms":1.5})"), 400, "bad_instant", "due_ms"},
        {put(R"({"expires_in_ms":-1})"), 400, "negative_duration", "expires_in_ms"},
        {put(R"({"expires":"soon"})"), 400, "bad_instant", "expires"},
        {put(R"({"expires_ms":1,"expires_in_ms":1})"), 400, "conflicting_members", "expires"},
        {put(R"({"order_key":""})"), 400, "bad_order_key", "order_key"},
        {put(R"({"order_key":"a\nb"})"), 400, "bad_order_key", "order_key"},
        {put(R"({"order_key":")" + std::string(257, 'k') + R"("})"), 400, "bad_order_key", "order_key"},
        {put(R"({"group":""})"), 400, "bad_group", "group"},
        {put(R"({"group":"a\u007f"})"), 400, "bad_group", "group"},
        {put(R"({"group":")" + std::string(257, 'g') + R"("})"), 400, "bad_group", "group"},
        {put(R"({"order_key":7})"), 400, "wrong_type", "order_key"},
        {put(R"({"priority":2147483648})"), 400, "out_of_range", "priority"},
        {put(R"({"priority":-2147483649})"), 400, "out_of_range", "priority"},
        {put(R"({"priority":0.5})"), 400, "wrong_type", "priority", "has decimals"},
        {put(R"({"priority":1e400})"), 400, "out_of_range", "priority"},
        {put(R"({"delay_ms":1e99999999999})"), 400, "out_of_range", "delay_ms", "without one"},
        {{"POST", kTake, R"({"max":1.5})"}, 400, "wrong_type", "max"},
        {{"POST", kTake, R"({"lease":"long"})"}, 400, "bad_duration", "lease"},
        {{"POST", kTake, R"({"wait_ms":-1})"}, 400, "negative_duration", "wait_ms"},
        {{"POST", "/v1/leases/" + kLease + ":fail", R"({"retry_in":"1y"})"}, 400, "bad_duration", "retry_in"},
        {{"POST", "/v1/leases/" + kLease + ":extend", R"({"lease":""})"}, 400, "bad_duration", "lease"},
        {{"POST", "/v1/leases/" + kLease + ":release", R"({"delay":"x"})"}, 400, "bad_duration", "delay"},
        {raw({{"Duewheel-Delay", "soon"}}), 400, "bad_duration", "Duewheel-Delay"},
        {raw({{"Duewheel-Delay", "-1"}}), 400, "negative_duration", "Duewheel-Delay"},
        {raw({{"Duewheel-Due", "2027-01-01"}}), 400, "bad_instant", "Duewheel-Due"},
    };
    for (const char* text : {"", "10", "1y", "1s1m", "1.0005s", "10 m", "99999999999999999999d", "PT", "P1M"}) {
        refusals.push_back({put("{\"delay\":\"" + std::string(text) + "\"}"), 400, "bad_duration", "delay"});
    }
    for (const char* text : {"", "tomorrow", "2027-01-01", "2027-01-01T06:00:00", "2027-02-29T00:00:00Z",
                             "1969-12-31T23:59:59Z", "2027-01-01T24:00:00Z", "1798783200000"}) {
        refusals.push_back({put("{\"due\":\"" + std::string(text) + "\"}"), 400, "bad_instant", "due"});
    }
    for (const char* text : {"Zg", "Zh==", "Z g=", "Zg==Zg==", "*"}) {
        refusals.push_back({put("{\"body_base64\":\"" + std::string(text) + "\"}"), 400, "bad_base64", "body_base64"});
    }
    expect_refusals(refusals);
}

TEST(HttpApi, refuses_invalid_names_ids_and_tokens) {
    std::vector<Refusal> refusals = {
        {{"POST", "/v1/queues/%2/messages"}, 400, "bad_path", ""},
        {{"POST", "/v1/queues/%zz/messages"}, 400, "bad_path", ""},
        {{"GET", "/v1/namespaces/%/messages/1"}, 400, "bad_path", ""},
        {{"GET", "/v1/messages/%a"}, 400, "bad_path", ""},
        {{"POST", "/v1/queues/q:lease/messages"}, 400, "bad_queue_name", "queue", "%2F"},
        {{"GET", "/v1/namespaces//messages/1"}, 400, "bad_namespace", "namespace"},
        {{"GET", "/v1/namespaces/-n/messages/1"}, 400, "bad_namespace", "namespace"},
        {{"GET", "/v1/namespaces/a%20b/messages/1"}, 400, "bad_namespace", "namespace"},
    };
    for (const char* name :
         {"", "-q", "a%20b", "a%00", "a%3Ab", "%C3", "a%CC%8A", "%E2%82%AC", "*", ".", "..", "%2E", ".%2e"}) {
        refusals.push_back({{"POST", "/v1/queues/" + std::string(name) + "/messages"}, 400, "bad_queue_name", "queue"});
        refusals.push_back({{"POST", "/v1/queues/" + std::string(name) + ":lease"}, 400, "bad_queue_name", "queue"});
    }
    for (const char* id :
         {"0", "01", "-1", "+1", "1e3", "1.0", "x", "9007199254740992", "99999999999999999999", "1%00"}) {
        refusals.push_back({{"GET", "/v1/messages/" + std::string(id)}, 400, "bad_id", "id"});
        refusals.push_back({{"POST", "/v1/messages/" + std::string(id) + ":fire"}, 400, "bad_id", "id"});
    }
    for (const std::string& token :
         {std::string("x"), kLease + "A", kLease + "=", kLease.substr(1), std::string(38, '*')}) {
        for (const char* verb : {"ack", "fail", "extend", "release"}) {
            refusals.push_back({{"POST", "/v1/leases/" + token + ":" + verb}, 400, "bad_lease_token", "lease"});
        }
    }
    expect_refusals(refusals);
}

TEST(HttpApi, refuses_unknown_paths) {
    std::vector<Refusal> refusals;
    for (const char* path : {"/v1",
                             "/v1/",
                             "/v2/stats",
                             "/v1/queues/q/",
                             "/v1/queues/q/lease",
                             "/v1/queues/q:messages",
                             "/v1/queues/q:nonsense",
                             "/v1/queues/q:lease/",
                             "/v1/queues/q/messages/1",
                             "/v1/messages/1/",
                             "/v1/messages/1:",
                             "/v1/messages/1:nonsense",
                             "/v1/leases/x",
                             "/v1/leases/x:nonsense",
                             "/v1/namespaces/n/namespaces",
                             "/v1/stats/",
                             "/v1/namespaces/n/stats",
                             "/V1/stats",
                             "//v1/stats",
                             "/healthz/"}) {
        refusals.push_back({{"POST", path}, 404, "unknown_path", ""});
    }
    expect_refusals(refusals);
}

TEST(HttpApi, an_unknown_path_gets_the_nearest_call_and_the_list_of_all) {
    ApiServer server;
    EXPECT_EQ(member_of(server.ask({"POST", "/v1/queues/q/lease"}), "detail"),
              "there is no such call; the nearest is /v1/queues/{queue}:lease, and /openapi.json lists all");
    EXPECT_EQ(member_of(server.ask({"GET", "/nonsense"}), "detail"), "there is no such call: /openapi.json lists all");
}

TEST(HttpApi, names_the_methods_that_a_path_takes) {
    ApiServer server;
    for (const auto& [call, allow] :
         std::initializer_list<std::pair<Call, std::string>>{{{"PUT", "/v1/messages/1"}, "GET, HEAD, DELETE, PATCH"},
                                                             {{"POST", "/v1/messages/1"}, "GET, HEAD, DELETE, PATCH"},
                                                             {{"delete", "/v1/messages/1"}, "GET, HEAD, DELETE, PATCH"},
                                                             {{"GET", "/v1/messages/1:fire"}, "POST"},
                                                             {{"DELETE", kPut}, "GET, HEAD, POST"},
                                                             {{"HEAD", kTake}, "POST"},
                                                             {{"DELETE", "/v1/leases/x:ack"}, "POST"},
                                                             {{"POST", "/v1/stats"}, "GET, HEAD"},
                                                             {{"POST", "/healthz"}, "GET, HEAD"},
                                                             {{"DELETE", "/readyz"}, "GET, HEAD"},
                                                             {{"PATCH", "/metrics"}, "GET, HEAD"}}) {
        const std::string answer = server.ask(call);
        EXPECT_EQ(status_of(answer), 405) << call.target;
        EXPECT_NE(answer.find("\r\nAllow: " + allow + "\r\n"), std::string::npos) << answer;
        if (call.method != "HEAD") {
            EXPECT_EQ(member_of(answer, "code"), "method_not_allowed");
        }
    }
}

TEST(HttpApi, refuses_media_types_that_hide_json) {
    expect_refusals({
        {{"POST", kTake, "{}", "text/plain"}, 415, "unsupported_media_type", "Content-Type", "application/json"},
        {{"PATCH", "/v1/messages/1", "delay=1", "application/x-www-form-urlencoded"},
         415,
         "unsupported_media_type",
         "Content-Type"},
        // What `curl -d '{"body":"x","delay":"10m"}'` sends: kept as it is, it would be due at once.
        {{"POST", kPut, R"({"body":"x","delay":"10m"})", "application/x-www-form-urlencoded"},
         415,
         "unsupported_media_type",
         "Content-Type"},
        // What JavaScript's fetch() sends of the same, and what clients call JSON besides: each was due at once.
        {{"POST", kPut, R"({"body":"x","delay":"10m"})", "text/plain;charset=UTF-8"},
         415,
         "unsupported_media_type",
         "Content-Type"},
        {{"POST", kPut, R"({"body":"x","delay":"10m"})", "text/json"}, 415, "unsupported_media_type", "Content-Type"},
        {{"POST", kPut, R"({"body":"x","delay":"10m"})", "application/x-ndjson"},
         415,
         "unsupported_media_type",
         "Content-Type"},
        {{"POST", kPut, "--a--", "multipart/form-data; boundary=a"}, 415, "unsupported_media_type", "Content-Type"},
        {{"POST", kPut, "x", "x/" + std::string(255, 'a')}, 415, "unsupported_media_type", "Content-Type"},
        {put("{\"content_type\":\"text/å\"}"), 400, "bad_content_type", "content_type"},
        {put("{\"content_type\":\"a\\nb\"}"), 400, "bad_content_type", "content_type"},
    });
}

TEST(HttpApi, refuses_bodies_over_the_limit) {
    HttpApiOptions options;
    options.body_bytes_max = 100;
    ApiServer server(options);
    EXPECT_EQ(status_of(server.ask({"POST", kPut, std::string(100, 'x'), "text/plain"}, PutAnswer{1024})), 201);
    const std::string answer = server.ask({"POST", kPut, std::string(101, 'x'), "text/plain"});
    EXPECT_EQ(status_of(answer), 413);
    EXPECT_EQ(member_of(answer, "code"), "body_too_large");
}

}  // namespace
}  // namespace duewheel::http_api_refusals_test
