// What is sent to Kafka, and what becomes of a message and of its queue with each result.
#include <functional>
#include <map>
#include <set>

#include "kafka/out/kafka_fixture.h"

namespace duewheel::kafka_pusher_test {
namespace {

using Trial = KafkaTrial;
using What = ConfigureQueueCommand::What;
using Texts = std::vector<std::string>;

// Both kinds of delivery do the same where nothing goes wrong.
class KafkaPusherOf : public testing::TestWithParam<bool> {
  protected:
    KafkaTarget target(std::string topic = "out") const { return Trial::target(std::move(topic), GetParam()); }
    // Leases `messages` of the queue q, and sends no batch of them yet.
    void hold(Trial& trial, int messages, std::size_t bytes = 1) const {
        trial.set_target("q", target());
        trial.holds_batches = true;
        for (int i = 0; i < messages; ++i) trial.put("q", std::string(bytes, 'x'));
        trial.run();
    }
    static KafkaOutOptions batches_of(std::size_t messages) {
        KafkaOutOptions options;
        options.batch_max = messages;
        return options;
    }
};
std::string name_of_delivery(const testing::TestParamInfo<bool>& delivery) {
    return delivery.param ? "exactly_once" : "at_least_once";
}
INSTANTIATE_TEST_SUITE_P(Deliveries, KafkaPusherOf, testing::Bool(), name_of_delivery);

TEST_P(KafkaPusherOf, sends_what_is_due_and_acknowledges_it) {
    Trial trial;
    trial.set_target("q", target());
    const MessageId id = trial.shard->put(1'000);
    trial.run();
    trial.run(999);
    EXPECT_TRUE(trial.values().empty()) << "not before it is due";
    trial.run(1);
    ASSERT_EQ(trial.values(), Texts{"body"});
    const KafkaRecord record = trial.records()[0];
    EXPECT_EQ(Trial::header(record, "duewheel-id"), std::to_string(id));
    EXPECT_EQ(Trial::header(record, "duewheel-attempt"), "1");
    EXPECT_EQ(Trial::header(record, "kept"), "-") << "it has no headers";
    EXPECT_EQ(trial.look(id).row.state.state, State::done);
    EXPECT_TRUE(trial.pusher->is_idle());
    EXPECT_EQ(trial.pusher->counters().sent, 1u);
    EXPECT_EQ(trial.pusher->counters().bytes_leased, 0u);
}

TEST_P(KafkaPusherOf, sleeps_while_nothing_is_due) {
    Trial trial;
    for (int i = 0; i < 50; ++i) trial.set_target("q" + std::to_string(i), target());
    trial.run();
    EXPECT_EQ(trial.pusher->next_wakeup(trial.shard->engine().now()), KafkaPusher::kNoWakeup);
    EXPECT_EQ(trial.shard->engine().counters().waiters, 50u) << "they wait in the engine";
    trial.run(100'000'000);
    EXPECT_EQ(trial.shard->engine().counters().waiters, 50u) << "for as long as it takes";
}

TEST_P(KafkaPusherOf, gathers_the_next_batch_while_one_is_under_way) {
    Trial trial(batches_of(10));
    hold(trial, 100);
    ASSERT_EQ(trial.batches.size(), 1u);
    EXPECT_EQ(trial.batches[0].batch.messages.size(), 1u) << "it went at once";
    const std::uint64_t leased = trial.pusher->counters().leased;
    const std::size_t batch_max = GetParam() ? 10 : 40;  // without transactions batches are larger
    EXPECT_GE(leased, batch_max + 1);
    EXPECT_LE(leased, 3 * batch_max + 1) << "three batches and the one under way";
    trial.send_batches();
    trial.run();
    ASSERT_EQ(trial.batches.size(), 1u);
    EXPECT_EQ(trial.batches[0].batch.messages.size(), batch_max);
    trial.holds_batches = false;
    trial.run();
    EXPECT_EQ(trial.values().size(), 100u);
    EXPECT_EQ(trial.queue("q").counts.pending, 0u);
}

TEST_P(KafkaPusherOf, keeps_to_its_bytes) {
    KafkaOutOptions options;
    options.bytes_max = 10'000;
    Trial trial(options);
    hold(trial, 100, 1'000);
    EXPECT_GE(trial.pusher->counters().bytes_leased, 1'000u);
    trial.holds_batches = false;
    trial.run();
    EXPECT_EQ(trial.values().size(), 100u);
}

TEST_P(KafkaPusherOf, lets_queues_and_namespaces_take_turns) {
    Trial trial(batches_of(40));
    for (const char* queue : {"a", "b"}) trial.set_target(queue, target());
    trial.set_target("c", target(), "other");
    trial.holds_batches = true;
    for (int i = 0; i < 1'000; ++i) trial.put("a", "a");
    for (int i = 0; i < 1'000; ++i) trial.put("b", "b");
    for (int i = 0; i < 1'000; ++i) trial.put("c", "c", "other");
    for (int batches = 0; batches < 12; ++batches) {
        trial.run();
        trial.send_batches();
    }
    std::map<std::string, int> sent;
    for (const std::string& value : trial.values()) ++sent[value];
    EXPECT_GT(sent["a"], 70);
    EXPECT_GT(sent["b"], 70);
    EXPECT_GT(sent["c"], 150) << "alone in its namespace";
}

TEST_P(KafkaPusherOf, a_paused_queue_sends_nothing_until_it_is_resumed) {
    Trial trial;
    trial.set_target("q", target());
    trial.tell("q", What::pause);
    trial.put("q", "body");
    trial.run();
    EXPECT_TRUE(trial.values().empty());
    EXPECT_EQ(trial.queue("q").waiters, 0u);
    trial.tell("q", What::resume);
    EXPECT_EQ(trial.values(), Texts{"body"});
}

TEST_P(KafkaPusherOf, releases_what_waits_when_its_queue_is_paused) {
    Trial trial(batches_of(10));
    hold(trial, 20);
    trial.tell("q", What::pause);
    trial.holds_batches = false;
    trial.run();
    EXPECT_EQ(trial.values().size(), 1u) << "the batch that was under way";
    EXPECT_EQ(trial.queue("q").leased, 0u);
    EXPECT_EQ(trial.queue("q").counts.pending, 19u);
    EXPECT_TRUE(trial.pusher->is_idle());
}

// The story: without brokers a start opens its producers for ten seconds. The messages that were leased meanwhile
// stayed leased, although their queue was given to consumers, until the sender had given up.
TEST_P(KafkaPusherOf, releases_what_waits_at_once_while_the_sender_waits_for_brokers) {
    const std::map<std::string, std::function<void(Trial&)>> changes{
        {"target removed", [](Trial& trial) { trial.set_target("q", std::nullopt); }},
        {"paused", [](Trial& trial) { trial.tell("q", What::pause); }},
        {"other kind of delivery", [](Trial& trial) { trial.set_target("q", Trial::target("out", !GetParam())); }},
    };
    for (const auto& [name, change] : changes) {
        SCOPED_TRACE(name);
        Trial trial(batches_of(1));
        trial.holds_batches = true;
        trial.set_target("q", target());
        trial.put("q", "1");
        trial.put("q", "2");
        trial.run();
        ASSERT_EQ(trial.batches.size(), 1u);
        const std::size_t under_way = trial.batches.front().batch.messages.size();
        const std::uint64_t waiting = trial.queue("q").leased - under_way;
        ASSERT_GT(waiting, 0u);
        change(trial);
        EXPECT_EQ(trial.pusher->counters().given_back, waiting);
        if (name != "target removed") continue;
        EXPECT_EQ(trial.shard->lease().size(), 2 - under_way) << "its consumers get them";
    }
}

TEST_P(KafkaPusherOf, a_queue_that_is_leased_from_again_is_sent_no_more) {
    Trial trial;
    trial.set_target("q", target());
    trial.set_target("q", std::nullopt);
    trial.put("q", "body");
    trial.run();
    EXPECT_TRUE(trial.values().empty());
    EXPECT_EQ(trial.pusher->counters().targets, 0u);
    EXPECT_EQ(trial.shard->lease().size(), 1u);
}

TEST_P(KafkaPusherOf, a_message_goes_where_its_queue_sends_them_when_it_is_leased) {
    Trial trial;
    trial.kafka.create_topic("new");
    trial.set_target("q", target());
    ConfigureQueueCommand change;
    change.queue = "q";
    change.settings.kafka = target("new");
    trial.shard->submit(change);
    PutCommand put;
    put.queue = "q";
    trial.shard->submit(put);
    trial.run();
    EXPECT_EQ(trial.values("new").size(), 1u);
}

TEST_P(KafkaPusherOf, a_refused_record_fails_by_the_messages_own_rule) {
    Trial trial;
    trial.kafka.refuses = [](const KafkaRecord& record) { return record.value == "bad"; };
    trial.kafka.refuses_whole_batches = true;
    KafkaTarget one = target();
    one.partition = 0;
    trial.set_target("q", one);
    PutCommand put;
    put.queue = "q";
    put.body = "bad";
    put.retry = {2, 3'000, 1'000, 3'000, 0};
    for (int i = 0; i < 20; ++i) trial.put("q", "good");
    const MessageId id = trial.shard->ask<PutAnswer>(put).id;
    for (int i = 0; i < 20; ++i) trial.put("q", "good");
    trial.run();
    EXPECT_EQ(trial.values().size(), 40u);
    EXPECT_EQ(trial.look(id).row.state.state, State::retrying);
    EXPECT_EQ(trial.look(id).row.state.due_ms, trial.shard->engine().now() + 3'000);
    trial.run(3'000);
    EXPECT_EQ(trial.look(id).row.state.state, State::dead);
    EXPECT_EQ(trial.look(id).row.reason, "record_refused: the topic refuses the record");
    EXPECT_EQ(trial.pusher->counters().refused, 2u);
    EXPECT_EQ(trial.pusher->counters().targets_open, 0u);

    trial.kafka.refuses = nullptr;
    RedriveCommand redrive;
    redrive.queue = "q";
    EXPECT_EQ(trial.shard->ask<RedriveAnswer>(redrive).redriven, 1u);
    trial.run();
    EXPECT_EQ(trial.values().size(), 41u);
}

TEST_P(KafkaPusherOf, tries_a_missing_topic_now_and_then_without_using_up_attempts) {
    Trial trial;
    trial.set_target("q", target("missing"));
    trial.set_target("other", target());
    for (int i = 0; i < 50; ++i) trial.put("q", std::to_string(i));
    trial.run();
    EXPECT_TRUE(trial.log.holds("kafka_target_failing"));
    EXPECT_EQ(trial.pusher->counters().targets_open, 1u);
    EXPECT_EQ(trial.pusher->target_status({"default", "q"}, trial.shard->engine().now()).state,
              TargetStatus::State::failed);
    const std::uint64_t failed = trial.pusher->counters().failed;
    for (int seconds = 0; seconds < 300; ++seconds) {
        trial.put("other", "good");
        trial.run(1'000);
    }
    EXPECT_EQ(trial.values().size(), 300u) << "other queues go on";
    EXPECT_LE(trial.pusher->counters().failed - failed, 11u);
    EXPECT_GE(trial.pusher->counters().failed - failed, 5u);
    trial.kafka.create_topic("missing");
    trial.run(60'000);
    EXPECT_EQ(trial.values("missing").size(), 50u);
    EXPECT_TRUE(trial.log.holds("kafka_target_recovered"));
    EXPECT_EQ(trial.queue("q").counts.dead, 0u);
    EXPECT_EQ(trial.pusher->counters().targets_open, 0u);
}

TEST_P(KafkaPusherOf, says_when_a_queue_has_no_topic_any_more) {
    Trial trial;
    trial.set_target("q", target());
    trial.set_target("q", target("elsewhere"));
    EXPECT_TRUE(trial.removed.empty());
    trial.set_target("q", std::nullopt);
    EXPECT_EQ(trial.removed, std::vector<std::string>{"q"});
}

TEST_P(KafkaPusherOf, a_topic_without_a_leader_does_not_hold_up_the_others) {
    Trial trial;
    trial.kafka.create_topic("down");
    trial.kafka.leaderless = {"down"};
    trial.set_target("q", target("down"));
    trial.set_target("other", target());
    for (int i = 0; i < 20; ++i) trial.put("q", std::to_string(i));
    for (int i = 0; i < 20; ++i) trial.put("other", std::to_string(i));
    trial.run();
    EXPECT_EQ(trial.values().size(), 20u);
    trial.run(1'000);
    trial.kafka.leaderless.clear();
    for (int seconds = 0; seconds < 30; ++seconds) trial.run(1'000);
    EXPECT_EQ(trial.values("down").size(), 20u);
    EXPECT_EQ(trial.queue("q").counts.pending, 0u);
}

TEST_P(KafkaPusherOf, an_outage_of_all_brokers_uses_up_no_attempts) {
    Trial trial;
    trial.set_target("q", target());
    const MessageId first = trial.put("q", "first");
    trial.run();
    trial.kafka.is_up = false;
    std::set<std::string> expected = {"first"};
    for (int seconds = 0; seconds < 600; ++seconds) {
        if (seconds % 10 == 0) trial.put("q", std::to_string(seconds));
        if (seconds % 10 == 0) expected.insert(std::to_string(seconds));
        trial.run(1'000);
    }
    EXPECT_EQ(trial.values(), Texts{"first"});
    EXPECT_EQ(trial.look(first).row.state.state, State::done);
    EXPECT_TRUE(trial.log.holds("kafka_unavailable"));
    trial.kafka.is_up = true;
    for (int seconds = 0; seconds < 60; ++seconds) trial.run(1'000);
    const Texts values = trial.values();
    EXPECT_EQ(std::set<std::string>(values.begin(), values.end()), expected);
    EXPECT_EQ(values.size(), expected.size());
    EXPECT_TRUE(trial.log.holds("kafka_available"));
    EXPECT_EQ(trial.queue("q").counts.dead, 0u);
    for (const KafkaRecord& record : trial.records()) {
        EXPECT_LT(std::stoi(Trial::header(record, "duewheel-attempt")), 80);
    }
}

TEST_P(KafkaPusherOf, holds_its_leases_while_a_batch_is_under_way) {
    Trial trial;
    trial.set_target("q", target());
    trial.holds_batches = true;
    const MessageId id = trial.put("q", "body");
    trial.run();
    for (int i = 0; i < 40; ++i) trial.run(5'000);
    EXPECT_EQ(trial.look(id).row.state.state, State::leased);
    EXPECT_EQ(trial.batches.size(), 1u) << "once at a time";
    trial.holds_batches = false;
    trial.run();
    EXPECT_EQ(trial.look(id).row.state.state, State::done);
    EXPECT_EQ(trial.look(id).row.state.attempts, 1u);
}

TEST_P(KafkaPusherOf, repeats_an_ack_that_the_engine_has_no_room_for) {
    EngineOptions engine_options;
    engine_options.commands_waiting_max = 1;
    Trial trial({}, engine_options);
    trial.set_target("q", target());
    trial.holds_batches = true;
    const MessageId id = trial.put("q", "body");
    trial.run();
    trial.shard->hold_commits = true;
    for (int i = 0; i < 3; ++i) {
        PutCommand put;
        put.queue = "elsewhere";
        trial.shard->submit(put);
        trial.shard->turn();
    }
    trial.send_batches();
    trial.iterate();
    trial.iterate();
    trial.shard->hold_commits = false;
    trial.holds_batches = false;
    trial.run();
    EXPECT_FALSE(trial.pusher->is_idle()) << "the ack was refused";
    trial.run(1'000);
    EXPECT_EQ(trial.look(id).row.state.state, State::done);
    EXPECT_EQ(trial.values().size(), 1u);
}

TEST_P(KafkaPusherOf, releases_what_is_not_under_way_when_it_stops) {
    Trial trial(batches_of(10));
    hold(trial, 20);
    trial.pusher->stop();
    trial.run();
    EXPECT_EQ(trial.queue("q").leased, 1u);
    EXPECT_FALSE(trial.pusher->is_idle()) << "a batch is under way";
    trial.holds_batches = false;
    trial.run();
    EXPECT_TRUE(trial.pusher->is_idle());
    EXPECT_EQ(trial.values().size(), 1u);
    EXPECT_EQ(trial.queue("q").counts.pending, 19u);
}

TEST(KafkaPusher, stops_while_the_brokers_are_away) {
    Trial trial;
    trial.set_target("q", Trial::target());
    trial.holds_batches = true;
    trial.put("q", "body");
    trial.run();
    trial.kafka.is_up = false;
    trial.pusher->stop();
    trial.sender->stop();
    trial.holds_batches = false;
    trial.run();
    EXPECT_TRUE(trial.pusher->is_idle());
    EXPECT_EQ(trial.queue("q").leased, 0u);
    EXPECT_FALSE(trial.log.holds("kafka_unavailable")) << "it does not try again";
}

// Two servers with one name used to take their transactions from each other as fast as they could.
TEST(KafkaPusher, slows_down_beside_a_server_with_the_same_name) {
    Trial trial;
    trial.set_target("q", Trial::target());
    std::optional<KafkaSender> other;
    std::uint64_t randoms = 1'000;
    for (int second = 0; second < 300; ++second) {
        other.emplace(trial.kafka, trial.options, "other",
                      KafkaSender::Surroundings{[&] { return trial.kafka.now_us; }, [&] { return ++randoms; }},
                      trial.log);
        KafkaBatch opens;
        other->send(opens);
        trial.put("q", std::to_string(second));
        trial.run(1'000);
    }
    const std::uint64_t fenced = trial.pusher->counters().exactly_once.fenced;
    EXPECT_GE(fenced, 8u);
    EXPECT_LE(fenced, 12u) << "after 1, 2, 4, 8, 16, 32 and then 60 seconds";
    EXPECT_EQ(trial.log.count("kafka_fenced"), 1u);
    EXPECT_EQ(trial.pusher->target_status({"default", "q"}, trial.shard->engine().now()).state,
              TargetStatus::State::failed);
    other.reset();
    for (int pauses = 0; pauses < 3; ++pauses) trial.run(60'000);
    EXPECT_EQ(trial.values().size(), 300u) << "the last takeover costs one more pause";
    EXPECT_EQ(trial.queue("q").counts.dead, 0u);
}

TEST(KafkaPusher, does_not_send_again_what_it_sent_before_a_crash) {
    Trial trial;
    trial.set_target("q", Trial::target());
    for (int i = 0; i < 10; ++i) trial.put("q", std::to_string(i));
    trial.holds_batches = true;
    trial.run();
    trial.send_batches();  // committed, and the acks are lost
    trial.crash();
    trial.holds_batches = false;
    EXPECT_EQ(trial.values().size(), 1u);
    trial.set_target("q", Trial::target());
    trial.run(60'000);
    EXPECT_EQ(trial.values().size(), 10u);
    EXPECT_EQ(trial.queue("q").counts.pending, 0u);
    EXPECT_EQ(trial.pusher->counters().already_sent, 1u);
}

// The ack came too late, so the message comes again.
TEST(KafkaPusher, does_not_send_again_what_it_sent_under_a_lease_that_ended) {
    Trial trial;
    trial.set_target("q", Trial::target());
    trial.holds_batches = true;
    const MessageId id = trial.put("q", "body");
    trial.run();
    trial.tell("q", What::pause);
    trial.shard->turn(100'000);  // the pusher does not act meanwhile
    trial.holds_batches = false;
    trial.run();
    EXPECT_EQ(trial.pusher->counters().ended_late, 1u);
    EXPECT_EQ(trial.values(), Texts{"body"});
    EXPECT_NE(trial.look(id).row.state.state, State::done);
    trial.tell("q", What::resume);
    trial.run(10'000);
    EXPECT_EQ(trial.values(), Texts{"body"});
    EXPECT_EQ(trial.pusher->counters().already_sent, 1u);
    EXPECT_EQ(trial.look(id).row.state.state, State::done);
}

// Nothing leases it any more, so only a look at the engine tells that it has ended.
TEST(KafkaPusher, lets_the_ledger_forget_a_message_that_was_cancelled_after_a_crash) {
    Trial trial;
    trial.set_target("q", Trial::target());
    trial.holds_batches = true;
    const MessageId id = trial.put("q", "body");
    trial.run();
    trial.send_batches();
    trial.crash();
    trial.holds_batches = false;
    const auto cancelled = trial.shard->ask<ChangeAnswer>(CancelCommand{"default", id});
    EXPECT_TRUE(cancelled.maybe_delivered);
    trial.set_target("q", Trial::target());
    trial.run();
    trial.put("q", "next");
    trial.run();
    EXPECT_EQ(trial.pusher->counters().exactly_once.ledger_open, 1u) << "the one that was just sent";
    EXPECT_EQ(trial.values(), (Texts{"body", "next"}));
}

// The commit is unknown and the brokers are away: the messages stay leased, so that no cancel says that it came in
// time.
TEST(KafkaPusher, keeps_the_leases_of_what_may_have_been_sent) {
    for (const KafkaFault fault : {KafkaFault::lost_answer, KafkaFault::unreachable}) {
        Trial trial;
        trial.set_target("q", Trial::target());
        const MessageId id = trial.put("q", "body");
        trial.kafka.on_call = [&](const KafkaCall& call) {
            if (call.kind != KafkaCall::commit) return KafkaFault::none;
            trial.kafka.is_up = false;
            return fault;
        };
        trial.run();
        trial.kafka.on_call = nullptr;
        for (int seconds = 0; seconds < 300; ++seconds) trial.run(1'000);
        EXPECT_EQ(trial.look(id).row.state.state, State::leased);
        EXPECT_EQ(trial.shard->ask<ChangeAnswer>(CancelCommand{"default", id}).outcome, ChangeOutcome::in_flight);
        trial.kafka.is_up = true;
        trial.run(30'000);
        EXPECT_EQ(trial.look(id).row.state.state, State::done);
        EXPECT_EQ(trial.look(id).row.state.attempts, 1u);
        EXPECT_EQ(trial.values(), Texts{"body"});
    }
}

}  // namespace
}  // namespace duewheel::kafka_pusher_test
