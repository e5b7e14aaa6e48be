// Proves that rows are what a log says they are: what was built from the log is compared with the log's own totals,
// which were written by whoever wrote the messages and know nothing of rows.
//
// From the rows of the index and the entries of the recent tier, which win: how many messages are unfinished, their
// digest, and the bytes of the whole records that are needed; the settings of queues, the schedules and the watchdogs
// count with them. No such record may stand before the log's front. And from the rows of the index alone: how many
// whole records are needed in each segment, against the counts that cleaning trusts.
//
// One walk over the rows by id; nothing grows in memory but a number for each segment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "message/totals.h"
#include "store/index.h"
#include "store/recent_tier.h"

namespace duewheel {

// What differs, in words that begin a sentence; nothing where all is as `log` says. `recent` holds the replay of what
// is newer than the index, or nothing where `log` is the index's own position; `settings` are those in force there, and
// the schedules. `first_sequences` are those of all segments of the log, ascending, at least one. Errors mean that the
// rows could not be read: `damaged_index`, `io_error`. About 0.7 us of processor a row.
Result<std::optional<std::string>> find_difference(const Index& index, const RecentTier& recent,
                                                   const std::vector<Index::Settings>& settings, const Totals& log,
                                                   const std::vector<Sequence>& first_sequences);

// What is needed before `front` by the counts of the index, in such words: a segment goes only when nothing needs it.
// Nothing where all is well. Quick: it reads the counts alone.
Result<std::optional<std::string>> find_lost_need(const Index& index, Sequence front);

}  // namespace duewheel
