// The pusher over a real engine, with a client that the test answers for.
#include "delivery/webhook_pusher.h"

#include <algorithm>
#include <deque>
#include <map>

#include <gtest/gtest.h>

#include "engine/trial_engine.h"
#include "support/recording_log.h"

namespace duewheel {
namespace {

using What = ConfigureQueueCommand::What;
using Kind = WebhookAnswer::Kind;

constexpr std::int64_t kTimeoutMs = 5'000;

std::string field_of(const WebhookRequest& request, std::string_view name) {
    for (const auto& [each, value] : request.fields) {
        if (each == name) return value;
    }
    return "-";
}

class Trial {
  public:
    explicit Trial(WebhookOptions chosen = {}, EngineOptions engine_options = {})
        : options(std::move(chosen)), shard(engine_options) {
        pusher.emplace(shard.engine(), options, secrets,
                       WebhookPusher::Surroundings{[this](Command command, ReplyToken token) {
                                                       shard.engine().submit(std::move(command), token);
                                                   },
                                                   [this](WebhookRequest request, WebhookClient::Done done) {
                                                       sent.push_back({std::move(request), std::move(done)});
                                                   },
                                                   [](std::string_view) {
                                                       return HeaderFields{{"X-Kept", "1"}};
                                                   },
                                                   [] { return std::int64_t{1'700'000'000'000}; }},
                       log);
    }

    void set_target(const std::string& queue, WebhookTarget target, const std::string& name_space = "default") {
        ConfigureQueueCommand command;
        command.name_space = name_space;
        command.queue = queue;
        command.settings.webhook = std::move(target);
        command.settings.retry.jitter_permille = 0;
        command.keeps_pause = true;
        shard.ask<QueueAnswer>(command);
        run();
    }
    static WebhookTarget target(std::string url = "http://example.com/in", std::uint32_t concurrency = 4,
                                std::uint32_t rate = 0) {
        return {std::move(url), {}, kTimeoutMs, concurrency, rate};
    }
    QueueAnswer queue(const std::string& name) { return shard.ask<QueueAnswer>(DescribeQueueCommand{"default", name}); }
    QueueAnswer tell(const std::string& name, What what) {
        const QueueAnswer answer = shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", name, what, {}});
        run();
        return answer;
    }

    // Turns of pusher and engine until neither has anything to do at this instant.
    void run(std::int64_t step_ms = 0) {
        for (int turns = 0; turns < 1'000; ++turns) {
            shard.engine().set_time(shard.engine().now() + step_ms);
            pusher->act(shard.engine().now());
            shard.turn(std::exchange(step_ms, 0));
            hand_over();
            if (pusher->next_wakeup(shard.engine().now()) > shard.engine().now()) return;
        }
        FAIL() << "it turns for ever";
    }
    void answer(std::size_t which, WebhookAnswer with) {
        ASSERT_LT(which, sent.size());
        Sent one = std::move(sent[which]);
        sent.erase(sent.begin() + static_cast<std::ptrdiff_t>(which));
        one.done(std::move(with));
        run();
    }
    void answer_first(int status, std::int64_t retry_after_s = 0) {
        WebhookAnswer with;
        with.kind = Kind::answered;
        with.status = status;
        with.retry_after_s = retry_after_s;
        answer(0, std::move(with));
    }
    void end_first(Kind kind) {
        WebhookAnswer with;
        with.kind = kind;
        with.text = "why";
        answer(0, std::move(with));
    }
    void put_other(const std::string& queue, const std::string& body) {
        PutCommand put;
        put.name_space = "other";
        put.queue = queue;
        put.body = body;
        shard.ask<PutAnswer>(std::move(put));
    }
    MessageAnswer look(MessageId id) { return shard.ask<MessageAnswer>(GetCommand{"default", id}); }
    std::vector<std::string> bodies() const {
        std::vector<std::string> all;
        for (const Sent& each : sent) all.push_back(each.request.body);
        return all;
    }

    struct Sent {
        WebhookRequest request;
        WebhookClient::Done done;
    };
    WebhookOptions options;
    WebhookSecrets secrets;
    RecordingLog log;
    TrialEngine shard;
    std::deque<Sent> sent;
    std::optional<WebhookPusher> pusher;

