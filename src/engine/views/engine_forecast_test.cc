// Forecasts compared with a count over the log: in memory, sealed, half swept, and while other commands run. It is long
// because messages and runs of schedules have their own ways to change meanwhile.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"
#include "shared/random.h"

namespace duewheel::engine_forecast_test {
namespace {

constexpr DueMs kMinute = 60'000;
constexpr DueMs kFirst = kStart / kMinute * kMinute;  // 40 seconds of it are over
constexpr EngineOptions kSmall{
    .segment_bytes = 16 << 10, .unsealed_segments_max = 1'000, .window_min_ms = 1'000, .window_max_ms = 1'000};

ForecastCommand forecast_of(std::string queue, std::uint32_t minutes = 60) {
    return {"default", std::move(queue), minutes};
}

// The answer of one that takes more turns than one.
ForecastAnswer slow_answer(TrialEngine& shard, const ForecastCommand& command) {
    const ReplyToken token = shard.submit(command);
    for (int turns = 0; turns < 1'000 && !shard.replies.contains(token); ++turns) shard.turn();
    return shard.take<ForecastAnswer>(token);
}

// {minute: what is due}, where there is anything.
std::map<int, std::uint64_t> due_by_minute(const ForecastAnswer& forecast) {
    std::map<int, std::uint64_t> due;
    for (std::size_t i = 0; i < forecast.minutes.size(); ++i) {
        const ForecastMinute& minute = forecast.minutes[i];
        EXPECT_EQ(minute.start_ms, forecast.now_ms / kMinute * kMinute + static_cast<DueMs>(i) * kMinute);
        if (minute.due() != 0) due[static_cast<int>(i)] = minute.due();
    }
    return due;
}

using Due = std::map<int, std::uint64_t>;

bool is_exact(const ForecastAnswer& forecast) {
    return std::none_of(forecast.minutes.begin(), forecast.minutes.end(),
                        [](const ForecastMinute& minute) { return minute.at_least; });
}

TEST(Forecast, counts_due_messages_by_minute_and_kind) {
    TrialEngine shard;
    shard.put(0);
    shard.put(1);
    shard.put(19'999);
    shard.put(20'000);
    shard.put(20'000 + 3 * kMinute);
    shard.put(1, "x", "other");
    PutCommand loop{.queue = "q"};
    loop.when.delay_ms = 25'000;
    loop.repeat = RepeatChoice{.every_ms = 1'000};
    shard.ask<PutAnswer>(loop);
    PutCommand half{.queue = "q"};
    half.when.delay_ms = 25'000;
    half.transaction.emplace();
    half.transaction->check_queue = "checks";
    half.transaction->check_after_ms = 30'000;
    half.transaction->check_times = 1;
    const MessageId prepared = shard.ask<PutAnswer>(half).id;
    shard.ask<ChangeAnswer>(HoldCommand{"default", shard.put(25'000)});
    FailCommand fail{shard.lease(1).at(0).lease, "", 90'000};
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(fail).outcome, LeaseOutcome::retrying);

    const ForecastAnswer forecast = shard.ask<ForecastAnswer>(forecast_of("q", 5));
    EXPECT_EQ(forecast.queue, "q");
    EXPECT_EQ(forecast.now_ms, kStart);
    ASSERT_EQ(forecast.minutes.size(), 5u);
    EXPECT_EQ(forecast.minutes[0], (ForecastMinute{.start_ms = kFirst, .scheduled = 2}));
    EXPECT_EQ(forecast.minutes[1], (ForecastMinute{.start_ms = kFirst + kMinute, .scheduled = 1, .recurring = 1}));
    EXPECT_EQ(forecast.minutes[2], (ForecastMinute{.start_ms = kFirst + 2 * kMinute, .retrying = 1}));
    EXPECT_EQ(forecast.minutes[3], (ForecastMinute{.start_ms = kFirst + 3 * kMinute}));
    EXPECT_EQ(forecast.minutes[4], (ForecastMinute{.start_ms = kFirst + 4 * kMinute, .scheduled = 1}));
    shard.ask<SettleAnswer>(SettleCommand{"default", prepared, true});
    EXPECT_EQ(shard.ask<ForecastAnswer>(forecast_of("q", 2)).minutes[1].scheduled, 2u) << "committed";
    EXPECT_EQ(due_by_minute(shard.ask<ForecastAnswer>(forecast_of("", 1))), (Due{{0, 3}})) << "of all queues";
    EXPECT_TRUE(due_by_minute(shard.ask<ForecastAnswer>(ForecastCommand{"team", "", 5})).empty())
        << "another namespace";
    EXPECT_TRUE(due_by_minute(shard.ask<ForecastAnswer>(forecast_of("nobody"))).empty());
}

// An entry counts in memory as long as the index has not its newest record. Whether it has been swept since is another
// matter: by that, one that the walk had met unswept was counted again by its row, which was read after the sweep.
TEST(Forecast, an_entry_swept_during_a_forecast_is_counted_once) {
    EngineOptions options = kSmall;
    options.sweep_chunk = 1;
    for (const bool is_ahead : {false, true}) {
        TrialEngine shard(options);
        shard.index_is_ahead = is_ahead;
        for (int i = 0; i < 10; ++i) shard.put(600'000);
        const MessageId cancelled = shard.put(600'000);
        shard.move_to_index();
        shard.ask<ChangeAnswer>(CancelCommand{"default", cancelled});
        for (int turns = 0; turns < 100; ++turns) {
            shard.hold_lookups = true;
            const ReplyToken token = shard.submit(forecast_of("q"));
            shard.turn();
            shard.turn();
            shard.hold_lookups = false;
            shard.answer_lookups();
            shard.turn();
            ASSERT_EQ(due_by_minute(shard.take<ForecastAnswer>(token)), (Due{{10, 10}})) << turns;
        }
    }
}

// What the cleaner had written again between the two walks was in neither: in memory it came too late, and its row
// looked out of date. The simulator found it.
TEST(Forecast, a_message_relocated_during_a_forecast_is_counted_once) {
    EngineOptions options = kSmall;
    options.list_chunk = 1;
    for (const bool is_early : {false, true}) {
        TrialEngine shard(options);
        const MessageId id = shard.put(600'000);
        shard.move_to_index();
        for (int i = 0; i < 5; ++i) shard.put(660'000);
        shard.hold_lookups = true;
        const ReplyToken forecast = shard.submit(forecast_of("q"));
        for (int turns = is_early ? 2 : 20; turns > 0; --turns) shard.turn();
        RelocateCommand relocate;
        relocate.row = shard.index.at(id);
        relocate.generation = shard.engine().generation().load();
        relocate.record_body = shard.record_body(relocate.row.log_position);
        const ReplyToken relocated = shard.submit(relocate);
        for (int turns = 0; turns < 20; ++turns) shard.turn();
        ASSERT_NE(shard.take<RelocateAnswer>(relocated).sequence, 0u);
        shard.hold_lookups = false;
        shard.answer_lookups();
        for (int turns = 0; turns < 20 && !shard.replies.contains(forecast); ++turns) shard.turn();
        EXPECT_EQ(due_by_minute(shard.take<ForecastAnswer>(forecast)), (Due{{10, 1}, {11, 5}})) << is_early;
    }
}

// A count that began before a table and ended behind it would have counted what it moved twice, or not at all.
TEST(Forecast, starts_again_if_a_table_was_added_meanwhile) {
    TrialEngine shard(kSmall);
    for (int i = 0; i < 10; ++i) shard.put(600'000);
    shard.hold_lookups = true;
    const ReplyToken token = shard.submit(forecast_of("q"));
    shard.turn();
    shard.hold_lookups = false;
    shard.move_to_index();
    const std::uint64_t asked = shard.engine().counters().lookups;
    shard.answer_lookups();
    shard.turn();
    EXPECT_GT(shard.engine().counters().lookups, asked);
    const ForecastAnswer forecast = shard.take<ForecastAnswer>(token);
    EXPECT_EQ(due_by_minute(forecast), (Due{{10, 10}}));
    EXPECT_TRUE(is_exact(forecast));
}

TEST(Forecast, uses_only_the_index_if_tables_are_added_faster_than_it_can_count) {
    TrialEngine shard(kSmall);
    for (int i = 0; i < 10; ++i) shard.put(10'000);
    shard.move_to_index();
    const MessageId moved = shard.put(10'000);
    shard.hold_lookups = true;
    const ReplyToken token = shard.submit(forecast_of("q", 1));
    shard.turn();
    for (int tables = 0; tables < 3; ++tables) {
        EXPECT_FALSE(shard.replies.contains(token)) << tables;
        shard.hold_lookups = false;
        shard.move_to_index();
        shard.hold_lookups = true;
        shard.answer_lookups();
        shard.turn();
    }
    shard.hold_lookups = false;
    shard.put(10'000);
    shard.ask<ChangeAnswer>(RescheduleCommand{"default", moved, {kStart + 10, 0}});
    const std::uint64_t asked = shard.engine().counters().lookups;
    shard.answer_lookups(1);
    shard.turn();
    EXPECT_EQ(shard.engine().counters().lookups, asked + 1) << "an answer from before a table is asked again";
    const ForecastAnswer forecast = shard.take<ForecastAnswer>(token);
    EXPECT_EQ(due_by_minute(forecast), (Due{{0, 10}})) << "neither what is not sealed, nor where one was before";
    for (const ForecastMinute& minute : forecast.minutes) EXPECT_TRUE(minute.at_least);
}

TEST(Forecast, one_that_reached_its_limit_of_counts_reports_from_where_on_it_is_incomplete) {
    EngineOptions options = kSmall;
    options.forecast_chunk = 2;
    options.forecast_walk_max = 3;
    options.segment_bytes = 64 << 10;
    TrialEngine shard(options);
    MessageId last = 0;
    for (int minute = 1; minute <= 8; ++minute) {
        for (int i = 0; i < 3; ++i) last = shard.put(minute * kMinute);
    }
    shard.move_to_index();
    shard.put(7 * kMinute);
    shard.ask<ChangeAnswer>(CancelCommand{"default", last});
    const ForecastAnswer forecast = shard.ask<ForecastAnswer>(forecast_of("q", 10));
    EXPECT_EQ(due_by_minute(forecast), (Due{{1, 3}, {2, 3}, {3, 3}, {7, 1}})) << "and none of minute 8, which lost one";
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(forecast.minutes[static_cast<std::size_t>(i)].at_least, i >= 4) << "minute " << i;
    }
    EXPECT_TRUE(is_exact(shard.ask<ForecastAnswer>(forecast_of("q", 3))));
}

TEST(Forecast, one_that_reached_its_limit_of_rows_is_incomplete) {
    EngineOptions options = kSmall;
    options.forecast_chunk = 4;
    options.forecast_walk_max = 10;
    TrialEngine shard(options);
    for (int i = 0; i < 12; ++i) shard.put(10'000);
    shard.move_to_index();
    const ForecastAnswer forecast = shard.ask<ForecastAnswer>(forecast_of("q", 1));
    EXPECT_EQ(due_by_minute(forecast), (Due{{0, 10}}));
    EXPECT_TRUE(forecast.minutes[0].at_least);
}

TEST(Forecast, of_whole_minutes_is_of_one_instant) {
    EngineOptions options = kSmall;
    options.forecast_chunk = 2;
    TrialEngine shard(options);
    std::vector<MessageId> ids;
    for (int minute = 1; minute <= 4; ++minute) ids.push_back(shard.put(minute * kMinute));
    shard.move_to_index();
    shard.hold_lookups = true;
    const ReplyToken token = shard.submit(forecast_of("q", 6));
    shard.turn();
    shard.answer_lookups();  // the first two minutes
    shard.turn();
    shard.hold_lookups = false;
    shard.ask<ChangeAnswer>(RescheduleCommand{"default", ids[0], {kStart + 4 * kMinute, 0}});
    shard.ask<ChangeAnswer>(RescheduleCommand{"default", ids[3], {kStart + kMinute, 0}});
    shard.ask<ChangeAnswer>(CancelCommand{"default", ids[1]});
    shard.move_to_index();
    shard.answer_lookups();  // the other two, as of a later table
    for (int turns = 0; turns < 20 && !shard.replies.contains(token); ++turns) shard.turn();
    const ForecastAnswer forecast = shard.take<ForecastAnswer>(token);
    EXPECT_EQ(due_by_minute(forecast), (Due{{1, 1}, {3, 1}, {4, 1}}));
    EXPECT_TRUE(is_exact(forecast));
}

// Whole minutes and the rest of the current one are counted one after the other.
TEST(Forecast, a_message_that_moves_between_a_whole_minute_and_the_current_one_is_counted_once) {
    TrialEngine shard(kSmall);
    const MessageId nearer = shard.put(600'000);
    const MessageId farther = shard.put(10'000);
    shard.put(11'000);
    shard.hold_lookups = true;
    const ReplyToken token = shard.submit(forecast_of("q"));
    shard.turn();
    shard.answer_lookups();  // the whole minutes
    shard.ask<ChangeAnswer>(RescheduleCommand{"default", nearer, {kStart + 10'000, 0}});
    shard.ask<ChangeAnswer>(RescheduleCommand{"default", farther, {kStart + 600'000, 0}});
    shard.put(10'000);
    shard.hold_lookups = false;
    shard.answer_lookups();
    for (int turns = 0; turns < 20 && !shard.replies.contains(token); ++turns) shard.turn();
    const Due due = due_by_minute(shard.take<ForecastAnswer>(token));
    EXPECT_EQ(due.at(10), 1u) << "the first one, where it was";
    EXPECT_GE(due.at(0), 1u) << "the one that stayed";
    EXPECT_LE(due.at(0), 3u) << "without the first one";
    EXPECT_EQ(due_by_minute(shard.ask<ForecastAnswer>(forecast_of("q"))), (Due{{0, 3}, {10, 1}}));
}

TEST(Forecast, changes_since_the_newest_table_count) {
    TrialEngine shard(kSmall);
    std::vector<MessageId> ids;
    for (int i = 0; i < 8; ++i) ids.push_back(shard.put(600'000));
    shard.put(600'000, "x", "other");
    const MessageId dead = shard.put(0);
    shard.ask<LeaseEndAnswer>(FailCommand{.lease = shard.lease(1).at(0).lease, .dead = true});
    EXPECT_EQ(state_of(shard, dead), State::dead);
    for (const bool is_sealed : {true, false}) {
        if (is_sealed) shard.move_to_index();
        EXPECT_EQ(due_by_minute(shard.ask<ForecastAnswer>(forecast_of("q"))), (Due{{10, 8}})) << is_sealed;
    }
    shard.ask<ChangeAnswer>(CancelCommand{"default", ids[0]});
    shard.ask<ChangeAnswer>(RescheduleCommand{"default", ids[1], {kStart + 1'200'000, 0}});
    shard.ask<ChangeAnswer>(HoldCommand{"default", ids[2]});
    shard.ask<RedriveAnswer>(RedriveCommand{"default", "q", {}});
    shard.ask<LeaseEndAnswer>(FailCommand{shard.lease(1).at(0).lease, "", 1'200'000});
    const Due changed{{10, 5}, {20, 2}};
    EXPECT_EQ(due_by_minute(shard.ask<ForecastAnswer>(forecast_of("q"))), changed);
    shard.move_to_index();
    EXPECT_EQ(due_by_minute(shard.ask<ForecastAnswer>(forecast_of("q"))), changed);
    TrialEngine later(kSmall, shard);
    EXPECT_EQ(due_by_minute(later.ask<ForecastAnswer>(forecast_of("q"))), changed) << "after a start";
    later.ask<QueueAnswer>(ConfigureQueueCommand{.queue = "q", .what = ConfigureQueueCommand::What::purge});
    for (int turns = 0; turns < 20; ++turns) later.turn();
    EXPECT_TRUE(due_by_minute(later.ask<ForecastAnswer>(forecast_of("q"))).empty());
    EXPECT_EQ(due_by_minute(later.ask<ForecastAnswer>(forecast_of("other"))), (Due{{10, 1}}));
}

TEST(Forecast, the_entries_examined_per_iteration_are_limited) {
    TrialEngine shard({.list_chunk = 10});
    for (int i = 0; i < 95; ++i) shard.put(1'000 + i);
    const ReplyToken token = shard.submit(forecast_of("q", 1));
    int turns = 0;
    for (; shard.engine().next_wakeup() <= shard.engine().now(); ++turns) {
        ASSERT_LT(turns, 50);
        shard.engine().advance_to(kStart);
    }
    EXPECT_GE(turns, 10);
    shard.turn();
    EXPECT_EQ(due_by_minute(shard.take<ForecastAnswer>(token)), (Due{{0, 95}}));
}

TEST(Forecast, limits_are_kept) {
    TrialEngine shard({.listings_max = 2});
    for (const std::uint32_t minutes : {0u, 1'441u}) {
        EXPECT_EQ(shard.ask<Error>(forecast_of("q", minutes)).code, "out_of_range"_code);
    }
    shard.hold_lookups = true;
    const ReplyToken first = shard.submit(forecast_of("q", 1));
    const ReplyToken second = shard.submit(forecast_of("q", 1'440));
    shard.turn();
    EXPECT_EQ(shard.ask<Error>(forecast_of("q")).code, "too_busy"_code);
    EXPECT_EQ(shard.engine().counters().listings, 2u);
    shard.hold_lookups = false;
    shard.answer_lookups();
    for (int turns = 0; turns < 3; ++turns) shard.turn();
    EXPECT_EQ(shard.take<ForecastAnswer>(first).minutes.size(), 1u);
    EXPECT_EQ(shard.take<ForecastAnswer>(second).minutes.size(), 1'440u);
    EXPECT_EQ(shard.engine().counters().listings, 0u);
}

// ---- schedules

PutScheduleCommand every(std::int64_t every_ms, std::string name, std::string queue = "q", std::uint64_t times = 0) {
    ScheduleRule rule;
    rule.times = {.kind = TimesKind::every, .every_ms = every_ms, .times = times};
    rule.queue = std::move(queue);
    return {.name = std::move(name), .rule = rule, .times = *ScheduleTimes::make(rule.times, &Zone::load)};
}

TEST(Forecast, counts_future_runs_of_schedules) {
    TrialEngine shard;
    shard.ask<ScheduleAnswer>(every(kMinute, "each minute"));
    shard.ask<ScheduleAnswer>(every(30'000, "three times", "q", 3));
    shard.ask<ScheduleAnswer>(every(kMinute, "elsewhere", "r"));
    shard.ask<ScheduleAnswer>(every(kMinute, "paused"));
    shard.ask<ScheduleAnswer>(ControlScheduleCommand{"default", "paused", ControlScheduleCommand::What::pause});
    PutScheduleCommand spread = every(kMinute, "spread");
    spread.rule.jitter_ms = kMinute;
    shard.ask<ScheduleAnswer>(spread);
    ForecastAnswer forecast = shard.ask<ForecastAnswer>(forecast_of("q", 4));
    std::vector<std::uint64_t> wanted{0, 3, 2, 1};  // without those of `spread`
    std::uint64_t of_spread = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        ASSERT_GE(forecast.minutes[i].runs, wanted[i]) << i;
        of_spread += forecast.minutes[i].runs - wanted[i];
        EXPECT_FALSE(forecast.minutes[i].at_least);
    }
    const PreviewAnswer preview = shard.ask<PreviewAnswer>({PreviewScheduleCommand{"default", "spread", 5}});
    const auto in_time =
        std::count_if(preview.times.begin(), preview.times.end(),
                      [&](const PreviewAnswer::Time& time) { return time.due_ms < kFirst + 4 * kMinute; });
    EXPECT_EQ(of_spread, static_cast<std::uint64_t>(in_time));
    EXPECT_EQ(shard.ask<ForecastAnswer>(forecast_of("r", 4)).minutes[1].runs, 1u);
    // What was a run to come is a message, and counts once.
    shard.ask<ScheduleAnswer>(ControlScheduleCommand{"default", "spread", ControlScheduleCommand::What::remove});
    shard.turn(30'000);
    shard.turn(30'000);
    forecast = shard.ask<ForecastAnswer>(forecast_of("q", 4));
    EXPECT_EQ(due_by_minute(forecast), (Due{{1, 2}, {2, 1}, {3, 1}}));
}

TEST(Forecast, with_many_runs_it_reports_from_where_on_it_is_incomplete) {
    EngineOptions options;
    options.list_chunk = 200;
    options.forecast_runs_max = 100;
    {
        TrialEngine shard(options);
        shard.ask<ScheduleAnswer>(every(1'000, "a"));
        shard.ask<ScheduleAnswer>(every(kMinute, "b"));
        const ForecastAnswer forecast = slow_answer(shard, forecast_of("", 5));
        EXPECT_EQ(due_by_minute(forecast), (Due{{0, 19}, {1, 61}, {2, 22}, {3, 1}, {4, 1}}));
        for (int i = 0; i < 5; ++i) EXPECT_EQ(forecast.minutes[static_cast<std::size_t>(i)].at_least, i >= 2) << i;
    }
    options.forecast_walk_max = 50;
    TrialEngine shard(options);
    shard.ask<ScheduleAnswer>(every(1'000, "a"));
    const ForecastAnswer forecast = slow_answer(shard, forecast_of("", 5));
    for (const ForecastMinute& minute : forecast.minutes) EXPECT_TRUE(minute.at_least);
}

// Counted first, a run that was made while the messages were counted was in the forecast as both.
TEST(Forecast, a_run_created_meanwhile_is_counted_once) {
    TrialEngine shard({.list_chunk = 1});
    for (int i = 0; i < 50; ++i) shard.put(1, "x", "other");
    PutScheduleCommand spread = every(10'000, "s", "q", 1);
    spread.rule.jitter_ms = 30 * kMinute;
    shard.ask<ScheduleAnswer>(spread);
    const ReplyToken token = shard.submit(forecast_of("q"));
    shard.turn();
    shard.turn(10'000);
    ASSERT_FALSE(shard.replies.contains(token));
    for (int turns = 0; turns < 100 && !shard.replies.contains(token); ++turns) shard.turn();
    const ForecastAnswer forecast = shard.take<ForecastAnswer>(token);
    const Due due = due_by_minute(forecast);
    ASSERT_EQ(due.size(), 1u);
    EXPECT_EQ(due.begin()->second, 1u);
}

// All five times had passed, and three were forecast: those that came meanwhile had no number.
TEST(Forecast, times_that_passed_without_a_run_count_against_the_limit) {
    TrialEngine shard;
    shard.ask<ScheduleAnswer>(every(kMinute, "s", "q", 5));
    shard.hold_commits = true;
    shard.turn(3 * kMinute);
    EXPECT_EQ(due_by_minute(slow_answer(shard, forecast_of("q", 10))), (Due{{1, 1}, {2, 1}}));
    shard.turn(2 * kMinute);
    EXPECT_EQ(due_by_minute(slow_answer(shard, forecast_of("q", 10))), Due());
}

// The run of a time that has passed may be due in the future.
TEST(Forecast, a_passed_time_may_still_be_due_with_its_jitter) {
    TrialEngine shard;
    PutScheduleCommand spread = every(kMinute, "s");
    spread.rule.jitter_ms = 60 * kMinute;
    spread.rule.misfire = Misfire::all;
    shard.ask<ScheduleAnswer>(spread);
    const PreviewAnswer preview = shard.ask<PreviewAnswer>(PreviewScheduleCommand{"default", "s", 100});
    shard.hold_commits = true;
    shard.turn(5 * kMinute);
    const DueMs now = kStart + 5 * kMinute;
    const auto to_come = std::count_if(preview.times.begin(), preview.times.end(), [&](const auto& time) {
        return time.due_ms > now && time.due_ms < now / kMinute * kMinute + 60 * kMinute;
    });
    std::uint64_t forecast = 0;
    for (const auto& [minute, due] : due_by_minute(slow_answer(shard, forecast_of("q", 60)))) forecast += due;
    EXPECT_EQ(forecast, static_cast<std::uint64_t>(to_come));
}

TEST(Forecast, times_that_passed_without_a_run_are_skipped) {
    EngineOptions options;
    options.forecast_runs_max = 30;
    TrialEngine shard(options);
    shard.ask<ScheduleAnswer>(every(10'000, "s"));
    shard.hold_commits = true;
    shard.turn(10 * kMinute);
    const ForecastAnswer forecast = slow_answer(shard, forecast_of("q", 3));
    EXPECT_EQ(due_by_minute(forecast), (Due{{0, 1}, {1, 6}, {2, 6}}));
    EXPECT_TRUE(is_exact(forecast));
}

// ---- anything

// Where the messages stand by the log, and how many records each has.
struct Stand {
    MessageState state;
    int records = 0;
};
std::map<MessageId, Stand> stands(const TrialEngine& shard) {
    std::map<MessageId, Stand> all;
    for (const MessageRecord& record : shard.records<MessageRecord>()) {
        Stand& stand = all[record.id];
        stand.state = record.state;
        ++stand.records;
    }
    return all;
}

class RandomForecasts {
  public:
    explicit RandomForecasts(std::uint64_t seed) : random_(seed) {
        EngineOptions options = kSmall;
        options.list_chunk = pick({1, 7, 32'768});
        options.forecast_chunk = pick({1, 5, 4'096});
        options.sweep_chunk = pick({1, 5, 4'096});
        shard_ = std::make_unique<TrialEngine>(options);
        shard_->index_is_ahead = random_.chance(500'000);
    }

    void step() {
        if (random_.chance(100'000)) return shard_->turn(static_cast<std::int64_t>(random_.below(40'000)));
        if (random_.chance(70'000)) return seal();
        act();
        if (random_.chance(600'000)) shard_->turn();
    }

    // Nothing happens meanwhile.
    void judge_at_rest() {
        shard_->turn();
        const ForecastCommand command = any_forecast();
        const ForecastAnswer forecast = slow_answer(*shard_, command);
        ASSERT_TRUE(is_exact(forecast));
        ASSERT_EQ(due_by_minute(forecast), due_by_minute(counted(command, forecast.now_ms, stands(*shard_))));
    }

    // What has no record while the forecast is made is counted once; of the others each is counted once at most.
    void judge_in_motion() {
        shard_->turn();
        const ForecastCommand command = any_forecast();
        const std::map<MessageId, Stand> before = stands(*shard_);
        shard_->hold_lookups = true;
        const ReplyToken token = shard_->submit(command);
        for (int steps = 0; !shard_->replies.contains(token); ++steps) {
            ASSERT_LT(steps, 2'000);
            if (steps < 40 && random_.chance(300'000)) step();
            shard_->answer_lookups();
            shard_->engine().advance_to(shard_->engine().now());
            shard_->settle();
        }
        shard_->hold_lookups = false;
        shard_->answer_lookups();
        shard_->turn();
        const ForecastAnswer forecast = shard_->take<ForecastAnswer>(token);
        shard_->replies.clear();
        std::map<MessageId, Stand> unchanged = stands(*shard_);
        std::uint64_t changed = 0;
        std::erase_if(unchanged, [&](const auto& each) {
            const auto earlier = before.find(each.first);
            const bool changes = earlier == before.end() || earlier->second.records != each.second.records;
            changed += changes ? 1 : 0;
            return changes;
        });
        const ForecastAnswer least = counted(command, forecast.now_ms, unchanged);
        std::uint64_t more = 0;
        for (std::size_t i = 0; i < least.minutes.size(); ++i) {
            const ForecastMinute& minute = forecast.minutes[i];
            if (minute.at_least) {
                ++cut_;
            } else {
                ASSERT_GE(minute.due(), least.minutes[i].due()) << i;
            }
            more += minute.due() - std::min(minute.due(), least.minutes[i].due());
        }
        ASSERT_LE(more, changed);
        changed_ += changed;
    }

    std::uint64_t changed() const { return changed_; }
    std::uint64_t tables() const { return tables_; }
    std::uint64_t cut() const { return cut_; }

  private:
    std::uint32_t pick(std::initializer_list<std::uint32_t> values) {
        return *(values.begin() + random_.below(values.size()));
    }

    ForecastCommand any_forecast() {
        static const std::string kQueues[] = {"q", "r", "", "", "unheard-of"};
        return {random_.chance(800'000) ? "default" : "team", kQueues[random_.below(5)], pick({1, 5, 60})};
    }

    static ForecastAnswer counted(const ForecastCommand& command, DueMs now, const std::map<MessageId, Stand>& all) {
        ForecastAnswer answer;
        answer.now_ms = now;
        const DueMs first = now / kMinute * kMinute;
        for (std::uint32_t i = 0; i < command.minutes; ++i) answer.minutes.push_back({.start_ms = first + i * kMinute});
        for (const auto& [id, stand] : all) {
            const MessageState& state = stand.state;
            const bool wanted =
                state.name_space == command.name_space && (command.queue.empty() || state.queue == command.queue);
            if (!wanted || (state.state != State::scheduled && state.state != State::retrying)) continue;
            if (state.due_ms <= now || state.due_ms >= first + command.minutes * kMinute) continue;
            ++answer.minutes[static_cast<std::size_t>((state.due_ms - first) / kMinute)].scheduled;
        }
        return answer;
    }

    void seal() {
        const bool held = std::exchange(shard_->hold_lookups, false);
        shard_->move_to_index();
        shard_->hold_lookups = held;
        ++tables_;
    }

    MessageId any_id() {
        if (ids_.empty()) return kShardsMax;
        const std::size_t young = std::min<std::size_t>(ids_.size(), random_.chance(500'000) ? 5 : 1'000);
        return ids_[ids_.size() - 1 - random_.below(young)];
    }

    When any_time() {
        When when;
        when.delay_ms = static_cast<std::int64_t>(random_.below(random_.chance(300'000) ? 40'000 : 30 * kMinute));
        return when;
    }

    void act() {
        const MessageId id = any_id();
        switch (random_.below(12)) {
            case 0:
                return told(CancelCommand{"default", id});
            case 1:
            case 2:
                return told(RescheduleCommand{"default", id, any_time()});
            case 3:
                return told(HoldCommand{"default", id});
            case 4:
                return told(KickCommand{"default", id});
            case 5:
                return told(FireCommand{"default", id});
            case 6:
                return told(LeaseCommand{"default", "q", 3, 30'000, 0});
            case 7:
                return end_leases();
            default:
                return put();
        }
    }

    void told(Command command) { shard_->submit(std::move(command)); }

    void put() {
        PutCommand command{.queue = random_.chance(700'000) ? "q" : "r"};
        command.when = any_time();
        if (random_.chance(100'000)) command.name_space = "team";
        if (random_.chance(100'000)) command.repeat = RepeatChoice{.every_ms = 20'000, .times = 3};
        if (random_.chance(100'000)) command.order_key = "o";
        if (random_.chance(100'000)) command.expires = When{std::nullopt, command.when.delay_ms + 60'000};
        if (random_.chance(100'000)) {
            command.transaction.emplace();
            command.transaction->check_queue = "checks";
            command.transaction->check_after_ms = 100'000;
            command.transaction->check_times = 2;
            command.repeat.reset();
        }
        told(std::move(command));
        for (const auto& [token, reply] : shard_->replies) {
            if (const auto* answer = std::get_if<PutAnswer>(&reply)) ids_.push_back(answer->id);
        }
        forget_replies<PutAnswer>();
    }

    void end_leases() {
        std::vector<LeaseToken> leases;
        for (const auto& [token, reply] : shard_->replies) {
            const auto* answer = std::get_if<LeaseAnswer>(&reply);
            if (answer == nullptr) continue;
            for (const Delivered& message : answer->messages) leases.push_back(message.lease);
        }
        forget_replies<LeaseAnswer>();
        for (const LeaseToken& lease : leases) {
            if (random_.chance(500'000)) {
                told(AckCommand{lease});
            } else {
                told(FailCommand{lease, "no", static_cast<std::int64_t>(random_.below(10 * kMinute))});
            }
        }
    }
    template <class Answer>
    void forget_replies() {
        std::erase_if(shard_->replies, [](const auto& each) { return std::holds_alternative<Answer>(each.second); });
    }

    Random random_;
    std::unique_ptr<TrialEngine> shard_;
    std::vector<MessageId> ids_;
    std::uint64_t changed_ = 0;
    std::uint64_t tables_ = 0;
    std::uint64_t cut_ = 0;
};

TEST(Forecast, agrees_with_the_log_for_any_history) {
    std::uint64_t changed = 0;
    std::uint64_t tables = 0;
    std::uint64_t cut = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomForecasts forecasts(seed);
        for (int round = 0; round < 40; ++round) {
            for (int steps = 0; steps < 8; ++steps) forecasts.step();
            ASSERT_NO_FATAL_FAILURE(forecasts.judge_at_rest()) << "round " << round;
            ASSERT_NO_FATAL_FAILURE(forecasts.judge_in_motion()) << "round " << round;
        }
        changed += forecasts.changed();
        tables += forecasts.tables();
        cut += forecasts.cut();
    }
    EXPECT_GT(changed, 500u) << "hardly anything went on meanwhile";
    EXPECT_GT(tables, 300u);
    EXPECT_GT(cut, 0u) << "none met three tables";
}

}  // namespace
}  // namespace duewheel::engine_forecast_test
