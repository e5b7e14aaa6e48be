// Limits per second: what is refused, what is moved with `flex`, and that the counts are exact wherever the messages
// are stored. The boundary between log, index and restart is tested with the shard.
#include <random>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_seconds_test {
namespace {

using What = ConfigureQueueCommand::What;

void limit(TrialEngine& shard, std::uint64_t per_second, const std::string& queue = "q",
           std::uint64_t pending_max = 0) {
    QueueSettings settings;
    settings.per_second = per_second;
    settings.pending_max = pending_max;
    shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", queue, What::set, settings});
    shard.move_to_index();
}

PutCommand put_at(DueMs due_ms, std::int64_t flex_ms = 0) {
    PutCommand put;
    put.queue = "q";
    put.when.at_ms = due_ms;
    put.flex_ms = flex_ms;
    put.body = "body";
    return put;
}

constexpr DueMs kLater = kStart + 60'000;

TEST(EngineSeconds, a_full_second_takes_no_more) {
    TrialEngine shard;
    limit(shard, 2);
    EXPECT_EQ(shard.ask<PutAnswer>(put_at(kLater)).due_ms, kLater);
    EXPECT_EQ(shard.ask<PutAnswer>(put_at(kLater + 999)).due_ms, kLater + 999);
    const auto full = shard.ask<Error>(put_at(kLater + 500));
    EXPECT_EQ(full.code, "second_full"_code);
    EXPECT_EQ(full.field, "due");
    EXPECT_EQ(full.message,
              "in the second of 1970-01-01T00:17:40.500Z, the queue has reached its limit per second (2): choose "
              "another time, give a longer `flex` (it counts up to `expires`), or raise the queue's limits.per_second");
    EXPECT_EQ(shard.ask<PutAnswer>(put_at(kLater + 1000)).due_ms, kLater + 1000);
    EXPECT_EQ(shard.engine().counters().refused_second_full, 1u);
    EXPECT_EQ(shard.engine().counters().pending, 3u);
}

// It had counted in the room of its queue, so that the next put of the same batch was refused as well, for want of it.
TEST(EngineSeconds, a_put_refused_by_its_second_uses_no_capacity) {
    TrialEngine shard;
    limit(shard, 1, "q", 2);
    shard.ask<PutAnswer>(put_at(kLater));
    PutBatchCommand both;
    both.puts = {put_at(kLater), put_at(kLater + 1'000)};
    const auto answer = shard.ask<PutBatchAnswer>(both);
    EXPECT_EQ(std::get<Error>(answer.results[0]).code, "second_full"_code);
    EXPECT_TRUE(std::holds_alternative<PutAnswer>(answer.results[1]));
}

TEST(EngineSeconds, a_held_put_needs_no_capacity_before_it_is_released) {
    TrialEngine shard;
    limit(shard, 1);
    EXPECT_EQ(shard.ask<PutAnswer>(put_at(kLater)).due_ms, kLater);
    PutCommand put = put_at(kLater, 5'000);
    put.is_held = true;
    const auto aside = shard.ask<PutAnswer>(put);
    EXPECT_EQ(aside.due_ms, kLater) << "as asked";
    put.when.at_ms = kLater + 1'000;
    const auto later = shard.ask<PutAnswer>(put);
    EXPECT_EQ(shard.ask<PutAnswer>(put_at(kLater + 1'000)).due_ms, kLater + 1'000) << "it had taken no room";
    EXPECT_EQ(shard.ask<ChangeAnswer>(KickCommand{"default", later.id}).due_ms, kLater + 1'000);
    EXPECT_EQ(shard.ask<Error>(put_at(kLater + 1'000)).code, "second_full"_code);
}

TEST(EngineSeconds, with_flex_the_first_second_with_capacity_is_chosen) {
    TrialEngine shard;
    limit(shard, 1);
    EXPECT_EQ(shard.ask<PutAnswer>(put_at(kLater + 300, 20'000)).due_ms, kLater + 300)
        << "as asked, where there is room";
    for (int more = 1; more <= 20; ++more) {
        EXPECT_EQ(shard.ask<PutAnswer>(put_at(kLater + 300, 20'000)).due_ms, kLater + 300 + more * 1000);
    }
    const auto full = shard.ask<Error>(put_at(kLater + 300, 20'000));
    EXPECT_EQ(full.code, "second_full"_code);
    EXPECT_NE(full.message.find(", and so have the seconds up to 1970-01-01T00:18:00.300Z: "), std::string::npos)
        << full.message;
    EXPECT_EQ(shard.ask<PutAnswer>(put_at(kLater + 300, 21'000)).due_ms, kLater + 21'300);
}

TEST(EngineSeconds, flex_is_bounded_and_moves_nothing_beyond_expiry_or_the_longest_delay) {
    EngineOptions options;
    options.delay_max_ms = 60'000;
    TrialEngine shard(options);
    limit(shard, 1);
    EXPECT_EQ(shard.ask<Error>(put_at(kLater, -1)).code, "out_of_range"_code);
    const auto longer = shard.ask<Error>(put_at(kLater, 3'600'001));
    EXPECT_EQ(longer.code, "out_of_range"_code);
    EXPECT_EQ(longer.message, "`flex` is from 0 to 1h");
    shard.ask<PutAnswer>(put_at(kLater - 3000));
    PutCommand expires = put_at(kLater - 3000, 10'000);
    expires.expires = When{kLater - 2000, 0};
    EXPECT_EQ(shard.ask<Error>(expires).code, "second_full"_code);
    expires.expires = When{kLater - 1999, 0};
    EXPECT_EQ(shard.ask<PutAnswer>(expires).due_ms, kLater - 2000);
    shard.ask<PutAnswer>(put_at(kLater));
    EXPECT_EQ(shard.ask<Error>(put_at(kLater, 10'000)).code, "second_full"_code)
        << "the next would be too long a delay";
}

// A recurring message was placed behind its own end: its first occurrence came after `until`, and its export could not
// be read.
TEST(EngineSeconds, flex_moves_no_recurring_message_beyond_its_end) {
    TrialEngine shard;
    limit(shard, 1);
    for (int second = 0; second < 2; ++second) shard.ask<PutAnswer>(put_at(kLater + second * 1000));
    PutCommand loop = put_at(kLater, 10'000);
    loop.repeat = RepeatChoice{.every_ms = 1'000, .until_ms = kLater + 1999};
    EXPECT_EQ(shard.ask<Error>(loop).code, "second_full"_code);
    loop.repeat->until_ms = kLater + 2000;
    EXPECT_EQ(shard.ask<PutAnswer>(loop).due_ms, kLater + 2000);
}

// Its rule went on to name the time that was asked for as that of its first occurrence.
TEST(EngineSeconds, the_rule_of_a_recurring_message_begins_where_it_was_placed) {
    TrialEngine shard;
    limit(shard, 1);
    shard.ask<PutAnswer>(put_at(kLater));
    PutCommand loop = put_at(kLater, 5'000);
    loop.repeat = RepeatChoice{.every_ms = 60'000};
    const auto placed = shard.ask<PutAnswer>(loop);
    EXPECT_EQ(placed.due_ms, kLater + 1'000);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", placed.id}).repeat->start_ms, kLater + 1'000);
}

TEST(EngineSeconds, a_repeated_key_is_answered_whatever_its_second_holds) {
    TrialEngine shard;
    limit(shard, 1);
    PutCommand keyed = put_at(kLater, 5000);
    keyed.key = "k";
    keyed.request_hash = 1;
    shard.ask<PutAnswer>(put_at(kLater));
    const auto first = shard.ask<PutAnswer>(keyed);
    EXPECT_EQ(first.due_ms, kLater + 1000);
    const auto again = shard.ask<PutAnswer>(keyed);
    EXPECT_TRUE(again.repeated);
    EXPECT_EQ(again.due_ms, kLater + 1000) << "where the first was moved to";
}

// A message that is moved within its own second would find it full, with itself.
TEST(EngineSeconds, a_moved_message_leaves_its_second_and_needs_room_in_the_next) {
    TrialEngine shard;
    limit(shard, 1);
    const MessageId first = shard.ask<PutAnswer>(put_at(kLater)).id;
    shard.ask<PutAnswer>(put_at(kLater + 1000));
    const auto move = [&](DueMs to, std::int64_t flex_ms) {
        return RescheduleCommand{"default", first, {to, 0}, flex_ms};
    };
    EXPECT_EQ(shard.ask<ChangeAnswer>(move(kLater + 700, 0)).due_ms, kLater + 700);
    EXPECT_EQ(shard.ask<Error>(move(kLater + 1500, 0)).code, "second_full"_code);
    EXPECT_EQ(shard.ask<Error>(move(kLater + 1500, 3'600'001)).code, "out_of_range"_code);
    EXPECT_EQ(shard.ask<ChangeAnswer>(move(kLater + 1500, 5000)).due_ms, kLater + 2500);
    EXPECT_EQ(shard.ask<PutAnswer>(put_at(kLater)).due_ms, kLater) << "its old second has room again";
    shard.ask<ChangeAnswer>(FireCommand{"default", first});
    EXPECT_EQ(shard.ask<PutAnswer>(put_at(kLater + 2000)).due_ms, kLater + 2000);
}

// Neither another time nor `flex` helps where there is no room at all.
TEST(EngineSeconds, a_full_queue_is_reported_before_a_full_second) {
    TrialEngine shard;
    limit(shard, 1, "q", 1);
    shard.ask<PutAnswer>(put_at(kLater));
    EXPECT_EQ(shard.ask<Error>(put_at(kLater)).code, "queue_full"_code);
    EXPECT_EQ(shard.engine().counters().refused_second_full, 0u);
}

TEST(EngineSeconds, puts_of_one_request_fill_seconds_one_after_the_other) {
    TrialEngine shard;
    limit(shard, 2);
    PutBatchCommand batch;
    for (int i = 0; i < 7; ++i) batch.puts.push_back(put_at(kLater, 2000));
    const auto answer = shard.ask<PutBatchAnswer>(batch);
    ASSERT_EQ(answer.results.size(), 7u);
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(std::get<PutAnswer>(answer.results[i]).due_ms, kLater + static_cast<DueMs>(i / 2) * 1000);
    }
    EXPECT_EQ(std::get<Error>(answer.results[6]).code, "second_full"_code);
}

// Before the index contains the log up to the time when the limit was set, the count of a second is unknown.
TEST(EngineSeconds, puts_wait_until_messages_from_before_the_limit_are_counted) {
    TrialEngine shard;
    shard.ask<PutAnswer>(put_at(kLater));
    shard.ask<PutAnswer>(put_at(kLater));
    QueueSettings settings;
    settings.per_second = 3;
    shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "q", What::set, settings});
    std::vector<ReplyToken> tokens;
    for (int i = 0; i < 2; ++i) tokens.push_back(shard.submit(put_at(kLater)));
    const MessageId at_once = shard.put(0);
    EXPECT_NE(at_once, 0u) << "what is due at once need not wait";
    shard.turn();
    EXPECT_TRUE(shard.replies.empty());
    EXPECT_EQ(shard.engine().counters().unsealed_segments, 1u) << "the segment was closed, so that it is taken in";
    shard.move_to_index();
    EXPECT_EQ(shard.take<PutAnswer>(tokens[0]).due_ms, kLater);
    EXPECT_EQ(shard.take<Error>(tokens[1]).code, "second_full"_code);
}

// An index with a table that was not reported yet counted messages that the ledger counted again.
TEST(EngineSeconds, a_lookup_result_may_be_of_a_newer_or_an_older_table) {
    SecondLedger ledger;
    const Second second = 1'800'000'000;
    ledger.watch(1, 0);
    ledger.change(1, second, 1, 5);
    ledger.change(1, second, 1, 6);
    ledger.change(1, second, -1, 7);
    EXPECT_TRUE(ledger.learn(1, second, 41, 5));
    EXPECT_EQ(ledger.count(1, second), 41);
    EXPECT_TRUE(ledger.learn(1, second, 42, 6));
    EXPECT_EQ(ledger.count(1, second), 41);
    ledger.table_taken(6);
    EXPECT_FALSE(ledger.learn(1, second, 41, 5)) << "what 6 changed is known no more";
    EXPECT_EQ(ledger.count(1, second), 41);
    ledger.change(1, second, 1, 7);
    EXPECT_EQ(ledger.count(1, second), 42);
    ledger.forget_before(second + 1);
    EXPECT_EQ(ledger.count(1, second), std::nullopt);
    EXPECT_EQ(ledger.known(), 0u);
}

TEST(EngineSeconds, messages_that_were_not_recorded_must_be_in_the_index) {
    SecondLedger ledger;
    ledger.watch(1, 7);
    EXPECT_EQ(ledger.watched_since(1), 7u);
    EXPECT_FALSE(ledger.learn(1, 9, 1, 6));
    EXPECT_TRUE(ledger.learn(1, 9, 1, 7));
    ledger.watch(1, 9);
    EXPECT_EQ(ledger.count(1, 9), 1) << "it is watched already";
    ledger.unwatch(1);
    EXPECT_EQ(ledger.known(), 0u);
    EXPECT_EQ(ledger.watched_since(1), std::nullopt);
}

// A queue as one would write it down: what falls due in each second, and the first second with room.
class Model {
  public:
    explicit Model(std::uint64_t most) : most_(most) {}

    std::optional<DueMs> place(DueMs due, std::int64_t flex_ms, DueMs now, MessageId own = 0) const {
        if (due / 1000 <= now / 1000) return due;
        for (DueMs at = due; at <= due + flex_ms; at += 1000) {
            std::uint64_t here = 0;
            bool is_own = false;
            for (const auto& [id, of] : due_) {
                here += of / 1000 == at / 1000 ? 1 : 0;
                is_own |= id == own && of / 1000 == at / 1000;
            }
            if (is_own || here < most_) return at;
        }
        return std::nullopt;
    }
    std::map<MessageId, DueMs> due_;

  private:
    std::uint64_t most_;
};

void check_against_model(std::uint32_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t bound) { return static_cast<std::int64_t>(random() % bound); };
    EngineOptions options;
    options.segment_bytes = 16'384;
    TrialEngine shard(options);
    const std::uint64_t most = 1 + random() % 3;
    Model model(most);
    DueMs now = kStart;
    limit(shard, most);
    const auto expect = [&](const PutResult& result, DueMs due, std::int64_t flex_ms) {
        const std::optional<DueMs> place = model.place(due, flex_ms, now);
        if (const auto* made = std::get_if<PutAnswer>(&result)) {
            ASSERT_EQ(made->due_ms, place.value_or(0));
            model.due_[made->id] = made->due_ms;
        } else {
            ASSERT_EQ(std::get<Error>(result).code, "second_full"_code);
            ASSERT_EQ(place, std::nullopt);
        }
    };
    for (int step = 0; step < 150 && !testing::Test::HasFatalFailure(); ++step) {
        const bool must_seal = shard.engine().counters().unsealed_segments > 2;
        const std::int64_t what = must_seal ? 17 : below(20);
        const DueMs due = now + below(12'000);
        const std::int64_t flex_ms = below(3) == 0 ? below(12'000) : 0;
        if (what < 9) {
            PutBatchCommand batch;
            const std::int64_t count = 1 + below(3);
            for (std::int64_t i = 0; i < count; ++i) batch.puts.push_back(put_at(due, flex_ms));
            const auto answer = shard.ask<PutBatchAnswer>(batch);
            ASSERT_EQ(answer.results.size(), batch.puts.size());
            for (const PutResult& result : answer.results) expect(result, due, flex_ms);
        } else if (what < 16 && !model.due_.empty()) {
            auto chosen = model.due_.begin();
            std::advance(chosen, below(static_cast<std::uint32_t>(model.due_.size())));
            const MessageId id = chosen->first;
            if (what < 12) {
                shard.ask<ChangeAnswer>(CancelCommand{"default", id});
                model.due_.erase(id);
            } else if (what == 12) {
                shard.ask<ChangeAnswer>(HoldCommand{"default", id});
                model.due_.erase(id);  // it waits for no time any more
            } else {
                const ReplyToken token = shard.submit(RescheduleCommand{"default", id, {due, 0}, flex_ms});
                shard.turn();
                const Reply reply = std::exchange(shard.replies[token], Reply());
                shard.replies.erase(token);
                const std::optional<DueMs> place = model.place(due, flex_ms, now, id);
                if (const auto* moved = std::get_if<ChangeAnswer>(&reply)) {
                    ASSERT_EQ(moved->due_ms, place.value_or(0));
                    model.due_[id] = moved->due_ms;
                } else {
                    ASSERT_EQ(std::get<Error>(reply).code, "second_full"_code);
                    ASSERT_EQ(place, std::nullopt);
                }
            }
        } else if (what < 18) {
            shard.move_to_index();
        } else {
            const std::int64_t step_ms = below(2'000);
            now += step_ms;
            shard.turn(step_ms);
            // Due messages are delivered and acknowledged, so that all others are waiting.
            for (const Delivered& taken : shard.lease(100)) {
                shard.ask<LeaseEndAnswer>(AckCommand{taken.lease});
                model.due_.erase(taken.id);
            }
        }
    }
}

TEST(EngineSeconds, chooses_like_a_simple_model) {
    for (std::uint32_t seed = 1; seed <= 60 && !HasFatalFailure(); ++seed) check_against_model(seed);
}

}  // namespace
}  // namespace duewheel::engine_seconds_test
