// Cleaning: finds what is still needed in a segment at the log's front, so that it can be written again at the end and
// the segment can go.
//
// Needed there are whole records that the index knows as the newest of an unfinished or dead message, the newest
// settings of a queue, the newest whole record of a schedule, and outcomes that have not expired and stand in this
// segment's own record. It only finds candidates: the engine turns each into a carry, and leaves out those that newer
// records have overtaken. Passing over the segment once more is harmless.
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

struct CarryCandidate {
    MessageRow row;                     // as the index has it; `place` is this record. Of settings: whose they are
    RecordKind kind = RecordKind::put;  // of the record
    std::string body;                   // of the record, for decode_record(); empty for an outcome and for settings

    bool is_settings() const { return kind == RecordKind::conf; }
    bool is_schedule() const { return kind == RecordKind::rule; }  // `row` says whose, as of settings

    bool is_outcome() const { return !is_schedule() && is_ended(row.state.state) && row.state.state != State::dead; }
};

// For one thread, beside the sealer. Holds the segment: it stays readable although it leaves the log.
class Cleaner {
  public:
    static constexpr std::size_t kChunkBytes = 256u << 10;
    static constexpr std::size_t kLookUpsPerCall = 4096;

    // The segment is closed and in the index, which outlives this object.
    Cleaner(std::shared_ptr<const SegmentFile> segment, const Index& index)
        : segment_(std::move(segment)), index_(index) {}

    // The next candidates in the order of the log: bodies of at most kChunkBytes together, or a single larger one.
    // Empty when none of the next records is needed. The first call reads the segment once, all others look at most so
    // many rows up. Errors mean a broken world.
    Result<std::vector<CarryCandidate>> next();
    bool finished() const { return read_ && looked_at_ == records_.size(); }

  private:
    struct Seen {
        Sequence place = 0;
        MessageId id = 0;
        std::uint32_t body_bytes = 0;
        RecordKind kind = RecordKind::put;
    };

    Status read();
    Result<bool> are_newest_settings(const Seen& record, MessageRow& row) const;
    // True where the index says that the record is needed; fills in the row.
    Result<bool> is_needed(const Seen& record, MessageRow& row) const;
    Status read_bodies(std::vector<CarryCandidate>& candidates) const;

    std::shared_ptr<const SegmentFile> segment_;
    const Index& index_;
    bool read_ = false;
    std::vector<Seen> records_;
    std::map<Sequence, QueueName> settings_;  // whose: of the `conf` and whole `rule` records among them
    std::size_t looked_at_ = 0;
};

}  // namespace duewheel
