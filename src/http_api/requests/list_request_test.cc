// Parameters and cursors of a listing: valid ones, and all others refused with a code and a field.
#include "http_api/requests/list_request.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/command_fixture.h"
#include "http_api/problem.h"
#include "http_api/requests/query_request.h"
#include "shared/random.h"

namespace duewheel::list_request_test {
namespace {

Result<Command> read(const std::string& target, const std::string& method = "GET") {
    return command_of(Call{method, target});
}

ListCommand list_of(const std::string& target) {
    Result<Command> command = read(target);
    EXPECT_TRUE(command) << command.error().message;
    return command ? std::get<ListCommand>(*command) : ListCommand{};
}

TEST(ListRequest, without_parameters_all_unfinished_messages_are_requested) {
    const ListCommand list = list_of("/v1/queues/mail/messages");
    EXPECT_EQ(list.name_space, "default");
    EXPECT_EQ(list.queue, "mail");
    EXPECT_EQ(list.states, kUnfinishedStates);
    EXPECT_EQ(list.from, DuePosition{});
    EXPECT_EQ(list.until_ms, std::numeric_limits<DueMs>::max());
    EXPECT_EQ(list.limit, 100u);
    EXPECT_EQ(list_of("/v1/namespaces/team/queues/a%2Fb/messages").name_space, "team");
    EXPECT_EQ(list_of("/v1/namespaces/team/queues/a%2Fb/messages").queue, "a/b");
}

TEST(ListRequest, parameters_narrow_it) {
    const ListCommand list = list_of(
        "/v1/queues/mail/messages?state=ready,leased&due_after=2027-01-01T07%3A00%3A00%2B01:00"
        "&due_before=2027-01-01T06:00:00.001Z&limit=1000");
    EXPECT_EQ(list.states, (StateSet{State::ready, State::leased}));
    EXPECT_EQ(list.from, (DuePosition{1'798'783'200'000, 0}));
    EXPECT_EQ(list.until_ms, 1'798'783'200'001);
    EXPECT_EQ(list.limit, 1000u);
    EXPECT_EQ(list_of("/v1/queues/mail/messages?state=held,held").states, StateSet{State::held});
    EXPECT_EQ(list_of("/v1/queues/mail/messages?state=dead").states, StateSet{State::dead});
}

// A spelling mistake that widened a listing would show what was not asked for.
TEST(ListRequest, refuses_what_it_does_not_understand) {
    const std::tuple<std::string, std::string, std::string> wrong[] = {
        {"limit=0", "out_of_range", "limit"},
        {"limit=1001", "out_of_range", "limit"},
        {"limit=10x", "out_of_range", "limit"},
        {"limit=-1", "out_of_range", "limit"},
        {"limit=+1", "out_of_range", "limit"},
        {"limit=99999999999999999999", "out_of_range", "limit"},
        {"limit", "bad_parameter", "limit"},
        {"limit=", "bad_parameter", "limit"},
        {"=1", "unknown_parameter", ""},
        {"&limit=1", "bad_parameter", ""},
        {"limit=1&", "bad_parameter", ""},
        {"limit=1&&state=ready", "bad_parameter", ""},
        {"limit=%1", "bad_parameter", "limit"},
        {"limit=%zz", "bad_parameter", "limit"},
        {"%zz=1", "bad_parameter", ""},
        {"lmit=1", "unknown_parameter", "lmit"},
        {"Limit=1", "unknown_parameter", "Limit"},
        {"limit=1&limit=1", "duplicate_parameter", "limit"},
        {"limit=1&lim%69t=1", "duplicate_parameter", "limit"},
        {"state=done", "bad_state", "state"},
        {"state=Ready", "bad_state", "state"},
        {"state=ready,", "bad_state", "state"},
        {"state=,ready", "bad_state", "state"},
        {"state=ready%20", "bad_state", "state"},
        {"due_after=tomorrow", "bad_instant", "due_after"},
        {"due_before=2027-01-01", "bad_instant", "due_before"},
        {"due_before=-1", "bad_instant", "due_before"},
        {"cursor=x", "bad_cursor", "cursor"},
        {"cursor=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "bad_cursor", "cursor"},
    };
    for (const auto& [query, code, field] : wrong) {
        const Result<Command> command = read("/v1/queues/mail/messages?" + query);
        ASSERT_FALSE(command) << query;
        EXPECT_EQ(name_of(command.error().code), code) << query;
        EXPECT_EQ(command.error().field, field) << query;
        EXPECT_TRUE(is_for_clients(command.error().code)) << code;
    }
    EXPECT_EQ(read("/v1/queues/mail/messages?limit=1", "POST").error().code, "unknown_parameter"_code);
    EXPECT_EQ(read("/v1/messages/1024?limit=1").error().code, "unknown_parameter"_code);
}

TEST(ListRequest, a_plus_that_became_a_space_is_explained) {
    const Result<Command> command = read("/v1/queues/mail/messages?due_after=2027-01-01T07:00:00+01:00");
    ASSERT_FALSE(command);
    EXPECT_TRUE(command.error().message.ends_with("+01:00. In a URL, write the + of an offset as %2B."))
        << command.error().message;
}

TEST(HistoryRequest, needs_a_queue_and_takes_the_rest) {
    const auto history_of = [](const std::string& target) { return std::get<HistoryCommand>(read(target).value()); };
    EXPECT_EQ(read("/v1/history").error().code, "missing_parameter"_code);
    EXPECT_EQ(read("/v1/history?queue=-x").error().code, "bad_queue_name"_code);
    EXPECT_EQ(read("/v1/history?queue=mail&outcome=ready").error().code, "bad_state"_code);
    // It offered `dead` in a row with the others, beside which it is refused.
    EXPECT_EQ(
        read("/v1/queues/mail/messages?state=done").error().message,
        "state must be one or more of prepared, scheduled, ready, leased, retrying and held, separated by commas, or "
        "dead alone; omit it for all");
    EXPECT_EQ(read("/v1/history?queue=mail&state=done").error().code, "unknown_parameter"_code);
    EXPECT_EQ(read("/v1/history/x?queue=mail").error().code, "unknown_path"_code);
    EXPECT_EQ(history_of("/v1/history?queue=mail").outcomes, kEndedStates);
    EXPECT_EQ(history_of("/v1/namespaces/team/history?queue=mail").name_space, "team");
    const HistoryCommand history = history_of(
        "/v1/history?queue=a%2Fb&from=1970-01-01T00:00:00.005Z&to=1970-01-01T00:00:00.009Z&outcome=done,dead&limit=7");
    EXPECT_EQ(history.queue, "a/b");
    EXPECT_EQ(history.outcomes, (StateSet{State::done, State::dead}));
    EXPECT_EQ(history.from, (DuePosition{5, 0}));
    EXPECT_EQ(history.until_ms, 9);
    EXPECT_EQ(history.limit, 7u);
    EXPECT_EQ(history.id, 0u);
    const HistoryCommand of_one = history_of("/v1/history?queue=mail&id=1024");
    EXPECT_EQ(of_one.id, 1024u);
    EXPECT_NE(of_one.query, history_of("/v1/history?queue=mail").query);
    EXPECT_NE(of_one.query, history_of("/v1/history?queue=mail&id=1025").query);
    for (const char* id : {"0", "01", "x", "-1", "9007199254740992"}) {
        EXPECT_EQ(read("/v1/history?queue=mail&id=" + std::string(id)).error().code, "bad_id"_code) << id;
    }
    EXPECT_EQ(read("/v1/history?id=1024").error().code, "missing_parameter"_code);
    const std::string cursor = list_cursor_text({6, 1024}, history_of("/v1/history?queue=mail").query);
    EXPECT_EQ(history_of("/v1/history?queue=mail&cursor=" + cursor).from, (DuePosition{6, 1024}));
    EXPECT_EQ(read("/v1/history?queue=post&cursor=" + cursor).error().code, "bad_cursor"_code);
    // The states of one and the outcomes of the other have no number in common.
    EXPECT_EQ(read("/v1/queues/mail/messages?cursor=" + cursor).error().code, "bad_cursor"_code);
}

TEST(ListCursor, leads_on_in_its_own_listing) {
    const std::string path = "/v1/queues/mail/messages?state=ready&limit=5";
    const ListCommand first = list_of(path);
    const std::string cursor = list_cursor_text({1234, 5678}, first.query);
    EXPECT_EQ(list_of(path + "&cursor=" + cursor).from, (DuePosition{1234, 5678}));
    EXPECT_EQ(list_of("/v1/queues/mail/messages?cursor=" + cursor + "&limit=900&state=ready").limit, 900u);
}

TEST(ListCursor, is_refused_in_any_other_listing) {
    const std::string cursor = list_cursor_text({1234, 5678}, list_of("/v1/queues/mail/messages?state=ready").query);
    for (const std::string other :
         {"/v1/queues/mail/messages?", "/v1/queues/mail/messages?state=ready,held&",
          "/v1/queues/mai/messages?state=ready&", "/v1/namespaces/x/queues/mail/messages?state=ready&",
          "/v1/queues/mail/messages?state=ready&due_after=2027-01-01T06:00:00Z&",
          "/v1/queues/mail/messages?state=ready&due_before=2027-01-01T06:00:00Z&"}) {
        const Result<Command> command = read(other + "cursor=" + cursor);
        ASSERT_FALSE(command) << other;
        EXPECT_EQ(command.error().code, "bad_cursor"_code) << other;
    }
}

TEST(ListCursor, every_changed_letter_is_noticed) {
    Random random(3);
    for (int round = 0; round < 50; ++round) {
        const ListPosition position{static_cast<std::int64_t>(random.next()), random.next()};
        const std::uint64_t query = random.next();
        const std::string good = list_cursor_text(position, query);
        ASSERT_EQ(parse_list_cursor(good, query).value(), position);
        for (std::size_t at = 0; at < good.size(); ++at) {
            std::string wrong = good;
            wrong[at] = wrong[at] == 'A' ? 'B' : 'A';
            EXPECT_FALSE(parse_list_cursor(wrong, query)) << wrong;
        }
        EXPECT_FALSE(parse_list_cursor(good.substr(1), query));
        EXPECT_FALSE(parse_list_cursor(good + "A", query));
    }
}

TEST(ForecastRequest, takes_a_queue_and_minutes_or_neither) {
    const auto forecast_of = [](const std::string& target) { return std::get<ForecastCommand>(read(target).value()); };
    const ForecastCommand plain = forecast_of("/v1/forecast");
    EXPECT_EQ(plain.name_space, "default");
    EXPECT_EQ(plain.queue, "");
    EXPECT_EQ(plain.minutes, 60u);
    const ForecastCommand all = forecast_of("/v1/namespaces/team/forecast?queue=a%2Fb&minutes=1440");
    EXPECT_EQ(all.name_space, "team");
    EXPECT_EQ(all.queue, "a/b");
    EXPECT_EQ(all.minutes, 1440u);
    for (const char* minutes : {"0", "1441", "-1", "x", "1h"}) {
        EXPECT_EQ(read("/v1/forecast?minutes=" + std::string(minutes)).error().code, "out_of_range"_code) << minutes;
    }
    const ForecastCommand hours = forecast_of("/v1/forecast?step=1h&minutes=86400");
    EXPECT_EQ(hours.step_ms, 3'600'000);
    EXPECT_EQ(hours.minutes, 86'400u);
    EXPECT_EQ(plain.step_ms, 60'000);
    for (const char* step : {"1s", "90s", "7m", "2d", "0m"}) {
        EXPECT_EQ(read("/v1/forecast?step=" + std::string(step)).error().code, "out_of_range"_code) << step;
    }
    EXPECT_EQ(read("/v1/forecast?step=1h&minutes=86401").error().code, "out_of_range"_code);
    EXPECT_EQ(read("/v1/forecast?step=60").error().code, "bad_duration"_code);
    EXPECT_EQ(read("/v1/forecast?queue=-x").error().code, "bad_queue_name"_code);
    EXPECT_EQ(read("/v1/forecast?queue=").error().code, "bad_parameter"_code);
    EXPECT_EQ(read("/v1/forecast?state=ready").error().code, "unknown_parameter"_code);
    EXPECT_EQ(read("/v1/forecast/mail").error().code, "unknown_path"_code);
}

}  // namespace
}  // namespace duewheel::list_request_test
