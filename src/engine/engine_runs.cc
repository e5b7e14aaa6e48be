// Creates the runs of schedules at their times (decided by schedule_plan.h).
//
// A run is a message of its own, written whole, with its schedule, its nominal time and its number. One batch contains
// the created runs and the new state of the schedule, so after a crash both exist or neither: no nominal time creates
// two runs, and none is forgotten. A due schedule waits like a put: for the disk while that is full, for segments to be
// sealed, for room in its queue, for the queue's name. Runs that become too late by that count as missed.
#include <algorithm>
#include <cassert>

#include "engine/engine.h"
#include "engine/schedule_plan.h"

namespace duewheel {

// Puts a schedule whose record was just applied, or that was found at the start, where it belongs: on the wheel, or
// among the due ones.
void Engine::settle_schedule(Schedule& schedule) {
    if (schedule.is_inactive()) {
        static_cast<void>(wheel_.cancel(schedule.timer));
        return;
    }
    if (schedule.state.waiting_ms != 0) {
        const bool may_overlap = schedule.state.rule.overlap == Overlap::allow;
        const std::optional<bool> unfinished = may_overlap ? false : is_unfinished(schedule.state.last_id);
        if (!unfinished || !*unfinished) return begin_run(schedule);
        schedules_.wait_for(schedule.state.last_id, schedule);
    }
    if (schedule.state.next_ms == 0) {
        static_cast<void>(wheel_.cancel(schedule.timer));
    } else if (schedule.state.next_ms <= now_) {
        begin_run(schedule);
    } else {
        arm(schedule, schedule.state.next_ms);
    }
}

void Engine::arm(Schedule& schedule, DueMs at) {
    if (wheel_.reschedule(schedule.timer, static_cast<Tick>(at))) return;
    schedule.timer = wheel_.schedule(static_cast<Tick>(at), kScheduleCookie | schedule.number, 0);
}

void Engine::wake_schedule(ScheduleNumber number) {
    if (Schedule* schedule = schedules_.find(number)) begin_run(*schedule);
}

void Engine::begin_run(Schedule& schedule) {
    static_cast<void>(wheel_.cancel(schedule.timer));
    if (schedule.is_due) return;
    schedule.is_due = true;
    due_schedules_.add(schedule.number);
}

// Whether memory knows that the message is unfinished; nothing if it may be in the index.
std::optional<bool> Engine::is_unfinished(MessageId id) const {
    if (id == 0) return false;
    if (const EntryNumber number = recent_.find(id); number != kNoEntry) {
        return !is_ended(recent_.entry(number).durable_state);
    }
    if (recent_.outcome(id) != nullptr) return false;
    return std::nullopt;
}

bool Engine::has_runs_to_add() const {
    return due_schedules_.has_ready() && !segment_.puts_stalled();
}

// Takes the next due schedules, and reads what is not in memory.
void Engine::read_runs() {
    if (!due_schedules_.has_to_read()) return;
    while (due_schedules_.prepared_count() < options_.spawn_recurring && due_schedules_.has_due()) {
        Schedule* schedule = schedules_.find(due_schedules_.first_due());
        if (schedule != nullptr && !due_schedules_.fits(schedule->record_bytes, options_.batch_bytes_max)) break;
        due_schedules_.pop_due();
        if (schedule == nullptr) continue;
        if (schedule->in_batch || schedule->is_inactive()) {  // settled when its batch is applied
            schedule->is_due = false;
            continue;
        }
        DueSchedules::Item& run =
            due_schedules_.prepare(schedule->number, schedule->log_position, schedule->record_bytes, cache_);
        if (schedule->state.rule.overlap == Overlap::allow || is_unfinished(schedule->state.last_id)) continue;
        run.extra.id = schedule->state.last_id;
        due_schedules_.start_lookup();
        lookups_.start(FindMessage{run.extra.id}, LastRunLookup{due_schedules_.prepared_count() - 1});
    }
    if (auto wanted = due_schedules_.start_reading()) lookups_.start(*std::move(wanted), RunLookup{});
}

void Engine::finish(const LastRunLookup& lookup, const std::optional<MessageRow>& row, Generation generation) {
    due_schedules_.finish_lookup();
    NewestRun& newest = due_schedules_.prepared(lookup.run).extra;
    newest.is_unfinished = row && !is_ended(row->state.state);
    newest.generation = generation;
}

void Engine::finish(const RunLookup&, const FoundRecords& records, Generation) {
    const auto keep = [this](const DueSchedules::Item& run) { cache_.insert(run.log_position, run.record_body); };
    if (Status read = due_schedules_.take_records(records, "due schedule", keep); !read) {
        effects_.fatal_error = std::move(read).error();
    }
}

// The bytes of one run in a batch, with the new state of its schedule.
std::size_t Engine::run_bytes(std::size_t record_bytes) const {
    return record_bytes + kScheduleBytesMax + 2 * kRecordOverheadMax;
}

// At most half of a batch, as for recurring messages.
void Engine::add_runs() {
    read_runs();
    const std::size_t share = std::max<std::size_t>(options_.batch_operations_max / 2, 2);
    std::size_t steps_left = options_.run_steps_max;
    for (std::size_t left = due_schedules_.prepared_count(); left > 0 && steps_left > 0 && has_runs_to_add(); --left) {
        if (batch().count() + 2 > share || !has_room(run_bytes(due_schedules_.first_ready().record_body.size())))
            return;
        const DueSchedules::Item run = due_schedules_.take_ready();
        Schedule* schedule = schedules_.find(run.id);
        if (schedule == nullptr) continue;
        schedule->is_due = false;
        if (schedule->in_batch) continue;  // settled when its batch is applied
        if (schedule->is_inactive()) {
            settle_schedule(*schedule);
            continue;
        }
        if (segment_.refuses_puts()) {
            schedule->blocked_by = "store_full";
            arm(*schedule, now_ + options_.spawn_again_ms);
            continue;
        }
        make_runs(*schedule, run, share, steps_left);
    }
}

void Engine::make_runs(Schedule& schedule, const DueSchedules::Item& run, std::size_t share, std::size_t& steps_left) {
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
        if (!unfinished) return begin_run(schedule);
        limits.last_is_unfinished = *unfinished;
    }
    if (run.log_position != schedule.log_position) return begin_run(schedule);
    const Result<Record> whole = decode_record(RecordKind::rule, run.record_body);
    if (!whole) {
        effects_.fatal_error = whole.error();
        return;
    }
    // As many as fit into the batch.
    const std::size_t each = run_bytes(run.record_body.size());
    limits.runs_max = 1;
    while (limits.runs_max < options_.spawn_chunk && batch().count() + limits.runs_max + 2 <= share &&
           (limits.runs_max + 1) * each <= options_.batch_bytes_max && has_room((limits.runs_max + 1) * each)) {
        ++limits.runs_max;
    }
    SchedulePlan plan = plan_runs(state, *schedule.times, now_, limits);
    std::size_t roomy = 0;
    schedule.blocked_by = {};
    for (; roomy < plan.runs.size(); ++roomy) {
        if (const Status room = check_run_room(schedule.name_space, state.rule.queue); !room) {
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
        if (state.waiting_ms != 0) schedules_.wait_for(state.last_id, schedule);
        if (state.next_ms != 0) arm(schedule, std::max(state.next_ms, now_ + 1));
        return;
    }
    for (const PlannedRun& planned : plan.runs) {
        plan.after.last_id = add_run(schedule, *whole, planned, schedule.due_of(planned.nominal_ms));
    }
    add_rule(schedule, std::move(plan.after), nullptr, {plan.passed_from_ms, plan.passed_to_ms}, 0, Error{});
}

// Whether the queue accepts one more message; counts it if so.
Status Engine::check_run_room(const std::string& name_space, const std::string& queue) {
    return queues_.take_room(recent_.queues().find(name_space, queue), name_space, queue);
}

// A message that a rule creates. `whole` is the newest whole record of the rule.
template <class Rule>
Record Engine::message_by(const std::string& name_space, const Rule& rule, const Record& whole, DueMs nominal_ms,
                          DueMs due_ms) const {
    const QueueNumber queue = recent_.queues().find(name_space, rule.queue);
    Record record;
    record.kind = RecordKind::spawn;
    record.id = next_id();
    record.state.due_ms = due_ms;
    record.state.nominal_due_ms = nominal_ms;
    if (rule.expires_after_ms != 0) record.state.expires_ms = due_ms + rule.expires_after_ms;
    record.state.maybe_delivered = earlier_runs_.may_have_created(nominal_ms);
    record.state.priority = rule.priority;
    if (!rule.retry.is_empty()) {
        // It was valid when it was set. If the queue's rule has changed since and the two are not valid together, the
        // queue's rule applies.
        if (const Result<RetryRule> retry = chosen_rule(rule.retry, queues_.retry_rule(queue)))
            record.state.retry = *retry;
    }
    record.state.name_space = name_space;
    record.state.queue = rule.queue;
    record.state.order_key = rule.order_key;
    record.content = whole.content;
    record.content.put_ms = now_;
    return record;
}

template Record Engine::message_by(const std::string&, const ScheduleRule&, const Record&, DueMs, DueMs) const;
template Record Engine::message_by(const std::string&, const WatchdogRule&, const Record&, DueMs, DueMs) const;

// Adds the record of a run. `whole` is that of its schedule.
MessageId Engine::add_run(const Schedule& schedule, const Record& whole, const PlannedRun& run, DueMs due) {
    Record record = message_by(schedule.name_space, schedule.state.rule, whole, run.nominal_ms, due);
    record.content.schedule = schedule.name;
    record.content.occurrence = run.number;
    const MessageId id = record.id;
    add(kNoEntry, std::move(record), 0, Error{});
    return id;
}

}  // namespace duewheel
