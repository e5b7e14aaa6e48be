// The headers of a message, from how it keeps them: the JSON object of texts that its put came with.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace duewheel {

// In their order. Empty for what is no such object, which no put leaves behind. O(size).
std::vector<std::pair<std::string, std::string>> read_kept_headers(std::string_view kept);

}  // namespace duewheel
