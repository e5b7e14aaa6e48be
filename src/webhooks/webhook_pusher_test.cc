// What the pusher posts, and the effect of each response on the message and its queue.
#include <fstream>

#include <sys/stat.h>

#include "support/temporary_directory.h"
#include "webhooks/webhook_fixture.h"

namespace duewheel::webhook_pusher_test {
namespace {

using Trial = WebhookTrial;

// Two messages of the queue q, whose target receives one post at a time.
MessageId post_first_of_two(Trial& trial) {
    trial.set_target("q", Trial::target("http://example.com/in", 1));
    const MessageId first = trial.shard.put(0, "first");
    trial.shard.put(0, "second");
    trial.run();
    return first;
}

TEST(WebhookPusher, posts_due_messages_and_acknowledges_accepted_ones) {
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
    EXPECT_EQ(trial.pusher->counters().bytes_in_flight, 0u);
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

TEST(WebhookPusher, a_failure_follows_the_rule_of_the_message) {
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

TEST(WebhookPusher, has_up_to_the_limit_of_the_target_in_flight) {
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

// A post that lasts for all of its timeout is still in progress when another lease would have ended.
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

// When the posts of the messages that are due now begin, in milliseconds from now. Each is answered at once.
std::vector<std::int64_t> post_times(Trial& trial, std::int64_t step_ms, std::int64_t until_ms) {
    std::vector<std::int64_t> times;
    for (std::int64_t at_ms = 0; at_ms <= until_ms; at_ms += step_ms) {
        trial.run(at_ms == 0 ? 0 : step_ms);
        while (!trial.sent.empty()) {
            times.push_back(at_ms);
            trial.answer_first(200);
        }
    }
    return times;
}

// Four messages that were due after a pause of three seconds, at one a second, were posted at 0, 0, 1 and 2 s.
TEST(WebhookPusher, keeps_to_the_rate_after_a_pause) {
    for (const std::uint32_t rate : {1u, 20u}) {
        Trial trial;
        trial.set_target("q", Trial::target("http://example.com/in", 100, rate));
        trial.run(3'000);
        trial.run(3'000);
        const std::size_t burst = std::max(rate / 10, 1u);
        for (std::size_t i = 0; i < burst + 3; ++i) trial.shard.put(0);
        const std::int64_t interval_ms = 1'000 / rate;
        std::vector<std::int64_t> expected(burst, 0);
        for (std::int64_t i = 1; i <= 3; ++i) expected.push_back(i * interval_ms);
        EXPECT_EQ(post_times(trial, interval_ms / 10, 5 * interval_ms), expected) << rate;
    }
}

// Messages that were leased one a second while their target waited for a connection were all posted when there was one.
TEST(WebhookPusher, keeps_to_the_rate_after_waiting_for_a_connection) {
    WebhookOptions options;
    options.connections_max = 1;
    Trial trial(options);
    trial.set_target("slow", Trial::target("http://a.example/"));
    trial.set_target("q", Trial::target("http://b.example/", 100, 1));
    trial.shard.put(0, "slow", "slow");
    trial.run();
    ASSERT_EQ(trial.bodies(), (std::vector<std::string>{"slow"}));
    for (int i = 0; i < 4; ++i) trial.shard.put(0);
    for (int i = 0; i < 3; ++i) trial.run(1'000);
    trial.answer_first(200);
    EXPECT_EQ(post_times(trial, 100, 3'500), (std::vector<std::int64_t>{0, 1'000, 2'000, 3'000}));
}

TEST(WebhookPusher, respects_retry_after_for_the_target_and_its_message) {
    Trial trial;
    const MessageId first = post_first_of_two(trial);
    trial.answer_first(503, 30);
    EXPECT_EQ(trial.look(first).row.state.due_ms, trial.shard.engine().now() + 30'000) << "its rule says a second";
    trial.run(29'999);
    EXPECT_TRUE(trial.sent.empty()) << "nor is another one posted";
    trial.run(1);
    EXPECT_EQ(trial.sent.size(), 1u);
}

TEST(WebhookPusher, limits_the_retry_after_of_a_target) {
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
    const MessageId id = post_first_of_two(trial);
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
TEST(WebhookPusher, a_target_that_is_gone_receives_no_posts_while_its_pause_cannot_be_written) {
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
    EXPECT_TRUE(trial.shard.ask<RelocateAnswer>(RelocateSettingsCommand{"default", "q", place}).relocated);
    trial.run();
    EXPECT_TRUE(trial.sent.empty());
    trial.shard.engine().set_log_space(LogSpace::enough);
    trial.run(1'000);
    EXPECT_TRUE(trial.queue("q").settings.paused);
    trial.tell("q", What::resume);
    EXPECT_EQ(trial.sent.size(), 1u);
}

// It was not reported, and only another URL ended it.
TEST(WebhookPusher, a_long_wait_that_a_target_requests_is_logged_and_ends_with_a_pause) {
    Trial trial;
    trial.set_target("q", Trial::target());
    trial.shard.put(0, "body", "q");
    trial.run();
    ASSERT_EQ(trial.sent.size(), 1u);
    trial.answer_first(429, 3'600);
    EXPECT_TRUE(trial.log.holds("webhook_target_retry_after"));
    trial.shard.put(0, "next", "q");
    trial.run(60'000);
    EXPECT_TRUE(trial.sent.empty());
    trial.tell("q", What::pause);
    trial.tell("q", What::resume);
    ASSERT_EQ(trial.sent.size(), 1u);
    EXPECT_EQ(trial.sent[0].request.body, "next");
}

// The change and the message were on disk with one commit, and the message went where the queue had sent them before.
TEST(WebhookPusher, a_message_is_posted_to_the_target_at_the_time_of_its_lease) {
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
TEST(WebhookPusher, a_target_that_is_gone_does_not_pause_a_queue_with_a_new_target) {
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

TEST(WebhookPusher, a_queue_without_its_webhook_is_not_posted_any_more) {
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
    EXPECT_TRUE(trial.log.holds("webhook_misconfigured"));
    EXPECT_EQ(trial.queue("q").counts.pending, 1u);
    trial.set_target("q", Trial::target());
    EXPECT_EQ(trial.sent.size(), 1u);
}

// With a wrong key the posts would lack their authorisation, or show the ciphertext.
TEST(WebhookPusher, posts_nothing_while_the_key_of_a_header_is_missing) {
    TemporaryDirectory directory;
    WebhookOptions keyed;
    keyed.encryption_key_file = directory.path() + "/key";
    std::ofstream(keyed.encryption_key_file) << std::string(64, 'a');
    ASSERT_EQ(::chmod(keyed.encryption_key_file.c_str(), 0600), 0);
    const HeaderCipher cipher = *HeaderCipher::read(keyed, directory.path() + "/data");
    WebhookTarget target = Trial::target();
    target.headers = {{"Authorization", "Bearer s3cret"}};
    WebhookTarget sealed = target;
    cipher.seal({"default", "q"}, sealed);

    Trial trial;
    trial.set_target("q", sealed);
    trial.shard.put(0);
    trial.run();
    EXPECT_TRUE(trial.sent.empty());
    EXPECT_TRUE(trial.log.holds("webhook_misconfigured"));
    EXPECT_EQ(trial.pusher->target_status({"default", "q"}, trial.shard.engine().now()).state,
              TargetStatus::State::unfit);
    EXPECT_FALSE(trial.log.holds("webhook_headers_unencrypted"));

    trial.cipher = cipher;
    target.rate = 5;
    trial.set_target("q", target);
    ASSERT_EQ(trial.sent.size(), 1u);
    EXPECT_EQ(field_of(trial.sent[0].request, "Authorization"), "Bearer s3cret");
    EXPECT_TRUE(trial.log.holds("webhook_headers_unencrypted")) << "it was set without the key";
    sealed.rate = 6;
    trial.set_target("q", sealed);
    trial.answer_first(500);
    trial.run(60'000);
    ASSERT_EQ(trial.sent.size(), 1u);
    EXPECT_EQ(field_of(trial.sent[0].request, "Authorization"), "Bearer s3cret");
}

TEST(WebhookPusher, probes_a_failing_target_without_using_attempts) {
    Trial trial;
    trial.set_target("q", Trial::target("http://example.com/in", 5));
    for (int i = 0; i < 50; ++i) trial.shard.put(0, std::to_string(i));
    trial.run();
    for (int i = 0; i < 5; ++i) trial.end_first(Kind::unreachable);
    while (!trial.sent.empty()) trial.end_first(Kind::timed_out);
    EXPECT_TRUE(trial.log.holds("webhook_target_failing"));
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
    EXPECT_TRUE(trial.log.holds("webhook_target_recovered"));
    EXPECT_EQ(trial.pusher->counters().targets_open, 0u);
    EXPECT_EQ(trial.sent.size(), 5u) << "as many as it may have";
}

// One that asked to be left alone for an hour when it was tried was said to rest for its failures.
TEST(WebhookPusher, reports_the_reason_of_a_backoff) {
    Trial trial;
    trial.set_target("q", Trial::target("http://example.com/in", 5));
    for (int i = 0; i < 50; ++i) trial.shard.put(0, std::to_string(i));
    trial.run();
    const auto seen = [&] { return trial.pusher->target_status({"default", "q"}, trial.shard.engine().now()); };
    EXPECT_EQ(seen().state, TargetStatus::State::works);
    while (!trial.sent.empty()) trial.end_first(Kind::unreachable);
    EXPECT_EQ(seen().state, TargetStatus::State::failed);
    for (int seconds = 0; seconds < 10 && trial.sent.empty(); ++seconds) trial.run(1'000);
    ASSERT_EQ(trial.sent.size(), 1u);
    trial.answer_first(429, 3'600);
    EXPECT_EQ(seen().state, TargetStatus::State::retry_after);
    EXPECT_EQ(seen().backoff_until_ms, trial.shard.engine().now() + 3'600'000);
}

// Messages are leased while it works, and their bodies come late: its target failed and rested meanwhile, and is to be
// tried again. All of them were posted at once.
TEST(WebhookPusher, probes_with_one_message_even_if_more_are_leased) {
    Trial trial;
    trial.set_target("q", Trial::target("http://example.com/in", 10));
    for (int i = 0; i < 5; ++i) trial.shard.put(0, std::to_string(i));
    trial.run();
    ASSERT_EQ(trial.sent.size(), 5u);
    for (int i = 5; i < 10; ++i) trial.shard.put(1'000, std::to_string(i));
    trial.holds_leases = true;
    trial.run(1'000);
    ASSERT_EQ(trial.queue("q").leased, 10u);
    for (int i = 0; i < 5; ++i) trial.end_first(Kind::unreachable);
    EXPECT_TRUE(trial.log.holds("webhook_target_failing"));
    trial.run(1'000);
    trial.holds_leases = false;
    trial.run();
    EXPECT_EQ(trial.sent.size(), 1u);
    EXPECT_EQ(trial.queue("q").leased, 1u) << "the others are given back";
    trial.answer_first(200);
    EXPECT_GT(trial.sent.size(), 1u);
}

// One that was posted to the URL of before ends while the first try on the new one is in progress.
TEST(WebhookPusher, a_post_to_another_url_is_not_a_probe) {
    Trial trial;
    trial.set_target("q", Trial::target("http://example.com/old", 10));
    for (int i = 0; i < 20; ++i) trial.shard.put(0, std::to_string(i));
    trial.run();
    while (!trial.sent.empty()) trial.end_first(Kind::unreachable);
    trial.run(1'000);
    ASSERT_EQ(trial.sent.size(), 1u) << "a try on the old one";
    trial.set_target("q", Trial::target("http://example.com/new", 10));
    ASSERT_GT(trial.sent.size(), 5u);
    while (trial.sent.size() > 1) trial.answer(1, {.kind = Kind::unreachable, .text = "why"});
    trial.run(1'000);
    ASSERT_EQ(trial.sent.size(), 2u) << "and a try on the new one";
    trial.end_first(Kind::unreachable);
    EXPECT_EQ(trial.sent.size(), 1u);
}

TEST(WebhookPusher, when_it_stops_completes_posts_and_leases_nothing) {
    Trial trial;
    const MessageId first = post_first_of_two(trial);
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
TEST(WebhookPusher, an_ack_that_is_refused_temporarily_is_retried) {
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

TEST(WebhookPusher, a_response_after_the_lease_is_counted_and_the_message_is_delivered_again) {
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
}  // namespace duewheel::webhook_pusher_test
