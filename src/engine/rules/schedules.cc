#include "engine/rules/schedules.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/error_codes.h"
#include "base/invariant.h"
#include "calendar/duration.h"
#include "calendar/instant_text.h"

namespace duewheel {
namespace {

Error never_due(std::string field, const std::string& why) {
    return {"never_due"_code, "the schedule would never create a message: " + why, std::move(field)};
}

// The error for a rule without a time after `now`, which names the members that cause it.
Error never_due(const ScheduleTimes& times, const TimesRule& rule, DueMs now) {
    const auto next = [now](const ScheduleTimes& other) { return other.next(now, now); };
    const ScheduleTimes open_days = times.without_closed_days();
    if (next(open_days)) return never_due("closed", "all of its times are on `closed` days: close fewer days");
    const std::optional<ScheduleTimes> shifted = times.without_policies();
    if (rule.skips_gaps && shifted && next(*shifted)) {
        return never_due("dst", "clock changes skip every local time that `" + rule.text +
                                    "` matches: let `dst` be \"shift\", or give another time of day");
    }
    std::optional<DueMs> behind_end = next(times.without_end());
    if (!behind_end) behind_end = next(open_days.without_end());
    if (behind_end) {
        return never_due("end", "the next time, " + times.local_text(*behind_end) +
                                    ", is after `end`: give a later `end`, or omit it");
    }
    const ScheduleTimes unbounded = open_days.without_end().without_start();
    if (next(unbounded)) {
        return never_due("start", "all of its times are before `start`: give an earlier `start`, or another rule");
    }
    const std::string member(times_kind_name(rule.kind));
    if (unbounded.next(0, 0) || rule.kind != TimesKind::cron) {
        return never_due(member, "all times of its `" + member + "` have passed: give later ones");
    }
    return never_due(member, "no day and time ever match `" + rule.text + "`: give another expression");
}

}  // namespace

Schedules::Schedules(const Uses& uses, Queues& queues, std::vector<ScheduleStart> stored, std::string zone_data)
    : NamedRules(uses, queues), zone_data_(std::move(zone_data)) {
    for (ScheduleStart& start : stored) {
        Schedule& schedule = begin(start);
        schedule.times = std::move(start.times);
        keep_to_zone_data(schedule);
    }
}

// Recalculates the next time if the zone data differ from those it was calculated with, even if they have the same
// version or none. Earlier decisions are kept.
void Schedules::keep_to_zone_data(Schedule& schedule) const {
    ScheduleState& state = schedule.state;
    if (!schedule.times || state.next_ms == 0) return;
    if (schedule.times->depends_on_zone()) {
        const bool has_decided = state.last_ms > state.from_ms;
        const std::optional<DueMs> next =
            has_decided ? schedule.times->next_after_change(state.last_ms, state.last_offset_s, state.from_ms)
                        : schedule.times->next(std::max(state.last_ms, state.from_ms), state.from_ms);
        state.next_ms = next.value_or(0);
    }
    state.zone_data = zone_data_;
}

// ---- commands

Verdict Schedules::put(PendingCommand& pending, PutScheduleCommand& command) {
    Schedule* schedule = table_.find(command.name_space, command.name);
    if (const auto verdict = refuse(pending, command, schedule)) return *verdict;
    if (schedule != nullptr && schedule->state.rule == command.rule && schedule->times &&
        (!command.paused || *command.paused == schedule->state.paused)) {
        return replied(pending, describe(*schedule));
    }
    Result<ScheduleState> next = state_after(command, schedule);
    if (!next) return replied(pending, std::move(next).error());
    if (schedule == nullptr) {
        if (const auto verdict = refuse_new(pending, command.name_space)) return *verdict;
    }
    if (const auto verdict = refuse_for_puts(pending)) return *verdict;
    const MessageContent content = content_of(command);
    ScheduleAnswer answer;
    answer.created = schedule == nullptr;
    if (schedule == nullptr) schedule = &begin(command.name_space, command.name);
    schedule->coming = std::move(command.times);
    add_state(*schedule, *std::move(next), &content, pending.token, std::move(answer));
    return Verdict::settled;
}

// The state that a put would write, unless its rule has no future time. `schedule`: null if it is new.
Result<ScheduleState> Schedules::state_after(const PutScheduleCommand& command, const Schedule* schedule) const {
    ScheduleState next = schedule != nullptr ? schedule->state : ScheduleState{};
    const bool has_same_times = schedule != nullptr && schedule->times && next.rule.times == command.rule.times;
    next.rule = command.rule;
    if (command.paused && next.paused && !*command.paused) next.pass_until_ms = now_;
    if (command.paused) next.paused = *command.paused;
    if (next.created_ms == 0) next.created_ms = now_;
    if (has_same_times) return next;
    next.from_ms = now_;
    next.pass_until_ms = 0;
    next.made_up = 0;
    const std::uint64_t most = next.rule.times.times;
    const std::optional<DueMs> first = command.times.next(now_, now_);
    if (!first) return never_due(command.times, next.rule.times, now_);
    if (most != 0 && next.next_run > most) {
        return out_of_range("times", "`times` is the total number of nominal times, of which " +
                                         std::to_string(next.next_run - 1) +
                                         " have passed already: give a larger number, or omit it");
    }
    next.next_ms = *first;
    return next;
}

Status Schedules::check(const PutScheduleCommand& command) const {
    const ScheduleRule& rule = command.rule;
    if (rule.times.times > options_.repeat_times_max) {
        return out_of_range("times", "`times` is the total number of nominal times: up to " +
                                         std::to_string(options_.repeat_times_max));
    }
    if (rule.jitter_ms > options_.delay_max_ms) {
        return out_of_range("jitter", "at most " + format_duration(options_.delay_max_ms));
    }
    if (rule.times.end_ms != 0 && rule.times.end_ms < rule.times.start_ms) {
        return out_of_range("end", "before `start`: there is no time between them");
    }
    return check_messages(command.name_space, rule);
}

Verdict Schedules::decide(PendingCommand& pending, ControlScheduleCommand& command) {
    using What = ControlScheduleCommand::What;
    if (command.what == What::remove) return remove(pending, command.name_space, command.name);
    Schedule* schedule = table_.find(command.name_space, command.name);
    if (schedule != nullptr && schedule->in_batch()) return Verdict::deferred;
    if (schedule == nullptr || !is_visible(*schedule, pending.limits)) {
        return replied(pending, unknown(command.name_space, command.name, pending.limits));
    }
    if (command.what == What::fire) return fire(pending, command, *schedule);
    ScheduleState next = schedule->state;
    const bool pauses = command.what == What::pause;
    if (next.paused == pauses) return replied(pending, describe(*schedule));
    // A paused schedule creates no messages: a pause may always be written.
    if (refuse_for_space(pending, pauses ? Adds::end : Adds::change)) return Verdict::settled;
    next.paused = pauses;
    if (!pauses) next.pass_until_ms = now_;
    add_state(*schedule, std::move(next), nullptr, pending.token, ScheduleAnswer{});
    return Verdict::settled;
}

// Creates a run now, regardless of the rule, a pause and earlier runs. It has no number.
Verdict Schedules::fire(PendingCommand& pending, ControlScheduleCommand& command, Schedule& schedule) {
    if (const auto verdict = refuse_for_puts(pending)) return *verdict;
    if (command.log_position != schedule.log_position) {
        if (const auto verdict = read_whole(pending, schedule, command)) return *verdict;
        if (!has_room(message_bytes(command.record_body.size()))) return Verdict::deferred;
    }
    const Result<RuleRecord> whole = decode_rule(command.record_body);
    if (!whole) return fail(whole.error()), Verdict::settled;
    if (Status fits = take_room(schedule, now_); !fits) {
        return replied(pending, std::move(fits).error());
    }
    ScheduleState next = schedule.state;
    const MessageId id = add_run(schedule, *whole, {now_, 0}, now_);
    next.fired += 1;
    next.last_id = id;
    next.last_run_ms = now_;
    add_state(schedule, std::move(next), nullptr, pending.token, PutAnswer{id, State::ready, now_, false});
    return Verdict::settled;
}

// ---- records

void Schedules::complete(const Schedule& schedule, ScheduleState& next) const {
    if (schedule.times || schedule.coming) next.zone_data = zone_data_;
}

void Schedules::forget(Schedule& schedule) {
    const auto found = waiting_for_.find(schedule.state.last_id);
    if (found != waiting_for_.end() && found->second == schedule.number) waiting_for_.erase(found);
}

void Schedules::change(Schedule& schedule, const ScheduleState& next) {
    forget(schedule);
    counters_.schedule_runs += next.made - schedule.state.made;
    counters_.schedule_runs_late += next.late - schedule.state.late;
    counters_.schedule_manual_runs += next.fired - schedule.state.fired;
    counters_.schedule_times_skipped += next.skipped - schedule.state.skipped;
    counters_.schedule_times_merged += next.merged - schedule.state.merged;
    if (schedule.coming) schedule.times = std::exchange(schedule.coming, std::nullopt);
}

// ---- queries

ScheduleAnswer Schedules::describe(const Schedule& schedule) const {
    ScheduleAnswer answer;
    answer.name_space = schedule.name_space();
    answer.name = schedule.name();
    answer.state = schedule.state;
    answer.invalid_zone = !schedule.times.has_value();
    const bool is_due = schedule.state.next_ms != 0 && schedule.state.next_ms <= now_;
    if ((is_due || schedule.state.waiting_ms != 0) && !schedule.is_inactive()) {
        answer.blocked_by = schedule.blocked_by;
    }
    answer.zone_data = zone_data_;
    return answer;
}

// The number of the first time at or after `from_ms`, if it is in the future; 0: unknown, because it has passed or is
// too far away to be counted.
std::uint64_t Schedules::number_at(const Schedule& schedule, DueMs from_ms) {
    constexpr int kTimesCounted = 10'000;
    const ScheduleState& state = schedule.state;
    if (state.next_ms == 0 || from_ms < state.next_ms) return 0;
    std::uint64_t number = state.next_run;
    std::optional<DueMs> at = state.next_ms;
    for (int left = kTimesCounted; at && *at < from_ms; --left, ++number) {
        if (left == 0) return 0;
        at = schedule.times->next(*at, state.from_ms);
    }
    return number;
}

void Schedules::read(const PreviewScheduleCommand& command, ReplyToken token, const SharedLimits& limits) {
    const Schedule* schedule = table_.find(command.name_space, command.name);
    const bool exists = schedule != nullptr && schedule->exists();
    if (exists ? !is_visible(*schedule, limits) : command.after_put == nullptr)
        return reply(token, unknown(command.name_space, command.name, limits));
    if (command.count < 1 || command.count > options_.preview_max) {
        return reply(token, out_of_range("count", "from 1 to " + std::to_string(options_.preview_max)));
    }
    if (command.after_put == nullptr) return reply(token, preview_of(*schedule, command));
    const PutScheduleCommand& put = *command.after_put;
    if (limits && !limits->admits_queue(put.rule.queue)) return reply(token, outside_queues(*limits, "queue"));
    if (Status legal = check(put); !legal) return reply(token, std::move(legal).error());
    Result<ScheduleState> state = state_after(put, exists ? schedule : nullptr);
    if (!state) return reply(token, std::move(state).error());
    const std::pair<std::string, std::string> key{command.name_space, command.name};
    Schedule changed;
    changed.key = &key;
    changed.state = *std::move(state);
    changed.times = put.times;
    reply(token, preview_of(changed, command));
}

PreviewAnswer Schedules::preview_of(const Schedule& schedule, const PreviewScheduleCommand& command) const {
    PreviewAnswer answer;
    answer.name_space = schedule.name_space();
    answer.name = schedule.name();
    answer.paused = schedule.state.paused;
    answer.rule = schedule.state.rule.times;
    answer.zone_data = zone_data_;
    if (!schedule.times) return answer;
    const ScheduleTimes& times = *schedule.times;
    const ScheduleState& state = schedule.state;
    const std::uint64_t most = state.rule.times.times;
    const auto left_out = times.without_policies();
    std::optional<DueMs> from_ms = command.from_ms;
    // A pause skips the times that passed in it.
    if (!from_ms && state.paused && state.next_ms <= now_) from_ms = now_ + 1;
    DueMs seen = from_ms ? *from_ms - 1 : state.next_ms != 0 ? state.next_ms - 1 : now_;
    std::uint64_t number = from_ms ? number_at(schedule, *from_ms) : state.next_run;  // 0: unknown
    const bool has_next = state.next_ms != 0 || command.from_ms.has_value();
    while (has_next && answer.times.size() < command.count && (most == 0 || number <= most)) {
        const std::optional<DueMs> next = times.next(seen, state.from_ms);
        if (left_out) {
            for (std::optional<DueMs> other = left_out->next(seen, state.from_ms); other && (!next || *other < *next);
                 other = left_out->next(*other, state.from_ms)) {
                answer.more_excluded = answer.excluded.size() == command.count;
                if (answer.more_excluded) break;
                answer.excluded.push_back({*other, times.local_text(*other), times.why_excluded(*other)});
            }
        }
        const bool is_none_of_it = next && most != 0 && state.next_ms == 0 && *next > state.last_ms;
        if (!next || is_none_of_it) break;
        if (*next == state.next_ms) number = state.next_run;
        const bool is_of_the_pause = state.paused && *next <= now_;
        answer.times.push_back(
            {is_of_the_pause ? 0 : number, *next, schedule.due_of(*next), times.local_text(*next), times.note(*next)});
        seen = *next;
        if (number != 0) ++number;
    }
    return answer;
}

std::vector<ScheduleCounters> Schedules::by_name(std::size_t max) const {
    std::vector<ScheduleCounters> all;
    table_.for_each([&](const Schedule& schedule) {
        if (all.size() == max || !schedule.exists()) return;
        all.push_back({schedule.name_space(), schedule.name(), schedule.state.made, schedule.state.late,
                       schedule.state.fired, schedule.state.skipped, schedule.state.merged, schedule.state.next_ms,
                       schedule.state.paused});
    });
    return all;
}

void Schedules::check() const {
    table_.for_each([&](const Schedule& schedule) {
        const ScheduleState& state = schedule.state;
        require(schedule.in_batch() <= batches_.has_batch(), "a schedule is in a batch that does not exist");
        if (!run_.started || schedule.in_batch() || schedule.is_due || schedule.is_inactive()) return;
        const bool is_on_wheel = wheel_.deadline_of(schedule.timer).has_value();
        require(state.next_ms == 0 || is_on_wheel, "a schedule is not on the wheel at its next time");
        require(state.next_ms != 0 || is_on_wheel || waiting_for_.contains(state.last_id), "a run waits for nothing");
    });
}

}  // namespace duewheel
