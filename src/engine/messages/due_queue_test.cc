#include "engine/messages/due_queue.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::due_queue_test {
namespace {

using Queue = DueQueue<std::uint64_t>;

// Prepares the due ones, whose records are at ten times their number.
std::optional<ReadRecords> prepare(Queue& queue, const RecordCache& cache, std::size_t most) {
    for (; queue.prepared_count() < most && queue.has_due(); queue.pop_due()) {
        queue.prepare(queue.first_due(), queue.first_due() * 10, 100, cache);
    }
    return queue.start_reading();
}

TEST(DueQueue, is_ready_when_every_record_is_read_and_keeps_the_order) {
    Queue queue;
    RecordCache cache(1 << 20);
    cache.insert(20, "of 2");
    for (const std::uint64_t id : {3, 2, 1, 4}) queue.add(id);
    ASSERT_TRUE(queue.has_to_read());
    const auto wanted = prepare(queue, cache, 3);
    ASSERT_TRUE(wanted);
    EXPECT_EQ(wanted->log_positions, (std::vector<Sequence>{10, 30})) << "ascending, without what the cache has";
    EXPECT_FALSE(queue.has_ready());
    EXPECT_FALSE(queue.has_to_read());
    ASSERT_TRUE(queue.take_records({{10, "of 1"}, {30, "of 3"}}, "due timer"));
    std::vector<std::string> taken;
    while (queue.has_ready()) {
        EXPECT_FALSE(queue.has_to_read()) << "4 is read when these are done";
        taken.push_back(queue.take_ready().record_body);
    }
    EXPECT_EQ(taken, (std::vector<std::string>{"of 3", "of 2", "of 1"}));
    EXPECT_TRUE(queue.has_to_read());
    EXPECT_FALSE(queue.is_idle());
}

TEST(DueQueue, what_the_cache_has_is_ready_at_once) {
    Queue queue;
    RecordCache cache(1 << 20);
    cache.insert(10, "of 1");
    queue.add(1);
    EXPECT_FALSE(prepare(queue, cache, 3));
    ASSERT_TRUE(queue.has_ready());
    queue.put_back(queue.take_ready());
    EXPECT_EQ(queue.take_ready().record_body, "of 1");
    EXPECT_TRUE(queue.is_idle());
}

TEST(DueQueue, waits_for_other_lookups_too) {
    Queue queue;
    RecordCache cache(1 << 20);
    queue.add(1);
    queue.start_lookup();
    ASSERT_TRUE(prepare(queue, cache, 1));
    std::vector<std::uint64_t> read;
    ASSERT_TRUE(
        queue.take_records({{10, "of 1"}}, "due timer", [&](const Queue::Item& item) { read.push_back(item.id); }));
    EXPECT_EQ(read, std::vector<std::uint64_t>{1});
    EXPECT_FALSE(queue.has_ready());
    queue.finish_lookup();
    EXPECT_TRUE(queue.has_ready());
}

TEST(DueQueue, reads_a_large_record_alone) {
    Queue queue;
    const RecordCache cache(1 << 20);
    EXPECT_TRUE(queue.fits(5'000, 1'000)) << "the first one always";
    queue.prepare(1, 10, 600, cache);
    EXPECT_TRUE(queue.fits(400, 1'000));
    EXPECT_FALSE(queue.fits(401, 1'000));
    ASSERT_TRUE(queue.start_reading());
    EXPECT_TRUE(queue.fits(5'000, 1'000));
}

TEST(DueQueue, a_record_that_is_not_in_the_log_is_an_error_that_names_it) {
    Queue queue;
    const RecordCache cache(1 << 20);
    queue.add(1);
    ASSERT_TRUE(prepare(queue, cache, 1));
    const Status read = queue.take_records({{11, "another"}}, "due timer");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, "damaged_log"_code);
    EXPECT_EQ(read.error().message, "record 10 of a due timer is not in the log: run `duewheel check`");
}

}  // namespace
}  // namespace duewheel::due_queue_test
