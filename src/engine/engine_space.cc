// What is still accepted when the disk is full, so that commands that free space find the space that they need.
//
//     space     put      change   end
//     enough    allowed  allowed  allowed
//     scarce    refused  allowed  allowed
//     reserve   refused  refused  allowed
//     cleaning  refused  refused  allowed while the open segment has space
//     none      refused  refused  allowed while the open segment is not half full
//
// A change makes the log longer and ends nothing: a move, a failure with a retry, a release, a message that is
// held or kicked, settings, a pause. A client can request any number of changes; there are no more ends than
// messages. A resume counts as an end, because paused messages can be neither leased nor acknowledged, and it cannot be
// repeated without a pause; so does the start of a purge.
//
// Leases continue in the reserve, and write nothing: the record of a started attempt waits in memory until there is
// space or another record of the message contains it. A crash may lose such an attempt, as it may lose one that was on
// its way to the disk; the next consumer of the message gets `maybe_delivered`. So leases that end without an ack,
// however often, take no space. They may only need a commit that saves the time (is_due_saved): at most one for each
// due time.
//
// Ends are faster than the index, which must contain them before the front of the log can be deleted, and than
// compaction, which must write that it can: they would use up the last segments, and then neither the table nor that
// record would find the space that frees space. So the last segments are kept for both, and a segment that was started
// for compaction takes nothing else. If no more than that is left, the log is stalled for all others. Commands without
// a record are answered as usual, and all others refused at once: no client waits for an operator. Internal records
// wait.
#include <algorithm>
#include <utility>

#include "engine/command_size.h"
#include "engine/engine.h"

namespace duewheel {

Error Engine::store_full() {
    return {"store_full",
            "the server's disk is nearly full, so puts are refused; existing messages can be leased, acknowledged and "
            "cancelled. Free space on the disk of the data directory; the server then accepts puts again"};
}

Error Engine::no_space_for(Adds what) const {
    if (log_is_stalled() && space_ == LogSpace::cleaning) {
        return {"store_full",
                "the server's disk is full, and the rest of its reserve is kept for cleaning the log, so nothing was "
                "changed; messages can still be read. Try again in a second, because ended messages may free space, or "
                "free space on the disk of the data directory"};
    }
    if (what == Adds::end || log_is_stalled()) {
        return {"store_full",
                "the server's disk is full and its reserve is used up, so nothing was changed; messages can still be "
                "read. Free space on the disk of the data directory, then try again. Accepted messages are not lost"};
    }
    return {"store_full",
            "the server's disk is full except for a reserve, which is kept for calls that end messages, so nothing was "
            "changed. Leases, acks, cancels and purges still work. Free space on the disk of the data directory, then "
            "try again"};
}

void Engine::set_log_space(LogSpace space) {
    if (space == space_) return;
    space_ = space;
    if (!refuses_puts()) return;
    puts_.erase_if([this](const PendingCommand& put) {
        if (may_be_repeated(put.command)) return false;
        counters_.refused_full += record_count(put.command);
        release_waiting(put.line, put.bytes);
        reply(put.token, store_full());
        return true;
    });
}

// For everything except compaction.
bool Engine::log_is_stalled() const {
    if (space_ < LogSpace::cleaning) return false;
    if (segment_fill_ == kSegmentHeaderBytes || segment_is_of_cleaning_) return true;
    return space_ == LogSpace::none && segment_fill_ > segment_bytes_ / 2;
}

bool Engine::cleaning_may_write() const {
    return space_ != LogSpace::none || segment_fill_ != kSegmentHeaderBytes;
}

bool Engine::may_add(Adds what) const {
    return what == Adds::end ? !log_is_stalled() : space_ < LogSpace::reserve;
}

// True if there is no space for the record of the command: it was answered with the error.
bool Engine::refuse_for_space(const PendingCommand& pending, Adds what) {
    if (may_add(what)) return false;
    ++counters_.changes_refused_full;
    reply(pending.token, no_space_for(what));
    return true;
}

// Moves wait like puts, so that they do not start a segment of the reserve before the free space is known; records of
// compaction wait if nothing can be written.
bool Engine::is_held_back(const Command& command) const {
    if (log_is_stalled()) return is_of_cleaning(command) && !cleaning_may_write();
    if (brings_content(command) && puts_stalled()) return true;
    return reserve_at_stake_ && segment_fill_ == kSegmentHeaderBytes && is_a_move(command);
}

bool Engine::has_commands() const {
    const auto may_go = [this](const PendingCommand& pending) { return !is_held_back(pending.command); };
    return looked_up_.find_if(may_go) != nullptr || commands_.find_if(may_go) != nullptr;
}

// Attempts of messages that have ended are removed when they are the majority.
void Engine::keep_attempts_waiting() {
    if (attempts_.size() <= 2 * recent_.entry_count() + 64) return;
    std::erase_if(attempts_, [this](MessageId id) {
        const EntryNumber number = recent_.find(id);
        return number == kNoEntry || !recent_.entry(number).attempt_queued;
    });
}

// An iteration of a stalled log, in place of a batch.
void Engine::answer_without_log() {
    take_commands(looked_up_, Takes::others);
    take_commands(commands_, Takes::others);
    end_redrives();
    take_commands(looked_up_puts_, Takes::puts);
    take_commands(puts_, Takes::puts);
    for (const Delivery& delivery : std::exchange(held_, {})) {  // no commit follows for them
        return_delivery(delivery);
        ++counters_.changes_refused_full;
        reply(delivery.token, no_space_for(Adds::end));
    }
}

// The batch of a stalled log: records of compaction, and the record with which a run starts to serve.
void Engine::build_for_cleaning() {
    const auto does_not_fit = [this](const PendingLines& from) {
        const PendingCommand* first =
            from.find_if([](const PendingCommand& pending) { return is_of_cleaning(pending.command); });
        return first != nullptr && !has_room(record_bytes_at_most(first->command, kRecordOverheadMax));
    };
    const bool adds_itself = !serving_ || confirm_at_ms_ <= now_;
    const bool is_full =
        does_not_fit(looked_up_) || does_not_fit(commands_) || (adds_itself && !has_room(kRecordOverheadMax));
    if (segment_fill_ != kSegmentHeaderBytes && (close_wanted_ || is_full)) {
        add_cursors();
        return submit_batch(true);
    }
    if (!serving_) return add_epoch();
    take_commands(looked_up_, Takes::cleaning);
    take_commands(commands_, Takes::cleaning);
    if (!batch_->empty() || confirm_at_ms_ <= now_) submit_batch(false);
}

// What a redrive has returned so far is durable; the rest stays dead.
void Engine::end_redrives() {
    std::erase_if(redrives_, [this](const Redrive& job) {
        if (job.lookup_open || job.expires) return false;
        if (job.done > 0) return reply(job.token, RedriveAnswer{job.done, true}), true;
        ++counters_.changes_refused_full;
        return reply(job.token, no_space_for(Adds::change)), true;
    });
}

}  // namespace duewheel
