// The conversion of calls about watchdogs to commands, refusals, and responses.
#include "http_api/requests/watchdog_request.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/answers/answer_text.h"
#include "http_api/answers/name_cursor.h"
#include "http_api/command_fixture.h"

namespace duewheel::watchdog_request_test {
namespace {

std::string put(const std::string& members) {
    return refusal({"PUT", "/v1/watchdogs/w", R"({"queue": "q")" + members + "}"});
}

TEST(WatchdogRequest, a_put_is_read_whole) {
    const Result<Command> command = command_of({"PUT", "/v1/namespaces/team/watchdogs/a%2Fb",
                                                R"({
        "queue": "q", "timeout": "30s", "max": "5m", "repeat_every": "1h", "feed": true, "body": "go",
        "headers": {"a": "b"}, "content_type": "text/plain", "priority": -1, "order_key": "k", "group": "g", "expires_in": "5m",
        "retry": {"attempts": 2}})"});
    ASSERT_TRUE(command) << command.error().message;
    const auto& watchdog = std::get<PutWatchdogCommand>(*command);
    EXPECT_EQ(watchdog.name_space, "team");
    EXPECT_EQ(watchdog.name, "a/b");
    EXPECT_TRUE(watchdog.feeds);
    const WatchdogRule& rule = watchdog.rule;
    EXPECT_EQ(rule.timeout_ms, 30'000);
    EXPECT_EQ(rule.max_ms, 300'000);
    EXPECT_EQ(rule.repeat_every_ms, 3'600'000);
    EXPECT_EQ(rule.queue, "q");
    EXPECT_EQ(rule.priority, -1);
    EXPECT_EQ(rule.order_key, "k");
    EXPECT_EQ(rule.group, "g");
    EXPECT_EQ(rule.expires_after_ms, 300'000);
    EXPECT_EQ(rule.retry.attempts, 2);
    EXPECT_EQ(watchdog.body, "go");
    EXPECT_EQ(watchdog.content_type, "text/plain");
    EXPECT_EQ(watchdog.headers, R"({"a":"b"})");
}

TEST(WatchdogRequest, the_content_of_its_messages_is_part_of_it_and_feeds_are_not) {
    const auto rule_of = [](const std::string& members) {
        return std::get<PutWatchdogCommand>(
                   *command_of({"PUT", "/v1/watchdogs/w", R"({"queue": "q", "timeout": "1h")" + members + "}"}))
            .rule;
    };
    EXPECT_TRUE(rule_of("") == rule_of(R"(, "body": "", "feed": true)"));
    EXPECT_FALSE(rule_of("") == rule_of(R"(, "body": "a")"));
    EXPECT_FALSE(rule_of(R"(, "body": "a")") == rule_of(R"(, "body": "a", "headers": {"a": "b"})"));
    EXPECT_FALSE(rule_of(R"(, "body": "a")") == rule_of(R"(, "body": "a", "content_type": "text/plain")"));
}

TEST(WatchdogRequest, other_calls_become_their_commands) {
    EXPECT_EQ(std::get<FeedWatchdogCommand>(*command_of({"POST", "/v1/watchdogs/w:feed"})).name, "w");
    EXPECT_EQ(std::get<RemoveWatchdogCommand>(*command_of({"DELETE", "/v1/watchdogs/w"})).name, "w");
    EXPECT_EQ(std::get<DescribeWatchdogCommand>(*command_of({"GET", "/v1/watchdogs/w"})).name, "w");
    const std::string cursor = name_cursor(NameList::watchdogs, "default", "a/b");
    const auto list = std::get<ListWatchdogsCommand>(*command_of({"GET", "/v1/watchdogs?limit=5&cursor=" + cursor}));
    EXPECT_EQ(list.after, "a/b");
    EXPECT_EQ(list.limit, 5u);
    EXPECT_EQ(refusal({"GET", "/v1/namespaces/team/watchdogs?cursor=" + cursor}), "bad_cursor cursor");
    EXPECT_EQ(refusal({"GET", "/v1/schedules?cursor=" + cursor}), "bad_cursor cursor") << "of another list";
    EXPECT_EQ(refusal({"POST", "/v1/watchdogs/w"}), "method_not_allowed ");
    EXPECT_EQ(refusal({"GET", "/v1/watchdogs/w:feed"}), "method_not_allowed ");
    EXPECT_EQ(refusal({"POST", "/v1/watchdogs/w:feed?timeout=3"}), "unknown_parameter ");
    EXPECT_EQ(refusal({"POST", "/v1/watchdogs/w:feed", R"({"body": "x"})"}), "unknown_member body");
    EXPECT_EQ(refusal({"GET", "/v1/watchdogs/-w"}), "bad_watchdog_name watchdog");
    EXPECT_EQ(refusal({"POST", "/v1/watchdogs/" + std::string(201, 'w') + ":feed"}), "bad_watchdog_name watchdog");
    EXPECT_EQ(refusal({"GET", "/v1/watchdogs/" + std::string(200, 'w')}), "taken");
}

TEST(WatchdogRequest, what_is_wrong_is_named) {
    EXPECT_EQ(refusal({"PUT", "/v1/watchdogs/w", R"({"timeout": "1h"})"}), "missing_member queue");
    EXPECT_EQ(refusal({"PUT", "/v1/watchdogs/w", R"({"queue": "-q", "timeout": "1h"})"}), "bad_queue_name queue");
    EXPECT_EQ(put(""), "missing_member timeout");
    EXPECT_EQ(put(R"(, "timeout": "soon")"), "bad_duration timeout");
    EXPECT_EQ(put(R"(, "timeout": "1h", "max_ms": 0)"), "out_of_range max");
    EXPECT_EQ(put(R"(, "timeout": "1h", "repeat_every": "0s")"), "out_of_range repeat_every");
    EXPECT_EQ(put(R"(, "timeout": "1h", "expires_in_ms": 0)"), "out_of_range expires_in");
    EXPECT_EQ(put(R"(, "timeout": "1h", "feed": 1)"), "wrong_type feed");
    EXPECT_EQ(put(R"(, "timeout": "1h", "body": "a", "body_base64": "YQ==")"), "conflicting_members body_base64");
    EXPECT_EQ(put(R"(, "timeout": "1h", "delay": "1h")"), "unknown_member delay");
}

WatchdogAnswer shown() {
    WatchdogAnswer answer;
    answer.name = "backup";
    answer.state.revision = 3;
    answer.state.rule.queue = "q";
    answer.state.rule.timeout_ms = 1'000;
    answer.state.created_ms = 1'000;
    answer.state.fed_ms = 5'000;
    answer.state.first_fed_ms = 5'000;
    answer.state.due_ms = 6'000;
    answer.state.feeds = 4;
    answer.state.owed_ms = 4'000;
    answer.state.owed_fed_ms = 3'000;
    answer.state.fired = 2;
    answer.state.last_id = 1025;
    answer.state.last_due_ms = 2'500;
    answer.has_content = true;
    answer.body = "silent";
    return answer;
}

TEST(WatchdogRequest, what_is_shown_keeps_to_the_contract) {
    ApiServer server;
    const std::string looked = server.ask({"GET", "/v1/watchdogs/backup"}, shown());
    EXPECT_EQ(status_of(looked), 200);
    EXPECT_EQ(member_of(looked, "state"), "armed");
    EXPECT_EQ(member_of(looked, "due_ms"), "6000");
    EXPECT_EQ(member_of(looked, "last_fed_ms"), "5000");
    EXPECT_EQ(member_of(looked, "late"), "");
    WatchdogAnswer asleep = shown();
    asleep.state.due_ms = asleep.state.owed_ms = 0;
    const std::string sleeping = server.ask({"GET", "/v1/watchdogs/backup"}, asleep);
    EXPECT_EQ(member_of(sleeping, "state"), "asleep");
    EXPECT_EQ(member_of(sleeping, "due"), "");
    WatchdogAnswer created = shown();
    created.created = true;
    created.has_content = false;
    const std::string put_body = R"({"queue": "q", "timeout": "1s", "feed": true})";
    EXPECT_EQ(status_of(server.ask({"PUT", "/v1/watchdogs/backup", put_body}, created)), 201);
    WatchdogAnswer fed = shown();
    fed.late = true;
    const std::string again = server.ask({"PUT", "/v1/watchdogs/backup", put_body}, fed);
    EXPECT_EQ(status_of(again), 200);
    EXPECT_EQ(member_of(again, "late"), "true");
    EXPECT_EQ(body_of(server.ask({"POST", "/v1/namespaces/team/watchdogs/backup:feed"},
                                 FedAnswer{"team", "backup", 1'798'783'200'250, true, 2})),
              R"({"namespace":"team","watchdog":"backup","due":"2027-01-01T06:00:00.250Z","due_ms":1798783200250,)"
              R"("late":true,"fired":2})");
    WatchdogAnswer removed = shown();
    removed.removed = true;
    EXPECT_EQ(member_of(server.ask({"DELETE", "/v1/watchdogs/backup"}, removed), "removed"), "true");
    const std::string page = server.ask({"GET", "/v1/watchdogs"}, WatchdogListAnswer{{shown()}, false});
    EXPECT_EQ(parse_name_cursor(NameList::watchdogs, member_of(page, "cursor"), "default"), "backup");
    EXPECT_EQ(member_of(server.ask({"POST", "/v1/watchdogs/x:feed"}, Error{"unknown_watchdog"_code, "none"}), "code"),
              "unknown_watchdog");
}

TEST(WatchdogRequest, a_message_contains_its_watchdog_and_the_last_feed) {
    Delivered message;
    message.id = 1025;
    message.watchdog = "backup";
    message.fed_ms = 77;
    message.occurrence = 3;
    const std::string leased = answer_text(LeaseAnswer{"q", {message}}).body;
    EXPECT_NE(leased.find(R"("watchdog":"backup","last_fed_ms":77,"occurrence":3,)"), std::string::npos) << leased;
    MessageAnswer seen;
    seen.row.id = 1025;
    seen.row.state.queue = "q";
    seen.watchdog = "backup";
    seen.fed_ms = 1'798'783'200'250;
    seen.occurrence = 3;
    const std::string looked = answer_text(seen).body;
    EXPECT_NE(looked.find(R"("watchdog":"backup","last_fed":"2027-01-01T06:00:00.250Z","last_fed_ms":1798783200250,)"
                          R"("occurrence":3)"),
              std::string::npos)
        << looked;
}

// What is read can be sent back.
TEST(WatchdogRequest, the_settings_that_are_shown_are_those_of_a_put) {
    WatchdogAnswer answer = shown();
    answer.state.rule.max_ms = 9'000;
    answer.state.rule.repeat_every_ms = 500;
    answer.state.rule.priority = 7;
    answer.state.rule.order_key = "k";
    answer.state.rule.expires_after_ms = 9;
    answer.state.rule.retry.attempts = 4;
    answer.headers = R"({"a":"b"})";
    const boost::json::value members = boost::json::parse(answer_text(answer).body);
    const std::string settings = boost::json::serialize(members.at("settings"));
    const Result<Command> command = command_of({"PUT", "/v1/watchdogs/backup", settings});
    ASSERT_TRUE(command) << command.error().message << settings;
    WatchdogRule read = std::get<PutWatchdogCommand>(*command).rule;
    read.content_hash = answer.state.rule.content_hash;
    EXPECT_TRUE(read == answer.state.rule) << settings;
}

}  // namespace
}  // namespace duewheel::watchdog_request_test
