#include "engine/settings/queues.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_parts.h"

namespace duewheel::queues_test {
namespace {

const std::string kSpace(kDefaultNamespace);

TEST(Queues, a_queue_is_full_with_the_messages_of_the_batch_in_construction) {
    TrialParts trial;
    trial.put_message(trial.now + 1'000);
    QueueSettings settings;
    settings.revision = 1;
    settings.pending_max = 2;
    trial.settings.install(0, settings, 1, 100);
    trial.batch([&] {
        EXPECT_TRUE(trial.queues.take_room(0, kSpace, "q"));
        const Status full = trial.queues.take_room(0, kSpace, "q");
        ASSERT_FALSE(full);
        EXPECT_EQ(full.error().code, "queue_full"_code);
        EXPECT_EQ(trial.queues.why_not_created(0, kSpace, trial.now), "queue_full"_code);
    });
    trial.batch([&] {
        EXPECT_EQ(trial.queues.why_not_created(0, kSpace, trial.now), ErrorCode::none);
    });  // the put of that batch was not made
}

TEST(Queues, names_that_a_batch_creates_count_against_the_limit) {
    EngineOptions options;
    options.queues_max = 2;
    TrialParts trial(options);
    trial.put_message(trial.now);
    trial.batch([&] {
        EXPECT_TRUE(trial.queues.take_room(kNoQueue, kSpace, "second"));
        EXPECT_TRUE(trial.queues.take_room(kNoQueue, kSpace, "second"));
        const Status third = trial.queues.take_room(kNoQueue, kSpace, "third");
        ASSERT_FALSE(third);
        EXPECT_EQ(third.error().code, "queue_limit"_code);
    });
}

TEST(Queues, the_name_of_a_queue_without_messages_is_released_when_its_segment_was_swept) {
    TrialParts trial;
    const EntryNumber number = trial.put_message(trial.now + 1'000);
    trial.queues.release_names(trial.context.segment.number());
    EXPECT_EQ(trial.queues.by_name().size(), 1u);
    trial.batch([&] { trial.lifecycle.purge(number, 0, Error{}); });
    trial.queues.release_names(trial.context.segment.number() - 1);
    EXPECT_EQ(trial.queues.by_name().size(), 1u);
    trial.queues.release_names(trial.context.segment.number());
    EXPECT_TRUE(trial.queues.by_name().empty());
    EXPECT_EQ(trial.queues.find_miscount({}), nullptr);
}

TEST(Queues, marked_queues_of_namespaces_take_turns_by_weight) {
    TrialParts trial;
    Namespace& heavy = trial.queues.namespaces().at("heavy");
    NamespaceSettings settings;
    settings.revision = 1;
    settings.weight = 2;
    trial.settings.install(heavy, settings, 1, 100);
    for (const char* queue : {"a", "b", "c"}) trial.queues.mark(trial.recent.queues().number("light", queue));
    for (const char* queue : {"a", "b", "c"}) trial.queues.mark(trial.recent.queues().number("heavy", queue));
    std::vector<std::string> order;
    for (const QueueNumber number : trial.queues.take_marked()) {
        order.push_back(trial.recent.queues().name(number).name_space);
    }
    EXPECT_EQ(order, (std::vector<std::string>{"light", "heavy", "heavy", "light", "heavy", "light"}));
}

}  // namespace
}  // namespace duewheel::queues_test
