// Cleaning: finds what is still needed in a segment at the log's front, so that it can be written again at the end and
// the segment can go.
//
// Needed there are whole records that the index knows as the newest of an unfinished or dead message, the newest
// settings of a queue or a namespace, the newest whole record of a schedule or watchdog, and outcomes that have not
// expired. Of all but the last it only finds candidates: the engine turns each into a relocation, and leaves out those
// that newer records have overtaken. Passing over the segment once more is harmless.
//
// How a message ended never changes, so outcomes are copied as they stand, many in one record, and nothing is looked up
// for them. Each such record says up to which place it has them all; whoever goes over the segment again, after a
// restart, goes on there.
//
// It refuses to decide whether the segment may go: that is what the needed counts of the index say.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "journal/segment.h"
#include "message/record.h"
#include "store/index.h"

namespace duewheel {

struct RelocationCandidate {
    MessageRow row;                     // as the index has it; `place` is this record. Of settings: whose they are
    RecordKind kind = RecordKind::put;  // of the record
    std::uint32_t subject = 0;          // of a `conf` or `rule` record
    std::string body;                   // of the record, for decode_record(); empty for settings

    bool is_settings() const { return kind == RecordKind::conf; }
    // Of a schedule or a watchdog; `row` says whose, as of settings, and `subject` which of the two.
    bool is_rule() const { return kind == RecordKind::rule; }
};

// As of message/outcome_rows.h.
struct OutcomesToRelocate {
    std::string rows;
    std::uint64_t count = 0;
    std::uint64_t segment = 0;  // number of the one that they stand in
    Sequence up_to = 0;         // those before this place are relocated when these are
};

// What one call has found.
struct Cleanings {
    std::vector<RelocationCandidate> candidates;  // in the order of the log
    OutcomesToRelocate outcomes;                  // may be none

    bool empty() const { return candidates.empty() && outcomes.count == 0; }
};

// For one thread, beside the sealer. Holds the segment: it stays readable although it leaves the log.
class Cleaner {
  public:
    static constexpr std::size_t kChunkBytes = 256u << 10;
    static constexpr std::size_t kLookUpsPerCall = 4096;

    // The segment is closed and in the index, which outlives this object. Outcomes before `outcomes_from` have been
    // relocated already.
    Cleaner(std::shared_ptr<const SegmentFile> segment, const Index& index, Sequence outcomes_from = 0)
        : segment_(std::move(segment)), index_(index), outcomes_from_(outcomes_from) {}

    // What is found next: records of at most `most_bytes` together, or a single larger one. Nothing when none of the
    // next records is needed. The first call reads the segment once, all others look at most so many rows up. Errors
    // mean a fatal error.
    Result<Cleanings> next(std::size_t most_bytes = kChunkBytes);
    bool finished() const { return read_ && looked_at_ == records_.size(); }

  private:
    struct Seen {
        Sequence log_position = 0;
        MessageId id = 0;  // 0: of settings, and of outcomes in one record
        std::uint32_t body_bytes = 0;
        RecordKind kind = RecordKind::put;
        bool is_outcome = false;  // one or more
    };

    Status read();
    void see(const FramedRecord& framed, const Record& record);
    Result<bool> are_newest_settings(const Seen& record, RelocationCandidate& candidate) const;
    // True where the index says that the record is needed; fills in the candidate.
    Result<bool> is_needed(const Seen& record, RelocationCandidate& candidate) const;
    Status read_bodies(std::vector<RelocationCandidate>& candidates) const;
    Status read_outcomes(const std::vector<Sequence>& log_positions, OutcomesToRelocate& outcomes) const;

    std::shared_ptr<const SegmentFile> segment_;
    const Index& index_;
    const Sequence outcomes_from_;
    bool read_ = false;
    std::vector<Seen> records_;
    struct Owner {
        QueueName name;
        std::uint32_t subject = 0;
    };
    std::map<Sequence, Owner> settings_;  // whose: of the `conf` and whole `rule` records among them
    std::uint64_t needed_left_ = 0;       // whole records, settings and rules that are still to be found
    std::size_t looked_at_ = 0;
};

}  // namespace duewheel
