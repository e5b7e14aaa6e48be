// Leases that outlive the process: a restart ended all of them, so a job of ten minutes whose worker lived was
// delivered again or became a dead letter, and its acknowledgement was refused.
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/trial/trial_engine.h"

namespace duewheel::engine_kept_leases_test {
namespace {

using Shard = TrialEngine;
constexpr std::int64_t kGraceMs = 10'000;

EngineOptions with_attempts(std::uint32_t attempts) {
    EngineOptions options;
    options.retry = {attempts, 1'000, 2'000, 3'600'000, 0};
    return options;
}

LeaseOutcome end(Shard& shard, Command command) {
    return shard.ask<LeaseEndAnswer>(std::move(command)).outcome;
}

Delivered leased(Shard& shard, std::int64_t lease_ms, bool ends_with_server = false) {
    LeaseCommand command{"default", "q", 1, lease_ms, 0};
    command.ends_with_server = ends_with_server;
    auto messages = shard.ask<LeaseAnswer>(std::move(command)).messages;
    if (messages.size() != 1) return ADD_FAILURE() << "nothing is ready", Delivered();
    return std::move(messages.front());
}

MessageAnswer get(Shard& shard, MessageId id) {
    return shard.ask<MessageAnswer>(GetCommand{"default", id});
}

TEST(KeptLeases, a_lease_that_lasts_outlives_the_process_with_its_token_and_its_attempt) {
    for (int how = 0; how < 5; ++how) {
        Shard first;
        const MessageId id = first.put(0);
        const Delivered job = leased(first, 600'000);
        first.turn(StartedAttempts::kWaitMs);
        Shard second({}, first);
        EXPECT_TRUE(second.lease().empty());
        const MessageAnswer shown = get(second, id);
        EXPECT_EQ(shown.row.state.state, State::leased);
        EXPECT_EQ(shown.lease_until_ms, job.lease_until_ms);
        EXPECT_EQ(shown.row.state.attempts, 1u);
        EXPECT_FALSE(shown.row.state.maybe_delivered);
        EXPECT_EQ(second.engine().counters().leased, 1u);
        if (how == 0) {
            EXPECT_EQ(end(second, AckCommand{job.lease}), LeaseOutcome::done);
            EXPECT_EQ(end(second, AckCommand{job.lease}), LeaseOutcome::done) << "as ever, also if it is repeated";
        } else if (how == 1) {
            EXPECT_EQ(end(second, FailCommand{job.lease, "no"}), LeaseOutcome::retrying);
        } else if (how == 2) {
            EXPECT_EQ(end(second, ExtendCommand{job.lease, 700'000}), LeaseOutcome::extended);
        } else if (how == 3) {
            EXPECT_EQ(end(second, ReleaseCommand{job.lease, 0}), LeaseOutcome::released);
            EXPECT_EQ(leased(second, 30'000).attempt, 2u);
        } else {
            EXPECT_EQ(end(second, HoldLeaseCommand{job.lease}), LeaseOutcome::held);
        }
    }
}

// A worker whose response was lost, because the server was stopped, asked again and was told that its lease had ended:
// it could not tell whether its failure counted. Only a repeated ack had its first answer.
TEST(KeptLeases, a_command_that_ended_a_lease_can_be_repeated_also_after_a_restart) {
    for (const bool is_restarted : {false, true}) {
        Shard first;
        for (int i = 0; i < 5; ++i) first.put(0);
        std::vector<Delivered> jobs;
        for (int i = 0; i < 5; ++i) jobs.push_back(leased(first, 600'000));
        FailCommand deadly{jobs[1].lease, "no"};
        deadly.dead = true;
        const std::vector<std::pair<Command, LeaseOutcome>> ends = {
            {FailCommand{jobs[0].lease, "no"}, LeaseOutcome::retrying},
            {deadly, LeaseOutcome::dead},
            {ReleaseCommand{jobs[2].lease, 5'000}, LeaseOutcome::released},
            {HoldLeaseCommand{jobs[3].lease}, LeaseOutcome::held}};
        std::vector<LeaseEndAnswer> told;
        for (const auto& [command, outcome] : ends) {
            told.push_back(first.ask<LeaseEndAnswer>(command));
            EXPECT_EQ(told.back().outcome, outcome);
            EXPECT_FALSE(told.back().repeated);
        }
        CancelCommand cancel{"default", jobs[4].id};
        cancel.running = true;
        first.ask<ChangeAnswer>(cancel);
        EXPECT_EQ(end(first, FailCommand{jobs[4].lease, "no"}), LeaseOutcome::cancelled);
        std::optional<Shard> second;
        if (is_restarted) second.emplace(EngineOptions{}, first);
        Shard& shard = is_restarted ? *second : first;
        for (std::size_t i = 0; i < ends.size(); ++i) {
            const auto again = shard.ask<LeaseEndAnswer>(ends[i].first);
            EXPECT_EQ(again.outcome, ends[i].second) << i;
            EXPECT_EQ(again.due_ms, told[i].due_ms) << i;
            EXPECT_TRUE(again.repeated);
        }
        EXPECT_EQ(end(shard, FailCommand{jobs[4].lease, "no"}), LeaseOutcome::cancelled);
        EXPECT_EQ(end(shard, ReleaseCommand{jobs[0].lease, 0}), LeaseOutcome::expired) << "another command";
        EXPECT_EQ(end(shard, ExtendCommand{jobs[2].lease, 60'000}), LeaseOutcome::expired);
        EXPECT_EQ(end(shard, AckCommand{jobs[3].lease}), LeaseOutcome::expired);
        EXPECT_EQ(get(shard, jobs[0].id).timeline.size(), 1u) << "nothing was done again";
        shard.turn(5'000);
        const Delivered next = leased(shard, 600'000);
        EXPECT_EQ(end(shard, FailCommand{next.lease, "no"}), LeaseOutcome::retrying);
        EXPECT_EQ(end(shard, next.id == jobs[0].id ? ends[0].first : ends[2].first), LeaseOutcome::expired)
            << "another attempt has ended since";
    }
}

TEST(KeptLeases, a_crash_forgets_those_of_the_last_instants_and_their_messages_are_marked) {
    Shard first;
    first.put(0);
    const Delivered job = leased(first, 600'000);
    first.turn(StartedAttempts::kWaitMs - 1);
    Shard second({}, first);
    const Delivered again = leased(second, 600'000);
    EXPECT_EQ(again.attempt, 1u);
    EXPECT_TRUE(again.maybe_delivered);
    const auto refused = second.ask<LeaseEndAnswer>(AckCommand{job.lease});
    EXPECT_EQ(refused.outcome, LeaseOutcome::expired);
    EXPECT_TRUE(refused.by_restart);
}

TEST(KeptLeases, a_stop_writes_all_of_them) {
    Shard first;
    const MessageId id = first.put(0);
    const Delivered job = leased(first, 600'000);
    first.engine().stop_waiting();
    first.turn();
    Shard second({}, first);
    EXPECT_EQ(get(second, id).row.state.state, State::leased);
    EXPECT_EQ(end(second, AckCommand{job.lease}), LeaseOutcome::done);
}

// A second restart within the grace of the first one ended such a lease: no record said how long it lasts.
TEST(KeptLeases, a_lease_that_only_the_grace_keeps_outlives_a_second_restart) {
    Shard first;
    first.put(0);
    const Delivered job = leased(first, 5'000);
    first.turn(StartedAttempts::kWaitMs);
    Shard second({}, first, 60'000);
    second.turn(StartedAttempts::kWaitMs);
    second.put(3'600'000);
    Shard third({}, second);
    EXPECT_TRUE(third.lease().empty());
    EXPECT_EQ(end(third, AckCommand{job.lease}), LeaseOutcome::done);
}

TEST(KeptLeases, extensions_are_written_once_and_in_time) {
    Shard first;
    const MessageId id = first.put(0);
    const Delivered job = leased(first, 30'000);
    first.turn(StartedAttempts::kWaitMs);
    const auto attempts = [&] {
        std::size_t count = 0;
        for (const MessageRecord& record : first.records<MessageRecord>()) count += record.kind == RecordKind::attempt;
        return count;
    };
    EXPECT_EQ(attempts(), 1u);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(end(first, ExtendCommand{job.lease, 60'000 + i}), LeaseOutcome::extended);
    EXPECT_EQ(attempts(), 1u) << "nothing waits for the disk";
    first.turn(StartedAttempts::kWaitMs);
    EXPECT_EQ(attempts(), 2u) << "several are one record";
    const DueMs until_ms = get(first, id).lease_until_ms;
    Shard second({}, first);
    EXPECT_EQ(get(second, id).lease_until_ms, until_ms);
    EXPECT_EQ(end(second, ExtendCommand{job.lease, 90'000}), LeaseOutcome::extended);
    second.turn(StartedAttempts::kWaitMs);
    Shard third({}, second);
    EXPECT_EQ(end(third, AckCommand{job.lease}), LeaseOutcome::done) << "over two restarts";
}

TEST(KeptLeases, one_that_ends_while_the_server_is_away_lasts_for_the_grace) {
    for (const bool returns : {false, true}) {
        Shard first(with_attempts(1));
        const MessageId id = first.put(0);
        const Delivered job = leased(first, 1'000);
        first.turn(StartedAttempts::kWaitMs);
        Shard second(with_attempts(1), first, 60'000);
        EXPECT_EQ(get(second, id).row.state.state, State::leased);
        second.turn(kGraceMs - 1);
        EXPECT_TRUE(second.lease().empty());
        if (returns) {
            EXPECT_EQ(end(second, ExtendCommand{job.lease, 1'000}), LeaseOutcome::extended);
            second.turn(1'000);
            EXPECT_EQ(get(second, id).row.state.state, State::dead) << "lost as any other lease";
            continue;
        }
        second.turn(1);
        const Delivered again = leased(second, 1'000);
        EXPECT_EQ(again.attempt, 2u) << "although the rule has one: a restart uses up none";
        EXPECT_FALSE(again.maybe_delivered) << "its deliveries are known";
        EXPECT_FALSE(second.ask<LeaseEndAnswer>(AckCommand{job.lease}).by_restart) << "there was time to return";
        EXPECT_EQ(end(second, FailCommand{again.lease, "no"}), LeaseOutcome::dead);
    }
}

// A start cannot know that the message is with another consumer unless the log's time shows that its lease had ended.
TEST(KeptLeases, a_lease_that_ended_before_the_crash_is_not_kept) {
    Shard first;
    first.put(0);
    const Delivered job = leased(first, 1'000);
    first.turn(StartedAttempts::kWaitMs);
    first.turn(1'000 - StartedAttempts::kWaitMs);
    const Delivered other = leased(first, 600'000);
    EXPECT_EQ(other.attempt, 2u);
    Shard second({}, first);
    const Delivered again = leased(second, 600'000);
    EXPECT_TRUE(again.maybe_delivered);
    EXPECT_EQ(end(second, AckCommand{job.lease}), LeaseOutcome::expired);
}

TEST(KeptLeases, leases_of_the_servers_own_end_with_it_and_their_attempt_does_not_count) {
    Shard first(with_attempts(1));
    const MessageId id = first.put(0);
    const Delivered job = leased(first, 600'000, true);
    first.turn(StartedAttempts::kWaitMs);
    Shard second(with_attempts(1), first);
    EXPECT_EQ(get(second, id).row.state.state, State::ready) << "it is no dead letter";
    EXPECT_TRUE(second.ask<LeaseEndAnswer>(AckCommand{job.lease}).by_restart);
    const Delivered again = leased(second, 1'000, true);
    EXPECT_EQ(again.attempt, 2u);
    second.turn(StartedAttempts::kWaitMs);
    Shard third(with_attempts(1), second);
    EXPECT_EQ(leased(third, 1'000).attempt, 3u);
    third.turn(1'000);
    EXPECT_EQ(get(third, id).row.state.state, State::dead) << "this one was lost while the server ran";
}

TEST(KeptLeases, a_kept_lease_holds_the_line_of_its_order_key) {
    Shard first;
    PutCommand put;
    put.queue = "q";
    put.order_key = "k";
    put.body = "1";
    first.ask<PutAnswer>(put);
    put.body = "2";
    first.ask<PutAnswer>(put);
    const Delivered job = leased(first, 600'000);
    first.turn(StartedAttempts::kWaitMs);
    Shard second({}, first);
    EXPECT_TRUE(second.lease().empty());
    EXPECT_EQ(end(second, AckCommand{job.lease}), LeaseOutcome::done);
    EXPECT_EQ(leased(second, 1'000).body, "2");
}

TEST(KeptLeases, a_message_that_expires_meanwhile_can_be_acknowledged_in_its_kept_lease) {
    for (const bool acknowledged : {false, true}) {
        Shard first;
        PutCommand put;
        put.queue = "q";
        put.expires = {.at_ms = std::nullopt, .delay_ms = 5'000};
        const MessageId id = first.ask<PutAnswer>(put).id;
        const Delivered job = leased(first, 20'000);
        first.turn(StartedAttempts::kWaitMs);
        Shard second({}, first, 6'000);
        EXPECT_EQ(get(second, id).row.state.state, State::leased);
        if (acknowledged) {
            EXPECT_EQ(end(second, AckCommand{job.lease}), LeaseOutcome::done);
        } else {
            second.turn(20'000);
            EXPECT_EQ(get(second, id).row.state.state, State::expired);
        }
    }
}

}  // namespace
}  // namespace duewheel::engine_kept_leases_test
