// Signs lease tokens, so that a holder can prove a lease and tokens cannot be forged.
//
// The code is SipHash-2-4 of (id, attempt, incarnation) with a secret key of the data directory: a keyed hash for short
// inputs, ~20 ns. It is compared in constant time.
#pragma once

#include <array>
#include <cstdint>

#include "engine/commands/commands_of_leases.h"

namespace duewheel {

using TokenKey = std::array<std::uint8_t, 16>;

class LeaseSigner {
  public:
    explicit LeaseSigner(const TokenKey& key);

    LeaseToken sign(MessageId id, std::uint32_t attempt, std::uint64_t incarnation) const;
    bool is_genuine(const LeaseToken& token) const;

  private:
    std::uint64_t code(const LeaseToken& token) const;

    std::array<std::uint64_t, 2> key_;
};

}  // namespace duewheel
