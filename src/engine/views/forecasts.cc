#include "engine/views/forecasts.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "engine/commands/refusals.h"

namespace duewheel {
namespace {

constexpr int kForecastTries = 3;

}  // namespace

void Forecasts::read(const ForecastCommand& command, ReplyToken token, const SharedLimits&) {
    if (command.minutes < 1 || Forecast::rows_of(command) > options_.forecast_minutes_max) {
        const std::int64_t max = options_.forecast_minutes_max * (command.step_ms / Forecast::kMinuteMs);
        return reply(token, out_of_range("minutes", "from 1 to " + std::to_string(max)));
    }
    if (open_.begin(command.name_space, token)) begun_.emplace_back(token, command, now_);
}

void Forecasts::walk() {
    if (!has_to_walk()) return;
    Forecast& forecast = begun_.front();
    std::uint32_t budget = options_.list_chunk;
    if (!forecast.has_counted_minutes) return look_up_minutes(forecast);
    if (!forecast.has_counted_messages) {
        if (!forecast.of_index_alone && !lookups_.is_fresh(forecast.generation)) begin_count(forecast);
        if (!forecast.has_counted_unsealed) forecast.has_counted_unsealed = count_unsealed(forecast, budget);
        if (forecast.has_counted_unsealed) look_up_due_rows(forecast);
        return;
    }
    if (!count_runs(forecast, budget)) return;
    const ReplyToken token = forecast.token;
    const std::string name_space = forecast.name_space;
    ForecastAnswer answer = forecast.finish();
    begun_.pop_front();
    open_.end(name_space, token, std::move(answer));
}

// ---- whole minutes

void Forecasts::look_up_minutes(Forecast& forecast) {
    if (forecast.tries == 0) forecast.count_minutes_anew(options_.forecast_walk_max);
    forecast.asked_for =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(forecast.rows_left, options_.forecast_chunk));
    lookups_.start(CountDue{forecast.name_space, forecast.answer.queue, forecast.next_minute_ms, forecast.until_ms,
                            forecast.asked_for},
                   ForecastCountLookup{});
}

void Forecasts::finish(const ForecastCountLookup&, const DueMinutes& due, Generation generation) {
    Forecast& forecast = begun_.front();
    const std::uint32_t looked_at = std::exchange(forecast.asked_for, 0);
    if (!lookups_.is_fresh(generation)) return;  // the next iteration looks up again
    if (forecast.next_minute_ms != forecast.counts_from_ms && forecast.segment != due.segment) {
        if (forecast.tries < kForecastTries) return forecast.count_minutes_anew(options_.forecast_walk_max);
        forecast.is_complete_to(forecast.from_ms);
    }
    forecast.segment = due.segment;
    for (const DueMinutes::Row& row : due.rows) forecast.add(row.start_ms, row.counts);
    if (due.next) {
        forecast.rows_left -= looked_at;
        forecast.next_minute_ms = *due.next;
        if (forecast.rows_left > 0) return look_up_minutes(forecast);
        forecast.is_complete_to(forecast.next_minute_ms);
    }
    add_changes(forecast);
    forecast.has_counted_minutes = true;
    forecast.tries = 0;
}

// By segments that the counts do not include. One pass: there is one change for each minute of a queue in them.
void Forecasts::add_changes(Forecast& forecast) const {
    const std::string& queue = forecast.answer.queue;
    for (const auto& [segment, changes] : recent_.due_changes()) {
        if (segment <= forecast.segment) continue;
        for (const auto& [minute, counts] : changes.all()) {
            const DueMs start_ms = minute.start_ms();
            if (start_ms < forecast.counts_from_ms || start_ms >= forecast.until_ms) continue;
            const QueueName& name = recent_.queues().name(minute.queue);
            const bool wanted = name.name_space == forecast.name_space && (queue.empty() || name.queue == queue);
            if (wanted) forecast.add(start_ms, counts);
        }
    }
}

// ---- the rest of the current minute

void Forecasts::begin_count(Forecast& forecast) {
    forecast.count_messages_anew(lookups_.newest(), options_.forecast_walk_max);
    if (forecast.tries <= kForecastTries) return;
    forecast.of_index_alone = forecast.has_counted_unsealed = true;
    forecast.is_complete_to(forecast.from_ms);
}

// Whether this message counts by its entry, because the index does not have its newest record.
bool Forecasts::is_unsealed(const Entry& entry) const {
    return entry.segment > lookups_.sealed_through();
}

// Returns whether all entries were examined.
bool Forecasts::count_unsealed(Forecast& forecast, std::uint32_t& budget) {
    const std::string& name = forecast.answer.queue;
    const QueueNumber queue = name.empty() ? kNoQueue : recent_.queues().find(forecast.name_space, name);
    const EntryNumber limit = recent_.entry_limit();
    if (!name.empty() && queue == kNoQueue) forecast.walked_to = limit;  // only the index may know it
    for (; forecast.walked_to < limit && budget > 0; --budget) {
        const EntryNumber number = forecast.walked_to;
        forecast.walked_to = recent_.skip_unused(number);
        if (forecast.walked_to != number) continue;
        const Entry& entry = recent_.entry(forecast.walked_to++);
        if (entry.id == 0 || !forecast.is_in_rest(entry.due_ms) || !is_unsealed(entry)) continue;
        const bool wanted =
            name.empty() ? recent_.queues().name(entry.queue).name_space == forecast.name_space : entry.queue == queue;
        const std::optional<FallsDue> what = falls_due(entry.durable_state, recent_.is_recurring(entry));
        if (wanted && what && !forecast.changed.contains(entry.id)) ++forecast.rest.of(*what);
    }
    return forecast.walked_to >= limit;
}

