#include "engine/commands/lease_token.h"

#include <cstring>

#include <highwayhash/sip_hash.h>

namespace duewheel {

LeaseSigner::LeaseSigner(const TokenKey& key, const EarlierTokenKey& before)
    : key_{}, key_before_{}, before_up_to_(before.up_to_incarnation) {
    static_assert(sizeof key_ == sizeof key);
    std::memcpy(key_.data(), key.data(), sizeof key_);
    std::memcpy(key_before_.data(), before.key.data(), sizeof key_before_);
}

std::uint64_t LeaseSigner::code(const LeaseToken& token, const Words& with) {
    const std::uint64_t words[] = {token.id, token.attempt, token.incarnation};
    const highwayhash::HH_U64 key[] = {with[0], with[1]};
    char bytes[sizeof words];
    std::memcpy(bytes, words, sizeof words);
    return highwayhash::SipHash(key, bytes, sizeof bytes);
}

LeaseToken LeaseSigner::sign(MessageId id, std::uint32_t attempt, std::uint64_t incarnation) const {
    LeaseToken token{id, attempt, incarnation, 0};
    token.code = code(token, key_);
    return token;
}

bool LeaseSigner::is_genuine(const LeaseToken& token) const {
    // One subtraction of whole words takes the same time for every wrong code.
    if ((code(token, key_) ^ token.code) == 0) return true;
    return token.incarnation <= before_up_to_ && (code(token, key_before_) ^ token.code) == 0;
}

}  // namespace duewheel
