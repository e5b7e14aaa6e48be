// Sizes as people write them, "64MiB", to bytes and back.
//
// Integers with B, KiB, MiB or GiB (1024 each). A number without a unit is refused, and so are KB and MB, which mean
// 1000 to some people and 1024 to others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace duewheel {

// Code: bad_size.
Result<std::int64_t> parse_byte_size(std::string_view text);

// The exact size in the largest unit that divides it: "64MiB", "1500B". parse_byte_size() returns the same number.
std::string format_byte_size(std::int64_t bytes);

}  // namespace duewheel
