// The calls that the dashboard shows as pictures.
#include "http_api/calls/dashboard_call.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "http_api/calls/call_fixture.h"

namespace duewheel::dashboard_call_test {
namespace {

constexpr DueMs kNow = 1'798'783'200'250;
constexpr DueMs kRow = 1'798'783'200'000;

class DashboardCall : public ::testing::Test {
  protected:
    DashboardCall() {
        server_.server().on_loop([this] {
            PlayedShard& shard = server_.shard();
            shard.clock_status.server_ms = kNow;
            deliver(kRow - 3'600'000, {"default", "mail"}, 900);
            deliver(kRow - 10'000, {"default", "mail"}, 3);
            deliver(kRow - 5'000, {"shop", "orders"}, 7);
            deliver(kRow, {"default", "mail"}, 1);
        });
    }
    void deliver(DueMs now, const QueueName& name, std::int64_t late_ms) {
        server_.shard().history.deliver(now, name, 1).record(late_ms, 10 * late_ms);
    }
    std::string lateness(const std::string& query) { return server_.ask({"GET", "/v1/lateness" + query}); }

    ApiServer server_;
};

const std::string kMail = R"({"time_ms":1798783190000,"count":1,"p50_ms":3,"p99_ms":3,"max_ms":3,)"
                          R"("wait_p50_ms":30,"wait_p99_ms":30,"wait_max_ms":30})";
const std::string kOrders = R"({"time_ms":1798783195000,"count":1,"p50_ms":7,"p99_ms":7,"max_ms":7,)"
                            R"("wait_p50_ms":70,"wait_p99_ms":70,"wait_max_ms":70})";

TEST_F(DashboardCall, lateness_has_the_complete_rows_of_the_window) {
    EXPECT_EQ(body_of(lateness("?window=10s")),
              R"({"row_ms":5000,"from_ms":1798783190000,"until_ms":1798783200000,"rows":[)" + kMail + "," + kOrders +
                  R"(],"queues":[{"queue":"mail","count":1,"p99_ms":3,"max_ms":3,"wait_p99_ms":30,"wait_max_ms":30},)"
                  R"({"namespace":"shop","queue":"orders","count":1,"p99_ms":7,"max_ms":7,)"
                  R"("wait_p99_ms":70,"wait_max_ms":70}]})");
    EXPECT_EQ(member_of(lateness("?window=5s"), "rows"), "[" + kOrders + "]");
    EXPECT_EQ(member_of(lateness(""), "from_ms"), std::to_string(kRow - 3'600'000));
}

TEST_F(DashboardCall, lateness_of_one_queue) {
    EXPECT_EQ(body_of(lateness("?window=1m&queue=mail")),
              R"({"row_ms":5000,"from_ms":1798783140000,"until_ms":1798783200000,"rows":[)" + kMail + "]}");
    EXPECT_EQ(member_of(lateness("?window=1m&queue=orders&namespace=shop"), "rows"), "[" + kOrders + "]");
    EXPECT_EQ(member_of(lateness("?queue=orders"), "rows"), "[]") << "of another namespace";
}

TEST_F(DashboardCall, lateness_checks_its_parameters) {
    const auto code = [&](const std::string& query) { return member_of(lateness(query), "code"); };
    const std::pair<const char*, const char*> cases[] = {
        {"?window=4s", "out_of_range"},
        {"?window=1h1ms", "out_of_range"},
        {"?window=60", "bad_duration"},
        {"?windows=1m", "unknown_parameter"},
        {"?queue=..", "bad_queue_name"},
        {"?queue=mail&namespace=..", "bad_namespace"},
        {"?queue=a&queue=b", "duplicate_parameter"},
    };
    for (const auto& [query, error] : cases) EXPECT_EQ(code(query), error) << query;
}

TEST_F(DashboardCall, the_wheel_has_its_levels_and_slots_in_use) {
    server_.server().on_loop([this] {
        server_.shard().wheel_view = {.now_ms = kNow,
                                      .timers = 12,
                                      .late = 2,
                                      .indexed_only = 1'000'000,
                                      .levels = {{0, {{kNow + 5, 3}, {kNow + 6, 1}}}, {2, {{439'156'055, 6}}}}};
    });
    const std::string page = body_of(server_.ask({"GET", "/v1/wheel"}));
    EXPECT_EQ(page, R"({"now_ms":1798783200250,"tick_ms":1,"timers":12,"late":2,"indexed_only":1000000,"levels":[)"
                    R"({"level":0,"slot_ms":1,"slots":128,"position":1798783200250,)"
                    R"("counts":[[1798783200255,3],[1798783200256,1]]},)"
                    R"({"level":2,"slot_ms":4096,"slots":128,"position":439156054,"counts":[[439156055,6]]}]})");
    server_.server().on_loop([this] { server_.shard().wheel_view = {}; });
    EXPECT_EQ(body_of(server_.ask({"GET", "/v1/wheel"})), page) << "once a second";
}

TEST_F(DashboardCall, a_full_wheel_is_at_most_64_kib) {
    WheelView full{.now_ms = kNow, .timers = 0, .late = 0, .indexed_only = 0, .levels = {}};
    for (unsigned level = 0; level < 11; ++level) {
        for (std::uint64_t slot = 0; slot < 128; ++slot) {
            full.levels[level][(static_cast<std::uint64_t>(kNow) >> (6 * level)) + slot] = 2'000'000;
        }
    }
    EXPECT_LE(wheel_text(full).size(), 64u * 1024);
}

}  // namespace
}  // namespace duewheel::dashboard_call_test
