// A small generator of random numbers that is the same everywhere: a seed gives the same sequence with every compiler
// and on every machine, so that a simulation can be repeated.
//
// The numbers come from xoshiro256** (D. Blackman, S. Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM
// TOMS 47, 2021), whose state is filled by splitmix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom
// Number Generators", OOPSLA 2014). The distributions of the standard library are not used, because each library
// implements them differently, and there is no floating point. Never use it for secrets: a few outputs reveal all later
// ones; see base/secure_random.h.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstdint>

namespace duewheel {

// Advances `state` and returns the next number of its sequence. Any state is valid, also 0.
constexpr std::uint64_t splitmix64(std::uint64_t& state) {
    state += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

// For one thread. A copy continues independently with the same sequence.
class Random {
  public:
    explicit constexpr Random(std::uint64_t seed) : state_{} {
        for (std::uint64_t& word : state_) word = splitmix64(seed);
    }
    // Starts with a given state, which must not be all zeros.
    explicit constexpr Random(const std::array<std::uint64_t, 4>& state) : state_(state) {
        assert((state[0] | state[1] | state[2] | state[3]) != 0);
    }

    // Any 64-bit number.
    constexpr std::uint64_t next() {
        const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    // 0 <= result < n, all equally likely; n must not be 0. The lowest 2^64 mod n numbers are drawn again, so that the
    // remaining range divides evenly.
    constexpr std::uint64_t below(std::uint64_t n) {
        assert(n > 0);
        const std::uint64_t uneven = (0 - n) % n;
        std::uint64_t drawn = next();
        while (drawn < uneven) drawn = next();
        return drawn % n;
    }

    // low <= result <= high, all equally likely.
    constexpr std::int64_t between(std::int64_t low, std::int64_t high) {
        assert(low <= high);
        const std::uint64_t count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
        const std::uint64_t step = count == 0 ? next() : below(count);
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + step);
    }

    // True with a probability of `parts_per_million`: 0 is never, 1,000,000 and more is always. Always draws one
    // number, so that a changed probability does not shift later draws.
    constexpr bool chance(std::uint64_t parts_per_million) { return below(1'000'000) < parts_per_million; }

    // A generator with an independent sequence. With one generator for each part of a simulation, a change of one part
    // does not shift the draws of the others.
    constexpr Random split() { return Random(next()); }

  private:
    std::array<std::uint64_t, 4> state_;
};

}  // namespace duewheel
