// For the engine's tests: schedules as they are put, and looked at.
#pragma once

#include <string>
#include <utility>

#include "engine/trial/trial_engine.h"

namespace duewheel {

inline PutScheduleCommand schedule(const TimesRule& times, std::string name = "s") {
    ScheduleRule rule;
    rule.times = times;
    rule.queue = "q";
    PutScheduleCommand command{
        .name = std::move(name), .rule = rule, .times = *ScheduleTimes::make(times, &Zone::load)};
    command.body = "again";
    command.headers = R"({"a":"b"})";
    return command;
}

inline PutScheduleCommand every(std::int64_t every_ms, std::uint64_t times = 0, std::string name = "s") {
    return schedule({.kind = TimesKind::every, .every_ms = every_ms, .times = times}, std::move(name));
}

inline ScheduleAnswer look_at(TrialEngine& shard, const std::string& name = "s") {
    return shard.ask<ScheduleAnswer>(DescribeScheduleCommand{"default", name});
}

}  // namespace duewheel
