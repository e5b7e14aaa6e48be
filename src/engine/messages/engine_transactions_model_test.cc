// Random prepared messages, commits, rollbacks, times, restarts and tables, compared with a second implementation of
// the rules.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "engine/trial/trial_prepared.h"
#include "shared/random.h"

namespace duewheel::engine_transactions_model_test {
namespace {

// What a prepared message should be after its put and the commands on it since: the rule of engine_transactions.cc once
// more.
struct Model {
    TransactionRule rule;
    DueMs wanted_ms = 0;
    DueMs answer_by_ms = 0;
    std::uint32_t checks = 0;
    State state = State::prepared;  // scheduled: committed, and due at due_ms
    DueMs due_ms = 0;
    bool was_committed = false;

    void commit(DueMs now) {
        was_committed = true;
        state = State::scheduled;
        due_ms = std::max(wanted_ms, now);
    }
    void pass(DueMs now) {
        if (state != State::prepared || answer_by_ms > now) return;
        if (checks < rule.check_times) {
            ++checks;
            answer_by_ms = now + rule.check_after_ms;
        } else if (rule.otherwise_commit) {
            commit(now);
        } else {
            state = State::cancelled;
        }
    }
};

class RandomHistory {
  public:
    explicit RandomHistory(std::uint64_t seed) : random_(seed) {
        options_.segment_bytes = 16 << 10;
        options_.unsealed_segments_max = 1'000;  // tables come by chance
        options_.window_min_ms = options_.window_max_ms = 500;
        shard_ = std::make_unique<TrialEngine>(options_);
    }

    void step() {
        switch (random_.below(8)) {
            case 0:
            case 1:
            case 2:
                return put_prepared();
            case 3:
            case 4:
                return settle_one();
            case 5:
                return pass_time(static_cast<std::int64_t>(random_.below(random_.chance(500'000) ? 60 : 2'000)));
            case 6:
                if (random_.chance(300'000)) return shard_->move_to_index();
                shard_ = std::make_unique<TrialEngine>(options_, *shard_);
                return pass_time(0);
            default:
                return take();
        }
    }

    void finish() {
        for (int i = 0; i < 45; ++i) pass_time(1'000);
        take();
        for (const auto& [id, half] : overdue_prepared_) {
            EXPECT_TRUE(half.state == State::done || half.state == State::cancelled);
            EXPECT_EQ(half.was_committed, delivered_.contains(id));
        }
    }

  private:
    void put_prepared() {
        constexpr std::int64_t kDelays[] = {0, 0, 50, 3'000};
        constexpr std::int64_t kTimes[] = {100, 1'000, 10'000};
        PutCommand command =
            half(kDelays[random_.below(4)], static_cast<std::uint32_t>(random_.below(4)), random_.chance(500'000));
        command.transaction->check_after_ms = kTimes[random_.below(3)];
        Model model{.rule = *command.transaction};
        model.wanted_ms = now_ + command.when.delay_ms;
        model.answer_by_ms = now_ + command.transaction->check_after_ms;
        overdue_prepared_[put(*shard_, command)] = model;
    }

    void settle_one() {
        if (overdue_prepared_.empty()) return;
        auto& [id, half] =
            *std::next(overdue_prepared_.begin(), static_cast<std::ptrdiff_t>(random_.below(overdue_prepared_.size())));
        const bool commits = random_.chance(500'000);
        if (half.state == State::prepared) {
            commits ? half.commit(now_) : static_cast<void>(half.state = State::cancelled);
        } else if (commits != half.was_committed) {
            const SettleCommand command{"default", id, commits};
            EXPECT_EQ(refusal(*shard_, command), commits ? "already_rolled_back" : "already_committed");
            return;
        }
        EXPECT_TRUE(settled(*shard_, id, commits));
    }

    void pass_time(std::int64_t ms) {
        now_ += ms;
        shard_->turn(ms);
        for (auto& [id, half] : overdue_prepared_) half.pass(now_);
    }

    void take() {
        std::set<MessageId> wanted;
        for (auto& [id, half] : overdue_prepared_) {
            if (half.state != State::scheduled || half.due_ms > now_) continue;
            half.state = State::done;
            wanted.insert(id);
        }
        std::set<MessageId> taken;
        for (const Delivered& message : shard_->lease(1'000)) {
            EXPECT_TRUE(delivered_.insert(message.id).second) << "twice";
            EXPECT_EQ(message.due_ms, overdue_prepared_.at(message.id).wanted_ms);
            taken.insert(message.id);
            shard_->ask<LeaseEndAnswer>(AckCommand{message.lease});
        }
        EXPECT_EQ(taken, wanted);
        for (const auto& [id, half] : overdue_prepared_) {
            if (half.state != State::prepared) continue;
            const MessageState state = look(*shard_, id).row.state;
            EXPECT_EQ(state.state, State::prepared);
            EXPECT_EQ(state.due_ms, half.answer_by_ms);
            EXPECT_EQ(state.checks(), half.checks);
        }
    }

    EngineOptions options_;
    Random random_;
    std::unique_ptr<TrialEngine> shard_;
    DueMs now_ = kStart;
    std::map<MessageId, Model> overdue_prepared_;
    std::set<MessageId> delivered_;
};

TEST(Transactions, random_histories_with_restarts_keep_to_a_model) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        RandomHistory history(seed);
        for (int i = 0; i < 150; ++i) history.step();
        history.finish();
        if (testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace duewheel::engine_transactions_model_test
