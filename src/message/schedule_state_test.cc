// The byte form of a schedule: encoded states decode to the same value, and nothing else is accepted.
#include "message/schedule_state.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "message/records/record.h"
#include "message/totals.h"

namespace duewheel::schedule_state_test {
namespace {

ScheduleState full() {
    ScheduleState state;
    state.revision = 7;
    state.rule.times = {TimesKind::cron, "30 2 * * *", 0, "Europe/Oslo", true, true, "SAT SUN", 1'000, 2'000'000, 12};
    state.rule.jitter_ms = 30'000;
    state.rule.misfire = Misfire::all;
    state.rule.misfire_window_ms = 3'600'000;
    state.rule.overlap = Overlap::queue_one;
    state.rule.queue = "q";
    state.rule.order_key = "k";
    state.rule.group = "g";
    state.rule.priority = -3;
    state.rule.expires_after_ms = 5;
    state.rule.retry.attempts = 3;
    state.rule.retry.jitter_permille = 0;
    state.rule.content_hash = 99;
    state.paused = true;
    state.created_ms = 1;
    state.from_ms = 2;
    state.next_ms = 3;
    state.next_run = 4;
    state.pass_until_ms = 5;
    state.last_ms = 6;
    state.last_offset_s = -3600;
    state.zone_data = "2026a";
    state.made = 8;
    state.late = 9;
    state.fired = 10;
    state.skipped = 11;
    state.merged = 12;
    state.made_up = 13;
    state.passed_from_ms = 14;
    state.passed_to_ms = 15;
    state.passed_count = 16;
    state.passed_why = PassedWhy::overlap;
    state.last_id = 17;
    state.last_run_ms = 18;
    state.waiting_ms = 19;
    state.waiting_run = 20;
    state.waiting_late = true;
    return state;
}

TEST(ScheduleState, is_read_as_it_was_written) {
    const std::string bytes = encode_schedule(full());
    const Result<ScheduleState> read = decode_schedule(bytes);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(*read == full());
    ScheduleState little;
    little.revision = 1;
    little.rule.queue = "q";
    EXPECT_TRUE(*decode_schedule(encode_schedule(little)) == little);
    EXPECT_EQ(encode_schedule(ScheduleState{}), "") << "none is nothing";
}

TEST(ScheduleState, what_is_cut_or_of_a_later_version_is_refused) {
    const std::string bytes = encode_schedule(full());
    std::size_t refused = 0;
    for (std::size_t size = 1; size < bytes.size(); ++size) {
        const Result<ScheduleState> read = decode_schedule(std::string_view(bytes).substr(0, size));
        if (!read) ++refused;
        EXPECT_TRUE(!read || !(*read == full())) << size;
    }
    EXPECT_GT(refused, bytes.size() / 3);
    const std::string later = bytes + std::string("\xa0\x06\x01", 3);  // field 400
    EXPECT_EQ(decode_schedule(later).error().code, "newer_format"_code);
    const std::string wild = std::string("\x02\x01\x04\x09", 4);  // times of kind 9
    EXPECT_EQ(decode_schedule(wild).error().code, "damaged_record"_code);
}

TEST(ScheduleState, the_longest_legal_one_fits_where_room_is_kept_for_it) {
    ScheduleState state = full();
    state.rule.times.text = std::string(1000, 'x');
    state.rule.times.zone = std::string(64, 'z');
    state.rule.times.closed = std::string(kClosedDaysBytesMax, 'c');
    state.rule.queue = std::string(200, 'q');
    state.rule.order_key = std::string(256, 'k');
    EXPECT_LT(encode_schedule(state).size() + 1000, kScheduleBytesMax);
}

// What a row of records adds up to: the place of the whole record is needed until another one, or the end, takes it.
TEST(ScheduleState, totals_need_the_newest_whole_record_alone) {
    Totals totals;
    RuleRecord record;
    record.subject = Subject::schedule;
    record.name = "nightly";
    const std::string first = encode_schedule(full());
    record.value = first;
    record.content.put_ms = 1;
    add_to_totals(totals, record, 500);
    EXPECT_EQ(totals.needed_bytes, 500u);
    const std::uint64_t term = subject_term(Subject::schedule, "default", "nightly", first);
    EXPECT_EQ(totals.digest, term);

    ScheduleState next = full();
    next.revision = 8;
    const std::string second = encode_schedule(next);
    record.value = second;
    record.content = {};
    record.revision_before = 7;
    record.term_before = term;
    record.log_position = 1;
    record.record_bytes = 500;
    add_to_totals(totals, record, 90);
    EXPECT_EQ(totals.needed_bytes, 500u);
    EXPECT_EQ(totals.digest, subject_term(Subject::schedule, "default", "nightly", second));

    record.term_before = totals.digest;
    record.value = {};
    add_to_totals(totals, record, 40);
    EXPECT_EQ(totals.needed_bytes, 0u);
    EXPECT_EQ(totals.digest, 0u);
}

TEST(ScheduleState, a_schedule_and_a_queue_of_one_name_have_different_terms) {
    EXPECT_NE(subject_term(Subject::schedule, "default", "a", "v"),
              subject_term(Subject::watchdog, "default", "a", "v"));
    EXPECT_EQ(subject_term(Subject::schedule, "default", "a", ""), 0u);
}

}  // namespace
}  // namespace duewheel::schedule_state_test
