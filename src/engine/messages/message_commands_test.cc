#include "engine/messages/message_commands.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_parts.h"

namespace duewheel::message_commands_test {
namespace {

struct Trial : TrialParts {
    explicit Trial(const EngineOptions& with = {}) : TrialParts(with) {}

    template <class Command>
    Verdict decide(Command command, ReplyToken token) {
        return TrialContext::decide([this](auto&& add) { this->batch(add); }, messages, std::move(command), token);
    }
    template <class Command>
    ChangeOutcome outcome(Command command) {
        EXPECT_EQ(decide(std::move(command), 1), Verdict::settled);
        return take<ChangeAnswer>(1).outcome;
    }
    LeaseToken lease() {
        dispatcher.start({.queue = "q", .lease_ms = 5'000}, 9);
        batch([] {});  // saves the time, so that the delivery is not held back
        dispatcher.deliver_held();
        return take<LeaseAnswer>(9).messages.at(0).lease;
    }

    MessageFinder finder{context, lifecycle};
    MessageCommands messages{context, queues, lifecycle, finder, dead_writer};
};

TEST(MessageCommands, a_held_message_is_not_due_until_it_is_kicked) {
    Trial trial;
    const EntryNumber number = trial.put_message(trial.now);
    const MessageId id = trial.recent.entry(number).id;
    EXPECT_EQ(trial.outcome(HoldCommand{.id = id}), ChangeOutcome::held);
    EXPECT_EQ(trial.recent.entry(number).state(), State::held);
    const Sequence before = trial.context.batches.totals().sequence;
    EXPECT_EQ(trial.outcome(HoldCommand{.id = id}), ChangeOutcome::held);
    EXPECT_EQ(trial.context.batches.totals().sequence, before) << "what is held already is not written again";
    EXPECT_EQ(trial.decide(FireCommand{.id = id}, 2), Verdict::settled);
    EXPECT_EQ(trial.take<Error>(2).code, "not_waiting"_code);
    EXPECT_EQ(trial.outcome(KickCommand{.id = id}), ChangeOutcome::kicked);
    EXPECT_EQ(trial.recent.entry(number).state(), State::ready);
    EXPECT_EQ(trial.outcome(KickCommand{.id = id}), ChangeOutcome::waiting);
    trial.lifecycle.check();
}

TEST(MessageCommands, a_message_moves_and_is_cancelled_unless_it_is_leased) {
    Trial trial;
    const EntryNumber number = trial.put_message(trial.now + 60'000);
    const MessageId id = trial.recent.entry(number).id;
    EXPECT_EQ(trial.outcome(RescheduleCommand{.id = id, .when = {.delay_ms = 90'000}}), ChangeOutcome::rescheduled);
    EXPECT_EQ(trial.row(id).state.due_ms, trial.now + 90'000);
    EXPECT_EQ(trial.outcome(FireCommand{.id = id}), ChangeOutcome::fired);
    const LeaseToken lease = trial.lease();
    EXPECT_EQ(trial.outcome(CancelCommand{.id = id}), ChangeOutcome::in_flight);
    EXPECT_EQ(trial.decide(ReleaseCommand{.lease = lease}, 2), Verdict::settled);
    EXPECT_EQ(trial.take<LeaseEndAnswer>(2).outcome, LeaseOutcome::released);
    EXPECT_EQ(trial.outcome(CancelCommand{.id = id}), ChangeOutcome::cancelled);
    EXPECT_EQ(trial.outcome(CancelCommand{.id = id}), ChangeOutcome::cancelled) << "the same again";
    trial.lifecycle.check();
}

TEST(MessageCommands, a_lease_is_ended_once_and_its_record_says_which_it_was) {
    Trial trial;
    trial.put_message(trial.now);
    const LeaseToken lease = trial.lease();
    LeaseToken forged = lease;
    forged.attempt += 1;
    trial.decide(AckCommand{forged}, 1);
    EXPECT_EQ(trial.take<Error>(1).code, "bad_lease_token"_code);
    std::vector<Record> records;
    PendingCommand pending = trial.pending(2);
    records = trial.batch([&] { trial.messages.decide(pending, AckCommand{lease}); });
    EXPECT_EQ(trial.take<LeaseEndAnswer>(2).outcome, LeaseOutcome::done);
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(kind_of(records[0]), RecordKind::end);
    EXPECT_EQ(as_message(records[0]).lease_attempt, lease.attempt);
    EXPECT_EQ(as_message(records[0]).lease_incarnation, lease.incarnation);
    trial.decide(FailCommand{.lease = lease}, 3);
    EXPECT_EQ(trial.take<LeaseEndAnswer>(3).outcome, LeaseOutcome::expired);
}

TEST(MessageCommands, a_failed_message_is_retried_until_its_attempts_are_used_up) {
    EngineOptions options;
    options.retry.attempts = 2;
    Trial trial{options};
    const EntryNumber number = trial.put_message(trial.now);
    trial.decide(FailCommand{.lease = trial.lease(), .reason = "no", .retry_in_ms = 100}, 1);
    EXPECT_EQ(trial.take<LeaseEndAnswer>(1).due_ms, trial.now + 100);
    trial.advance_to(trial.now + 100);
    trial.decide(FailCommand{.lease = trial.lease(), .reason = "no again"}, 2);
    EXPECT_EQ(trial.take<LeaseEndAnswer>(2).outcome, LeaseOutcome::dead);
    const MessageId id = trial.recent.entry(number).id;
    EXPECT_EQ(trial.outcome(DiscardCommand{.id = id}), ChangeOutcome::cancelled);
    EXPECT_EQ(trial.recent.find(id), kNoEntry);
}

TEST(MessageCommands, two_commands_on_a_message_are_in_two_batches) {
    Trial trial;
    const MessageId id = trial.recent.entry(trial.put_message(trial.now)).id;
    trial.batch([&] {
        PendingCommand first, second;
        EXPECT_EQ(trial.messages.decide(first, HoldCommand{.id = id}), Verdict::settled);
        EXPECT_EQ(trial.messages.decide(second, KickCommand{.id = id}), Verdict::deferred);
    });
}

}  // namespace
}  // namespace duewheel::message_commands_test
