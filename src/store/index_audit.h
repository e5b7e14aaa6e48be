// Compares the tables of an index with each other: the rows by id are what happened, and all other rows of a message
// follow from its row by id (segment_table.h has the rules). A row that is missing elsewhere is a message that would
// never fire, or never be seen in its queue; one too many is a message that ended and would come back.
//
//   queue   exactly one row for each unfinished message, byte for byte what its row by id gives
//   due     exactly one for each message that waits for a time after the index's own; where the time is older, one may
//           be missing, because what was due at once never had one: those that are there are compared
//           At the expiry of an unfinished message exactly one too, unless the load cursor has passed it
//   order   exactly one for each unfinished message with an order key
//   dead    exactly one for each dead message
//   key     exactly one holder for each unfinished message with a key; an ended holder's message is not unfinished
//   meta    cursors and counts can be read
//
// Each table is walked once and its rows are added up as hashes, in any order: nothing grows in memory. So it says that
// rows differ, and how many there are, but not which one.
#pragma once

#include <optional>
#include <string>

#include "base/status.h"
#include "store/index.h"

namespace duewheel {

// What disagrees, in words that begin a sentence; nothing where all is well. Errors mean that rows could not be read:
// `damaged_index`, `io_error`. Some microseconds a row.
Result<std::optional<std::string>> find_disagreement(const Index& index);

}  // namespace duewheel
