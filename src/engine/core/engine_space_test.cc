// What the engine accepts on a full disk, and that it answers every command.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/core/engine.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_space_test {
namespace {

using What = ConfigureQueueCommand::What;

ConfigureQueueCommand tell(What what) {
    return {"default", "q", what, {}};
}

// The open segment is closed, and there is no other one.
void stop_the_log(TrialEngine& shard) {
    shard.engine().close_segment();
    shard.turn();
    shard.engine().set_log_space(LogSpace::none);
    shard.turn();
}

// A storm of moves used up the reserve within a second; then acks and cancels, which would have made space, got no
// answer at all.
TEST(EngineSpace, in_the_reserve_ends_are_accepted_and_changes_are_refused) {
    EngineOptions options;
    options.retry.attempts = 1;
    TrialEngine shard(options);
    const MessageId waits = shard.put(1000);
    const MessageId dead = shard.put(0);
    ASSERT_EQ(shard.ask<LeaseEndAnswer>(FailCommand{shard.lease().at(0).lease, "why", {}}).outcome, LeaseOutcome::dead);
    const MessageId held = shard.put(1000);
    shard.ask<ChangeAnswer>(HoldCommand{"default", held});
    PutCommand patient{.queue = "q"};
    patient.retry.attempts = 5;
    shard.ask<PutAnswer>(patient);
    const LeaseToken again = shard.lease().at(0).lease;
    for (int i = 0; i < 2; ++i) shard.put(0);
    const std::vector<Delivered> taken = shard.lease();
    ASSERT_EQ(taken.size(), 2u);

    shard.engine().set_log_space(LogSpace::reserve);
    const std::size_t records = shard.log().size();
    const std::vector<Command> refused = {RescheduleCommand{"default", waits, {{}, 5000}},
                                          FireCommand{"default", waits},
                                          HoldCommand{"default", waits},
                                          KickCommand{"default", held},
                                          KickCommand{"default", dead},
                                          RedriveCommand{"default", "q", {}},
                                          FailCommand{again, "why", 500},
                                          ReleaseCommand{again, 0},
                                          HoldLeaseCommand{again},
                                          tell(What::set),
                                          tell(What::pause)};
    for (const Command& command : refused) {
        EXPECT_EQ(shard.ask<Error>(command).code, "store_full"_code) << command.index();
    }
    ConfigureQueueCommand fresh = tell(What::pause);
    fresh.queue = "fresh";
    EXPECT_EQ(shard.ask<Error>(fresh).code, "store_full"_code);
    EXPECT_EQ(shard.ask<Error>(DescribeQueueCommand{"default", "fresh"}).code, "unknown_queue"_code) << "a name stayed";
    EXPECT_EQ(shard.engine().counters().changes_refused_full, refused.size() + 1);
    EXPECT_EQ(shard.ask<Error>(FireCommand{"default", waits + 100 * kShardsMax}).code, "unknown_id"_code);
    EXPECT_EQ(shard.log().size(), records);

    EXPECT_EQ(shard.ask<LeaseEndAnswer>(ExtendCommand{again, {}}).outcome, LeaseOutcome::extended);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{again}).outcome, LeaseOutcome::done);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(FailCommand{taken[0].lease, "why", {}}).outcome, LeaseOutcome::dead);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{taken[1].lease}).outcome, LeaseOutcome::done);
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", waits}).outcome, ChangeOutcome::cancelled);
    shard.ask<QueueAnswer>(tell(What::purge));
    for (int turns = 0; turns < 5; ++turns) shard.turn();  // the purge walks
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", held}).row.state.state, State::cancelled);
    EXPECT_EQ(shard.engine().counters().pending, 0u);

    shard.engine().set_log_space(LogSpace::scarce);
    EXPECT_EQ(shard.ask<ChangeAnswer>(KickCommand{"default", dead}).outcome, ChangeOutcome::kicked);
}

