// Compares the tables of an index with each other. The rows by id are authoritative, and all other rows of a message
// follow from its row by id (segment_table.h has the rules). A missing row elsewhere is a message that would never
// fire, or be missing in its queue; an additional one is a message that has ended and would be delivered again.
//
//   queue   exactly one row for each unfinished message, byte for byte what its row by id gives
//   due     exactly one for each message that waits for a time after the index's own; for an older time it may be
//           missing, because a message due at once never had one: those that exist are compared
//           At the expiry of an unfinished message exactly one too, unless the load cursor has passed it
//   order   exactly one for each unfinished message with an order key
//   dead    exactly one for each dead letter
//   key     exactly one holder for each unfinished message with a key; an ended holder's message is not unfinished
//   forecast  for each minute of a queue and of a namespace the number of messages that become due in it, and no row if
//           that is 0
//   meta    cursors and counts can be read
//   lease   rows can be read: a server of an earlier version, which does not know them, leaves some without a lease and
//           some leases without one
//
// Each table is read once and its rows are summed as hashes, in any order, so memory use is constant. So the result
// reports that rows differ, and how many there are, but not which one.
#pragma once

#include <optional>
#include <string>

#include "base/status.h"
#include "store/index.h"

namespace duewheel {

// The difference, as the start of a sentence; none if all is well. Errors mean that rows could not be read:
// `damaged_index`, `io_error`. Some microseconds a row.
Result<std::optional<std::string>> find_disagreement(const Index& index);

}  // namespace duewheel
