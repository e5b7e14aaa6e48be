// Distinguishes requests that have the same idempotency key.
#pragma once

#include <cstdint>
#include <string_view>

namespace duewheel {

// A 64-bit hash of `bytes`. To hash several texts in sequence, pass the previous hash as `before`. It is part of the
// log format: it is the same on every machine and in every version.
std::uint64_t hash_request(std::string_view bytes, std::uint64_t before = 0);

}  // namespace duewheel