void Forecasts::note(EntryNumber number, const MessageRecord& record) {
    if (begun_.empty() || !begun_.front().has_counted_minutes || begun_.front().has_counted_messages) return;
    Forecast& forecast = begun_.front();
    if (changes_state(record.kind)) forecast.changed.insert(record.id);
    // It repeats the row of the message but makes its entry look newer.
    if (record.kind != RecordKind::relocate || number == kNoEntry) return;
    const bool is_passed = forecast.has_counted_unsealed || number < forecast.walked_to;
    if (is_passed && !is_unsealed(recent_.entry(number))) forecast.relocated.insert(recent_.entry(number).id);
}

void Forecasts::look_up_due_rows(Forecast& forecast) {
    assert(forecast.asked_for == 0 && forecast.rows_left > 0);
    forecast.asked_for =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(forecast.rows_left, options_.forecast_chunk));
    lookups_.start(ListDue{forecast.name_space, forecast.answer.queue, forecast.next_row, forecast.counts_from_ms,
                           forecast.asked_for},
                   ForecastLookup{});
}

void Forecasts::finish(const ForecastLookup&, const DueRows& due, Generation generation) {
    Forecast& forecast = begun_.front();
    const std::uint32_t looked_at = std::exchange(forecast.asked_for, 0);
    if (!lookups_.is_fresh(generation)) return;  // the next iteration looks up or counts again
    if (!forecast.of_index_alone && !lookups_.is_fresh(forecast.generation)) return;
    for (const DueRows::Row& row : due.rows) {
        if (forecast.changed.contains(row.id)) continue;
        const EntryNumber number = recent_.find(row.id);
        const bool is_overtaken =
            number == kNoEntry ? recent_.outcome(row.id) != nullptr : is_unsealed(recent_.entry(number));
        if (!is_overtaken || forecast.relocated.contains(row.id)) ++forecast.rest.of(row.what);
    }
    if (due.next) {
        forecast.rows_left -= looked_at;
        forecast.next_row = *due.next;
        if (forecast.rows_left > 0) return look_up_due_rows(forecast);
        forecast.is_complete_to(due.next->due_ms);
    }
    forecast.has_counted_messages = true;
}

// ---- schedules

// Returns whether all schedules were examined. A nominal time costs as much as many entries.
bool Forecasts::count_runs(Forecast& forecast, std::uint32_t& budget) {
    constexpr std::uint32_t kCostOfTime = 64;
    while (budget > 0) {
        if (forecast.times_looked_at >= options_.forecast_walk_max) {
            forecast.is_complete_to(forecast.from_ms);
            return true;
        }
        if (!forecast.nominal_ms) {
            const Schedule* next = schedules_.next_of(forecast.name_space, forecast.schedule);
            if (next == nullptr) return true;
            forecast.schedule = next->name();
            begin_runs(forecast, *next);
            --budget;
            continue;
        }
        const Schedule* schedule = schedules_.find(forecast.name_space, forecast.schedule);
        count_run(forecast, schedule != nullptr && schedule->exists() ? schedule : nullptr);
        budget -= std::min(budget, kCostOfTime);
    }
    return false;
}

void Forecasts::begin_runs(Forecast& forecast, const Schedule& schedule) const {
    const ScheduleState& state = schedule.state;
    const std::string& queue = forecast.answer.queue;
    if (!schedule.exists() || schedule.is_inactive() || state.next_ms == 0) return;
    if (!queue.empty() && state.rule.queue != queue) return;
    forecast.run = state.next_run;
    forecast.nominal_ms = state.next_ms;
    forecast.times_of_it = 1;
}

// Counts the current run and continues with the next one; null: the schedule was removed.
void Forecasts::count_run(Forecast& forecast, const Schedule* schedule) const {
    if (schedule == nullptr || schedule->is_inactive() || *forecast.nominal_ms >= forecast.until_ms) {
        return forecast.nominal_ms.reset();
    }
    const DueMs due = schedule->due_of(*forecast.nominal_ms);
    if (forecast.covers(due)) ++forecast.minute(due).runs;
    if (forecast.times_of_it < options_.forecast_runs_max) return next_run(forecast, *schedule);
    forecast.is_complete_to(*forecast.nominal_ms);
    forecast.nominal_ms.reset();
}

void Forecasts::next_run(Forecast& forecast, const Schedule& schedule) const {
    const std::uint64_t most = schedule.state.rule.times.times;
    // Skips times that passed while no run could be created, unless runs are numbered, or their jitter may end in the
    // future.
    const DueMs passed = forecast.from_ms - 1 - schedule.state.rule.jitter_ms;
    const DueMs seen = most != 0 ? *forecast.nominal_ms : std::max(*forecast.nominal_ms, passed);
    ++forecast.run;
    ++forecast.times_of_it;
    ++forecast.times_looked_at;
    forecast.nominal_ms =
        most != 0 && forecast.run > most ? std::nullopt : schedule.times->next(seen, schedule.state.from_ms);
}

}  // namespace duewheel
