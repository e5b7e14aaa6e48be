// Every byte of every response: other programs rely on these formats.
#include "http_api/answers/answer_text.h"

#include <algorithm>
#include <string>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/answers/lease_text.h"
#include "http_api/answers/message_text.h"
#include "http_api/answers/stats_text.h"
#include "http_api/fields/message_rows.h"
#include "http_api/problem.h"
#include "http_api/requests/list_request.h"

namespace duewheel::answer_text_test {
namespace {

constexpr DueMs kDue = 1'798'783'200'250;  // 2027-01-01T06:00:00.250Z

void expect_json(const HttpResponse& response, int status, std::string_view body) {
    EXPECT_EQ(response.status, status);
    EXPECT_EQ(response.content_type, "application/json");
    EXPECT_EQ(response.body, body);
    EXPECT_TRUE(response.headers.empty());
}

TEST(AnswerText, groups_show_what_keeps_them_from_delivery) {
    GroupAnswer group;
    group.queue = "calls";
    group.group = "a/b:backoff";
    expect_json(answer_text(group), 200,
                R"({"queue":"calls","group":"a/b:backoff","ready":0,"leased":0,"settings":{}})");
    group.name_space = "team";
    group.settings = {.revision = 2, .leased_max = 3, .rate = RateRule{5, 60'000, 2}, .weight = 4};
    group.settings.backoff_until_ms = 1'798'783'201'000;
    group.ready = 7;
    group.is_ready_min = true;
    group.leased = 3;
    group.oldest_due_ms = 1'798'783'200'000;
    group.limited_by = LimitedBy::backoff;
    group.limited_since_ms = 1'798'783'200'500;
    const std::string text =
        R"({"namespace":"team","queue":"calls","group":"a/b:backoff","ready":7,"ready_is_minimum":true,"leased":3,)"
        R"("oldest_due":"2027-01-01T06:00:00.000Z","oldest_due_ms":1798783200000,"limited_by":"backoff",)"
        R"("limited_since":"2027-01-01T06:00:00.500Z","limited_since_ms":1798783200500,)"
        R"("backoff_until":"2027-01-01T06:00:01.000Z","backoff_until_ms":1798783201000,)"
        R"("settings":{"leased":3,"rate":{"count":5,"per_ms":60000,"burst":2},"weight":4}})";
    expect_json(answer_text(group), 200, text);
    expect_json(answer_text(GroupListAnswer{{group}, 9, false}), 200,
                R"({"groups":[)" + text + R"(],"known":9,"more":true})");
}

TEST(AnswerText, of_a_put) {
    expect_json(
        answer_text(PutAnswer{9007199254740991, State::scheduled, kDue}), 201,
        R"({"id":"9007199254740991","state":"scheduled","due":"2027-01-01T06:00:00.250Z","due_ms":1798783200250})");
}

TEST(AnswerText, of_a_lease_with_nothing_due) {
    expect_json(answer_text(LeaseAnswer{"q", {}}), 200, R"({"messages":[]})");
}

TEST(AnswerText, of_a_lease) {
    Delivered text;
    text.id = 1024;
    text.lease = {1024, 1, 2, 3};
    text.lease_until_ms = kDue + 30'000;
    text.due_ms = kDue;
    text.delivered_ms = kDue + 12;
    text.lateness_ms = 12;
    text.attempt = 1;
    text.occurrence = 1;
    text.body = "say \"hi\"\n\x01 \\ \xc3\xa5";
    text.content_type = "text/plain";
    text.headers = R"({"a":"b"})";
    text.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    Delivered bytes = text;
    bytes.id = 2048;
    bytes.body = "\xff\x00";
    bytes.body.push_back('\0');
    bytes.content_type = bytes.headers = bytes.traceparent = "";
    bytes.maybe_delivered = true;
    const std::string lease = lease_text(text.lease);
    expect_json(
        answer_text(LeaseAnswer{"mail", {text, bytes}}), 200,
        R"({"messages":[{"id":"1024","queue":"mail","lease":")" + lease +
            R"(","lease_until_ms":1798783230250,"body":"say \"hi\"\n\u0001 \\ å","content_type":"text/plain",)"
            R"("headers":{"a":"b"},"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",)"
            R"("occurrence":1,"due_ms":1798783200250,"delivered_ms":1798783200262,"lateness_ms":12,"wait_ms":0,"attempt":1,)"
            R"("maybe_delivered":false},{"id":"2048","queue":"mail","lease":")" +
            lease +
            R"(","lease_until_ms":1798783230250,"body_base64":"/wA=","occurrence":1,"due_ms":1798783200250,)"
            R"("delivered_ms":1798783200262,"lateness_ms":12,"wait_ms":0,"attempt":1,"maybe_delivered":true}]})");
}

