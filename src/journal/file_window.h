// A stretch of a file held in memory that moves and grows with what is asked for: sequential readers of a segment see
// one contiguous view of what they look at, and the file is read in pieces of a chosen size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"

namespace duewheel {

// How much of a file is read or written at once where nothing calls for another size.
inline constexpr std::uint64_t kPieceBytes = 1 << 20;

// For one thread. The file outlives it.
class FileWindow {
  public:
    // Nothing at or after `limit` is read. `piece_bytes`: how much is read at a time at least.
    FileWindow(const File& file, std::uint64_t limit, std::uint64_t piece_bytes)
        : file_(file), limit_(limit), piece_bytes_(piece_bytes) {}

    // The bytes from `offset` on: at least `least` of them, fewer only at the limit or the file's end. Views from
    // before this call are void. What lies before `offset` may be forgotten.
    Result<std::string_view> from(std::uint64_t offset, std::uint64_t least);

    // What is read next comes from the file as it is then.
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
