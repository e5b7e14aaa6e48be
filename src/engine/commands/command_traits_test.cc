#include "engine/commands/command_traits.h"

#include <string>

#include <gtest/gtest.h>

namespace duewheel::command_traits_test {
namespace {

PutCommand put_with_everything() {
    PutCommand put{.name_space = std::string(64, 'n'), .queue = std::string(64, 'q')};
    put.order_key = std::string(256, 'o');
    put.key = std::string(256, 'k');
    put.request_hash = ~std::uint64_t{0};
    put.priority = -2'000'000'000;
    put.retry = {.attempts = 1'000, .first_ms = 1'000'000, .factor_permille = 1'500, .max_ms = 1'000'000'000};
    put.repeat.emplace();
    put.transaction = TransactionRule{.check_queue = std::string(64, 'c'), .check_after_ms = 1'000'000'000};
    put.body = std::string(1'000, 'b');
    put.headers = std::string(500, 'h');
    put.content_type = std::string(100, 't');
    put.traceparent = std::string(55, 'p');
    return put;
}

// The record that the engine would write for it, with large numbers.
std::size_t record_bytes(const PutCommand& put) {
    constexpr DueMs kLate = 9'000'000'000'000;
    MessageRecord record;
    record.kind = RecordKind::put;
    record.id = kMessageIdMax;
    record.state.due_ms = kLate;
    record.state.nominal_due_ms = kLate + 1;
    record.state.expires_ms = kLate + 2;
    record.state.priority = put.priority;
    record.state.name_space = put.name_space;
    record.state.queue = put.queue;
    record.state.order_key = put.order_key;
    record.state.key = put.key;
    record.state.request_hash = put.request_hash;
    if (!put.retry.is_empty()) record.state.retry = RetryRule{1'000, 1'000'000, 1'500, 1'000'000'000, 999};
    if (put.repeat)
        record.content.repeat = Repeat{{1'000'000'000, 1'000'000, 2'000, 1'000'000'000, kLate, kLate}, "", 1};
    record.content.transaction = put.transaction;
    record.content.put_ms = kLate;
    copy_content(put, record.content);
    std::string bytes;
    return append_record(bytes, ~Sequence{0}, record);
}

TEST(CommandTraits, the_record_of_a_put_is_never_larger_than_announced) {
    const PutCommand whole = put_with_everything();
    EXPECT_LE(record_bytes(whole), record_bytes_max(whole));
    PutCommand bare{.queue = "q"};
    EXPECT_LE(record_bytes(bare), record_bytes_max(bare));
    EXPECT_LT(record_bytes_max(bare), kRecordOverheadMax) << "a thousand of them are one command";
}

TEST(CommandTraits, of_several_puts_are_their_sums) {
    const PutCommand put = put_with_everything();
    const std::size_t payload = 1'000 + 500 + 100 + 55 + 64;
    EXPECT_EQ(payload_bytes(put), payload);
    const PutBatchCommand batch{{put, put}};
    EXPECT_EQ(record_count(batch), 2u);
    EXPECT_EQ(payload_bytes(batch), 2 * payload);
    EXPECT_EQ(record_bytes_max(batch), 2 * record_bytes_max(put));
    const TakeRecordsCommand records{.input = "t/0", .puts = {put, put}};
    EXPECT_EQ(record_count(records), 3u) << "and the position";
    EXPECT_EQ(record_bytes_max(records), 2 * record_bytes_max(put) + kRecordOverheadMax);
}

TEST(CommandTraits, only_puts_with_keys_may_be_repeated) {
    PutCommand put{.queue = "q"};
    EXPECT_FALSE(may_be_repeated(put));
    EXPECT_FALSE(may_be_repeated(PutBatchCommand{{put}}));
    put.key = "k";
    EXPECT_TRUE(may_be_repeated(put));
    EXPECT_TRUE(may_be_repeated(PutBatchCommand{{PutCommand{.queue = "q"}, put}}));
    EXPECT_FALSE(may_be_repeated(TakeRecordsCommand{.puts = {put}})) << "its position is new";
}

TEST(CommandTraits, a_pause_is_a_move_and_a_resume_is_not) {
    using What = ConfigureQueueCommand::What;
    EXPECT_TRUE(is_a_move(ConfigureQueueCommand{.what = What::pause}));
    EXPECT_FALSE(is_a_move(ConfigureQueueCommand{.what = What::resume})) << "it may always be written";
    EXPECT_TRUE(is_a_move(HoldCommand{}));
    EXPECT_FALSE(is_a_move(CancelCommand{})) << "it ends a message";
    EXPECT_TRUE(brings_content(ControlScheduleCommand{.what = ControlScheduleCommand::What::fire}));
    EXPECT_FALSE(brings_content(ControlScheduleCommand{.what = ControlScheduleCommand::What::pause}));
}

TEST(CommandTraits, compaction_is_told_apart_from_commands_of_clients) {
    EXPECT_TRUE(is_of_cleaning(RelocateCommand{}));
    EXPECT_TRUE(is_of_cleaning(RelocateOutcomesCommand{}));
    EXPECT_TRUE(is_of_cleaning(RelocateSettingsCommand{}));
    EXPECT_TRUE(is_of_cleaning(RelocateRuleCommand{}));
    EXPECT_TRUE(is_of_cleaning(RelocationDoneCommand{}));
    EXPECT_FALSE(is_of_cleaning(CancelCommand{}));
    EXPECT_FALSE(is_a_put(RelocateCommand{}));
}

TEST(CommandTraits, compaction_and_consumers_may_come_while_too_many_commands_wait) {
    EXPECT_FALSE(is_limited(RelocateOutcomesCommand{}));
    EXPECT_FALSE(is_limited(LeaseCommand{}));
    EXPECT_TRUE(is_limited(AckCommand{}));
    EXPECT_TRUE(is_limited(GetCommand{}));
}

}  // namespace
}  // namespace duewheel::command_traits_test