// Content of that type was a text in which the consumer's JSON had to be looked for.
TEST(AnswerText, content_that_is_json_comes_as_json) {
    const auto content = [](const std::string& body, const std::string& type) {
        Delivered message;
        message.body = body;
        message.content_type = type;
        const std::string text = answer_text(LeaseAnswer{"mail", {message}}).body;
        const std::size_t from = text.find("\"lease_until_ms\":0,") + 19;
        return text.substr(from, text.find(",\"occurrence\"") - from);
    };
    const std::string json = "{\"z\":1.50,\n \"a\":9007199254740993, \"a\":[]}";
    EXPECT_EQ(content(json, "application/json"), R"("json":{"z":1.50,  "a":9007199254740993, "a":[]})"
                                                 R"(,"content_type":"application/json")");
    EXPECT_EQ(content("1e5", "Application/JSON ;charset=utf-8"),
              R"("json":1e5,"content_type":"Application/JSON ;charset=utf-8")");
    EXPECT_EQ(content("{}", "application/cloudevents+json"),
              R"("body":"{}","content_type":"application/cloudevents+json")");
    EXPECT_EQ(content("{", "application/json"), R"("body":"{","content_type":"application/json")");
    EXPECT_EQ(content("", "application/json"), R"("body":"","content_type":"application/json")");
    EXPECT_EQ(content("\xff", "application/json"), R"("body_base64":"/w==","content_type":"application/json")");
    EXPECT_EQ(content("{}", ""), R"("body":"{}")");
}

TEST(AnswerText, of_a_message_that_waits_and_of_one_that_has_ended) {
    MessageAnswer waiting;
    waiting.row.id = 1024;
    waiting.row.state.queue = "mail";
    waiting.row.state.due_ms = waiting.row.state.nominal_due_ms = kDue;
    waiting.row.state.priority = -5;
    waiting.put_ms = kDue - 1000;
    waiting.has_content = true;
    waiting.body = "x";
    expect_json(answer_text(waiting), 200,
                R"({"id":"1024","queue":"mail","state":"scheduled","due":"2027-01-01T06:00:00.250Z",)"
                R"("due_ms":1798783200250,"priority":-5,"attempts":0,"maybe_delivered":false,"put_ms":1798783199250,)"
                R"("body":"x"})");
    MessageAnswer ended = waiting;
    ended.row.state.name_space = "team";
    ended.row.state.state = State::done;
    ended.row.state.nominal_due_ms = kDue - 50;
    ended.row.state.attempts = 2;
    ended.row.state.maybe_delivered = true;
    ended.row.ended_ms = kDue + 50;
    ended.lease_until_ms = kDue + 60;
    ended.has_content = false;
    ended.put_ms = 0;
    ended.row.state.expires_ms = kDue + 1000;
    ended.row.state.order_key = "ann";
    ended.row.state.group = "eve";
    expect_json(answer_text(ended), 200,
                R"({"id":"1024","namespace":"team","queue":"mail","state":"done","due":"2027-01-01T06:00:00.250Z",)"
                R"("due_ms":1798783200250,"nominal_due_ms":1798783200200,"expires":"2027-01-01T06:00:01.250Z",)"
                R"("expires_ms":1798783201250,"order_key":"ann","group":"eve","priority":-5,"attempts":2,)"
                R"("maybe_delivered":true,"lease_until_ms":1798783200310,"ended":"2027-01-01T06:00:00.300Z",)"
                R"("ended_ms":1798783200300})");
}

TEST(AnswerText, of_a_dead_message_with_a_rule_of_its_own) {
    MessageAnswer dead;
    dead.row.id = 1024;
    dead.row.state.queue = "mail";
    dead.row.state.state = State::dead;
    dead.row.state.due_ms = dead.row.state.nominal_due_ms = kDue;
    dead.row.state.attempts = 3;
    dead.row.state.retry = RetryRule{3, 1'000, 1'500, 3'600'000, 5};
    dead.row.ended_ms = kDue + 50;
    dead.row.reason = "the \"printer\" is on fire";
    dead.has_content = true;
    dead.body = "x";
    expect_json(answer_text(dead), 200,
                R"({"id":"1024","queue":"mail","state":"dead","due":"2027-01-01T06:00:00.250Z",)"
                R"("due_ms":1798783200250,"priority":0,"attempts":3,"maybe_delivered":false,)"
                R"("retry":{"attempts":3,"first_ms":1000,"factor":1.5,"max_ms":3600000,"jitter":0.005},)"
                R"("ended":"2027-01-01T06:00:00.300Z","ended_ms":1798783200300,)"
                R"("reason":"the \"printer\" is on fire","body":"x"})");
}

