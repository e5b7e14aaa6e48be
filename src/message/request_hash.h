// Tells one request from another that comes with the same idempotency key.
#pragma once

#include <cstdint>
#include <string_view>

namespace duewheel {

// A 64-bit hash of `bytes`; of several texts in a row with the hash of those before as `before`. It stands in the log:
// it is the same on every machine and in every version.
std::uint64_t hash_request(std::string_view bytes, std::uint64_t before = 0);

}  // namespace duewheel
