// The conversion of calls about schedules to commands, refusals, and responses.
#include "http_api/requests/schedule_request.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/answers/answer_text.h"
#include "http_api/answers/name_cursor.h"
#include "http_api/answers/schedule_text.h"
#include "http_api/command_fixture.h"

namespace duewheel::schedule_request_test {
namespace {

std::string put(const std::string& members) {
    return refusal({"PUT", "/v1/schedules/s", R"({"queue": "q")" + members + "}"});
}

TEST(ScheduleRequest, a_put_is_read_whole) {
    const Result<Command> command = command_of({"PUT",
                                                "/v1/namespaces/team/schedules/a%2Fb",
                                                R"({
        "queue": "q", "cron": "30 2 * * *", "zone": "Europe/Oslo", "dst": "skip", "dst_repeat": "both",
        "closed": "SAT SUN", "start": "2027-01-01T00:00:00Z", "end_ms": 1830000000000, "times": 9, "jitter": "30s",
        "misfire": "all", "misfire_window": "1h", "overlap": "queue_one", "paused": true, "body": "go",
        "headers": {"a": "b"}, "content_type": "text/plain", "priority": -1, "order_key": "k", "group": "g", "expires_in": "5m",
        "retry": {"attempts": 2}})",
                                                "",
                                                {{"traceparent", "x"}}});
    ASSERT_TRUE(command) << command.error().message;
    const auto& schedule = std::get<PutScheduleCommand>(*command);
    EXPECT_EQ(schedule.name_space, "team");
    EXPECT_EQ(schedule.name, "a/b");
    const ScheduleRule& rule = schedule.rule;
    const TimesRule times{TimesKind::cron, "30 2 * * *",  0, "Europe/Oslo", true, true, "SAT SUN",
                          1798761600000,   1830000000000, 9};
    EXPECT_TRUE(rule.times == times);
    EXPECT_EQ(rule.jitter_ms, 30'000);
    EXPECT_EQ(rule.misfire, Misfire::all);
    EXPECT_EQ(rule.misfire_window_ms, 3'600'000);
    EXPECT_EQ(rule.overlap, Overlap::queue_one);
    EXPECT_EQ(rule.queue, "q");
    EXPECT_EQ(rule.priority, -1);
    EXPECT_EQ(rule.order_key, "k");
    EXPECT_EQ(rule.group, "g");
    EXPECT_EQ(rule.expires_after_ms, 300'000);
    EXPECT_EQ(rule.retry.attempts, 2);
    EXPECT_EQ(schedule.paused, true);
    EXPECT_EQ(schedule.body, "go");
    EXPECT_EQ(schedule.content_type, "text/plain");
    EXPECT_EQ(schedule.headers, R"({"a":"b"})");
}

TEST(ScheduleRequest, the_content_of_its_messages_is_part_of_it) {
    const auto hash = [](const std::string& members) {
        return std::get<PutScheduleCommand>(
                   *command_of({"PUT", "/v1/schedules/s", R"({"queue": "q", "every": "1h")" + members + "}"}))
            .rule.content_hash;
    };
    EXPECT_EQ(hash(""), hash(R"(, "body": "")"));
    EXPECT_NE(hash(""), hash(R"(, "body": "a")"));
    EXPECT_NE(hash(R"(, "body": "a")"), hash(R"(, "body": "a", "headers": {"a": "b"})"));
    EXPECT_NE(hash(R"(, "body": "a")"), hash(R"(, "body": "a", "content_type": "text/plain")"));
}

TEST(ScheduleRequest, other_calls_become_their_commands) {
    using What = ControlScheduleCommand::What;
    const auto told = [](const Call& call) { return std::get<ControlScheduleCommand>(*command_of(call)).what; };
    EXPECT_EQ(told({"POST", "/v1/schedules/s:pause"}), What::pause);
    EXPECT_EQ(told({"POST", "/v1/schedules/s:resume"}), What::resume);
    EXPECT_EQ(told({"POST", "/v1/schedules/s:fire"}), What::fire);
    EXPECT_EQ(told({"DELETE", "/v1/schedules/s"}), What::remove);
    EXPECT_EQ(std::get<DescribeScheduleCommand>(*command_of({"GET", "/v1/schedules/s"})).name, "s");
    const auto preview = std::get<PreviewScheduleCommand>(
        *command_of({"GET", "/v1/schedules/s:preview?count=3&from=1970-01-01T00:00:00.077Z"}));
    EXPECT_EQ(preview.count, 3u);
    EXPECT_EQ(preview.from_ms, 77);
    EXPECT_EQ(preview.after_put, nullptr);
    const auto changed = std::get<PreviewScheduleCommand>(
        *command_of({"POST", "/v1/schedules/s:preview?count=3", R"({"queue": "q", "cron": "0 9 * * *"})"}));
    ASSERT_NE(changed.after_put, nullptr);
    EXPECT_EQ(changed.count, 3u);
    EXPECT_EQ(changed.after_put->rule.times.text, "0 9 * * *");
    EXPECT_EQ(refusal({"POST", "/v1/schedules/s:preview", R"({"queue": "q"})"}), "missing_member cron");
    EXPECT_EQ(refusal({"POST", "/v1/schedules/s:preview", R"({"queue": "q", "cron": "x"})"}), "bad_cron cron");
    EXPECT_EQ(refusal({"GET", "/v1/schedules/s:preview", R"({"queue": "q"})"}), "unknown_member queue");
    const std::string cursor = name_cursor(NameList::schedules, "default", "a/b");
    const auto list = std::get<ListSchedulesCommand>(*command_of({"GET", "/v1/schedules?limit=5&cursor=" + cursor}));
    EXPECT_EQ(list.after, "a/b");
    EXPECT_EQ(list.limit, 5u);
    EXPECT_EQ(refusal({"GET", "/v1/namespaces/team/schedules?cursor=" + cursor}), "bad_cursor cursor");
    EXPECT_EQ(refusal({"POST", "/v1/schedules/s"}), "method_not_allowed ");
    EXPECT_EQ(refusal({"GET", "/v1/schedules/s:fire"}), "method_not_allowed ");
    EXPECT_EQ(refusal({"GET", "/v1/schedules/s?count=3"}), "unknown_parameter ");
    EXPECT_EQ(refusal({"GET", "/v1/schedules/s:preview?count=1001"}), "out_of_range count");
    EXPECT_EQ(refusal({"POST", "/v1/schedules/s:fire", R"({"at": 1})"}), "unknown_member at");
    EXPECT_EQ(refusal({"GET", "/v1/schedules/-s"}), "bad_schedule_name schedule");
    EXPECT_EQ(refusal({"GET", "/v1/schedules/" + std::string(201, 's')}), "bad_schedule_name schedule");
    EXPECT_EQ(refusal({"GET", "/v1/schedules/" + std::string(200, 's')}), "taken");
}

TEST(ScheduleRequest, what_is_wrong_is_named) {
    EXPECT_EQ(refusal({"PUT", "/v1/schedules/s", R"({"every": "1h"})"}), "missing_member queue");
    EXPECT_EQ(refusal({"PUT", "/v1/schedules/s", R"({"queue": "-q", "every": "1h"})"}), "bad_queue_name queue");
    EXPECT_EQ(put(""), "missing_member cron");
    EXPECT_EQ(put(R"(, "cron": "* * * * *", "every": "1h")"), "conflicting_members every");
    EXPECT_EQ(put(R"(, "cron": "0 24 * * *")"), "bad_cron cron");
    EXPECT_EQ(put(R"(, "every_ms": 0)"), "out_of_range every");
    EXPECT_EQ(put(R"(, "every": "often")"), "bad_duration every");
    EXPECT_EQ(put(R"(, "iso": "R5/PT1H")"), "bad_interval iso");
    EXPECT_EQ(put(R"(, "iso": ")" + std::string(201, '1') + R"(")"), "bad_interval iso");
    EXPECT_EQ(put(R"(, "at": "noon")"), "bad_instant at");
    EXPECT_EQ(put(R"(, "at": ")" + std::string(201, '1') + R"(")"), "bad_instant at");
    EXPECT_EQ(put(R"(, "every": "1h", "times": 0)"), "out_of_range times");
    EXPECT_EQ(put(R"(, "every": "1h", "closed": "NEVER")"), "bad_exclusion closed");
    EXPECT_EQ(put(R"(, "every": "1h", "closed": ")" + std::string(4097, ' ') + R"(")"), "bad_exclusion closed");
    EXPECT_EQ(put(R"(, "every": "1h", "dst": "never")"), "bad_policy dst");
    EXPECT_EQ(put(R"(, "every": "1h", "dst": "skip")"), "conflicting_members dst");
    EXPECT_EQ(put(R"(, "at": "2030-03-31T02:30:00", "dst_repeat": "both")"), "conflicting_members dst_repeat");
    EXPECT_EQ(put(R"(, "iso": "R/2030-03-31T02:30:00/P1D", "dst": "shift", "dst_repeat": "first")"), "taken");
    EXPECT_EQ(put(R"(, "every": "1h", "zone": "")"), "bad_zone zone");
}

// 1970 was read as no bound.
TEST(ScheduleRequest, the_epoch_is_a_bound_like_any_other) {
    const auto times = [](const std::string& members) {
        const Result<Command> command =
            command_of({"PUT", "/v1/schedules/s", R"({"queue": "q", "every": "1h")" + members + "}"});
        return std::get<PutScheduleCommand>(*command).times;
    };
    constexpr DueMs kHour = 3'600'000;
    constexpr DueMs kNow = 500'000 * kHour + 1;
    EXPECT_EQ(times(R"(, "start": "1970-01-01T00:00:00Z")").next(kNow, kNow), 500'001 * kHour)
        << "the hours are whole ones";
    EXPECT_EQ(times(R"(, "end": "1970-01-01T00:00:00Z")").next(kNow, kNow), std::nullopt);
}

TEST(ScheduleRequest, what_else_is_wrong_is_named) {
    EXPECT_EQ(put(R"(, "every": "1h", "misfire": "some")"), "bad_policy misfire");
    EXPECT_EQ(put(R"(, "every": "1h", "overlap": 1)"), "wrong_type overlap");
    EXPECT_EQ(put(R"(, "every": "1h", "misfire_window_ms": 0)"), "out_of_range misfire_window");
    EXPECT_EQ(put(R"(, "every": "1h", "expires_in_ms": 0)"), "out_of_range expires_in");
    EXPECT_EQ(put(R"(, "every": "1h", "body": "a", "body_base64": "YQ==")"), "conflicting_members body_base64");
    EXPECT_EQ(put(R"(, "every": "1h", "repeat": {})"), "unknown_member repeat");
}

TEST(ScheduleRequest, a_misfire_instruction_of_quartz_is_answered_with_ours) {
    const auto message = [](const std::string& misfire) {
        const Result<Command> command =
            command_of({"PUT", "/v1/schedules/s", R"({"queue": "q", "every": "1h", "misfire": ")" + misfire + "\"}"});
        EXPECT_EQ(command ? "taken" : std::string(name_of(command.error().code)) + " " + command.error().field,
                  "bad_policy misfire");
        return command ? "" : command.error().message;
    };
    for (const auto& [quartz, ours] : std::initializer_list<std::pair<const char*, const char*>>{
             {"DO_NOTHING", "skip"},
             {"FIRE_ONCE_NOW", "once"},
             {"FIRE_NOW", "once"},
             {"FIRE_AND_PROCEED", "once"},
             {"IGNORE_MISFIRES", "all"},
             {"IGNORE_MISFIRE_POLICY", "all"},
             {"SMART_POLICY", "once"},
             {"RESCHEDULE_NEXT_WITH_EXISTING_COUNT", "skip"},
             {"RESCHEDULE_NEXT_WITH_REMAINING_COUNT", "skip"},
             {"RESCHEDULE_NOW_WITH_EXISTING_REPEAT_COUNT", "once"},
             {"RESCHEDULE_NOW_WITH_REMAINING_REPEAT_COUNT", "once"}}) {
        const std::string wanted =
            R"(`misfire` must be one of "once", "all", "skip"; the Quartz instruction corresponds to ")" +
            std::string(ours) + "\"";
        EXPECT_EQ(message(quartz), wanted);
        EXPECT_EQ(message(std::string("MISFIRE_INSTRUCTION_") + quartz), wanted);
    }
    EXPECT_EQ(message("NOW"), R"(`misfire` must be one of "once", "all", "skip")");
    EXPECT_EQ(message("MISFIRE_INSTRUCTION_"), R"(`misfire` must be one of "once", "all", "skip")");
}

TEST(ScheduleRequest, an_overlap_policy_of_another_scheduler_is_answered_with_ours) {
    const auto hint = [](const std::string& overlap) {
        const Result<Command> command =
            command_of({"PUT", "/v1/schedules/s", R"({"queue": "q", "every": "1h", "overlap": ")" + overlap + "\"}"});
        if (command) return std::string("taken");
        const std::string known = R"(`overlap` must be one of "allow", "skip", "queue_one")";
        EXPECT_EQ(std::string(name_of(command.error().code)) + command.error().message.substr(0, known.size()),
                  "bad_policy" + known);
        return command.error().message.substr(known.size());
    };
    const std::string serial = "; the block strategy of xxl-job corresponds to \"queue_one\"";
    EXPECT_EQ(hint("SERIAL_EXECUTION"), serial);
    EXPECT_EQ(hint("单机串行"), serial);
    EXPECT_EQ(hint("DISCARD_LATER"), "; the block strategy of xxl-job corresponds to \"skip\"");
    EXPECT_NE(hint("COVER_EARLY").find("has no counterpart"), std::string::npos);
    EXPECT_EQ(hint("Forbid"), "; the concurrency policy of Kubernetes corresponds to \"skip\"");
    EXPECT_EQ(hint("DO_NOTHING"), "") << "a word of `misfire`";
}

