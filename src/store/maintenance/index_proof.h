// Verifies that rows match a log: what was built from the log is compared with the log's own totals, which were written
// together with the messages and do not depend on rows.
//
// From the rows of the index and the entries of the recent tier, which win: the number of unfinished messages, their
// digest, and the size of the whole records that are needed, with the settings of queues, the schedules and the
// watchdogs. No such record may be before the front of the log. And from the rows of the index alone: the number of
// needed whole records in each segment, compared with the counts that compaction uses.
//
// One scan of the rows by id; memory use is one number for each segment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "message/totals.h"
#include "store/index.h"
#include "store/recent_tier.h"

namespace duewheel {

// The difference, as the start of a sentence; none if all matches `log`. `recent` contains the replay of what is newer
// than the index, or nothing if `log` is the index's own position; `settings` are those in force there, and the
// schedules. `first_sequences` are those of all segments of the log, ascending, at least one. Errors mean that the
// rows could not be read: `damaged_index`, `io_error`. About 0.7 us of processor time a row.
Result<std::optional<std::string>> find_difference(const Index& index, const RecentTier& recent,
                                                   const std::vector<Index::Settings>& settings, const Totals& log,
                                                   const std::vector<Sequence>& first_sequences);

// What is needed before `front` by the counts of the index, in the same form: a segment is deleted only when nothing
// in it is needed. None if all is well. Fast: it reads only the counts.
Result<std::optional<std::string>> find_lost_need(const Index& index, Sequence front);

}  // namespace duewheel
