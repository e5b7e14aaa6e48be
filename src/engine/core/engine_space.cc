// What the engine does when the disk is full; what it may still write then is decided by the open segment
// (open_segment.h).
#include <algorithm>
#include <utility>

#include "engine/commands/command_traits.h"
#include "engine/core/engine.h"

namespace duewheel {

void Engine::set_log_space(LogSpace space) {
    if (space == segment_.space()) return;
    segment_.set_space(space);
    if (!segment_.refuses_puts()) return;
    commands_.erase_puts_if([this](const PendingCommand& put) {
        if (may_be_repeated(put.command)) return false;
        counters_.refused_full += record_count(put.command);
        reply(put.token, store_full());
        return true;
    });
}

// Moves wait like puts, so that they do not start a segment of the reserve before the free space is known; records of
// compaction wait if nothing can be written.
bool Engine::is_held_back(const Command& command) const {
    if (segment_.is_stalled()) return is_of_cleaning(command) && !segment_.cleaning_may_write();
    if (brings_content(command) && segment_.puts_stalled()) return true;
    return segment_.moves_wait() && is_a_move(command);
}

bool Engine::has_commands() const {
    const auto may_go = [this](const PendingPtr& pending) { return !is_held_back(pending->command); };
    return commands_.looked_up().find_if(may_go) != nullptr || commands_.others().find_if(may_go) != nullptr;
}

// An iteration of a stalled log, in place of a batch.
void Engine::answer_without_log() {
    take_commands(commands_.looked_up(), Takes::others);
    take_commands(commands_.others(), Takes::others);
    dead_writer_.end_redrives();
    take_commands(commands_.looked_up_puts(), Takes::puts);
    take_commands(commands_.puts(), Takes::puts);
    dispatcher_.refuse_held();
}

// The batch of a stalled log: records of compaction, and the record with which a run starts to serve.
void Engine::build_for_cleaning() {
    const auto does_not_fit = [this](const CommandQueue::Lines& from) {
        const PendingPtr* first =
            from.find_if([](const PendingPtr& pending) { return is_of_cleaning(pending->command); });
        return first != nullptr && !has_room(record_bytes_max((*first)->command));
    };
    const bool adds_itself = !run_.serving || batches_.confirm_at_ms() <= now_;
    const bool is_full = does_not_fit(commands_.looked_up()) || does_not_fit(commands_.others()) ||
                         (adds_itself && !has_room(kRecordOverheadMax));
    if (!segment_.is_empty() && (segment_.is_close_wanted() || is_full)) {
        loader_.add_cursors();
        return submit_batch(true);
    }
    if (!run_.serving) return add_epoch();
    take_commands(commands_.looked_up(), Takes::cleaning);
    take_commands(commands_.others(), Takes::cleaning);
    if (!batch().empty() || batches_.confirm_at_ms() <= now_) submit_batch(false);
}

}  // namespace duewheel
