#include "engine/messages/message_finder.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_parts.h"

namespace duewheel::message_finder_test {
namespace {

using What = Known::What;

// Ids up to this one were assigned; the index has what memory does not.
constexpr MessageId kOnDisk = 9 * kShardsMax;
const std::string kSpace(kDefaultNamespace);

struct Trial : TrialParts {
    Trial() { context.batches.raise_id_counter(kOnDisk / kShardsMax); }

    // A command that has this result of the index.
    PendingCommand looked_up(std::optional<MessageRow> row) const {
        PendingCommand command = pending(1);
        command.facts = std::make_unique<std::optional<MessageRow>>(std::move(row));
        command.facts_generation = lookups.newest();
        return command;
    }
    What find(MessageId id, const std::string& name_space = kSpace, SharedLimits limits = nullptr) {
        PendingCommand command = pending(1);
        command.limits = std::move(limits);
        return finder.find(command, id, &name_space).what;
    }
    What find_in(std::optional<MessageRow> row, SharedLimits limits = nullptr, const std::string& name_space = kSpace) {
        PendingCommand command = looked_up(std::move(row));
        command.limits = std::move(limits);
        return finder.find(command, kOnDisk, &name_space).what;
    }
    EntryNumber put_with_key(std::string key) {
        MessageRecord record;
        record.state.key = std::move(key);
        record.state.request_hash = 1;
        return put_record(std::move(record), now);
    }
    KeyLookup look_up_key(const std::string& key, const std::optional<KeyFacts>* facts = nullptr) const {
        return finder.look_up_key(kDefaultNamespace, "q", key, facts);
    }