TEST(AnswerText, of_a_redrive) {
    expect_json(answer_text(RedriveAnswer{12, true}), 200, R"({"redriven":12,"more":true})");
}

TEST(AnswerText, of_a_change) {
    for (const auto& [outcome, name] :
         {std::pair{ChangeOutcome::cancelled, "cancelled"}, {ChangeOutcome::held, "held"}}) {
        expect_json(answer_text(ChangeAnswer{outcome, 3, true, 0}), 200,
                    R"({"outcome":")" + std::string(name) + R"(","attempts":3,"maybe_delivered":true})");
    }
    for (const auto& [outcome, name] : {std::pair{ChangeOutcome::rescheduled, "rescheduled"},
                                        {ChangeOutcome::fired, "fired"},
                                        {ChangeOutcome::kicked, "kicked"}}) {
        expect_json(
            answer_text(ChangeAnswer{outcome, 0, false, kDue}), 200,
            R"({"outcome":")" + std::string(name) +
                R"(","attempts":0,"maybe_delivered":false,"due":"2027-01-01T06:00:00.250Z","due_ms":1798783200250})");
    }
}

TEST(AnswerText, of_the_end_of_a_lease) {
    expect_json(answer_text(LeaseEndAnswer{LeaseOutcome::done, 0, 0}), 200, R"({"outcome":"done"})");
    expect_json(answer_text(LeaseEndAnswer{LeaseOutcome::dead, 0, 0}), 200, R"({"outcome":"dead"})");
    expect_json(answer_text(LeaseEndAnswer{LeaseOutcome::held, 0, 0}), 200, R"({"outcome":"held"})");
    expect_json(answer_text(LeaseEndAnswer{LeaseOutcome::retrying, kDue, 0}), 200,
                R"({"outcome":"retrying","due":"2027-01-01T06:00:00.250Z","due_ms":1798783200250})");
    expect_json(answer_text(LeaseEndAnswer{LeaseOutcome::released, kDue, 0}), 200,
                R"({"outcome":"released","due":"2027-01-01T06:00:00.250Z","due_ms":1798783200250})");
    expect_json(answer_text(LeaseEndAnswer{LeaseOutcome::extended, 0, kDue}), 200,
                R"({"outcome":"extended","lease_until_ms":1798783200250})");
}

TEST(AnswerText, of_a_refusal) {
    const Error error{"unknown_id"_code, "No \"such\" message.", "id"};
    const HttpResponse response = answer_text(error);
    EXPECT_EQ(response.status, 404);
    EXPECT_EQ(response.content_type, "application/problem+json");
    EXPECT_EQ(response.body,
              R"({"type":"/docs/errors#unknown_id","title":"No such message","status":404,"code":"unknown_id",)"
              R"("detail":"No \"such\" message.","field":"id"})");
    EXPECT_TRUE(response.headers.empty());
    EXPECT_EQ(answer_text(Error{"bad_json"_code, "x"}).body,
              R"({"type":"/docs/errors#bad_json","title":"Invalid JSON","status":400,"code":"bad_json","detail":"x"})");
}

TEST(AnswerText, sends_retry_after_to_a_limited_client) {
    for (const ErrorCode code : {"too_busy"_code, "overloaded"_code, "waiter_limit"_code, "queue_limit"_code}) {
        const HttpResponse response = answer_text(Error{code, "x"});
        ASSERT_EQ(response.headers.size(), 1u) << code;
        EXPECT_EQ(response.headers[0].name, "Retry-After");
        EXPECT_EQ(response.headers[0].value, "1");
    }
}

