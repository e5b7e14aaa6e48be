// The state of a schedule as stored in the log and the index, from arbitrary bytes: refused, or the same after it is
// written again; and if a schedule can have this state, the next plan decides each time once.
#include <algorithm>
#include <string>

#include "base/error_codes.h"
#include "engine/rules/schedule_plan.h"
#include "fuzz/fuzz_target.h"
#include "message/schedule_state.h"
#include "message/schedule_times.h"
#include "message/zone_cache.h"

namespace duewheel::schedule_row_fuzz {
namespace {

constexpr DueMs kInstantMost = 10'000'000'000'000;  // in the year 2286
constexpr std::uint64_t kCountMost = 1'000'000'000'000;

bool is_instant(DueMs at_ms) {
    return at_ms >= 0 && at_ms <= kInstantMost;
}

// What the engine would not have written: instants and counts beyond any.
bool is_of_this_world(const ScheduleState& state) {
    const TimesRule& times = state.rule.times;
    const bool has_counts = std::max({state.next_run, state.made, state.late, state.skipped, state.merged, times.times,
                                      state.passed_count}) <= kCountMost;
    return has_counts && is_instant(state.from_ms) && is_instant(state.next_ms) && is_instant(state.last_ms) &&
           is_instant(state.pass_until_ms) && is_instant(state.waiting_ms) && is_instant(times.start_ms) &&
           is_instant(times.end_ms) && is_instant(state.rule.misfire_window_ms) && state.next_ms >= state.from_ms;
}

void judge_plan(const ScheduleState& state, const ScheduleTimes& times) {
    PlanLimits limits;
    limits.steps_max = 20;
    limits.runs_max = 5;
    limits.last_is_unfinished = state.last_id % 2 == 1;
    const DueMs now = state.next_ms + static_cast<DueMs>(state.last_id % 100'000);
    const SchedulePlan plan = plan_runs(state, times, now, limits);
    const ScheduleState& after = plan.after;
    const auto decided = [](const ScheduleState& of) {
        return of.made + of.skipped + of.merged + (of.waiting_ms != 0 ? 1 : 0);
    };
    require(after.next_run - state.next_run == decided(after) - decided(state), "a time was decided twice, or not");
    require(plan.runs.size() == after.made - state.made && plan.runs.size() <= limits.runs_max, "runs are miscounted");
    require(after.next_ms == 0 || after.next_ms > state.next_ms || after.next_run == state.next_run,
            "a time comes again that was decided");
    for (const PlannedRun& run : plan.runs) require(run.nominal_ms <= now, "a run is made before its time");
}

}  // namespace

void fuzz(std::string_view input) {
    static ZoneCache zones;  // what a name means does not change between two calls
    const Result<ScheduleState> state = decode_schedule(input);
    if (!state) {
        const ErrorCode code = state.error().code;
        require(code == "damaged_record"_code || code == "newer_format"_code, "a state has another error",
                name_of(code));
        return;
    }
    const std::string written = encode_schedule(*state);
    const Result<ScheduleState> again = decode_schedule(written);
    require(again.ok() && (*again == *state || state->revision == 0), "a state is another after writing");
    require(encode_schedule(*again) == written, "equal states have different bytes");
    const Result<ScheduleTimes> times =
        ScheduleTimes::make(state->rule.times, [](std::string_view name) { return zones.find(name); });
    const bool is_due = state->next_ms != 0 && !state->paused && state->revision != 0;
    if (times && is_due && is_of_this_world(*state)) judge_plan(*state, *times);
}

}  // namespace duewheel::schedule_row_fuzz
