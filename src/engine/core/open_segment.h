// The open segment of the log: how full it is, when it is closed, which segments before it are not in the index yet,
// and what may still be written when the disk is full, so that commands that free space find the space that they need.
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
//
// Single-threaded, no I/O: sizes follow from the commits (journal/journal.h), and the owner reports the space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/status.h"
#include "engine/core/engine_options.h"
#include "engine/core/log_space.h"
#include "journal/journal.h"
#include "store/store.h"

namespace duewheel {

// What a command adds to the log.
enum class Adds : std::uint8_t { change, end };

// The error for a put.
Error store_full();

class OpenSegment {
  public:
    // `options` must outlive it. `bytes`: its size, 0 as in the options. `unsealed`: closed ones that are not in the
    // index.
    OpenSegment(const EngineOptions& options, SegmentNumber number, std::uint64_t fill, std::uint64_t bytes,
                std::uint32_t block_bytes, const std::vector<SegmentNumber>& unsealed);

    SegmentNumber number() const { return number_; }

    // ---- its size

    // No commit is in it.
    bool is_empty() const { return fill_ == kSegmentHeaderBytes; }
    // Whether a commit with records of this size leaves enough space for the one that closes the segment. An empty
    // segment takes a first commit of any size.
    bool fits(std::size_t record_bytes) const;
    // Space for the commit that closes it, and the size of a commit there.
    std::uint64_t room_to_close() const;
    std::uint64_t size_of(std::size_t record_bytes) const;
    // The commit is passed on.
    void add_commit(std::size_t record_bytes, bool closes);
    // The commit that closes it is durable: the next one is open. The index contains all up to `sealed_through`: a fast
    // sealer may have found the full segment on the disk before this call.
    void close(SegmentNumber sealed_through);

    // ---- when it is closed

    // Soon, full or not, so that it can be sealed; not if it is empty when the next batch begins.
    void close_soon() { close_wanted_ = true; }
    bool is_close_wanted() const { return close_wanted_; }
    void begin_batch() {
        if (is_empty()) close_wanted_ = false;
    }
    // A command of this size did not fit.
    void note_unfit(std::size_t record_bytes);
    std::size_t unfit_bytes() const { return unfit_bytes_; }
    void forget_unfit() { unfit_bytes_ = 0; }

    // ---- segments before it

    // The index contains all up to this one.
    void table_taken(SegmentNumber through);
    std::size_t unsealed() const { return unsealed_.size(); }
    // Those whose messages may leave memory, in order.
    bool has_to_sweep() const { return !to_sweep_.empty(); }
    SegmentNumber first_to_sweep() const { return to_sweep_.front(); }
    void swept() { to_sweep_.pop_front(); }

    // ---- what may be written

    void set_space(LogSpace space) { space_ = space; }
    LogSpace space() const { return space_; }
    // Puts and moves wait instead of starting a segment: only the reserve may be left.
    void set_reserve_at_stake(bool at_stake) { reserve_at_stake_ = at_stake; }
    bool moves_wait() const { return reserve_at_stake_ && is_empty(); }

    bool refuses_puts() const { return space_ != LogSpace::enough; }
    // Puts wait for segments to be sealed, or for a spare one. On a full disk sealing may make no progress for a long
    // time: new puts are refused then, and puts that only repeat an earlier response need not wait.
    bool puts_stalled() const {
        return !refuses_puts() && (unsealed_.size() >= options_.unsealed_segments_max || moves_wait());
    }
    // For everything except compaction.
    bool is_stalled() const {
        if (space_ < LogSpace::cleaning) return false;
        return is_empty() || is_of_cleaning_ || (space_ == LogSpace::none && fill_ > bytes_ / 2);
    }
    bool cleaning_may_write() const { return space_ != LogSpace::none || !is_empty(); }
    bool may_add(Adds what) const { return what == Adds::end ? !is_stalled() : space_ < LogSpace::reserve; }
    // The error for a command that may not.
    Error no_space_for(Adds what) const;
    // Records of started attempts wait in memory.
    bool attempts_wait() const { return space_ >= LogSpace::reserve; }

  private:
    std::uint64_t closing_room() const;
    std::uint64_t closing_reserve() const;

    const EngineOptions& options_;
    const std::uint32_t block_bytes_;
    SegmentNumber number_;
    std::uint64_t fill_;
    std::uint64_t bytes_;
    bool is_of_cleaning_ = false;  // it was started for compaction
    bool close_wanted_ = false;
    std::size_t unfit_bytes_ = 0;
    std::deque<SegmentNumber> unsealed_;
    std::deque<SegmentNumber> to_sweep_;
    LogSpace space_ = LogSpace::enough;
    bool reserve_at_stake_ = false;
};

}  // namespace duewheel
