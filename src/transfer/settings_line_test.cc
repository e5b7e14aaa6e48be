#include "transfer/settings_line.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace duewheel::settings_line_test {
namespace {

using Kind = SettingsLine::Kind;

SettingsLine read(Kind kind, const std::string& text) {
    const Result<JsonRequest> json = JsonRequest::parse(text);
    EXPECT_TRUE(json.ok());
    const Result<SettingsLine> line = read_settings_line(kind, *json, text);
    EXPECT_TRUE(line.ok()) << line.error().message;
    return *line;
}

boost::json::object body_of(const SettingsLine& line) {
    return boost::json::parse(line.body).get_object();
}

TEST(SettingsLines, contain_the_path_of_their_put) {
    EXPECT_EQ(
        read(Kind::name_space, R"({"kind":"namespace","namespace":"team","settings":{"limits":{"pending":3}}})").path(),
        "/v1/namespaces/team");
    EXPECT_EQ(read(Kind::queue, R"({"kind":"queue","namespace":"team","queue":"a/b","settings":{}})").path(),
              "/v1/namespaces/team/queues/a%2Fb");
    EXPECT_EQ(
        read(Kind::group, R"({"kind":"group","queue":"a/b","group":"c/d:backoff","settings":{"leased":2}})").path(),
        "/v1/namespaces/default/queues/a%2Fb/groups/c%2Fd%3Abackoff");
    const char* schedule = R"({"kind":"schedule","schedule":"s","paused":false,"next_ms":1901064600000,
        "next_occurrence":1,"settings":{"queue":"q","cron":"* * * * *"}})";
    EXPECT_EQ(read(Kind::schedule, schedule).path(), "/v1/namespaces/default/schedules/s");
    const char* watchdog = R"({"kind":"watchdog","watchdog":"w","settings":{"queue":"q","timeout_ms":5}})";
    EXPECT_EQ(read(Kind::watchdog, watchdog).path(), "/v1/namespaces/default/watchdogs/w");
}

TEST(SettingsLines, of_a_schedule_continue_at_its_position) {
    const SettingsLine every = read(Kind::schedule, R"({"kind":"schedule","schedule":"s","paused":true,
        "next_ms":1901064600000,"next_occurrence":4,"settings":{"queue":"q","every_ms":60000,"times":10}})");
    EXPECT_EQ(body_of(every).at("start"), "2030-03-30T01:30:00.000Z");
    EXPECT_EQ(body_of(every).at("times"), 7);
    EXPECT_EQ(body_of(every).at("paused"), true);
    EXPECT_FALSE(every.has_ended);
    const SettingsLine cron = read(Kind::schedule, R"({"kind":"schedule","schedule":"s","paused":false,
        "next_ms":1901064600000,"next_occurrence":2,"settings":{"queue":"q","cron":"* * * * *"}})");
    EXPECT_FALSE(body_of(cron).contains("start"));
    EXPECT_FALSE(body_of(cron).contains("times"));
    const SettingsLine begun = read(Kind::schedule, R"({"kind":"schedule","schedule":"s","paused":false,
        "next_ms":1901064600000,"next_occurrence":1,
        "settings":{"queue":"q","every_ms":60000,"start":"2030-03-30T01:30:00.000Z"}})");
    EXPECT_EQ(body_of(begun).at("start"), "2030-03-30T01:30:00.000Z");
    const SettingsLine ended = read(Kind::schedule, R"({"kind":"schedule","schedule":"s","paused":false,
        "waiting_run":{"occurrence":3},"settings":{"queue":"q","cron":"* * * * *"}})");
    EXPECT_TRUE(ended.has_ended);
    EXPECT_TRUE(ended.has_waiting_run);
}

// An import that was repeated took the schedule of the first one for another.
TEST(SettingsLines, content_that_is_json_is_a_string_in_a_line_and_json_in_a_response) {
    const SettingsLine line = read(Kind::watchdog, R"({"kind":"watchdog","watchdog":"w",
        "settings":{"queue":"q","timeout_ms":5,"body":"{\"a\": [1.50]}","content_type":"application/json"}})");
    EXPECT_EQ(body_of(line).at("body"), "{\"a\": [1.50]}");
    const auto standing = [&](const std::string& json) {
        return standing_of(
            line, 200,
            R"({"settings":{"queue":"q","timeout_ms":5,"json":)" + json + R"(,"content_type":"application/json"}})");
    };
    EXPECT_EQ(standing("{\"a\": [1.50]}"), Standing::same);
    EXPECT_EQ(standing("{\"a\": [1.51]}"), Standing::other);
    const std::string deep = std::string(31, '[') + std::string(31, ']');
    EXPECT_EQ(standing(deep), Standing::other) << "it is read, however deep";
    const std::string text = R"({"kind":"watchdog","watchdog":"w","settings":{"queue":"q","timeout_ms":5,"json":{}}})";
    const Result<SettingsLine> refused = read_settings_line(Kind::watchdog, *JsonRequest::parse(text), text);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().field, "settings.json");
}

// What was signed goes out signed, or not at all.
TEST(SettingsLines, of_a_queue_whose_secrets_are_not_named_pause_it) {
    const SettingsLine line = read(Kind::queue, R"({"kind":"queue","queue":"calls","secrets_excluded":1,
        "settings":{"target":{"webhook":{"url":"https://receiver.example/in"}},"paused":false}})");
    EXPECT_TRUE(line.lacks_secrets);
    EXPECT_EQ(body_of(line).at("paused"), true);
    const SettingsLine authorised = read(Kind::queue, R"({"kind":"queue","queue":"calls","headers_excluded":2,
        "settings":{"target":{"webhook":{"url":"https://receiver.example/in"}},"paused":false}})");
    EXPECT_TRUE(authorised.lacks_secrets);
    EXPECT_EQ(body_of(authorised).at("paused"), true);
}