TEST(ScheduleRequest, an_unknown_zone_is_answered_with_the_nearest_one) {
    const Result<Command> command =
        command_of({"PUT", "/v1/schedules/s", R"({"queue": "q", "cron": "0 9 * * *", "zone": "Europe/Olso"})"});
    ASSERT_FALSE(command);
    EXPECT_EQ(command.error().code, "bad_zone"_code);
    EXPECT_EQ(command.error().field, "zone");
    EXPECT_NE(command.error().message.find("Europe/Oslo"), std::string::npos) << command.error().message;
}

ScheduleAnswer shown() {
    ScheduleAnswer answer;
    answer.name = "nightly";
    answer.state.revision = 3;
    answer.state.rule.times = {.kind = TimesKind::cron, .text = "30 2 * * *", .zone = "Europe/Oslo"};
    answer.state.rule.queue = "q";
    answer.state.created_ms = 1'000;
    answer.state.next_ms = 2'000;
    answer.state.next_run = 4;
    answer.state.made = 2;
    answer.state.skipped = 1;
    answer.state.last_id = 1025;
    answer.state.last_run_ms = 1'500;
    answer.state.waiting_ms = 1'700;
    answer.state.waiting_run = 3;
    answer.state.passed_why = PassedWhy::overlap;
    answer.state.passed_count = 1;
    answer.state.passed_from_ms = answer.state.passed_to_ms = 1'600;
    answer.zone_data = "2026a";
    answer.has_content = true;
    answer.body = "go";
    return answer;
}

