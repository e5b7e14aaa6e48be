#include "access/sha256.h"

#include <array>
#include <cstddef>
#include <cstdlib>

#include <openssl/evp.h>

#include "base/hex.h"

namespace duewheel {

std::string sha256_hex(std::string_view text) {
    std::array<std::byte, 32> digest{};
    unsigned size = 0;
    const int done = EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                                EVP_sha256(), nullptr);
    if (done != 1) std::abort();  // no memory
    return hex(digest);
}

}  // namespace duewheel
