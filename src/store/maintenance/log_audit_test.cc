#include "store/maintenance/log_audit.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::log_audit_test {
namespace {

constexpr std::size_t kFrameBytes = 100;

MessageRecord put_of(MessageId id) {
    MessageRecord record;
    record.kind = RecordKind::put;
    record.id = id;
    record.state.queue = "mail";
    record.state.due_ms = 5;
    return record;
}

MessageRecord end_of(MessageId id, Sequence log_position) {
    MessageRecord record = put_of(id);
    record.kind = RecordKind::end;
    record.log_position = log_position;
    record.record_bytes = kFrameBytes;
    record.previous = {State::scheduled, 1, 5, "mail", digest_term(id, record.state)};
    record.state.state = State::done;
    return record;
}

RelocationDoneRecord relocation_done_of(Sequence up_to, const Totals& totals) {
    return {.up_to = up_to, .live_count = totals.live_count, .digest = totals.digest};
}

TEST(LogAudit, a_footer_must_say_what_the_records_add_up_to) {
    LogAudit audit({}, 0);
    ASSERT_TRUE(audit.add(put_of(1024), 1, kFrameBytes).ok());
    CommitInLog commit;
    commit.totals = audit.totals();
    EXPECT_TRUE(audit.close(commit).ok());
    commit.totals.needed_bytes += 1;
    EXPECT_EQ(audit.close(commit).error().code, "damaged_log"_code);
    commit.totals = audit.totals();
    commit.totals.digest += 1;
    EXPECT_EQ(audit.close(commit).error().code, "damaged_log"_code);
    commit.totals = audit.totals();
    commit.totals.live_count += 1;
    EXPECT_EQ(audit.close(commit).error().code, "damaged_log"_code);
}

TEST(LogAudit, a_relocation_done_must_say_what_the_records_add_up_to) {
    LogAudit audit({}, 0);
    ASSERT_TRUE(audit.add(put_of(1024), 1, kFrameBytes).ok());
    ASSERT_TRUE(audit.add(put_of(2048), 2, kFrameBytes).ok());
    RelocationDoneRecord wrong_count = relocation_done_of(1, audit.totals());
    wrong_count.live_count -= 1;
    EXPECT_EQ(audit.add(wrong_count, 3, kFrameBytes).error().code, "damaged_log"_code);
    RelocationDoneRecord wrong_digest = relocation_done_of(1, audit.totals());
    wrong_digest.digest += 1;
    EXPECT_EQ(audit.add(wrong_digest, 3, kFrameBytes).error().code, "damaged_log"_code);
    EXPECT_EQ(audit.add(relocation_done_of(4, audit.totals()), 3, kFrameBytes).error().code, "damaged_log"_code);
    EXPECT_EQ(audit.relocated_up_to(), 0u);
    EXPECT_TRUE(audit.add(relocation_done_of(2, audit.totals()), 3, kFrameBytes).ok());
    EXPECT_EQ(audit.relocated_up_to(), 2u);
}

// A message that was not relocated, although a relocation-done says that all were, shows as soon as a record names its
// place.
TEST(LogAudit, after_a_relocation_done_no_record_refers_to_an_earlier_position) {
    LogAudit audit({}, 0);
    ASSERT_TRUE(audit.add(put_of(1024), 1, kFrameBytes).ok());
    ASSERT_TRUE(audit.add(put_of(2048), 2, kFrameBytes).ok());
    ASSERT_TRUE(audit.add(relocation_done_of(2, audit.totals()), 3, kFrameBytes).ok());
    EXPECT_TRUE(audit.add(end_of(2048, 2), 4, kFrameBytes).ok());
    const Status refused = audit.add(end_of(1024, 1), 5, kFrameBytes);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "damaged_log"_code);
    EXPECT_NE(refused.error().message.find("message 1024"), std::string::npos) << refused.error().message;
}

TEST(LogAudit, a_log_begins_with_its_first_record_or_where_a_relocation_done_reaches) {
    EXPECT_TRUE(LogAudit({}, 0).check_front(1).ok());
    EXPECT_EQ(LogAudit({}, 0).check_front(2).error().code, "damaged_log"_code);
    EXPECT_TRUE(LogAudit({}, 9).check_front(9).ok());
    EXPECT_TRUE(LogAudit({}, 9).check_front(5).ok()) << "what was released need not be gone yet";
    EXPECT_EQ(LogAudit({}, 9).check_front(10).error().code, "damaged_log"_code);
}

}  // namespace
}  // namespace duewheel::log_audit_test
