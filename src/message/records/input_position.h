// How far an input has been taken: the value of a `conf` record whose subject is an input, and of a row of the index.
// An input is a sequence of records outside of the server, such as a partition of a Kafka topic.
//
// The byte form is that of records. A field that this version does not know is an error (`newer_format`).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace duewheel {

// The position of an input from which nothing has been taken.
inline constexpr std::int64_t kNoInputPosition = -1;

// The offset of the next record to take, 0 or greater.
std::string encode_input_position(std::int64_t offset);

// Codes: `damaged_record`, `newer_format`.
Result<std::int64_t> decode_input_position(std::string_view bytes);

}  // namespace duewheel
