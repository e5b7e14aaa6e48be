// Schedules: which runs they create and when, also over crashes and changes, and the state that they report.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_schedules.h"

namespace duewheel::engine_schedules_test {
namespace {

ScheduleAnswer tell(TrialEngine& shard, ControlScheduleCommand::What what) {
    return shard.ask<ScheduleAnswer>(ControlScheduleCommand{"default", "s", what});
}

std::vector<std::uint64_t> numbers_of(const std::vector<Delivered>& messages) {
    std::vector<std::uint64_t> numbers;
    for (const Delivered& message : messages) numbers.push_back(message.occurrence);
    return numbers;
}

using Numbers = std::vector<std::uint64_t>;
using What = ControlScheduleCommand::What;

TEST(Schedules, each_run_is_a_message_at_its_time_that_names_its_schedule) {
    TrialEngine shard;
    const ScheduleAnswer put = shard.ask<ScheduleAnswer>(every(100, 3));
    EXPECT_TRUE(put.created);
    EXPECT_EQ(put.state.next_ms, kStart + 100);
    const std::vector<Delivered> first = shard.lease_after(100);
    ASSERT_EQ(first.size(), 1u);
    EXPECT_EQ(first[0].schedule, "s");
    EXPECT_EQ(first[0].occurrence, 1u);
    EXPECT_EQ(first[0].due_ms, kStart + 100);
    EXPECT_EQ(first[0].body, "again");
    EXPECT_EQ(first[0].headers, R"({"a":"b"})");
    EXPECT_EQ(first[0].parent, 0u);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", first[0].id}).schedule, "s");
    shard.turn(100);
    shard.turn(100);
    EXPECT_EQ(numbers_of(shard.lease()), (Numbers{2, 3}));
    shard.turn(1'000);
    EXPECT_TRUE(shard.lease().empty());
    const ScheduleAnswer ended = look_at(shard);
    EXPECT_TRUE(ended.state.has_ended());
    EXPECT_EQ(ended.state.made, 3u);
    EXPECT_EQ(ended.body, "again");
    EXPECT_EQ(shard.engine().counters().schedule_runs, 3u);
}

TEST(Schedules, the_same_once_more_changes_nothing) {
    TrialEngine shard;
    shard.ask<ScheduleAnswer>(every(1'000));
    shard.turn(500);
    const std::size_t records = shard.log().size();
    const ScheduleAnswer again = shard.ask<ScheduleAnswer>(every(1'000));
    EXPECT_FALSE(again.created);
    EXPECT_EQ(again.state.revision, 1u);
    EXPECT_EQ(again.state.next_ms, kStart + 1'000);
    EXPECT_EQ(shard.log().size(), records);
}

TEST(Schedules, set_again_it_keeps_its_numbers_and_restarts_its_times_if_they_changed) {
    TrialEngine shard;
    shard.ask<ScheduleAnswer>(every(1'000));
    shard.turn(1'500);
    EXPECT_EQ(numbers_of(shard.lease()), (Numbers{1}));
    PutScheduleCommand other = every(1'000);
    other.body = "other";
    other.rule.content_hash = 5;
    const ScheduleAnswer same_times = shard.ask<ScheduleAnswer>(other);
    EXPECT_EQ(same_times.state.next_ms, kStart + 2'000) << "its times go on";
    shard.turn(500);
    const std::vector<Delivered> second = shard.lease();
    ASSERT_EQ(second.size(), 1u);
    EXPECT_EQ(second[0].body, "other");
    EXPECT_EQ(second[0].occurrence, 2u);
    const ScheduleAnswer faster = shard.ask<ScheduleAnswer>(every(100));
    EXPECT_EQ(faster.state.next_ms, kStart + 2'100);
    shard.turn(100);
    EXPECT_EQ(numbers_of(shard.lease()), (Numbers{3}));
    EXPECT_EQ(shard.ask<Error>(every(200, 3)).code, "out_of_range"_code) << "all three have come";
    EXPECT_EQ(shard.ask<ScheduleAnswer>(every(200, 4)).state.next_ms, kStart + 2'300);
}

TEST(Schedules, one_that_would_never_create_a_message_is_refused) {
    TrialEngine shard;
    const Error never = shard.ask<Error>(schedule({.kind = TimesKind::cron, .text = "0 0 30 2 *"}));
    EXPECT_EQ(never.code, "never_due"_code);
    EXPECT_EQ(never.field, "cron");
    EXPECT_EQ(shard.ask<Error>(DescribeScheduleCommand{"default", "s"}).code, "unknown_schedule"_code);
}

// The refusal spoke of the expression whatever the reason was.
TEST(Schedules, the_member_that_excludes_all_times_is_named) {
    TrialEngine shard;
    const auto refused = [&shard](const TimesRule& times) {
        const Error error = shard.ask<Error>(schedule(times));
        EXPECT_EQ(error.code, "never_due"_code) << error.message;
        return error.field;
    };
    constexpr DueMs kHour = 3'600'000;
    const std::string daily = "0 9 * * *";
    const std::string every_day = "MON TUE WED THU FRI SAT SUN";
    EXPECT_EQ(refused({.kind = TimesKind::cron, .text = daily, .closed = every_day}), "closed");
    EXPECT_EQ(refused({.kind = TimesKind::cron, .text = daily, .end_ms = kStart + kHour}), "end");
    EXPECT_EQ(refused({.kind = TimesKind::cron, .text = daily, .closed = every_day, .end_ms = kStart + kHour}), "end");
    EXPECT_EQ(refused({.kind = TimesKind::cron, .text = "0 0 9 1 1 ? 1971", .start_ms = 9'000 * 24 * kHour}), "start");
    EXPECT_EQ(refused({.kind = TimesKind::cron, .text = "0 5 0 1 1 ? 1970"}), "cron");
    EXPECT_EQ(refused({.kind = TimesKind::every, .every_ms = kHour, .closed = every_day}), "closed");
    EXPECT_EQ(refused({.kind = TimesKind::every, .every_ms = kHour, .end_ms = kStart + 1}), "end");
    EXPECT_EQ(refused({.kind = TimesKind::at, .text = "1970-01-01T00:00:01Z"}), "at");
    EXPECT_EQ(refused({.kind = TimesKind::iso, .text = "R2/1970-01-01T00:00:01Z/PT1S"}), "iso");
    EXPECT_EQ(refused({.kind = TimesKind::at, .text = "1970-01-02T00:00:00Z", .closed = "FRI"}), "closed");
    EXPECT_EQ(
        refused({.kind = TimesKind::cron, .text = "0 30 2 31 3 ? 2030", .zone = "Europe/Oslo", .skips_gaps = true}),
        "dst");
    EXPECT_EQ(refused({.kind = TimesKind::cron,
                       .text = daily,
                       .closed = "1970-01-02",
                       .start_ms = 24 * kHour,
                       .end_ms = 48 * kHour}),
              "closed");
    const Error end = shard.ask<Error>(schedule({.kind = TimesKind::cron, .text = daily, .end_ms = kStart + kHour}));
    EXPECT_NE(end.message.find("1970-01-01T09:00:00.000+00:00"), std::string::npos) << end.message;
}

// A preview from a time of one's own went on behind the last time.
TEST(Schedules, unknown_ones_are_refused) {
    TrialEngine shard;
    for (const What what : {What::pause, What::resume, What::fire}) {
        EXPECT_EQ(shard.ask<Error>(ControlScheduleCommand{"default", "s", what}).code, "unknown_schedule"_code);
    }
    EXPECT_EQ(shard.ask<Error>(PreviewScheduleCommand{"default", "s"}).code, "unknown_schedule"_code);
    EXPECT_EQ(tell(shard, What::remove).removed, false);
    shard.ask<ScheduleAnswer>(every(1'000));
    EXPECT_EQ(shard.ask<Error>(DescribeScheduleCommand{"other", "s"}).code, "unknown_schedule"_code)
        << "of a namespace";
    PutScheduleCommand other = every(1'000);
    other.name = "nightly-report";
    shard.ask<ScheduleAnswer>(other);
    const std::string message = shard.ask<Error>(DescribeScheduleCommand{"default", "nightly-raport"}).message;
    EXPECT_NE(message.find("did you mean `nightly-report`?"), std::string::npos) << message;
    EXPECT_EQ(shard.ask<Error>(DescribeScheduleCommand{"other", "nightly-raport"}).message.find("did you"),
              std::string::npos)
        << "what is another namespace's is nobody's business";
}

TEST(Schedules, their_number_is_limited) {
    EngineOptions options;
    options.schedules_max = 2;
    TrialEngine shard(options);
    shard.ask<ScheduleAnswer>(every(1'000, 0, "a"));
    shard.ask<ScheduleAnswer>(every(1'000, 0, "b"));
    EXPECT_EQ(shard.ask<Error>(every(1'000, 0, "c")).code, "schedule_limit"_code);
    EXPECT_FALSE(shard.ask<ScheduleAnswer>(every(2'000, 0, "b")).created) << "one that is there may be changed";
    EXPECT_EQ(shard.ask<ScheduleAnswer>(ControlScheduleCommand{"default", "a", What::remove}).removed, true);
    EXPECT_TRUE(shard.ask<ScheduleAnswer>(every(1'000, 0, "c")).created);
}

TEST(Schedules, a_pause_creates_no_runs_and_skips_its_times) {
    TrialEngine shard;
    shard.ask<ScheduleAnswer>(every(100));
    EXPECT_TRUE(tell(shard, What::pause).state.paused);
    shard.turn(450);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_FALSE(tell(shard, What::resume).state.paused);
    EXPECT_EQ(look_at(shard).state.skipped, 4u);
    EXPECT_EQ(look_at(shard).state.passed_why, PassedWhy::paused);
    shard.turn(50);
    EXPECT_EQ(numbers_of(shard.lease()), (Numbers{5}));
}

TEST(Schedules, fired_manually_it_creates_a_run_without_a_number_even_in_a_pause) {
    TrialEngine shard;
    shard.ask<ScheduleAnswer>(every(1'000));
    tell(shard, What::pause);
    const PutAnswer fired = shard.ask<PutAnswer>(ControlScheduleCommand{"default", "s", What::fire});
    const std::vector<Delivered> run = shard.lease();
    ASSERT_EQ(run.size(), 1u);
    EXPECT_EQ(run[0].id, fired.id);
    EXPECT_EQ(run[0].occurrence, 0u);
    EXPECT_EQ(run[0].schedule, "s");
    EXPECT_EQ(look_at(shard).state.fired, 1u);
    EXPECT_EQ(look_at(shard).state.made, 0u);
    EXPECT_EQ(look_at(shard).state.next_ms, kStart + 1'000);
}

// Its content was found in memory, but the earlier calculation of the command's size had not included it: an assertion
// failed.
TEST(Schedules, fired_manually_its_content_may_have_any_size) {
    TrialEngine shard;
    PutScheduleCommand command = every(1'000'000);
    const std::string body(100'000, 'x');
    command.body = body;
    shard.ask<ScheduleAnswer>(command);
    for (int i = 0; i < 3; ++i) {
        EXPECT_NE(shard.ask<PutAnswer>(ControlScheduleCommand{"default", "s", What::fire}).id, 0u);
        EXPECT_EQ(shard.lease().at(0).body, body);
    }
}

TEST(Schedules, two_commands_on_one_are_not_in_one_batch) {
    TrialEngine shard;
    const ReplyToken put = shard.submit(every(1'000));
    const ReplyToken pause = shard.submit(ControlScheduleCommand{"default", "s", What::pause});
    const ReplyToken fire = shard.submit(ControlScheduleCommand{"default", "s", What::fire});
    const ReplyToken remove = shard.submit(ControlScheduleCommand{"default", "s", What::remove});
    const ReplyToken again = shard.submit(every(2'000));
    shard.turn();
    EXPECT_TRUE(shard.take<ScheduleAnswer>(put).created);
    EXPECT_TRUE(shard.take<ScheduleAnswer>(pause).state.paused);
    EXPECT_NE(shard.take<PutAnswer>(fire).id, 0u);
    EXPECT_EQ(shard.take<ScheduleAnswer>(remove).removed, true);
    EXPECT_TRUE(shard.take<ScheduleAnswer>(again).created);
    EXPECT_EQ(look_at(shard).state.revision, 1u);
    shard.turn(1'999);
    EXPECT_EQ(shard.lease().size(), 1u) << "the one by hand; the removed one makes no more";
    shard.turn(1);
    EXPECT_EQ(numbers_of(shard.lease()), (Numbers{1}));
}

TEST(Schedules, the_runs_and_the_new_state_of_the_schedule_are_durable_together) {
    TrialEngine shard;
    shard.ask<ScheduleAnswer>(every(100));
    shard.hold_commits = true;
    shard.turn(100);
    EXPECT_EQ(look_at(shard).state.made, 0u) << "nothing is told before it is on the disk";
    shard.hold_commits = false;
    shard.settle();
    EXPECT_EQ(look_at(shard).state.made, 1u);
    EXPECT_EQ(shard.lease().size(), 1u);
}

// The run and the schedule that has moved on stand in one commit: whatever is the last one that is durable, each
// nominal time makes one run.
TEST(Schedules, a_crash_at_any_commit_duplicates_and_loses_none) {
    EngineOptions options;
    options.spawn_chunk = 2;
    for (int lost = 0; lost < 24; ++lost) {
        TrialEngine first(options);
        PutScheduleCommand command = every(100, 12);
        command.rule.misfire = Misfire::all;
        first.ask<ScheduleAnswer>(std::move(command));
        for (int step = 0; step < lost; ++step) first.turn(step % 3 == 0 ? 130 : 20);
        first.hold_commits = true;  // this one dies on its way
        first.turn(130);
        TrialEngine second(options, first);
        for (int step = 0; step < 12; ++step) second.turn(200);
        std::map<std::uint64_t, DueMs> nominal;
        std::size_t runs = 0;
        for (const MessageRecord& record : second.records<MessageRecord>()) {
            if (record.kind != RecordKind::spawn) continue;
            ++runs;
            nominal[record.content.occurrence] = record.state.nominal_due_ms;
        }
        EXPECT_EQ(runs, 12u) << lost;
        EXPECT_EQ(nominal.size(), 12u) << lost;
        for (const auto& [number, due] : nominal) EXPECT_EQ(due, kStart + static_cast<DueMs>(100 * number));
        EXPECT_TRUE(look_at(second).state.has_ended());
        EXPECT_EQ(look_at(second).body, "again");
    }
}

TEST(Schedules, after_a_stop_missed_times_follow_the_policy) {
    for (const Misfire misfire : {Misfire::once, Misfire::all, Misfire::skip}) {
        TrialEngine first;
        PutScheduleCommand command = every(60'000);
        command.rule.misfire = misfire;
        first.ask<ScheduleAnswer>(std::move(command));
        TrialEngine second(EngineOptions{}, first);
        second.turn(5 * 60'000 + 30'000);
        const std::size_t made = misfire == Misfire::all ? 5 : misfire == Misfire::once ? 1 : 0;
        EXPECT_EQ(second.lease().size(), made);
        const ScheduleState state = look_at(second).state;
        EXPECT_EQ(state.merged, misfire == Misfire::once ? 4u : 0u);
        EXPECT_EQ(state.skipped, misfire == Misfire::skip ? 5u : 0u);
        EXPECT_EQ(state.late, made);
        EXPECT_EQ(state.next_ms, kStart + 6 * 60'000);
    }
}

TEST(Schedules, missed_times_without_number_are_walked_in_shares) {
    EngineOptions options;
    options.run_steps_max = 7;
    TrialEngine shard(options);
    PutScheduleCommand command = every(1'000);
    command.rule.misfire = Misfire::skip;
    shard.ask<ScheduleAnswer>(std::move(command));
    shard.turn(100'500);
    EXPECT_EQ(look_at(shard).state.skipped, 95u) << "the newest five seconds are on time";
    EXPECT_EQ(look_at(shard).state.made, 5u);
    EXPECT_EQ(look_at(shard).state.passed_count, 95u);
}

TEST(Schedules, a_queue_without_room_makes_the_run_wait) {
    TrialEngine shard;
    ConfigureQueueCommand settings{.queue = "q"};
    settings.settings.pending_max = 2;
    shard.ask<QueueAnswer>(settings);
    shard.ask<ScheduleAnswer>(every(100));
    shard.turn(100);
    EXPECT_EQ(look_at(shard).blocked_by, ErrorCode::none);
    for (int i = 0; i < 8; ++i) shard.turn(50);
    EXPECT_EQ(look_at(shard).state.made, 2u);
    EXPECT_EQ(look_at(shard).blocked_by, "queue_full"_code);
    const std::vector<Delivered> first = shard.lease();
    ASSERT_EQ(first.size(), 2u);
    EXPECT_EQ(shard.ask<Error>(ControlScheduleCommand{"default", "s", What::fire}).code, "queue_full"_code);
    shard.ask<LeaseEndAnswer>(AckCommand{first[0].lease});
    shard.turn(1'000);
    EXPECT_EQ(look_at(shard).state.made, 3u);
    EXPECT_EQ(numbers_of(shard.lease()), (Numbers{3}));
}

// The last run of all waited for the one before. That ended while the queue was full, and the engine's own check knew
// of no schedule that waits for room alone: it ended the process (simulator, seed 1000117).
TEST(Schedules, a_last_run_that_waited_for_the_previous_one_waits_for_capacity_too) {
    TrialEngine shard;
    PutScheduleCommand command = every(100, 2);
    command.rule.overlap = Overlap::queue_one;
    shard.ask<ScheduleAnswer>(std::move(command));
    shard.turn(100);
    const std::vector<Delivered> first = shard.lease();
    ASSERT_EQ(first.size(), 1u);
    shard.turn(100);
    EXPECT_EQ(look_at(shard).state.next_ms, 0);
    const MessageId in_the_way = shard.put(500'000);
    ConfigureQueueCommand settings{.queue = "q"};
    settings.settings.pending_max = 1;
    shard.ask<QueueAnswer>(settings);
    shard.ask<LeaseEndAnswer>(AckCommand{first[0].lease});
    shard.turn();
    shard.engine().check();
    EXPECT_EQ(look_at(shard).state.made, 1u);
    EXPECT_EQ(look_at(shard).blocked_by, "queue_full"_code);
    shard.ask<ChangeAnswer>(CancelCommand{"default", in_the_way});
    shard.turn(EngineOptions{}.spawn_again_ms);
    EXPECT_EQ(numbers_of(shard.lease()), (Numbers{2}));
    EXPECT_TRUE(look_at(shard).state.has_ended());
    EXPECT_EQ(look_at(shard).blocked_by, ErrorCode::none);
}

// The first run, which is not acknowledged at the next two times.
Delivered lease_first_of_three(TrialEngine& shard, Overlap overlap) {
    PutScheduleCommand command = every(100);
    command.rule.overlap = overlap;
    shard.ask<ScheduleAnswer>(std::move(command));
    shard.turn(100);
    const std::vector<Delivered> first = shard.lease();
    EXPECT_EQ(first.size(), 1u);
    shard.turn(100);
    shard.turn(100);
    EXPECT_TRUE(shard.lease().empty());
    return first.at(0);
}

TEST(Schedules, overlap_skip_makes_no_run_beside_an_unfinished_one) {
    TrialEngine shard;
    const Delivered first = lease_first_of_three(shard, Overlap::skip);
    EXPECT_EQ(look_at(shard).state.skipped, 2u);
    shard.ask<LeaseEndAnswer>(AckCommand{first.lease});
    shard.turn(100);
    EXPECT_EQ(numbers_of(shard.lease()), (Numbers{4}));
}

TEST(Schedules, queue_one_makes_the_run_that_waits_when_the_one_before_ends) {
    TrialEngine shard;
    const Delivered first = lease_first_of_three(shard, Overlap::queue_one);
    EXPECT_EQ(look_at(shard).state.merged, 1u);
    EXPECT_EQ(look_at(shard).state.waiting_run, 3u);
    shard.ask<LeaseEndAnswer>(AckCommand{first.lease});
    shard.turn();
    EXPECT_EQ(numbers_of(shard.lease()), (Numbers{3})) << "at once, not at the next time";
    EXPECT_EQ(look_at(shard).state.waiting_ms, 0);
}

// A schedule of every day was changed from `queue_one` to `allow` while a run waited behind one that hung. The run that
// waited came a day later, with the next one, although nothing kept it any more.
TEST(Schedules, a_run_that_waits_is_made_at_once_when_runs_may_overlap) {
    TrialEngine shard;
    PutScheduleCommand command = every(100, 2);
    command.rule.overlap = Overlap::queue_one;
    shard.ask<ScheduleAnswer>(command);
    shard.turn(100);
    ASSERT_EQ(shard.lease().size(), 1u);
    shard.turn(100);
    ASSERT_EQ(look_at(shard).state.waiting_run, 2u);
    command.rule.overlap = Overlap::allow;
    command.body = "changed";
    command.rule.content_hash += 1;
    shard.ask<ScheduleAnswer>(command);
    shard.turn();
    const std::vector<Delivered> waited = shard.lease();
    ASSERT_EQ(numbers_of(waited), (Numbers{2}));
    EXPECT_EQ(waited[0].body, "changed") << "it is made with what the schedule is by then";
    EXPECT_EQ(look_at(shard).state.waiting_ms, 0);
}

// The simulator changed a schedule from `queue_one` to `skip` while a run waited behind one that was held, and
// found that the next time made the run that waited, although `skip` says that none is made beside an unfinished one.
TEST(Schedules, a_waiting_run_keeps_waiting_if_the_policy_becomes_skip) {
    TrialEngine shard;
    PutScheduleCommand command = every(100, 4);
    command.rule.overlap = Overlap::queue_one;
    shard.ask<ScheduleAnswer>(command);
    shard.turn(100);
    const std::vector<Delivered> first = shard.lease();
    ASSERT_EQ(first.size(), 1u);
    shard.turn(100);
    command.rule.overlap = Overlap::skip;
    shard.ask<ScheduleAnswer>(command);
    shard.turn(100);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(look_at(shard).state.skipped, 1u);
    shard.ask<LeaseEndAnswer>(AckCommand{first[0].lease});
    shard.turn();
    EXPECT_EQ(numbers_of(shard.lease()), (Numbers{2}));
}

TEST(Schedules, a_run_that_waits_is_made_after_a_crash_too) {
    TrialEngine first;
    PutScheduleCommand command = every(100, 2);
    command.rule.overlap = Overlap::queue_one;
    first.ask<ScheduleAnswer>(std::move(command));
    first.turn(100);
    first.turn(100);
    EXPECT_EQ(look_at(first).state.waiting_run, 2u);
    TrialEngine second(EngineOptions{}, first);
    second.turn(1'000);
    const std::vector<Delivered> run = second.lease();
    ASSERT_EQ(numbers_of(run), (Numbers{1}));
    TrialEngine third(EngineOptions{}, second);
    const std::vector<Delivered> again = third.lease();
    ASSERT_EQ(numbers_of(again), (Numbers{1}));
    third.hold_commits = true;
    third.submit(AckCommand{again[0].lease});
    third.turn();
    third.hold_commits = false;
    third.settle();
    third.turn();
    EXPECT_EQ(numbers_of(third.lease()), (Numbers{2}));
    TrialEngine fourth(EngineOptions{}, third);
    fourth.turn(1'000);
    EXPECT_EQ(look_at(fourth).state.made, 2u);
}

// The newest run may have left memory: the index says then how it stands.
TEST(Schedules, an_overlap_is_detected_if_the_run_is_only_in_the_index) {
    EngineOptions options;
    options.segment_bytes = 64 << 10;
    for (const bool ends : {false, true}) {
        TrialEngine shard(options);
        PutScheduleCommand command = every(3'000'000);
        command.rule.overlap = Overlap::skip;
        command.rule.jitter_ms = 900'000;
        shard.ask<ScheduleAnswer>(std::move(command));
        shard.turn(3'000'000);
        const MessageId run = look_at(shard).state.last_id;
        ASSERT_NE(run, 0u);
        if (ends) shard.ask<ChangeAnswer>(CancelCommand{"default", run});
        shard.move_to_index();
        for (int i = 0; i < 40; ++i) shard.turn();
        if (!ends) shard.ask<ChangeAnswer>(HoldCommand{"default", run});
        shard.move_to_index();
        shard.turn(3'000'000);
        EXPECT_EQ(look_at(shard).state.skipped, ends ? 0u : 1u);
        EXPECT_EQ(look_at(shard).state.made, ends ? 2u : 1u);
    }
}

TEST(Schedules, jitter_makes_a_run_due_later_by_the_same_time_always) {
    TrialEngine shard;
    PutScheduleCommand command = every(100'000);
    command.rule.jitter_ms = 50'000;
    shard.ask<ScheduleAnswer>(std::move(command));
    const PreviewAnswer seen = shard.ask<PreviewAnswer>(PreviewScheduleCommand{"default", "s", 3, {}});
    ASSERT_EQ(seen.times.size(), 3u);
    shard.turn(100'000);
    const MessageAnswer run = shard.ask<MessageAnswer>(GetCommand{"default", look_at(shard).state.last_id});
    EXPECT_EQ(run.row.state.nominal_due_ms, seen.times[0].nominal_ms);
    EXPECT_EQ(run.row.state.due_ms, seen.times[0].due_ms);
    EXPECT_NE(seen.times[0].due_ms - seen.times[0].nominal_ms, seen.times[1].due_ms - seen.times[1].nominal_ms);
    EXPECT_TRUE(shard.lease().empty() || run.row.state.due_ms <= kStart + 100'000);
    shard.turn(50'000);
    EXPECT_EQ(numbers_of(shard.lease()), (Numbers{1}));
}

// Times of the pause were told with numbers, as if they were to come, though it skips them.
TEST(Schedules, a_list_is_sorted_by_name_in_pages) {
    TrialEngine shard;
    for (const char* name : {"c", "a", "b"}) shard.ask<ScheduleAnswer>(every(1'000, 0, name));
    const ScheduleListAnswer first = shard.ask<ScheduleListAnswer>(ListSchedulesCommand{"default", "", 2});
    ASSERT_EQ(first.schedules.size(), 2u);
    EXPECT_EQ(first.schedules[1].name, "b");
    EXPECT_FALSE(first.complete);
    const ScheduleListAnswer rest = shard.ask<ScheduleListAnswer>(ListSchedulesCommand{"default", "b", 2});
    ASSERT_EQ(rest.schedules.size(), 1u);
    EXPECT_TRUE(rest.complete);
    EXPECT_TRUE(shard.ask<ScheduleListAnswer>(ListSchedulesCommand{"other", "", 2}).schedules.empty());
}

TEST(Schedules, a_relocation_writes_it_again_and_the_old_record_is_needed_no_more) {
    TrialEngine shard;
    shard.ask<ScheduleAnswer>(every(1'000));
    shard.turn(1'000);
    const std::uint64_t needed = shard.engine().totals().needed_bytes;
    Sequence log_position = 0;
    std::string body;
    Sequence sequence = 0;
    for (const Record& record : shard.log()) {
        ++sequence;
        const auto* rule = std::get_if<RuleRecord>(&record);
        if (rule != nullptr && rule->is_whole()) log_position = sequence;
    }
    body = shard.record_body(log_position);
    EXPECT_TRUE(shard.ask<RelocateAnswer>(RelocateRuleCommand{Subject::schedule, "default", "s", log_position, body})
                    .relocated);
    EXPECT_FALSE(
        shard.ask<RelocateAnswer>(RelocateRuleCommand{Subject::schedule, "default", "s", log_position, body}).relocated)
        << "it moved";
    EXPECT_LT(shard.engine().totals().needed_bytes, needed + 100) << "the new record, and not the old one";
    shard.turn(1'000);
    const std::vector<Delivered> runs = shard.lease();
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[1].body, "again");
}

TEST(Schedules, on_a_full_disk_none_can_be_set_and_none_creates_a_run) {
    TrialEngine shard;
    shard.ask<ScheduleAnswer>(every(1'000));
    shard.engine().set_log_space(LogSpace::scarce);
    EXPECT_EQ(shard.ask<Error>(every(2'000, 0, "t")).code, "store_full"_code);
    EXPECT_EQ(shard.ask<Error>(ControlScheduleCommand{"default", "s", What::fire}).code, "store_full"_code);
    shard.turn(1'500);
    EXPECT_EQ(look_at(shard).state.made, 0u);
    shard.engine().set_log_space(LogSpace::enough);
    shard.turn(1'000);
    EXPECT_EQ(look_at(shard).state.made, 2u) << "both are on time within five seconds";
    shard.engine().set_log_space(LogSpace::reserve);
    EXPECT_TRUE(tell(shard, What::pause).state.paused) << "a pause may always be written";
    EXPECT_EQ(shard.ask<Error>(ControlScheduleCommand{"default", "s", What::resume}).code, "store_full"_code);
    EXPECT_EQ(tell(shard, What::remove).removed, true);
}

TEST(Schedules, contents_larger_than_a_batch_are_written_one_by_one) {
    EngineOptions options;
    options.batch_bytes_max = 64 << 10;
    options.segment_bytes = 256 << 10;
    TrialEngine shard(options);
    PutScheduleCommand command = every(100, 8);
    command.body = std::string(100 << 10, 'x');
    shard.ask<ScheduleAnswer>(std::move(command));
    for (int i = 0; i < 20; ++i) {
        shard.turn(100);
        if (shard.engine().counters().unsealed_segments > 2) shard.engine().table_taken(100);
    }
    EXPECT_EQ(look_at(shard).state.made, 8u);
}

}  // namespace
}  // namespace duewheel::engine_schedules_test
