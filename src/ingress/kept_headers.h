// The headers of a message, from their stored form: the JSON object of strings of the put.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace duewheel {

// In order. Empty if it is not such an object, which no put stores. O(size).
std::vector<std::pair<std::string, std::string>> read_kept_headers(std::string_view kept);

}  // namespace duewheel
