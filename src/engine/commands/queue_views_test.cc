// The views without an engine: how they start and end, and when they look up again. Pages and forecasts of an engine
// with an index are in engine_listing_test.cc and engine_forecast_test.cc.
#include "engine/commands/queue_views.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_parts.h"

namespace duewheel::queue_views_test {
namespace {

struct Views {
    explicit Views(EngineOptions options = {}) : trial(options) {}

    void list(ReplyToken token, StateSet states = ListCommand{}.states) {
        views.listings.start({.queue = "q", .states = states}, token);
        views.walk();
    }

    TrialParts trial;
    ScheduleTable schedules;
    QueueViews views{trial.context, trial.queues, trial.lifecycle, schedules};
};

std::vector<MessageId> ids(const ListAnswer& page) {
    std::vector<MessageId> all;
    for (const ListedMessage& message : page.listed) all.push_back(message.row.id);
    return all;
}

TEST(QueueViews, a_page_merges_memory_and_index_and_memory_wins) {
    Views test;
    TrialParts& trial = test.trial;
    const MessageId late = trial.put(trial.now + 5'000);
    const MessageId ready = trial.put(trial.now);
    const MessageId leased = trial.put(trial.now - 10);
    const MessageId cancelled = trial.put(trial.now + 1);
    MessageRow on_disk = trial.row(late);
    on_disk.id = 77 * kShardsMax;
    on_disk.state.due_ms = trial.now + 10;
    const MessageRow outdated = trial.row(cancelled);
    trial.cancel(cancelled);
    trial.recent.entry(trial.recent.find(leased)).waits_for = WaitsFor::lease;
    trial.lifecycle.leases()[leased] = {.attempt = 1, .until_ms = trial.now + 30'000};

    test.list(1);
    EXPECT_EQ(trial.started<ListQueue>().queue, "q");
    const Generation newest = trial.lookups.newest();
    test.views.listings.finish(trial.finished<ListingLookup>(newest), {{outdated, on_disk}, {}}, newest);
    const ListAnswer page = trial.take<ListAnswer>(1);
    EXPECT_EQ(ids(page), (std::vector<MessageId>{leased, ready, on_disk.id, late}));
    EXPECT_EQ(page.listed[0].lease_until_ms, trial.now + 30'000);
    EXPECT_EQ(page.listed[1].row.state.state, State::ready) << "it is due";
    EXPECT_EQ(trial.counters.listed, 4u);
}

// A cancel that was answered, and is so far on its way into the index that memory has forgotten it, was listed by an
// answer of the index that was older.
TEST(QueueViews, a_lookup_result_older_than_the_newest_table_is_repeated) {
    Views test;
    TrialParts& trial = test.trial;
    const MessageId id = trial.put(trial.now + 100'000);
    const MessageRow outdated = trial.row(id);
    test.list(1);
    const Generation old = trial.lookups.newest();
    trial.cancel(id);
    trial.lookups.table_taken(1);
    trial.recent.sweep(1, 10, [](EntryNumber) {});
    trial.started<ListQueue>();
    test.views.listings.finish(trial.finished<ListingLookup>(old), {{outdated}, {}}, old);
    EXPECT_TRUE(trial.effects.replies.empty());
    trial.started<ListQueue>();
    test.views.listings.finish(trial.finished<ListingLookup>(old + 1), {}, old + 1);
    EXPECT_TRUE(trial.take<ListAnswer>(1).listed.empty());
}

TEST(QueueViews, limits_are_kept) {
    Views test({.list_limit_max = 5, .forecast_minutes_max = 10});
    for (const std::uint32_t limit : {0u, 6u}) {
        test.views.listings.start({.queue = "q", .limit = limit}, 1);
        EXPECT_EQ(test.trial.take<Error>(1).code, "out_of_range"_code);
        test.views.history.read({.queue = "q", .limit = limit}, 2, nullptr);
        EXPECT_EQ(test.trial.take<Error>(2).code, "out_of_range"_code);
    }
    for (const std::uint32_t minutes : {0u, 11u}) {
        test.views.forecasts.read({.queue = "q", .minutes = minutes}, 3, nullptr);
        EXPECT_EQ(test.trial.take<Error>(3).code, "out_of_range"_code);
    }
    EXPECT_EQ(test.views.open.count(), 0u);
}

// Listings of the dead letters and of history were not bounded, and others no more once the index was asked.
TEST(QueueViews, open_views_count_until_they_are_answered) {
    Views test({.listings_max = 1});
    TrialParts& trial = test.trial;
    const Generation newest = trial.lookups.newest();
    const Generation old = newest - 1;
    const auto all_are_refused = [&] {
        EXPECT_EQ(test.views.open.count(), 1u);
        test.list(2);
        EXPECT_EQ(trial.take<Error>(2).code, "too_busy"_code);
        test.list(3, {State::dead});
        EXPECT_EQ(trial.take<Error>(3).code, "too_busy"_code);
        test.views.history.read({.queue = "q"}, 4, nullptr);
        EXPECT_EQ(trial.take<Error>(4).code, "too_busy"_code);
        test.views.forecasts.read({.queue = "q"}, 5, nullptr);
        EXPECT_EQ(trial.take<Error>(5).code, "too_busy"_code);
    };
    test.list(1);
    all_are_refused();
    test.views.listings.finish(trial.finished<ListingLookup>(old), {}, old);  // looked up again, and still one
    all_are_refused();
    test.views.listings.finish(trial.finished<ListingLookup>(newest), {}, newest);
    trial.take<ListAnswer>(1);
    test.list(1, {State::dead});
    all_are_refused();
    test.views.listings.finish(trial.finished<DeadListingLookup>(newest), {}, newest);
    trial.take<ListAnswer>(1);
    test.views.history.read({.queue = "q"}, 1, nullptr);
    all_are_refused();
    test.views.history.finish(trial.finished<HistoryLookup>(newest), {}, newest);
    trial.take<HistoryAnswer>(1);
    test.views.forecasts.read({.queue = "q", .minutes = 5}, 1, nullptr);
    test.views.walk();
    all_are_refused();
    test.views.forecasts.finish(trial.finished<ForecastCountLookup>(old), {}, old);  // as with the listing
    test.views.walk();
    test.views.forecasts.finish(trial.finished<ForecastCountLookup>(newest), {}, newest);
    test.views.walk();
    all_are_refused();
    test.views.forecasts.finish(trial.finished<ForecastLookup>(newest), {}, newest);
    test.views.walk();
    EXPECT_EQ(trial.take<ForecastAnswer>(1).minutes.size(), 5u);
    EXPECT_EQ(test.views.open.count(), 0u);
}

TEST(QueueViews, a_forecast_counts_a_message_by_its_entry_until_the_index_has_it) {
    Views test;
    TrialParts& trial = test.trial;
    const MessageId id = trial.put(trial.now + 1);
    const auto counted = [&](ReplyToken token) {
        test.views.forecasts.read({.queue = "q", .minutes = 1}, token, nullptr);
        test.views.walk();
        const Generation newest = trial.lookups.newest();
        test.views.forecasts.finish(trial.finished<ForecastLookup>(newest), {{{trial.now + 1, id}}, {}}, newest);
        test.views.walk();
        return trial.take<ForecastAnswer>(token).minutes.front().scheduled;
    };
    EXPECT_EQ(counted(1), 1u) << "by its entry, and not by its row too";
    trial.lookups.table_taken(1);
    EXPECT_EQ(counted(2), 1u) << "by its row";
}

TEST(EarlierRuns, no_server_ran_from_the_last_saved_time_until_this_run) {
    EarlierRuns earlier(0, 0, 0);
    earlier.end(1'000, 900, 1'100, 50);
    EXPECT_EQ(earlier.down_time(50, 1'000), 100);
    EXPECT_EQ(earlier.down_time(51, 1'000), 0) << "put in this run";
    EXPECT_EQ(earlier.down_time(50, 899), 0) << "it waited already";
    EXPECT_EQ(earlier.down_time(50, 1'100), 0);
}

TEST(EarlierRuns, may_have_delivered_what_was_due_before_this_run_started) {
    EarlierRuns earlier(0, 0, 0);
    earlier.end(1'000, 900, 1'100, 50);
    MessageState state;
    state.due_ms = state.nominal_due_ms = 1'000;
    EXPECT_TRUE(earlier.may_have_delivered(50, state));
    EXPECT_FALSE(earlier.may_have_delivered(51, state)) << "put in this run";
    state.due_ms = 1'001;
    EXPECT_FALSE(earlier.may_have_delivered(50, state));
    state.state = State::prepared;
    state.due_ms = 1;
    EXPECT_FALSE(earlier.may_have_delivered(50, state)) << "it was never delivered";
}

TEST(EarlierRuns, the_original_of_a_restored_log_may_have_continued) {
    const EarlierRuns earlier(3, 2'000, 10);
    EXPECT_TRUE(earlier.may_have_created(2'000));
    EXPECT_FALSE(earlier.may_have_created(2'001));
    const MessageId newest = 10 * kShardsMax + 3;
    EXPECT_TRUE(earlier.may_have_created(newest, 2'000));
    EXPECT_FALSE(earlier.may_have_created(newest + kShardsMax, 2'000)) << "put after the restore";
    MessageState prepared;
    prepared.state = State::prepared;
    prepared.due_ms = 9'000;
    prepared.nominal_due_ms = 2'000;
    EXPECT_TRUE(earlier.may_have_delivered(newest, prepared)) << "it may have been committed there";
}

}  // namespace
}  // namespace duewheel::queue_views_test
