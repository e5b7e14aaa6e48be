#include "engine/messages/message_leases.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_parts.h"

namespace duewheel::message_leases_test {
namespace {

struct Trial : TrialParts {
    template <class Add>
    std::vector<Record> batch(Add&& add) {
        return TrialParts::batch(add, [this](const std::string& body, Operation& operation) {
            apply(body, operation);
            if (const auto* of = std::get_if<MessageRecord>(&operation.record)) leases.lease_promised(of->id);
        });
    }
    void lease(LeaseMessageCommand command) {
        EXPECT_EQ(decide([this](auto&& add) { batch(add); }, leases, std::move(command), 1), Verdict::settled);
    }
    void lease(EntryNumber number) { lease({.id = recent.entry(number).id, .lease_ms = 5'000}); }
    std::string refusal(EntryNumber number) {
        lease(number);
        return take<Error>(1).message;
    }
    std::string_view code(LeaseMessageCommand command) {
        lease(std::move(command));
        return name_of(take<Error>(1).code);
    }

    MessageFinder finder{context, lifecycle};
    MessageLeases leases{context, queues, lifecycle, dispatcher, finder, dead_writer};
};

TEST(LeaseOfOneMessage, a_ready_message_is_leased_without_a_record) {
    Trial trial;
    const EntryNumber number = trial.put_message(trial.now);
    const Sequence before = trial.context.batches.totals().sequence;
    trial.lease(number);
    EXPECT_EQ(trial.take<LeaseAnswer>(1).messages.at(0).lease_until_ms, trial.now + 5'000);
    EXPECT_EQ(trial.context.batches.totals().sequence, before);
    EXPECT_EQ(trial.recent.entry(number).state(), State::leased);
    EXPECT_EQ(trial.refusal(number), "the message is leased by a consumer: try again after its lease");
    trial.lifecycle.check();
}

TEST(LeaseOfOneMessage, one_that_waits_is_made_due_and_goes_to_its_consumer_before_others) {
    Trial trial;
    const EntryNumber number = trial.put_message(trial.now + 60'000);
    trial.dispatcher.start({.queue = "q", .lease_ms = 5'000, .wait_ms = 1'000}, 2);
    trial.lease(number);
    trial.dispatcher.serve_queues();
    EXPECT_EQ(trial.take<LeaseAnswer>(1).messages.at(0).due_ms, trial.now);
    EXPECT_EQ(trial.dispatcher.waiters(), 1u);
    EXPECT_EQ(trial.recent.entry(number).nominal_due_ms, trial.now);
    trial.lifecycle.check();
}

// A new process on a full disk cannot begin to serve, and every lease was refused with store_full, also that of a
// message outside the limits of a token: the message was known to be there. Seed 50215 of the simulator.
TEST(LeaseOfOneMessage, before_the_server_serves_only_one_that_may_be_leased_waits) {
    Trial trial;
    const MessageId id = trial.recent.entry(trial.put_message(trial.now)).id;
    trial.context.run.serving = false;
    EXPECT_EQ(trial.code({.name_space = "team", .id = id}), "unknown_id");
    PendingCommand pending = trial.pending(1);
    EXPECT_EQ(trial.leases.decide(pending, LeaseMessageCommand{.id = id}), Verdict::deferred);
    EXPECT_TRUE(trial.effects.replies.empty());
}

TEST(LeaseOfOneMessage, one_whose_consumer_left_before_it_was_durable_is_ready) {
    Trial trial;
    const EntryNumber number = trial.put_message(trial.now + 60'000);
    PendingCommand pending = trial.pending(1);
    trial.batch([&] {
        trial.leases.decide(pending, LeaseMessageCommand{.id = trial.recent.entry(number).id});
        trial.leases.forget(1);
    });
    EXPECT_TRUE(trial.effects.replies.empty());
    EXPECT_EQ(trial.recent.entry(number).state(), State::ready);
}

TEST(LeaseOfOneMessage, one_that_cannot_be_leased_any_more_when_it_is_durable_stays_ready) {
    Trial trial;
    const EntryNumber number = trial.put_message(trial.now + 60'000);
    PendingCommand pending = trial.pending(1);
    trial.batch([&] {
        trial.leases.decide(pending, LeaseMessageCommand{.id = trial.recent.entry(number).id});
        trial.queues[0].paused = true;
    });
    EXPECT_EQ(trial.take<Error>(1).code, "made_ready"_code);
    EXPECT_EQ(trial.recent.entry(number).state(), State::ready);
}

TEST(LeaseOfOneMessage, what_is_not_a_message_to_deliver_is_refused_and_unchanged) {
    Trial trial;
    MessageRecord prepared;
    prepared.state.state = State::prepared;
    prepared.state.transaction = MessageState::kOpen;
    prepared.content.transaction = TransactionRule{.check_after_ms = 1'000};
    EXPECT_EQ(trial.refusal(trial.put_record(prepared, trial.now + 1'000)), "the message is prepared: commit it first");
    MessageRecord recurring;
    recurring.state.next_occurrence = 1;
    recurring.content.repeat = Repeat{.rule = {.every_ms = 5, .start_ms = trial.now + 1'000}};
    EXPECT_EQ(trial.refusal(trial.put_record(recurring, trial.now + 1'000)),
              "the message is a recurring message: lease one of its occurrences");
    MessageRecord ordered;
    ordered.state.order_key = "k";
    EXPECT_EQ(trial.refusal(trial.put_record(ordered, trial.now + 1'000)),
              "the message has an order key, and it is not its turn: lease it when it is ready");
    const EntryNumber ended = trial.put_message(trial.now + 1'000);
    const MessageId id = trial.recent.entry(ended).id;
    trial.batch([&] { trial.lifecycle.purge(ended, 0, Error{}); });
    EXPECT_EQ(trial.code({.id = id}), "not_leasable");
    const EntryNumber plain = trial.put_message(trial.now + 1'000);
    const MessageId plain_id = trial.recent.entry(plain).id;
    EXPECT_EQ(trial.code({.name_space = "other", .id = plain_id}), "unknown_id");
    EXPECT_EQ(trial.code({.id = plain_id, .lease_ms = 1}), "lease_too_short");
    trial.configure({.what = ConfigureQueueCommand::What::pause});
    EXPECT_EQ(trial.refusal(plain), "the message is in a paused queue: resume the queue first");
    EXPECT_EQ(trial.lifecycle.ready_count(), 0u);
}

}  // namespace
}  // namespace duewheel::message_leases_test
