#include "http_api/calls/clock_call.h"

#include <gtest/gtest.h>

#include "http_api/calls/call_fixture.h"

namespace duewheel::clock_call_test {
namespace {

constexpr DueMs kNow = 1'798'783'200'250;

class ClockCall : public ::testing::Test {
  protected:
    ClockCall() { told({.server_ms = kNow, .wall_ms = kNow}); }

    void told(ClockStatus status) {
        server_.server().on_loop([&] { server_.shard().clock_status = status; });
    }
    DueMs server_ms() {
        DueMs now = 0;
        server_.server().on_loop([&] { now = server_.shard().clock_status.server_ms; });
        return now;
    }
    std::string advance(const std::string& body) { return server_.ask({"POST", "/v1/clock:advance", body}); }
    std::string code(const std::string& answer) { return member_of(answer, "code"); }

    ApiServer server_;
};

TEST_F(ClockCall, reports_both_clocks_and_their_state) {
    told({kNow, kNow + 90'000'000, ClockState::held, ClockJump::hold, 3});
    EXPECT_EQ(
        body_of(server_.ask({"GET", "/v1/clock"})),
        R"({"server_time":"2027-01-01T06:00:00.250Z","server_time_ms":1798783200250,)"
        R"("wall_clock_ms":1798873200250,"wall_clock_ahead_ms":90000000,"state":"held","on_jump":"hold","jumps":3})");
    told({kNow, kNow - 1, ClockState::steady, ClockJump::accept, 0});
    const std::string answer = server_.ask({"GET", "/v1/clock"});
    EXPECT_EQ(member_of(answer, "wall_clock_ahead_ms"), "-1");
    EXPECT_EQ(member_of(answer, "on_jump"), "accept");
    EXPECT_EQ(code(server_.ask({"GET", "/v1/clock?x=1"})), "unknown_parameter");
    EXPECT_EQ(code(server_.ask({"PUT", "/v1/clock"})), "method_not_allowed");
}

TEST_F(ClockCall, a_jump_is_accepted_once_and_only_where_one_is_held) {
    EXPECT_EQ(code(server_.ask({"POST", "/v1/clock:accept"})), "clock_not_held");
    for (const ClockState state : {ClockState::held, ClockState::quarantine}) {
        told({kNow, kNow, state});
        EXPECT_EQ(member_of(server_.ask({"POST", "/v1/clock:accept"}), "state"), "steady");
        EXPECT_EQ(code(server_.ask({"POST", "/v1/clock:accept"})), "clock_not_held");
    }
    EXPECT_EQ(code(server_.ask({"POST", "/v1/clock:accept", R"({"by_ms":1})"})), "unknown_member");
    EXPECT_EQ(code(server_.ask({"GET", "/v1/clock:accept"})), "method_not_allowed");
}

TEST_F(ClockCall, a_manual_clock_advances_as_requested) {
    told({.server_ms = kNow, .state = ClockState::test});
    EXPECT_EQ(member_of(advance(R"({"by":"90s"})"), "server_time_ms"), std::to_string(kNow + 90'000));
    EXPECT_EQ(member_of(advance(R"({"to":"2027-02-01T00:00:00Z"})"), "server_time"), "2027-02-01T00:00:00.000Z");
    EXPECT_EQ(member_of(advance(R"({"by_ms":0})"), "server_time"), "2027-02-01T00:00:00.000Z");
}

// Whatever is refused has moved nothing.
TEST_F(ClockCall, an_invalid_advance_is_refused) {
    told({.server_ms = kNow, .state = ClockState::test});
    EXPECT_EQ(code(advance("")), "missing_member");
    EXPECT_EQ(code(advance(R"({"by_ms":1,"to_ms":1})")), "conflicting_members");
    EXPECT_EQ(code(advance(R"({"by_ms":-1})")), "negative_duration");
    EXPECT_EQ(code(advance(R"({"by":"soon"})")), "bad_duration");
    EXPECT_EQ(code(advance(R"({"to":"tomorrow"})")), "bad_instant");
    EXPECT_EQ(code(advance(R"({"to":"2027-01-01T06:00:00Z"})")), "out_of_range") << "a quarter of a second ago";
    EXPECT_EQ(code(advance(R"({"by":"100000d"})")), "out_of_range") << "beyond what can be counted";
    EXPECT_EQ(code(advance(R"({"to":"2200-01-01T00:00:00.001Z"})")), "out_of_range");
    EXPECT_EQ(server_ms(), kNow);
    EXPECT_EQ(member_of(advance(R"({"to":"2200-01-01T00:00:00Z"})"), "server_time_ms"),
              std::to_string(kServerTimeMaxMs));
}

TEST_F(ClockCall, only_a_manual_clock_can_be_advanced) {
    for (const ClockState state : {ClockState::steady, ClockState::held}) {
        told({.server_ms = kNow, .state = state});
        EXPECT_EQ(code(advance(R"({"by":"1h"})")), "not_a_test_clock");
        EXPECT_EQ(server_ms(), kNow);
    }
}

}  // namespace
}  // namespace duewheel::clock_call_test
