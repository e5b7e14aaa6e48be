// Watchdogs: when they fire, over feeds, crashes and full queues, and the state that they report.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_watchdogs_test {
namespace {

PutWatchdogCommand watchdog(std::int64_t timeout_ms, std::int64_t max_ms = 0, std::int64_t repeat_every_ms = 0,
                            std::string name = "w") {
    PutWatchdogCommand command{.name = std::move(name)};
    command.rule = {.timeout_ms = timeout_ms, .max_ms = max_ms, .repeat_every_ms = repeat_every_ms};
    command.rule.queue = "q";
    command.body = "silent";
    command.headers = R"({"a":"b"})";
    return command;
}

PutWatchdogCommand with_body(PutWatchdogCommand command, std::string body) {
    command.rule.content_hash = std::hash<std::string>{}(body);
    command.body = std::move(body);
    command.feeds = true;
    return command;
}

FedAnswer feed(TrialEngine& shard, const std::string& name = "w") {
    return shard.ask<FedAnswer>(FeedWatchdogCommand{"default", name});
}

WatchdogAnswer look(TrialEngine& shard, const std::string& name = "w") {
    return shard.ask<WatchdogAnswer>(DescribeWatchdogCommand{"default", name});
}

void limit_pending(TrialEngine& shard, std::uint64_t most) {
    ConfigureQueueCommand limit{.queue = "q"};
    limit.settings.pending_max = most;
    shard.ask<QueueAnswer>(limit);
}

void ack(TrialEngine& shard, const Delivered& message) {
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{message.lease}).outcome, LeaseOutcome::done);
}

