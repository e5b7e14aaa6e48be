// A forecast in steps other than minutes. All else about forecasts is in engine_forecast_test.cc.
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_forecast_steps_test {
namespace {

constexpr DueMs kHour = 3'600'000;
constexpr DueMs kLeft = kHour - kStart % kHour;  // of the current hour

ForecastCommand hours(std::uint32_t minutes) {
    return {.queue = "q", .minutes = minutes, .step_ms = kHour};
}

TEST(ForecastSteps, the_first_is_the_rest_of_the_current_one) {
    TrialEngine shard;
    for (const DueMs delay : {DueMs{1}, kLeft - 1, kLeft, kLeft + 2 * kHour, kLeft + 3 * kHour}) shard.put(delay);
    const ForecastAnswer forecast = shard.ask<ForecastAnswer>(hours(181));
    EXPECT_EQ(forecast.step_ms, kHour);
    std::vector<std::uint64_t> due;
    for (const ForecastMinute& hour : forecast.minutes) {
        EXPECT_EQ(hour.start_ms, kStart / kHour * kHour + static_cast<DueMs>(due.size()) * kHour);
        EXPECT_FALSE(hour.at_least);
        due.push_back(hour.due());
    }
    EXPECT_EQ(due, (std::vector<std::uint64_t>{2, 1, 0, 1}));
}

TEST(ForecastSteps, the_number_of_steps_is_limited_and_not_that_of_minutes) {
    TrialEngine shard;
    EXPECT_EQ(shard.ask<ForecastAnswer>(hours(1'440 * 60)).minutes.size(), 1'440u);
    EXPECT_EQ(shard.ask<Error>(hours(1'440 * 60 + 1)).code, "out_of_range"_code);
}

}  // namespace
}  // namespace duewheel::engine_forecast_steps_test
