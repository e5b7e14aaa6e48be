// Connections and memory shared by targets and namespaces: a hanging target leaves capacity for the others.
#include <map>

#include "webhooks/webhook_fixture.h"

namespace duewheel::webhook_sharing_test {
namespace {

using Trial = WebhookTrial;

// With 10,000 bytes for posts, leased in threes of 1,000.
class LittleMemory : public Trial {
  public:
    LittleMemory() : Trial(posts(), leases()) {}

  private:
    static WebhookOptions posts() {
        WebhookOptions options;
        options.bytes_in_flight_max = 10'000;
        return options;
    }
    static EngineOptions leases() {
        EngineOptions options;
        options.lease_bytes_max = 3'000;
        return options;
    }
};

TEST(WebhookPusher, one_hanging_target_delays_no_other) {
    WebhookOptions options;
    options.connections_max = 8;
    Trial trial(options);
    trial.set_target("hangs", Trial::target("http://a.example/", 6));
    trial.set_target("works", Trial::target("http://b.example/", 6));
    for (int i = 0; i < 100; ++i) trial.shard.put(0, "never", "hangs");
    trial.run();
    EXPECT_EQ(trial.sent.size(), 3u) << "as much as it leaves to others, beside the first of each";
    for (int i = 0; i < 100; ++i) trial.shard.put(0, "soon", "works");
    trial.run();
    for (int i = 0; i < 100; ++i) {
        const auto works = std::find_if(trial.sent.begin(), trial.sent.end(),
                                        [](const Trial::Sent& each) { return each.request.body == "soon"; });
        ASSERT_NE(works, trial.sent.end()) << i;
        ASSERT_LE(trial.sent.size(), 8u);
        WebhookAnswer with;
        with.kind = Kind::answered;
        with.status = 200;
        trial.answer(static_cast<std::size_t>(works - trial.sent.begin()), with);
    }
    EXPECT_EQ(trial.queue("works").counts.pending, 0u);
    EXPECT_EQ(trial.queue("hangs").counts.pending, 100u);
}

TEST(WebhookPusher, a_message_that_waits_for_connections_of_other_targets_is_late_and_one_for_its_own_waits) {
    WebhookOptions options;
    options.connections_max = 1;
    Trial trial(options);
    trial.set_target("hangs", Trial::target("http://a.example/", 1));
    trial.shard.put(0, "first", "hangs");
    trial.shard.put(0, "second", "hangs");
    trial.run();
    trial.set_target("works", Trial::target("http://b.example/", 1));
    trial.shard.put(0, "other", "works");
    trial.run();
    ASSERT_EQ(trial.bodies(), std::vector<std::string>{"first"});
    trial.run(5'000);
    std::map<std::string, std::string> parts;
    while (!trial.sent.empty()) {
        const WebhookRequest& request = trial.sent[0].request;
        parts[request.body] = field_of(request, "duewheel-wait-ms") + " " + field_of(request, "duewheel-lateness-ms");
        trial.answer_first(200);
    }
    const std::map<std::string, std::string> expected = {{"first", "0 0"}, {"second", "5000 0"}, {"other", "0 5000"}};
    EXPECT_EQ(parts, expected);
}

// Targets that hang had all that was leased for their namespace before others' messages in one line, and took, where
// they may have many posts at a time, all connections that there were for it.
TEST(WebhookPusher, hanging_targets_leave_connections_to_others_of_their_namespace) {
    for (const int hanging : {1, 4}) {
        WebhookOptions few;
        few.connections_max = 20;
        Trial trial(few);
        for (int i = 0; i < hanging; ++i) {
            const std::string queue = "hangs" + std::to_string(i);
            trial.set_target(queue, Trial::target("http://hangs.example/" + std::to_string(i), 1'000));
            for (int message = 0; message < 30; ++message) trial.shard.put(0, "hangs", queue);
        }
        trial.run();
        EXPECT_EQ(trial.sent.size(), hanging == 1 ? 8u : 15u);
        trial.set_target("works", Trial::target("http://works.example/in", 4));
        for (int message = 0; message < 5; ++message) {
            trial.shard.put(0, "works", "works");
            trial.run();
            ASSERT_EQ(trial.sent.back().request.body, "works") << hanging;
            trial.answer(trial.sent.size() - 1, {.kind = Kind::answered, .status = 200});
        }
    }
}

// Each target left half of what was free, and after some twenty the last connections were used up: all other targets of
// the namespace waited for a timeout.
TEST(WebhookPusher, with_many_hanging_targets_each_other_one_has_a_connection) {
    WebhookOptions options;
    options.connections_max = 100;
    Trial trial(options);
    for (int i = 0; i < 8; ++i) {
        trial.set_target("works" + std::to_string(i), Trial::target("http://works.example/in", 4));
    }
    for (int i = 0; i < 30; ++i) {
        trial.set_target("hangs" + std::to_string(i),
                         Trial::target("http://hangs.example/" + std::to_string(i), 1'000));
    }
    for (int i = 0; i < 30; ++i) {
        for (int message = 0; message < 30; ++message) trial.shard.put(0, "hangs", "hangs" + std::to_string(i));
        trial.run();
    }
    EXPECT_LE(trial.sent.size(), 72u);
    for (int i = 0; i < 8; ++i) {
        trial.shard.put(0, "works", "works" + std::to_string(i));
        trial.run();
        ASSERT_EQ(trial.sent.back().request.body, "works") << i;
    }
    EXPECT_LE(trial.sent.size(), 80u);
}

// So had messages that are large, of a target that is slow.
TEST(WebhookPusher, a_target_of_large_messages_leaves_memory_to_others_of_its_namespace) {
    LittleMemory trial;
    trial.set_target("slow", Trial::target("http://slow.example/in", 64));
    for (int message = 0; message < 30; ++message) trial.shard.put(0, std::string(1'000, 'x'), "slow");
    trial.run();
    trial.set_target("works", Trial::target("http://works.example/in", 4));
    trial.shard.put(0, "works", "works");
    trial.run();
    EXPECT_EQ(trial.sent.back().request.body, "works");
}

TEST(WebhookPusher, shares_what_connections_there_are_among_many_targets) {
    WebhookOptions options;
    options.connections_max = 2;
    Trial trial(options);
    for (int i = 0; i < 10; ++i) {
        const std::string queue = "q" + std::to_string(i);
        trial.set_target(queue, Trial::target());
        for (int each = 0; each < 5; ++each) trial.shard.put(0, queue, queue);
    }
    trial.run();
    std::map<std::string, int> of_each;
    for (int i = 0; i < 50; ++i) {
        ASSERT_FALSE(trial.sent.empty()) << i;
        ASSERT_LE(trial.sent.size(), 2u);
        ++of_each[trial.sent[0].request.body];
        EXPECT_TRUE(i < 29 || of_each.size() == 10) << "none is passed over while others go on";
        trial.answer_first(200);
    }
    EXPECT_EQ(trial.pusher->counters().delivered, 50u);
    EXPECT_EQ(trial.shard.engine().counters().pending, 0u);
}

// Ten targets of a namespace that never responded used all connections, and messages of other namespaces were not
// posted before they timed out.
TEST(WebhookPusher, a_namespace_whose_targets_hang_leaves_connections_to_others) {
    WebhookOptions options;
    options.connections_max = 20;
    Trial trial(options);
    for (int i = 0; i < 10; ++i) {
        const std::string queue = "hangs" + std::to_string(i);
        trial.set_target(queue, Trial::target("http://a" + std::to_string(i) + ".example/", 6));
        for (int each = 0; each < 10; ++each) trial.shard.put(0, "never", queue);
    }
    trial.run();
    EXPECT_EQ(trial.sent.size(), 16u) << "four times as many as are left";
    trial.set_target("works", Trial::target("http://b.example/", 6), "other");
    for (int i = 0; i < 30; ++i) trial.put_other("works", "soon");
    trial.run();
    EXPECT_EQ(trial.sent.size(), 18u);
    for (int i = 0; i < 30; ++i) {
        const auto works = std::find_if(trial.sent.begin(), trial.sent.end(),
                                        [](const Trial::Sent& each) { return each.request.body == "soon"; });
        ASSERT_NE(works, trial.sent.end()) << i;
        WebhookAnswer with;
        with.kind = Kind::answered;
        with.status = 200;
        trial.answer(static_cast<std::size_t>(works - trial.sent.begin()), with);
    }
    EXPECT_EQ(trial.pusher->counters().delivered, 30u);
    // What they leave they may have again when it is over.
    trial.answer_first(200);
    EXPECT_EQ(trial.sent.size(), 16u);
}

// Whatever was leased for many targets at once was posted in that order, another namespace's message at the end.
TEST(WebhookPusher, what_waits_for_a_connection_takes_turns_by_namespace) {
    WebhookOptions options;
    options.connections_max = 4;
    Trial trial(options);
    for (int i = 0; i < 20; ++i) trial.set_target("q" + std::to_string(i), Trial::target());
    trial.set_target("q", Trial::target(), "other");
    for (int i = 0; i < 20; ++i) trial.shard.put(0, "many", "q" + std::to_string(i));
    trial.put_other("q", "one");
    trial.run();
    const auto is_sent = [&] {
        const std::vector<std::string> bodies = trial.bodies();
        return std::find(bodies.begin(), bodies.end(), "one") != bodies.end();
    };
    for (int i = 0; i < 2 && !is_sent(); ++i) trial.answer_first(200);
    EXPECT_TRUE(is_sent());
}

// What waited for a connection was to be served at once and could not be, turn after turn, until the last post had
// ended.
TEST(WebhookPusher, does_no_extra_work_when_it_stops_while_targets_wait) {
    WebhookOptions one;
    one.connections_max = 1;
    Trial trial(one);
    trial.set_target("hangs", Trial::target("http://hangs.example/"));
    trial.shard.put(0, "hangs", "hangs");
    trial.run();
    trial.set_target("waits", Trial::target("http://waits.example/"));
    ASSERT_EQ(trial.sent.size(), 1u);
    trial.shard.engine().stop_waiting();
    trial.pusher->stop();
    trial.run();
    trial.answer_first(200);
    EXPECT_TRUE(trial.pusher->is_idle());
}

TEST(WebhookPusher, leases_up_to_its_limit_of_memory) {
    LittleMemory trial;
    trial.set_target("q", Trial::target("http://example.com/in", 100));
    for (int i = 0; i < 50; ++i) trial.shard.put(0, std::string(1'000, 'x'));
    trial.run();
    EXPECT_GE(trial.sent.size(), 5u) << "what one target may have";
    EXPECT_LE(trial.pusher->counters().bytes_in_flight, 13'000u);
    while (!trial.sent.empty()) trial.answer_first(200);
    EXPECT_EQ(trial.pusher->counters().delivered, 50u);
}

}  // namespace
}  // namespace duewheel::webhook_sharing_test
