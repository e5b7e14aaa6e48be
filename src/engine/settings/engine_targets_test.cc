// The engine's interface for the webhook pusher: it reports the queues, allows waits without timeout, and accepts a
// pause and a longer backoff.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_targets_test {
namespace {

using What = ConfigureQueueCommand::What;

ConfigureQueueCommand with_target(const std::string& queue, const std::string& url) {
    ConfigureQueueCommand set;
    set.queue = queue;
    set.settings.webhook = WebhookTarget{url, {"key"}, 0, 0, 0};
    set.settings.retry.jitter_permille = 0;
    return set;
}

std::string changed(TrialEngine& shard, TargetKind kind = TargetKind::webhook) {
    std::string text;
    for (const TargetQueue& each : shard.engine().take_changed_targets(kind)) {
        text += each.name.queue + (each.webhook ? " " + each.webhook->url : "") +
                (each.kafka ? " topic " + each.kafka->topic : "") + (each.paused ? " paused" : "") + ";";
    }
    EXPECT_FALSE(shard.engine().have_targets_changed(kind));
    return text;
}

TEST(EngineTargets, reports_queues_with_a_target_each_time_they_change) {
    TrialEngine shard;
    shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "plain", What::pause, {}});
    EXPECT_EQ(changed(shard), "");
    shard.ask<QueueAnswer>(with_target("a", "u"));
    shard.ask<QueueAnswer>(with_target("b", "v"));
    EXPECT_EQ(shard.engine().queues_with_target(TargetKind::webhook), 2u);
    shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "a", What::pause, {}});
    EXPECT_EQ(changed(shard), "a u paused;b v;") << "each once, as it is now";
    EXPECT_EQ(changed(shard), "");
    shard.put(0, "x", "a");
    EXPECT_EQ(changed(shard), "") << "messages change nothing";
    shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "b", What::set, {}});
    EXPECT_EQ(changed(shard), "b;") << "it has none any more";
    shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "b", What::pause, {}});
    EXPECT_EQ(changed(shard), "");
    EXPECT_EQ(shard.engine().queues_with_target(TargetKind::webhook), 1u);
}

// The pushers of webhooks and of Kafka each take their own list.
TEST(EngineTargets, lists_a_change_for_the_kinds_of_target_that_the_queue_has_and_had) {
    TrialEngine shard;
    ConfigureQueueCommand to_kafka;
    to_kafka.queue = "k";
    to_kafka.settings.kafka = KafkaTarget{.topic = "payments"};
    shard.ask<QueueAnswer>(to_kafka);
    shard.ask<QueueAnswer>(with_target("w", "u"));
    EXPECT_EQ(changed(shard), "w u;");
    EXPECT_EQ(changed(shard, TargetKind::kafka), "k topic payments;");
    EXPECT_EQ(shard.engine().queues_with_target(TargetKind::webhook), 1u);
    EXPECT_EQ(shard.engine().queues_with_target(TargetKind::kafka), 1u);
    shard.ask<QueueAnswer>(with_target("k", "v"));
    EXPECT_EQ(changed(shard), "k v;");
    EXPECT_EQ(changed(shard, TargetKind::kafka), "k v;") << "so that its pusher leaves the queue";
    EXPECT_EQ(shard.engine().queues_with_target(TargetKind::kafka), 0u);
    shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "k", What::pause, {}});
    EXPECT_EQ(changed(shard, TargetKind::kafka), "");
    EXPECT_EQ(changed(shard), "k v paused;");
}

