// The conversion of calls about queues to commands, and refusals.
#include "http_api/requests/queue_request.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/answers/answer_text.h"
#include "http_api/answers/queue_text.h"
#include "http_api/command_fixture.h"

namespace duewheel::queue_request_test {
namespace {

std::string read(const Call& call) {
    const Result<Command> command = command_of(call);
    return command ? describe(*command) : code_and_field(command.error());
}

TEST(QueueRequest, each_call_becomes_its_command) {
    const std::pair<Call, std::string> cases[] = {
        {{"GET", "/v1/queues/mail"}, "describe default mail"},
        {{"HEAD", "/v1/queues/mail"}, "describe default mail"},
        {{"DELETE", "/v1/queues/mail"}, "remove queue default mail pending=0 lease=0"},
        {{"POST", "/v1/queues/a%2Fb:pause"}, "pause queue default a/b pending=0 lease=0"},
        {{"POST", "/v1/namespaces/team/queues/mail:resume"}, "resume queue team mail pending=0 lease=0"},
        {{"POST", "/v1/queues/mail:purge"}, "purge queue default mail pending=0 lease=0"},
        {{"POST", "/v1/queues/mail:discard"}, "discard queue default mail pending=0 lease=0"},
        {{"POST", "/v1/queues/mail:discard", R"({"died_before": "1970-01-01T00:00:00.077Z"})"},
         "discard queue default mail pending=0 lease=0 before=77"},
        {{"GET", "/v1/queues"}, "list queues default after= limit=100"},
        {{"GET", "/v1/namespaces/team/queues"}, "list queues team after= limit=100"},
        {{"GET", "/v1/queues?limit=7&cursor=" + queue_cursor("default", "a")}, "list queues default after=a limit=7"},
        {{"GET", "/v1/queues?prefix=a%2Fb&limit=7"}, "list queues default after= limit=7 prefix=a/b"},
        {{"GET", "/v1/queues?limit=1001"}, "out_of_range limit"},
        {{"GET", "/v1/queues?cursor=%21"}, "bad_cursor cursor"},
        {{"GET", "/v1/queues?cursor=AAAA"}, "bad_cursor cursor"},
        {{"GET", "/v1/queues?after=a"}, "unknown_parameter after"},
        {{"GET", "/v1/queues/mail?limit=7"}, "unknown_parameter "},
        {{"POST", "/v1/queues/mail"}, "method_not_allowed "},
        {{"PUT", "/v1/queues"}, "method_not_allowed "},
        {{"GET", "/v1/queues/mail:pause"}, "method_not_allowed "},
    };
    for (const auto& [call, command] : cases) EXPECT_EQ(read(call), command);
}

TEST(QueueRequest, settings_are_read_whole) {
    EXPECT_EQ(read({"PUT", "/v1/queues/mail", "{}"}), "set queue default mail as paused pending=0 lease=0");
    EXPECT_EQ(read({"PUT", "/v1/queues/mail", R"({"paused": false})"}), "set queue default mail pending=0 lease=0");
    EXPECT_EQ(read({"PUT", "/v1/queues/mail",
                    R"({"target": "pull", "paused": true, "lease": "2m", "limits": {"pending": 1000}})"}),
              "set queue default mail paused pending=1000 lease=120000");
    EXPECT_EQ(read({"PUT", "/v1/queues/mail", R"({"limits": {}, "lease_ms": 5000})"}),
              "set queue default mail as paused pending=0 lease=5000");
}

TEST(QueueRequest, a_webhook_is_read_with_all_members) {
    EXPECT_EQ(read({"PUT", "/v1/queues/mail", R"({"target": {"webhook": {"url": "https://example.com/in"}}})"}),
              "set queue default mail as paused pending=0 lease=0 webhook=https://example.com/in secrets=0 timeout=0 "
              "concurrency=0 rate=0");
    EXPECT_EQ(
        read({"PUT", "/v1/queues/mail",
              R"({"target": {"webhook": {"url": "u", "secrets": ["new", "old"], "timeout": "5s", "concurrency": 8,)"
              R"( "rate": 4294967295}}})"}),
        "set queue default mail as paused pending=0 lease=0 webhook=u secrets=2 timeout=5000 concurrency=8 "
        "rate=4294967295");
    EXPECT_EQ(read({"PUT", "/v1/queues/mail", R"({"target": {"webhook": {"url": "u", "rate": 4294967296}}})"}),
              "out_of_range target.webhook.rate");
}

TEST(QueueRequest, a_kafka_target_is_read_with_all_that_is_said_of_it) {
    const auto put = [](const std::string& kafka) {
        return read({"PUT", "/v1/queues/q", R"({"target": {"kafka": )" + kafka + "}}"});
    };
    const std::string set = "set queue default q as paused pending=0 lease=0 topic=";
    EXPECT_EQ(put(R"({"topic": "payments"})"), set + "payments key=- partition=- exactly_once");
    EXPECT_EQ(put(R"({"topic": "a.b_C-9", "key": "k", "partition": 0, "delivery": "at_least_once"})"),
              set + "a.b_C-9 key=k partition=0 at_least_once");
    EXPECT_EQ(put(R"({"topic": "t", "partition": 2147483647, "delivery": "exactly_once"})"),
              set + "t key=- partition=2147483647 exactly_once");
    EXPECT_EQ(put("{}"), "missing_member target.kafka.topic");
    for (const char* topic : {"", ".", "..", "a b", "a/b"}) {
        EXPECT_EQ(put(R"({"topic": ")" + std::string(topic) + "\"}"), "bad_kafka_target target.kafka.topic") << topic;
    }
    EXPECT_EQ(put(R"({"topic": ")" + std::string(250, 't') + "\"}"), "bad_kafka_target target.kafka.topic");
    EXPECT_EQ(put(R"({"topic": "t", "key": ""})"), "bad_kafka_target target.kafka.key");
    EXPECT_EQ(put(R"({"topic": "t", "key": ")" + std::string(1025, 'k') + "\"}"), "bad_kafka_target target.kafka.key");
    EXPECT_EQ(put(R"({"topic": "t", "partition": -1})"), "out_of_range target.kafka.partition");
    EXPECT_EQ(put(R"({"topic": "t", "partition": 2147483648})"), "out_of_range target.kafka.partition");
    EXPECT_EQ(put(R"({"topic": "t", "delivery": "once"})"), "bad_kafka_target target.kafka.delivery");
    EXPECT_EQ(put(R"({"topic": "t", "timeout": "1s"})"), "unknown_member target.kafka.timeout");
    EXPECT_EQ(put(R"({"topic": 5})"), "wrong_type target.kafka.topic");
    EXPECT_EQ(put(R"("t")"), "wrong_type target.kafka");
    EXPECT_EQ(read({"PUT", "/v1/queues/q", R"({"target": {"kafka": {"topic": "t"}, "webhook": {"url": "u"}}})"}),
              "conflicting_members target.kafka");
}

TEST(QueueRequest, a_kafka_target_is_shown_to_the_server_before_it_is_set) {
    HttpApiOptions options;
    options.check_kafka = [](std::string_view name_space, const KafkaTarget& target, bool is_administrator) -> Status {
        const std::string who = is_administrator ? " administrator" : " tenant";
        return Error{"kafka_not_configured"_code, std::string(name_space) + who + " " + target.topic, "target.kafka"};
    };
    const CallRequest request(
        {"PUT", "/v1/namespaces/team/queues/q", R"({"target": {"kafka": {"topic": "payments"}}})"});
    for (const bool is_administrator : {false, true}) {
        const Result<Command> command =
            read_command(request.request(), *find_call(request.request()), options, is_administrator);
        ASSERT_FALSE(command.ok());
        EXPECT_EQ(command.error().code, "kafka_not_configured"_code);
        EXPECT_EQ(command.error().message, is_administrator ? "team administrator payments" : "team tenant payments");
    }
}

TEST(QueueRequest, headers_of_a_webhook_are_such_as_http_can_carry) {
    const auto headers = [](const std::string& members) {
        const CallRequest request(
            {"PUT", "/v1/queues/mail", R"({"target": {"webhook": {"url": "u", "headers": )" + members + "}}}"});
        const Result<Command> command = read_command(request.request(), *find_call(request.request()), {});
        if (!command) return std::string(name_of(command.error().code)) + " " + command.error().field;
        std::string text;
        for (const auto& [name, value] : std::get<ConfigureQueueCommand>(*command).settings.webhook->headers) {
            text += name + "=" + value + ";";
        }
        return text;
    };
    const std::string field = "bad_webhook_header target.webhook.headers";
    EXPECT_EQ(headers(R"({"Authorization": "Bearer x", "X-\u0061": ""})"), "Authorization=Bearer x;X-a=;");
    EXPECT_EQ(headers("{}"), "");
    EXPECT_EQ(headers(R"({"": "x"})"), field);
    EXPECT_EQ(headers(R"({"a b": "x"})"), field);
    EXPECT_EQ(headers(R"({"a:": "x"})"), field);
    EXPECT_EQ(headers(R"({"a": "x\r\nHost: y"})"), field + ".a");
    EXPECT_EQ(headers(R"({"a": "1", "A": "2"})"), field + ".A");
    EXPECT_EQ(headers(R"({"Authorization": "***"})"), field + ".Authorization") << "what a look shows";
    EXPECT_EQ(headers(R"({"a": 1})"), "wrong_type target.webhook.headers.a");
    EXPECT_EQ(headers(R"(["a"])"), "wrong_type target.webhook.headers");
    std::string many;
    for (int i = 0; i < 17; ++i) many += (i == 0 ? "" : ",") + ("\"h" + std::to_string(i) + "\":\"\"");
    EXPECT_EQ(headers("{" + many + "}"), field);
    EXPECT_EQ(headers(R"({"a": ")" + std::string(4095, 'x') + "\"}"), "a=" + std::string(4095, 'x') + ";");
    EXPECT_EQ(headers(R"({"a": ")" + std::string(4096, 'x') + "\"}"), field);
}

