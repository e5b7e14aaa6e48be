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

// The key of runs before this data directory was restored, the last of which had this incarnation at most; 0: none.
// Later runs of the original may have incarnations that runs of this directory have too.
struct EarlierTokenKey {
    TokenKey key{};
    std::uint64_t up_to_incarnation = 0;
};

class LeaseSigner {
  public:
    explicit LeaseSigner(const TokenKey& key, const EarlierTokenKey& before = {});

    LeaseToken sign(MessageId id, std::uint32_t attempt, std::uint64_t incarnation) const;
    bool is_genuine(const LeaseToken& token) const;

  private:
    using Words = std::array<std::uint64_t, 2>;
    static std::uint64_t code(const LeaseToken& token, const Words& key);

    Words key_;
    Words key_before_;
    std::uint64_t before_up_to_;
};

}  // namespace duewheel