TEST(ScheduleRequest, what_is_shown_keeps_to_the_contract) {
    ApiServer server;
    const std::string looked = server.ask({"GET", "/v1/schedules/nightly"}, shown());
    EXPECT_EQ(status_of(looked), 200);
    EXPECT_EQ(member_of(looked, "state"), "active");
    EXPECT_EQ(member_of(looked, "next_ms"), "2000");
    EXPECT_NE(looked.find(R"("words":{"en":"At 02:30, every day","zh":"每天 02:30"})"), std::string::npos) << looked;
    ScheduleAnswer created = shown();
    created.created = true;
    created.has_content = false;
    const std::string put_body = R"({"queue": "q", "cron": "30 2 * * *"})";
    EXPECT_EQ(status_of(server.ask({"PUT", "/v1/schedules/nightly", put_body}, created)), 201);
    EXPECT_EQ(status_of(server.ask({"PUT", "/v1/schedules/nightly", put_body}, shown())), 200);
    EXPECT_EQ(status_of(server.ask({"POST", "/v1/schedules/nightly:pause"}, shown())), 200);
    EXPECT_EQ(status_of(server.ask({"POST", "/v1/schedules/nightly:resume"}, shown())), 200);
    EXPECT_EQ(status_of(server.ask({"POST", "/v1/schedules/nightly:fire"}, PutAnswer{1025, State::ready, 5, false})),
              201);
    ScheduleAnswer removed = shown();
    removed.removed = true;
    EXPECT_EQ(member_of(server.ask({"DELETE", "/v1/schedules/nightly"}, removed), "removed"), "true");
    ScheduleListAnswer list{{shown()}, false};
    const std::string page = server.ask({"GET", "/v1/schedules"}, list);
    EXPECT_EQ(parse_name_cursor(NameList::schedules, member_of(page, "cursor"), "default"), "nightly");
    PreviewAnswer preview;
    preview.name = "nightly";
    preview.zone_data = "2026a";
    preview.rule = {.kind = TimesKind::iso, .text = "R/2026-01-31T09:00:00/P1M", .zone = "Europe/Oslo"};
    preview.times.push_back({4, 2'000, 2'001, "1970-01-01T01:00:02.000+01:00", ClockNote::shifted});
    preview.excluded.push_back({3'000, "1970-01-01T01:00:03.000+01:00", "closed_day"});
    const std::string seen = server.ask({"GET", "/v1/schedules/nightly:preview"}, preview);
    EXPECT_NE(seen.find(R"("words":{"en":"Every month from 2026-01-31 09:00:00")"), std::string::npos) << seen;
    EXPECT_NE(seen.find(R"("clock_change":"shifted")"), std::string::npos);
    EXPECT_NE(seen.find(R"("reason":"closed_day")"), std::string::npos);
    EXPECT_EQ(member_of(server.ask({"GET", "/v1/schedules/x"}, Error{"unknown_schedule"_code, "none"}), "code"),
              "unknown_schedule");
}

// What is read can be sent back.
TEST(ScheduleRequest, the_settings_that_are_shown_are_those_of_a_put) {
    ScheduleAnswer answer = shown();
    answer.state.rule.times.skips_gaps = true;
    answer.state.rule.times.closed = "SAT SUN";
    answer.state.rule.times.start_ms = 1'000;
    answer.state.rule.times.times = 7;
    answer.state.rule.jitter_ms = 5;
    answer.state.rule.misfire = Misfire::skip;
    answer.state.rule.overlap = Overlap::queue_one;
    answer.state.rule.expires_after_ms = 9;
    answer.state.rule.retry.attempts = 4;
    answer.headers = R"({"a":"b"})";
    const HttpResponse response = answer_text(answer);
    const boost::json::value members = boost::json::parse(response.body);
    const std::string settings = boost::json::serialize(members.at("settings"));
    const Result<Command> command = command_of({"PUT", "/v1/schedules/nightly", settings});
    ASSERT_TRUE(command) << command.error().message << settings;
    ScheduleRule read = std::get<PutScheduleCommand>(*command).rule;
    read.content_hash = answer.state.rule.content_hash;
    EXPECT_TRUE(read == answer.state.rule) << settings;
}

}  // namespace
}  // namespace duewheel::schedule_request_test