// Ends used up the segments in which cleaning writes that the front of the log may go.
TEST(EngineSpace, segments_kept_for_compaction_accept_nothing_else) {
    TrialEngine shard;
    std::vector<MessageId> ids;
    for (int i = 0; i < 4; ++i) ids.push_back(shard.put(1000));
    const auto cancel = [&](std::size_t which) { return CancelCommand{"default", ids.at(which)}; };
    shard.engine().set_log_space(LogSpace::cleaning);
    EXPECT_EQ(shard.ask<ChangeAnswer>(cancel(0)).outcome, ChangeOutcome::cancelled) << "the open segment takes it";

    shard.engine().close_segment();
    shard.turn();
    const Error refused = shard.ask<Error>(cancel(1));
    EXPECT_EQ(refused.code, "store_full"_code);
    EXPECT_NE(refused.message.find("Try again in a second"), std::string::npos) << refused.message;
    EXPECT_TRUE(shard.engine().is_idle());
    EXPECT_GT(shard.engine().next_wakeup(), shard.engine().now()) << "it does not turn in vain";

    EXPECT_TRUE(shard.ask<RelocateAnswer>(RelocationDoneCommand{2}).relocated);
    EXPECT_EQ(kind_of(shard.log().back()), RecordKind::relocation_done);
    EXPECT_EQ(shard.ask<Error>(cancel(1)).code, "store_full"_code) << "the segment was begun for cleaning";
    shard.engine().set_log_space(LogSpace::none);
    EXPECT_TRUE(shard.ask<RelocateAnswer>(RelocationDoneCommand{3}).relocated) << "it has room for that";
    EXPECT_EQ(shard.ask<Error>(cancel(1)).code, "store_full"_code);

    shard.engine().set_log_space(LogSpace::reserve);
    EXPECT_EQ(shard.ask<ChangeAnswer>(cancel(1)).outcome, ChangeOutcome::cancelled);
}

TEST(EngineSpace, in_the_reserve_a_paused_queue_may_be_resumed) {
    TrialEngine shard;
    shard.put(0);
    shard.ask<QueueAnswer>(tell(What::pause));
    shard.engine().set_log_space(LogSpace::reserve);
    EXPECT_TRUE(shard.ask<QueueAnswer>(tell(What::pause)).settings.paused) << "it says nothing new";
    EXPECT_FALSE(shard.ask<QueueAnswer>(tell(What::resume)).settings.paused);
    EXPECT_EQ(shard.lease().size(), 1u);
    EXPECT_EQ(shard.ask<Error>(tell(What::pause)).code, "store_full"_code);
}

TEST(EngineSpace, leases_that_end_without_an_ack_take_no_space_and_are_counted_when_there_is_some) {
    TrialEngine shard;
    const MessageId id = shard.put(0);
    shard.engine().set_log_space(LogSpace::reserve);
    shard.turn(10);
    const std::uint64_t commits = shard.engine().counters().commits;
    for (std::uint32_t attempt = 1; attempt <= 9; ++attempt) {
        ASSERT_EQ(shard.lease(1, 1000).at(0).attempt, attempt);
        shard.turn(1000);
    }
    EXPECT_EQ(shard.engine().counters().commits, commits);
    EXPECT_TRUE(shard.engine().is_idle());
    EXPECT_GT(shard.engine().next_wakeup(), shard.engine().now()) << "it does not turn in vain";
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", id}).row.state.attempts, 9u);
    shard.engine().set_log_space(LogSpace::scarce);
    shard.turn();
    EXPECT_EQ(shard.last().kind, RecordKind::attempt);
    EXPECT_EQ(shard.last().state.attempts, 9u);

    shard.engine().set_log_space(LogSpace::reserve);
    shard.lease(1, 1000);
    shard.turn(1000);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", id}).row.state.state, State::dead) << "that is an end";
}

