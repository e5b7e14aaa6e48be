#include "engine/messages/loader.h"

#include <deque>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/trial/trial_parts.h"

namespace duewheel::loader_test {
namespace {

constexpr MessageId kOther = 90 * kShardsMax;

struct Trial : TrialParts {
    explicit Trial(const EngineOptions& with = {}) : TrialParts(with) {}

    MessageId put(DueMs due_ms) { return recent.entry(put_message(due_ms)).id; }
    // Time passes until more has to be loaded.
    ScanDue look_ahead() {
        now = lifecycle.window().next_ms();
        loader.load();
        return started<ScanDue>();
    }
    // The queue has messages on disk from there on.
    Queue& queue_with_backlog(DueMs from_ms, const std::string& name = "q") {
        Queue& at = queues.at(recent.queues().number(kDefaultNamespace, name));
        at.lower_cursor({from_ms, 0});
        return at;
    }
    // What the commit that closes a segment contains.
    std::vector<CursorRecord> cursors() {
        const auto apply = [this](const std::string&, Operation& operation) {
            loader.apply_cursor(std::get<CursorRecord>(operation.record));
        };
        return records_of<CursorRecord>(batch([this] { loader.add_cursors(); }, apply));
    }
};

TEST(Loader, loads_what_falls_due_next_unless_memory_knows_better) {
    Trial trial;
    const DueMs bound = trial.lifecycle.window().until_ms();
    const MessageId moved = trial.put(bound + 10'000);
    const MessageId ended = trial.put(bound + 10'000);
    trial.batch([&] { trial.lifecycle.purge(trial.recent.find(ended), 0, Error{}); });
    EXPECT_EQ(trial.look_ahead().from.due_ms, bound);
    const auto outdated = [&](MessageId id) { return Trial::row_on_disk(id, bound + 1); };
    MessageRow dead = outdated(kOther + kShardsMax);
    dead.state.state = State::dead;
    trial.answer<DueLookup>(trial.loader, {{outdated(moved), outdated(ended), outdated(kOther), dead}, true, {}});
    EXPECT_EQ(trial.counters.loaded, 1u);
    EXPECT_EQ(trial.recent.entry_count(), 2u);
    trial.advance_to(bound + 1);
    EXPECT_EQ(trial.recent.entry(trial.recent.find(kOther)).state(), State::ready);
    EXPECT_EQ(trial.recent.entry(trial.recent.find(moved)).state(), State::scheduled);
    trial.lifecycle.check();
}

TEST(Loader, looks_up_again_what_a_newer_table_may_have_changed) {
    Trial trial;
    const ScanDue before = trial.look_ahead();
    const Generation old = trial.lookups.newest();
    trial.lookups.table_taken(1);
    trial.answer<DueLookup>(trial.loader, {{Trial::row_on_disk(kOther, before.from.due_ms)}, true, {}}, old);
    EXPECT_EQ(trial.recent.find(kOther), kNoEntry);
    EXPECT_EQ(trial.started<ScanDue>().from, before.from);
}

TEST(Loader, reads_the_bodies_of_loaded_messages_in_the_order_of_the_log_while_the_cache_has_space) {
    Trial trial({.record_cache_bytes = 1'000});
    trial.context.cache.insert(20, "of 20");
    const DueMs from = trial.look_ahead().from.due_ms;
    std::vector<MessageRow> rows;
    for (const Sequence log_position : std::vector<Sequence>{30, 10, 20, 40}) {
        rows.push_back(Trial::row_on_disk(kOther + log_position * kShardsMax, from));
        rows.back().log_position = log_position;
        rows.back().record_bytes = 300;
    }
    trial.answer<DueLookup>(trial.loader, {rows, true, {}});
    EXPECT_EQ(trial.started<ReadRecords>().log_positions, (std::vector<Sequence>{10, 30}));
    trial.answer<PrefetchLookup>(trial.loader, {{10, "of 10"}, {30, "of 30"}});
    EXPECT_EQ(*trial.context.cache.find(30), "of 30");
}

TEST(Loader, a_consumer_waits_until_what_is_overdue_and_what_is_due_was_loaded) {
    Trial trial;
    trial.queue_with_backlog(trial.now);
    trial.queues.take_marked();
    Lifecycle fresh(trial.context, trial.queues, 0);
    fresh.window().start();
    Loader loader(trial.context, trial.queues, fresh, 0);
    loader.load();
    loader.await_window(0);
    trial.answer<DueLookup>(loader, {});
    EXPECT_TRUE(trial.queues.take_marked().empty());
    trial.answer<DueLookup>(loader, {});
    EXPECT_EQ(trial.queues.take_marked(), std::deque<QueueNumber>{0});
}

TEST(Loader, continues_with_a_backlog_while_few_of_its_messages_are_in_memory) {
    Trial trial({.idle_backlog = 1});
    const DueMs from = trial.now - 100;
    Queue& at = trial.queue_with_backlog(from);
    trial.loader.read_backlog(0);
    const ScanQueue wanted = trial.started<ScanQueue>();
    EXPECT_EQ(wanted.queue, "q");
    EXPECT_EQ(wanted.from.due_ms, from);
    EXPECT_EQ(wanted.until_ms, trial.now + 1);
    EXPECT_EQ(wanted.limit, 1u) << "no consumer asked lately";
    trial.loader.read_backlog(0);
    EXPECT_FALSE(trial.lookups.has_started()) << "one part at a time";
    trial.answer<BacklogLookup>(trial.loader, {{Trial::row_on_disk(kOther, from)}, false, {from + 1, 0}});
    EXPECT_EQ(trial.lifecycle.ready_count(), 1u);
    trial.lookups.take_started();
    at.asked_ms = trial.now;
    trial.loader.read_backlog(0);
    EXPECT_EQ(trial.started<ScanQueue>().limit, trial.options.load_chunk) << "a consumer did";
    trial.answer<BacklogLookup>(trial.loader, {{Trial::row_on_disk(2 * kOther, from + 1)}, true, {}});
    EXPECT_EQ(trial.lifecycle.ready_count(), 2u);
    EXPECT_FALSE(at.has_backlog());
    trial.lookups.take_started();
    at.asked_ms = 0;
    trial.queue_with_backlog(from + 2);
    trial.loader.read_backlog(0);
    EXPECT_FALSE(trial.lookups.has_started()) << "two are enough";
}

TEST(Loader, a_backlog_is_read_again_from_where_an_outdated_result_began) {
    Trial trial;
    const DueMs from = trial.now - 100;
    Queue& at = trial.queue_with_backlog(from);
    trial.loader.read_backlog(0);
    const Generation old = trial.lookups.newest();
    trial.lookups.table_taken(1);
    trial.answer<BacklogLookup>(trial.loader, {{Trial::row_on_disk(kOther, from)}, true, {}}, old);
    EXPECT_EQ(trial.recent.find(kOther), kNoEntry);
    EXPECT_EQ(at.cursor.due_ms, from);
    EXPECT_FALSE(at.reading_from);
}

TEST(Loader, the_number_of_backlogs_that_are_read_at_once_is_limited) {
    Trial trial({.backlogs_reading_max = 1});
    trial.queue_with_backlog(trial.now);
    trial.queue_with_backlog(trial.now, "other");
    trial.loader.read_backlog(0);
    trial.started<ScanQueue>();
    trial.loader.read_backlog(1);
    EXPECT_FALSE(trial.lookups.has_started());
    trial.answer<BacklogLookup>(trial.loader, {});
    trial.loader.read_backlog(1);
    EXPECT_EQ(trial.started<ScanQueue>().queue, "other");
}

TEST(Loader, a_message_that_is_not_due_soon_leaves_memory_when_its_segment_is_in_the_index) {
    Trial trial({.sweep_chunk = 1});
    const MessageId late = trial.put(trial.lifecycle.window().until_ms());
    const MessageId soon = trial.put(trial.lifecycle.window().until_ms() - 1);
    OpenSegment& segment = trial.context.segment;
    trial.loader.sweep();
    EXPECT_NE(trial.recent.find(late), kNoEntry);
    segment.close(segment.number());
    trial.loader.sweep();
    EXPECT_TRUE(segment.has_to_sweep()) << "a part in each iteration";
    for (int part = 0; segment.has_to_sweep() && part < 10; ++part) trial.loader.sweep();
    EXPECT_FALSE(segment.has_to_sweep());
    EXPECT_EQ(trial.recent.find(late), kNoEntry);
    EXPECT_NE(trial.recent.find(soon), kNoEntry);
    trial.lifecycle.check();
}

TEST(Loader, a_closing_commit_has_the_positions_from_which_a_restart_reads) {
    Trial trial;
    const DueMs due = trial.now + 100;
    const MessageId id = trial.put(due);
    trial.advance_to(due + 400);
    std::vector<CursorRecord> written = trial.cursors();
    ASSERT_EQ(written.size(), 2u);
    EXPECT_EQ(written[0].queue, "q");
    EXPECT_EQ(written[0].due_ms, due);
    EXPECT_EQ(written[0].id, id);
    EXPECT_EQ(written[1].queue, "");
    EXPECT_EQ(written[1].due_ms, trial.now) << "what is due was passed to its queue";
    trial.batch([&] { trial.lifecycle.purge(trial.recent.find(id), 0, Error{}); });
    written = trial.cursors();
    ASSERT_EQ(written.size(), 1u);
    EXPECT_TRUE(written[0].removed) << "nothing of the queue is due";
    written = trial.cursors();
    ASSERT_EQ(written.size(), 1u) << "a segment has a record, even if nothing changed";
    EXPECT_EQ(written[0].due_ms, trial.now);
}

TEST(Loader, a_lower_cursor_of_a_queue_is_written_before_the_load_cursor_passes_it) {
    Trial trial({.cursor_records_max = 1});
    trial.queue_with_backlog(trial.now - 100);
    trial.queue_with_backlog(trial.now - 50, "other");
    trial.advance_to(trial.now + 1);
    EXPECT_EQ(trial.cursors().at(0).queue, "q");
    EXPECT_EQ(trial.cursors().at(0).queue, "other");
    EXPECT_EQ(trial.cursors().at(0).queue, "");
}

TEST(Loader, the_load_cursor_does_not_pass_an_expiry_that_is_not_written) {
    Trial trial;
    const DueMs expires = trial.now + 50;
    trial.put_message(trial.now, expires);
    trial.advance_to(expires);
    trial.advance_to(expires + 50);
    EXPECT_EQ(trial.cursors().back().due_ms, expires);
    trial.batch([&] { trial.lifecycle.own_records().expired.add_to_batch(); });
    EXPECT_EQ(trial.cursors().back().due_ms, expires + 50);
}

}  // namespace
}  // namespace duewheel::loader_test
