#include "message/records/past_attempts.h"

#include <string>

#include <gtest/gtest.h>

namespace duewheel::past_attempts_test {
namespace {

PastAttempt failed(std::uint32_t attempt, std::string reason) {
    return {attempt, 1000 * attempt, 1000 * attempt + 5, AttemptOutcome::failed, std::move(reason), "w"};
}

TEST(PastAttempts, the_last_ten_come_back_as_they_were) {
    std::string bytes;
    for (std::uint32_t i = 1; i <= 12; ++i) append_past_attempt(bytes, failed(i, i % 3 == 0 ? "" : "no paper"));
    const auto attempts = decode_past_attempts(bytes);
    ASSERT_TRUE(attempts.has_value());
    ASSERT_EQ(attempts->size(), kPastAttemptsMax);
    for (std::uint32_t i = 3; i <= 12; ++i) EXPECT_EQ((*attempts)[i - 3], failed(i, i % 3 == 0 ? "" : "no paper"));
    EXPECT_EQ(encode_past_attempts(*attempts), bytes);
    EXPECT_EQ(decode_past_attempts("")->size(), 0u);
}

TEST(PastAttempts, an_equal_reason_is_stored_once_and_a_long_one_is_shortened) {
    std::string one;
    append_past_attempt(one, failed(1, std::string(5000, 'x')));
    EXPECT_LE(one.size(), kPastAttemptBytesMax);
    std::string two = one;
    append_past_attempt(two, failed(2, std::string(5000, 'x')));
    EXPECT_LT(two.size(), one.size() + 24);
    EXPECT_EQ(decode_past_attempts(two)->back().reason.size(), kAttemptReasonBytesMax);
}

TEST(PastAttempts, other_bytes_are_none) {
    std::string bytes;
    append_past_attempt(bytes, failed(1, "x"));
    EXPECT_FALSE(decode_past_attempts(bytes.substr(1)));
    EXPECT_FALSE(decode_past_attempts(bytes.substr(0, bytes.size() - 1)));
    EXPECT_FALSE(decode_past_attempts(std::string("\x02\x0e\x01", 3))) << "it repeats a reason that nothing has";
}

TEST(PastAttempts, the_timeline_has_the_attempt_whose_lease_was_lost) {
    MessageRow row;
    row.state.attempts = 3;
    row.state.work.edit([](WorkState& work) {
        work.lease = {7000, 3000, 1, "w"};
        append_past_attempt(work.past_attempts, failed(1, "x"));
    });
    ASSERT_EQ(timeline_of(row, 0).size(), 2u);
    EXPECT_EQ(timeline_of(row, 0).back(), (PastAttempt{3, 3000, 7000, AttemptOutcome::lease_lost, "", "w"}));
    EXPECT_EQ(timeline_of(row, 3).size(), 1u) << "it has its lease";
    EXPECT_EQ(timeline_of(row, 4).size(), 2u) << "another attempt has one";
}

}  // namespace
}  // namespace duewheel::past_attempts_test