TEST(QueueRequest, webhooks_are_validated_by_the_server) {
    HttpApiOptions options;
    options.check_webhook = [](const TargetOwner&, WebhookTarget& target) -> Status {
        if (target.url == "bad") return Error{"forbidden_address"_code, "no", "target.webhook.url"};
        target.url += "/in one form";
        return {};
    };
    const auto put = [&](const std::string& url) -> std::string {
        const CallRequest request({"PUT", "/v1/queues/mail", R"({"target": {"webhook": {"url": ")" + url + "\"}}}"});
        const Result<Command> command = read_command(request.request(), *find_call(request.request()), options);
        if (!command) return std::string(name_of(command.error().code));
        return std::get<ConfigureQueueCommand>(*command).settings.webhook->url;
    };
    EXPECT_EQ(put("good"), "good/in one form");
    EXPECT_EQ(put("bad"), "forbidden_address");
}

TEST(QueueRequest, what_is_wrong_with_settings_is_named) {
    const auto put = [](std::string body) { return read({"PUT", "/v1/queues/mail", std::move(body)}); };
    EXPECT_EQ(put(R"({"pause": true})"), "unknown_member pause");
    EXPECT_EQ(put(R"({"paused": "yes"})"), "wrong_type paused");
    EXPECT_EQ(put(R"({"paused": true, "paused": false})"), "duplicate_member paused");
    EXPECT_EQ(put(R"({"target": {}})"), "unsupported_target target");
    EXPECT_EQ(put(R"({"target": 5})"), "unsupported_target target");
    EXPECT_EQ(put(R"({"target": {"kafak": {}}})"), "unknown_member target.kafak");
    EXPECT_EQ(put(R"({"target": {"webhook": "https://example.com"}})"), "wrong_type target.webhook");
    EXPECT_EQ(put(R"({"target": {"webhook": {}}})"), "missing_member target.webhook.url");
    EXPECT_EQ(put(R"({"target": {"webhook": {"url": 5}}})"), "wrong_type target.webhook.url");
    EXPECT_EQ(put(R"({"target": {"webhook": {"url": "x", "secret": "whsec_"}}})"),
              "unknown_member target.webhook.secret");
    EXPECT_EQ(put(R"({"target": {"webhook": {"url": "x", "secrets": "a"}}})"), "wrong_type target.webhook.secrets");
    EXPECT_EQ(put(R"({"target": {"webhook": {"url": "x", "secrets": [1]}}})"), "wrong_type target.webhook.secrets[0]");
    for (const char* member : {"timeout_ms", "concurrency", "rate"}) {
        EXPECT_EQ(
            put(std::string(R"({"target": {"webhook": {"url": "x", ")") + member + R"(": 0}}})"),
            "out_of_range target.webhook." + std::string(member == std::string("timeout_ms") ? "timeout" : member));
    }
    EXPECT_EQ(put(R"({"target": "kafka"})"), "unsupported_target target");
    EXPECT_EQ(put(R"({"lease_ms": 0})"), "lease_too_short lease");
    EXPECT_EQ(put(R"({"lease": "soon"})"), "bad_duration lease");
    EXPECT_EQ(put(R"({"limits": 5})"), "wrong_type limits");
    EXPECT_EQ(put(R"({"limits": {"pendign": 5}})"), "unknown_member limits.pendign");
    EXPECT_EQ(put(R"({"limits": {"pending": "5"}})"), "wrong_type limits.pending");
    EXPECT_EQ(put(R"({"limits": {"pending": 0}})"), "out_of_range limits.pending");
    EXPECT_EQ(put(R"({"limits": {"per_second": 20}})"), "unknown_member limits.per_second") << "of an earlier version";
    EXPECT_EQ(put(R"({"limits": {"pending": 1, "pending": 2}})"), "duplicate_member limits.pending");
    EXPECT_EQ(read({"POST", "/v1/queues/mail:pause", R"({"for": "1h"})"}), "unknown_member for");
    EXPECT_EQ(read({"POST", "/v1/queues/mail:discard", R"({"died_before": "soon"})"}), "bad_instant died_before");
    EXPECT_EQ(read({"POST", "/v1/queues/mail:discard", R"({"before": 5})"}), "unknown_member before");
    EXPECT_EQ(read({"POST", "/v1/queues/mail:purge", R"({"died_before_ms": 5})"}), "unknown_member died_before_ms");
    EXPECT_EQ(read({"DELETE", "/v1/queues/-x"}), "bad_queue_name queue");
}

QueueAnswer busy_queue() {
    QueueAnswer answer;
    answer.queue = "mail";
    answer.settings.revision = 3;
    answer.counts = {10, 2, 1};
    answer.ready = 3;
    answer.leased = 1;
    answer.waiters = 4;
    return answer;
}

TEST(QueueText, of_a_queue) {
    EXPECT_EQ(
        answer_text(busy_queue()).body,
        R"({"queue":"mail","paused":false,"pending":10,"scheduled":4,"prepared":0,"ready":3,"leased":1,"held":2,"dead":1,)"
        R"("waiters":4,"backlog_on_disk":false,"settings":{"paused":false}})");
    QueueAnswer described = busy_queue();
    described.in_force = QueueRules{30'000, {10, 1'000, 2'000, 3'600'000, 200}};
    EXPECT_NE(answer_text(described).body.find(
                  R"("settings":{"paused":false},"in_force":{"lease_ms":30000,"retry":{"attempts":10,"first_ms":1000,)"
                  R"("factor":2,"max_ms":3600000,"jitter":0.2}}})"),
              std::string::npos)
        << answer_text(described).body;
    QueueAnswer purged = busy_queue();
    purged.name_space = "team";
    purged.settings.paused = true;
    purged.settings.lease_ms = 5000;
    purged.settings.pending_max = 100;
    purged.settings.old_per_second = 20;
    purged.settings.purge_through = 5120;
    purged.settings.purge_started_ms = 1'798'783'200'250;
    purged.purged = 7;
    purged.backlog_on_disk = true;
    EXPECT_EQ(
        answer_text(purged).body,
        R"({"namespace":"team","queue":"mail","paused":true,"pending":10,"scheduled":4,"prepared":0,"ready":3,"leased":1,)"
        R"("held":2,"dead":1,"waiters":4,"backlog_on_disk":true,"purge":{"started":"2027-01-01T06:00:00.250Z",)"
        R"("started_ms":1798783200250,"purged":7},"settings":{"paused":true,"lease_ms":5000,"limits":)"
        R"({"pending":100}}})");
    QueueAnswer discarded = busy_queue();
    discarded.settings.discard_started_ms = 1'798'783'200'250;
    discarded.settings.discard_before_ms = 1'798'783'200'000;
    discarded.discarded = 6;
    EXPECT_EQ(
        answer_text(discarded).body,
        R"({"queue":"mail","paused":false,"pending":10,"scheduled":4,"prepared":0,"ready":3,"leased":1,"held":2,"dead":1,)"
        R"("waiters":4,"backlog_on_disk":false,"discard":{"started":"2027-01-01T06:00:00.250Z",)"
        R"("started_ms":1798783200250,"died_before":"2027-01-01T06:00:00.000Z","died_before_ms":1798783200000,)"
        R"("discarded":6},"settings":{"paused":false}})");
    QueueAnswer posted = busy_queue();
    posted.settings.paused = true;
    posted.settings.paused_by = PausedBy::target;
    posted.settings.webhook = {"https://example.com/in", {"new", "old"}, 5'000, 8, 100};
    EXPECT_EQ(
        answer_text(posted).body,
        R"({"queue":"mail","paused":true,"paused_by":"target","pending":10,"scheduled":4,"prepared":0,"ready":3,"leased":1,)"
        R"("held":2,"dead":1,"waiters":4,"backlog_on_disk":false,"settings":{"target":{"webhook":{"url":)"
        R"("https://example.com/in","secrets":["new","old"],"timeout_ms":5000,"concurrency":8,"rate":100}},"paused":true}})");
    posted.settings.webhook = {"https://example.com/in", {}, 0, 0, 0, {{"Authorization", "Bearer x"}}};
    EXPECT_NE(answer_text(posted).body.find(R"("url":"https://example.com/in","headers":{"Authorization":"***"}}})"),
              std::string::npos)
        << answer_text(posted).body;
    posted.settings.webhook = {"https://example.com/in", {}, 0, 0, 0};
    EXPECT_NE(answer_text(posted).body.find(R"({"target":{"webhook":{"url":"https://example.com/in"}},)"),
              std::string::npos);
    posted.target = TargetStatus{TargetStatus::State::failed, 1'798'783'200'250, 1};
    EXPECT_NE(answer_text(posted).body.find(R"("webhook":{"state":"gone","in_flight":1})"), std::string::npos)
        << "whatever it was before it said so";
    posted.settings.paused = false;
    posted.settings.paused_by = {};
    EXPECT_NE(answer_text(posted).body.find(
                  R"("webhook":{"state":"backing_off","reason":"failures","until":"2027-01-01T06:00:00.250Z",)"
                  R"("until_ms":1798783200250,"in_flight":1},"settings")"),
              std::string::npos);
    posted.target = TargetStatus{TargetStatus::State::retry_after, 1'798'783'200'250, 0};
    EXPECT_NE(answer_text(posted).body.find(R"("state":"backing_off","reason":"retry_after","until":)"),
              std::string::npos);
    posted.target = TargetStatus{TargetStatus::State::off, 0, 0};
    EXPECT_NE(answer_text(posted).body.find(R"("webhook":{"state":"disabled","in_flight":0})"), std::string::npos);
    QueueAnswer sent = busy_queue();
    sent.settings.kafka = KafkaTarget{.topic = "payments", .key = "k", .partition = 0, .exactly_once = false};
    EXPECT_NE(
        answer_text(sent).body.find(R"("settings":{"target":{"kafka":{"topic":"payments","key":"k","partition":0,)"
                                    R"("delivery":"at_least_once"}},"paused":false}})"),
        std::string::npos)
        << answer_text(sent).body;
    sent.settings.kafka = KafkaTarget{.topic = "payments"};
    EXPECT_NE(answer_text(sent).body.find(R"({"kafka":{"topic":"payments","delivery":"exactly_once"}})"),
              std::string::npos);
    QueueAnswer removed;
    removed.queue = "mail";
    removed.removed = true;
    EXPECT_EQ(answer_text(removed).body, R"({"queue":"mail","removed":true})");
}

TEST(QueueText, of_a_list_has_the_cursor_of_the_next_page) {
    QueueListAnswer list;
    EXPECT_EQ(answer_text(list).body, R"({"queues":[]})");
    QueueAnswer empty;
    empty.queue = "a";
    list.queues = {empty};
    list.complete = false;
    EXPECT_EQ(
        answer_text(list).body,
        R"({"queues":[{"queue":"a","paused":false,"pending":0,"scheduled":0,"prepared":0,"ready":0,"leased":0,"held":0,)"
        R"("dead":0,"waiters":0,"backlog_on_disk":false,"settings":{"paused":false}}],"cursor":")" +
            queue_cursor("default", "a") + "\"}");
}

// /v1/queues?cursor=AAAA began behind a queue of three zero bytes: any base64 was a cursor.
TEST(QueueText, a_cursor_is_one_of_ours_or_none) {
    const std::string cursor = queue_cursor("default", "mail");
    EXPECT_EQ(parse_queue_cursor(cursor, "default"), "mail");
    EXPECT_EQ(parse_queue_cursor(cursor, "team"), std::nullopt);
    for (const char* none : {"", "AAAA", "YQ", "x!", "AAAAAAAAAAAAAAAAAAAA"}) {
        EXPECT_EQ(parse_queue_cursor(none, "default"), std::nullopt) << none;
    }
    for (std::size_t size = 0; size < cursor.size(); ++size) {
        EXPECT_EQ(parse_queue_cursor(cursor.substr(0, size), "default"), std::nullopt) << size;
    }
    for (std::size_t at = 0; at < cursor.size(); ++at) {
        std::string changed = cursor;
        changed[at] = changed[at] == 'A' ? 'B' : 'A';
        EXPECT_EQ(parse_queue_cursor(changed, "default"), std::nullopt) << at;
    }
}

}  // namespace
}  // namespace duewheel::queue_request_test
