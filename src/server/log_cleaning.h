// Keeps the log bounded: always from its oldest end, by carrying what is still needed there to its newest, and dropping
// the segments of which the index says that nothing needs them any more.
//
//     find what is needed in the oldest segment ──► carry commands ──► ... ──► all found
//          (blocking, on a thread of its own)        (engine, batches)              │
//     wait until the segments with the carries are in the index  ◄──────────────────┘
//          │ needed counts below are zero (blocking)
//          ▼
//     relocation-done command ──► durable ──► every question asked before is answered ──► unlink (blocking)
//
// The bound: the log is twice what is needed, kept outcomes included, and a few segments. Cleaning begins above it and
// goes on until the log is within it again, also where nothing else happens: the open segment, with what was relocated,
// is then closed after some seconds. The further the log is from its bound, the more is relocated in one batch.
//
// Of outcomes only those are counted whose end this index has seen, so an index that was built from a log without its
// front counts too few for as long as outcomes are kept. A pass over all that stood in the log which had to carry
// nearly all of it, or after which the log is as long as it was although nobody else wrote, shows that no more is to be
// gained: then cleaning rests until the log has grown by a quarter, or an eighth of it has ended since.
//
// While the store is full it works harder, because what it gains is what ends that: it begins as soon as a quarter of
// what is needed is not, goes once over all that stood in the log when the store became full, however little each
// segment brings, and has the open segment closed when the carries in it are all that is waited for. It carries no more
// ahead than a segment, so that the reserve suffices. Where only what is kept for cleaning is left it goes over the log
// for whatever there is to be gained, each time an eighth of a segment has ended: nobody may end anything else before.
//
// The wait for the answers is there because a question holds the place that a record had when it was asked: one that is
// relocated under it would be missing, which to a delivery is a damaged log.
//
// It is passive: its owner runs the blocking steps and hands replies in. Of the shard's thread, but
// for run().
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "server/shard_parts.h"
#include "store/cleaner.h"

namespace duewheel {

class LogCleaning {
  public:
    // Reply tokens with this bit are its own.
    static constexpr ReplyToken kTokenBit = ReplyToken{1} << 63;
    // Segments that are always left: a log this short is not worth the work.
    static constexpr std::uint64_t kSegmentsLeft = 4;
    // How long what was relocated waits for its segment to fill.
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

    explicit LogCleaning(ShardParts& parts) : parts_(parts), outcomes_from_(parts.outcomes_relocated_up_to()) {}

    // What is to be run next, if anything; call it after a table was taken in, after done(), after reply(), and after
    // answers while it waits for them.
    Step next();
    bool waits_for_answers() const { return to_drop_ && !running_; }
    // The blocking step that next() named. An error is a fatal error.
    Result<Found> run(Step step) const;
    void done(Found found);
    // The engine's reply to one of its commands. An error is a fatal error.
    Status reply(const Reply& reply);

    std::uint64_t segments_dropped() const { return segments_dropped_; }
    // Since the start, about.
    std::uint64_t relocated_bytes() const { return relocated_bytes_; }
    // The log may be this long, in bytes of what is not relocated yet, before cleaning begins.
    std::uint64_t bound_bytes() const;
    // The last pass has shown that more is needed than is counted.
    bool is_backing_off() const;
    // A segment is being relocated, or waits for what it takes to be dropped.
    bool is_at_work() const { return cleaner_ != nullptr || !relocated_.empty(); }

  private:
    struct Relocated {
        Sequence up_to = 0;       // one past the segment's last record
        std::uint64_t bytes = 0;  // of its file
        std::uint64_t relocated_bytes = 0;
        Sequence last_relocation = 0;  // or what was newest when all had been looked at
        DueMs finished_ms = 0;         // when that was
        bool has_relocations = false;
        std::shared_ptr<const SegmentFile> segment;
    };

    std::uint64_t bytes_relocated_over() const;  // of the segments that wait to be dropped
    std::uint64_t log_bytes() const;             // of what is not relocated yet
    std::uint64_t needed_bytes() const;
    std::uint64_t left_bytes() const;
    std::size_t chunk_bytes() const;
    Sequence begins_at() const;  // the part that is not relocated yet
    bool is_pressed() const;     // what ends messages is refused until something is gained
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
    bool running_ = false;  // a step
    std::uint64_t replies_awaited_ = 0;
    std::unique_ptr<Cleaner> cleaner_;  // of the segment being relocated
    Relocated relocating_;
    std::deque<Relocated> relocated_;                 // oldest first
    Sequence outcomes_from_ = 0;                      // outcomes before this place have been relocated
    Sequence measured_at_ = 0;                        // what the index held at the last look
    bool stating_ = false;                            // the relocation-done command is under way
    Sequence stated_up_to_ = 0;                       // in it
    std::size_t chunk_bytes_ = Cleaner::kChunkBytes;  // of the step that runs
    std::optional<Sequence> to_drop_;
    std::uint64_t drop_after_ticket_ = 0;  // of the questions that may hold a place in what is to be dropped
    Sequence pass_until_ = 0;              // what stood in the log when the pass began that is going on; 0: none is
    std::uint64_t pass_bytes_ = 0;         // of the segments that it has gone over
    std::uint64_t pass_relocated_bytes_ = 0;
    Totals pass_begin_;                    // digest and ids the same at its end: nobody else has changed anything
    std::uint64_t rest_until_bytes_ = 0;   // of the log: the last pass gained too little
    std::uint64_t rest_needed_bytes_ = 0;  // when it did
    std::uint64_t segments_dropped_ = 0;
    std::uint64_t relocated_bytes_ = 0;
    bool was_full_ = false;
    Sequence full_pass_until_ = 0;
    std::uint64_t full_pass_needed_ = 0;  // when that pass began
    bool full_pass_is_thorough_ = false;  // whatever there is to be gained
};

}  // namespace duewheel
