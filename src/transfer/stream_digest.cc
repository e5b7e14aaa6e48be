#include "transfer/stream_digest.h"

#include <span>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hex.h"

namespace duewheel {

struct StreamDigest::State {
    XXH3_state_t hash;
};

StreamDigest::StreamDigest() : state_(std::make_unique<State>()) {
    XXH3_INITSTATE(&state_->hash);
    XXH3_64bits_reset(&state_->hash);
}

StreamDigest::~StreamDigest() = default;

void StreamDigest::add(std::string_view bytes) {
    XXH3_64bits_update(&state_->hash, bytes.data(), bytes.size());
}

std::string StreamDigest::text() const {
    XXH64_canonical_t digest;
    XXH64_canonicalFromHash(&digest, XXH3_64bits_digest(&state_->hash));
    return hex(std::as_bytes(std::span(digest.digest)));
}

}  // namespace duewheel
