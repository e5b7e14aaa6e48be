// The offset of every 64th record of a segment, so that any record is found by skipping at most 63 others.
//
//     first sequence 1000, offsets of 1000, 1064, 1128 ...; the search for 1100 starts at the offset of 1064
//
// Four bytes for 64 records: 8 KiB of memory for a segment of 32 MiB with records of 256 bytes. For one thread; the
// owner locks.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "message/records/record.h"

namespace duewheel {

// The start of a record's frame, read without checking it.
struct FrameHead {
    std::uint32_t body_bytes = 0;
    Sequence sequence = 0;
    std::uint8_t kind = 0;

    std::uint64_t frame_bytes() const { return kRecordFrameBytes + std::uint64_t{body_bytes}; }
    // Zeros and footers never look like the frame of the next record.
    bool may_be(Sequence expected) const {
        return sequence == expected && kind != 0 && body_bytes <= kRecordBodyBytesMax;
    }
};
// `bytes` has at least kRecordFrameBytes.
FrameHead frame_head(std::string_view bytes);

class OffsetList {
  public:
    static constexpr std::uint64_t kStep = 64;

    explicit OffsetList(Sequence first_sequence) : first_sequence_(first_sequence) {}

    // A record of the segment; in ascending order of sequences, each once.
    void add(Sequence sequence, std::uint64_t offset) {
        assert(sequence >= first_sequence_);
        if ((sequence - first_sequence_) % kStep != 0) return;
        offsets_.resize((sequence - first_sequence_) / kStep + 1, static_cast<std::uint32_t>(offset));
    }

    struct Start {
        Sequence sequence = 0;
        std::uint64_t offset = 0;
    };
    // The last listed record that is not after `sequence`, which must be one of the segment's.
    Start before(Sequence sequence) const {
        assert(sequence >= first_sequence_);
        const std::uint64_t index = (sequence - first_sequence_) / kStep;
        assert(index < offsets_.size());
        return {first_sequence_ + index * kStep, offsets_[index]};
    }

  private:
    Sequence first_sequence_;
    std::vector<std::uint32_t> offsets_;  // a segment is smaller than 4 GiB
};

}  // namespace duewheel