// A code that no client should receive is an internal error, and must not look like an error of the client.
TEST(AnswerText, of_a_code_that_is_not_for_clients_is_500) {
    const Error error{"damaged_log"_code, "x", "y"};
    const HttpResponse response = answer_text(error);
    EXPECT_EQ(response.status, 500);
    EXPECT_NE(response.body.find(R"("status":500)"), std::string::npos);
}

TEST(AnswerText, of_the_statistics) {
    EngineCounters counters;
    counters.server_time_ms = kDue;
    counters.pending = 1;
    counters.ready = 2;
    counters.leased = 3;
    counters.waiters = 4;
    counters.accepted = 5;
    counters.delivered = 6;
    counters.acknowledged = 7;
    counters.failed = 8;
    counters.cancelled = 9;
    counters.expired = 90;
    counters.rescheduled = 10;
    counters.leases_expired = 11;
    counters.commits = 12;
    counters.in_memory = 13;
    counters.unsealed_segments = 14;
    counters.puts_stalled = true;
    counters.queues = 18;
    QueueSums sums;
    sums.dead = 19;
    const std::string levels =
        R"({"instance":"5f0c","version":"0.1.0","server_time_ms":1798783200250,"pending":1,"ready":2,"leased":3,"waiters":4,"dead_letters":19,"accepted":5,"delivered":6,)"
        R"("done":7,"failed":8,"cancelled":9,"expired":90,"rescheduled":10,"leases_lost":11,"dead":0,"held":0,"requeued":0,)"
        R"("prepared":0,"committed":0,"rolled_back":0,"unanswered":0,"checks":0,"commits":12,"in_memory":13,)"
        R"("unsealed_segments":14,"puts_stalled":true,"disk_free_bytes":21,"lateness_p50_ms":15,"lateness_p99_ms":16,)"
        R"("lateness_max_ms":17,"wait_p50_ms":25,"wait_p99_ms":26,"wait_max_ms":27,"queue_count":18,"queues":[)";
    ServerFacts facts{.instance = "5f0c", .version = "0.1.0", .disk_free_bytes = 21, .kafka = {}};
    expect_json(stats_text(facts, counters, sums, {}, {{5, 15, 16, 17}, {5, 25, 26, 27}}), 200, levels + "]}");
    std::vector<QueueCounters> queues = {{{"default", "mail"}, 1, 2, 3, true}, {{"team", "q"}, 0, 0, 0, false}};
    queues[0].dead = 20;
    queues[0].pending = 22;
    queues[0].oldest_due_ms = 1'798'783'200'000;
    queues[1].paused = true;
    facts.kafka = R"({"brokers_up":3})";
    expect_json(
        stats_text(facts, counters, sums, queues, {{5, 15, 16, 17}, {5, 25, 26, 27}}), 200,
        levels +
            R"({"queue":"mail","pending":22,"ready":1,"leased":2,"waiters":3,"dead":20,"paused":false,"backlog_on_disk":true,"oldest_due_ms":1798783200000},)"
            R"({"namespace":"team","queue":"q","pending":0,"ready":0,"leased":0,"waiters":0,"dead":0,"paused":true,"backlog_on_disk":false}],"kafka":{"brokers_up":3}})");
}

TEST(AnswerText, a_page_shows_messages_without_their_content) {
    ListAnswer page;
    ListedMessage& message = page.listed.emplace_back();
    message.row.id = 1024;
    message.row.state.queue = "mail";
    message.row.state.state = State::leased;
    message.row.state.due_ms = message.row.state.nominal_due_ms = 1'798'783'200'000;
    message.row.state.attempts = 1;
    message.lease_until_ms = 1'798'783'230'000;
    const std::string listed =
        R"({"messages":[{"id":"1024","queue":"mail","state":"leased","due":"2027-01-01T06:00:00.000Z",)"
        R"("due_ms":1798783200000,"priority":0,"attempts":1,"maybe_delivered":false,"lease_until_ms":1798783230000}])";
    expect_json(answer_text(page), 200, listed + "}");
    page.next = DuePosition{1'798'783'200'000, 1025};
    page.query = 7;
    expect_json(answer_text(page), 200,
                listed + R"(,"cursor":")" + list_cursor_text({1'798'783'200'000, 1025}, 7) + R"("})");
    expect_json(answer_text(ListAnswer{}), 200, R"({"messages":[]})");
    message.row.state.state = State::ready;
    message.blocked_by = "group_rate"_code;
    EXPECT_NE(answer_text(page).body.find(R"("blocked_by":"group_rate")"), std::string::npos);
}

