// Random puts with a few keys, by every policy, among leases, commands, tables and restarts, compared with a second
// implementation of the rules.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"
#include "shared/random.h"

namespace duewheel::engine_on_key_model_test {
namespace {

// The message that holds a key, as it should be.
struct Model {
    MessageId id = 0;
    std::string body;
    DueMs due_ms = 0;
    DueMs first_put_ms = 0;
    std::uint64_t hash = 0;  // of the put that it is of
    bool is_held = false;
    bool has_ended = false;
    std::optional<LeaseToken> lease;
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
        switch (random_.below(10)) {
            case 0:
            case 1:
            case 2:
            case 3:
                return put_one();
            case 4:
                return put_several();
            case 5:
                return pass_time(static_cast<std::int64_t>(random_.below(4'000)));
            case 6:
                return take();
            case 7:
                return end_lease();
            case 8:
                return command();
            default:
                if (random_.chance(300'000)) return shard_->move_to_index();
                if (random_.chance(300'000)) return restart();
                return check_all();
        }
    }

    void check_all() {
        for (const auto& [key, model] : models_) {
            if (model.id == 0 || model.has_ended) continue;
            const MessageAnswer now = shard_->ask<MessageAnswer>(GetCommand{"default", model.id});
            ASSERT_EQ(now.body, model.body) << key;
            ASSERT_EQ(now.row.state.due_ms, model.due_ms) << key;
            ASSERT_EQ(now.row.state.first_put_ms, model.first_put_ms) << key;
        }
    }

  private:
    PutCommand draw_put() {
        PutCommand put;
        put.queue = "q";
        put.key = "k" + std::to_string(random_.below(4));
        put.body = "body " + std::to_string(random_.below(6));
        put.when.delay_ms = static_cast<std::int64_t>(random_.below(3) * 1'500);
        put.request_hash = 1 + std::hash<std::string>()(put.body + "/" + std::to_string(put.when.delay_ms)) / 2;
        put.on_key = static_cast<OnKey>(random_.below(3));
        if (put.on_key == OnKey::replace && random_.chance(500'000)) put.within_ms = 2'000;
        return put;
    }

    // What the put should do to the model of its key; compares the reply with that.
    void expect(const PutCommand& put, const PutResult& result) {
        Model& model = models_[put.key];
        const auto* answer = std::get_if<PutAnswer>(&result);
        const auto* error = std::get_if<Error>(&result);
        const bool is_there = model.id != 0 && !model.has_ended;
        if (model.id != 0 && put.on_key == OnKey::once) {
            if (model.hash != put.request_hash) {
                ASSERT_TRUE(error != nullptr && error->code == "key_conflict"_code);
                return;
            }
            ASSERT_TRUE(answer != nullptr && answer->repeated && answer->id == model.id);
            ASSERT_EQ(is_ended(answer->state), model.has_ended);
            return;
        }
        if (is_there && put.on_key == OnKey::keep) {
            ASSERT_TRUE(answer != nullptr && answer->kept && answer->id == model.id);
            ASSERT_EQ(answer->due_ms, model.due_ms);
            return;
        }
        if (is_there && model.lease) {
            ASSERT_TRUE(error != nullptr && error->code == "in_flight"_code);
            return;
        }
        ASSERT_TRUE(answer != nullptr && !answer->repeated);
        ASSERT_EQ(answer->replaced, is_there);
        if (is_there) {
            ASSERT_EQ(answer->id, model.id);
        } else {
            ASSERT_TRUE(ids_.insert(answer->id).second);
            model = {};
            model.id = answer->id;
            model.first_put_ms = now_;
        }
        model.body = put.body;
        model.hash = put.request_hash;
        model.due_ms = now_ + put.when.delay_ms;
        if (put.within_ms != 0) {
            model.due_ms = std::min(model.due_ms, std::max(now_, model.first_put_ms + put.within_ms));
        }
        ASSERT_EQ(answer->due_ms, model.due_ms);
        ASSERT_EQ(answer->state == State::held, model.is_held);
    }

    void put_one() {
        const PutCommand put = draw_put();
        const ReplyToken token = shard_->submit(put);
        shard_->turn();
        const Reply reply = shard_->replies.at(token);
        shard_->replies.erase(token);
        if (const auto* answer = std::get_if<PutAnswer>(&reply)) return expect(put, *answer);
        expect(put, std::get<Error>(reply));
    }

    void put_several() {
        PutBatchCommand batch;
        for (std::uint64_t i = 0; i < 2 + random_.below(5); ++i) batch.puts.push_back(draw_put());
        const PutBatchAnswer answer = shard_->ask<PutBatchAnswer>(batch);
        ASSERT_EQ(answer.results.size(), batch.puts.size());
        for (std::size_t i = 0; i < batch.puts.size(); ++i) expect(batch.puts[i], answer.results[i]);
    }

    void pass_time(std::int64_t step_ms) {
        now_ += step_ms;
        shard_->turn(step_ms);
    }

    // Each message is delivered with the content of the last put, and not before it is due.
    void take() {
        for (const Delivered& delivered : shard_->lease(10, 3'600'000)) {
            const auto found = std::find_if(models_.begin(), models_.end(),
                                            [&](const auto& each) { return each.second.id == delivered.id; });
            ASSERT_NE(found, models_.end());
            Model& model = found->second;
            ASSERT_EQ(delivered.body, model.body);
            ASSERT_LE(model.due_ms, now_);
            ASSERT_FALSE(model.is_held || model.has_ended || model.lease);
            model.lease = delivered.lease;
        }
        for (const auto& [key, model] : models_) {
            const bool waits = model.id == 0 || model.has_ended || model.is_held || model.due_ms > now_;
            ASSERT_TRUE(waits || model.lease) << key << " was due and not delivered";
        }
    }

    void end_lease() {
        for (auto& [key, model] : models_) {
            if (!model.lease) continue;
            if (random_.chance(700'000)) {
                shard_->ask<LeaseEndAnswer>(AckCommand{.lease = *model.lease});
                model.has_ended = true;
            } else {
                FailCommand fail;
                fail.lease = *model.lease;
                fail.retry_in_ms = 1'000;
                const LeaseEndAnswer answer = shard_->ask<LeaseEndAnswer>(fail);
                model.due_ms = answer.due_ms;
                model.has_ended = answer.outcome == LeaseOutcome::dead;
            }
            model.lease.reset();
            return;
        }
    }

    void command() {
        for (auto& [key, model] : models_) {
            if (model.id == 0 || model.has_ended || model.lease || random_.chance(500'000)) continue;
            switch (random_.below(4)) {
                case 0:
                    shard_->ask<ChangeAnswer>(CancelCommand{"default", model.id});
                    model.has_ended = true;
                    return;
                case 1:
                    shard_->ask<ChangeAnswer>(HoldCommand{"default", model.id});
                    model.is_held = true;
                    return;
                case 2:
                    if (!model.is_held) return;
                    model.due_ms = shard_->ask<ChangeAnswer>(KickCommand{"default", model.id}).due_ms;
                    model.is_held = false;
                    return;
                default:
                    return patch(model);
            }
        }
    }

    void patch(Model& model) {
        PatchMessageCommand patch;
        patch.id = model.id;
        model.body += "!";
        patch.content = [body = model.body](const MessageContent&) -> Result<Content> {
            Content content;
            content.body = body;
            return content;
        };
        ASSERT_EQ(shard_->ask<ChangeAnswer>(patch).outcome, ChangeOutcome::changed);
    }

    // Not while a message is leased: whether a lease outlives a restart depends on how long it has lasted.
    void restart() {
        const bool has_lease =
            std::any_of(models_.begin(), models_.end(), [](const auto& each) { return each.second.lease.has_value(); });
        if (has_lease) return;
        shard_ = std::make_unique<TrialEngine>(options_, *shard_);
        pass_time(0);
    }

    EngineOptions options_;
    Random random_;
    std::unique_ptr<TrialEngine> shard_;
    DueMs now_ = kStart;
    std::map<std::string, Model> models_;
    std::set<MessageId> ids_;
};

TEST(EngineOnKeyModel, puts_by_every_policy_do_what_the_rules_say) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomHistory history(seed);
        for (int step = 0; step < 250 && !testing::Test::HasFailure(); ++step) history.step();
        history.check_all();
        if (testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace duewheel::engine_on_key_model_test
