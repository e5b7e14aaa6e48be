// The engine's own work that becomes part of batches, in the order in which a batch takes it. A new kind of work is a
// row here.
#include <algorithm>

#include "engine/engine.h"

namespace duewheel {

const std::array<Engine::BatchSource, 9> Engine::kBatchSources{{
    // Expired messages. A command on one of them comes too late, so they are added before commands.
    {
        .has_work = [](const Engine& engine) { return !engine.expiries_.empty(); },
        .next_bytes = [](const Engine& engine) { return engine.expiries_.empty() ? 0 : kRecordOverheadMax; },
        .add = &Engine::add_expiries,
        .is_idle = [](const Engine& engine) { return engine.expiries_.empty(); },
    },
    // Started attempts. On a full disk they wait in memory, and a segment without space for a record is closed only for
    // a commit that saves the time.
    {
        .has_work = [](const Engine& engine) { return !engine.attempts_.empty() && !engine.segment_.attempts_wait(); },
        .next_bytes =
            [](const Engine& engine) {
                const bool has_next =
                    engine.segment_.attempts_wait() ? !engine.held_.empty() : !engine.attempts_.empty();
                return has_next ? kRecordOverheadMax : 0;
            },
        .add = &Engine::add_attempts,
        .is_idle = [](const Engine& engine) { return engine.attempts_.empty() || engine.segment_.attempts_wait(); },
    },
    // Messages whose attempts are used up.
    {
        .has_work = [](const Engine& engine) { return !engine.exhausted_.empty(); },
        .next_bytes = [](const Engine& engine) { return engine.next_exhausted_bytes(); },
        .add = &Engine::add_exhausted,
        .is_idle = [](const Engine& engine) { return engine.exhausted_.empty(); },
    },
    // Purged messages. The last record contains settings. No client waits for the end of a purge.
    {
        .has_work = [](const Engine& engine) { return engine.purge_has_work(); },
        .next_bytes = [](const Engine& engine) { return engine.purge_has_work() ? kSettingsRecordBytesMax : 0; },
        .add = &Engine::add_purged,
        .is_idle = [](const Engine&) { return true; },
    },
    // Dead letters: redriven, expired or discarded. Also here the last record contains settings.
    {
        .has_work = [](const Engine& engine) { return engine.has_redrives_to_add(); },
        .next_bytes = [](const Engine& engine) { return engine.has_redrives_to_add() ? kSettingsRecordBytesMax : 0; },
        .add = &Engine::add_redrives,
        .is_idle = [](const Engine& engine) { return engine.dead_letters_.walks().empty(); },
    },
    // Occurrences of recurring messages.
    {
        .has_work =
            [](const Engine& engine) { return engine.has_spawns_to_add() || engine.due_recurring_.has_to_read(); },
        .next_bytes = [](const Engine& engine) { return engine.has_spawns_to_add() ? engine.next_spawn_bytes() : 0; },
        .add = &Engine::add_spawns,
        .is_idle = [](const Engine& engine) { return engine.due_recurring_.is_idle(); },
    },
    // Checks and defaults of overdue prepared messages.
    {
        .has_work =
            [](const Engine& engine) { return engine.has_prepared_to_settle() || engine.due_prepared_.has_to_read(); },
        .next_bytes =
            [](const Engine& engine) { return engine.has_prepared_to_settle() ? engine.next_prepared_bytes() : 0; },
        .add = &Engine::settle_overdue_prepared,
        .is_idle = [](const Engine& engine) { return engine.due_prepared_.is_idle(); },
    },
    // Runs of schedules.
    {
        .has_work =
            [](const Engine& engine) { return engine.has_runs_to_add() || engine.due_schedules_.has_to_read(); },
        .next_bytes =
            [](const Engine& engine) {
                if (!engine.has_runs_to_add()) return std::size_t{0};
                return engine.run_bytes(engine.due_schedules_.first_ready().record_body.size());
            },
        .add = &Engine::add_runs,
        .is_idle = [](const Engine& engine) { return engine.due_schedules_.is_idle(); },
    },
    // Messages of watchdogs.
    {
        .has_work =
            [](const Engine& engine) { return engine.has_firings_to_add() || engine.due_watchdogs_.has_to_read(); },
        .next_bytes =
            [](const Engine& engine) {
                if (!engine.has_firings_to_add()) return std::size_t{0};
                return firing_bytes(engine.due_watchdogs_.first_ready().record_body.size());
            },
        .add = &Engine::add_firings,
        .is_idle = [](const Engine& engine) { return engine.due_watchdogs_.is_idle(); },
    },
}};

bool Engine::has_own_work() const {
    return std::any_of(kBatchSources.begin(), kBatchSources.end(),
                       [this](const BatchSource& source) { return source.has_work(*this); });
}

bool Engine::is_own_work_done() const {
    return std::all_of(kBatchSources.begin(), kBatchSources.end(),
                       [this](const BatchSource& source) { return source.is_idle(*this); });
}

// The most that the first of any kind adds to a batch; 0: there is none.
std::size_t Engine::next_own_bytes() const {
    std::size_t next = 0;
    for (const BatchSource& source : kBatchSources) next = std::max(next, source.next_bytes(*this));
    return next;
}

}  // namespace duewheel
