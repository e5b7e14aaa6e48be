#include "engine/settings/settings.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_parts.h"
#include "message/records/subject.h"

namespace duewheel::settings_test {
namespace {

using What = ConfigureQueueCommand::What;

struct Trial : TrialParts {
    explicit Trial(const EngineOptions& with = {}) : TrialParts(with) {}

    template <class Command>
    Verdict decide(Command command, ReplyToken token) {
        return TrialContext::decide([&](auto&& add) { batch(add); }, settings, std::move(command), token);
    }
};

ConfigureQueueCommand limited(std::uint64_t pending_max) {
    ConfigureQueueCommand command{.queue = "q"};
    command.settings.pending_max = pending_max;
    return command;
}

TEST(Settings, of_a_queue_are_written_only_if_they_change) {
    Trial trial;
    EXPECT_EQ(trial.decide(limited(5), 1), Verdict::settled);
    EXPECT_EQ(trial.take<QueueAnswer>(1).settings.revision, 1u);
    trial.decide(limited(5), 1);
    EXPECT_EQ(trial.take<QueueAnswer>(1).settings.revision, 1u);
    trial.decide(limited(6), 1);
    const QueueAnswer changed = trial.take<QueueAnswer>(1);
    EXPECT_EQ(changed.settings.revision, 2u);
    EXPECT_EQ(changed.settings.pending_max, 6u);
}

TEST(Settings, a_patch_changes_what_it_names_and_keeps_a_pause) {
    Trial trial;
    trial.decide(limited(5), 1);
    static_cast<void>(trial.take<QueueAnswer>(1));
    EXPECT_TRUE(trial.configure({.what = What::pause}).settings.paused);
    PatchQueueCommand patch{.queue = "q"};
    patch.change = [](QueueSettings& settings) {
        settings.lease_ms = 60'000;
        return Status();
    };
    trial.decide(std::move(patch), 1);
    const QueueAnswer changed = trial.take<QueueAnswer>(1);
    EXPECT_EQ(changed.settings.pending_max, 5u);
    EXPECT_EQ(changed.settings.lease_ms, 60'000);
    EXPECT_TRUE(changed.settings.paused);
    EXPECT_FALSE(trial.configure({.what = What::resume}).settings.paused);
}

TEST(Settings, are_removed_only_from_a_queue_without_messages) {
    Trial trial;
    trial.decide(limited(5), 1);
    static_cast<void>(trial.take<QueueAnswer>(1));
    const EntryNumber number = trial.put_message(trial.now + 1'000);
    trial.decide(ConfigureQueueCommand{.queue = "q", .what = What::remove}, 1);
    EXPECT_EQ(trial.take<Error>(1).code, "queue_not_empty"_code);
    trial.batch([&] { trial.lifecycle.purge(number, 0, Error{}); });
    EXPECT_EQ(trial.configure({.what = What::remove}).removed, true);
    EXPECT_EQ(trial.configure({.what = What::remove}).removed, false);
}

TEST(Settings, of_a_namespace_may_not_exceed_their_number) {
    EngineOptions options;
    options.namespaces_max = 1;
    Trial trial{options};
    ConfigureNamespaceCommand command{.name_space = "a"};
    command.settings.pending_max = 10;
    trial.decide(command, 1);
    EXPECT_EQ(trial.take<NamespaceAnswer>(1).settings.revision, 1u);
    command.name_space = "b";
    trial.decide(command, 2);
    EXPECT_EQ(trial.take<Error>(2).code, "namespace_limit"_code);
    trial.decide(ConfigureNamespaceCommand{.name_space = "a", .removes = true}, 3);
    EXPECT_EQ(trial.take<NamespaceAnswer>(3).removed, true);
    trial.decide(command, 4);
    EXPECT_EQ(trial.take<NamespaceAnswer>(4).name_space, "b");
}

}  // namespace
}  // namespace duewheel::settings_test
