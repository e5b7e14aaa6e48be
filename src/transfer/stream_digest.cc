#include "transfer/stream_digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

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
    const std::uint64_t hash = XXH3_64bits_digest(&state_->hash);
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[hash >> shift & 15];
    return text;
}

}  // namespace duewheel
