// The engine's own work that becomes part of batches, in the order in which a batch takes it. A new kind of work is a
// row here. If clients wait for it, Engine::answer_without_log() refuses it too: a stalled log takes no batches.
#include <algorithm>

#include "engine/engine.h"

namespace duewheel {

template <auto part>
constexpr Engine::BatchSource Engine::of_part() {
    return {
        .has_work = [](const Engine& engine) { return (engine.*part).has_work(); },
        .next_bytes = [](const Engine& engine) { return (engine.*part).next_bytes(); },
        .add = [](Engine& engine) { (engine.*part).add_to_batch(); },
        .is_idle = [](const Engine& engine) { return (engine.*part).is_idle(); },
    };
}

const std::array<Engine::BatchSource, 9> Engine::kBatchSources{{
    // Expired messages. A command on one of them comes too late, so they are added before commands.
    {
        .has_work = [](const Engine& engine) { return engine.lifecycle_.own_records().expired() != 0; },
        .next_bytes =
            [](const Engine& engine) {
                return engine.lifecycle_.own_records().expired() != 0 ? kRecordOverheadMax : 0;
            },
        .add = [](Engine& engine) { engine.lifecycle_.own_records().add_expired(); },
        .is_idle = [](const Engine& engine) { return engine.lifecycle_.own_records().expired() == 0; },
    },
    // Started attempts that last, and the time, for which a batch without records is enough. On a full disk attempts
    // wait
    // in memory, and a segment without space for a record is closed only for a commit that saves the time.
    {
        .has_work = [](const Engine& engine) { return engine.attempts_are_due() || engine.dispatcher_.has_held(); },
        .next_bytes =
            [](const Engine& engine) {
                return engine.attempts_are_due() || engine.dispatcher_.has_held() ? kRecordOverheadMax : 0;
            },
        .add = [](Engine& engine) { engine.lifecycle_.own_records().add_attempts(); },
        .is_idle = [](const Engine& engine) { return !engine.attempts_are_due(); },
    },
    // Messages whose attempts are used up.
    {
        .has_work = [](const Engine& engine) { return engine.lifecycle_.own_records().exhausted() != 0; },
        .next_bytes = [](const Engine& engine) { return engine.lifecycle_.own_records().next_exhausted_bytes(); },
        .add = [](Engine& engine) { engine.lifecycle_.own_records().add_exhausted(); },
        .is_idle = [](const Engine& engine) { return engine.lifecycle_.own_records().exhausted() == 0; },
    },
    // Purged messages. The last record contains settings. No client waits for the end of a purge.
    {
        .has_work = [](const Engine& engine) { return engine.purges_.has_to_add(); },
        .next_bytes = [](const Engine& engine) { return engine.purges_.has_to_add() ? kSettingsRecordBytesMax : 0; },
        .add = [](Engine& engine) { engine.purges_.add_to_batch(); },
        .is_idle = [](const Engine&) { return true; },
    },
    // Dead letters: redriven, expired or discarded. Also here the last record contains settings.
    {
        .has_work = [](const Engine& engine) { return engine.dead_writer_.has_to_add(); },
        .next_bytes =
            [](const Engine& engine) { return engine.dead_writer_.has_to_add() ? kSettingsRecordBytesMax : 0; },
        .add = [](Engine& engine) { engine.dead_writer_.add_to_batch(); },
        .is_idle = [](const Engine& engine) { return engine.dead_letters_.walks().empty(); },
    },
    // Occurrences of recurring messages.
    of_part<&Engine::recurring_>(),
    // Checks and defaults of overdue prepared messages.
    of_part<&Engine::transactions_>(),
    // Runs of schedules.
    of_part<&Engine::schedules_>(),
    // Messages of watchdogs.
    of_part<&Engine::watchdogs_>(),
}};

bool Engine::attempts_are_due() const {
    return lifecycle_.own_records().attempts_due_ms() <= now_;
}

bool Engine::has_own_work() const {
    return std::any_of(kBatchSources.begin(), kBatchSources.end(),
                       [this](const BatchSource& source) { return source.has_work(*this); });
}

bool Engine::needs_own_batch() const {
    return (segment_.is_close_wanted() || has_own_work()) && !segment_.is_stalled();
}

bool Engine::may_build_batch() const {
    return !batches_.is_in_flight() && (!is_batch_delayed_ || needs_own_batch());
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
