#include "store/waits_for.h"

#include <gtest/gtest.h>

namespace duewheel::waits_for_test {
namespace {

using enum WaitsFor;

constexpr WaitsFor kAll[] = {none,       command, due,     turn,       consumer, lease,
                             occurrence, outcome, used_up, lease_lost, cancelled, expired};

TEST(WaitsFor, a_record_can_follow_everything) {
    for (const WaitsFor from : kAll) EXPECT_TRUE(is_legal_move(from, none));
}

TEST(WaitsFor, only_a_record_can_follow_what_the_engine_writes_unless_a_prepared_message_expires) {
    for (const WaitsFor from : kAll) {
        if (!is_to_be_written(from)) continue;
        for (const WaitsFor to : kAll) {
            EXPECT_EQ(is_legal_move(from, to), to == none || (from == outcome && to == expired));
        }
    }
}

TEST(WaitsFor, a_ready_message_is_leased_or_one_that_was_before_and_only_a_leased_one_loses_its_lease) {
    for (const WaitsFor from : kAll) {
        EXPECT_EQ(is_legal_move(from, lease), from == consumer || from == none);
        EXPECT_EQ(is_legal_move(from, lease_lost), from == lease);
    }
}

TEST(WaitsFor, a_due_message_is_not_due_later_without_a_record) {
    for (const WaitsFor from : kAll) EXPECT_EQ(is_legal_move(from, due), from == none || from == due);
}

TEST(WaitsFor, an_end_that_is_to_be_written_is_still_found_after_a_restart) {
    for (const WaitsFor each : kAll) {
        if (!is_ending(each)) continue;
        EXPECT_EQ(bounds_cursor(each), each != expired) << "the load cursor finds an expiry";
    }
}

}  // namespace
}  // namespace duewheel::waits_for_test
