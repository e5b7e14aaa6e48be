// The headers of a message, from their stored form: the JSON object of strings of the put, or the parts of a Kafka
// record (message/records/record_parts.h).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "message/records/record_parts.h"

namespace duewheel {

// Those that HTTP can have, in order. Empty if it is neither form, which no put stores. O(size).
std::vector<std::pair<std::string, std::string>> read_kept_headers(std::string_view kept);

// All of them, as those of a Kafka record. O(size).
RecordParts record_parts_of(std::string_view kept);

// A token with a value in UTF-8 without control characters.
bool is_header_for_http(std::string_view name, std::string_view value);

}  // namespace duewheel
