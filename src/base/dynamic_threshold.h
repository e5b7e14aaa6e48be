// Shares a limited resource among an unknown number of users: each may use up to a multiple of what is free. A single
// user gets four fifths of it, and always leaves some for another one, so nothing is reserved.
//
// Dynamic thresholds: Choudhury and Hahne, 1998.
#pragma once

#include <cstddef>
#include <cstdint>

namespace duewheel {

inline constexpr std::size_t kTimesFree = 4;

// Whether a user that has `own` may take one more, if all users together have `all` of `max`.
constexpr bool may_take_one(std::uint64_t own, std::uint64_t all, std::uint64_t max) {
    return all < max && own < kTimesFree * (max - all);
}

// How much more a user that has `has` may take without exceeding its share.
constexpr std::size_t left_of(std::size_t has, std::size_t free) {
    return has >= kTimesFree * free ? 0 : (kTimesFree * free - has + kTimesFree) / (kTimesFree + 1);
}

}  // namespace duewheel
