#include "journal/file_window.h"

#include <algorithm>

namespace duewheel {

Result<std::string_view> FileWindow::from(std::uint64_t offset, std::uint64_t least) {
    if (offset < start_ || offset > end()) {
        start_ = offset;
        held_.clear();
    }
    const std::uint64_t wanted_end = std::min(limit_, offset + least);
    if (end() < wanted_end) {
        held_.erase(0, offset - start_);
        start_ = offset;
        const std::uint64_t old_end = end();
        const std::uint64_t new_end = std::min(limit_, std::max(wanted_end, old_end + piece_bytes_));
        held_.resize(new_end - start_);
        const Result<std::size_t> got =
            file_.read_at(old_end, std::as_writable_bytes(std::span(held_).subspan(old_end - start_)));
        if (!got) {
            held_.clear();
            return got.error();
        }
        held_.resize(old_end - start_ + *got);
    }
    return std::string_view(held_).substr(std::min<std::uint64_t>(offset - start_, held_.size()));
}

}  // namespace duewheel
