#include "engine/messages/order_lines.h"

#include <string>

#include <gtest/gtest.h>

#include "engine/trial/trial_context.h"

namespace duewheel::order_lines_test {
namespace {

using What = OrderLines::Step::What;

struct Trial {
    explicit Trial(EngineOptions options = {}) : trial(options) {}

    // A message of key `k` in memory. One that is due waits in its line.
    MessageId put(DueMs due_ms, const std::string& key = "k") {
        const MessageId id = trial.put(due_ms, key);
        join(id);
        return id;
    }
    void join(MessageId id) {
        EXPECT_TRUE(lines.join(entry(id)));
        if (trial.recent.entry(entry(id)).due_ms <= trial.now) lines.block(entry(id));
    }
    EntryNumber entry(MessageId id) const { return trial.recent.find(id); }
    // The message that is to be delivered next, which is ready from now on; 0: none.
    MessageId deliver(const std::string& key = "k") {
        const OrderLines::Step step = lines.next(OrderLines::name(0, key));
        if (step.what != What::deliver) return 0;
        trial.recent.entry(step.entry).waits_for = WaitsFor::consumer;
        return trial.recent.entry(step.entry).id;
    }
    void end(MessageId id) {
        lines.leave(entry(id), Leaving::changes);
        trial.cancel(id);
    }
    // It leaves memory; the index has it.
    MessageRow drop(MessageId id, Leaving leaving) {
        MessageRow row = trial.row(id);
        lines.leave(entry(id), leaving);
        trial.recent.entry(entry(id)).segment = 0;
        trial.recent.drop(entry(id));
        return row;
    }
    What next(const std::string& key = "k") { return lines.next(OrderLines::name(0, key)).what; }

    TrialContext trial;
    OrderLines lines{trial.context};
    DueMs now = trial.now;
};

TEST(OrderLines, deliver_one_message_of_a_key_at_a_time_by_nominal_due_time) {
    Trial test;
    const MessageId second = test.put(test.now - 1);
    const MessageId first = test.put(test.now - 2);
    const MessageId other = test.put(test.now - 1, "other");
    test.lines.look_up(OrderLines::name(0, "k"));  // a new line does not know yet what is on disk
    static_cast<void>(test.lines.accept(test.trial.finished<OrderLookup>(1), {}, 1));
    EXPECT_EQ(test.deliver(), first);
    EXPECT_EQ(test.next(), What::none) << "it is out";
    EXPECT_EQ(test.next("other"), What::look_up) << "another key is not affected";
    test.end(first);
    EXPECT_EQ(test.deliver(), second);
    test.end(second);
    test.end(other);
    EXPECT_EQ(test.next(), What::none);
    EXPECT_EQ(test.next("other"), What::none);
    EXPECT_EQ(test.lines.size(), 0u);
}

TEST(OrderLines, a_ready_message_is_overtaken_by_an_earlier_one_and_a_leased_one_is_not) {
    Trial test;
    const MessageId late = test.put(test.now - 1);
    test.lines.look_up(OrderLines::name(0, "k"));
    static_cast<void>(test.lines.accept(test.trial.finished<OrderLookup>(1), {}, 1));
    EXPECT_EQ(test.deliver(), late);
    const MessageId early = test.put(test.now - 5);
    test.trial.recent.entry(test.entry(late)).waits_for = WaitsFor::lease;
    EXPECT_EQ(test.next(), What::none);
    test.trial.recent.entry(test.entry(late)).waits_for = WaitsFor::consumer;
    const OrderLines::Step step = test.lines.next(OrderLines::name(0, "k"));
    EXPECT_EQ(step.what, What::overtaken);
    EXPECT_EQ(step.entry, test.entry(late));
    test.trial.recent.entry(step.entry).waits_for = WaitsFor::turn;
    test.lines.block(step.entry);
    EXPECT_EQ(test.deliver(), early);
}

TEST(OrderLines, a_message_that_left_memory_is_found_on_disk_when_its_turn_comes) {
    Trial test;
    const MessageId first = test.put(test.now - 3);
    const MessageId second = test.put(test.now - 2);
    const MessageId third = test.put(test.now - 1);
    test.lines.look_up(OrderLines::name(0, "k"));
    static_cast<void>(test.lines.accept(test.trial.finished<OrderLookup>(1), {}, 1));
    EXPECT_EQ(test.deliver(), first);
    const MessageRow row = test.drop(second, Leaving::to_disk);
    EXPECT_EQ(test.lines.bounds(1).front(), (DuePosition{test.now - 3, first}));
    test.end(first);
    EXPECT_EQ(test.lines.bounds(1).front(), (DuePosition{test.now - 2, second})) << "a restart must find it";
    ASSERT_EQ(test.next(), What::look_up);
    test.trial.lookups.take_started();
    test.lines.look_up(OrderLines::name(0, "k"));
    const auto wanted = test.trial.started<ScanOrder>();
    EXPECT_EQ(wanted.order_key, "k");
    EXPECT_EQ(wanted.from, (DuePosition{test.now - 2, second}));
    EXPECT_EQ(test.next(), What::none) << "the lookup is open";
    const OrderLookup lookup = test.trial.finished<OrderLookup>(1);
    const Stretch found{{row, test.trial.row(third)}, true, {}};
    const MessageRow* head = test.lines.accept(lookup, found, 1);
    ASSERT_NE(head, nullptr);
    EXPECT_EQ(head->id, second);
    test.trial.recent.admit(*head);
    test.join(second);
    EXPECT_EQ(test.deliver(), second);
}

TEST(OrderLines, a_result_from_before_the_newest_table_is_looked_up_again) {
    Trial test;
    test.put(test.now - 1);
    ASSERT_EQ(test.next(), What::look_up);
    test.lines.look_up(OrderLines::name(0, "k"));
    test.trial.lookups.table_taken(1);
    EXPECT_EQ(test.lines.accept(test.trial.finished<OrderLookup>(1), {}, 1), nullptr);
    EXPECT_EQ(test.next(), What::look_up);
}

TEST(OrderLines, the_number_of_open_lookups_is_limited) {
    Trial test({.order_lookups_max = 1});
    test.put(test.now - 1, "a");
    test.put(test.now - 1, "b");
    test.lines.look_up(OrderLines::name(0, "a"));
    test.lines.look_up(OrderLines::name(0, "b"));
    EXPECT_EQ(test.trial.lookups.open(), 1u);
    EXPECT_EQ(test.lines.open_lookups(1).front(), 2u);
    EXPECT_FALSE(test.lines.take_waiting());
    static_cast<void>(test.lines.accept(test.trial.finished<OrderLookup>(1), {}, 1));
    EXPECT_EQ(test.lines.take_waiting(), OrderLines::name(0, "b"));
    EXPECT_EQ(test.next("b"), What::look_up);
}

}  // namespace
}  // namespace duewheel::order_lines_test