TEST(AnswerText, of_a_forecast) {
    ForecastAnswer forecast;
    forecast.now_ms = 1'798'783'200'250;
    forecast.queue = "mail";
    forecast.minutes.push_back(
        {.start_ms = 1'798'783'200'000, .scheduled = 4, .retrying = 3, .recurring = 2, .runs = 1});
    expect_json(
        answer_text(forecast), 200,
        R"({"now":"2027-01-01T06:00:00.250Z","now_ms":1798783200250,"queue":"mail","exact":true,"step_ms":60000,)"
        R"("total":{"due":10,"scheduled":4,"retrying":3,"recurring":2,"runs":1},)"
        R"("minutes":[{"start":"2027-01-01T06:00:00.000Z","start_ms":1798783200000,)"
        R"("due":10,"scheduled":4,"retrying":3,"recurring":2,"runs":1}]})");
    forecast.queue.clear();
    forecast.minutes.push_back({.start_ms = 1'798'783'260'000, .scheduled = 1, .at_least = true});
    expect_json(answer_text(forecast), 200,
                R"({"now":"2027-01-01T06:00:00.250Z","now_ms":1798783200250,"exact":false,"step_ms":60000,)"
                R"("total":{"due":11,"scheduled":5,"retrying":3,"recurring":2,"runs":1},)"
                R"("minutes":[{"start":"2027-01-01T06:00:00.000Z","start_ms":1798783200000,)"
                R"("due":10,"scheduled":4,"retrying":3,"recurring":2,"runs":1},)"
                R"({"start":"2027-01-01T06:01:00.000Z","start_ms":1798783260000,)"
                R"("due":1,"scheduled":1,"retrying":0,"recurring":0,"runs":0,"at_least":true}]})");
}

// The rows of messages make the schema and the page, and the responses are written by hand: a member without a row
// would be missing from both.
template <class Message>
void expect_row_of_each_member(std::string_view message) {
    const auto known = fields_of<Message>().members_of({});
    auto next = known.begin();
    const boost::json::value written = boost::json::parse(message);
    for (const auto& member : written.as_object()) {
        const auto found = std::find(next, known.end(), std::string_view(member.key()));
        EXPECT_NE(found, known.end()) << member.key() << " has no row, or one at another place";
        if (found != known.end()) next = found + 1;
    }
}

template <class Message>
Message with_all_members() {
    Message message;
    message.body = "{}";
    message.content_type = "application/json";
    message.headers = R"({"a":"b"})";
    message.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    message.parent = 7;
    message.occurrence = 3;
    message.schedule = "nightly";
    message.watchdog = "backup";
    message.fed_ms = kDue;
    message.lease_until_ms = kDue;
    return message;
}

TEST(AnswerText, has_a_row_for_each_member_of_a_message) {
    auto shown = with_all_members<MessageAnswer>();
    MessageState& state = shown.row.state;
    state.state = State::retrying;
    state.name_space = "n";
    state.queue = "q";
    state.due_ms = kDue + 1;
    state.nominal_due_ms = kDue;
    state.expires_ms = kDue + 2;
    state.order_key = state.group = state.key = "k";
    state.next_occurrence = 4;
    state.retry.emplace();
    shown.blocked_by = "queue_full"_code;
    shown.repeat.emplace();
    shown.expires_in_ms = 5;
    shown.put_ms = shown.row.ended_ms = kDue;
    shown.row.reason = "why";
    shown.has_content = true;
    expect_row_of_each_member<MessageAnswer>(answer_text(shown).body);
    state.state = State::prepared;
    shown.transaction.emplace();
    expect_row_of_each_member<MessageAnswer>(answer_text(shown).body);
    shown.parent = 0;
    shown.body = "\xff";
    expect_row_of_each_member<MessageAnswer>(answer_text(shown).body);

    auto delivered = with_all_members<Delivered>();
    delivered.key = "k";
    std::string first;
    JsonWriter json(first);
    write_delivered(json, "q", delivered);
    expect_row_of_each_member<Delivered>(first);
    delivered.check.emplace();
    delivered.body = "text";
    std::string second;
    JsonWriter check(second);
    write_delivered(check, "q", delivered);
    expect_row_of_each_member<Delivered>(second);
}

}  // namespace
}  // namespace duewheel::answer_text_test
