#include "message/records/request_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace duewheel {

std::uint64_t hash_request(std::string_view bytes, std::uint64_t before) {
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), before);
}

}  // namespace duewheel
