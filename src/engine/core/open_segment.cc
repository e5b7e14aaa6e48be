#include "engine/core/open_segment.h"

#include <algorithm>

#include "base/error_codes.h"

namespace duewheel {

OpenSegment::OpenSegment(const EngineOptions& options, SegmentNumber number, std::uint64_t fill, std::uint64_t bytes,
                         std::uint32_t block_bytes, const std::vector<SegmentNumber>& unsealed)
    : options_(options),
      block_bytes_(block_bytes),
      number_(number),
      fill_(fill),
      bytes_(bytes != 0 ? bytes : options.segment_bytes),
      unsealed_(unsealed.begin(), unsealed.end()) {}

// ---- its size

std::uint64_t OpenSegment::size_of(std::size_t record_bytes) const {
    return commit_size_in_segment(record_bytes, block_bytes_);
}

// Space at the end of a segment for the commit that closes it: of every segment, and of one that is not overfull.
std::uint64_t OpenSegment::closing_room() const {
    return std::max<std::uint64_t>(kClosingRoomBytes, block_bytes_);
}

std::uint64_t OpenSegment::closing_reserve() const {
    return std::max(bytes_ / 32, closing_room());
}

bool OpenSegment::fits(std::size_t record_bytes) const {
    return fill_ + size_of(record_bytes) + closing_reserve() <= bytes_;
}

// A segment that was enlarged for its first commit has only the space that each segment has at its end.
std::uint64_t OpenSegment::room_to_close() const {
    const bool is_overfull = fill_ + closing_room() > bytes_;
    return is_overfull ? closing_room() : bytes_ - fill_;
}

void OpenSegment::add_commit(std::size_t record_bytes, bool closes) {
    if (is_empty()) is_of_cleaning_ = space_ >= LogSpace::cleaning;
    fill_ += size_of(record_bytes);
    if (closes) close_wanted_ = false;
}

void OpenSegment::close(SegmentNumber sealed_through) {
    (number_ <= sealed_through ? to_sweep_ : unsealed_).push_back(number_);
    ++number_;
    fill_ = kSegmentHeaderBytes;
    bytes_ = options_.segment_bytes;
}

void OpenSegment::note_unfit(std::size_t record_bytes) {
    unfit_bytes_ = std::max(unfit_bytes_, record_bytes);
}

void OpenSegment::table_taken(SegmentNumber through) {
    while (!unsealed_.empty() && unsealed_.front() <= through) {
        to_sweep_.push_back(unsealed_.front());
        unsealed_.pop_front();
    }
}

// ---- what may be written

Error store_full() {
    return {"store_full"_code,
            "the server's disk is nearly full, so puts are refused; existing messages can be leased, acknowledged and "
            "cancelled. Free space on the disk of the data directory; the server then accepts puts again"};
}

Error OpenSegment::no_space_for(Adds what) const {
    if (is_stalled() && space_ == LogSpace::cleaning) {
        return {"store_full"_code,
                "the server's disk is full, and the rest of its reserve is kept for cleaning the log, so nothing was "
                "changed; messages can still be read. Try again in a second, because ended messages may free space, or "
                "free space on the disk of the data directory"};
    }
    if (what == Adds::end || is_stalled()) {
        return {"store_full"_code,
                "the server's disk is full and its reserve is used up, so nothing was changed; messages can still be "
                "read. Free space on the disk of the data directory, then try again. Accepted messages are not lost"};
    }
    return {"store_full"_code,
            "the server's disk is full except for a reserve, which is kept for calls that end messages, so nothing was "
            "changed. Leases, acks, cancels and purges still work. Free space on the disk of the data directory, then "
            "try again"};
}

}  // namespace duewheel
