// Random puts, leases, acknowledgements, limits and weights, compared with a second implementation of the turns: which
// message each lease gets, one after the other. Everything is in memory.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/trial/trial_engine.h"
#include "shared/random.h"

namespace duewheel::engine_groups_model_test {
namespace {

constexpr std::uint64_t kSeed = 47;

// Lists instead of counts, heaps and cursors.
class Model {
  public:
    void put(const std::string& group, MessageId id) {
        ready_[group].push_back(id);
        enter(group);
    }
    // The next message; 0: none may be delivered.
    MessageId lease() {
        if (!has_ready() || (queue_max_ != 0 && leased_.size() >= queue_max_)) return 0;
        while (!line_.empty()) {
            const std::string group = line_.front();
            if (ready_[group].empty() || is_full(group)) {
                line_.pop_front();
                continue;
            }
            const MessageId id = ready_[group].front();
            ready_[group].pop_front();
            leased_[id] = group;
            if (--credit_[group] == 0) {
                line_.pop_front();
                line_.push_back(group);
                credit_[group] = weight_of(group);
            }
            if (!has_grouped()) std::erase_if(line_, [](const std::string& each) { return !each.empty(); });
            return id;
        }
        return 0;
    }
    void ack(MessageId id) {
        const std::string group = leased_.at(id);
        leased_.erase(id);
        if (!group.empty()) enter(group);
    }
    void set_limits(std::uint64_t queue_max, std::uint64_t group_max) {
        queue_max_ = queue_max;
        group_max_ = group_max;
    }
    void set_weight(const std::string& group, std::uint32_t weight) { weight_[group] = weight; }

  private:
    bool has_ready() const { return has_grouped() || !ready_.at("").empty(); }
    bool has_grouped() const {
        return std::any_of(ready_.begin(), ready_.end(),
                           [](const auto& each) { return !each.first.empty() && !each.second.empty(); });
    }
    std::uint32_t weight_of(const std::string& group) const {
        const auto found = weight_.find(group);
        return found == weight_.end() ? 1 : found->second;
    }
    bool is_full(const std::string& group) const {
        if (group.empty() || group_max_ == 0) return false;
        const auto count = static_cast<std::uint64_t>(
            std::count_if(leased_.begin(), leased_.end(), [&](const auto& each) { return each.second == group; }));
        return count >= group_max_;
    }
    void enter(const std::string& group) {
        if (ready_[group].empty() || is_full(group)) return;
        if (std::find(line_.begin(), line_.end(), group) != line_.end()) return;
        line_.push_back(group);
        credit_[group] = weight_of(group);
    }

    std::map<std::string, std::deque<MessageId>> ready_{{"", {}}};
    std::map<MessageId, std::string> leased_;
    std::deque<std::string> line_;
    std::map<std::string, std::uint32_t> weight_, credit_;
    std::uint64_t queue_max_ = 0, group_max_ = 0;
};

TEST(GroupsModel, each_lease_gets_the_message_whose_turn_it_is) {
    Random random(kSeed);
    std::uint64_t leases = 0;
    for (int run = 0; run < 60; ++run) {
        TrialEngine shard;
        Model model;
        std::vector<Delivered> held;
        const auto draw_group = [&] {
            return random.chance(200'000) ? std::string() : "g" + std::to_string(random.below(5));
        };
        const std::uint64_t queue_max = random.chance(500'000) ? 0 : 1 + random.below(8);
        const std::uint64_t group_max = random.chance(300'000) ? 0 : 1 + random.below(3);
        shard.ask<QueueAnswer>(PatchQueueCommand{"default", "q", [=](QueueSettings& settings) {
                                                     settings.leased_max = queue_max;
                                                     settings.group_leased_max = group_max;
                                                     return Status();
                                                 }});
        model.set_limits(queue_max, group_max);
        const auto weight = static_cast<std::uint32_t>(1 + random.below(4));
        shard.ask<GroupAnswer>(ChangeGroupCommand{"default", "q", "g1", [=](GroupSettings& settings, DueMs) {
                                                      settings.weight = weight;
                                                      return Status();
                                                  }});
        model.set_weight("g1", weight);
        for (int step = 0; step < 300; ++step) {
            const std::uint64_t drawn = random.below(100);
            if (drawn < 40) {
                PutCommand put{.queue = "q"};
                put.group = step == 0 ? "g0" : draw_group();
                put.body = "body";
                const std::string group = put.group;
                model.put(group, shard.ask<PutAnswer>(std::move(put)).id);
            } else if (drawn < 75) {
                const std::vector<Delivered> messages = shard.lease(1);
                const MessageId expected = model.lease();
                ASSERT_EQ(messages.empty() ? 0 : messages[0].id, expected) << "run " << run << ", step " << step;
                if (!messages.empty()) held.push_back(messages[0]);
                ++leases;
            } else if (!held.empty()) {
                const std::size_t at = random.below(held.size());
                EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{held[at].lease}).outcome, LeaseOutcome::done);
                model.ack(held[at].id);
                held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
            }
            shard.engine().check();
        }
    }
    EXPECT_GT(leases, 5'000u);
}

}  // namespace
}  // namespace duewheel::engine_groups_model_test
