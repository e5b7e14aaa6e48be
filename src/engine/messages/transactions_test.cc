#include "engine/messages/transactions.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_parts.h"

namespace duewheel::transactions_test {
namespace {

constexpr std::int64_t kAfter = 1'000;

struct Trial : TrialParts {
    explicit Trial(const EngineOptions& with = {}) : TrialParts(with) {}

    static TransactionRule rule(std::uint32_t times, bool otherwise_commit = false) {
        return {times == 0 ? "" : "checks", kAfter, times, otherwise_commit};
    }
    // One that was requested for `due_ms`.
    EntryNumber prepare(TransactionRule rule, DueMs due_ms) {
        MessageRecord record;
        record.state.state = State::prepared;
        record.state.transaction = MessageState::kOpen;
        record.state.nominal_due_ms = due_ms;
        record.content.transaction = std::move(rule);
        return put_record(std::move(record), now + kAfter);
    }
    EntryNumber prepare(TransactionRule rule = Trial::rule(0)) { return prepare(std::move(rule), now); }
    MessageId id_of(EntryNumber number) const { return recent.entry(number).id; }
    Verdict settle(MessageId id, bool commits, ReplyToken token = 1) {
        return decide([this](auto&& add) { batch(add); }, transactions, SettleCommand{.id = id, .commits = commits},
                      token);
    }
    std::vector<MessageRecord> write() {
        return records_of<MessageRecord>(batch([this] { transactions.add_to_batch(); }));
    }