  private:
    void hand_over() {
        std::vector<std::pair<ReplyToken, Reply>> mine;
        for (auto& [token, reply] : shard.replies) {
            if ((token & WebhookPusher::kTokenBit) != 0) mine.emplace_back(token, std::move(reply));
        }
        for (auto& [token, reply] : mine) {
            shard.replies.erase(token);
            pusher->reply(token, std::move(reply));
        }
        shard.turn();
        const bool more = std::any_of(shard.replies.begin(), shard.replies.end(),
                                      [](const auto& each) { return (each.first & WebhookPusher::kTokenBit) != 0; });
        if (more) hand_over();
    }
};

TEST(WebhookPusher, posts_what_is_due_and_acknowledges_what_was_taken) {
    Trial trial;
    trial.set_target("q", Trial::target("http://example.com:81/in?a=1"));
    const MessageId id = trial.shard.put(1'000);
    trial.run();
    EXPECT_TRUE(trial.sent.empty()) << "not before it is due";
    trial.run(1'000);
    ASSERT_EQ(trial.bodies(), std::vector<std::string>{"body"});
    const WebhookRequest& request = trial.sent[0].request;
    EXPECT_EQ(request.url.text(), "http://example.com:81/in?a=1");
    EXPECT_EQ(request.timeout.count(), kTimeoutMs);
    EXPECT_EQ(field_of(request, "webhook-id"), std::to_string(id));
    EXPECT_EQ(field_of(request, "webhook-timestamp"), "1700000000");
    EXPECT_EQ(field_of(request, "duewheel-attempt"), "1");
    EXPECT_EQ(field_of(request, "X-Kept"), "-") << "it has no headers";
    EXPECT_EQ(trial.look(id).row.state.state, State::leased);
    EXPECT_FALSE(trial.pusher->is_idle());
    trial.answer_first(204);
    EXPECT_EQ(trial.look(id).row.state.state, State::done);
    EXPECT_TRUE(trial.pusher->is_idle());
    EXPECT_EQ(trial.pusher->counters().delivered, 1u);
    EXPECT_EQ(trial.pusher->counters().bytes_under_way, 0u);
}

TEST(WebhookPusher, sleeps_while_nothing_is_due) {
    Trial trial;
    for (int i = 0; i < 50; ++i) trial.set_target("q" + std::to_string(i), Trial::target());
    trial.run();
    EXPECT_EQ(trial.pusher->next_wakeup(trial.shard.engine().now()), WebhookPusher::kNoWakeup);
    EXPECT_EQ(trial.shard.engine().counters().waiters, 50u) << "they wait in the engine";
    trial.run(100'000'000);
    EXPECT_EQ(trial.shard.engine().counters().waiters, 50u) << "for as long as it takes";
}

TEST(WebhookPusher, a_failure_is_one_by_the_messages_own_rule) {
    Trial trial;
    trial.set_target("q", Trial::target());
    PutCommand put;
    put.queue = "q";
    put.body = "b";
    put.retry = {2, 3'000, 1'000, 3'000, 0};
    const MessageId id = trial.shard.ask<PutAnswer>(put).id;
    trial.run();
    trial.answer_first(500);
    EXPECT_EQ(trial.look(id).row.state.state, State::retrying);
    EXPECT_EQ(trial.look(id).row.state.due_ms, trial.shard.engine().now() + 3'000);
    trial.run(2'999);
    EXPECT_TRUE(trial.sent.empty());
    trial.run(1);
    ASSERT_EQ(trial.sent.size(), 1u);
    EXPECT_EQ(field_of(trial.sent[0].request, "webhook-id"), std::to_string(id)) << "the same in every attempt";
    EXPECT_EQ(field_of(trial.sent[0].request, "duewheel-attempt"), "2");
    trial.answer_first(404);
    EXPECT_EQ(trial.look(id).row.state.state, State::dead);
    EXPECT_EQ(trial.look(id).row.reason, "answered 404");
}

TEST(WebhookPusher, a_redirect_is_a_failure) {
    Trial trial;
    trial.set_target("q", Trial::target());
    const MessageId id = trial.shard.put(0);
    trial.run();
    trial.answer_first(307);
    EXPECT_EQ(trial.look(id).row.state.state, State::retrying);
    EXPECT_EQ(trial.pusher->counters().refused, 1u);
    EXPECT_EQ(trial.pusher->counters().targets_open, 0u);
}

TEST(WebhookPusher, has_no_more_under_way_than_the_target_may_have) {
    Trial trial;
    trial.set_target("q", Trial::target("http://example.com/in", 3));
    for (int i = 0; i < 10; ++i) trial.shard.put(0, std::to_string(i));
    trial.run();
    EXPECT_EQ(trial.bodies(), (std::vector<std::string>{"0", "1", "2"}));
    trial.answer_first(200);
    EXPECT_EQ(trial.bodies(), (std::vector<std::string>{"1", "2", "3"}));
    for (int i = 0; i < 9; ++i) trial.answer_first(200);
    EXPECT_TRUE(trial.sent.empty());
    EXPECT_EQ(trial.pusher->counters().delivered, 10u);
    EXPECT_EQ(trial.queue("q").counts.pending, 0u);
}

// A post that lasts for all of its timeout is still under way when another lease would have ended.
TEST(WebhookPusher, holds_its_lease_for_longer_than_a_post_may_take) {
    Trial trial;
    WebhookTarget patient = Trial::target();
    patient.timeout_ms = 120'000;
    trial.set_target("q", patient);
    const MessageId id = trial.shard.put(0);
    trial.run();
    for (int i = 0; i < 12; ++i) trial.run(10'000);
    EXPECT_EQ(trial.sent.size(), 1u) << "once at a time";
    EXPECT_EQ(trial.look(id).row.state.state, State::leased);
    trial.answer_first(200);
    EXPECT_EQ(trial.look(id).row.state.state, State::done);
}

TEST(WebhookPusher, keeps_to_the_rate) {
    Trial trial;
    trial.set_target("q", Trial::target("http://example.com/in", 100, 5));
    for (int i = 0; i < 20; ++i) trial.shard.put(0, std::to_string(i));
    std::size_t posted = 0;
    for (int tenths = 0; tenths < 30; ++tenths) {
        trial.run(100);
        posted += trial.sent.size();
        ASSERT_LE(posted, 1u + static_cast<std::size_t>(tenths + 1) / 2);
        while (!trial.sent.empty()) trial.answer_first(200);
    }
    EXPECT_GE(posted, 15u);
}

TEST(WebhookPusher, leaves_a_target_alone_that_asks_for_it_and_its_message_too) {
    Trial trial;
    trial.set_target("q", Trial::target("http://example.com/in", 1));
    const MessageId first = trial.shard.put(0, "first");
    trial.shard.put(0, "second");
    trial.run();
    trial.answer_first(503, 30);
    EXPECT_EQ(trial.look(first).row.state.due_ms, trial.shard.engine().now() + 30'000) << "its rule says a second";
    trial.run(29'999);
    EXPECT_TRUE(trial.sent.empty()) << "nor is another one posted";
    trial.run(1);
    EXPECT_EQ(trial.sent.size(), 1u);
}

TEST(WebhookPusher, a_target_does_not_have_itself_left_alone_for_ever) {
    WebhookOptions options;
    options.retry_after_max_ms = 10'000;
    Trial trial(options);
    trial.set_target("q", Trial::target());
    const MessageId id = trial.shard.put(0);
    trial.run();
    trial.answer_first(429, 1'000'000'000);
    EXPECT_EQ(trial.look(id).row.state.due_ms, trial.shard.engine().now() + 10'000);
}

TEST(WebhookPusher, a_target_that_is_gone_pauses_its_queue_and_costs_no_attempt) {
    Trial trial;
    trial.set_target("q", Trial::target("http://example.com/in", 1));
    const MessageId id = trial.shard.put(0, "first");
    trial.shard.put(0, "second");
    trial.run();
    trial.answer_first(410);
    EXPECT_TRUE(trial.sent.empty());
    const QueueAnswer queue = trial.queue("q");
    EXPECT_TRUE(queue.settings.paused);
    EXPECT_EQ(queue.settings.paused_by, PausedBy::target);
    EXPECT_EQ(queue.counts.pending, 2u);
    EXPECT_TRUE(trial.log.holds("webhook_target_gone"));
    trial.run(1'000'000);
    EXPECT_TRUE(trial.sent.empty());
    EXPECT_EQ(trial.tell("q", What::resume).settings.paused_by, PausedBy::user);
    ASSERT_EQ(trial.sent.size(), 1u);
    EXPECT_EQ(field_of(trial.sent[0].request, "webhook-id"), std::to_string(id));
    trial.answer_first(200);
    trial.answer_first(200);
    EXPECT_EQ(trial.queue("q").counts.pending, 0u);
}

// The disk is full, so that its pause cannot be written; cleaning carries the queue's settings meanwhile. That was told
// as of a queue that goes on, and one more message was posted.
TEST(WebhookPusher, a_target_that_is_gone_is_left_alone_while_its_pause_cannot_be_written) {
    Trial trial;
    trial.set_target("q", Trial::target("http://example.com/in", 1));
    const Sequence place = trial.shard.engine().totals().sequence;
    trial.shard.put(0, "first");
    trial.shard.put(0, "second");
    trial.run();
    trial.shard.engine().set_log_space(LogSpace::reserve);
    trial.answer_first(410);
    EXPECT_TRUE(trial.sent.empty());
    EXPECT_FALSE(trial.queue("q").settings.paused);
    EXPECT_TRUE(trial.shard.ask<CarryAnswer>(CarrySettingsCommand{"default", "q", place}).carried);
    trial.run();
    EXPECT_TRUE(trial.sent.empty());
    trial.shard.engine().set_log_space(LogSpace::enough);
    trial.run(1'000);
    EXPECT_TRUE(trial.queue("q").settings.paused);
    trial.tell("q", What::resume);
    EXPECT_EQ(trial.sent.size(), 1u);
}

// The change and the message were on disk with one commit, and the message went where the queue had sent them before.
TEST(WebhookPusher, a_message_goes_where_its_queue_sends_them_when_it_is_leased) {
    Trial trial;
    trial.set_target("q", Trial::target("http://example.com/old"));
    ConfigureQueueCommand change;
    change.queue = "q";
    change.settings.webhook = Trial::target("http://example.com/new");
    trial.shard.submit(change);
    PutCommand put;
    put.queue = "q";
    trial.shard.submit(put);
    trial.run();
    ASSERT_EQ(trial.sent.size(), 1u);
    EXPECT_EQ(trial.sent[0].request.url.text(), "http://example.com/new");
}

// The answer is about a target that the queue does not have any more.
TEST(WebhookPusher, a_target_that_is_gone_pauses_no_queue_that_has_another_by_now) {
    Trial trial;
    trial.set_target("q", Trial::target("http://example.com/old"));
    trial.shard.put(0);
    trial.run();
    trial.set_target("q", Trial::target("http://example.com/new"));
    trial.answer_first(410);
    EXPECT_FALSE(trial.queue("q").settings.paused);
    ASSERT_EQ(trial.sent.size(), 1u);
    EXPECT_EQ(trial.sent[0].request.url.text(), "http://example.com/new");
}

TEST(WebhookPusher, a_paused_queue_posts_nothing_until_it_is_resumed) {
    Trial trial;
    trial.set_target("q", Trial::target());
    trial.tell("q", What::pause);
    trial.shard.put(0);
    trial.run();
    EXPECT_TRUE(trial.sent.empty());
    EXPECT_EQ(trial.queue("q").waiters, 0u);
    trial.tell("q", What::resume);
    EXPECT_EQ(trial.sent.size(), 1u);
}

TEST(WebhookPusher, a_queue_that_is_leased_from_again_is_posted_no_more) {
    Trial trial;
    trial.set_target("q", Trial::target());
    ConfigureQueueCommand pull;
    pull.queue = "q";
    trial.shard.ask<QueueAnswer>(pull);
    trial.run();
    trial.shard.put(0);
    trial.run();
    EXPECT_TRUE(trial.sent.empty());
    EXPECT_EQ(trial.pusher->counters().targets, 0u);
    EXPECT_EQ(trial.shard.lease().size(), 1u);
}

// Its messages would be posted unsigned, or not at all while they use up their attempts.
TEST(WebhookPusher, posts_nothing_that_it_cannot_sign) {
    Trial trial;
    WebhookTarget target = Trial::target();
    target.secrets = {"gone_from_the_configuration"};
    trial.set_target("q", target);
    trial.shard.put(0);
    trial.run();
    EXPECT_TRUE(trial.sent.empty());
    EXPECT_TRUE(trial.log.holds("webhook_unfit"));
    EXPECT_EQ(trial.queue("q").counts.pending, 1u);
    trial.set_target("q", Trial::target());
    EXPECT_EQ(trial.sent.size(), 1u);
}

TEST(WebhookPusher, tries_a_target_that_does_not_work_now_and_then_without_using_up_attempts) {
    Trial trial;
    trial.set_target("q", Trial::target("http://example.com/in", 5));
    for (int i = 0; i < 50; ++i) trial.shard.put(0, std::to_string(i));
    trial.run();
    for (int i = 0; i < 5; ++i) trial.end_first(Kind::unreachable);
    while (!trial.sent.empty()) trial.end_first(Kind::timed_out);
    EXPECT_TRUE(trial.log.holds("webhook_target_rests"));
    EXPECT_EQ(trial.pusher->counters().targets_open, 1u);
    const std::uint64_t posted = trial.pusher->counters().posted;
    for (int seconds = 0; seconds < 300; ++seconds) {
        trial.run(1'000);
        ASSERT_LE(trial.sent.size(), 1u);
        if (!trial.sent.empty()) trial.end_first(Kind::unreachable);
    }
    EXPECT_LE(trial.pusher->counters().posted - posted, 12u) << "1, 2, 4, ... 60 seconds apart";
    EXPECT_GE(trial.pusher->counters().posted - posted, 8u);
    trial.run(60'000);
    ASSERT_EQ(trial.sent.size(), 1u);
    trial.answer_first(200);
    EXPECT_TRUE(trial.log.holds("webhook_target_works"));
    EXPECT_EQ(trial.pusher->counters().targets_open, 0u);
    EXPECT_EQ(trial.sent.size(), 5u) << "as many as it may have";
}

TEST(WebhookPusher, one_target_that_hangs_holds_up_no_other) {
    WebhookOptions options;
    options.connections_max = 8;
    Trial trial(options);
    trial.set_target("hangs", Trial::target("http://a.example/", 6));
    trial.set_target("works", Trial::target("http://b.example/", 6));
    for (int i = 0; i < 100; ++i) trial.shard.put(0, "never", "hangs");
    trial.run();
    EXPECT_EQ(trial.sent.size(), 6u);
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

// Ten targets of a namespace that never answered took all connections there were, and nobody else's messages were
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
    EXPECT_EQ(trial.sent.size(), 20u);
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

TEST(WebhookPusher, takes_no_more_into_memory_than_it_may) {
    WebhookOptions options;
    options.bytes_under_way_max = 10'000;
    EngineOptions engine_options;
    engine_options.lease_bytes_max = 3'000;
    Trial trial(options, engine_options);
    trial.set_target("q", Trial::target("http://example.com/in", 100));
    for (int i = 0; i < 50; ++i) trial.shard.put(0, std::string(1'000, 'x'));
    trial.run();
    EXPECT_GE(trial.sent.size(), 8u) << "four fifths";
    EXPECT_LE(trial.pusher->counters().bytes_under_way, 13'000u);
    while (!trial.sent.empty()) trial.answer_first(200);
    EXPECT_EQ(trial.pusher->counters().delivered, 50u);
}

TEST(WebhookPusher, when_it_stops_ends_what_is_posted_and_takes_nothing_new) {
    Trial trial;
    trial.set_target("q", Trial::target("http://example.com/in", 1));
    const MessageId first = trial.shard.put(0, "first");
    trial.shard.put(0, "second");
    trial.run();
    trial.shard.engine().stop_waiting();
    trial.pusher->stop();
    trial.run();
    EXPECT_FALSE(trial.pusher->is_idle());
    trial.answer_first(200);
    EXPECT_TRUE(trial.pusher->is_idle());
    EXPECT_TRUE(trial.sent.empty());
    EXPECT_EQ(trial.look(first).row.state.state, State::done);
    EXPECT_EQ(trial.queue("q").counts.pending, 1u);
    EXPECT_EQ(trial.queue("q").leased, 0u);
}

// Too much waits for the disk, or it is full: a post that was taken is not to be made again for that.
TEST(WebhookPusher, an_ack_that_is_refused_for_now_is_tried_again) {
    EngineOptions few;
    few.commands_waiting_max = 1;
    Trial trial({}, few);
    trial.set_target("q", Trial::target());
    const MessageId id = trial.shard.put(0);
    trial.run();
    trial.shard.hold_commits = true;
    PutCommand other;
    other.queue = "other";
    for (int i = 0; i < 2; ++i) {  // one is being written, and one waits for that
        trial.shard.submit(other);
        trial.shard.turn();
    }
    trial.answer_first(200);
    EXPECT_FALSE(trial.pusher->is_idle());
    trial.run(5'000);
    EXPECT_FALSE(trial.pusher->is_idle());
    trial.shard.hold_commits = false;
    trial.run();  // what waited is written
    trial.run(1'000);
    EXPECT_TRUE(trial.pusher->is_idle());
    EXPECT_EQ(trial.look(id).row.state.state, State::done);
    EXPECT_TRUE(trial.sent.empty());
}

TEST(WebhookPusher, an_answer_after_the_lease_is_counted_and_the_message_comes_again) {
    Trial trial;
    trial.set_target("q", Trial::target("http://example.com/in", 4));
    const MessageId id = trial.shard.put(0);
    trial.run();
    trial.run(kTimeoutMs + 31'000);  // the client kept silent for longer than it may
    ASSERT_EQ(trial.sent.size(), 2u);
    trial.answer_first(200);
    EXPECT_EQ(trial.pusher->counters().ended_late, 1u);
    EXPECT_EQ(trial.look(id).row.state.state, State::leased);
    trial.answer_first(200);
    EXPECT_EQ(trial.look(id).row.state.state, State::done);
}

}  // namespace
}  // namespace duewheel