TEST(SettingsLines, of_an_earlier_version_lose_the_limit_per_second) {
    const SettingsLine line = read(Kind::queue, R"({"kind":"queue","queue":"calls",
        "settings":{"paused":false,"limits":{"pending":3,"per_second":1}}})");
    EXPECT_TRUE(line.lacks_rate);
    EXPECT_EQ(line.body, R"({"paused":false,"limits":{"pending":3}})");
    const SettingsLine alone = read(Kind::queue, R"({"kind":"queue","queue":"calls",
        "settings":{"paused":false,"limits":{"per_second":1}}})");
    EXPECT_EQ(alone.body, R"({"paused":false})");
}

TEST(SettingsLines, are_compared_with_those_of_a_server) {
    const SettingsLine queue =
        read(Kind::queue, R"({"kind":"queue","queue":"mail","settings":{"paused":false,"lease_ms":120000}})");
    EXPECT_EQ(standing_of(queue, 404, R"({"code":"unknown_queue"})"), Standing::absent);
    EXPECT_EQ(standing_of(queue, 200, R"({"queue":"mail","settings":{"paused":false}})"), Standing::absent);
    EXPECT_EQ(standing_of(queue, 200, R"({"settings":{"lease_ms":120000,"paused":false}})"), Standing::same);
    EXPECT_EQ(standing_of(queue, 200, R"({"settings":{"lease_ms":120000,"paused":true}})"), Standing::other);
    EXPECT_EQ(standing_of(queue, 200, R"({"settings":{"lease_ms":5000,"paused":false}})"), Standing::other);
    const SettingsLine schedule = read(Kind::schedule, R"({"kind":"schedule","schedule":"s","paused":false,
        "next_ms":1901064600000,"next_occurrence":1,"settings":{"queue":"q","cron":"* * * * *"}})");
    EXPECT_EQ(standing_of(schedule, 200, R"({"paused":false,"settings":{"queue":"q","cron":"* * * * *"}})"),
              Standing::same);
    EXPECT_EQ(standing_of(schedule, 200, R"({"paused":true,"settings":{"queue":"q","cron":"* * * * *"}})"),
              Standing::other);
    const SettingsLine space =
        read(Kind::name_space, R"({"kind":"namespace","namespace":"t","settings":{"limits":{"pending":3}}})");
    EXPECT_EQ(standing_of(space, 200, R"({"namespace":"t","settings":{}})"), Standing::absent);
}

// The line has the next time as the start, and the times that are left. With an export of an hour later each schedule
// of `every` that had been imported before was "set in another way".
TEST(SettingsLines, a_schedule_of_an_older_import_with_the_same_continuation_is_the_same) {
    const SettingsLine line = read(Kind::schedule, R"({"kind":"schedule","schedule":"s","paused":false,
        "next_ms":1901064600000,"next_occurrence":4,"settings":{"queue":"q","every_ms":600000}})");
    const auto standing = [&](const std::string& every, const std::string& start, const std::string& next_ms) {
        return standing_of(line, 200,
                           R"({"paused":false,"next_ms":)" + next_ms + R"(,"next_occurrence":9,)" +
                               R"("settings":{"queue":"q","every_ms":)" + every + R"(,"start":")" + start + R"("}})");
    };
    EXPECT_EQ(standing("600000", "2030-03-30T01:30:00.000Z", "1901064600000"), Standing::same);
    EXPECT_EQ(standing("600000", "2030-03-29T23:10:00.000Z", "1901064600000"), Standing::same);
    EXPECT_EQ(standing("600000", "2030-03-29T23:10:00.000Z", "1901066400000"), Standing::same);
    EXPECT_EQ(standing("600000", "2030-03-29T23:11:00.000Z", "1901065260000"), Standing::other);
    EXPECT_EQ(standing("600000", "2030-03-29T23:10:00.000Z", "1901064000000"), Standing::other) << "earlier ones come";
    EXPECT_EQ(standing("300000", "2030-03-29T23:10:00.000Z", "1901064600000"), Standing::other);
    EXPECT_EQ(standing_of(line, 200, R"({"paused":false,"settings":{"queue":"q","every_ms":600000}})"),
              Standing::other);
}

TEST(SettingsLines, a_schedule_of_an_older_import_has_as_many_times_left) {
    const auto line_with = [](const std::string& more) {
        return read(Kind::schedule, R"({"kind":"schedule","schedule":"s","paused":false,"next_ms":1901064600000,)"
                                    R"("next_occurrence":6,"settings":{"queue":"q","every_ms":600000,"times":15)" +
                                        more + "}}");
    };
    const auto standing = [&](const std::string& times, const std::string& more) {
        return standing_of(line_with(more), 200,
                           R"({"paused":false,"next_ms":1901065800000,"next_occurrence":8,"settings":{"queue":"q",)"
                           R"("every_ms":600000,"times":)" +
                               times + R"(,"start":"2030-03-30T00:40:00.000Z")" + more + "}}");
    };
    EXPECT_EQ(standing("15", ""), Standing::same) << "ten are left at the first, and eight at the next two later";
    EXPECT_EQ(standing("10", ""), Standing::other);
    EXPECT_EQ(standing("15", R"(,"closed":"SAT")"), Standing::other);
}

}  // namespace
}  // namespace duewheel::settings_line_test