// Otherwise the commit of the attempt saves the time; without one the message would never be delivered.
TEST(EngineSpace, in_the_reserve_a_message_due_long_after_the_newest_commit_is_delivered_once_the_time_is_saved) {
    TrialEngine shard;
    shard.put(60'000);
    shard.turn(10);
    shard.engine().set_log_space(LogSpace::reserve);
    const std::uint64_t commits = shard.engine().counters().commits;
    const std::size_t records = shard.log().size();
    shard.turn(60'000);
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(shard.lease(1, 1000).size(), 1u);
        shard.turn(1000);
    }
    EXPECT_EQ(shard.log().size(), records);
    EXPECT_EQ(shard.engine().counters().commits, commits + 1) << "once, however often it is taken";
}

// On a full disk that commit came first in a segment, which was then closed as it was: the next one would have had its
// name, and the server ended. The simulator found it (seed 8968).
TEST(EngineSpace, a_segment_with_only_the_time_ends_with_a_record) {
    TrialEngine shard;
    shard.put(0);
    ASSERT_EQ(shard.lease(1, 3'600'000).size(), 1u);
    shard.put(60'000);
    PutCommand half{.queue = "q"};
    half.transaction = TransactionRule{"checks", 1'000, 1, false};
    shard.ask<PutAnswer>(half);
    shard.engine().set_log_space(LogSpace::reserve);
    shard.turn(2'000);  // its check waits for space, and the load cursor for the check
    shard.engine().close_segment();
    shard.turn();
    const std::uint64_t commits = shard.engine().counters().commits;
    const std::size_t records = shard.log().size();
    shard.turn(60'000);
    ASSERT_EQ(shard.lease(1, 1000).size(), 1u);
    ASSERT_EQ(shard.engine().counters().commits, commits + 1);
    ASSERT_EQ(shard.log().size(), records);
    shard.engine().close_segment();
    shard.turn();
    EXPECT_EQ(shard.engine().counters().commits, commits + 2);
    EXPECT_EQ(shard.log().size(), records + 1);
}

TEST(EngineSpace, a_purge_that_is_repeated_writes_nothing) {
    TrialEngine shard;
    shard.put(0);
    const LeaseToken lease = shard.lease().at(0).lease;  // so that the purge goes on
    shard.ask<QueueAnswer>(tell(What::purge));
    const std::size_t records = shard.log().size();
    for (int i = 0; i < 3; ++i) {
        shard.turn(5);
        EXPECT_NE(shard.ask<QueueAnswer>(tell(What::purge)).settings.purge_through, 0u);
    }
    EXPECT_EQ(shard.log().size(), records);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(ReleaseCommand{lease, 0}).outcome, LeaseOutcome::purged);
}

TEST(EngineSpace, a_redrive_that_reaches_the_reserve_reports_its_progress) {
    EngineOptions options;
    options.retry.attempts = 1;
    options.redrive_chunk = 2;
    TrialEngine shard(options);
    for (int i = 0; i < 5; ++i) {
        shard.put(0);
        shard.ask<LeaseEndAnswer>(FailCommand{shard.lease().at(0).lease, "why", {}});
    }
    shard.hold_commits = true;
    const ReplyToken redrive = shard.submit(RedriveCommand{"default", "q", {}});
    const ReplyToken second = shard.submit(RedriveCommand{"default", "q", {}});
    shard.turn();
    shard.engine().set_log_space(LogSpace::reserve);
    shard.hold_commits = false;
    shard.settle();
    const auto answer = shard.take<RedriveAnswer>(redrive);
    EXPECT_EQ(answer.redriven, 2u);
    EXPECT_TRUE(answer.more);
    EXPECT_TRUE(shard.replies.contains(second));
    EXPECT_TRUE(shard.engine().is_idle());
    EXPECT_EQ(shard.engine().queue_sums().dead, 5u - shard.engine().counters().requeued);
}

TEST(EngineSpace, a_stalled_log_answers_all_requests_at_once_and_loses_nothing) {
    EngineOptions options;
    options.retry.attempts = 2;
    TrialEngine shard(options);
    const MessageId waits = shard.put(1000);
    const MessageId done = shard.put(0);
    const LeaseToken past = shard.lease().at(0).lease;
    shard.ask<LeaseEndAnswer>(AckCommand{past});
    PutCommand keyed{.queue = "q", .key = "k", .request_hash = 7};
    keyed.when.delay_ms = 1000;
    const MessageId first = shard.ask<PutAnswer>(keyed).id;
    PutCommand brief{.queue = "q"};
    brief.when.delay_ms = 500;
    brief.expires = When{{}, 600};
    const MessageId expires = shard.ask<PutAnswer>(brief).id;
    shard.put(0);
    shard.put(0);
    const std::vector<Delivered> taken = shard.lease();
    ASSERT_EQ(taken.size(), 2u);
    stop_the_log(shard);
    shard.turn(700);
    const std::uint64_t commits = shard.engine().counters().commits;

    const std::vector<Command> refused = {PutCommand{.queue = "q"},
                                          CancelCommand{"default", waits},
                                          RescheduleCommand{"default", waits, {{}, 5000}},
                                          AckCommand{taken[0].lease},
                                          FailCommand{taken[0].lease, "why", {}},
                                          CancelCommand{"default", expires},
                                          tell(What::pause),
                                          tell(What::purge)};
    for (const Command& command : refused) {
        EXPECT_EQ(shard.ask<Error>(command).code, "store_full"_code) << command.index();
        EXPECT_GT(shard.engine().next_wakeup(), shard.engine().now()) << "it does not turn in vain";
    }
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{past}).outcome, LeaseOutcome::done);
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", done}).outcome, ChangeOutcome::delivered);
    EXPECT_EQ(shard.ask<PutAnswer>(keyed).id, first);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(ExtendCommand{taken[1].lease, {}}).outcome, LeaseOutcome::extended);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", waits}).row.state.state, State::scheduled);
    const ReplyToken relocate = shard.submit(RelocationDoneCommand{1});
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(relocate)) << "cleaning has time";
    EXPECT_GT(shard.engine().next_wakeup(), shard.engine().now());
    EXPECT_EQ(shard.engine().counters().commits, commits);

    shard.engine().set_log_space(LogSpace::enough);
    shard.turn();
    EXPECT_TRUE(shard.replies.contains(relocate));
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{taken[0].lease}).outcome, LeaseOutcome::done);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", expires}).row.state.state, State::expired);
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", waits}).outcome, ChangeOutcome::cancelled);
}

