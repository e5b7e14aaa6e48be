// Adds up a log while it is read, and compares the sums with the log itself: the totals of every footer must be the
// sums of its records, and each relocation-done record must be true.
//
// A relocation-done at `up_to` says that every needed whole record is at or after `up_to`, and contains the number and
// the digest of the messages that were unfinished then. After it no record may refer to an earlier position. The audit
// of a log whose front was deleted starts with the totals in its first header, and succeeds only if a relocation-done
// reaches that front, because only that allows the deletion.
//
// It keeps no rows: store/maintenance/index_proof.h verifies that the messages themselves exist.
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

    // Whether the log may start with record `front`. Code `damaged_log`: segments were removed that no relocation-done
    // had released.
    Status check_front(Sequence front) const;

  private:
    template <class Of>
    Status judge_position(const Of& record, Sequence sequence) const;
    Status judge_relocation(const RelocationDoneRecord& record, Sequence sequence);

    Totals totals_;
    Sequence relocated_up_to_;
};

}  // namespace duewheel
