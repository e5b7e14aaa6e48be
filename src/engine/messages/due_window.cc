#include "engine/messages/due_window.h"

#include <algorithm>

namespace duewheel {

DueWindow::DueWindow(const Uses& uses, DueMs load_cursor_ms)
    : Uses(uses), length_ms_(options_.window_min_ms), until_ms_(load_cursor_ms), read_to_{load_cursor_ms, 0} {}

void DueWindow::start() {
    until_ms_ = std::max(until_ms_, now_ + length_ms_);
    overdue_to_ = read_to_;
    overdue_until_ms_ = now_;
    read_to_ = std::max(read_to_, DuePosition{now_, 0});
}

DueMs DueWindow::next_ms() const {
    if (is_crowded()) return read_to_.due_ms;
    return read_to_.due_ms < until_ms_ ? now_ : until_ms_ - length_ms_ / 2;
}

std::optional<DueLookup> DueWindow::next_lookup() {
    if (is_reading_) return std::nullopt;
    if (now_ >= next_ms() && read_to_.due_ms >= until_ms_) raise();
    const bool wants_window = read_to_.due_ms < until_ms_ && now_ >= next_ms();
    const bool reads_overdue = has_overdue() && (overdue_is_next_ || !wants_window);
    if (!wants_window && !reads_overdue) return std::nullopt;
    overdue_is_next_ = !reads_overdue;
    is_reading_ = true;
    if (reads_overdue) return DueLookup{.from = overdue_to_, .until_ms = overdue_until_ms_};
    return DueLookup{.from = read_to_, .until_ms = until_ms_};
}

void DueWindow::raise() {
    const EngineOptions& options = options_;
    if (is_crowded() || rows_ > options.window_entries_max / 8) {
        length_ms_ = options.window_min_ms;
    } else if (rows_ < 2 * options.load_chunk) {
        length_ms_ = std::min(length_ms_ * 2, options.window_max_ms);
    }
    rows_ = 0;
    until_ms_ = std::max(until_ms_, now_ + length_ms_);
}

void DueWindow::merge(const DueLookup& lookup, const Stretch& stretch) {
    const bool is_overdue = lookup.from.due_ms < overdue_until_ms_;
    (is_overdue ? overdue_to_ : read_to_) = stretch.complete ? DuePosition{lookup.until_ms, 0} : stretch.next;
    if (!is_overdue) rows_ += stretch.rows.size();
}

}  // namespace duewheel
