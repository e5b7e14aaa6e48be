#include "engine/puts/puts.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/puts/inputs.h"
#include "engine/trial/trial_parts.h"

namespace duewheel::puts_test {
namespace {

struct Trial : TrialParts {
    explicit Trial(const EngineOptions& with = {}) : TrialParts(with) {}

    // Looks the key up in an index that is empty.
    template <class Command>
    Verdict put(Command command, ReplyToken token) {
        PendingCommand pending = this->pending(token);
        pending.command = std::move(command);
        pending.key_facts.emplace(10);
        pending.key_facts_generation = lookups.newest();
        Verdict verdict = Verdict::deferred;
        batch([&] { verdict = puts.decide(pending, std::get<Command>(pending.command)); });
        return verdict;
    }
    Verdict take_records(TakeRecordsCommand command, ReplyToken token) {
        const auto apply_all = [this](const std::string& body, Operation& operation) {
            const auto* position = std::get_if<ConfRecord>(&operation.record);
            position != nullptr ? inputs.apply(operation, *position) : apply(body, operation);
        };
        return decide([&](auto&& add) { batch(add, apply_all); }, inputs, std::move(command), token);
    }

    MessageFinder finder{context, lifecycle};
    Transactions transactions{context, queues, lifecycle, finder};
    Puts puts{context, queues, finder, transactions};
    Inputs inputs{context, puts, {}};
};

PutCommand put_of(std::string key, std::uint64_t request_hash = 1) {
    PutCommand put{.queue = "q", .key = std::move(key), .request_hash = request_hash};
    put.body = "body";
    return put;
}

TEST(Puts, a_repeated_put_gets_the_first_reply_and_another_request_with_its_key_is_refused) {
    Trial trial;
    EXPECT_EQ(trial.put(put_of("k"), 1), Verdict::settled);
    const PutAnswer first = trial.take<PutAnswer>(1);
    EXPECT_EQ(first.state, State::ready);
    trial.put(put_of("k"), 2);
    const PutAnswer again = trial.take<PutAnswer>(2);
    EXPECT_TRUE(again.repeated);
    EXPECT_EQ(again.id, first.id);
    trial.put(put_of("k", 2), 3);
    EXPECT_EQ(trial.take<Error>(3).code, "key_conflict"_code);
    EXPECT_EQ(trial.recent.entry_count(), 1u);
}

TEST(Puts, a_key_that_memory_does_not_know_is_looked_up) {
    Trial trial;
    PendingCommand pending = trial.pending(1);
    pending.command = put_of("k");
    trial.batch(
        [&] { EXPECT_EQ(trial.puts.decide(pending, std::get<PutCommand>(pending.command)), Verdict::looking_up); });
    const FindKeys wanted = trial.started<FindKeys>();
    ASSERT_EQ(wanted.keys.size(), 1u);
    EXPECT_EQ(wanted.keys[0].key, "k");
    EXPECT_EQ(trial.recent.entry_count(), 0u);
}

TEST(Puts, of_one_request_share_their_keys_and_fail_one_by_one) {
    Trial trial;
    PutBatchCommand batch{{put_of("a"), put_of("a"), put_of("b")}};
    batch.puts[2].when.delay_ms = trial.options.delay_max_ms + 1;
    trial.put(std::move(batch), 1);
    const PutBatchAnswer answer = trial.take<PutBatchAnswer>(1);
    ASSERT_EQ(answer.results.size(), 3u);
    EXPECT_TRUE(std::get<PutAnswer>(answer.results[1]).repeated);
    EXPECT_EQ(std::get<PutAnswer>(answer.results[1]).id, std::get<PutAnswer>(answer.results[0]).id);
    EXPECT_EQ(std::get<Error>(answer.results[2]).code, "delay_too_long"_code);
}

TEST(Puts, a_held_or_prepared_message_does_not_become_due) {
    Trial trial;
    PutCommand held{.queue = "q", .is_held = true};
    trial.put(std::move(held), 1);
    EXPECT_EQ(trial.take<PutAnswer>(1).state, State::held);
    PutCommand prepared{.queue = "q", .transaction = TransactionRule{.check_after_ms = 1'000}};
    trial.put(std::move(prepared), 2);
    const PutAnswer answer = trial.take<PutAnswer>(2);
    EXPECT_EQ(answer.state, State::prepared);
    EXPECT_EQ(trial.row(answer.id).state.due_ms, trial.now + 1'000) << "the deadline of its producer";
    EXPECT_EQ(trial.lifecycle.ready_count(), 0u);
}

TEST(Puts, a_prepared_message_with_a_rule_that_makes_no_sense_is_refused) {
    Trial trial;
    trial.put(PutCommand{.queue = "q", .transaction = TransactionRule{.check_after_ms = 0}}, 1);
    EXPECT_EQ(trial.take<Error>(1).field, "transaction.check_back.after");
    EXPECT_EQ(trial.recent.entry_count(), 0u);
}

TEST(Inputs, records_are_taken_once_and_in_order) {
    Trial trial;
    const TakeRecordsCommand first{.input = "t/0", .puts = {PutCommand{.queue = "q"}}, .offsets = {7}, .next = 8};
    EXPECT_EQ(trial.take_records(first, 1), Verdict::settled);
    EXPECT_EQ(trial.take<TakeRecordsAnswer>(1).position, 8);
    EXPECT_EQ(trial.inputs.table().find("t/0")->offset, 8);
    trial.take_records(first, 2);
    EXPECT_EQ(trial.take<Error>(2).code, "position_moved"_code);
    EXPECT_EQ(trial.recent.entry_count(), 1u);
}

TEST(Inputs, stop_before_the_first_record_whose_put_is_refused) {
    Trial trial;
    PutCommand late{.queue = "q", .when = {.delay_ms = trial.options.delay_max_ms + 1}};
    TakeRecordsCommand command{.input = "t/0", .position = kNoInputPosition};
    command.puts = {PutCommand{.queue = "q"}, late, PutCommand{.queue = "q"}};
    command.offsets = {3, 5, 6};
    command.next = 7;
    trial.take_records(command, 1);
    const TakeRecordsAnswer answer = trial.take<TakeRecordsAnswer>(1);
    EXPECT_EQ(answer.taken, 1u);
    ASSERT_TRUE(answer.refused);
    EXPECT_EQ(answer.refused->code, "delay_too_long"_code);
    EXPECT_EQ(answer.position, 5);
    EXPECT_EQ(trial.inputs.table().find("t/0")->offset, 5);
    EXPECT_EQ(trial.recent.entry_count(), 1u);
}

}  // namespace
}  // namespace duewheel::puts_test
