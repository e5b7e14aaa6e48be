// Groups of a queue: turns, limits, rates, backoff, and groups whose messages are on disk.
#include <gtest/gtest.h>

#include "engine/trial/trial_engine.h"

namespace duewheel::engine_groups_test {
namespace {

MessageId put(TrialEngine& shard, std::string group, std::int64_t delay_ms = 0, int priority = 0) {
    PutCommand command{.queue = "q"};
    command.when.delay_ms = delay_ms;
    command.group = std::move(group);
    command.priority = priority;
    command.body = "body";
    return shard.ask<PutAnswer>(std::move(command)).id;
}

void configure(TrialEngine& shard, const std::function<void(QueueSettings&)>& change) {
    shard.ask<QueueAnswer>(PatchQueueCommand{"default", "q", [change](QueueSettings& settings) {
                                                 change(settings);
                                                 return Status();
                                             }});
}

GroupAnswer change(TrialEngine& shard, std::string group, const std::function<void(GroupSettings&, DueMs)>& with) {
    return shard.ask<GroupAnswer>(
        ChangeGroupCommand{"default", "q", std::move(group), [with](GroupSettings& settings, DueMs now) {
                               with(settings, now);
                               return Status();
                           }});
}

GroupAnswer describe(TrialEngine& shard, std::string group) {
    return shard.ask<GroupAnswer>(DescribeGroupCommand{"default", "q", std::move(group)});
}

using Ids = std::vector<MessageId>;

Ids lease(TrialEngine& shard, std::uint32_t max = 10) {
    Ids all;
    for (const Delivered& message : shard.lease(max)) all.push_back(message.id);
    shard.engine().check();
    return all;
}

void ack(TrialEngine& shard, const Delivered& message) {
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{message.lease}).outcome, LeaseOutcome::done);
}

// Leases one message and acknowledges it; 0: there is none.
MessageId serve(TrialEngine& shard) {
    const std::vector<Delivered> messages = shard.lease(1);
    if (messages.empty()) return 0;
    ack(shard, messages[0]);
    return messages[0].id;
}

TEST(Groups, take_turns_and_messages_without_a_group_take_one_too) {
    TrialEngine shard;
    Ids large;
    for (int i = 0; i < 5; ++i) large.push_back(put(shard, "large"));
    const MessageId first = put(shard, "small");
    const MessageId plain = put(shard, "");
    const MessageId second = put(shard, "small");
    EXPECT_EQ(lease(shard), (Ids{large[0], first, plain, large[1], second, large[2], large[3], large[4]}));
}

TEST(Groups, within_a_group_the_order_is_by_priority_then_due_time) {
    TrialEngine shard;
    const MessageId late = put(shard, "g", 20);
    const MessageId early = put(shard, "g", 10);
    const MessageId urgent = put(shard, "g", 30, -1);
    shard.turn(50);
    EXPECT_EQ(lease(shard), (Ids{urgent, early, late}));
}

TEST(Groups, a_weight_is_the_number_of_deliveries_in_a_turn) {
    TrialEngine shard;
    change(shard, "heavy", [](GroupSettings& to, DueMs) { to.weight = 3; });
    Ids heavy, light;
    for (int i = 0; i < 6; ++i) heavy.push_back(put(shard, "heavy"));
    for (int i = 0; i < 3; ++i) light.push_back(put(shard, "light"));
    EXPECT_EQ(lease(shard),
              (Ids{heavy[0], heavy[1], heavy[2], light[0], heavy[3], heavy[4], heavy[5], light[1], light[2]}));
}

TEST(Groups, a_group_at_its_limit_delays_no_other) {
    TrialEngine shard;
    configure(shard, [](QueueSettings& to) { to.group_leased_max = 2; });
    Ids busy;
    for (int i = 0; i < 5; ++i) busy.push_back(put(shard, "busy"));
    const MessageId quiet = put(shard, "quiet");
    const std::vector<Delivered> messages = shard.lease();
    ASSERT_EQ(messages.size(), 3u);
    EXPECT_EQ(messages[0].id, busy[0]);
    EXPECT_EQ(messages[1].id, quiet);
    EXPECT_EQ(messages[2].id, busy[1]);
    EXPECT_TRUE(lease(shard).empty());
    const GroupAnswer group = describe(shard, "busy");
    EXPECT_EQ(group.limited_by, LimitedBy::leased);
    EXPECT_EQ(group.leased, 2u);
    EXPECT_EQ(group.ready, 3u);
    ack(shard, messages[0]);
    EXPECT_EQ(lease(shard), Ids{busy[2]});
    EXPECT_TRUE(lease(shard).empty());
}

