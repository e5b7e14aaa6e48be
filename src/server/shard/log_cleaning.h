// Keeps the log bounded by compaction: relocates what is still needed at its oldest end to its newest, and deletes the
// segments that are no longer needed according to the index.
//
//     find what is needed in the oldest segment ──► relocate commands ──► ... ──► all found
//          (blocking, on a separate thread)          (engine, batches)              │
//     wait until the segments with the relocations are in the index  ◄──────────────┘
//          │ needed counts below are zero (blocking)
//          ▼
//     relocation-done command ──► durable ──► every earlier lookup is complete ──► unlink (blocking)
//
// The bound: the log is twice the size of what is needed, kept outcomes included, plus a few segments. Compaction
// starts above it and continues until the log is within it again, even without other activity: the open segment with
// the relocated records is then closed after some seconds. The further the log is above its bound, the larger the
// batches.
//
// Outcomes are counted only if this index has seen their end, so an index that was built from a log without its front
// counts too few as long as outcomes are kept. If a pass over the whole log had to relocate nearly all of it, or the
// log is as long as before although nothing else was written, no more can be gained: then compaction pauses until the
// log has grown by a quarter, or an eighth of it has ended since.
//
// While the store is full it works harder, because the freed space ends that state: it starts as soon as a quarter of
// the log is not needed, passes once over everything in the log when the store became full, however little each segment
// yields, and has the open segment closed when only the relocations in it are missing. It relocates no more in advance
// than a segment, so that the reserve suffices. If only the space reserved for compaction is left, it searches the log
// for anything to be gained, each time an eighth of a segment has ended: no message can be ended before.
//
// It waits for the lookups because a lookup may contain the old log position of a record: if the record were relocated
// meanwhile, it would be missing there, which a delivery treats as a damaged log.
//
// It is passive: its owner runs the blocking steps and passes replies. For the shard's thread, except for run().
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "port/reply_sinks.h"
#include "server/shard/shard_parts.h"
#include "store/maintenance/cleaner.h"

namespace duewheel {

class LogCleaning {
  public:
    // Segments that always remain: a shorter log is not worth the work.
    static constexpr std::uint64_t kSegmentsLeft = 4;
    // How long relocated records wait for their segment to fill.
    static constexpr std::int64_t kWaitForSegmentMs = 5'000;

    enum class Step : std::uint8_t {
        none,
        find,     // look for candidates
        measure,  // ask the index what is needed below
        drop,     // unlink
    };
    struct Found {
        Step step = Step::none;
        Cleanings cleanings;
        Generation generation = 0;
        bool finished = false;  // find: the segment has no more
        Sequence up_to = 0;     // measure: nothing is needed below; 0: of the oldest segment something is
    };

    // Its owner passes the replies to these tokens to reply().
    LogCleaning(ShardParts& parts, ReplyTokens tokens)
        : parts_(parts), tokens_(tokens), outcomes_from_(parts.outcomes_relocated_up_to()) {}

    // The next step to run, if any; call it after a table was added, after done(), after reply(), and after lookups
    // while it waits for them.
    Step next();
    bool waits_for_answers() const { return to_drop_ && !running_; }
    // The blocking step that next() named. An error is a fatal error.
    Result<Found> run(Step step) const;
    void done(Found found);
    // The engine's reply to one of its commands. An error is a fatal error.
    Status reply(const Reply& reply);

    std::uint64_t segments_dropped() const { return segments_dropped_; }
    // Since the start, approximately.
    std::uint64_t relocated_bytes() const { return relocated_bytes_; }
    // The maximum length of the log before compaction starts, in bytes that are not relocated yet.
    std::uint64_t bound_bytes() const;
    // The last pass has shown that more is needed than is counted.
    bool is_backing_off() const;
    // A segment is being relocated, or waits to be deleted.
    bool is_at_work() const { return cleaner_ != nullptr || !relocated_.empty(); }

  private:
    struct Relocated {
        Sequence up_to = 0;       // one past the segment's last record
        std::uint64_t bytes = 0;  // of its file
        std::uint64_t relocated_bytes = 0;
        Sequence last_relocation = 0;  // or the newest sequence when all had been scanned
        DueMs finished_ms = 0;         // when that was
        bool has_relocations = false;
        std::shared_ptr<const SegmentFile> segment;
    };

    std::uint64_t bytes_relocated_over() const;  // of the segments that wait to be deleted
    std::uint64_t log_bytes() const;             // of what is not relocated yet
    std::uint64_t needed_bytes() const;
    std::uint64_t left_bytes() const;
    std::size_t chunk_bytes() const;
    Sequence begins_at() const;  // the part that is not relocated yet
    bool is_pressed() const;     // commands that end messages are refused until space is gained
    void see_space();
    bool log_is_too_long() const;
    bool is_far_ahead() const;
    bool is_enough_relocated() const;
    bool waits_for_open_segment() const;
    bool may_measure() const;
    void begin_next_segment();
    void relocate(Cleanings cleanings, Generation generation);
    void relocate(Command command, std::uint64_t bytes);
    void end_pass();

    ShardParts& parts_;
    ReplyTokens tokens_;
    bool running_ = false;  // a step
    std::uint64_t replies_awaited_ = 0;
    std::unique_ptr<Cleaner> cleaner_;  // of the segment being relocated
    Relocated relocating_;
    std::deque<Relocated> relocated_;                 // oldest first
    Sequence outcomes_from_ = 0;                      // outcomes before this position have been relocated
    Sequence measured_at_ = 0;                        // the content of the index at the last check
    bool stating_ = false;                            // the relocation-done command is in progress
    Sequence stated_up_to_ = 0;                       // in it
    std::size_t chunk_bytes_ = Cleaner::kChunkBytes;  // of the step that runs
    std::optional<Sequence> to_drop_;
    std::uint64_t drop_after_ticket_ = 0;  // of the lookups that may contain a position in a segment to be deleted
    Sequence pass_until_ = 0;              // the size of the log at the start of the current pass; 0: none
    std::uint64_t pass_bytes_ = 0;         // of the segments that it has passed
    std::uint64_t pass_relocated_bytes_ = 0;
    Totals pass_begin_;                    // nearly the same at its end: nothing else has changed
    std::uint64_t rest_until_bytes_ = 0;   // of the log: the last pass gained too little
    std::uint64_t rest_needed_bytes_ = 0;  // when it did
    std::uint64_t segments_dropped_ = 0;
    std::uint64_t relocated_bytes_ = 0;
    bool was_full_ = false;
    Sequence full_pass_until_ = 0;
    std::uint64_t full_pass_needed_ = 0;  // when that pass began
    bool full_pass_is_thorough_ = false;  // anything that can be gained
};

}  // namespace duewheel
