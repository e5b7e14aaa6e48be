// Puts from inputs: each record is taken exactly once, or it is known why not.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"
#include "message/records/subject.h"
#include "resource/queue_settings.h"

namespace duewheel::engine_inputs_test {
namespace {

constexpr const char* kInput = "orders.later/0";

PutCommand put(std::string body, std::string key = "") {
    PutCommand command{.queue = "q"};
    command.when.delay_ms = 60'000;
    command.body = std::move(body);
    command.key = std::move(key);
    command.request_hash = command.key.empty() ? 0 : 7;
    return command;
}

// The records from `position` on, without gaps.
TakeRecordsCommand take(std::int64_t position, std::vector<PutCommand> puts) {
    TakeRecordsCommand command;
    command.input = kInput;
    command.position = position;
    std::int64_t offset = std::max<std::int64_t>(position, 0);
    for (std::size_t i = 0; i < puts.size(); ++i) command.offsets.push_back(offset++);
    command.puts = std::move(puts);
    command.next = offset;
    return command;
}

std::int64_t position_of(const TrialEngine& shard) {
    const InputTable::Positions& all = const_cast<TrialEngine&>(shard).engine().inputs();
    const auto found = all.find(kInput);
    return found == all.end() ? kNoInputPosition : found->second.offset;
}

QueueSettings with_limit(std::uint64_t pending_max) {
    QueueSettings settings;
    settings.pending_max = pending_max;
    return settings;
}

TEST(Inputs, the_puts_and_the_position_after_them_are_one_commit) {
    TrialEngine shard;
    shard.turn();
    const Totals before = shard.engine().totals();
    const auto answer = shard.ask<TakeRecordsAnswer>(take(kNoInputPosition, {put("a"), put("b")}));
    EXPECT_EQ(answer.taken, 2u);
    EXPECT_EQ(answer.position, 2);
    EXPECT_FALSE(answer.refused);
    EXPECT_EQ(position_of(shard), 2);
    const Totals after = shard.engine().totals();
    EXPECT_EQ(after.commit, before.commit + 1);
    EXPECT_EQ(after.sequence, before.sequence + 3);
    EXPECT_EQ(shard.engine().counters().pending, 2u);
}

TEST(Inputs, nothing_of_a_lost_commit_is_taken_and_nothing_of_a_durable_one_again) {
    TrialEngine shard;
    shard.ask<TakeRecordsAnswer>(take(kNoInputPosition, {put("a")}));
    shard.hold_commits = true;
    shard.submit(take(1, {put("b"), put("c")}));
    shard.turn();
    EXPECT_EQ(position_of(shard), 1) << "what is not durable is not known";
    TrialEngine again({}, shard);
    EXPECT_EQ(position_of(again), 1);
    EXPECT_EQ(again.engine().counters().pending, 1u);
    EXPECT_EQ(again.ask<TakeRecordsAnswer>(take(1, {put("b"), put("c")})).position, 3);
    EXPECT_EQ(again.engine().counters().pending, 3u);
    TrialEngine third({}, again);
    EXPECT_EQ(position_of(third), 3);
    EXPECT_EQ(third.engine().counters().pending, 3u);
}

TEST(Inputs, a_reader_that_expects_another_position_is_refused) {
    TrialEngine shard;
    shard.ask<TakeRecordsAnswer>(take(kNoInputPosition, {put("a"), put("b")}));
    const Totals before = shard.engine().totals();
    for (const std::int64_t position : {kNoInputPosition, std::int64_t{1}, std::int64_t{3}}) {
        EXPECT_EQ(shard.ask<Error>(take(position, {put("c")})).code, "position_moved"_code);
    }
    EXPECT_EQ(shard.engine().totals().sequence, before.sequence);
    EXPECT_EQ(position_of(shard), 2);
}

TEST(Inputs, a_refused_put_ends_what_is_taken_at_its_record) {
    TrialEngine shard;
    shard.ask<QueueAnswer>(ConfigureQueueCommand{.queue = "q", .settings = with_limit(2)});
    TakeRecordsCommand command = take(kNoInputPosition, {put("a"), put("b"), put("c"), put("d")});
    command.offsets = {10, 11, 17, 18};  // a log has gaps
    command.next = 19;
    const auto answer = shard.ask<TakeRecordsAnswer>(command);
    EXPECT_EQ(answer.taken, 2u);
    EXPECT_EQ(answer.position, 17);
    ASSERT_TRUE(answer.refused);
    EXPECT_EQ(answer.refused->code, "queue_full"_code);
    EXPECT_EQ(position_of(shard), 17);

    // Where not even the first is taken, nothing is written.
    const Totals before = shard.engine().totals();
    TakeRecordsCommand rest = take(17, {put("c"), put("d")});
    const auto none = shard.ask<TakeRecordsAnswer>(rest);
    EXPECT_EQ(none.taken, 0u);
    EXPECT_EQ(none.position, 17);
    EXPECT_TRUE(none.refused);
    EXPECT_EQ(shard.engine().totals().sequence, before.sequence);

    shard.ask<QueueAnswer>(ConfigureQueueCommand{.queue = "q", .settings = with_limit(0)});
    EXPECT_EQ(shard.ask<TakeRecordsAnswer>(rest).taken, 2u);
    EXPECT_EQ(shard.engine().counters().pending, 4u);
}

TEST(Inputs, the_second_command_of_an_input_waits_for_the_first) {
    TrialEngine shard;
    shard.turn();
    const ReplyToken first = shard.submit(take(kNoInputPosition, {put("a")}));
    const ReplyToken second = shard.submit(take(1, {put("b")}));
    TakeRecordsCommand other = take(kNoInputPosition, {put("c")});
    other.input = "orders.later/1";
    const ReplyToken third = shard.submit(other);
    shard.turn();
    EXPECT_EQ(shard.take<TakeRecordsAnswer>(first).position, 1);
    EXPECT_EQ(shard.take<TakeRecordsAnswer>(second).position, 2);
    EXPECT_EQ(shard.take<TakeRecordsAnswer>(third).position, 1);
    EXPECT_EQ(shard.engine().inputs().size(), 2u);
}

TEST(Inputs, a_record_whose_key_is_known_is_taken_without_a_second_message) {
    TrialEngine shard;
    const auto answer =
        shard.ask<TakeRecordsAnswer>(take(kNoInputPosition, {put("a", "k"), put("a", "k"), put("b", "other")}));
    EXPECT_EQ(answer.taken, 3u);
    EXPECT_EQ(shard.engine().counters().pending, 2u);
    PutCommand conflict = put("c", "k");
    conflict.request_hash = 8;
    const auto refused = shard.ask<TakeRecordsAnswer>(take(3, {put("a", "k"), conflict}));
    EXPECT_EQ(refused.taken, 1u);
    ASSERT_TRUE(refused.refused);
    EXPECT_EQ(refused.refused->code, "key_conflict"_code);
    EXPECT_EQ(position_of(shard), 4);
}

TEST(Inputs, records_that_are_no_puts_are_passed_and_a_position_may_go_back) {
    TrialEngine direct;
    TakeRecordsCommand command = take(kNoInputPosition, {});
    command.next = 40;
    direct.ask<TakeRecordsAnswer>(command);
    EXPECT_EQ(position_of(direct), 40);
    TrialEngine steps;
    for (const auto& [from, to] : {std::pair<std::int64_t, std::int64_t>{kNoInputPosition, 90}, {90, 0}, {0, 40}}) {
        TakeRecordsCommand step = take(from, {});
        step.next = to;
        EXPECT_EQ(steps.ask<TakeRecordsAnswer>(step).position, to);
    }
    EXPECT_EQ(steps.engine().totals().digest, direct.engine().totals().digest);
    EXPECT_EQ(steps.engine().totals().needed_bytes, steps.engine().inputs().find(kInput)->second.record_bytes)
        << "only the newest position is needed";
}

TEST(Inputs, a_position_is_relocated_like_settings) {
    TrialEngine shard;
    shard.ask<TakeRecordsAnswer>(take(kNoInputPosition, {put("a")}));
    const InputPosition old = shard.engine().inputs().find(kInput)->second;
    const Sequence log_position = old.log_position;
    const RelocateSettingsCommand relocate{std::string(kDefaultNamespace), kInput, log_position, Subject::input};
    const Totals before = shard.engine().totals();
    EXPECT_TRUE(shard.ask<RelocateAnswer>(relocate).relocated);
    EXPECT_GT(shard.engine().inputs().find(kInput)->second.log_position, log_position);
    EXPECT_EQ(position_of(shard), 1);
    EXPECT_EQ(shard.engine().totals().digest, before.digest);
    EXPECT_EQ(shard.engine().totals().needed_bytes,
              before.needed_bytes - old.record_bytes + shard.engine().inputs().find(kInput)->second.record_bytes);
    EXPECT_FALSE(shard.ask<RelocateAnswer>(relocate).relocated) << "a newer record has replaced it";
}

TEST(Inputs, nothing_is_taken_while_the_disk_is_nearly_full) {
    TrialEngine shard;
    shard.ask<TakeRecordsAnswer>(take(kNoInputPosition, {put("a", "k")}));
    shard.engine().set_log_space(LogSpace::scarce);
    const Totals before = shard.engine().totals();
    TakeRecordsCommand passes = take(1, {});
    passes.next = 2;
    EXPECT_EQ(shard.ask<Error>(take(1, {put("b")})).code, "store_full"_code);
    EXPECT_EQ(shard.ask<Error>(take(1, {put("a", "k")})).code, "store_full"_code);
    EXPECT_EQ(shard.ask<Error>(passes).code, "store_full"_code);
    EXPECT_EQ(shard.engine().totals().sequence, before.sequence);
    shard.engine().set_log_space(LogSpace::enough);
    EXPECT_EQ(shard.ask<TakeRecordsAnswer>(take(1, {put("b")})).position, 2);
}

// A full page of records of a busy topic is larger than a batch that has something in it already.
TEST(Inputs, more_records_than_a_batch_holds_are_one_commit) {
    EngineOptions options;
    options.batch_operations_max = 8;
    TrialEngine shard(options);
    shard.turn();
    const Totals before = shard.engine().totals();
    const ReplyToken other = shard.submit(PutCommand{.queue = "q"});
    const ReplyToken token = shard.submit(take(kNoInputPosition, std::vector<PutCommand>(20, put("a"))));
    shard.turn();
    EXPECT_NE(shard.take<PutAnswer>(other).id, 0u);
    EXPECT_EQ(shard.take<TakeRecordsAnswer>(token).taken, 20u);
    EXPECT_EQ(shard.engine().totals().commit, before.commit + 2);
}

}  // namespace
}  // namespace duewheel::engine_inputs_test
