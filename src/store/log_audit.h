// Adds a log up while it is read, and holds it against what it says of itself: every footer's totals must be what its
// records add up to, and what a relocation-done record says must be so.
//
// A relocation-done at `up_to` says that every whole record which is needed stands at or after `up_to`, and how many
// messages were unfinished then, with their digest. From there on no record may name a place before it. A log whose
// front is gone is begun with the totals in its first header; it holds only if a relocation-done reaches that front,
// because nothing else may have let the front go.
//
// It keeps no rows: whether the messages themselves are there is proved by store/index_proof.h.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "journal/segment.h"
#include "message/totals.h"

namespace duewheel {

class LogAudit {
  public:
    // `before`: the totals before the first commit that will come. `carried_up_to`: the greatest `up_to` of a
    // relocation-done before that, 0 for none.
    LogAudit(const Totals& before, Sequence relocated_up_to) : totals_(before), relocated_up_to_(relocated_up_to) {}

    // The next record and its size with its frame. Code `damaged_log`.
    Status add(const Record& record, Sequence sequence, std::size_t frame_bytes);
    // The footer after them. Code `damaged_log`.
    Status close(const CommitInLog& commit);

    // Everything before this position may be gone; 0: nothing may.
    Sequence relocated_up_to() const { return relocated_up_to_; }
    const Totals& totals() const { return totals_; }

    // Whether the log may begin with record `front`. Code `damaged_log`: segments were taken away that no
    // relocation-done had released.
    Status check_front(Sequence front) const;

  private:
    Totals totals_;
    Sequence relocated_up_to_;
};

}  // namespace duewheel
