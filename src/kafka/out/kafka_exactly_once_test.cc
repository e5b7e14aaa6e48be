// Random histories of the pusher, its sender and the engine: faults of the cluster, and deaths of the process at every
// step. A reader that sees committed transactions only checks the topic at the end.
#include <map>

#include "kafka/out/kafka_fixture.h"
#include "shared/random.h"

namespace duewheel::kafka_exactly_once_test {
namespace {

struct Died {};

// A message that was put, and the response to its put.
struct Put {
    bool is_bad = false;        // its topic refuses it
    bool is_cancelled = false;  // and it had certainly not been sent
    bool may_be_sent = false;   // cancelled, but perhaps after it was sent
};

class History {
  public:
    // `notices_slowness`: false is a sender that takes slow commits for quick ones.
    History(std::uint64_t seed, bool notices_slowness) : random_(seed), trial_(options()) {
        trial_.hides_time = !notices_slowness;
        trial_.holds_batches = true;
        trial_.kafka.refuses = [](const KafkaRecord& record) { return record.value == "bad"; };
        trial_.kafka.refuses_whole_batches = true;
        trial_.kafka.on_call = [this](const KafkaCall&) { return fault(); };
        set_targets();
    }

    void run(int steps) {
        for (int i = 0; i < steps; ++i) step();
        is_calm_ = true;
        trial_.shard->hold_commits = false;
        trial_.shard->settle();
        trial_.kafka.is_up = true;
        trial_.kafka.end_transactions();
        trial_.holds_batches = false;
        for (int seconds = 0; seconds < 300 && pending() > 0; ++seconds) trial_.run(1'000);
    }

    // Each sentence is a promise that was broken.
    std::vector<std::string> broken() {
        std::vector<std::string> broken;
        std::map<MessageId, int> sent;
        for (const KafkaRecord& record : trial_.records()) ++sent[std::stoull(Trial::header(record, "duewheel-id"))];
        for (const auto& [id, put] : puts_) {
            const int times = std::exchange(sent[id], 0);
            const std::string name = "message " + std::to_string(id);
            if (times > 1) broken.push_back(name + " was sent " + std::to_string(times) + " times");
            if (times > 0 && put.is_bad) broken.push_back(name + " was refused and sent");
            if (times > 0 && put.is_cancelled) broken.push_back(name + " was cancelled in time and sent");
            const bool may_be_missing = put.is_bad || put.is_cancelled || put.may_be_sent;
            if (times == 0 && !may_be_missing) broken.push_back(name + " was lost");
        }
        if (pending() > 0) broken.push_back(std::to_string(pending()) + " messages did not come through");
        if (trial_.was_early) broken.emplace_back("a message was sent early");
        return broken;
    }
    std::uint64_t deaths() const { return deaths_; }
    std::size_t puts() const { return puts_.size(); }

  private:
    using Trial = KafkaTrial;

    static KafkaOutOptions options() {
        KafkaOutOptions options;
        options.batch_max = 8;
        return options;
    }
    void set_targets() {
        trial_.set_target("a", Trial::target());
        trial_.set_target("b", Trial::target());
    }
    std::uint64_t pending() { return trial_.queue("a").counts.pending + trial_.queue("b").counts.pending; }

    KafkaFault fault() {
        if (is_calm_) return KafkaFault::none;
        if (random_.below(400) == 0) throw Died{};
        if (random_.below(25) != 0) return KafkaFault::none;
        constexpr KafkaFault kFaults[] = {KafkaFault::slow, KafkaFault::unreachable, KafkaFault::lost_answer,
                                          KafkaFault::late, KafkaFault::delayed};
        return kFaults[random_.below(std::size(kFaults))];
    }

    void step() {
        switch (random_.below(16)) {
            case 0:
                return put(1 + random_.below(12));
            case 1:
                return cancel();
            case 2:
                trial_.shard->hold_commits = !trial_.shard->hold_commits;
                return trial_.shard->settle();
            case 3:
                if (random_.below(4) == 0) die();
                return;
            case 4:
                trial_.kafka.is_up = random_.below(3) != 0;
                return;
            case 5:
            case 6:
            case 7:
                return work();
            case 8:
                trial_.iterate(static_cast<std::int64_t>(random_.below(5'000)));
                return;
            default:
                trial_.iterate(static_cast<std::int64_t>(random_.below(20)));
                return;
        }
    }

    void put(std::uint64_t count) {
        if (trial_.shard->hold_commits) return;
        for (std::uint64_t i = 0; i < count; ++i) {
            PutCommand put;
            put.queue = random_.below(2) == 0 ? "a" : "b";
            put.when.delay_ms = static_cast<std::int64_t>(random_.below(3'000));
            const bool is_bad = random_.below(12) == 0;
            put.body = is_bad ? "bad" : "good";
            put.retry = {is_bad ? 2u : 1'000u, 100, 1'000, 100, 0};  // a death of the process uses up an attempt
            puts_[trial_.shard->ask<PutAnswer>(std::move(put)).id].is_bad = is_bad;
        }
    }
    void cancel() {
        if (puts_.empty() || trial_.shard->hold_commits) return;
        auto put = puts_.begin();
        std::advance(put, static_cast<std::ptrdiff_t>(random_.below(puts_.size())));
        const auto answer = trial_.shard->ask<ChangeAnswer>(CancelCommand{"default", put->first});
        if (answer.outcome != ChangeOutcome::cancelled || put->second.is_cancelled || put->second.may_be_sent) return;
        (answer.maybe_delivered ? put->second.may_be_sent : put->second.is_cancelled) = true;
    }
    void work() {
        try {
            trial_.send_batches();
        } catch (const Died&) {
            die();
        }
    }
    void die() {
        ++deaths_;
        trial_.crash();
        const bool was_calm = std::exchange(is_calm_, true);
        set_targets();
        is_calm_ = was_calm;
    }

    Random random_;
    Trial trial_;
    std::map<MessageId, Put> puts_;
    bool is_calm_ = false;
    std::uint64_t deaths_ = 0;
};

TEST(KafkaExactlyOnce, each_message_is_in_the_topic_once_whatever_fails) {
    std::uint64_t deaths = 0;
    std::size_t puts = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        History history(seed, true);
        history.run(400);
        deaths += history.deaths();
        puts += history.puts();
        for (const std::string& each : history.broken()) ADD_FAILURE() << "seed " << seed << ": " << each;
        if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(deaths, 100u);
    EXPECT_GT(puts, 5'000u);
}

// The same check finds what happens to a sender that keeps its producers after a slow commit, of which a late EndTxn
// ends a later transaction.
TEST(KafkaExactlyOnce, the_check_finds_a_sender_that_keeps_its_producers_after_a_slow_commit) {
    std::size_t broken = 0;
    for (std::uint64_t seed = 1; seed <= 50 && broken == 0; ++seed) {
        History history(seed, false);
        history.run(400);
        broken += history.broken().size();
    }
    EXPECT_GT(broken, 0u);
}

}  // namespace
}  // namespace duewheel::kafka_exactly_once_test