// A lease whose message fell due after the newest commit waits for another one, which does not come.
TEST(EngineSpace, a_stalled_log_refuses_the_lease_that_would_need_its_time) {
    TrialEngine shard;
    shard.put(60'000);
    stop_the_log(shard);
    shard.turn(60'000);
    const ReplyToken lease = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 0});
    shard.turn();
    EXPECT_EQ(shard.take<Error>(lease).code, "store_full"_code);
    EXPECT_EQ(shard.engine().counters().leased, 0u);
    shard.engine().set_log_space(LogSpace::reserve);
    EXPECT_EQ(shard.lease().size(), 1u) << "nobody has it";
}

// As puts do; moves of a storm are quicker than the look at the disk, too.
TEST(EngineSpace, moves_wait_before_they_start_a_segment_of_the_reserve_and_ends_do_not) {
    TrialEngine shard;
    const MessageId moved = shard.put(1000);
    const MessageId cancelled = shard.put(1000);
    shard.engine().close_segment();
    shard.turn();
    shard.engine().set_reserve_at_stake(true);
    const ReplyToken fire = shard.submit(FireCommand{"default", moved});
    const ReplyToken move = shard.submit(RescheduleCommand{"default", moved, {{}, 5000}});
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(fire));
    EXPECT_GT(shard.engine().next_wakeup(), shard.engine().now()) << "it does not turn in vain";
    shard.hold_commits = true;
    const ReplyToken cancel = shard.submit(CancelCommand{"default", cancelled});
    shard.turn();
    shard.engine().set_log_space(LogSpace::reserve);
    shard.hold_commits = false;
    shard.settle();
    EXPECT_EQ(shard.take<ChangeAnswer>(cancel).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(shard.take<Error>(fire).code, "store_full"_code);
    EXPECT_EQ(shard.take<Error>(move).code, "store_full"_code);
}

}  // namespace
}  // namespace duewheel::engine_space_test
