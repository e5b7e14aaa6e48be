#include "engine/core/lookups.h"

#include <utility>
#include <variant>

#include <gtest/gtest.h>

namespace duewheel::lookups_test {
namespace {

TEST(Lookups, numbers_lookups_in_order_and_keeps_what_waits_for_each) {
    Lookups lookups;
    EXPECT_EQ(lookups.newest_ticket(), 0u);
    EXPECT_EQ(lookups.start(ScanDue{{5, 0}, 9, 10}, DueLookup{.from = {5, 0}, .until_ms = 9}), 1u);
    EXPECT_EQ(lookups.start(FindMessage{7}, LastRunLookup{3}), 2u);
    const std::vector<Lookup> started = lookups.take_started();
    ASSERT_EQ(started.size(), 2u);
    EXPECT_EQ(started[0].ticket, 1u);
    EXPECT_EQ(std::get<FindMessage>(started[1].what).id, 7u);
    EXPECT_TRUE(lookups.take_started().empty());

    EXPECT_EQ(lookups.open(), 2u);
    EXPECT_EQ(lookups.at<DueLookup>(1).until_ms, 9);
    EXPECT_EQ(std::get<LastRunLookup>(lookups.finish(2, lookups.newest())).run, 3u);
    EXPECT_EQ(lookups.open(), 1u);
}

TEST(Lookups, a_result_from_before_the_newest_table_is_stale) {
    Lookups lookups;
    lookups.start(FindMessage{7}, LastRunLookup{});
    lookups.start(FindMessage{8}, LastRunLookup{});
    const Generation before = lookups.generation().load();
    EXPECT_TRUE(lookups.is_fresh(before));
    lookups.table_taken(4);
    EXPECT_FALSE(lookups.is_fresh(before));
    EXPECT_TRUE(lookups.is_fresh(lookups.generation().load()));
    static_cast<void>(lookups.finish(1, before));
    static_cast<void>(lookups.finish(2, lookups.newest()));
    EXPECT_EQ(lookups.stale_results(), 1u);
    lookups.table_taken(3);
    EXPECT_EQ(lookups.sealed_through(), 4u) << "the index does not lose segments";
}

TEST(Lookups, knows_whether_one_up_to_a_ticket_is_open) {
    Lookups lookups;
    for (MessageId id = 1; id <= 3; ++id) lookups.start(FindMessage{id}, LastRunLookup{});
    EXPECT_FALSE(lookups.is_open_until(0));
    EXPECT_TRUE(lookups.is_open_until(1));
    static_cast<void>(lookups.finish(1, lookups.newest()));
    EXPECT_FALSE(lookups.is_open_until(1));
    EXPECT_TRUE(lookups.is_open_until(2));
    static_cast<void>(lookups.finish(3, lookups.newest()));
    EXPECT_TRUE(lookups.is_open_until(3)) << "2 is open";
}

TEST(Lookups, counts_the_content_that_is_read_to_be_shown_while_it_is_read) {
    Lookups lookups;
    const auto read = [&](std::size_t bytes) {
        MessageLookup lookup;
        lookup.shown_bytes = bytes;
        return lookups.start(ReadRecords{{1}}, std::move(lookup));
    };
    const std::uint64_t first = read(100);
    read(20);
    lookups.start(ReadRecords{{1}}, PrefetchLookup{});
    EXPECT_EQ(lookups.shown_bytes(), 120u);
    static_cast<void>(lookups.finish(first, lookups.newest()));
    EXPECT_EQ(lookups.shown_bytes(), 20u);
}

TEST(Lookups, clients_wait_for_commands_and_deliveries_and_not_for_what_the_engine_reads_ahead) {
    Lookups lookups;
    lookups.start(ScanDue{}, DueLookup{});
    lookups.start(ReadRecords{}, PrefetchLookup{});
    lookups.start(ReadRecords{}, FiringLookup{});
    EXPECT_FALSE(lookups.has_awaited());
    const std::uint64_t delivery = lookups.start(ReadRecords{{1}}, DeliveryLookup{});
    EXPECT_TRUE(lookups.has_awaited());
    static_cast<void>(lookups.finish(delivery, lookups.newest()));
    EXPECT_FALSE(lookups.has_awaited());
    lookups.start(FindMessage{5}, FactsLookup{});
    EXPECT_TRUE(lookups.has_awaited());
}

}  // namespace
}  // namespace duewheel::lookups_test
