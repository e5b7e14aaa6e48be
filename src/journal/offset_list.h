// Where every 64th record of a segment stands, so that any record of it is found by passing over at most 63 others.
//
//     first sequence 1000, offsets of 1000, 1064, 1128 ...; 1100 is looked for from the offset of 1064 on
//
// Four bytes for 64 records: 16 KiB of memory for a segment of 64 MiB with records of 256 bytes. For one thread; its
// owner locks.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "message/record.h"

namespace duewheel {

// What stands at the head of a record's frame, read without checking it.
struct FrameHead {
    std::uint32_t body_bytes = 0;
    Sequence sequence = 0;
    std::uint8_t kind = 0;

    std::uint64_t frame_bytes() const { return kRecordFrameBytes + std::uint64_t{body_bytes}; }
    // Zeros and footers never look like the frame of the record that comes next.
    bool may_be(Sequence expected) const {
        return sequence == expected && kind != 0 && body_bytes <= kRecordBodyBytesMax;
    }
};
// `bytes` holds at least kRecordFrameBytes.
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