    MessageFinder finder{context, lifecycle};
};

SharedLimits only(std::string queue_prefix) {
    return std::make_shared<AccessLimits>(AccessLimits{.queue_prefix = std::move(queue_prefix)});
}

TEST(MessageFinder, an_id_that_was_not_assigned_by_this_shard_is_unknown) {
    Trial trial;
    const MessageId newest = trial.recent.entry(trial.put_message(trial.now)).id;
    EXPECT_EQ(trial.find(newest), What::entry);
    EXPECT_EQ(trial.find(kOnDisk), What::needs_lookup);
    for (const MessageId id : {MessageId{0}, newest + kShardsMax, newest + 1}) {
        EXPECT_EQ(trial.find(id), What::unknown) << id;
    }
}

TEST(MessageFinder, what_a_command_may_not_see_is_unknown_wherever_it_is) {
    Trial trial;
    const EntryNumber number = trial.put_message(trial.now);
    const MessageId here = trial.recent.entry(number).id;
    const MessageRow row = Trial::row_on_disk(kOnDisk, trial.now);
    EXPECT_EQ(trial.find(here, kSpace, only("q")), What::entry);
    for (int ended = 0; ended < 2; ++ended) {
        EXPECT_EQ(trial.find(here, "team"), What::unknown);
        EXPECT_EQ(trial.find(here, kSpace, only("other")), What::unknown);
        if (ended == 0) trial.batch([&] { trial.lifecycle.purge(number, 0, Error{}); });
    }
    EXPECT_EQ(trial.find(here), What::ended);
    EXPECT_EQ(trial.find_in(row, nullptr, "team"), What::unknown);
    EXPECT_EQ(trial.find_in(row, only("other")), What::unknown);
    EXPECT_EQ(trial.find_in(std::nullopt, only("q")), What::unknown) << "whose it was is not known any more";
    EXPECT_EQ(trial.find_in(std::nullopt), What::gone);
}

TEST(MessageFinder, a_message_that_a_batch_changes_is_busy) {
    Trial trial;
    const EntryNumber number = trial.put_message(trial.now);
    const MessageId id = trial.recent.entry(number).id;
    trial.batch([&] {
        trial.lifecycle.purge(number, 0, Error{});
        EXPECT_EQ(trial.find(id), What::busy);
    });
    EXPECT_EQ(trial.find(id), What::ended);
}

// A command with a token's limits waited for the batch that changed a message outside them. On a full disk it was then
// refused with store_full in place of unknown_id: the message was known to be there. Seed 50215 of the simulator.
TEST(MessageFinder, a_message_that_a_command_may_not_see_is_unknown_while_a_batch_changes_it) {
    Trial trial;
    const EntryNumber number = trial.put_message(trial.now);
    const MessageId id = trial.recent.entry(number).id;
    trial.batch([&] {
        trial.lifecycle.purge(number, 0, Error{});
        EXPECT_EQ(trial.find(id, "team"), What::unknown);
        EXPECT_EQ(trial.find(id, kSpace, only("other")), What::unknown);
    });
}

TEST(MessageFinder, an_expired_message_is_busy_until_its_end_is_written) {
    Trial trial;
    const MessageId id = trial.recent.entry(trial.put_message(trial.now, trial.now + 5)).id;
    trial.now += 5;
    EXPECT_EQ(trial.find(id), What::busy);
    EXPECT_EQ(trial.lifecycle.own_records().expired.count(), 1u);
    trial.batch([&] { trial.lifecycle.own_records().expired.add_to_batch(); });
    EXPECT_EQ(trial.find(id), What::ended);
}

TEST(MessageFinder, a_result_of_the_index_counts_unless_a_table_is_newer) {
    Trial trial;
    MessageRow row = Trial::row_on_disk(kOnDisk, trial.now);
    row.state.state = State::done;
    PendingCommand command = trial.looked_up(row);
    EXPECT_EQ(trial.finder.find(command, kOnDisk, nullptr).ended, row);
    trial.lookups.table_taken(1);
    const Known known = trial.finder.find(command, kOnDisk, nullptr);
    EXPECT_EQ(known.what, What::needs_lookup);
    EXPECT_EQ(trial.finder.answer_unless_here(known, command, kOnDisk), Verdict::looking_up);
    EXPECT_EQ(trial.started<FindMessage>().id, kOnDisk);
}

TEST(MessageFinder, a_message_that_was_loaded_for_a_command_leaves_memory_if_nothing_changed) {
    Trial trial;
    for (const State state : {State::scheduled, State::dead}) {
        MessageRow row = Trial::row_on_disk(kOnDisk, trial.now + 5);
        row.state.state = state;
        PendingCommand command = trial.looked_up(row);
        const Known known = trial.finder.find(command, kOnDisk, &kSpace);
        ASSERT_EQ(known.what, What::entry);
        EXPECT_EQ(known.entry, trial.recent.find(kOnDisk));
        EXPECT_EQ(trial.finder.replied_unchanged(known, command, ChangeAnswer{}), Verdict::settled);
        static_cast<void>(trial.take<ChangeAnswer>(1));
        EXPECT_EQ(trial.recent.find(kOnDisk), kNoEntry);
    }
    const EntryNumber here = trial.put_message(trial.now + 5);
    PendingCommand command = trial.pending(1);
    trial.finder.withdraw(trial.finder.find(command, trial.recent.entry(here).id, &kSpace));
    EXPECT_NE(trial.recent.entry(here).id, 0u) << "it was in memory before";
}

TEST(MessageFinder, answers_for_what_is_not_here) {
    Trial trial;
    PendingCommand command = trial.pending(1);
    EXPECT_EQ(trial.finder.answer_unless_here({.what = What::unknown}, command, 5), Verdict::settled);
    EXPECT_EQ(trial.take<Error>(1).code, "unknown_id"_code);
    EXPECT_EQ(trial.finder.answer_unless_here({.what = What::gone}, command, 5), Verdict::settled);
    EXPECT_EQ(trial.take<ChangeAnswer>(1).outcome, ChangeOutcome::gone);
    EXPECT_EQ(trial.finder.answer_unless_here({.what = What::busy}, command, 5), Verdict::deferred);
    EXPECT_EQ(trial.finder.answer_unless_here({.what = What::ended}, command, 5), std::nullopt);
    EXPECT_EQ(trial.finder.answer_unless_here({.what = What::entry}, command, 5), std::nullopt);
}

TEST(MessageFinder, a_lease_holds_its_message_until_it_ends) {
    Trial trial;
    const EntryNumber number = trial.put_message(trial.now);
    const MessageId id = trial.recent.entry(number).id;
    trial.queues[0].ready.pop_first();
    trial.lifecycle.dequeue(number);
    trial.lifecycle.start_attempt(number, {100}, trial.now);
    const LeaseToken lease = trial.context.signer.sign(id, 1, trial.context.run.incarnation);
    PendingCommand command = trial.pending(1);
    Known known;
    EXPECT_EQ(trial.finder.find_leased(command, lease, known), std::nullopt);
    EXPECT_EQ(known.entry, number);
    LeaseToken of_another_attempt = lease;
    of_another_attempt.attempt += 1;
    LeaseToken of_another_code = lease;
    of_another_code.code ^= 1;
    for (const LeaseToken& forged : {of_another_attempt, of_another_code}) {
        EXPECT_EQ(trial.finder.find_leased(command, forged, known), Verdict::settled);
        EXPECT_EQ(trial.take<Error>(1).code, "bad_lease_token"_code);
    }
    for (const bool by_restart : {false, true}) {
        const LeaseToken other = by_restart ? trial.context.signer.sign(id, 1, trial.context.run.incarnation + 1)
                                            : trial.context.signer.sign(id, 2, trial.context.run.incarnation);
        EXPECT_EQ(trial.finder.find_leased(command, other, known), Verdict::settled);
        const auto answer = trial.take<LeaseEndAnswer>(1);
        EXPECT_EQ(answer.outcome, LeaseOutcome::expired);
        EXPECT_EQ(answer.by_restart, by_restart);
    }
    trial.now += 100;
    EXPECT_EQ(trial.finder.find_leased(command, lease, known), Verdict::settled);
    EXPECT_EQ(trial.take<LeaseEndAnswer>(1).outcome, LeaseOutcome::expired);
}

TEST(MessageFinder, a_repeated_ack_of_the_lease_that_ended_the_message_has_the_same_reply) {
    Trial trial;
    MessageRow row = Trial::row_on_disk(kOnDisk, trial.now);
    row.state.state = State::done;
    row.lease_attempt = 3;
    row.lease_incarnation = 8;
    const auto outcome = [&](Command repeated, std::uint32_t attempt) {
        PendingCommand command = trial.looked_up(row);
        command.command = std::move(repeated);
        Known known;
        EXPECT_EQ(trial.finder.find_leased(command, trial.context.signer.sign(kOnDisk, attempt, 8), known),
                  Verdict::settled);
        return trial.take<LeaseEndAnswer>(1).outcome;
    };
    EXPECT_EQ(outcome(AckCommand{}, 3), LeaseOutcome::done);
    EXPECT_EQ(outcome(AckCommand{}, 2), LeaseOutcome::expired);
    EXPECT_EQ(outcome(FailCommand{}, 3), LeaseOutcome::expired);
}

TEST(MessageFinder, the_newer_of_two_messages_with_a_key_holds_it) {
    Trial trial;
    using KeyWhat = KeyLookup::What;
    const MessageId here = trial.recent.entry(trial.put_with_key("k")).id;
    EXPECT_EQ(trial.look_up_key("k").what, KeyWhat::held) << "no newer one can be in the index";
    EXPECT_EQ(trial.look_up_key("k").holder.holder.id, here);
    EXPECT_EQ(trial.look_up_key("k").holder.state, State::ready);
    EXPECT_EQ(trial.look_up_key("other").what, KeyWhat::needs_lookup);
    std::optional<KeyFacts> facts;
    EXPECT_EQ(trial.look_up_key("other", &facts).what, KeyWhat::free);
    facts = KeyFacts{{.id = kOnDisk, .ended_ms = trial.now - trial.options.keys_kept_ms}, State::done, false};
    EXPECT_EQ(trial.look_up_key("other", &facts).holder.holder.id, kOnDisk);
    EXPECT_EQ(trial.look_up_key("k", &facts).holder.holder.id, here);
    facts->holder.ended_ms -= 1;
    EXPECT_EQ(trial.look_up_key("other", &facts).what, KeyWhat::free) << "its retention is over";
}

TEST(MessageFinder, a_key_that_a_put_of_the_batch_takes_is_busy) {
    Trial trial;
    trial.batch([&] {
        trial.context.batches.batch().keys.insert(key_name(kDefaultNamespace, "q", "k"));
        EXPECT_EQ(trial.look_up_key("k").what, KeyLookup::What::busy);
        PendingCommand command = trial.pending(1);
        MessageId id = 0;
        EXPECT_EQ(trial.finder.name_by_key(command, kSpace, {"q", "k"}, id), Verdict::deferred);
    });
}

TEST(MessageFinder, a_command_names_its_message_by_key_and_may_wait_for_the_index) {
    Trial trial;
    PendingCommand command = trial.pending(1);
    MessageId id = 0;
    EXPECT_EQ(trial.finder.name_by_key(command, kSpace, {}, id), std::nullopt) << "it has an id";
    EXPECT_EQ(trial.finder.name_by_key(command, kSpace, {"q", "k"}, id), Verdict::looking_up);
    EXPECT_EQ(trial.started<FindKeys>().keys.at(0).key, "k");
    PendingCommand again = trial.finished<KeysLookup>(1).command;
    again.key_facts.emplace().emplace_back(KeyFacts{{.id = kOnDisk}, State::scheduled, false});
    again.key_facts_generation = trial.lookups.newest();
    EXPECT_EQ(trial.finder.name_by_key(again, kSpace, {"q", "k"}, id), std::nullopt);
    EXPECT_EQ(id, kOnDisk);
    again.key_facts->front().reset();
    EXPECT_EQ(trial.finder.name_by_key(again, kSpace, {"q", "k"}, id), Verdict::settled);
    EXPECT_EQ(trial.take<Error>(1).code, "unknown_key"_code);
    trial.lookups.table_taken(1);
    EXPECT_EQ(trial.finder.name_by_key(again, kSpace, {"q", "k"}, id), Verdict::looking_up) << "it is outdated";
}

}  // namespace
}  // namespace duewheel::message_finder_test
