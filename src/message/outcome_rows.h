// How ended messages stand in one record together: the rows of a record of kind `outcomes`.
//
// An outcome is kept for a day, as a rule: longer than most messages. When the segment with its end leaves the log, it
// becomes one of thousands of rows in a new record, smaller than a record of its own, and is copied on from there
// without being looked up, until it has expired.
//
// Form: of each row a length (u32, little-endian), then its fields as encode_row() writes them, without a place.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "message/record.h"

namespace duewheel {

// Appends how the message of this record ended: of an end, or of a relocation of an ended message; not of a dead one,
// which keeps its whole record.
void append_outcome(std::string& rows, const Record& ended);

// Calls with each row as a relocation record, in their order; its texts are its own, but for `reason`, which is empty.
// Stops at the first error of the visitor. Code `damaged_record`, and those of decode_row().
Status for_each_outcome(std::string_view rows, const std::function<Status(const Record&)>& visit);

// When the message of this record ended; 0 where it did not. Of an end, and of a relocation.
DueMs ended_at(const Record& record);

}  // namespace duewheel
