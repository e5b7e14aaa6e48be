// What the workers of a message say about their work: names, progress and checkpoints, and the attempts of the message;
// and leases that wait for several messages.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_work_test {
namespace {

using Shard = TrialEngine;

LeaseCommand by(std::string worker, std::int64_t lease_ms = 30'000) {
    return {.queue = "q", .lease_ms = lease_ms, .worker = std::move(worker)};
}

Delivered leased(Shard& shard, LeaseCommand command) {
    auto messages = shard.ask<LeaseAnswer>(std::move(command)).messages;
    if (messages.size() != 1) return ADD_FAILURE() << "nothing is ready", Delivered();
    return std::move(messages.front());
}

MessageAnswer get(Shard& shard, MessageId id) {
    return shard.ask<MessageAnswer>(GetCommand{"default", id});
}

LeaseEndAnswer end(Shard& shard, Command command) {
    return shard.ask<LeaseEndAnswer>(std::move(command));
}

TEST(Work, a_leased_message_shows_its_worker_and_the_next_run_does_too) {
    Shard first;
    const MessageId id = first.put(0);
    leased(first, by("w1"));
    EXPECT_EQ(get(first, id).worker, "w1");
    EXPECT_EQ(get(first, id).delivered_ms, kStart);
    first.turn(StartedAttempts::kWaitMs);
    Shard second({}, first);
    EXPECT_EQ(get(second, id).worker, "w1");
    EXPECT_EQ(get(second, id).delivered_ms, kStart);
    second.engine().check();
}

TEST(Work, the_next_delivery_has_the_checkpoint_after_a_failure_a_lost_lease_and_a_restart) {
    for (int how = 0; how < 3; ++how) {
        Shard first;
        const MessageId id = first.put(0);
        const Delivered job = leased(first, by("w1", 1'000));
        EXPECT_EQ(job.checkpoint, "");
        EXPECT_EQ(end(first, ExtendCommand{job.lease, 1'000, "0.25", "{\"row\": 1}"}).outcome, LeaseOutcome::extended);
        EXPECT_EQ(end(first, ExtendCommand{job.lease, 1'000, "0.5", std::nullopt}).outcome, LeaseOutcome::extended);
        EXPECT_EQ(get(first, id).row.state.work->progress, "0.5");
        EXPECT_EQ(get(first, id).row.state.work->checkpoint, "{\"row\": 1}");
        if (how == 0) {
            EXPECT_EQ(end(first, FailCommand{job.lease, "no", 0}).outcome, LeaseOutcome::retrying);
            EXPECT_EQ(leased(first, by("")).checkpoint, "{\"row\": 1}");
        } else if (how == 1) {
            first.turn(1'001);
            EXPECT_EQ(leased(first, by("")).checkpoint, "{\"row\": 1}");
        } else {
            Shard second({}, first);
            EXPECT_EQ(get(second, id).row.state.work->checkpoint, "{\"row\": 1}");
            second.turn(20'000);
            EXPECT_EQ(leased(second, by("")).checkpoint, "{\"row\": 1}");
        }
    }
}

TEST(Work, a_null_removes_and_an_end_drops_what_the_next_attempt_would_need) {
    Shard shard;
    const MessageId id = shard.put(0);
    const Delivered job = leased(shard, by(""));
    end(shard, ExtendCommand{job.lease, {}, "0.5", "7"});
    end(shard, ExtendCommand{job.lease, {}, "null", {}});
    EXPECT_EQ(get(shard, id).row.state.work->progress, "");
    EXPECT_EQ(get(shard, id).row.state.work->checkpoint, "7");
    EXPECT_EQ(end(shard, AckCommand{job.lease}).outcome, LeaseOutcome::done);
    EXPECT_EQ(get(shard, id).row.state.work->checkpoint, "");
}

TEST(Work, the_timeline_has_each_attempt_with_its_end) {
    Shard shard;
    const MessageId id = shard.put(0);
    end(shard, FailCommand{leased(shard, by("w1")).lease, "no paper", 0});
    leased(shard, by("w2", 1'000));
    shard.turn(StartedAttempts::kWaitMs);
    shard.turn(1'000);
    end(shard, ReleaseCommand{leased(shard, by("w3")).lease});
    const Delivered last = leased(shard, by("w4"));
    std::vector<PastAttempt> timeline = get(shard, id).timeline;
    ASSERT_EQ(timeline.size(), 4u);
    EXPECT_EQ(timeline[0], (PastAttempt{1, kStart, timeline[0].ended_ms, AttemptOutcome::failed, "no paper", "w1"}));
    EXPECT_EQ(timeline[1].outcome, AttemptOutcome::lease_lost);
    EXPECT_EQ(timeline[1].worker, "w2");
    EXPECT_EQ(timeline[1].ended_ms, timeline[1].started_ms + 1'000);
    EXPECT_EQ(timeline[2].outcome, AttemptOutcome::released);
    EXPECT_EQ(timeline[3].ended_ms, 0) << "it has the lease";
    EXPECT_EQ(timeline[3].worker, "w4");
    end(shard, AckCommand{last.lease});
    timeline = get(shard, id).timeline;
    ASSERT_EQ(timeline.size(), 4u);
    EXPECT_EQ(timeline[3].outcome, AttemptOutcome::done);
    shard.engine().check();
}

TEST(Work, the_ack_of_a_short_attempt_without_a_name_writes_nothing_about_it) {
    Shard shard;
    shard.put(0);
    end(shard, AckCommand{leased(shard, by("")).lease});
    for (const MessageRecord& record : shard.records<MessageRecord>()) EXPECT_FALSE(record.state.work.is_set());
}

TEST(Work, a_failure_can_make_a_dead_letter_at_once) {
    Shard shard;
    const MessageId id = shard.put(0);
    FailCommand fail{leased(shard, by("w")).lease, "no such account"};
    fail.dead = true;
    EXPECT_EQ(end(shard, fail).outcome, LeaseOutcome::dead);
    EXPECT_EQ(get(shard, id).row.state.state, State::dead);
    EXPECT_EQ(get(shard, id).row.reason, "no such account");
}

TEST(Work, a_lease_waits_for_its_minimum_and_holds_nothing_back) {
    Shard shard;
    const LeaseCommand three{.queue = "q", .max = 5, .wait_ms = 2'000, .min = 3};
    const ReplyToken waiting = shard.submit(three);
    shard.put(0);
    shard.put(0);
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(waiting)) << "only two are due";
    EXPECT_EQ(shard.lease(1).size(), 1u) << "another consumer gets one meanwhile";
    shard.put(0);
    shard.put(0);
    shard.turn();
    EXPECT_EQ(shard.take<LeaseAnswer>(waiting).messages.size(), 3u);
    const ReplyToken late = shard.submit(three);
    shard.put(0);
    shard.turn(2'001);
    EXPECT_EQ(shard.take<LeaseAnswer>(late).messages.size(), 1u) << "after its wait it gets what there is";
    LeaseCommand wrong = three;
    wrong.min = 6;
    EXPECT_EQ(shard.ask<Error>(wrong).code, "bad_min"_code);
    wrong = three;
    wrong.wait_ms = 0;
    EXPECT_EQ(shard.ask<Error>(wrong).code, "bad_min"_code);
}

}  // namespace
}  // namespace duewheel::engine_work_test
