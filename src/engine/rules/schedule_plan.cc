#include "engine/rules/schedule_plan.h"

#include <algorithm>
#include <cassert>

namespace duewheel {
namespace {

enum class Fate : std::uint8_t { run, skip, merge };

class Planner {
  public:
    Planner(const ScheduleState& state, const ScheduleTimes& times, DueMs now, const PlanLimits& limits)
        : times_(times), now_(now), limits_(limits), unfinished_(limits.last_is_unfinished) {
        plan_.after = state;
    }

    SchedulePlan plan() {
        ScheduleState& state = plan_.after;
        const bool waits = state.waiting_ms != 0 && state.rule.overlap == Overlap::queue_one;
        if (state.waiting_ms != 0 && !waits && !run_waiting()) return std::move(plan_);
        while (state.next_ms != 0 && state.next_ms <= now_ && plan_.steps < limits_.steps_max) {
            const DueMs after_next = time_after_next(state, times_);
            PassedWhy why = PassedWhy::none;
            const Fate fate = fate_of(state.next_ms, after_next, why);
            if (fate == Fate::merge && !has_room()) break;
            if (fate == Fate::run && !run(state.next_ms, state.next_run)) break;
            if (fate != Fate::run) pass(state.next_ms, fate, why, state.last_ms);
            ++plan_.steps;
            state.last_ms = state.next_ms;
            state.last_offset_s = times_.offset_s(state.next_ms);
            state.next_ms = after_next;
            state.next_run += 1;
        }
        // What has come is newer, and waits in its place.
        const bool is_newest = state.next_ms == 0 || state.next_ms > now_;
        if (waits && is_newest) run_waiting();
        return std::move(plan_);
    }

  private:
    bool is_late(DueMs nominal) const { return now_ - nominal > limits_.on_time_ms; }
    bool must_skip_run() const { return unfinished_ && plan_.after.rule.overlap == Overlap::skip; }

    // Whether a run has to wait, for the end of another or in the place of one that waits.
    bool must_wait() const {
        return plan_.after.rule.overlap == Overlap::queue_one && (unfinished_ || plan_.after.waiting_ms != 0);
    }

    // For the run that the next times are merged into; one that waits needs none yet.
    bool has_room() const { return must_wait() || plan_.runs.size() < limits_.runs_max; }

    bool is_too_old(DueMs nominal) const {
        const std::int64_t window_ms = plan_.after.rule.misfire_window_ms;
        return window_ms != 0 && now_ - nominal > window_ms;
    }

    // The run that waits for the end of the one before. False: there is no room for it, and nothing goes before it.
    bool run_waiting() {
        ScheduleState& state = plan_.after;
        if (state.rule.overlap != Overlap::allow && unfinished_) return true;
        if (is_too_old(state.waiting_ms)) {
            pass_waiting(Fate::skip, PassedWhy::too_old);
        } else {
            if (plan_.runs.size() >= limits_.runs_max) return false;
            plan_.runs.push_back({state.waiting_ms, state.waiting_run});
            count_run(state.waiting_late);
            state.last_run_ms = state.waiting_ms;
            unfinished_ = true;
        }
        ++plan_.steps;
        state.waiting_ms = 0;
        state.waiting_run = 0;
        state.waiting_late = false;
        return true;
    }

    Fate fate_of(DueMs nominal, DueMs after_next, PassedWhy& why) {
        const ScheduleState& state = plan_.after;
        const ScheduleRule& rule = state.rule;
        if (nominal < state.pass_until_ms) return why = PassedWhy::paused, Fate::skip;
        if (is_too_old(nominal)) return why = PassedWhy::too_old, Fate::skip;
        if (is_late(nominal)) {
            why = PassedWhy::missed;
            if (rule.misfire == Misfire::skip) return Fate::skip;
            if (rule.misfire == Misfire::once && after_next != 0 && is_late(after_next)) {
                if (!must_skip_run()) return Fate::merge;
                return why = PassedWhy::overlap, Fate::skip;  // what it would be merged into is not made either
            }
            if (rule.misfire == Misfire::all && state.made_up >= limits_.catch_up_max) return Fate::skip;
            why = PassedWhy::none;
        }
        if (!unfinished_ || rule.overlap == Overlap::allow) return Fate::run;
        if (must_skip_run()) return why = PassedWhy::overlap, Fate::skip;
        return Fate::run;  // to wait
    }

    // False: there is no room for it in this plan.
    bool run(DueMs nominal, std::uint64_t number) {
        ScheduleState& state = plan_.after;
        const bool late = is_late(nominal);
        if (must_wait()) {
            if (state.waiting_ms != 0) pass_waiting(Fate::merge, PassedWhy::overlap);
            state.waiting_ms = nominal;
            state.waiting_run = number;
            state.waiting_late = late;
        } else {
            if (plan_.runs.size() >= limits_.runs_max) return false;
            plan_.runs.push_back({nominal, number});
            count_run(late);
            state.last_run_ms = nominal;
            unfinished_ = true;
        }
        return true;
    }

    void count_run(bool late) {
        plan_.after.made += 1;
        if (late) plan_.after.late += 1;
        plan_.after.made_up = late ? plan_.after.made_up + 1 : 0;
    }

    // Others may have been decided since it began to wait.
    void pass_waiting(Fate fate, PassedWhy why) {
        const ScheduleState& state = plan_.after;
        const bool is_next =
            state.passed_to_ms != 0 && times_.next(state.passed_to_ms, state.from_ms) == state.waiting_ms;
        pass(state.waiting_ms, fate, why, is_next ? state.passed_to_ms : 0);
    }

    // `before`: the nominal time before it.
    void pass(DueMs nominal, Fate fate, PassedWhy why, DueMs before) {
        ScheduleState& state = plan_.after;
        (fate == Fate::skip ? state.skipped : state.merged) += 1;
        plan_.passed_from_ms = plan_.passed_from_ms == 0 ? nominal : std::min(plan_.passed_from_ms, nominal);
        plan_.passed_to_ms = std::max(plan_.passed_to_ms, nominal);
        if (why != PassedWhy::missed && why != PassedWhy::too_old) state.made_up = 0;
        // One that waited may be older than others that were skipped since: the newest stretch is theirs.
        if (nominal < state.passed_to_ms) return;
        const bool goes_on = state.passed_why == why && state.passed_to_ms != 0 && state.passed_to_ms == before;
        if (!goes_on) {
            state.passed_from_ms = nominal;
            state.passed_count = 0;
            state.passed_why = why;
        }
        state.passed_to_ms = nominal;
        state.passed_count += 1;
    }

    const ScheduleTimes& times_;
    const DueMs now_;
    const PlanLimits& limits_;
    bool unfinished_;
    SchedulePlan plan_;
};

}  // namespace

DueMs time_after_next(const ScheduleState& state, const ScheduleTimes& times) {
    assert(state.next_ms != 0);
    const std::uint64_t most = state.rule.times.times;
    if (most != 0 && state.next_run >= most) return 0;
    return times.next(state.next_ms, state.from_ms).value_or(0);
}

SchedulePlan plan_runs(const ScheduleState& state, const ScheduleTimes& times, DueMs now, const PlanLimits& limits) {
    return Planner(state, times, now, limits).plan();
}

}  // namespace duewheel
