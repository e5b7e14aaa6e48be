// How several ended messages are stored in one record: the rows of a record of kind `outcomes`.
//
// An outcome is usually kept for a day, which is longer than most messages live. When the segment with its end leaves
// the log, the outcome becomes one of thousands of rows in a new record, which takes less space than a record of its
// own. It is copied from there without a lookup until it expires.
//
// Format: for each row a length (u32, little-endian), then its fields as encode_row() writes them, without a position.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "message/records/record.h"

namespace duewheel {

// Appends how the message of this record ended. The record is an end, or a relocation of an ended message that is not a
// dead letter; dead letters keep their whole record.
void append_outcome(std::string& rows, const MessageRecord& ended);

// Calls the visitor with each row as a relocation record, in order. The row owns its texts, except `reason`, which is
// empty. Stops at the first error of the visitor. Code `damaged_record`, and those of decode_row().
Status for_each_outcome(std::string_view rows, const std::function<Status(const MessageRecord&)>& visit);

// When the message of this record ended; 0 if it did not. For an end and for a relocation.
DueMs ended_at(const MessageRecord& record);

}  // namespace duewheel
