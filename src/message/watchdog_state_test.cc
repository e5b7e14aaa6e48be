// The byte form of a watchdog.
#include "message/watchdog_state.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::watchdog_state_test {
namespace {

WatchdogState sample() {
    WatchdogState state;
    state.revision = 7;
    state.rule = {{"alarms", "host-7", "site-3", -3, 9'000, {}, 77}, 30'000, 300'000, 60'000};
    state.rule.retry.attempts = 0;
    state.rule.retry.jitter_permille = 100;
    state.created_ms = 1'000'000;
    state.fed_ms = 2'000'000;
    state.first_fed_ms = 1'900'000;
    state.due_ms = 2'030'000;
    state.feeds = 12;
    state.owed_ms = 1'800'000;
    state.owed_fed_ms = 1'700'000;
    state.fired = 3;
    state.merged = 2;
    state.last_id = 4096;
    state.last_due_ms = 1'600'000;
    return state;
}

TEST(WatchdogState, comes_back_from_its_bytes) {
    const WatchdogState state = sample();
    EXPECT_EQ(*decode_watchdog(encode_watchdog(state)), state);
    EXPECT_EQ(encode_watchdog(WatchdogState{}), "");
    EXPECT_EQ(*decode_watchdog(""), WatchdogState{});
}

// A feed holds all of it, and a million of them are normal.
TEST(WatchdogState, an_ordinary_one_is_small) {
    WatchdogState state;
    state.revision = 100'000;
    state.rule.timeout_ms = 90'000'000;
    state.rule.queue = "alarms";
    state.rule.content_hash = ~std::uint64_t{0};
    state.created_ms = state.fed_ms = state.first_fed_ms = 1'795'400'000'000;
    state.due_ms = state.fed_ms + state.rule.timeout_ms;
    state.feeds = 100'000;
    EXPECT_LE(encode_watchdog(state).size(), 72u);
}

TEST(WatchdogState, truncated_or_unknown_bytes_are_refused) {
    const std::string bytes = encode_watchdog(sample());
    for (std::size_t size = 1; size < bytes.size(); ++size) {
        const Result<WatchdogState> read = decode_watchdog(std::string_view(bytes).substr(0, size));
        EXPECT_EQ(read ? "damaged_record"_code : read.error().code, "damaged_record"_code);
    }
    EXPECT_EQ(decode_watchdog(bytes + std::string("\x7e\x01")).error().code, "newer_format"_code);
    WatchdogState nowhere = sample();
    nowhere.rule.queue.clear();
    EXPECT_EQ(decode_watchdog(encode_watchdog(nowhere)).error().code, "damaged_record"_code);
    WatchdogState at_once = sample();
    at_once.rule.timeout_ms = 0;
    EXPECT_EQ(decode_watchdog(encode_watchdog(at_once)).error().code, "damaged_record"_code);
}

}  // namespace
}  // namespace duewheel::watchdog_state_test
