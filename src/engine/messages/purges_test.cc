#include "engine/messages/purges.h"

#include <vector>

#include <gtest/gtest.h>

#include "engine/trial/trial_parts.h"

namespace duewheel::purges_test {
namespace {

struct Trial : TrialParts {
    explicit Trial(const EngineOptions& with = {}) : TrialParts(with) {}

    MessageId put(DueMs due_ms) { return recent.entry(put_message(due_ms)).id; }
    void purge() { configure({.what = ConfigureQueueCommand::What::purge}); }
    // The entries in memory are scanned; the lookup of the index is started.
    ScanQueue scan_memory() {
        purges.walk();
        purges.walk();
        return started<ScanQueue>();
    }
    std::vector<Record> write() {
        return batch([this] { purges.add_to_batch(); });
    }
    std::vector<MessageId> end() {
        std::vector<MessageId> ids;
        for (const MessageRecord& record : records_of<MessageRecord>(write())) {
            if (record.kind != RecordKind::end) continue;
            EXPECT_EQ(record.cause, Cause::purged);
            ids.push_back(record.id);
        }
        return ids;
    }
};

TEST(Purges, end_what_is_in_memory_and_in_the_index_and_nothing_that_was_put_later) {
    Trial trial;
    trial.context.batches.raise_id_counter(10);
    const MessageId on_disk = 5 * kShardsMax;
    const MessageId here = trial.put(trial.now);
    trial.purge();
    const MessageId later = trial.put(trial.now);
    EXPECT_EQ(trial.scan_memory().queue, "q");
    const DueMs due = trial.now + 9'000;
    trial.answer<PurgeLookup>(trial.purges,
                              {{Trial::row_on_disk(here, due), Trial::row_on_disk(on_disk, due)}, false, {}});
    trial.purges.walk();
    EXPECT_EQ(trial.started<ScanQueue>().from, (DuePosition{due, on_disk + 1})) << "it continues after the last row";
    trial.answer<PurgeLookup>(trial.purges, {{Trial::row_on_disk(later, due)}, true, {}});
    EXPECT_FALSE(trial.purges.has_to_walk());
    EXPECT_EQ(trial.end(), (std::vector<MessageId>{here, on_disk}));
    EXPECT_EQ(trial.recent.entry(trial.recent.find(later)).state(), State::ready);
    trial.lifecycle.check();
}

TEST(Purges, the_mark_is_removed_when_all_of_it_has_ended) {
    Trial trial;
    trial.put(trial.now);
    trial.purge();
    EXPECT_NE(trial.queues[0].purge_through, 0u);
    trial.scan_memory();
    trial.answer<PurgeLookup>(trial.purges, {});
    EXPECT_EQ(trial.end().size(), 1u);
    EXPECT_NE(trial.queues[0].purge_through, 0u);
    EXPECT_TRUE(trial.purges.has_work());
    const std::vector<Record> records = trial.write();
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(kind_of(records[0]), RecordKind::conf);
    EXPECT_EQ(trial.queues[0].purge_through, 0u);
    EXPECT_FALSE(trial.purges.has_work());
    EXPECT_FALSE(trial.purges.has_to_walk());
}

TEST(Purges, a_leased_message_ends_after_its_lease) {
    Trial trial;
    const EntryNumber number = trial.put_message(trial.now);
    trial.queues[0].ready.pop_first();
    trial.lifecycle.dequeue(number);
    trial.lifecycle.start_attempt(number, {100}, trial.now);
    trial.purge();
    trial.scan_memory();
    trial.answer<PurgeLookup>(trial.purges, {});
    EXPECT_FALSE(trial.purges.has_work());
    const MessageId id = trial.recent.entry(number).id;
    trial.advance_to(trial.now + 100);
    EXPECT_EQ(trial.lifecycle.ready_count(), 0u);
    EXPECT_EQ(trial.end(), std::vector<MessageId>{id});
    trial.lifecycle.check();
}

TEST(Purges, a_message_that_a_batch_changes_ends_in_the_next) {
    Trial trial;
    const MessageId id = trial.put(trial.now);
    trial.purge();
    trial.scan_memory();
    Entry& entry = trial.recent.entry(trial.recent.find(id));
    entry.in_batch = true;
    EXPECT_TRUE(trial.end().empty());
    entry.in_batch = false;
    EXPECT_EQ(trial.end(), std::vector<MessageId>{id});
}

TEST(Purges, end_a_part_in_each_batch_and_scan_no_further_meanwhile) {
    Trial trial({.purge_chunk = 2, .purge_walk = 3});
    for (int i = 0; i < 4; ++i) trial.put(trial.now + i);
    trial.purge();
    trial.purges.walk();
    EXPECT_FALSE(trial.purges.has_to_walk()) << "three of four were scanned";
    EXPECT_EQ(trial.end().size(), 2u);
    EXPECT_TRUE(trial.purges.has_to_walk());
    trial.purges.walk();
    EXPECT_EQ(trial.end().size(), 2u);
}

TEST(Purges, a_result_from_before_the_newest_table_is_looked_up_again) {
    Trial trial;
    trial.put(trial.now);
    trial.purge();
    const ScanQueue before = trial.scan_memory();
    const Generation old = trial.lookups.newest();
    trial.lookups.table_taken(1);
    EXPECT_FALSE(trial.purges.has_to_walk()) << "the lookup is open";
    trial.answer<PurgeLookup>(trial.purges, {{Trial::row_on_disk(kShardsMax, trial.now)}, true, {}}, old);
    trial.purges.walk();
    EXPECT_EQ(trial.started<ScanQueue>().from, before.from);
}

TEST(Purges, a_later_mark_starts_the_scan_again) {
    Trial trial;
    trial.put(trial.now);
    trial.purge();
    trial.scan_memory();
    const MessageId later = trial.put(trial.now);
    trial.purge();
    trial.answer<PurgeLookup>(trial.purges, {});
    EXPECT_TRUE(trial.purges.has_to_walk()) << "that was the lookup of the former scan";
    trial.scan_memory();
    EXPECT_EQ(trial.end().back(), later);
}

}  // namespace
}  // namespace duewheel::purges_test
