// SHA-256 of a text, as 64 lower-case hexadecimal digits.
#pragma once

#include <string>
#include <string_view>

namespace duewheel {

// O(size). Thread safe.
std::string sha256_hex(std::string_view text);

}  // namespace duewheel