    MessageFinder finder{context, lifecycle};
    Transactions transactions{context, queues, lifecycle, finder};
};

TEST(Transactions, a_committed_message_is_due_as_requested_or_now) {
    Trial trial;
    const EntryNumber late = trial.prepare(Trial::rule(0), trial.now + 60'000);
    const EntryNumber past = trial.prepare(Trial::rule(0), trial.now - 60'000);
    EXPECT_EQ(trial.settle(trial.id_of(late), true), Verdict::settled);
    EXPECT_TRUE(trial.take<SettleAnswer>(1).committed);
    EXPECT_EQ(trial.recent.entry(late).due_ms, trial.now + 60'000);
    trial.settle(trial.id_of(past), true);
    EXPECT_EQ(trial.recent.entry(past).due_ms, trial.now);
    EXPECT_EQ(trial.recent.entry(past).state(), State::ready);
    trial.lifecycle.check();
}

TEST(Transactions, a_message_is_settled_once_and_each_repetition_is_answered_alike) {
    Trial trial;
    const MessageId committed = trial.id_of(trial.prepare());
    const MessageId rolled_back = trial.id_of(trial.prepare());
    for (int call = 0; call < 2; ++call) {
        trial.settle(committed, true);
        EXPECT_TRUE(trial.take<SettleAnswer>(1).committed);
        trial.settle(rolled_back, false);
        EXPECT_FALSE(trial.take<SettleAnswer>(1).committed);
    }
    EXPECT_EQ(trial.recent.find(rolled_back), kNoEntry);
    trial.settle(committed, false);
    EXPECT_EQ(trial.take<Error>(1).code, "already_committed"_code);
    trial.settle(rolled_back, true);
    EXPECT_EQ(trial.take<Error>(1).code, "already_rolled_back"_code);
    trial.settle(trial.id_of(trial.put_message(trial.now)), true);
    EXPECT_EQ(trial.take<Error>(1).code, "not_transactional"_code);
}

TEST(Transactions, are_settled_while_ends_have_space) {
    Trial trial;
    const MessageId id = trial.id_of(trial.prepare());
    trial.context.segment.set_space(LogSpace::none);
    EXPECT_EQ(trial.settle(id, true), Verdict::settled);
    EXPECT_EQ(trial.take<Error>(1).code, "store_full"_code);
    trial.context.segment.set_space(LogSpace::reserve);
    trial.settle(id, true);
    EXPECT_TRUE(trial.take<SettleAnswer>(1).committed);
}

TEST(Transactions, a_late_check_and_the_next_deadline_after_it_are_in_one_batch) {
    Trial trial;
    const MessageId id = trial.id_of(trial.prepare(Trial::rule(2)));
    trial.advance_to(trial.now + kAfter + 500);
    const std::vector<MessageRecord> records = trial.write();
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[0].kind, RecordKind::spawn);
    EXPECT_EQ(records[0].state.queue, "checks");
    EXPECT_EQ(records[0].state.due_ms, trial.now);
    EXPECT_EQ(records[0].state.expires_ms, trial.now + kAfter) << "the next one replaces it";
    EXPECT_EQ(records[1].id, id);
    EXPECT_EQ(records[1].state.state, State::prepared);
    EXPECT_EQ(records[1].state.checks(), 1u);
    EXPECT_EQ(records[1].state.due_ms, trial.now + kAfter);
    const std::string body =
        *trial.context.cache.find(trial.recent.entry(trial.recent.find(records[0].id)).log_position);
    const MessageRecord check = *decode_message(RecordKind::spawn, body);
    EXPECT_EQ(check.content.parent, id);
    EXPECT_EQ(check.content.occurrence, 1u);
    EXPECT_EQ(check.content.body, "body") << "by which its producer recognizes it";
    EXPECT_TRUE(trial.transactions.is_idle());
    trial.lifecycle.check();
}

TEST(Transactions, the_default_applies_after_the_last_check) {
    for (const bool commits : {false, true}) {
        Trial trial;
        const MessageId id = trial.id_of(trial.prepare(Trial::rule(1, commits)));
        trial.advance_to(trial.now + kAfter);
        EXPECT_EQ(trial.write().size(), 2u);
        trial.advance_to(trial.now + kAfter);
        const std::vector<MessageRecord> records = trial.write();
        ASSERT_EQ(records.size(), 1u);
        EXPECT_EQ(records[0].id, id);
        EXPECT_EQ(records[0].cause, Cause::unanswered);
        EXPECT_EQ(records[0].state.state, commits ? State::scheduled : State::cancelled);
    }
}

TEST(Transactions, one_that_is_settled_while_its_content_is_read_is_not_checked) {
    Trial trial;
    const EntryNumber number = trial.prepare(Trial::rule(1));
    const Sequence log_position = trial.recent.entry(number).log_position;
    const std::string body = *trial.context.cache.find(log_position);
    trial.context.cache.erase(log_position);
    trial.advance_to(trial.now + kAfter);
    EXPECT_TRUE(trial.write().empty());
    EXPECT_EQ(trial.started<ReadRecords>().log_positions, std::vector<Sequence>{log_position});
    trial.settle(trial.id_of(number), true);
    trial.answer<PreparedLookup>(trial.transactions, {{log_position, body}});
    EXPECT_TRUE(trial.write().empty());
    EXPECT_TRUE(trial.transactions.is_idle());
}

TEST(Transactions, without_space_no_check_is_made_or_counted) {
    Trial trial;
    const EntryNumber number = trial.prepare(Trial::rule(1));
    trial.context.segment.set_space(LogSpace::scarce);
    trial.advance_to(trial.now + kAfter);
    EXPECT_EQ(trial.transactions.why_check_waits(trial.row(trial.id_of(number)).state, Trial::rule(1)),
              "store_full"_code);
    EXPECT_TRUE(trial.write().empty());
    trial.context.segment.set_space(LogSpace::enough);
    EXPECT_FALSE(trial.transactions.has_work());
    trial.advance_to(trial.now + trial.options.spawn_again_ms);
    EXPECT_EQ(trial.write().size(), 2u);
}

TEST(Transactions, a_check_whose_queue_cannot_be_created_counts) {
    Trial trial({.queues_max = 1});
    const EntryNumber number = trial.prepare(Trial::rule(1));
    EXPECT_EQ(trial.transactions.why_check_waits(trial.row(trial.id_of(number)).state, Trial::rule(1)),
              "queue_limit"_code);
    trial.advance_to(trial.now + kAfter);
    const std::vector<MessageRecord> records = trial.write();
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].state.checks(), 1u);
}

TEST(Transactions, an_expired_or_purged_message_is_not_checked) {
    Trial trial;
    const EntryNumber purged = trial.prepare(Trial::rule(1));
    trial.advance_to(trial.now + kAfter);
    trial.queues[0].purge_through = trial.id_of(purged);
    EXPECT_TRUE(trial.write().empty());
    EXPECT_EQ(trial.lifecycle.to_purge().size(), 1u);
    trial.settle(trial.id_of(purged), true);
    EXPECT_EQ(trial.take<Error>(1).code, "already_rolled_back"_code);
    MessageRecord record;
    record.state.state = State::prepared;
    record.state.transaction = MessageState::kOpen;
    record.state.expires_ms = trial.now + kAfter + 1;
    record.content.transaction = Trial::rule(1);
    trial.put_record(std::move(record), trial.now + kAfter);
    trial.advance_to(trial.now + kAfter);
    trial.now += 1;
    EXPECT_TRUE(trial.write().empty());
    EXPECT_EQ(trial.lifecycle.own_records().expired.count(), 1u);
}

TEST(Transactions, a_rule_that_makes_no_sense_is_refused_by_its_member) {
    Trial trial;
    const auto refusal = [&](TransactionRule rule, bool is_recurring = false) {
        PutCommand put{.queue = "q", .transaction = std::move(rule)};
        if (is_recurring) put.repeat = RepeatChoice{.every_ms = 1};
        const Status status = trial.transactions.check_rule(put);
        return status ? std::string() : std::string(name_of(status.error().code)) + " " + status.error().field;
    };
    const std::uint32_t times_max = trial.options.check_times_max;
    const std::int64_t too_long = trial.options.delay_max_ms + 1;
    const std::string times = "out_of_range transaction.check_back.times";
    EXPECT_EQ(refusal(Trial::rule(times_max)), "");
    EXPECT_EQ(refusal(Trial::rule(0)), "");
    EXPECT_EQ(refusal(Trial::rule(times_max + 1)), times);
    EXPECT_EQ(refusal({"checks", kAfter, 0, false}), times);
    EXPECT_EQ(refusal({"", kAfter, 1, false}), "missing_member transaction.check_back.queue");
    EXPECT_EQ(refusal({"", 0, 0, false}), "out_of_range transaction.check_back.after");
    EXPECT_EQ(refusal({"", too_long, 0, false}), "delay_too_long transaction.check_back.after");
    EXPECT_EQ(refusal(Trial::rule(1), true), "conflicting_members transaction");
}

}  // namespace
}  // namespace duewheel::transactions_test