TEST(Watchdogs, one_without_feeds_fires_once_and_sleeps_until_it_is_fed) {
    TrialEngine shard;
    const WatchdogAnswer put = shard.ask<WatchdogAnswer>(watchdog(1'000));
    EXPECT_TRUE(put.created);
    EXPECT_EQ(put.state.due_ms, kStart + 1'000) << "being set up is its first feed";
    const std::vector<Delivered> fired = shard.lease_after(1'000);
    ASSERT_EQ(fired.size(), 1u);
    EXPECT_EQ(fired[0].watchdog, "w");
    EXPECT_EQ(fired[0].schedule, "");
    EXPECT_EQ(fired[0].due_ms, kStart + 1'000);
    EXPECT_EQ(fired[0].fed_ms, kStart);
    EXPECT_EQ(fired[0].occurrence, 1u);
    EXPECT_EQ(fired[0].body, "silent");
    EXPECT_EQ(fired[0].headers, R"({"a":"b"})");
    const MessageAnswer message = shard.ask<MessageAnswer>(GetCommand{"default", fired[0].id});
    EXPECT_EQ(message.watchdog, "w");
    EXPECT_EQ(message.fed_ms, kStart);
    shard.turn(20'000);
    EXPECT_TRUE(shard.lease().empty());
    const WatchdogAnswer asleep = look(shard);
    EXPECT_TRUE(asleep.state.is_asleep());
    EXPECT_EQ(asleep.state.fired, 1u);
    EXPECT_EQ(asleep.state.last_id, fired[0].id);
    EXPECT_EQ(asleep.body, "silent");
    const FedAnswer late = feed(shard);
    EXPECT_TRUE(late.late);
    EXPECT_EQ(late.fired, 1u);
    EXPECT_EQ(late.due_ms, kStart + 22'000);
    shard.turn(1'000);
    EXPECT_EQ(shard.lease().at(0).occurrence, 2u);
    EXPECT_EQ(shard.engine().counters().watchdog_firings, 2u);
    EXPECT_EQ(shard.engine().counters().watchdog_feeds, 2u);
    EXPECT_EQ(shard.engine().counters().watchdog_feeds_late, 1u);
}

TEST(Watchdogs, one_that_is_fed_in_time_is_silent_and_a_feed_is_a_small_record) {
    TrialEngine shard;
    PutWatchdogCommand large = watchdog(1'000);
    large.body = std::string(100'000, 'x');
    shard.ask<WatchdogAnswer>(large);
    for (int times = 0; times < 100; ++times) {
        shard.turn(999);
        const FedAnswer fed = feed(shard);
        EXPECT_FALSE(fed.late);
        EXPECT_EQ(fed.due_ms, shard.engine().now() + 1'000);
    }
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(shard.engine().counters().spawned, 0u);
    std::size_t whole = 0;
    for (const RuleRecord& record : shard.records<RuleRecord>()) {
        whole += record.is_whole();
        EXPECT_TRUE(record.is_whole() || record.content.body.empty());
    }
    EXPECT_EQ(whole, 1u);
}

TEST(Watchdogs, it_fires_after_a_quiet_time_up_to_its_maximum_with_the_newest_content) {
    TrialEngine shard;
    shard.ask<WatchdogAnswer>(with_body(watchdog(30, 100), "0"));
    for (int change = 1; change <= 5; ++change) {
        shard.turn(20);
        shard.ask<WatchdogAnswer>(with_body(watchdog(30, 100), std::to_string(change)));
    }
    const std::vector<Delivered> bound = shard.lease();  // fed at 0, 20, 40, 60, 80, and at 100 it had fired
    ASSERT_EQ(bound.size(), 1u);
    EXPECT_EQ(bound[0].due_ms, kStart + 100);
    EXPECT_EQ(bound[0].fed_ms, kStart + 80);
    EXPECT_EQ(bound[0].body, "4") << "what it held when the message was made";
    shard.turn(30);
    const std::vector<Delivered> quiet = shard.lease();
    ASSERT_EQ(quiet.size(), 1u);
    EXPECT_EQ(quiet[0].due_ms, kStart + 130) << "the bound is counted anew";
    EXPECT_EQ(quiet[0].body, "5");
}

TEST(Watchdogs, set_again_it_is_fed_only_on_request) {
    TrialEngine shard;
    shard.ask<WatchdogAnswer>(watchdog(1'000));
    shard.turn(600);
    const std::size_t records = shard.log().size();
    const WatchdogAnswer same = shard.ask<WatchdogAnswer>(watchdog(1'000));
    EXPECT_FALSE(same.created);
    EXPECT_EQ(same.state.due_ms, kStart + 1'000);
    EXPECT_EQ(same.late, std::nullopt);
    EXPECT_EQ(shard.log().size(), records);
    PutWatchdogCommand fed = watchdog(1'000);
    fed.feeds = true;
    const WatchdogAnswer again = shard.ask<WatchdogAnswer>(fed);
    EXPECT_EQ(again.state.due_ms, kStart + 1'600);
    EXPECT_EQ(again.late, false);
    EXPECT_FALSE(std::get<RuleRecord>(shard.log().back()).is_whole()) << "its content is there already";
    const WatchdogAnswer longer = shard.ask<WatchdogAnswer>(watchdog(5'000));
    EXPECT_EQ(longer.state.due_ms, kStart + 5'600) << "another timeout counts from the last feed";
    shard.turn(600);
    EXPECT_EQ(shard.ask<WatchdogAnswer>(watchdog(10)).state.due_ms, kStart + 1'200) << "never in the past";
    EXPECT_EQ(shard.lease().size(), 1u);
}

TEST(Watchdogs, with_repeat_every_it_fires_until_it_is_fed) {
    TrialEngine shard;
    shard.ask<WatchdogAnswer>(watchdog(100, 0, 40));
    shard.turn(100);
    shard.turn(40);
    shard.turn(40);
    const std::vector<Delivered> fired = shard.lease();
    ASSERT_EQ(fired.size(), 3u);
    EXPECT_EQ(fired[2].due_ms, kStart + 180);
    EXPECT_EQ(fired[2].fed_ms, kStart);
    EXPECT_TRUE(feed(shard).late);
    EXPECT_EQ(shard.lease_after(100).at(0).due_ms, kStart + 280);
}

TEST(Watchdogs, a_feed_at_the_due_instant_is_too_late_and_the_message_is_created) {
    TrialEngine shard;
    shard.ask<WatchdogAnswer>(watchdog(100));
    shard.turn(99);
    const ReplyToken token = shard.submit(FeedWatchdogCommand{"default", "w"});
    shard.turn(1);
    const FedAnswer fed = shard.take<FedAnswer>(token);
    EXPECT_TRUE(fed.late);
    EXPECT_EQ(fed.due_ms, kStart + 200);
    const std::vector<Delivered> fired = shard.lease();
    ASSERT_EQ(fired.size(), 1u);
    EXPECT_EQ(fired[0].due_ms, kStart + 100);
    EXPECT_EQ(fired[0].fed_ms, kStart);
    EXPECT_EQ(shard.lease_after(100).at(0).due_ms, kStart + 200);
}

TEST(Watchdogs, a_feed_waits_for_a_firing_that_is_being_committed) {
    TrialEngine shard;
    shard.ask<WatchdogAnswer>(watchdog(100));
    shard.turn(99);
    shard.hold_commits = true;
    shard.turn(1);  // the firing is in flight
    const ReplyToken token = shard.submit(FeedWatchdogCommand{"default", "w"});
    shard.turn(5);
    EXPECT_FALSE(shard.replies.contains(token));
    shard.hold_commits = false;
    shard.turn(5);
    const FedAnswer fed = shard.take<FedAnswer>(token);
    EXPECT_TRUE(fed.late);
    EXPECT_EQ(fed.fired, 1u);
    EXPECT_EQ(fed.due_ms, kStart + 210);
    EXPECT_EQ(shard.lease().size(), 1u);
}

TEST(Watchdogs, a_feed_that_is_being_committed_delays_the_firing) {
    TrialEngine shard;
    shard.ask<WatchdogAnswer>(watchdog(100));
    shard.turn(99);
    shard.hold_commits = true;
    const ReplyToken token = shard.submit(FeedWatchdogCommand{"default", "w"});
    shard.turn(0);
    shard.turn(50);  // due meanwhile, had the feed not come in time
    shard.hold_commits = false;
    shard.turn(0);
    EXPECT_FALSE(shard.take<FedAnswer>(token).late);
    EXPECT_TRUE(shard.lease().empty());
    shard.turn(50);
    EXPECT_EQ(shard.lease().at(0).due_ms, kStart + 199);
}

// It fell due while its feed was on the way to the disk. Its queue was full, so it was told to come again as if it had
// to fire, and forgot when it was due by the feed (seed 1000152 of the simulator).
TEST(Watchdogs, one_that_is_fed_in_time_does_not_wait_for_capacity_in_its_queue) {
    TrialEngine shard;
    shard.put(0);
    limit_pending(shard, 1);
    shard.ask<WatchdogAnswer>(watchdog(100));
    shard.turn(99);
    shard.hold_commits = true;
    const ReplyToken token = shard.submit(FeedWatchdogCommand{"default", "w"});
    shard.turn(0);
    shard.turn(50);
    shard.hold_commits = false;
    shard.turn(0);  // which checks the engine
    EXPECT_FALSE(shard.take<FedAnswer>(token).late);
    shard.ask<LeaseEndAnswer>(AckCommand{shard.lease().at(0).lease});
    shard.turn(50);
    EXPECT_EQ(shard.lease().at(0).due_ms, kStart + 199);
}

TEST(Watchdogs, one_that_waits_for_capacity_shows_the_reason) {
    TrialEngine shard;
    const MessageId in_the_way = shard.put(500'000);
    limit_pending(shard, 1);
    shard.ask<WatchdogAnswer>(watchdog(100));
    EXPECT_EQ(look(shard).blocked_by, ErrorCode::none);
    shard.turn(100);
    EXPECT_EQ(look(shard).blocked_by, "queue_full"_code);
    shard.ask<ChangeAnswer>(CancelCommand{"default", in_the_way});
    shard.turn(EngineOptions{}.spawn_again_ms);
    EXPECT_EQ(shard.lease().size(), 1u);
    EXPECT_EQ(look(shard).blocked_by, ErrorCode::none);
}

// A put that fed it and made its timeout shorter was judged by the new rule: it fired at once, though it was fed in
// time, and said so.
TEST(Watchdogs, a_put_that_feeds_it_and_shortens_its_timeout_counts_from_now) {
    TrialEngine shard;
    shard.ask<WatchdogAnswer>(watchdog(10'000));
    shard.turn(5'000);
    PutWatchdogCommand shorter = watchdog(1'000);
    shorter.feeds = true;
    const WatchdogAnswer changed = shard.ask<WatchdogAnswer>(shorter);
    EXPECT_EQ(changed.late, false);
    EXPECT_EQ(changed.state.due_ms, kStart + 6'000);
    EXPECT_EQ(changed.state.owed_ms, 0);
    ASSERT_EQ(shard.lease_after(1'000).size(), 1u);
    PutWatchdogCommand longer = watchdog(20'000);
    longer.feeds = true;
    EXPECT_EQ(shard.ask<WatchdogAnswer>(longer).late, true) << "it had fired";
}

TEST(Watchdogs, a_put_that_feeds_it_cannot_exceed_its_new_maximum) {
    TrialEngine shard;
    shard.ask<WatchdogAnswer>(watchdog(1'000, 60'000));
    shard.turn(900);
    feed(shard);
    shard.turn(900);
    PutWatchdogCommand bounded = watchdog(1'000, 1'500);
    bounded.feeds = true;
    const WatchdogAnswer changed = shard.ask<WatchdogAnswer>(bounded);
    EXPECT_EQ(changed.late, false);
    EXPECT_EQ(changed.state.due_ms, kStart + 1'800) << "the first feed and the bound have passed: at once";
    EXPECT_EQ(shard.lease().at(0).fed_ms, kStart + 1'800);
}

TEST(Watchdogs, while_its_queue_is_full_it_waits_and_may_be_fed_without_loss_or_duplicates) {
    TrialEngine shard;
    shard.put(0);
    limit_pending(shard, 1);
    shard.ask<WatchdogAnswer>(watchdog(100));
    shard.turn(100);
    shard.turn(50);
    EXPECT_EQ(look(shard).state.fired, 0u);
    EXPECT_TRUE(feed(shard).late);
    EXPECT_FALSE(feed(shard).late) << "it is owed already";
    shard.turn(50);
    ack(shard, shard.lease().at(0));
    shard.turn(2'000);
    const std::vector<Delivered> owed = shard.lease();
    ASSERT_EQ(owed.size(), 1u);
    EXPECT_EQ(owed[0].watchdog, "w");
    EXPECT_EQ(owed[0].due_ms, kStart + 100);
    EXPECT_EQ(owed[0].fed_ms, kStart);
    ack(shard, owed[0]);
    shard.turn(2'000);
    const std::vector<Delivered> second = shard.lease();
    ASSERT_EQ(second.size(), 1u);
    EXPECT_EQ(second[0].due_ms, kStart + 250);
    EXPECT_EQ(second[0].occurrence, 2u);
    ack(shard, second[0]);
    shard.turn(10'000);
    EXPECT_TRUE(shard.lease().empty());
}

TEST(Watchdogs, time_that_jumps_forward_fires_it_once) {
    TrialEngine shard;
    shard.ask<WatchdogAnswer>(watchdog(1'000));
    shard.ask<WatchdogAnswer>(watchdog(1'000, 0, 250, "again"));
    shard.turn(86'400'000);
    const std::vector<Delivered> fired = shard.lease();
    ASSERT_EQ(fired.size(), 2u);
    for (const Delivered& message : fired) EXPECT_EQ(message.due_ms, kStart + 1'000);
    EXPECT_EQ(look(shard, "again").state.merged, (86'400'000u - 1'000u) / 250u);
    shard.turn(250);
    EXPECT_EQ(shard.lease().size(), 1u);
}

TEST(Watchdogs, a_feed_that_was_answered_counts_after_a_crash) {
    TrialEngine before;
    before.ask<WatchdogAnswer>(watchdog(100));
    before.turn(90);
    feed(before);
    before.hold_commits = true;
    before.turn(60);
    before.submit(FeedWatchdogCommand{"default", "w"});  // at 150: on the way to the disk when the process dies
    before.turn(0);
    TrialEngine after({}, before);
    after.turn(39);
    EXPECT_TRUE(after.lease().empty());
    after.turn(1);
    const std::vector<Delivered> fired = after.lease();
    ASSERT_EQ(fired.size(), 1u);
    EXPECT_EQ(fired[0].due_ms, kStart + 190);
    EXPECT_EQ(fired[0].fed_ms, kStart + 90);
    EXPECT_EQ(fired[0].body, "silent");
}

TEST(Watchdogs, a_message_due_while_the_process_was_down_is_created_once_at_the_start) {
    TrialEngine first;
    first.ask<WatchdogAnswer>(watchdog(100));
    first.turn(100);
    TrialEngine second({}, first);
    EXPECT_EQ(second.lease().size(), 1u);
    second.turn(1'000);
    EXPECT_TRUE(second.lease().empty());
    feed(second);
    second.hold_commits = true;
    second.turn(100);  // the firing does not come to the disk
    TrialEngine third({}, second);
    third.turn(0);
    EXPECT_EQ(look(third).state.fired, 2u);
    const std::vector<Delivered> fired = third.lease();
    ASSERT_EQ(fired.size(), 1u) << "the lease of the first one outlives its process";
    EXPECT_EQ(fired[0].due_ms, kStart + 1'200);
}

TEST(Watchdogs, an_overdue_message_is_overdue_after_a_crash) {
    TrialEngine before;
    before.put(0);
    limit_pending(before, 1);
    before.ask<WatchdogAnswer>(watchdog(100));
    before.turn(100);
    feed(before);
    TrialEngine after({}, before);  // which knows nothing of the limit
    after.turn(0);
    EXPECT_EQ(look(after).state.fired, 1u);
    EXPECT_EQ(look(after).state.due_ms, kStart + 200);
    EXPECT_EQ(look(after).state.last_due_ms, kStart + 100);
}

TEST(Watchdogs, one_that_is_removed_fires_no_more) {
    TrialEngine shard;
    shard.ask<WatchdogAnswer>(watchdog(100));
    EXPECT_EQ(shard.ask<WatchdogAnswer>(RemoveWatchdogCommand{"default", "w"}).removed, true);
    EXPECT_EQ(shard.ask<WatchdogAnswer>(RemoveWatchdogCommand{"default", "w"}).removed, false);
    EXPECT_EQ(shard.ask<Error>(FeedWatchdogCommand{"default", "w"}).code, "unknown_watchdog"_code);
    shard.turn(1'000);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_TRUE(shard.ask<WatchdogAnswer>(watchdog(100)).created);
    EXPECT_EQ(look(shard).state.revision, 1u);
    EXPECT_EQ(shard.engine().counters().watchdogs, 1u);
    TrialEngine after({}, shard);
    after.turn(100);
    EXPECT_EQ(after.lease().size(), 1u);
}

TEST(Watchdogs, one_that_is_removed_while_its_content_is_read_creates_nothing) {
    TrialEngine before;
    before.ask<WatchdogAnswer>(watchdog(100));
    TrialEngine shard({}, before);  // its content is in the log alone
    shard.hold_lookups = true;
    shard.turn(100);
    EXPECT_EQ(shard.ask<WatchdogAnswer>(RemoveWatchdogCommand{"default", "w"}).removed, true);
    EXPECT_TRUE(shard.ask<WatchdogAnswer>(watchdog(500)).created) << "another one takes its place";
    shard.hold_lookups = false;
    shard.answer_lookups();
    shard.turn(100);
    EXPECT_TRUE(shard.lease().empty());
    shard.turn(400);
    EXPECT_EQ(shard.lease().size(), 1u);
}

TEST(Watchdogs, one_that_is_set_again_while_its_content_is_read_uses_the_new_content) {
    TrialEngine before;
    before.ask<WatchdogAnswer>(watchdog(100));
    TrialEngine shard({}, before);
    shard.hold_lookups = true;
    shard.turn(100);
    PutWatchdogCommand other = with_body(watchdog(500), "other");
    other.feeds = false;
    EXPECT_EQ(shard.ask<WatchdogAnswer>(other).state.due_ms, kStart + 100) << "what has come stays so";
    shard.hold_lookups = false;
    shard.answer_lookups();
    shard.turn(0);  // the old content is of no use
    shard.turn(0);
    EXPECT_EQ(shard.lease().at(0).body, "other");
}

TEST(Watchdogs, an_unknown_one_is_refused_with_the_nearest_name) {
    TrialEngine shard;
    shard.ask<WatchdogAnswer>(watchdog(100, 0, 0, "backup"));
    const Error slip = shard.ask<Error>(FeedWatchdogCommand{"default", "bakcup"});
    EXPECT_EQ(slip.code, "unknown_watchdog"_code);
    EXPECT_EQ(slip.field, "watchdog");
    EXPECT_NE(slip.message.find("`backup`"), std::string::npos) << slip.message;
    const Error other = shard.ask<Error>(DescribeWatchdogCommand{"default", "zzz"});
    EXPECT_EQ(other.message.find("`backup`"), std::string::npos) << other.message;
    const Error foreign = shard.ask<Error>(FeedWatchdogCommand{"other", "bakcup"});
    EXPECT_EQ(foreign.message.find("`backup`"), std::string::npos) << "a name of another namespace";
}

TEST(Watchdogs, what_makes_no_sense_is_refused) {
    TrialEngine shard;
    const auto field_of = [&](PutWatchdogCommand command) {
        const Error error = shard.ask<Error>(std::move(command));
        EXPECT_EQ(error.code, "out_of_range"_code);
        return error.field;
    };
    constexpr std::int64_t kCentury = 100LL * 366 * 24 * 3'600'000;
    EXPECT_EQ(field_of(watchdog(0)), "timeout");
    EXPECT_EQ(field_of(watchdog(kCentury + 1)), "timeout");
    EXPECT_EQ(field_of(watchdog(100, 99)), "max");
    EXPECT_EQ(field_of(watchdog(100, kCentury + 1)), "max");
    EXPECT_EQ(field_of(watchdog(100, 0, -1)), "repeat_every");
    EXPECT_EQ(field_of(watchdog(100, 0, kCentury + 1)), "repeat_every");
    PutWatchdogCommand lasting = watchdog(100);
    lasting.rule.expires_after_ms = EngineOptions().delay_max_ms + 1;
    EXPECT_EQ(field_of(lasting), "expires_in");
    PutWatchdogCommand tried = watchdog(100);
    tried.rule.retry.attempts = 0;
    EXPECT_EQ(field_of(tried), "retry.attempts");
    EXPECT_TRUE(shard.ask<WatchdogAnswer>(watchdog(kCentury, kCentury, kCentury)).created);
    EXPECT_EQ(look(shard).state.due_ms, kStart + kCentury);
}

TEST(Watchdogs, their_number_is_limited) {
    EngineOptions options;
    options.watchdogs_max = 2;
    TrialEngine shard(options);
    shard.ask<WatchdogAnswer>(watchdog(1'000, 0, 0, "a"));
    shard.ask<WatchdogAnswer>(watchdog(1'000, 0, 0, "b"));
    EXPECT_EQ(shard.ask<Error>(watchdog(1'000, 0, 0, "c")).code, "watchdog_limit"_code);
    EXPECT_FALSE(shard.ask<WatchdogAnswer>(watchdog(2'000, 0, 0, "b")).created) << "one that is there may be changed";
    EXPECT_FALSE(feed(shard, "a").late);
    shard.ask<WatchdogAnswer>(RemoveWatchdogCommand{"default", "a"});
    EXPECT_TRUE(shard.ask<WatchdogAnswer>(watchdog(1'000, 0, 0, "c")).created);
}

TEST(Watchdogs, two_feeds_at_once_are_one_after_the_other) {
    TrialEngine shard;
    shard.ask<WatchdogAnswer>(watchdog(100));
    shard.turn(100);
    shard.lease();
    const ReplyToken first = shard.submit(FeedWatchdogCommand{"default", "w"});
    const ReplyToken second = shard.submit(FeedWatchdogCommand{"default", "w"});
    shard.turn(0);
    EXPECT_TRUE(shard.take<FedAnswer>(first).late);
    EXPECT_FALSE(shard.take<FedAnswer>(second).late);
    EXPECT_EQ(look(shard).state.feeds, 3u);
}

TEST(Watchdogs, on_a_full_disk_it_may_be_fed_until_only_the_reserve_is_left_and_fires_when_there_is_space) {
    TrialEngine shard;
    shard.ask<WatchdogAnswer>(watchdog(100));
    shard.engine().set_log_space(LogSpace::scarce);
    EXPECT_EQ(shard.ask<Error>(watchdog(200)).code, "store_full"_code);
    EXPECT_FALSE(feed(shard).late);
    shard.engine().set_log_space(LogSpace::reserve);
    EXPECT_EQ(shard.ask<Error>(FeedWatchdogCommand{"default", "w"}).code, "store_full"_code);
    shard.turn(100);
    EXPECT_TRUE(shard.lease().empty());
    shard.engine().set_log_space(LogSpace::enough);
    shard.turn(2'000);
    EXPECT_EQ(shard.lease().at(0).due_ms, kStart + 100);
    shard.engine().set_log_space(LogSpace::reserve);
    EXPECT_EQ(shard.ask<WatchdogAnswer>(RemoveWatchdogCommand{"default", "w"}).removed, true);
}

TEST(Watchdogs, compaction_writes_it_completely_with_its_newest_feed) {
    TrialEngine shard;
    shard.ask<WatchdogAnswer>(watchdog(100));
    const Sequence log_position = shard.log().size();
    const std::string body = shard.record_body(log_position);
    shard.turn(50);
    feed(shard);
    const RelocateAnswer relocated =
        shard.ask<RelocateAnswer>(RelocateRuleCommand{Subject::watchdog, "default", "w", log_position, body});
    EXPECT_TRUE(relocated.relocated);
    const auto record = std::get<RuleRecord>(shard.log().at(relocated.sequence - 1));
    EXPECT_TRUE(record.is_whole());
    EXPECT_EQ(record.content.body, "silent");
    EXPECT_EQ(decode_watchdog(record.value)->due_ms, kStart + 150);
    EXPECT_FALSE(
        shard.ask<RelocateAnswer>(RelocateRuleCommand{Subject::watchdog, "default", "w", log_position, body}).relocated)
        << "it stands elsewhere now";
    EXPECT_EQ(look(shard).state.due_ms, kStart + 150);
    TrialEngine after({}, shard);
    after.turn(100);
    EXPECT_EQ(after.lease().at(0).body, "silent");
}

TEST(Watchdogs, one_with_the_name_of_a_schedule_is_independent) {
    TrialEngine shard;
    const TimesRule times{.kind = TimesKind::every, .every_ms = 70};
    PutScheduleCommand schedule{.name = "w", .times = *ScheduleTimes::make(times, &Zone::load)};
    schedule.rule.times = times;
    schedule.rule.queue = "q";
    shard.ask<ScheduleAnswer>(schedule);
    shard.ask<WatchdogAnswer>(watchdog(100));
    TrialEngine after({}, shard);
    after.turn(70);
    EXPECT_EQ(after.lease().at(0).schedule, "w");
    after.turn(30);
    EXPECT_EQ(after.lease().at(0).watchdog, "w");
    after.ask<ScheduleAnswer>(ControlScheduleCommand{"default", "w", ControlScheduleCommand::What::remove});
    EXPECT_EQ(look(after).state.fired, 1u);
}

TEST(Watchdogs, they_are_listed_by_name_and_namespace) {
    TrialEngine shard;
    for (const char* name : {"c", "a", "b"}) shard.ask<WatchdogAnswer>(watchdog(1'000, 0, 0, name));
    PutWatchdogCommand foreign = watchdog(1'000, 0, 0, "z");
    foreign.name_space = "other";
    shard.ask<WatchdogAnswer>(foreign);
    const WatchdogListAnswer first = shard.ask<WatchdogListAnswer>(ListWatchdogsCommand{"default", "", 2});
    ASSERT_EQ(first.watchdogs.size(), 2u);
    EXPECT_EQ(first.watchdogs[1].name, "b");
    EXPECT_FALSE(first.complete);
    const WatchdogListAnswer rest = shard.ask<WatchdogListAnswer>(ListWatchdogsCommand{"default", "b", 2});
    ASSERT_EQ(rest.watchdogs.size(), 1u);
    EXPECT_EQ(rest.watchdogs[0].name, "c");
    EXPECT_TRUE(rest.complete);
    EXPECT_EQ(shard.ask<Error>(ListWatchdogsCommand{"default", "", 0}).code, "out_of_range"_code);
}

TEST(Watchdogs, a_thousand_that_fall_silent_at_once_fire_one_by_one) {
    EngineOptions options;
    options.batch_operations_max = 16;
    options.firings_max = 4;
    TrialEngine before(options);
    constexpr std::size_t kCrowd = 300;
    for (std::size_t i = 0; i < kCrowd; ++i) before.submit(watchdog(1'000, 0, 0, "w" + std::to_string(i)));
    before.turn(0);
    TrialEngine shard(options, before);
    shard.turn(1'000);
    std::set<std::string> names;
    for (std::size_t left = kCrowd; left > 0; --left) {
        const std::vector<Delivered> fired = shard.lease(1);
        ASSERT_EQ(fired.size(), 1u);
        EXPECT_TRUE(names.insert(fired[0].watchdog).second) << fired[0].watchdog;
    }
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_TRUE(shard.engine().is_idle());
}

}  // namespace
}  // namespace duewheel::engine_watchdogs_test
