#include "message/records/outcome_rows.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::outcome_rows_test {
namespace {

MessageRecord end_of(MessageId id, DueMs ended_ms, std::string key = {}) {
    MessageRecord record;
    record.kind = RecordKind::end;
    record.id = id;
    record.time_ms = ended_ms;
    record.cause = Cause::acknowledged;
    record.state.state = State::done;
    record.state.version = 3;
    record.state.attempts = 2;
    record.state.due_ms = 1'000;
    record.state.nominal_due_ms = 900;
    record.state.queue = "mail";
    record.state.key = std::move(key);
    if (!record.state.key.empty()) record.state.request_hash = 77;
    record.lease_attempt = 2;
    record.lease_incarnation = 5;
    return record;
}

std::vector<MessageRecord> all(std::string_view rows) {
    std::vector<MessageRecord> found;
    const Status read = for_each_outcome(rows, [&](const MessageRecord& record) {
        found.push_back(record);
        return Status();
    });
    EXPECT_TRUE(read.ok()) << read.error().message;
    return found;
}

TEST(OutcomeRows, are_read_back_unchanged_and_in_order) {
    std::string rows;
    append_outcome(rows, end_of(7, 2'000, "order-1"));
    append_outcome(rows, end_of(9, 1'500));
    const std::vector<MessageRecord> found = all(rows);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].kind, RecordKind::relocate);
    EXPECT_EQ(found[0].id, 7u);
    EXPECT_EQ(found[0].state, end_of(7, 2'000, "order-1").state);
    EXPECT_EQ(found[0].ended_ms, 2'000);
    EXPECT_EQ(found[0].lease_attempt, 2u);
    EXPECT_EQ(found[0].lease_incarnation, 5u);
    EXPECT_EQ(found[1].id, 9u);
    EXPECT_EQ(ended_at(found[1]), 1'500);
}

// Cleaning copies rows from one such record to the next, for as long as outcomes are kept: nothing may be lost or
// added.
TEST(OutcomeRows, a_copy_of_a_copy_has_the_same_bytes) {
    std::string rows;
    append_outcome(rows, end_of(7, 2'000, "order-1"));
    append_outcome(rows, end_of(9, 1'500));
    std::string copied;
    for (const MessageRecord& record : all(rows)) append_outcome(copied, record);
    EXPECT_EQ(copied, rows);
}

TEST(OutcomeRows, are_less_than_half_of_the_records_they_stand_for) {
    std::string rows;
    std::string records;
    for (MessageId id = 1; id <= 100; ++id) {
        MessageRecord end = end_of(id * 4096, 1'700'000'000'000);
        end.log_position = 123'456;
        end.record_bytes = 300;
        end.previous = {State::scheduled, 2, 1'700'000'000'000, "mail", 0x1234567890abcdef, 0, 0};
        append_outcome(rows, end);
        append_record(records, id, end);
    }
    EXPECT_LT(rows.size() * 2, records.size());
}

TEST(OutcomeRows, refuses_truncated_bytes_and_other_records) {
    std::string rows;
    append_outcome(rows, end_of(7, 2'000));
    const auto read = [](std::string_view bytes) {
        return for_each_outcome(bytes, [](const MessageRecord&) { return Status(); });
    };
    for (std::size_t size = 1; size < rows.size(); ++size) {
        const Status cut = read(std::string_view(rows).substr(0, size));
        ASSERT_FALSE(cut.ok()) << size;
        EXPECT_EQ(cut.error().code, "damaged_record"_code);
    }
    for (const State state : {State::scheduled, State::dead}) {
        MessageRow row;
        row.id = 7;
        row.state = end_of(7, 2'000).state;
        row.state.state = state;
        row.ended_ms = 2'000;
        std::string of_another_kind(4, '\0');
        encode_row(of_another_kind, row);
        of_another_kind[0] = static_cast<char>(of_another_kind.size() - 4);
        EXPECT_FALSE(read(of_another_kind).ok());
    }
}

TEST(OutcomeRows, an_error_of_the_visitor_ends_the_walk) {
    std::string rows;
    append_outcome(rows, end_of(7, 2'000));
    append_outcome(rows, end_of(9, 1'500));
    int visits = 0;
    const Status stopped = for_each_outcome(rows, [&](const MessageRecord&) -> Status {
        ++visits;
        return Error{"damaged_index"_code, "enough"};
    });
    EXPECT_EQ(stopped.error().code, "damaged_index"_code);
    EXPECT_EQ(visits, 1);
}

}  // namespace
}  // namespace duewheel::outcome_rows_test
