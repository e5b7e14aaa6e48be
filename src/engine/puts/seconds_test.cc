#include "engine/puts/seconds.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_parts.h"

namespace duewheel::seconds_test {
namespace {

using What = Seconds::Search::What;

// Queue `q` with a limit of two messages per second.
struct Trial : TrialParts {
    Trial() {
        ConfigureQueueCommand limit;
        limit.settings.per_second = 2;
        configure(limit);
    }
    // The index contains everything from before the limit.
    void seal() {
        lookups.table_taken(1);
        recent.seconds().table_taken(1);
    }
    // It has this number of messages in each of the seconds from `due_ms` on.
    void learn(std::vector<std::uint32_t> counts) {
        seal();
        Second second = second_of(due);
        for (const std::uint32_t count : counts) recent.seconds().learn(0, second++, count, 1);
    }
    Seconds::Search find(DueMs latest, const Seconds::Taken& taken = {}) const {
        return seconds.find(0, due, latest, taken, std::nullopt);
    }
    PutCommand put(std::int64_t flex_ms = 0) const {
        PutCommand command{.queue = "q", .when = {.at_ms = due}};
        command.flex_ms = flex_ms;
        return command;
    }

    const DueMs due = now + 10'000;
};

TEST(Seconds, without_a_limit_and_in_the_current_second_nothing_is_counted) {
    Trial trial;
    EXPECT_EQ(trial.seconds.find(0, trial.now + 999, trial.now + 999, {}, std::nullopt).what, What::place);
    EXPECT_EQ(trial.find(trial.due).what, What::wait);
    trial.configure({});
    EXPECT_EQ(trial.find(trial.due).what, What::place);
    EXPECT_EQ(trial.seconds.find(kNoQueue, trial.due, trial.due, {}, std::nullopt).what, What::place);
}

TEST(Seconds, a_put_waits_until_the_index_has_what_is_older_than_the_limit) {
    Trial trial;
    PendingCommand pending = trial.pending(1);
    trial.context.segment.add_commit(100, true);
    EXPECT_EQ(trial.seconds.await(trial.find(trial.due), pending, 0, trial.due), Verdict::deferred);
    EXPECT_TRUE(trial.context.segment.is_close_wanted());
    EXPECT_FALSE(trial.lookups.has_started());
    trial.seal();
    EXPECT_EQ(trial.find(trial.due).what, What::needs_lookup);
}

TEST(Seconds, what_is_not_known_is_counted_in_the_index_and_the_command_returns) {
    Trial trial;
    trial.seal();
    PendingCommand pending = trial.pending(7);
    pending.command = trial.put();
    const DueMs latest = trial.due + 1'000;
    EXPECT_EQ(trial.seconds.await(trial.find(latest), pending, 0, latest), Verdict::looking_up);
    const CountSeconds wanted = trial.started<CountSeconds>();
    EXPECT_EQ(wanted.queue, "q");
    EXPECT_EQ(wanted.from, second_of(trial.due));
    EXPECT_EQ(wanted.until, wanted.from + 2);
    trial.answer<SecondsLookup>(trial.seconds, {{2, 1}, 1});
    EXPECT_EQ(trial.commands.looked_up_puts().next().token, 7u);
    EXPECT_EQ(trial.find(latest).due_ms, latest);
}

TEST(Seconds, the_first_second_with_capacity_is_chosen) {
    Trial trial;
    trial.learn({2, 3, 1, 0});
    EXPECT_EQ(trial.find(trial.due).what, What::full);
    EXPECT_EQ(trial.find(trial.due + 1'999).what, What::full);
    const Seconds::Search search = trial.find(trial.due + 9'000);
    EXPECT_EQ(search.what, What::place);
    EXPECT_EQ(search.due_ms, trial.due + 2'000);
    const Second third = second_of(trial.due) + 2;
    EXPECT_EQ(trial.find(trial.due + 9'000, {{{0, third}, 1}}).due_ms, trial.due + 3'000) << "others are taking it";
    EXPECT_EQ(trial.find(trial.due + 9'000, {{{0, third}, 1}, {{0, third + 1}, 2}}).what, What::needs_lookup);
}

TEST(Seconds, a_message_may_stay_in_its_own_second) {
    Trial trial;
    trial.learn({2});
    EXPECT_EQ(trial.seconds.find(0, trial.due, trial.due, {}, second_of(trial.due)).what, What::place);
}

TEST(Seconds, the_batch_in_construction_counts) {
    Trial trial;
    trial.learn({1});
    trial.batch([&] {
        EXPECT_EQ(*trial.seconds.place(0, trial.due, trial.due, std::nullopt), trial.due);
        trial.seconds.count(0, trial.due);
        const Result<DueMs> second = trial.seconds.place(0, trial.due, trial.due, std::nullopt);
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().code, "second_full"_code);
        EXPECT_EQ(trial.counters.refused_second_full, 1u);
    });
    trial.batch([&] { EXPECT_TRUE(trial.seconds.place(0, trial.due, trial.due, std::nullopt)); });
}

TEST(Seconds, puts_of_one_request_need_a_second_each_after_those_before) {
    Trial trial;
    trial.learn({1, 1});
    PendingCommand pending = trial.pending(1);
    const auto verdict = [&](const std::vector<PutCommand>& puts, std::vector<Seconds::Wish> wishes = {}) {
        std::optional<Verdict> of_all;
        trial.batch([&] { of_all = trial.seconds.find_all(pending, puts, wishes); });
        return of_all;
    };
    EXPECT_FALSE(verdict({trial.put(5'000), trial.put(5'000)}));
    EXPECT_FALSE(verdict({trial.put(), trial.put(), trial.put()})) << "which of them are refused is known";
    EXPECT_FALSE(verdict({trial.put(5'000), trial.put(5'000), trial.put(5'000)}, {{}, {}, {.needs_one = false}}))
        << "a repeated put needs none";
    EXPECT_EQ(verdict({trial.put(5'000), trial.put(5'000), trial.put(5'000)}), Verdict::looking_up);
    EXPECT_EQ(trial.started<CountSeconds>().from, second_of(trial.due) + 2);
}

TEST(Seconds, flex_is_bounded_by_its_range_by_the_expiry_and_by_the_longest_delay) {
    const Trial trial;
    EXPECT_TRUE(Seconds::check_flex(3'600'000));
    EXPECT_FALSE(Seconds::check_flex(3'600'001));
    EXPECT_FALSE(Seconds::check_flex(-1));
    EXPECT_EQ(trial.seconds.latest_due(trial.due, 5'000, 0), trial.due + 5'000);
    EXPECT_EQ(trial.seconds.latest_due(trial.due, 5'000, trial.due + 100), trial.due + 99);
    const DueMs last = trial.now + trial.options.delay_max_ms;
    EXPECT_EQ(trial.seconds.latest_due(last - 1, 5'000, 0), last);
}

}  // namespace
}  // namespace duewheel::seconds_test
