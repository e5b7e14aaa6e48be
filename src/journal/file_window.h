// A part of a file in memory that moves and grows as needed: sequential readers of a segment get contiguous views, and
// the file is read in pieces of a chosen size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"

namespace duewheel {

// The default size of one read or write of a file.
inline constexpr std::uint64_t kPieceBytes = 1 << 20;

// For one thread. The file must outlive it.
class FileWindow {
  public:
    // Nothing at or after `limit` is read. `piece_bytes`: the minimum size of a read.
    FileWindow(const File& file, std::uint64_t limit, std::uint64_t piece_bytes)
        : file_(file), limit_(limit), piece_bytes_(piece_bytes) {}

    // At least `least` bytes from `offset` on; fewer only at the limit or the end of the file. Earlier views become
    // invalid, and bytes before `offset` may be discarded.
    Result<std::string_view> from(std::uint64_t offset, std::uint64_t least);

    // The next bytes are read from the file again.
    void forget() { held_.clear(); }

    std::uint64_t limit() const { return limit_; }

  private:
    std::uint64_t end() const { return start_ + held_.size(); }

    const File& file_;
    std::uint64_t limit_;
    std::uint64_t piece_bytes_;
    std::uint64_t start_ = 0;
    std::string held_;
};

}  // namespace duewheel
