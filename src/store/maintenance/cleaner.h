// Compaction: finds what is still needed in a segment at the front of the log, so that it can be relocated to the end
// and the segment can be deleted.
//
// Needed there are whole records that the index knows as the newest of an unfinished message or a dead letter, the
// newest settings of a queue or a namespace, the newest whole record of a schedule or watchdog, and outcomes that have
// not expired. For all but the last it only finds candidates: the engine turns each into a relocation, and skips those
// that newer records have replaced. Scanning the segment again is harmless.
//
// The outcome of a message never changes, so outcomes are copied unchanged, many in one record, without lookups. Each
// such record contains the position up to which it has all of them, where a scan of the same segment after a restart
// continues.
//
// It does not decide whether the segment can be deleted: that follows from the needed counts of the index.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "journal/segment.h"
#include "message/records/record.h"
#include "store/index.h"

namespace duewheel {

struct RelocationCandidate {
    MessageRow row;                     // as in the index, at the position of this record. Of settings: their owner
    RecordKind kind = RecordKind::put;  // of the record
    Subject subject = Subject::none;    // of a `conf` or `rule` record
    std::string body;                   // of the record, for decode_record(); empty for settings

    bool is_settings() const { return kind == RecordKind::conf; }
    // A schedule or a watchdog; `row` has the name, as for settings, and `subject` the kind.
    bool is_rule() const { return kind == RecordKind::rule; }
};

// As of message/records/outcome_rows.h.
struct OutcomesToRelocate {
    std::string rows;
    std::uint64_t count = 0;
    std::uint64_t segment = 0;  // number of their segment
    Sequence up_to = 0;         // those before this position are relocated together with these
};

// The result of one call.
struct Cleanings {
    std::vector<RelocationCandidate> candidates;  // in the order of the log
    OutcomesToRelocate outcomes;                  // may be none

    bool empty() const { return candidates.empty() && outcomes.count == 0; }
};

// For one thread, at the same time as the sealer. Keeps the segment readable although it leaves the log.
class Cleaner {
  public:
    static constexpr std::size_t kChunkBytes = 256u << 10;
    static constexpr std::size_t kLookupsPerCall = 4096;

    // The segment is closed and in the index, which must outlive this object. Outcomes before `outcomes_from` are
    // already relocated.
    Cleaner(std::shared_ptr<const SegmentFile> segment, const Index& index, Sequence outcomes_from = 0)
        : segment_(std::move(segment)), index_(index), outcomes_from_(outcomes_from) {}

    // The next records, of at most `most_bytes` together, or a single larger one. None if none of the next records is
    // needed. The first call reads the segment once, all others do at most that many lookups. Errors are fatal errors.
    Result<Cleanings> next(std::size_t most_bytes = kChunkBytes);
    bool finished() const { return read_ && next_record_ == records_.size(); }

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
    void see(Seen seen, const MessageRecord& record);
    void see(Seen seen, const SubjectRecord& record);
    Result<bool> are_newest_settings(const Seen& record, RelocationCandidate& candidate) const;
    // True if the index says that the record is needed; fills in the candidate.
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
        Subject subject = Subject::none;
    };
    std::map<Sequence, Owner> settings_;  // owners of the `conf` and whole `rule` records among them
    std::uint64_t needed_left_ = 0;       // whole records, settings and rules still to be found
    std::size_t next_record_ = 0;
};

}  // namespace duewheel
