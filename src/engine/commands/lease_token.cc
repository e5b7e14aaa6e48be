#include "engine/commands/lease_token.h"

#include <cstring>

#include <highwayhash/sip_hash.h>

namespace duewheel {

LeaseSigner::LeaseSigner(const TokenKey& key) : key_{} {
    static_assert(sizeof key_ == sizeof key);
    std::memcpy(key_.data(), key.data(), sizeof key_);
}

std::uint64_t LeaseSigner::code(const LeaseToken& token) const {
    const std::uint64_t words[] = {token.id, token.attempt, token.incarnation};
    const highwayhash::HH_U64 key[] = {key_[0], key_[1]};
    char bytes[sizeof words];
    std::memcpy(bytes, words, sizeof words);
    return highwayhash::SipHash(key, bytes, sizeof bytes);
}

LeaseToken LeaseSigner::sign(MessageId id, std::uint32_t attempt, std::uint64_t incarnation) const {
    LeaseToken token{id, attempt, incarnation, 0};
    token.code = code(token);
    return token;
}

bool LeaseSigner::is_genuine(const LeaseToken& token) const {
    // One subtraction of whole words takes the same time for every wrong code.
    return (code(token) ^ token.code) == 0;
}

}  // namespace duewheel