TEST(Groups, a_consumer_that_waits_gets_a_message_when_the_limit_allows_one) {
    TrialEngine shard;
    configure(shard, [](QueueSettings& to) { to.leased_max = 1; });
    put(shard, "");
    const MessageId second = put(shard, "");
    const std::vector<Delivered> messages = shard.lease();
    ASSERT_EQ(messages.size(), 1u);
    const ReplyToken waiting = shard.submit(LeaseCommand{"default", "q", 10, 30'000, 60'000});
    shard.turn(1'000);
    EXPECT_FALSE(shard.replies.contains(waiting));
    ack(shard, messages[0]);
    shard.turn();
    const auto answer = shard.take<LeaseAnswer>(waiting);
    ASSERT_EQ(answer.messages.size(), 1u);
    EXPECT_EQ(answer.messages[0].id, second);
}

TEST(Groups, an_own_limit_overrides_that_of_the_queue_and_its_removal_ends_it) {
    TrialEngine shard;
    configure(shard, [](QueueSettings& to) { to.group_leased_max = 1; });
    change(shard, "large", [](GroupSettings& to, DueMs) { to.leased_max = 3; });
    for (int i = 0; i < 5; ++i) put(shard, "large");
    EXPECT_EQ(lease(shard).size(), 3u);
    change(shard, "large", [](GroupSettings& to, DueMs) { to.leased_max = 4; });
    EXPECT_EQ(lease(shard).size(), 1u);
    change(shard, "large", [](GroupSettings& to, DueMs) { to = {}; });
    EXPECT_TRUE(lease(shard).empty());
    EXPECT_EQ(describe(shard, "large").settings, GroupSettings{});
}

TEST(Groups, a_limit_below_what_is_leased_ends_nothing) {
    TrialEngine shard;
    for (int i = 0; i < 4; ++i) put(shard, "g");
    const std::vector<Delivered> messages = shard.lease(3);
    configure(shard, [](QueueSettings& to) { to.group_leased_max = 1; });
    ack(shard, messages[0]);
    ack(shard, messages[1]);
    EXPECT_TRUE(lease(shard).empty());
    ack(shard, messages[2]);
    EXPECT_EQ(lease(shard).size(), 1u);
}

TEST(Groups, a_rate_lets_as_many_through_as_it_says) {
    TrialEngine shard;
    shard.turn(10'000);
    configure(shard, [](QueueSettings& to) { to.group_rate = RateRule{10, 0, 2}; });
    for (int i = 0; i < 50; ++i) put(shard, "a");
    for (int i = 0; i < 50; ++i) put(shard, "b");
    EXPECT_EQ(lease(shard, 100).size(), 4u);  // two at once of each
    std::size_t delivered = 0;
    for (int i = 0; i < 100; ++i) {
        shard.turn(10);
        delivered += lease(shard, 100).size();
    }
    EXPECT_EQ(delivered, 20u);  // in a second
    EXPECT_EQ(describe(shard, "a").limited_by, LimitedBy::rate);
}

// A raised rate delivered nothing until the debt of the one before was paid.
TEST(Groups, a_raised_rate_counts_at_once) {
    TrialEngine shard;
    shard.turn(10'000);
    configure(shard, [](QueueSettings& to) { to.group_rate = RateRule{10, 60'000, 100}; });
    for (int i = 0; i < 300; ++i) put(shard, "a");
    EXPECT_EQ(lease(shard, 300).size(), 100u);
    EXPECT_TRUE(lease(shard, 300).empty());
    change(shard, "a", [](GroupSettings& to, DueMs) { to.rate = RateRule{1'000, 0, 0}; });
    shard.turn(150);
    EXPECT_GT(lease(shard, 300).size(), 40u);
}

TEST(Groups, a_rate_of_the_queue_is_for_all_of_its_messages) {
    TrialEngine shard;
    shard.turn(10'000);
    configure(shard, [](QueueSettings& to) { to.rate = RateRule{1, 60'000, 0}; });
    const MessageId first = put(shard, "a");
    put(shard, "");
    EXPECT_EQ(lease(shard), Ids{first});
    const ReplyToken waiting = shard.submit(LeaseCommand{"default", "q", 10, 30'000, 60'000});
    shard.turn(59'999);
    EXPECT_FALSE(shard.replies.contains(waiting));
    shard.turn(1);
    EXPECT_EQ(shard.take<LeaseAnswer>(waiting).messages.size(), 1u);
}

TEST(Groups, a_group_that_backs_off_is_served_again_after_that) {
    TrialEngine shard;
    change(shard, "api", [](GroupSettings& to, DueMs now) { to.backoff_until_ms = now + 5'000; });
    const MessageId held = put(shard, "api");
    const MessageId other = put(shard, "other");
    EXPECT_EQ(lease(shard), Ids{other});
    EXPECT_EQ(describe(shard, "api").limited_by, LimitedBy::backoff);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", held}).blocked_by, "group_backoff"_code);
    const ReplyToken waiting = shard.submit(LeaseCommand{"default", "q", 10, 30'000, 60'000});
    shard.turn(4'999);
    EXPECT_FALSE(shard.replies.contains(waiting));
    shard.turn(1);
    const auto answer = shard.take<LeaseAnswer>(waiting);
    ASSERT_EQ(answer.messages.size(), 1u);
    EXPECT_EQ(answer.messages[0].id, held);
}

TEST(Groups, settings_outlive_the_process) {
    TrialEngine before;
    change(before, "g", [](GroupSettings& to, DueMs) { to.leased_max = 1; });
    put(before, "g");
    put(before, "g");
    TrialEngine after({}, before, 0);
    EXPECT_EQ(describe(after, "g").settings.leased_max, 1u);
    EXPECT_EQ(lease(after).size(), 1u);
}

EngineOptions small() {
    EngineOptions options;
    options.ready_max = 16;
    options.load_chunk = 8;
    options.idle_backlog = 8;
    return options;
}

// Fills the index with due messages of a group, as a run has left them.
std::function<void(TrialEngine&)> with_rows(std::string group, int count) {
    return [=](TrialEngine& shard) {
        for (int i = 1; i <= count; ++i) {
            MessageRow row;
            row.id = static_cast<MessageId>(i) * kShardsMax;
            row.log_position = 1;
            row.state.queue = "q";
            row.state.group = group;
            row.state.due_ms = row.state.nominal_due_ms = kStart - 1'000 + i;
            shard.index[row.id] = row;
        }
    };
}

EngineStart start_behind(int count) {
    EngineStart start;
    start.totals.id_counter = static_cast<std::uint64_t>(count) + 1;
    start.load_cursor_ms = kStart;
    start.queue_cursors.push_back({{"default", "q"}, {kStart - 1'000, 0}});
    return start;
}

// A million messages of one group must not keep those of others on disk.
TEST(Groups, a_group_with_a_backlog_on_disk_delays_no_other) {
    TrialEngine shard(small(), start_behind(200), with_rows("large", 200));
    put(shard, "quiet");
    shard.turn();
    EXPECT_LT(shard.engine().counters().in_memory, 60u);
    const GroupAnswer group = describe(shard, "large");
    EXPECT_GE(group.ready, 1u);
    EXPECT_TRUE(group.is_ready_min);
    shard.hold_lookups = true;  // their bodies are in no log
    static_cast<void>(shard.submit(LeaseCommand{"default", "q", 2, 30'000, 0}));
    shard.turn();
    EXPECT_EQ(describe(shard, "quiet").leased, 1u);
    EXPECT_EQ(describe(shard, "large").leased, 1u);
}

TEST(Groups, a_limited_group_with_a_backlog_on_disk_is_not_read_again_and_again) {
    TrialEngine shard(small(), start_behind(100), with_rows("large", 100));
    change(shard, "large", [](GroupSettings& to, DueMs now) { to.backoff_until_ms = now + 60'000; });
    EXPECT_TRUE(lease(shard).empty());
    const std::uint64_t lookups = shard.engine().counters().lookups;
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(lease(shard).empty());
    EXPECT_EQ(shard.engine().counters().lookups, lookups);
    EXPECT_LT(shard.engine().counters().in_memory, 30u);
}

TEST(Groups, many_groups_are_known_only_while_they_have_something) {
    TrialEngine shard;
    for (int i = 0; i < 100; ++i) put(shard, "g" + std::to_string(i));
    EXPECT_EQ(shard.ask<GroupListAnswer>(ListGroupsCommand{"default", "q"}).known, 100u);
    while (serve(shard) != 0) continue;
    EXPECT_EQ(shard.ask<GroupListAnswer>(ListGroupsCommand{"default", "q"}).known, 0u);
}

TEST(Groups, a_list_has_the_largest_backlog_first) {
    TrialEngine shard;
    for (int i = 0; i < 3; ++i) put(shard, "b");
    put(shard, "a");
    for (int i = 0; i < 2; ++i) put(shard, "c");
    const auto list = shard.ask<GroupListAnswer>(ListGroupsCommand{"default", "q", GroupOrder::backlog, "", false, 2});
    ASSERT_EQ(list.groups.size(), 2u);
    EXPECT_EQ(list.groups[0].group, "b");
    EXPECT_EQ(list.groups[0].ready, 3u);
    EXPECT_EQ(list.groups[1].group, "c");
    EXPECT_FALSE(list.complete);
    EXPECT_EQ(list.known, 3u);
}

std::vector<std::string> names(const std::vector<GroupAnswer>& groups) {
    std::vector<std::string> all;
    for (const GroupAnswer& group : groups) all.push_back(group.group);
    return all;
}

TEST(Groups, a_list_may_have_only_those_that_a_limit_keeps) {
    TrialEngine shard;
    configure(shard, [](QueueSettings& to) { to.group_leased_max = 1; });
    for (const char* group : {"a", "a", "b", "c", "c"}) put(shard, group);
    const std::vector<Delivered> messages = shard.lease();
    ASSERT_EQ(messages.size(), 3u);
    ListGroupsCommand list{"default", "q"};
    list.only_limited = true;
    const auto limited = shard.ask<GroupListAnswer>(list);
    EXPECT_EQ(names(limited.groups), (std::vector<std::string>{"a", "c"}));
    EXPECT_EQ(limited.known, 3u);
    const std::vector<QueueCounters> queues = shard.engine().busiest_queues(1);
    EXPECT_EQ(queues.at(0).groups, 3u);
    EXPECT_EQ(queues.at(0).limited_groups, 2u);
}

// A list of 100,000 groups took 75 ms, in which the engine did nothing else.
TEST(Groups, a_list_visits_some_groups_in_an_iteration) {
    EngineOptions options;
    options.group_chunk = 10;
    TrialEngine shard(options);
    for (int i = 10; i < 55; ++i) put(shard, "g" + std::to_string(i));
    for (const int large : {11, 54, 30}) put(shard, "g" + std::to_string(large));
    const ReplyToken token = shard.submit(ListGroupsCommand{"default", "q", GroupOrder::backlog, "", false, 4});
    int iterations = 0;
    for (; !shard.replies.contains(token) && iterations < 100; ++iterations) shard.turn();
    EXPECT_EQ(iterations, 5);
    const auto list = shard.take<GroupListAnswer>(token);
    EXPECT_EQ(names(list.groups), (std::vector<std::string>{"g11", "g30", "g54", "g10"}));
    EXPECT_FALSE(list.complete);
    EXPECT_EQ(list.known, 45u);
}

TEST(Groups, a_list_by_name_goes_on_after_a_name) {
    TrialEngine shard;
    for (const char* group : {"d", "a", "c", "b"}) put(shard, group);
    const auto page = [&](std::string after) {
        return shard.ask<GroupListAnswer>(
            ListGroupsCommand{"default", "q", GroupOrder::name, std::move(after), false, 2});
    };
    EXPECT_EQ(names(page("").groups), (std::vector<std::string>{"a", "b"}));
    EXPECT_FALSE(page("").complete);
    EXPECT_EQ(names(page("b").groups), (std::vector<std::string>{"c", "d"}));
    EXPECT_TRUE(page("b").complete);
}

TEST(Groups, the_busiest_are_those_with_the_most_ready_and_leased_messages) {
    TrialEngine shard;
    for (const char* group : {"a", "b", "b", "c", "c", "c"}) put(shard, group);
    change(shard, "idle", [](GroupSettings& to, DueMs) { to.weight = 2; });
    lease(shard, 2);
    const std::vector<GroupAnswer> busiest = shard.engine().busiest_groups(2);
    EXPECT_EQ(names(busiest), (std::vector<std::string>{"c", "b"}));
    EXPECT_EQ(busiest[0].ready + busiest[0].leased, 3u);
    EXPECT_EQ(names(shard.engine().busiest_groups(10)), (std::vector<std::string>{"c", "b", "a"}));
}

TEST(Groups, of_more_groups_than_are_visited_at_once_the_next_read_has_the_busiest) {
    EngineOptions options;
    options.group_chunk = 10;
    TrialEngine shard(options);
    for (int i = 10; i < 55; ++i) put(shard, "g" + std::to_string(i));
    put(shard, "g54");
    EXPECT_TRUE(shard.engine().busiest_groups(1).empty());
    while (shard.engine().next_wakeup() <= shard.engine().now()) shard.turn();
    put(shard, "g54");
    const std::vector<GroupAnswer> busiest = shard.engine().busiest_groups(1);
    ASSERT_EQ(names(busiest), std::vector<std::string>{"g54"});
    EXPECT_EQ(busiest[0].ready, 3u);
}

// It stayed until compaction came to its record, and counted as a group with settings.
TEST(Groups, a_backoff_that_has_passed_leaves_nothing) {
    TrialEngine shard;
    change(shard, "empty", [](GroupSettings& to, DueMs now) { to.backoff_until_ms = now + 5'000; });
    change(shard, "busy", [](GroupSettings& to, DueMs now) { to.backoff_until_ms = now + 5'000; });
    change(shard, "light", [](GroupSettings& to, DueMs now) {
        to.backoff_until_ms = now + 5'000;
        to.weight = 2;
    });
    put(shard, "busy");
    TrialEngine next({}, shard, 4'990);
    for (TrialEngine* each : {&shard, &next}) {
        each->turn(each == &shard ? 5'000 : 10);
        each->turn();
        EXPECT_EQ(names(each->ask<GroupListAnswer>(ListGroupsCommand{"default", "q", GroupOrder::name}).groups),
                  (std::vector<std::string>{"busy", "light"}));
        EXPECT_TRUE(each->records<ConfRecord>().back().value.empty());
        EXPECT_TRUE(each->engine().is_idle());
    }
    EXPECT_NE(serve(next), 0u);
    TrialEngine after({}, next, 0);
    EXPECT_EQ(names(after.ask<GroupListAnswer>(ListGroupsCommand{"default", "q"}).groups),
              std::vector<std::string>{"light"});
}

// Each of these showed a limit where nothing waited, or none, or no instant.
TEST(Groups, what_limits_a_group_is_shown_while_it_keeps_something_and_since_when) {
    TrialEngine before;
    change(before, "g", [](GroupSettings& to, DueMs) { to.rate = RateRule{1, 60'000, 0}; });
    TrialEngine shard({}, before, 0);
    EXPECT_EQ(describe(shard, "g").limited_by, LimitedBy::nothing) << "nothing waits";
    put(shard, "g");
    EXPECT_EQ(describe(shard, "g").limited_by, LimitedBy::rate);
    EXPECT_EQ(describe(shard, "g").limited_since_ms, shard.engine().now());
    shard.turn(60'000);
    EXPECT_EQ(describe(shard, "g").limited_by, LimitedBy::nothing);
    configure(shard, [](QueueSettings& to) { to.leased_max = 1; });
    put(shard, "h");
    EXPECT_EQ(lease(shard, 1).size(), 1u);
    const DueMs since_ms = shard.engine().now();
    shard.turn(1'000);
    const GroupAnswer kept = describe(shard, describe(shard, "g").ready > 0 ? "g" : "h");
    EXPECT_EQ(kept.limited_by, LimitedBy::queue_leased);
    EXPECT_EQ(kept.limited_since_ms, since_ms);
    ListCommand list;
    list.queue = "q";
    for (const ListedMessage& message : shard.ask<ListAnswer>(list).listed) {
        const bool is_leased = message.row.state.state == State::leased;
        EXPECT_EQ(message.blocked_by, is_leased ? ErrorCode::none : "queue_leased"_code);
    }
}

// A group would be known until the burst is saved up again, for years.
TEST(Groups, a_burst_of_more_than_what_comes_in_a_day_is_refused) {
    TrialEngine shard;
    const auto error_of = [&](RateRule rate) {
        const ReplyToken token =
            shard.submit(ChangeGroupCommand{"default", "q", "g", [rate](GroupSettings& settings, DueMs) {
                                                settings.rate = rate;
                                                return Status();
                                            }});
        shard.turn();
        const Reply reply = shard.replies.at(token);
        const auto* error = std::get_if<Error>(&reply);
        return error == nullptr ? std::string() : error->message;
    };
    EXPECT_NE(error_of({1, 24LL * 3600 * 1000, 2}).find("`rate.burst` must be at most 1"), std::string::npos);
    EXPECT_NE(error_of({10, 3'600'000, 241}).find("at most 240"), std::string::npos);
    EXPECT_EQ(error_of({10, 3'600'000, 240}), "");
    EXPECT_EQ(error_of({7, 24LL * 3600 * 1000, 7}), "");
    EXPECT_EQ(error_of({1, 24LL * 3600 * 1000, 0}), "");
}

}  // namespace
}  // namespace duewheel::engine_groups_test