// A server that was killed more often than there were attempts had turned messages into dead letters that it had
// already sent: a redrive would have sent them twice.
TEST(EngineTargets, only_failures_make_dead_letters_of_a_queue_with_a_topic) {
    TrialEngine shard;
    ConfigureQueueCommand to_kafka;
    to_kafka.queue = "q";
    to_kafka.settings.kafka = KafkaTarget{.topic = "payments"};
    to_kafka.settings.retry.attempts = 2;
    shard.ask<QueueAnswer>(to_kafka);
    const MessageId id = shard.put(0);
    std::vector<Delivered> leased;
    for (std::uint32_t attempt = 1; attempt <= 4; ++attempt) {
        leased = shard.lease(1, 1'000);
        ASSERT_EQ(leased.size(), 1u) << "attempt " << attempt;
        EXPECT_EQ(leased[0].attempt, attempt);
        if (attempt < 4) shard.turn(1'000);
    }
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(FailCommand{leased[0].lease, "too large", {}}).outcome, LeaseOutcome::dead);
    GetCommand get;
    get.id = id;
    EXPECT_EQ(shard.ask<MessageAnswer>(get).row.reason, "too large");
}

TEST(EngineTargets, reports_those_that_the_start_finds) {
    EngineStart start;
    QueueSettings settings;
    settings.revision = 3;
    settings.webhook = WebhookTarget{"u", {}, 0, 0, 0};
    start.queue_states.push_back({{"default", "q"}, {}, settings, 77, 50});
    TrialEngine shard({}, start);
    EXPECT_EQ(changed(shard), "q u;");
    EXPECT_EQ(shard.engine().queues_with_target(TargetKind::webhook), 1u);
}

TEST(EngineTargets, a_lease_without_timeout_waits_until_it_is_withdrawn_and_causes_no_wakeup) {
    TrialEngine shard;
    shard.ask<QueueAnswer>(with_target("q", "u"));
    LeaseCommand lease;
    lease.queue = "q";
    lease.max = 100'000;
    lease.lease_ms = 100LL * 24 * 3600 * 1000;
    lease.stays = true;
    const ReplyToken first = shard.submit(lease);
    shard.turn(100);  // the settings are confirmed
    const DueMs idle = shard.engine().next_wakeup();
    EXPECT_GT(idle, shard.engine().now() + 1'000) << "but for reading ahead";
    shard.turn(1'000'000);
    EXPECT_FALSE(shard.replies.contains(first));
    EXPECT_TRUE(shard.engine().withdraw(first));
    EXPECT_FALSE(shard.engine().withdraw(first));
    shard.put(0);
    EXPECT_FALSE(shard.replies.contains(first));
    EXPECT_EQ(shard.engine().counters().waiters, 0u);

    const ReplyToken second = shard.submit(lease);
    shard.turn();
    EXPECT_FALSE(shard.engine().withdraw(second)) << "it has got something";
    const LeaseAnswer answer = shard.take<LeaseAnswer>(second);
    ASSERT_EQ(answer.messages.size(), 1u);
    EXPECT_EQ(answer.messages[0].lease_until_ms, shard.engine().now() + *lease.lease_ms)
        << "longer than others may have it";
}

TEST(EngineTargets, a_lease_that_stays_ends_when_the_server_stops) {
    TrialEngine shard;
    LeaseCommand lease;
    lease.queue = "q";
    lease.stays = true;
    const ReplyToken before = shard.submit(lease);
    shard.turn();
    shard.engine().stop_waiting();
    shard.turn();
    EXPECT_TRUE(shard.take<LeaseAnswer>(before).messages.empty());
    EXPECT_TRUE(shard.ask<LeaseAnswer>(lease).messages.empty());
}

TEST(EngineTargets, a_target_that_is_gone_pauses_only_the_queue_that_has_it) {
    TrialEngine shard;
    shard.ask<QueueAnswer>(with_target("q", "u"));
    ConfigureQueueCommand gone{"default", "q", What::pause, {}};
    gone.gone_url = "another";
    EXPECT_FALSE(shard.ask<QueueAnswer>(gone).settings.paused);
    gone.gone_url = "u";
    QueueSettings paused = shard.ask<QueueAnswer>(gone).settings;
    EXPECT_TRUE(paused.paused);
    EXPECT_EQ(paused.paused_by, PausedBy::target);
    EXPECT_EQ(shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "q", What::pause, {}}).settings, paused)
        << "it is paused already";
    ConfigureQueueCommand set = with_target("q", "u");
    set.keeps_pause = true;
    set.settings.lease_ms = 5'000;
    EXPECT_EQ(shard.ask<QueueAnswer>(set).settings.paused_by, PausedBy::target) << "as is the pause";
    ConfigureQueueCommand moved = with_target("q", "elsewhere");
    moved.keeps_pause = true;
    EXPECT_EQ(shard.ask<QueueAnswer>(moved).settings.paused_by, PausedBy::user) << "that target has said nothing";
    shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "q", What::resume, {}});
    shard.ask<QueueAnswer>(set);
    shard.ask<QueueAnswer>(gone);
    const QueueSettings resumed =
        shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "q", What::resume, {}}).settings;
    EXPECT_FALSE(resumed.paused);
    EXPECT_EQ(resumed.paused_by, PausedBy::user);
    shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "q", What::pause, {}});
    EXPECT_EQ(shard.ask<QueueAnswer>(gone).settings.paused_by, PausedBy::user) << "a user did it before";
    gone.queue = "unheard_of";
    EXPECT_EQ(shard.ask<Error>(gone).code, "unknown_queue"_code) << "no name is used up";
}

TEST(EngineTargets, a_purge_and_a_discard_leave_the_target_as_it_is) {
    TrialEngine shard;
    shard.ask<QueueAnswer>(with_target("q", "u"));
    for (int i = 0; i < 3; ++i) shard.put(1'000, "x", "q");
    shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "q", What::purge, {}});
    for (int i = 0; i < 5; ++i) shard.turn(10);
    const QueueAnswer queue = shard.ask<QueueAnswer>(DescribeQueueCommand{"default", "q"});
    EXPECT_EQ(queue.counts.pending, 0u);
    EXPECT_EQ(queue.settings.purge_through, 0u);
    ASSERT_TRUE(queue.settings.webhook);
    EXPECT_EQ(queue.settings.webhook->url, "u");
}

TEST(EngineTargets, the_backoff_of_a_failure_is_what_the_target_requests_and_never_shorter_than_the_rule) {
    TrialEngine shard;
    ConfigureQueueCommand set = with_target("q", "u");
    set.settings.retry = {10, 1'000, 1'000, 1'000, 0};
    shard.ask<QueueAnswer>(set);
    const MessageId id = shard.put(0);
    for (const auto& [asked_ms, rest_ms] : {std::pair{5'000, 5'000}, std::pair{500, 1'000}, std::pair{0, 1'000}}) {
        const std::vector<Delivered> taken = shard.lease(1);
        ASSERT_EQ(taken.size(), 1u);
        FailCommand fail{taken[0].lease, "why", {}};
        fail.backoff_min_ms = asked_ms;
        EXPECT_EQ(shard.ask<LeaseEndAnswer>(fail).due_ms, shard.engine().now() + rest_ms);
        shard.turn(rest_ms);
    }
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", id}).row.state.state, State::ready);
}

}  // namespace
}  // namespace duewheel::engine_targets_test
