// The runs of schedules at their times.
#include <algorithm>

#include "base/error_codes.h"
#include "engine/rules/schedules.h"

namespace duewheel {

void Schedules::place(Schedule& schedule) {
    if (schedule.is_inactive()) {
        static_cast<void>(wheel_.cancel(schedule.timer));
        return;
    }
    if (schedule.state.waiting_ms != 0) {
        const bool may_overlap = schedule.state.rule.overlap == Overlap::allow;
        const std::optional<bool> unfinished = may_overlap ? false : is_unfinished(schedule.state.last_id);
        if (!unfinished || !*unfinished) return begin_due(schedule);
        wait_for_last(schedule);
    }
    if (schedule.state.next_ms == 0) {
        static_cast<void>(wheel_.cancel(schedule.timer));
    } else if (schedule.state.next_ms <= now_) {
        begin_due(schedule);
    } else {
        arm(schedule, schedule.state.next_ms);
    }
}

void Schedules::end_of(MessageId id) {
    const auto found = waiting_for_.find(id);
    if (found == waiting_for_.end()) return;
    const RuleNumber number = found->second;
    waiting_for_.erase(found);
    wake(number);
}

// Whether memory knows that the message is unfinished; nothing if it may be in the index.
std::optional<bool> Schedules::is_unfinished(MessageId id) const {
    if (id == 0) return false;
    if (const EntryNumber number = recent_.find(id); number != kNoEntry) {
        return !is_ended(recent_.entry(number).durable_state);
    }
    if (recent_.outcome(id) != nullptr) return false;
    return std::nullopt;
}

// Takes the next due schedules, and reads what is not in memory.
void Schedules::read_due() {
    if (!due_.has_to_read()) return;
    while (due_.prepared_count() < options_.spawn_recurring && due_.has_due()) {
        Schedule* schedule = table_.find(due_.first_due());
        if (schedule != nullptr && !due_.fits(schedule->record_bytes, options_.batch_bytes_max)) break;
        due_.pop_due();
        if (schedule == nullptr) continue;
        if (schedule->in_batch() || schedule->is_inactive()) {  // settled when its batch is applied
            schedule->is_due = false;
            continue;
        }
        Due::Item& run = due_.prepare(schedule->number, schedule->log_position, schedule->record_bytes, cache_);
        if (schedule->state.rule.overlap == Overlap::allow || is_unfinished(schedule->state.last_id)) continue;
        run.extra.id = schedule->state.last_id;
        due_.start_lookup();
        lookups_.start(FindMessage{run.extra.id}, LastRunLookup{due_.prepared_count() - 1});
    }
    if (auto wanted = due_.start_reading()) lookups_.start(*std::move(wanted), RunLookup{});
}

void Schedules::finish(const LastRunLookup& lookup, const std::optional<MessageRow>& row, Generation generation) {
    due_.finish_lookup();
    NewestRun& newest = due_.prepared(lookup.run).extra;
    newest.is_unfinished = row && !is_ended(row->state.state);
    newest.generation = generation;
}

void Schedules::finish(const RunLookup&, const FoundRecords& records, Generation) {
    const auto keep = [this](const Due::Item& run) { cache_.insert(run.log_position, run.record_body); };
    if (Status read = due_.take_records(records, "due schedule", keep); !read) fail(std::move(read).error());
}

void Schedules::add_to_batch() {
    read_due();
    const std::size_t share = std::max<std::size_t>(options_.batch_operations_max / 2, 2);
    std::size_t steps_left = options_.run_steps_max;
    for (std::size_t left = due_.prepared_count(); left > 0 && steps_left > 0 && has_to_add(); --left) {
        if (batch().count() + 2 > share || !has_room(message_bytes(due_.first_ready().record_body.size()))) return;
        const Due::Item run = due_.take_ready();
        Schedule* schedule = table_.find(run.id);
        if (schedule == nullptr) continue;
        schedule->is_due = false;
        if (schedule->in_batch()) continue;  // settled when its batch is applied
        if (schedule->is_inactive()) {
            place(*schedule);
            continue;
        }
        if (segment_.refuses_puts()) {
            schedule->blocked_by = "store_full"_code;
            arm(*schedule, now_ + options_.spawn_again_ms);
            continue;
        }
        make_runs(*schedule, run, share, steps_left);
    }
}

void Schedules::make_runs(Schedule& schedule, const Due::Item& run, std::size_t share, std::size_t& steps_left) {
    const ScheduleState& state = schedule.state;
    PlanLimits limits;
    limits.on_time_ms = options_.run_on_time_ms;
    limits.catch_up_max = options_.runs_catch_up_max;
    limits.steps_max = steps_left;
    if (state.rule.overlap != Overlap::allow) {
        std::optional<bool> unfinished = is_unfinished(state.last_id);
        const bool is_fresh =
            run.extra.id == state.last_id && run.extra.is_unfinished && lookups_.is_fresh(run.extra.generation);
        if (!unfinished && is_fresh) unfinished = run.extra.is_unfinished;
        if (!unfinished) return begin_due(schedule);
        limits.last_is_unfinished = *unfinished;
    }
    if (run.log_position != schedule.log_position) return begin_due(schedule);
    const Result<RuleRecord> whole = decode_rule(run.record_body);
    if (!whole) return fail(whole.error());
    // As many as fit into the batch, at least one: halved each time, because this is done for each schedule.
    const std::size_t each = message_bytes(run.record_body.size());
    const auto fits = [&](std::size_t runs) {
        return batch().count() + runs + 1 <= share && runs * each <= options_.batch_bytes_max && has_room(runs * each);
    };
    limits.runs_max = 1;
    for (std::size_t above = options_.spawn_chunk + 1; above - limits.runs_max > 1;) {
        const std::size_t middle = limits.runs_max + (above - limits.runs_max) / 2;
        (fits(middle) ? limits.runs_max : above) = middle;
    }
    SchedulePlan plan = plan_runs(state, *schedule.times, now_, limits);
    std::size_t roomy = 0;
    schedule.blocked_by = ErrorCode::none;
    for (; roomy < plan.runs.size(); ++roomy) {
        if (const Status room = take_room(schedule, plan.runs[roomy].nominal_ms); !room) {
            schedule.blocked_by = room.error().code;
            break;
        }
    }
    const bool is_crowded = roomy < plan.runs.size();
    if (is_crowded) {
        limits.runs_max = roomy;
        plan = plan_runs(state, *schedule.times, now_, limits);
    }
    steps_left -= std::min(steps_left, plan.steps);
    if (plan.changes_nothing()) {
        if (is_crowded) return arm(schedule, now_ + options_.spawn_again_ms);
        if (state.waiting_ms != 0) wait_for_last(schedule);
        if (state.next_ms != 0) arm(schedule, std::max(state.next_ms, now_ + 1));
        return;
    }
    for (const PlannedRun& planned : plan.runs) {
        plan.after.last_id = add_run(schedule, *whole, planned, schedule.due_of(planned.nominal_ms));
    }
    add_state(schedule, std::move(plan.after), nullptr, 0, Error{}, {plan.passed_from_ms, plan.passed_to_ms});
}

// Adds the record of a run. `whole` is that of its schedule.
MessageId Schedules::add_run(const Schedule& schedule, const RuleRecord& whole, const PlannedRun& run, DueMs due) {
    MessageRecord record = message_by(schedule, whole, run.nominal_ms, due);
    record.content.schedule = schedule.name();
    record.content.occurrence = run.number;
    const MessageId id = record.id;
    add(kNoEntry, std::move(record), 0, Error{});
    return id;
}

}  // namespace duewheel
